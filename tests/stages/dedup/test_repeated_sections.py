"""Sections that a text repeats: against brute force on small alphabets, and rule by rule."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages import catalogue
from gristmill.stages.dedup.repeated_sections import RepeatedSections
from gristmill.stages.kernels import windows_sections
from gristmill.stages.kernels.windows_units_plain import repeated_spans as plain_spans
from gristmill.stages.kernels.windows_units_plain import units

PIECES = [
    "a",
    "b",
    "a ",
    "b ",
    " ",
    "\n",
    "\u3000",
    "-",
    "(",
    ". ",
    "'s",
    "’t",
    "é",
    "世",
    "界",
    "\ufffc",
    "😊",
    "\u0301",
    "_",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
SECTION = " ".join(f"word{n}, and" for n in range(40))


def spans_of(text: str, length: int) -> list[tuple[int, int]]:
    """What the kernel finds, in characters."""
    raw = text.encode()
    place = {at: n for n, at in enumerate(np.cumsum([0, *(len(c.encode()) for c in text)]).tolist())}
    found = windows_sections.repeated_spans(np.frombuffer(raw, np.uint8), length)
    return [(place[a], place[b]) for a, b in found.tolist()]


def cut(text: str | None, **params: int) -> tuple[str, int]:
    """The text after the stage and the characters cut."""
    stage = RepeatedSections(**{"min_doc_chars": 0, **params})
    made = stage.transform(document_batch({"text": pa.array([text], pa.large_string())}))
    return made.batch.column("text")[0].as_py(), int(made.cut_chars["repeated_section"][0])


@given(TEXTS, TEXTS, st.integers(2, 6))
@example("a a a a a", "", 2)
@example("x b\ufffcb x b ", "b x b b", 2)
@settings(max_examples=300)
def test_the_kernel_equals_brute_force(one: str, other: str, length: int) -> None:
    text = one + other + one
    assert spans_of(text, length) == plain_spans(text, length)


@given(st.lists(st.sampled_from("abc"), max_size=300), st.integers(2, 8))
@settings(max_examples=60)
def test_a_small_table_takes_more_passes_and_finds_the_same(letters: list[str], length: int) -> None:
    text = " ".join(letters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows_sections, "_slots", lambda _: 16)
        assert spans_of(text, length) == plain_spans(text, length)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said: "No."', ["He", "said:", '"No."']),
        ("x - y", ["x", "-y"]),
        ("don't f(a, b) ...", ["don", "'t", "f(", "a,", "b)"]),
        ("世界。 好", ["世", "界。", "好"]),
        ("--\ufffc-- a \ufffc", ["--a"]),
        ("... !", []),
    ],
)
def test_units(text: str, expected: list[str]) -> None:
    assert ["".join(unit.tokens) for unit in units(text)] == expected


def test_a_section_that_stands_twice_stays_once() -> None:
    text = f"Begin.\n\n{SECTION}.\n\nMiddle of it.\n\n{SECTION}.\n\nEnd."
    assert cut(text) == (f"Begin.\n\n{SECTION}.\n\nMiddle of it.\n\nEnd.", len(SECTION) + 3)


def test_line_breaks_may_differ_and_anything_else_may_not() -> None:
    wrapped = SECTION.replace(" ", "\n   ")
    assert cut(f"{SECTION} x {wrapped} end")[0] == f"{SECTION} x end"
    for other in (SECTION.replace(",", ";"), SECTION.upper(), SECTION.replace("word", "w0rd")):
        text = f"{SECTION} x {other} end"
        assert cut(text) == (text, 0)


def test_a_run_of_one_word_less_stays() -> None:
    words = [f"w{n}" for n in range(50)]
    for size, gone in ((49, False), (50, True)):
        run = " ".join(words[:size])
        text = f"{run} x {run} !"
        assert (cut(text)[1] > 0) == gone


def test_an_endless_phrase_keeps_its_first_words() -> None:
    assert cut("la " * 500)[0] == "la " * 50
    assert cut("one two three " * 500)[0] == "one two three " * 17


def test_overlapping_repeats_stay() -> None:
    text = "one two " * 49
    assert cut(text) == (text, 0)


def test_media_stay_and_part_runs() -> None:
    text = f"{SECTION} \ufffc {SECTION}\ufffc{SECTION}"
    after, _ = cut(text)
    assert after == f"{SECTION} \ufffc \ufffc"
    half = " ".join(f"w{n}" for n in range(30))
    text = f"{half} \ufffc {half} x {half} \ufffc {half}"
    assert cut(text) == (text, 0)


def test_characters_of_several_bytes_are_never_cut_in_half() -> None:
    section = "Привет 😊 世界 été " * 3 + " ".join(f"слово{n}" for n in range(60))
    assert cut(f"x {section} ü {section} 😊") == (f"x {section} ü 😊", len(section) + 1)
    # What stands at a word belongs to it, so that this last word is another one.
    assert cut(f"x {section} ü {section}😊") == (f"x {section} ü слово59😊", len(section) - len("слово59"))


def test_short_documents_are_let_alone() -> None:
    text = f"{SECTION} x {SECTION}"
    assert cut(text, min_doc_chars=len(text) + 1) == (text, 0)
    assert cut(text, min_doc_chars=len(text))[1] == len(SECTION)


@pytest.mark.parametrize("text", [None, "", " ", "\ufffc", "word", "'" * 500, "\u0301" * 500, "-" * 500])
def test_nothing_to_cut(text: str | None) -> None:
    assert cut(text, min_words=2) == (text, 0)


def test_rows_of_a_batch_are_cut_each_for_itself() -> None:
    texts = ["", f"{SECTION} x {SECTION}", None, SECTION, f"{SECTION}\n{SECTION}", "end"]
    stage = RepeatedSections(min_doc_chars=0)
    batch = document_batch({"text": pa.array(texts, pa.large_string())}).slice(1, 5)
    made = stage.transform(batch)
    assert made.batch.column("text").to_pylist() == [f"{SECTION} x ", None, SECTION, f"{SECTION}\n", "end"]
    assert made.cut_chars["repeated_section"].tolist() == [len(SECTION), 0, 0, len(SECTION), 0]
    assert made.measures["repeated_section_frac"][0] == len(SECTION) / len(texts[1] or "")


@pytest.mark.parametrize(("name", "value"), [("min_words", 1), ("min_words", 1 << 30), ("min_doc_chars", -1)])
def test_wrong_parameters(name: str, value: int) -> None:
    with pytest.raises(UsageError, match=name):
        catalogue.load("repeated_sections", {name: value}, Path())


LONG = """
import resource, sys
import numpy as np
import pyarrow as pa
from gristmill.manifests.schema import document_batch
from gristmill.stages.dedup.repeated_sections import RepeatedSections
size, kind = int(sys.argv[1]), sys.argv[2]
if kind == "twice":
    half = np.random.default_rng(1).integers(97, 123, size // 2, np.uint8)
    half[5::6] = 32
    half[-1] = 32
    body = pa.py_buffer(np.concatenate([half, half]))
else:
    body = pa.py_buffer(np.resize(np.frombuffer(b"what it can be and do ", np.uint8), size))
text = pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, size])), body)
batch = document_batch({"text": text})
del body, text
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
made = RepeatedSections().transform(batch)
print(int(made.cut_chars["repeated_section"][0]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["twice", "endless"])
@pytest.mark.parametrize("size", [8_000_000, pytest.param(200_000_000, marks=pytest.mark.slow)])
def test_a_long_text_takes_less_than_twice_itself_besides(kind: str, size: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LONG, str(size), kind],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    gone, kib = map(int, done.stdout.split())
    assert gone == size // 2 if kind == "twice" else gone > size - 500
    # 64 MiB are numba's and the tables' of a small text.
    assert 1024 * kib < 2 * size + (64 << 20)
