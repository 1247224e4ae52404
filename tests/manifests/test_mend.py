"""What `verify` says to remove is what makes the next run heal an output."""

import shutil
from pathlib import Path

import pytest

from gristmill.manifests.mend import places_to_remove
from gristmill.manifests.verify import verify
from tests.laws.corpora import TEXT, write_corpus
from tests.laws.running import fingerprint, run_inline, write_recipe


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = write_corpus(tmp_path_factory.mktemp("corpus"))
    recipe = write_recipe(folder, TEXT)
    run_inline(recipe, folder / "calm")
    return recipe, folder / "calm"


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    "pattern",
    ["lines/part*", "train/part*", "both/ledger/*", "train/tokenised/*", "both/stats*", "objects/*/receipt.json"],
)
def test_removing_what_it_names_and_running_again_heals(calm: tuple[Path, Path], pattern: str, tmp_path: Path) -> None:
    recipe, whole = calm
    out = tmp_path / "out"
    run_inline(recipe, out)
    damage(sorted(out.glob(pattern))[0])
    report = verify(out)
    assert not report.ok
    for place in places_to_remove(out, (f.path for f in report.faults)):
        shutil.rmtree(out / place)
    run_inline(recipe, out)
    assert verify(out).faults == []
    assert fingerprint(out) == fingerprint(whole)


def test_nothing_is_removed_for_what_every_run_writes(calm: tuple[Path, Path]) -> None:
    assert places_to_remove(calm[1], ["run.json", "both/manifest.json", "../x", "nothing/here"]) == []
