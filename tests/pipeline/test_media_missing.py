"""Images of pages through a whole run: references become media, lose their place at emit, and are counted there."""

from pathlib import Path

import pyarrow.parquet as pq

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.verify import verify
from tests.laws.running import run_inline, write_recipe

RECIPE = """name: pictures
seed: 1
tokenizer: bytes
datasets:
  web:
    read: {html: "pages/*.html"}
    domain: web
    steps: [extract_html]
  train:
    from: [web]
    steps:
      - emit: {context: 1024}
"""
PROSE = "The miller grinds the corn in the morning. "


def test_media_without_bytes_are_counted_at_emit(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text(f"<html><main><p>{PROSE}<img src=a.png>{PROSE}<img src=b.png></p></main></html>")
    (folder / "b.html").write_text(f"<html><main><p>{PROSE * 2}</p></main></html>")
    (folder / "c.html").write_text("<html><main><img src=alone.png></main></html>")
    manifests = run_inline(write_recipe(tmp_path, RECIPE), tmp_path / "out")

    shard = tmp_path / "out" / "web" / manifests["web"]["shards"][0]["path"]
    rows = pq.read_table(shard).to_pylist()
    assert sorted(len(row["media"] or ()) for row in rows) == [0, 1, 2]
    assert all(row["text"].count(MEDIUM_CHAR) == len(row["media"] or ()) for row in rows)

    extract = manifests["web"]["steps"][-1]
    assert extract["chars_cut"]["marks"] == -3
    assert extract["chars_in"] == extract["chars_kept"] + sum(extract["chars_cut"].values())

    emit = manifests["train"]["steps"][-1]
    assert emit["stage"] == "emit"
    # The page that is a picture alone leaves whole: its character is among those gone.
    assert emit["reasons"] == {"no_tokens": 1}
    assert emit["chars_cut"] == {"media_missing": 2}
    assert emit["chars_gone"] == 1
    assert emit["chars_in"] == emit["chars_kept"] + 2 + 1
    assert manifests["train"]["totals"]["chars"] == emit["chars_kept"]
    assert verify(tmp_path / "out", deep=True).faults == []
    assert "media_missing" in {entry["reason"] for entry in emit["vocabulary"]}
