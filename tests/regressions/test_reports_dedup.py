"""Public reports about other tools that concern duplicates and decontamination, each with its smallest input."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.manifest import published
from gristmill.stages.dedup.decontaminate import Decontaminate
from tests.laws.corpora import prose
from tests.laws.running import books, run_inline, write_recipe
from tests.stages.verdicts import reason_of

PLANTED = "A baker sells 12 loaves on Monday and twice as many on Tuesday. How many loaves did the baker sell?"

RECIPE = """\
name: planted
datasets:
  clean:
    read: {{jsonl: "docs.jsonl"}}
    domain: web
    steps:
      - decontaminate: {params}
"""


def _lines(path: Path, items: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def _recipe(folder: Path, params: str, evals: list[dict[str, Any]]) -> Path:
    texts = [prose(n, 120) for n in range(20)]
    texts[7] = f"{texts[7]}\n{PLANTED.upper()}\n{texts[8]}"
    _lines(folder / "docs.jsonl", [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)])
    _lines(folder / "eval.jsonl", evals)
    return write_recipe(folder, RECIPE.format(params=params))


def test_dolma_150_174_and_218_what_was_planted_is_found(tmp_path: Path) -> None:
    """Decontamination gave empty lists without an error, whatever the documents held."""
    recipe = _recipe(tmp_path, "{against: eval.jsonl, ngram: 13}", [{"question": PLANTED, "answer": "36"}])
    out = tmp_path / "out"
    run_inline(recipe, out)
    manifest = dict(published(out))["clean"]
    rows = [row for file in manifest["ledger"] for row in pq.read_table(out / "clean" / file["path"]).to_pylist()]
    assert [(row["reason"], row["measure"], row["value"], row["limit"]) for row in rows] == [
        ("contaminated", "eval_ngrams", 8.0, 0.0)
    ]
    ngram = " ".join(PLANTED.upper().split()[:13]).rstrip(".")
    assert rows[0]["detail"] == f'eval.jsonl:1 question: "{ngram}" (8 of 8 n-grams)'
    assert books(out)["clean"][-1]["kept"] == 19


@pytest.mark.parametrize(
    ("params", "evals", "told"),
    [
        ("{against: eval.jsonl}", [], "without text"),
        ("{against: eval.jsonl}", [{"label": 3}], "without text"),
        ("{against: eval.jsonl, fields: [text]}", [{"question": PLANTED}], "the items have question"),
        ("{against: eval.jsonl}", [{"question": "How many loaves?"}], "nothing to look for"),
        ("{against: eval.jsonl, max_ngrams: 50}", [{"question": PLANTED}], "no item can be found"),
        ("{against: other.jsonl}", [{"question": PLANTED}], "no such file"),
        ("{against: []}", [{"question": PLANTED}], "name an evaluation set"),
        ("{ngram: 13}", [{"question": PLANTED}], "missing parameter"),
    ],
)
def test_dolma_150_174_and_218_what_can_find_nothing_is_an_error(
    tmp_path: Path, params: str, evals: list[dict[str, Any]], told: str
) -> None:
    recipe = _recipe(tmp_path, params, evals)
    with pytest.raises(GristmillError, match=told):
        run_inline(recipe, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.parquet"))


def test_datatrove_218_the_order_of_normalising_is_nothing_to_see(tmp_path: Path) -> None:
    """`1|2|3` was another text when punctuation went before numbers did."""
    text = "the scores were 1|2|3 and then 4|5|6 in the second half of it"
    stage = Decontaminate(against=str(_lines(tmp_path / "eval.jsonl", [{"q": text}])))
    for same in (text, text.replace("|", " | "), text.replace("|", ", "), text.replace("|", "-")):
        assert reason_of(stage, same) == "contaminated"
    assert reason_of(stage, text.replace("1|2|3", "123")) is None
    assert reason_of(stage, text.replace("1|2|3", "3|2|1")) is None


def test_marin_6852_lines_and_pages_hide_nothing(tmp_path: Path) -> None:
    """Paragraphs were compared one by one: an item in short lines, or in a long paragraph, was not found."""
    stage = Decontaminate(against=str(_lines(tmp_path / "eval.jsonl", [{"q": PLANTED}])))
    assert reason_of(stage, PLANTED.replace(" ", "\n\n")) == "contaminated"
    assert reason_of(stage, f"{prose(1, 5000)} {PLANTED} {prose(2, 5000)}") == "contaminated"
