"""`gristmill show --clusters` and `--compare`: who went for whom, over all steps, and what differs."""

from pathlib import Path

import pytest
import yaml

from gristmill.manifests.clusters import clusters, read_record
from gristmill.manifests.errors import InputError
from gristmill.manifests.find import places
from gristmill.pipeline.cli.show_clusters import differences
from tests.laws.running import call, json_of, run_inline, write_recipe
from tests.pipeline.similar_docs import edited, prose, recipe_of, table, write_docs

A, B, C = prose(1, 120), prose(2, 120), prose(3, 120)
DOCS = [
    *[(f"a{i}", " ".join(A)) for i in range(4)],
    *[(f"an{i}", " ".join(edited(A, i, 3))) for i in range(3)],
    *[(f"b{i}", " ".join(B)) for i in range(2)],
    ("c", " ".join(C)),
]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exact copies go at one step, near copies at the next: what went for a keeper that went in its turn is found."""
    folder = tmp_path_factory.mktemp("run")
    write_docs(folder, {"docs.jsonl": DOCS})
    read = {"jsonl": "docs.jsonl", "key": "key"}
    docs = {"read": read, "domain": "web", "steps": ["exact_dedup", {"minhash_dedup": {"keep": ["shortest"]}}]}
    run_inline(write_recipe(folder, yaml.safe_dump({"name": "r", "datasets": {"docs": docs}})), folder / "out")
    return folder / "out"


def test_the_largest_come_first_and_count_all(out: Path) -> None:
    found = clusters(places(out), 9, 100)
    assert [c.size for c in found] == [7, 2]
    assert [len(c.members) for c in found] == [6, 1]
    kept = {row["id"] for row in table(out, "shards")}
    assert {c.keeper for c in found} <= kept
    assert sorted(row["dup_count"] or 1 for row in table(out, "shards")) == [1, 2, 7]
    assert {m.reason for m in found[0].members} == {"exact_duplicate", "near_duplicate"}


def test_limits(out: Path) -> None:
    found = clusters(places(out), 1, 2)
    assert [(c.size, len(c.members)) for c in found] == [(7, 2)]


def test_the_text_of_who_went_is_found(out: Path) -> None:
    cluster = clusters(places(out), 1, 100)[0]
    for member in cluster.members:
        text = read_record(out, places(out), member.id)["text"]
        assert text in {t for _, t in DOCS}
    with pytest.raises(InputError, match="no text"):
        read_record(out, places(out), "0" * 32)


def test_what_differs() -> None:
    found = differences("one two three four", "one 2 three four five")
    assert [(d.equal, d.left, d.right) for d in found] == [
        (True, "one", "one"),
        (False, "two", "2"),
        (True, "three four", "three four"),
        (False, "", "five"),
    ]
    assert differences("", "") == []


def test_the_command(out: Path) -> None:
    listed = call("show", out, "--clusters")
    assert listed.returncode == 0
    assert "7 records, kept" in listed.stdout and "met in bands" in listed.stdout
    told = json_of(call("show", out, "--clusters", "--json", "--limit", "5"))["clusters"]
    near = next(m for m in told[0]["members"] if m["reason"] == "near_duplicate")
    compared = call("show", out, "--compare", told[0]["keeper"], near["id"])
    assert compared.returncode == 0 and "equal words" in compared.stdout and " ! " in compared.stdout
    both = json_of(call("show", out, "--compare", told[0]["keeper"], near["id"], "--json"))
    assert sum(not d["equal"] for d in both["differences"]) == 1
    assert call("show", out, "--compare", "0" * 32, near["id"]).returncode == 3
    assert "no such dataset" in call("show", out, "nothing", "--clusters").stderr


def test_a_keeper_that_stands_in_an_index_is_told(tmp_path: Path) -> None:
    for name, index in (("old", {"save": "i"}), ("new", {"query": "../old/out/indexes/i"})):
        write_docs(tmp_path / name, {"docs.jsonl": [(name + key, text) for key, text in DOCS]})
        run_inline(recipe_of(tmp_path / name, {"index": index}), tmp_path / name / "out")
    shown = call("show", tmp_path / "new" / "out", "--clusters")
    assert shown.returncode == 0
    assert "8 records, kept" in shown.stdout and "in an index" in shown.stdout


def test_records_that_were_emptied_belong_to_who_keeps_their_lines(tmp_path: Path) -> None:
    write_docs(tmp_path, {"docs.jsonl": [(f"k{i}", "a line of seven words that stands everywhere") for i in range(9)]})
    docs = {"read": {"jsonl": "docs.jsonl", "key": "key"}, "domain": "web", "steps": ["line_dedup"]}
    run_inline(write_recipe(tmp_path, yaml.safe_dump({"name": "r", "datasets": {"docs": docs}})), tmp_path / "out")
    assert [(c.size, len(c.members)) for c in clusters(places(tmp_path / "out"), 5, 100)] == [(9, 8)]
    assert len(table(tmp_path / "out", "cuts")) == 8
    gone = table(tmp_path / "out", "ledger")[0]
    told = json_of(call("trace", tmp_path / "out", gone["id"], "--json"))["events"]
    assert [e["verdict"] for e in told] == ["keep", "cut", "drop"]
    assert told[1]["keeper"] == told[2]["keeper"] == gone["keeper"]
