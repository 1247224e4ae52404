"""Faults M23-M28 of the best-known tool, and public reports of its kind that concern the repetition rules."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter
from gristmill.stages.quality.sampling import draws
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Kernels are compiled outside the timed part of a test."""
    GopherRepetition().prepare()
    GopherQuality().prepare()


def _batch(texts: Sequence[str]) -> pa.RecordBatch:
    column = pa.array(texts, pa.large_string())
    return document_batch({"text": column, "lang": pa.array(["en"] * len(texts), pa.string())})


def _reason(stage: Filter, text: str) -> str:
    fates = run_chain([stage], _batch([text])).fates
    return fates[0].reason if fates else ""


def _measure(name: str, text: str) -> float:
    return float(GopherRepetition().measure(_batch([text]))[name][0])


def test_m23_an_n_gram_that_occurs_once_is_no_repetition() -> None:
    text = "Alpha bravo charlie delta echo foxtrot"
    assert _reason(GopherRepetition(), text) == ""
    assert [_measure(f"top_{n}_gram_frac", text) for n in (2, 3, 4)] == [0, 0, 0]
    assert _measure("top_2_gram_frac", "Alpha bravo charlie Alpha bravo") == 22 / 31


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"])
def test_m24_nothing_divides_by_no_words(text: str) -> None:
    bare: dict[str, Any] = {"min_doc_words": None, "min_alpha_words_ratio": None, "min_stop_words": None}
    assert _reason(GopherQuality(**bare), text) == ""
    assert _reason(GopherQuality(min_doc_words=None), text) == "gopher_below_alpha_threshold"


def test_m25_crlf_parts_paragraphs_as_lf_does() -> None:
    paragraphs = [f"one{i} two{i}\nthree{i} four{i}" for i in range(4)] + ["again and\nagain"] * 4
    lf = "\n\n".join(paragraphs)
    for end in ("\r\n", "\r", "\u2028"):
        text = lf.replace("\n", end)
        assert _reason(GopherRepetition(), text) == _reason(GopherRepetition(), lf) == "dup_para_frac"
        for name in ("dup_para_frac", "dup_line_frac"):
            assert _measure(name, text) == _measure(name, lf)


def test_m26_n_grams_are_compared_token_by_token() -> None:
    stage = GopherRepetition(top_n_grams=(), dup_n_grams=((2, 0.0),))
    assert _reason(stage, "ab c zz a bc") == ""
    assert _reason(stage, "ab c zz ab c") == "duplicated_2_n_grams"


def test_m27_a_draw_is_of_content_and_seed_alone() -> None:
    """A sampler that drew from one stream a process drew the same in every rank, and by position in each."""
    texts = [f"text {i}" for i in range(400)]
    hashes = content_hashes(pa.array(texts, pa.large_string()), pa.nulls(400, DOCUMENT.field("media").type))
    whole = draws(hashes, 0, "quality")
    ranks = [draws(hashes.slice(start, 100), 0, "quality") for start in range(0, 400, 100)]
    assert [draw for rank in ranks for draw in rank.tolist()] == whole.tolist()
    assert len({tuple((rank < 0.5).tolist()) for rank in ranks}) == 4
    assert draws(hashes.take(pa.array([399, 0])), 0, "quality").tolist() == [whole[399], whole[0]]
    assert 0.4 < (whole < 0.5).mean() < 0.6
    assert draws(hashes, 1, "quality").tolist() != whole.tolist()


_WITHOUT_EXTRAS = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
EXTRAS = {"spacy", "datatrove", "trafilatura", "readability", "tree_sitter", "tree_sitter_language_pack", "onnxruntime",
          "hypothesis", "pytest", "pyspark", "ray", "torch", "pandas", "polars", "duckdb", "transformers"}
sys.meta_path.insert(0, Absent())
import importlib, pkgutil
import gristmill.stages
names = [m.name for m in pkgutil.walk_packages(gristmill.stages.__path__, "gristmill.stages.")]
for name in names:
    if not name.endswith("child"):
        importlib.import_module(name)
from gristmill.stages import catalogue
catalogue.list_stages()
print(len(names))
"""


def test_m28_stages_import_without_what_is_optional() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_EXTRAS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


def test_datatrove_273_blank_lines_are_no_duplicates() -> None:
    text = "\n\n \n\n".join(f"line{i} {i * i}" for i in range(20)) + "\n" * 40
    assert _reason(GopherRepetition(), text) == ""
    assert _measure("dup_line_frac", text) == 0
    assert _measure("lines", text) == 20


def test_datatrove_329_stop_words_are_counted_once_each() -> None:
    assert _reason(GopherQuality(), "corn " * 99 + "the the") == "gopher_enough_stop_words"
    assert _reason(GopherQuality(), "corn " * 99 + "the of") == ""


def test_many_short_paragraphs_stay() -> None:
    """datatrove, mended 2024-04-26."""
    assert _reason(GopherRepetition(), "\n\n".join(f"point{i} {i * 7}" for i in range(50))) == ""
