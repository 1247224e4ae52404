"""Manifests of trainer rows that somebody changed and sealed again are refused in words, by each reader, and soon."""

import copy
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.manifest import read_manifest, write_manifest
from gristmill.manifests.verify import verify
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.reader import TokenStream
from tests.pipeline.reader.test_stream import QUIET, out

__all__ = ["out"]

GONE = object()
BUCKET = ("facts", "packing", "buckets", 0)
CHANGES: list[tuple[Sequence[Any], Any]] = [
    (("facts", "context"), 10**12),
    (("facts", "context"), -1),
    (("facts", "packing"), None),
    (("facts", "packing", "buckets"), "x"),
    (("facts", "tokenizer", "name"), GONE),
    (BUCKET, {}),
    ((*BUCKET, "documents"), GONE),
    ((*BUCKET, "lengths"), None),
    ((*BUCKET, "min_tokens"), "x"),
    ((*BUCKET, "padding_frac"), []),
    (("shards",), "x"),
    (("shards", 0), None),
    (("shards", 0, "digest"), None),
    (("shards", 0, "extra"), None),
    (("shards", 0, "rows"), 10**12),
    (("upstream", 0, "name"), "../../etc"),
    (("steps", 0), None),
    (("tokenised", 0, "rows"), 10**12),
]


def changed(manifest: dict[str, Any], place: Sequence[Any], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(manifest)
    here: Any = other
    for key in place[:-1]:
        here = here[key]
    if value is GONE:
        del here[place[-1]]
    else:
        here[place[-1]] = value
    return other


@pytest.mark.parametrize(("place", "value"), CHANGES)
def test_a_manifest_that_was_sealed_again_is_refused_in_words(
    out: Path, tmp_path: Path, place: Sequence[Any], value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a64"
    shutil.copytree(out / "a64", folder)
    write_manifest(folder, changed(read_manifest(folder), place, value))
    start = time.monotonic()
    assert not verify(folder, deep=True).ok
    for command in ("ls", "plan"):
        assert main([command, str(folder)]) in (0, 2, 4)  # a count of tokenised documents says nothing to them
    try:
        next(iter(TokenStream(folder, options=QUIET)))
    except GristmillError as error:
        assert error.where
    else:
        assert place[0] == "tokenised"
    assert time.monotonic() - start < 15
    assert "Traceback" not in capsys.readouterr().err
