"""Two documents side by side: the figures, what would merge, what a person and a script see."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from gristmill.manifests.errors import EXIT_DONE, EXIT_INPUT, EXIT_USAGE
from gristmill.manifests.schema import content_hash, document_batch
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.pair_similar import THRESHOLD, Document, PairOptions, compare, read_document
from gristmill.stages import catalogue
from gristmill.stages.dedup.shingles import ShingleSpec
from gristmill.stages.dedup.sketch import SketchSpec
from tests.pipeline.similar_docs import deduplicated, kept_texts

BOOK = "books/ainsworth-jack-sheppard-16215"

Similar = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiles the kernels where no cache has them, which would count for the first test."""
    path = tmp_path_factory.mktemp("kernels") / "a.txt"
    path.write_text("one two three four five six seven")
    compare(read_document(path), read_document(path), PairOptions())


@pytest.fixture
def similar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Similar:
    """Texts by file name, and options; the JSON object."""

    def call(a: tuple[str, str], b: tuple[str, str], *words: str) -> dict[str, Any]:
        paths = [tmp_path / name for name, _ in (a, b)]
        for path, (_, text) in zip(paths, (a, b), strict=True):
            path.write_text(text, encoding="utf-8")
        capsys.readouterr()
        assert main(["pair", "similar", *map(str, paths), "--json", *words]) == EXIT_DONE
        return json.loads(capsys.readouterr().out)

    return call


def document(text: str) -> Document:
    columns = {"id": pa.array(["0" * 32]), "domain": pa.array(["web"]), "text": pa.array([text], pa.large_string())}
    return Document("f", "text", document_batch({**columns, "content_hash": pa.array([content_hash(text.encode())])}))


def words(start: int, stop: int) -> str:
    return " ".join(f"w{i}" for i in range(start, stop))


def test_the_figures_are_those_of_the_sets(similar: Similar) -> None:
    """100 and 60 words, 50 of them in common: 96 and 56 shingles of five, 46 of them shared."""
    found = similar(("a.txt", words(0, 100)), ("b.txt", words(50, 110)))
    assert (found["a"]["shingles"], found["b"]["shingles"], found["shared_shingles"]) == (96, 56, 46)
    assert found["jaccard"] == 46 / (96 + 56 - 46) and found["containment"] == 46 / 56
    assert found["bands_shared"] == len(found["bands_met"]) <= 14
    assert math.isclose(found["chance"], 1 - (1 - (46 / 106) ** 8) ** 14)
    assert (found["would_merge"], found["exact_only"], found["note"]) == (False, False, "")
    assert found["similarity"] == "jaccard" and found["options"]["threshold"] == 0.7


@pytest.mark.parametrize(("threshold", "merges"), [("0.8", True), ("0.81", False)])
def test_the_threshold_is_met_at_it(similar: Similar, threshold: str, merges: bool) -> None:
    """40 of 50 shingles of one word."""
    given = ("--shingle", "1", "--bands", "64", "--rows", "1", "--threshold", threshold)
    found = similar(("a.txt", words(0, 45)), ("b.txt", words(5, 50)), *given)
    assert found["jaccard"] == 0.8 and found["bands_shared"] > 0
    assert found["would_merge"] is merges


def test_containment_finds_a_part_in_the_whole(similar: Similar) -> None:
    a, b = ("a.txt", words(0, 400)), ("b.txt", words(100, 200))
    given = ("--bands", "128", "--rows", "1")
    assert not similar(a, b, *given)["would_merge"]
    found = similar(a, b, "--containment", *given)
    assert found["containment"] == 1.0 and found["jaccard"] < 0.3 and found["would_merge"]
    assert found["similarity"] == "containment"


def test_what_no_band_brings_together_does_not_merge_and_is_told(similar: Similar) -> None:
    a, b = ("a.txt", words(0, 100)), ("b.txt", words(10, 110))
    found = similar(a, b, "--bands", "1", "--rows", "200", "--threshold", "0.5")
    assert found["jaccard"] > 0.5 and found["bands_shared"] == 0
    assert not found["would_merge"] and "no band met" in found["note"]


def test_documents_too_short_for_a_shingle_merge_only_when_their_bytes_are_equal(similar: Similar) -> None:
    same = similar(("a.txt", "only four words here"), ("b.txt", "only four words here"))
    assert same["exact_only"] and same["equal"] and same["would_merge"] and "too short" in same["note"]
    assert (same["jaccard"], same["containment"], same["bands_shared"], same["a"]["shingles"]) == (1.0, 1.0, 0, 0)
    for other in ("Only  four\nwords here", "only four words HERE "):
        found = similar(("a.txt", "only four words here"), ("b.txt", other))
        assert found["exact_only"] and not found["would_merge"] and found["jaccard"] == 0.0
        assert found["equal"] and "exact_dedup would merge them" in found["note"]
    other = similar(("a.txt", "only four words here"), ("b.txt", "only four words there"))
    assert other["exact_only"] and not other["equal"] and not other["would_merge"] and other["jaccard"] == 0.0
    assert "exact_dedup would" not in other["note"]
    long = similar(("a.txt", "only four words here"), ("b.txt", words(0, 50)))
    assert long["exact_only"] and long["containment"] == 0.0 and "too short" in long["note"]
    empty = similar(("a.txt", ""), ("b.txt", " \n"))
    assert empty["jaccard"] == 0.0 and not empty["would_merge"] and empty["equal"]


CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("Hello  world", "hello world", {}),
    ("hello world", "hello world", {}),
    (words(0, 100), words(0, 98), {}),
    (words(0, 100), words(0, 98).upper(), {}),
    (words(0, 100), words(40, 140), {}),
    (words(0, 200), words(0, 190), {"unit": "token", "tokenizer": "bytes", "shingle": 8}),
    (words(0, 200), words(0, 190).upper(), {"unit": "token", "tokenizer": "bytes", "shingle": 8}),
    (words(0, 400), words(100, 300), {"similarity": "containment", "bands": 40, "rows": 2}),
]


@pytest.mark.parametrize(("one", "other", "params"), CASES)
def test_a_run_with_these_options_does_what_is_told(
    tmp_path: Path, similar: Similar, one: str, other: str, params: dict[str, Any]
) -> None:
    given = {k: str(v) for k, v in params.items() if k != "similarity"}
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    options += ["--containment"] if "similarity" in params else []
    told = similar(("a.txt", one), ("b.txt", other), *options)
    kept = kept_texts(deduplicated(tmp_path, [("a", one), ("b", other)], params))
    assert len(kept) == (1 if told["would_merge"] else 2)
    assert not (told["would_merge"] and "does not" in told["note"])


def test_equal_is_what_exact_dedup_calls_equal(similar: Similar) -> None:
    """Canonical caseless form for prose; white space alone for code; bytes where one is code and the other is not."""
    for a, b, equal in (
        ("Stra\u00dfe", "STRASSE", True),
        ("caf\u00e9", "CAFE\u0301 ", True),
        ("\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3", True),
        ("soft\u00adhyphen", "softhyphen", True),
        ("one, two", "one two", False),
        ("ligature \ufb01", "ligature fi", True),
    ):
        assert similar(("a.txt", a), ("b.txt", b))["equal"] is equal, (a, b)
        assert similar(("a.py", a), ("b.py", b))["equal"] is False, (a, b)
    assert similar(("a.py", "x = 1\n"), ("b.py", "x  =\t1"))["equal"]
    assert not similar(("a.py", "x = 1\n"), ("b.txt", "x = 1"))["equal"]
    assert similar(("a.py", "x = 1\n"), ("b.txt", "x = 1\n"))["equal"]
    assert not similar(("a.txt", "Word"), ("b.txt", "word"), "--normalise", "exact")["equal"]


def test_shingles_of_tokens(similar: Similar, tmp_path: Path) -> None:
    """`bytes` has a token a byte: 6 and 6 of them, one shingle of 5 in common."""
    given = ("--unit", "token", "--tokenizer", "bytes")
    found = similar(("a.txt", "abcdef"), ("b.txt", "abcdeg"), *given)
    assert (found["a"]["shingles"], found["jaccard"], found["a"]["form"]) == (2, 1 / 3, "tokens")
    assert (found["options"]["unit"], found["options"]["tokenizer"]) == ("token", "bytes")
    cased = similar(("a.txt", "ABCDEF"), ("b.txt", "abcdef"), *given)
    assert not cased["would_merge"] and cased["equal"] and "exact_dedup would merge" in cased["note"]
    mixed = similar(("a.py", words(0, 30)), ("b.txt", words(0, 30)), *given)
    assert mixed["jaccard"] == 1.0 and mixed["note"] == ""
    default = similar(("a.txt", words(0, 30)), ("b.txt", words(0, 29)), "--unit", "token")
    assert 0.8 < default["jaccard"] < 1.0 and default["would_merge"]
    file = tmp_path / "own.json"
    Tokenizer(WordLevel({"w": 0, "x": 1, "[UNK]": 2}, unk_token="[UNK]")).save(str(file))
    own = similar(("a.txt", "w"), ("b.txt", "x"), "--unit", "token", "--shingle", "1", "--tokenizer", str(file))
    assert (own["a"]["shingles"], own["jaccard"]) == (1, 0.0)


def test_passages_of_tokens_keep_the_blank_in_front(similar: Similar) -> None:
    text = " ".join(f"word{i} of a long text" for i in range(100))
    found = similar(("a.txt", text), ("b.txt", text + " and more"), "--unit", "token")
    assert len(found["examples"]["shared"]) == 3 and all(p == p.strip() for p in found["examples"]["shared"])


def test_code_keeps_case_and_marks(similar: Similar) -> None:
    code = "def f(x):\n    return x + 1\n" * 3 + "print(f(2))\n"
    shout = code.replace("return x", "RETURN x")
    assert similar(("a.py", code), ("b.py", code.replace("    ", "\t")))["jaccard"] == 1.0
    found = similar(("a.py", code), ("b.py", shout))
    assert found["a"]["form"] == "exact" and found["a"]["domain"] == "code" and found["jaccard"] < 1
    assert similar(("a.txt", code), ("b.txt", shout))["jaccard"] == 1.0
    assert similar(("a.py", code), ("b.py", shout), "--normalise", "prose")["jaccard"] == 1.0
    mixed = similar(("a.py", code), ("b.txt", code))
    assert "as prose" in mixed["note"] and mixed["jaccard"] < 1


def test_pages_are_extracted(similar: Similar) -> None:
    text = "It was a bright cold day in April, and the clocks were striking thirteen all over the town."
    page = f"<!doctype html><html><head><style>p {{color: red}}</style></head><body><p>{text}</p></body></html>"
    found = similar(("a.txt", text), ("b.html", page))
    assert found["jaccard"] == 1.0 and found["equal"] and found["would_merge"]
    assert found["b"]["kind"] == "html" and found["b"]["chars"] < len(page)


def test_characters_and_scripts_without_spaces(similar: Similar) -> None:
    a, b = "统计语言模型是自然语言处理的基础工具", "统计语言模型是自然语言处理的基本工具"
    found = similar(("a.txt", a), ("b.txt", b))
    assert found["a"]["shingles"] == len(a) - 4, "each letter is a word"
    assert 0 < found["jaccard"] < 1
    assert similar(("a.txt", "abcdef"), ("b.txt", "abcdeg"), "--unit", "char")["jaccard"] == 1 / 3


def test_examples_are_passages_of_the_texts(similar: Similar) -> None:
    shared = " ".join(f"common{i} sentence of both documents." for i in range(40))
    found = similar(("a.txt", f"{shared} {words(0, 200)}"), ("b.txt", f"{words(500, 700)} {shared}"))
    examples = found["examples"]
    assert all("common" in text for text in examples["shared"]) and len(examples["shared"]) == 3
    assert examples["only_a"] and all(re.search("w1?[0-9]", text) for text in examples["only_a"])
    assert examples["only_b"] and all(re.search("w[56]", text) for text in examples["only_b"])
    assert max(len(text) for part in examples.values() for text in part) <= 160


def test_people_see_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(words(0, 100) + " \x1b[2J hostile end of a text")
    (tmp_path / "b.txt").write_text(words(0, 100))
    assert main(["pair", "similar", str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]) == EXIT_DONE
    shown = capsys.readouterr().out
    for part in (
        "jaccard\t0.9",
        "containment\t",
        "bands shared\t",
        "chance\t",
        "would merge (threshold of jaccard 0.7)",
    ):
        assert part in shown
    assert "in both: w0 w1" in shown and "\x1b" not in shown


FAULTS: list[tuple[bytes, tuple[str, ...], int, str]] = [
    (b"caf\xe9 \xff", (), EXIT_INPUT, "bad_utf8"),
    (b"text", ("--bands", "0"), EXIT_USAGE, "bands must be at least 1"),
    (b"text", ("--bands", "256", "--rows", "100"), EXIT_USAGE, "too large"),
    (b"text", ("--threshold", "0"), EXIT_USAGE, "--threshold"),
    (b"text", ("--threshold", "nan"), EXIT_USAGE, "--threshold"),
    (b"text", ("--shingle", "0"), EXIT_USAGE, "shingle"),
    (b"text", ("--unit", "line"), EXIT_USAGE, "--unit"),
    (b"text", ("--unit", "token", "--tokenizer", "absent"), EXIT_USAGE, "no such tokenizer"),
    (b"text", ("--unit", "token", "--tokenizer", __file__), EXIT_INPUT, "test_pair_similar.py"),
    (b"text", ("--tokenizer", "bytes"), EXIT_USAGE, "--tokenizer"),
    (b"text", ("--seed", "-1"), EXIT_USAGE, "seed"),
]


@pytest.mark.parametrize(("data", "given", "code", "what"), FAULTS)
def test_what_cannot_be_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, given: tuple[str, ...], code: int, what: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert main(["pair", "similar", str(path), str(path), *given]) == code
    said = capsys.readouterr().err
    assert what in said and said.count("\n") == 1


def test_files_that_hold_no_document_or_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, many, none = (tmp_path / name for name in ("one.jsonl", "many.jsonl", "none.jsonl"))
    one.write_text('{"text": "a b c d e f"}\n')
    many.write_text('{"text": "a"}\n{"text": "b"}\n')
    none.write_text("garbage\n")
    assert main(["pair", "similar", str(one), str(one)]) == EXIT_DONE
    assert main(["pair", "similar", str(one), str(many)]) == EXIT_USAGE
    assert main(["pair", "similar", str(one), str(none)]) == EXIT_INPUT
    assert main(["pair", "similar", str(one), str(tmp_path / "absent.txt")]) == EXIT_INPUT
    assert main(["pair", "similar", str(one), str(tmp_path)]) == EXIT_INPUT
    assert main(["pair", "similar", str(one)]) == EXIT_USAGE
    capsys.readouterr()


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pair", "similar", "--help"]) == EXIT_DONE
    assert "gristmill pair similar one.txt other.html" in capsys.readouterr().out


def test_the_defaults_are_those_of_minhash_dedup() -> None:
    default = {p["name"]: p["default"] for p in catalogue.describe("minhash_dedup")["params"]}
    spec = SketchSpec()
    mine = {"bands": spec.bands, "rows": spec.rows, "threshold": THRESHOLD, "shingle": spec.shingles.n}
    assert {name: default[name] for name in mine} == mine
    assert (default["unit"], default["seed"]) == (spec.shingles.unit, spec.seed)


def test_a_book_as_text_and_as_page_is_one_book(shared_data: Path) -> None:
    text, page = (read_document(shared_data / f"{BOOK}{suffix}") for suffix in (".txt", ".htm"))
    found = compare(text, page, PairOptions())
    assert found.jaccard > 0.9 and found.would_merge and not found.equal
    assert found.examples["shared"] and found.a.shingles > 100_000


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["word", "char"]), st.integers(1, 3))
def test_any_two_texts_have_sound_figures(one: str, other: str, unit: Any, n: int) -> None:
    texts = (text.encode("utf-8", "replace").decode() for text in (one, other))
    a, b = map(document, texts)
    options = PairOptions(SketchSpec(ShingleSpec(unit, n)))
    found, turned, own = compare(a, b, options), compare(b, a, options), compare(a, a, options)
    assert 0 <= found.jaccard <= found.containment <= 1 and 0 <= found.chance <= 1
    assert (found.jaccard, found.containment, found.bands_met) == (turned.jaccard, turned.containment, turned.bands_met)
    assert own.jaccard == 1.0 and own.would_merge and own.equal
    assert "does not find" not in own.note and (one != other or found.would_merge)
