"""Hostile plans, states, manifests and folders of the trainer's side, each with its smallest input."""

import json
import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.canonical import sealed
from gristmill.manifests.errors import RecipeError, UsageError, VerifyError
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.reader import TokenStream, load_plan
from gristmill.pipeline.reader.rows_dataset import RowsDataset
from tests.pipeline.reader.test_rebase import one_stage, stopped
from tests.pipeline.reader.test_stream import QUIET, copied, out, plan_file, table

__all__ = ["out"]

BOMB = "a: &a [x]\n" + "".join(f"{n}: &{n} [{', '.join(['*' + p] * 10)}]\n" for p, n in pairwise("abcdefghij"))


@pytest.mark.parametrize(
    "text",
    [
        BOMB + "stages: *j\n",
        "stages: " + "[" * 3000,
        "stages: 2001-99-99",
        'stages: [{context: 64, tokens: 64, mix: {a64: 1}}]\ndatasets: {a64: "a\\0b"}',
        "seed: 1\nseed: 2\nstages: [{context: 64, tokens: 64, mix: {a64: 1}}]",
        "stages: [{context: 64, tokens: " + "9" * 60 + ", mix: {a64: 1}}]",
        "stages: [{context: 64, tokens: '" + "9" * 400 + "T', mix: {a64: 1}}]",
        "vision: 1.0e-300\nstages: [{context: 64, tokens: 640, mix: {a64: 1}}]",
        "vision: true\nstages: [{context: 64, tokens: 640, mix: {a64: 1}}]",
        "vision: none\ndatasets: {a64: a64, b: gone}\nstages: [{context: 64, tokens: 640, mix: {a64: 1}}]",
    ],
)
def test_a_hostile_plan_is_refused_in_words(out: Path, text: str) -> None:
    path = out / "hostile.yaml"
    path.write_text(text)
    with pytest.raises(RecipeError):
        load_plan(path)


@pytest.mark.parametrize("state", [None, [], "x", {1: 2, "a": 3}])
def test_what_is_no_state_is_told(out: Path, state: Any) -> None:
    with pytest.raises(UsageError, match="no state"):
        TokenStream(out / "a64", options=QUIET).load_state_dict(state)


def test_a_plan_of_another_seed_does_not_go_on(out: Path) -> None:
    _, state = stopped(out, 5)
    stream = TokenStream(plan_file(out, **one_stage(0.4, 64 * 40), seed=99), options=QUIET)
    with pytest.raises(UsageError, match="another order"):
        stream.load_state_dict(state, rebase=True)


def test_a_changed_schema_changes_nothing_that_is_read(out: Path, tmp_path: Path) -> None:
    """A shard's schema has no hash: with one byte of it another, `docs` came without their sources."""
    folder = copied(out, tmp_path / "d")
    expected = [row["docs"] for row in table(folder)]
    shard = folder / read_manifest(folder)["shards"][0]["path"]
    data = bytearray(shard.read_bytes())
    at = data[:8000].index(b"source\0")
    for change in (b"S", b"\xff"):
        data[at : at + 1] = change
        shard.unlink()
        shard.write_bytes(data)
        dataset = RowsDataset.open(folder)
        assert [dataset.documents(row)["docs"] for row in range(dataset.rows)] == expected


def test_an_export_takes_nothing_away_that_is_not_its_own(out: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "thesis.txt").write_text("precious")
    (tmp_path / ".v.export").symlink_to(victim)
    shutil.copytree(victim, tmp_path / ".w.export")
    for name in ("v", "w"):
        assert main(["export", "hf", str(out / "a64"), "--out", str(tmp_path / name)]) == 2
    assert (victim / "thesis.txt").read_text() == (tmp_path / ".w.export" / "thesis.txt").read_text() == "precious"
    assert main(["export", "hf", str(out / "a64"), "--out", str(out / "a64" / "inside")]) == 2
    (tmp_path / "file").touch()
    assert main(["export", "hf", str(out / "a64"), "--out", str(tmp_path / "file" / "x")]) == 2
    assert main(["plan", str(out / "a64"), "--plots", str(tmp_path / "file")]) == 2


def test_a_path_that_leaves_its_folder_is_not_followed(out: Path, tmp_path: Path) -> None:
    folder = copied(out, tmp_path / "d")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tokenised"][0]["path"] = "../elsewhere.arrow"
    os.chmod(folder / "manifest.json", 0o644)
    volatile = manifest.pop("volatile")
    manifest.pop("digest")
    (folder / "manifest.json").write_text(json.dumps({**sealed(manifest), "volatile": volatile}))
    with pytest.raises(VerifyError, match=r"leaves the folder|manifest"):
        from gristmill.pipeline.export.formats import open_source
        from gristmill.pipeline.export.shape import Request

        open_source(Request(folder, "megatron", "document"))


def test_a_dataset_is_read_from_another_working_folder(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(out)
    stream = TokenStream("a64", global_batch=4, options=QUIET)
    monkeypatch.chdir(tmp_path)
    assert len(next(iter(stream))) == 4
