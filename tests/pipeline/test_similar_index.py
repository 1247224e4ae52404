"""minhash_dedup across runs: what a new crawl costs, and indexes that another run saved."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.manifests.errors import AlarmError, InputError, UsageError, VerifyError
from gristmill.manifests.verify import verify
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.engines.local import LocalEngine
from gristmill.pipeline.engines.protocol import EngineEvent
from gristmill.pipeline.plan import make_plan
from gristmill.pipeline.recipe import load_recipe
from gristmill.pipeline.run import Run, RunOptions, load
from gristmill.pipeline.selection import Selection
from tests.laws.running import fingerprint, run_inline, write_recipe
from tests.pipeline.similar_docs import Doc, corpus, edited, kept_texts, prose, recipe_of, table, write_docs

DOCS = corpus()


def ignore(event: EngineEvent) -> None:
    """Nobody watches."""


def counted(recipe: Path, out: Path) -> dict[str, list[str]]:
    """Labels of tasks by what happened to them."""
    events: list[EngineEvent] = []
    Run(load(load_recipe(recipe)), out, LocalEngine(out, 0), RunOptions(), events.append).execute()
    return {what: [e.label for e in events if e.what == what] for what in ("reuse", "commit")}


@pytest.mark.parametrize("name", ["a new crawl.jsonl", "zz.jsonl"])
def test_a_new_crawl_equals_a_full_rebuild_and_costs_itself(name: str, tmp_path: Path) -> None:
    """Files of more than 1 MiB each are splits of their own; whatever the new one is called, the old keys stay."""
    filler = [[(f"f{i}k{j}", " ".join(prose(1000 * i + j, 400))) for j in range(700)] for i in range(1, 4)]
    old = {f"f{i}.jsonl": [*filler[i], *DOCS[i::3]] for i in range(3)}
    write_docs(tmp_path / "grown", old)
    recipe = recipe_of(tmp_path / "grown")
    counted(recipe, tmp_path / "grown" / "out")
    new: list[Doc] = [("n0", DOCS[0][1]), ("n1", " ".join(prose(987654, 60))), ("n2", " ".join(prose(987654, 62)))]
    write_docs(tmp_path / "grown", {name: new})
    happened = counted(recipe, tmp_path / "grown" / "out")
    keys = [label for label in happened["commit"] if "minhash_dedup keys" in label]
    read = [label for label in happened["commit"] if ".read " in label and "ids" not in label]
    assert len(keys) == len(read) == 1
    maps = [label for label in happened["commit"] if label.startswith("docs.minhash_dedup ") and label[-3] == "/"]
    assert len([label for label in maps if label.split()[1][0].isdigit()]) <= 2
    write_docs(tmp_path / "whole", {**old, name: new})
    run_inline(recipe_of(tmp_path / "whole"), tmp_path / "whole" / "out")
    assert fingerprint(tmp_path / "grown" / "out") == fingerprint(tmp_path / "whole" / "out")


class TestIndex:
    """Across runs."""

    @staticmethod
    def saved(tmp_path: Path, docs: list[Doc], name: str = "old") -> Path:
        folder = tmp_path / name
        write_docs(folder, {"docs.jsonl": docs})
        run_inline(recipe_of(folder, {"index": {"save": "corpus"}}), folder / "out")
        return folder / "out" / "indexes" / "corpus"

    def query(self, tmp_path: Path, index: Path, docs: list[Doc], more: dict[str, Any] | None = None) -> Path:
        folder = tmp_path / "new"
        write_docs(folder, {"docs.jsonl": docs})
        name = "../" + str(index.relative_to(tmp_path))
        run_inline(recipe_of(folder, {"index": {"query": name, **(more or {})}}), folder / "out")
        return folder / "out"

    def test_duplicates_on_both_sides(self, tmp_path: Path) -> None:
        """M19 and datatrove#349: of the index X and the input X, Y, X the second X was kept."""
        x, y = " ".join(prose(1, 90)), " ".join(prose(2, 90))
        near = " ".join(edited(prose(1, 90), 4, 3))
        index = self.saved(tmp_path, [("x", x), ("other", " ".join(prose(3, 90)))])
        out = self.query(tmp_path, index, [("a", x), ("b", y), ("c", x), ("d", near)])
        assert kept_texts(out) == [y]
        keepers = {(r["reason"], r["keeper"]) for r in table(out, "ledger")}
        old = {r["id"] for r in table(tmp_path / "old" / "out", "shards") if r["text"] == x}
        assert keepers == {("indexed_duplicate", *old)}

    def test_a_better_policy_does_not_displace_what_is_indexed(self, tmp_path: Path) -> None:
        words = prose(1, 200)
        index = self.saved(tmp_path, [("x", " ".join(words))])
        folder = tmp_path / "new"
        write_docs(folder, {"docs.jsonl": [("longer", " ".join([*words, "more"]))]})
        params = {"index": {"query": "../" + str(index.relative_to(tmp_path))}, "keep": ["longest"]}
        run_inline(recipe_of(folder, params), folder / "out")
        assert kept_texts(folder / "out") == []

    def test_short_documents_are_compared_as_a_whole(self, tmp_path: Path) -> None:
        index = self.saved(tmp_path, [("x", "two words")])
        assert kept_texts(self.query(tmp_path, index, [("a", "two words"), ("b", "other words")])) == ["other words"]

    def test_an_index_grows(self, tmp_path: Path) -> None:
        a, b = " ".join(prose(1, 90)), " ".join(prose(2, 90))
        index = self.saved(tmp_path, [("a", a)])
        out = self.query(tmp_path, index, [("b", b), ("a2", a)], {"save": "corpus"})
        folder = tmp_path / "third"
        write_docs(folder, {"docs.jsonl": [("a3", a), ("b3", b), ("c", " ".join(prose(4, 90)))]})
        run_inline(recipe_of(folder, {"index": {"query": "../new/out/indexes/corpus"}}), folder / "out")
        assert kept_texts(folder / "out") == [" ".join(prose(4, 90))]
        assert verify(out).faults == []

    def test_another_configuration_is_refused(self, tmp_path: Path) -> None:
        """M30: read misaligned, an index of other rows found no duplicate, and nobody was told."""
        index = self.saved(tmp_path, [("x", " ".join(prose(1, 90)))])
        folder = tmp_path / "new"
        write_docs(folder, {"docs.jsonl": [("a", "text")]})
        name = "../" + str(index.relative_to(tmp_path))
        with pytest.raises(UsageError, match="rows 8, not 4"):
            run_inline(recipe_of(folder, {"rows": 4, "index": {"query": name}}), folder / "out")
        assert not (folder / "out" / "objects").exists()

    def test_no_such_index(self, tmp_path: Path) -> None:
        write_docs(tmp_path, {"a.jsonl": [("a", "b")]})
        with pytest.raises(InputError, match="no such index"):
            run_inline(recipe_of(tmp_path, {"index": {"query": "absent"}}), tmp_path / "out")

    def test_an_alarm_leaves_the_index_as_it_was(self, tmp_path: Path) -> None:
        folder = tmp_path / "old"
        write_docs(folder, {"docs.jsonl": [("x", " ".join(prose(1, 90))), ("y", " ".join(prose(1, 90)))]})
        params = {"index": {"save": "corpus"}, "alarm": {"max_drop_frac": 0.1, "min_records": 1}}
        with pytest.raises(AlarmError):
            run_inline(recipe_of(folder, params), folder / "out")
        assert not (folder / "out" / "indexes").exists()

    def test_damage_is_found(self, tmp_path: Path) -> None:
        index = self.saved(tmp_path, [("x", " ".join(prose(1, 90)))])
        keys = next(index.glob("keys.*"))
        raw = bytearray(keys.read_bytes())
        raw[len(raw) // 2] ^= 1
        keys.unlink()
        keys.write_bytes(raw)
        assert [f.kind for f in verify(tmp_path / "old" / "out").faults] == ["digest"]
        with pytest.raises(VerifyError):
            self.query(tmp_path, index, [("a", " ".join(prose(1, 90)))])

    def test_a_damaged_or_lost_file_of_an_index_is_told_and_mended_by_the_same_recipe(self, tmp_path: Path) -> None:
        """`verify` gave that remedy, and it changed nothing: the link of the index stayed as it was."""
        index = self.saved(tmp_path, DOCS[:30])
        out = index.parents[1]
        (keys,) = index.glob("keys.*.arrow")
        whole = keys.read_bytes()
        keys.unlink()
        keys.write_bytes(whole + b"x")
        assert not verify(out).ok
        run_inline(recipe_of(tmp_path / "old", {"index": {"save": "corpus"}}), out)
        assert keys.read_bytes() == whole and verify(out).ok
        keys.unlink()
        keys.write_bytes(whole[:-1] + b"?")
        run_inline(recipe_of(tmp_path / "old", {"index": {"save": "corpus"}}), out)
        assert keys.read_bytes() == whole and verify(out).ok

    def test_an_index_that_is_gone_is_a_fault(self, tmp_path: Path) -> None:
        index = self.saved(tmp_path, DOCS[:30])
        out = index.parents[1]
        shutil.rmtree(index)
        faults = [(f.path, f.kind) for f in verify(out).faults]
        assert faults == [("indexes/corpus/index.json", "missing")]
        run_inline(recipe_of(tmp_path / "old", {"index": {"save": "corpus"}}), out)
        assert verify(out).ok

    def test_what_went_for_an_indexed_document_leads_nowhere_that_is_not_there(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`trace` and `show --clusters` printed commands for records that only the index holds."""
        near = " ".join(edited(prose(1, 90), 4, 3))
        index = self.saved(tmp_path, [("x", " ".join(prose(1, 90)))])
        out = self.query(tmp_path, index, [("a", near), ("y", " ".join(prose(1, 90)))])
        for went in (row["id"] for row in table(out, "ledger")):
            assert main(["trace", str(out), went]) == 0
            assert "stands in an index" in capsys.readouterr().out
        assert main(["show", str(out), "--clusters"]) == 0
        told = capsys.readouterr()
        assert "in an index" in told.out and "side by side" not in told.out + told.err

    def test_a_plan_refuses_what_a_run_does(self, tmp_path: Path) -> None:
        write_docs(tmp_path, {"docs.jsonl": DOCS[:3]})
        recipe = recipe_of(tmp_path, {"index": {"query": "nowhere"}})
        with pytest.raises(InputError, match="no such index"):
            make_plan(load(load_recipe(recipe)), tmp_path / "out")

    def test_an_index_that_was_never_saved_is_no_fault(self, tmp_path: Path) -> None:
        """A run cut short before the step, or a dataset of an older recipe: `verify` called them unsound."""
        write_docs(tmp_path, {"docs.jsonl": DOCS[:9]})
        plain, saving = "exact_dedup", {"minhash_dedup": {"index": {"save": "corpus"}}}
        docs = {"read": {"jsonl": "*.jsonl", "key": "key"}, "domain": "web"}
        text = yaml.safe_dump({"name": "r", "datasets": {"docs": {**docs, "steps": [plain, saving]}}})
        recipe = write_recipe(tmp_path, text)
        options = RunOptions(selection=Selection("until", "docs", "exact_dedup"))
        Run(load(load_recipe(recipe)), tmp_path / "out", LocalEngine(tmp_path / "out", 0), options, ignore).execute()
        assert verify(tmp_path / "out").ok
