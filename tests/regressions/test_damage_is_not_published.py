"""Bytes of an object that rot decide nothing: a run that would build on them stops, and its remedy mends."""

import re
import shutil
from pathlib import Path

import pytest

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.verify import verify
from tests.laws.corpora import TEXT, write_corpus
from tests.laws.running import fingerprint, run_inline, write_recipe


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    with path.open("r+b") as file:
        file.write(data)


@pytest.mark.parametrize("name", ["reduced", "samples", "idkeys"])
def test_a_flipped_bit_stops_the_run_that_would_build_on_it(name: str, tmp_path: Path) -> None:
    recipe, out = write_recipe(write_corpus(tmp_path / "c"), TEXT), tmp_path / "out"
    run_inline(recipe, out)
    calm = fingerprint(out)
    for path in (out / "objects").glob(f"*/{name}.*"):
        flip(path)
    if name == "idkeys":
        for path in (out / "objects").glob("*/spill.*"):
            shutil.rmtree(path.parent)
    for _ in range(40):
        try:
            run_inline(recipe, out)
            break
        except VerifyError as error:
            folder = re.search(r"remove the folder (\S+) and run again", str(error))
            assert folder is not None
            shutil.rmtree(folder.group(1))
    else:
        pytest.fail("the remedy does not end")
    assert fingerprint(out) == calm
    # What nothing was built on is found by verify alone.
    assert [f for f in verify(out).faults if not f.path.startswith("objects/")] == []
