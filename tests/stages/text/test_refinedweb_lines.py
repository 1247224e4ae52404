"""RefinedWeb's corrections of lines: each rule at, above and below its limit; what stays is untouched."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.text.refinedweb_lines import CUTS, RefinedWebLines

SENTENCE = "The mill of the miller grinds the corn that is brought to it.\n"
HOSTILE = st.text(st.sampled_from("aZÉ1'.,:\n\r\u2028 中ก\u0301\ufffc\0😀"), max_size=40) | st.text(max_size=40)


def run(text: str | None, **params: Any) -> tuple[str | None, dict[str, int], str]:
    """The text where it is kept, characters cut by reason, the reason where it is dropped."""
    batch = document_batch({"text": pa.array([text], pa.large_string())})
    result = run_chain([RefinedWebLines(**params)], batch)
    cut = {name: int(v[0]) for name, v in result.steps[0].cut_chars.items() if v[0]}
    texts = result.kept.column("text").to_pylist()
    return (texts[0] if texts else None), cut, (result.fates[0].reason if result.fates else "")


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("BREAKING NEWS from the mills", ""),
        ("BREAKING NEWS TODAY from", "uppercase"),
        ("ABcd of", ""),
        ("ABCd of", ""),
        ("ABCD of", "uppercase"),
        ("СРОЧНЫЕ НОВОСТИ", "uppercase"),
        ("12", "numeric"),
        ("12/05/2020 10:30", "numeric"),
        ("1,234.50", "numeric"),
        ("12 €", "one_word"),
        ("x = 12 + 3", ""),
        ("3 likes", "counter"),
        ("1.2k views", "counter"),
        ("12 Kommentare", "counter"),
        ("3 likes of it", ""),
        ("three likes", ""),
        ("Home", "one_word"),
        ("- Home -", "one_word"),
        ("Home page", ""),
        ("* * *", ""),
        ("河边", ""),
        ("", ""),
        ("Sign in", "navigation"),
        ("3 items in cart", "navigation"),
        ("Logins are counted here", ""),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_rule_for_whole_lines(line: str, cut: str, end: str) -> None:
    text = f"{SENTENCE}  {line}{end}{SENTENCE}"
    after, cuts, _ = run(text, max_cut_word_frac=1.0)
    assert after == (SENTENCE * 2 if cut else text)
    assert cuts == ({cut: len(line) + 2 + len(end)} if cut else {})


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("The story of a mill. Read more...", "The story of a mill."),
        ("The story of a mill… READ MORE…", "The story of a mill…"),
        ("Sign in to see it", "to see it"),
        ("You have 2 items in cart now", "You have 2 now"),
        ("a b c d e f g h Read more", "a b c d e f g h"),
        ("a b c d e f g h i Read more", "a b c d e f g h i Read more"),
        ("We can read more of it", "We can read more of it"),
        ("Unread more", "Unread more"),
    ],
)
def test_navigational_phrases_of_short_lines(line: str, left: str) -> None:
    after, cuts, _ = run(f"{SENTENCE}\t{line} \n{SENTENCE}", max_cut_word_frac=1.0)
    assert after == f"{SENTENCE}\t{left} \n{SENTENCE}"
    assert cuts == ({"navigation": len(line) - len(left)} if left != line else {})


def test_a_text_goes_when_too_much_of_it_is_cut() -> None:
    words = "corn is ground here by us " * 3 + "all "  # 19
    assert run(f"{words}\nHome")[2] == ""
    assert run(f"{words[:-4]}\nHome")[2] == "too_many_cut_words"
    assert run(f"{words[:-4]}\nHome", max_cut_word_frac=0.06)[2] == ""
    assert run("")[2] == run(None)[2] == ""


def test_what_stays_is_untouched() -> None:
    text = "\r\n\r\n  Indented as it was.\t\r\n\r\n\u2028 Another one.  \n\n"
    assert run(text) == (text, {}, "")


@pytest.mark.parametrize(("fence", "close"), [("```", "```"), ("```python", "```"), ("  ````", "````  "), ("```", "")])
def test_code_between_fences_stays(fence: str, close: str) -> None:
    text = f"{SENTENCE * 9}{fence}\ntry:\n    42\nelse:\n    True\n{close}\n"
    assert run(text) == (text, {}, "")
    after, cuts, _ = run(f"{text}Home\n{SENTENCE}")
    assert (after, cuts) == ((text + SENTENCE, {"one_word": 5}) if close else (f"{text}Home\n{SENTENCE}", {}))


def test_what_is_no_fence() -> None:
    text = f"{SENTENCE * 9}```x``` y z\n``\n"
    assert run(f"{text}42\n")[0] == text


def test_lines_with_media_stay() -> None:
    text = "\ufffc\nFIGURE \ufffc\n" + SENTENCE * 5
    assert run(text) == (text, {}, "")


@given(st.lists(HOSTILE | st.none(), max_size=6))
def test_characters_balance(texts: list[str | None]) -> None:
    batch = document_batch({"text": pa.array(texts, pa.large_string())})
    step = run_chain([RefinedWebLines(max_cut_word_frac=1.0)], batch).steps[0]
    cut = sum(step.cut_chars.values(), np.zeros(len(texts), np.int64))
    assert (step.chars_in == step.chars_out + cut).all()
    assert all((values >= 0).all() for values in step.cut_chars.values())
    assert ((step.measures["cut_word_frac"] >= 0) & (step.measures["cut_word_frac"] <= 1)).all()


def test_reasons_are_documented() -> None:
    assert [r.reason for r in RefinedWebLines().reasons()] == [*CUTS, "too_many_cut_words"]


@pytest.mark.parametrize("params", [{"max_upper_frac": 2.0}, {"max_cut_word_frac": -0.1}, {"max_navigation_words": -1}])
def test_impossible_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RefinedWebLines(**params)
