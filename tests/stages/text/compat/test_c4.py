"""The compat profile of c4 leaves the very text that datatrove leaves, and drops for the same reason."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.compat import c4 as compat_c4
from tests.stages.text.compat.documents import documents
from tests.stages.text.compat.reference import SPACES, spacy_words

theirs = pytest.importorskip("datatrove.pipeline.filters.c4_filters")
Document = pytest.importorskip("datatrove.data").Document
split_into_sentences = pytest.importorskip("datatrove.utils.text").split_into_sentences

LINES = [
    "This is a sentence. And here is another one! Is it?",
    "No full stop at the end",
    "It ends in an ellipsis...",
    "Too short.",
    "With a citation [12] inside. [edit] More text follows. [citation needed]",
    'He said "well then." And she left."',
    "We use cookies and a Privacy Policy here.",
    "Please enable JavaScript to go on.",
    "Odd  blanks.\tA tab.  Two.\u00a0Hard.",
    "[1] [2] leading citations are cut. But the blank stays.",
    "Dr. Smith vs. Mr. Jones etc. were here... yes. 1. 2. 3.",
    "中文。第二句。 third one here.",
    "?! ... !!! what now ?",
    "ſJAVAſcript is here.  Kooky cooKie policy.",
    "ends with an apostrophe of 'theirs'",
]
RARE = ["Lorem Ipsum dolor sit amet.", "code { brace } in a line.", "x" * 1001 + " is one long word.", "{", ""]


def ours(texts: list[str], **parameters: Any) -> tuple[list[str], list[str]]:
    batch = document_batch({"text": pa.array(texts, pa.large_string())})
    result = run_chain([C4(words="compat", **parameters)], batch)
    reasons = {fate.row: fate.reason for fate in result.fates}
    left = dict(zip(result.kept_rows.tolist(), result.kept.column("text").to_pylist(), strict=True))
    return [reasons.get(row, "") for row in range(len(texts))], [left.get(row, "") for row in range(len(texts))]


def theirs_of(texts: list[str], **parameters: Any) -> tuple[list[str], list[str]]:
    made = theirs.C4QualityFilter(**parameters)
    reasons, left = list[str](), list[str]()
    for text in texts:
        document = Document(text=text, id="")
        result = made.filter(document)
        reasons.append(result[1] if isinstance(result, tuple) else "")
        left.append("" if reasons[-1] else document.text)
    return reasons, left


_ENDS = ["\n", "\n", "\r\n", "\n\n", "\x0b", "\x85", "\u2028", "\r"]
_TEXTS = st.lists(st.tuples(st.sampled_from([*LINES * 3, *RARE]), st.sampled_from(_ENDS)), max_size=9)


@given(st.lists(_TEXTS.map(lambda parts: "".join(line + end for line, end in parts)), min_size=1, max_size=4))
def test_mixtures_of_lines(texts: list[str]) -> None:
    assert ours(texts) == theirs_of(texts)


@given(st.lists(st.sampled_from([*"aB. !?\"'", "... ", "word ", *SPACES, "。", "‼"]), max_size=30).map("".join))
def test_sentences_of_any_line(line: str) -> None:
    off: dict[str, Any] = {"min_num_sentences": -1, "min_words_per_line": -1, "filter_no_terminal_punct": False}
    assert ours([line], **off) == theirs_of([line], **off)
    batch = document_batch({"text": pa.array([line], pa.large_string())})
    (step,) = run_chain([C4(words="compat", **off)], batch).steps
    sentences = [split_into_sentences(one.strip()) for one in line.splitlines()]
    assert step.measures["sentences"][0] == sum(map(len, sentences))


@pytest.mark.parametrize("off", ["remove_citations", "filter_lorem_ipsum", "filter_javascript", "filter_curly_bracket"])
def test_rules_that_are_off(off: str) -> None:
    texts = ["\n".join(LINES), "\n".join(LINES + RARE)]
    assert ours(texts, **{off: False}) == theirs_of(texts, **{off: False})


def test_limits() -> None:
    texts = ["\n".join(LINES[:n]) for n in range(len(LINES))]
    for parameters in ({"min_num_sentences": -1}, {"min_words_per_line": -1}, {"max_word_length": 7}):
        assert ours(texts, **parameters) == theirs_of(texts, **parameters)


def test_real_documents() -> None:
    texts = [text[:2500] for text in documents(150)]
    assert ours(texts) == theirs_of(texts)


def test_slabs_and_windows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["\n".join(LINES * 4), " ".join(LINES * 3)]
    wanted = ours(texts)
    monkeypatch.setattr(compat_c4, "_SLAB_BYTES", 37)
    monkeypatch.setattr(compat_c4, "_WINDOW_CHARS", 50)
    assert ours(texts) == wanted


def test_a_line_with_a_medium_stays_whole() -> None:
    text = "\n".join([*LINES[:1] * 5, "\ufffc"])
    assert ours([text]) == ([""], [text])


def test_characters_balance() -> None:
    batch = document_batch({"text": pa.array(["\r\n".join(LINES * 2)], pa.large_string())})
    (step,) = run_chain([C4(words="compat")], batch).steps
    assert step.chars_in[0] == step.chars_out[0] + sum(cut[0] for cut in step.cut_chars.values())


def test_sentences_in_the_place_of_lines_are_refused() -> None:
    with pytest.raises(UsageError, match="lines only"):
        C4(words="compat", split_paragraph=False)
    assert spacy_words().sent_tokenize("One. Two.") == ["One.", "Two."]
