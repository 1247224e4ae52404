"""Comments, strings, first words: cases by language, and the kernel against its twin on hostile text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.code_lexer import LEXER_COUNTS, lex_files
from gristmill.stages.kernels.code_lexer_plain import lexer_counts
from gristmill.stages.text.code_lexis import (
    LEXES,
    LEXIS_NUMBERS,
    MAX_FORMS,
    MAX_MARK_BYTES,
    MAX_WORDS,
    WORDS,
    lexis_table,
)

TABLE = lexis_table()


def counts_of(text: str, lexis: str) -> dict[str, int]:
    raw = b'"#/' + text.encode() + b"*/"
    data, files = np.frombuffer(raw, np.uint8), np.array([[3, len(raw) - 2, LEXIS_NUMBERS[lexis]]], np.int64)
    files.flags.writeable = False
    return dict(zip(LEXER_COUNTS, lex_files(data, files, TABLE)[0].tolist(), strict=True))


MARKS = sorted({mark for forms in LEXES.values() for form in forms for mark in (form.mark, form.closing)})
TOKENS = (
    " ",
    "\r",
    "\\",
    "x",
    "1",
    "é",
    "中",
    "\U0001f60a",
    "TODO",
    "FIXME",
    "your code here",
    "\x00",
    "import",
    ".",
    "pass",
)
WORD_TOKENS = ("def", "print", "assert", "...", "\t", ";", "\ufffc", "function1")
HOSTILE = st.one_of(
    st.lists(st.sampled_from((*MARKS, *TOKENS, *WORD_TOKENS)), max_size=24).map("".join), st.text(max_size=60)
)


@settings(max_examples=800, deadline=None)
@given(text=HOSTILE, lexis=st.sampled_from(sorted(LEXES)))
def test_kernel_and_twin_agree(text: str, lexis: str) -> None:
    assert list(counts_of(text, lexis).values()) == lexer_counts(text, lexis)


@given(text=HOSTILE, lexis=st.sampled_from(sorted(LEXES)))
def test_every_solid_character_is_counted_once(text: str, lexis: str) -> None:
    counts = counts_of(text, lexis)
    solid = sum(char not in " \t\n\r\v\f" for char in text)
    assert counts["code_chars"] + counts["comment_chars"] + counts["string_chars"] == solid
    assert counts["longest_string_chars"] <= counts["string_chars"]


def test_the_tables_hold_every_form() -> None:
    assert max(map(len, LEXES.values())) <= MAX_FORMS
    assert max(len(form.mark.encode()) for forms in LEXES.values() for form in forms) <= MAX_MARK_BYTES
    assert set(WORDS) <= set(LEXES)
    assert all(len(words) <= MAX_WORDS and max(map(len, words)) <= MAX_MARK_BYTES for words in WORDS.values())


@pytest.mark.parametrize(
    ("lexis", "text", "code", "comment", "string"),
    [
        ("python", "x = 1  # note\n", 3, 5, 0),
        ("python", 'def f():\n    """Doc."""\n', 7, 10, 0),
        ("python", 'x = """not doc"""\n', 2, 0, 12),
        ("python", "x = 'a#b'\n", 2, 0, 5),
        ("python", "x = 'it\\'s' # c\n", 2, 2, 7),
        ("python", "x = 'open\ny\n", 3, 0, 5),
        ("c", "a(); // b\n/* c\nd */ e;\n", 6, 9, 0),
        ("c", "x = '\"'; y", 4, 0, 3),
        ("c", "fn f<'a>(x: &'a str) // c", 17, 3, 0),
        ("c", "/* open", 0, 6, 0),
        ("js", "`a\n// b`; // c", 1, 3, 6),
        ("shell", "echo $#  # c", 6, 2, 0),
        ("haskell", "f' x = {- c -} y -- d", 5, 8, 0),
        ("lua", "--[[ a\nb ]] x -- y", 1, 11, 0),
        ("sql", "SELECT 'a--b' -- c", 6, 3, 6),
        ("basic", "x = 1 ' note", 3, 5, 0),
        ("markup", "<p>a<!-- b -->", 4, 8, 0),
        ("percent", "a % b", 1, 2, 0),
        ("", "# 'x' //", 6, 0, 0),
    ],
)
def test_languages(lexis: str, text: str, code: int, comment: int, string: int) -> None:
    counts = counts_of(text, lexis)
    assert (counts["code_chars"], counts["comment_chars"], counts["string_chars"]) == (code, comment, string)


def test_what_lines_do() -> None:
    text = "import a\nfrom b import c\n  pass\n...\nassert x\nprint(1)\ndef f(): pass\n"
    text += "important = 1\nx = 'import'\n# pass\n"
    counts = counts_of(text, "python")
    lines = {
        name: counts[f"{name}_lines"] for name in ("code", "import", "pass", "assert", "print", "function", "todo")
    }
    assert lines == {"code": 9, "import": 2, "pass": 2, "assert": 1, "print": 1, "function": 1, "todo": 0}


def test_todo_lines() -> None:
    assert counts_of("# TODO TODO\n# FIXME\nx = 'TODO'\n# your code here\n# todo\n", "python")["todo_lines"] == 3
