"""The plain-Python twin of `code_lexer`: slow, over characters, the kernel's oracle in the tests."""

from gristmill.stages.kernels.code_lexer import LEXER_COUNTS
from gristmill.stages.text.code_lexis import (
    AT_LINE_START,
    AT_WORD_START,
    BLOCK,
    CHAR,
    DOC,
    LEXES,
    LINE,
    MAX_CHAR_BYTES,
    STRING,
    WORDS,
    Form,
)

_SPACE = " \t\n\r\v\f"
_WORD = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.")


def lexer_counts(text: str, lexis: str) -> list[int]:
    """The counts of one file, in the order of LEXER_COUNTS."""
    counts = dict.fromkeys(LEXER_COUNTS, 0)
    acts = ("import_lines", "pass_lines", "assert_lines", "print_lines", "function_lines")
    blank, has_code, at = True, False, 0
    while at < len(text):
        char = text[at]
        if char in "\r\n":
            counts["code_lines"] += has_code
            blank, has_code, at = True, False, at + 1
            continue
        if char in _SPACE:
            at += 1
            continue
        form, behind = _form_at(text, at, lexis, blank)
        if form is None:
            counts["code_chars"] += 1
            act = _act(text, at, lexis) if blank else 0
            if act:
                counts[acts[act - 1]] += 1
            blank, has_code, at = False, True, at + 1
            continue
        inside = text[at:behind]
        solid = sum(c not in _SPACE for c in inside)
        if form.kind <= BLOCK or (form.flags & DOC and blank):
            counts["comment_chars"] += solid
            counts["todo_lines"] += sum(_says_todo(line) for line in inside.split("\n"))
        else:
            counts["string_chars"] += solid
            counts["longest_string_chars"] = max(counts["longest_string_chars"], solid)
            blank, has_code = False, True
        at = behind
    counts["code_lines"] += has_code
    return list(counts.values())


def _form_at(text: str, at: int, lexis: str, blank: bool) -> tuple[Form | None, int]:
    for form in LEXES[lexis]:
        if not text.startswith(form.mark, at) or (form.flags & AT_LINE_START and not blank):
            continue
        if form.flags & AT_WORD_START and at and text[at - 1] not in _SPACE + ";({[,":
            continue
        behind = _behind(text, at + len(form.mark), form)
        if behind >= 0:
            return form, min(behind, len(text))
    return None, -1


def _behind(text: str, at: int, form: Form) -> int:
    limit = len(text)
    if form.kind == CHAR:
        inside = text[at:].encode()[:MAX_CHAR_BYTES].decode("utf-8", "ignore")
        limit = at + len(inside)
    while at < limit:
        if text[at] in "\r\n" and form.kind in (LINE, STRING, CHAR):
            return -1 if form.kind == CHAR else at
        if form.escape and text[at] == form.escape:
            at += 1 + (len(text[at + 1 : at + 2]) or 1)
        elif form.kind != LINE and text.startswith(form.closing, at):
            return at + len(form.closing)
        else:
            at += 1
    return -1 if form.kind == CHAR else len(text)


def _act(text: str, at: int, lexis: str) -> int:
    end = at
    while end < len(text) and text[end] in _WORD and not (text[end] == "." and end > at and text[at] != "."):
        end += 1
    return WORDS.get(lexis, {}).get(text[at:end], 0)


def _says_todo(line: str) -> bool:
    return any(word in line for word in ("TODO", "FIXM", "your code here", "Your code here"))
