"""Rows with media: segments tile, each medium stands in the piece that holds it, and no piece cuts one."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.trainer_schema import TOKENISED
from gristmill.pipeline.rows import Pieces, build_rows
from tests.pipeline.trainer_rows import TOKENIZER, form_of

CONTEXT = 40
PAD = TOKENIZER.pad_id


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[list[Any]], list[list[int]]]:
    """Of each document what it is made of (lengths of text, or of media as negative numbers) and where it is cut."""
    made = draw(st.lists(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9), min_size=1, max_size=6))
    cuts: list[list[int]] = []
    for parts in made:
        ends = np.cumsum(np.abs(parts)).tolist()
        inside = {e for p, e in zip(parts, ends, strict=True) if p < 0 for e in range(e + p + 1, e)}
        cuts.append([at for at in range(1, ends[-1]) if at not in inside and draw(st.integers(0, 4)) == 0])
    return made, cuts


def tokenised(made: list[list[int]]) -> pa.RecordBatch:
    values: list[dict[str, Any]] = []
    for i, parts in enumerate(made):
        ids: list[int] = []
        media: list[dict[str, Any]] = []
        for part in parts:
            if part < 0:
                kind = "video" if part % 2 else "image"
                frames = 3 if kind == "video" else None
                told = {"sha256": bytes([i, len(ids)] * 16), "kind": kind, "mime": None, "width": 7, "height": 9}
                media.append({**told, "frames": frames, "token_start": len(ids), "token_len": -part})
            ids += [PAD] * -part if part < 0 else [i] * part
        named = {
            "id": f"{i:032x}",
            "content_hash": bytes([i] * 16),
            "source": "s",
            "domain": "code" if i % 2 else "web",
        }
        values.append({**named, "license": None, "input_ids": ids, "n_tokens": len(ids), "media": media})
    return pa.RecordBatch.from_pylist(values, schema=TOKENISED)


def pieces_of(lengths: list[int], cuts: list[list[int]]) -> Pieces:
    """One row behind the other, as many pieces in each as fit."""
    table: list[tuple[int, ...]] = []
    row = start = 0
    for doc, (length, cut) in enumerate(zip(lengths, cuts, strict=True)):
        bounds = [0, *cut, length]
        for low, high in pairwise(bounds):
            separator = high == length
            if start + high - low + separator > CONTEXT:
                row, start = row + 1, 0
            table.append((row, start, doc, low, high - low, separator))
            start += high - low + separator
    columns = np.array(table, dtype=np.int64).T
    return Pieces(row + 1, columns[0], columns[1], columns[2], columns[3], columns[4], columns[5].astype(bool))


def build(batch: pa.RecordBatch, pieces: Pieces) -> pa.RecordBatch:
    ids = batch.column("input_ids").to_pylist()
    places = zip(pieces.doc.tolist(), pieces.doc_offset.tolist(), pieces.length.tolist(), strict=True)
    tokens = [np.array(ids[d][o : o + n], dtype=np.uint32) for d, o, n in places]
    return build_rows(pieces, tokens, batch, form_of(CONTEXT))


@given(documents())
@settings(max_examples=200, deadline=None)
def test_every_medium_stands_whole_where_its_segment_says(case: tuple[list[list[int]], list[list[int]]]) -> None:
    made, cuts = case
    batch = tokenised(made)
    lengths = batch.column("n_tokens").to_pylist()
    if max(lengths) >= CONTEXT:  # longer documents must be cut: as here, or not at all
        cuts = [
            c if n < CONTEXT else [at for at in range(1, n) if at not in _inside(p)]
            for c, n, p in zip(cuts, lengths, made, strict=True)
        ]
    rows = build(batch, pieces_of(lengths, cuts))
    rows.validate(full=True)
    found: list[tuple[int, int, bytes]] = []
    text: dict[int, int] = {}
    for row in rows.to_pylist():
        at = 0
        named: list[int] = []
        for segment in row["segments"]:
            assert segment["start"] == at < segment["end"]
            at = segment["end"]
            doc = int(row["docs"][segment["doc_idx"]]["id"], 16)
            assert segment["attn_group"] == segment["doc_idx"]
            if segment["kind"] in ("image", "video"):
                named.append(segment["media_idx"])
                medium = row["media"][segment["media_idx"]]
                assert (medium["token_start"], medium["token_len"]) == (segment["start"], at - segment["start"])
                assert (medium["frames"] is not None) == (segment["kind"] == "video")
                assert set(row["input_ids"][segment["start"] : at]) == {PAD}
                found.append((doc, segment["doc_offset"], medium["sha256"]))
            elif segment["kind"] != "separator":
                assert segment["media_idx"] is None and segment["kind"] == ("code" if doc % 2 else "text")
                text[doc] = text.get(doc, 0) + at - segment["start"]
        assert named == list(range(len(row["media"]))) and at == row["n_tokens"]
        spans = [(s["start"], s["end"], s["weight"], s["reason"]) for s in row["loss_spans"]]
        assert spans == [(m["token_start"], m["token_start"] + m["token_len"], 0, "media") for m in row["media"]]
    media = [(i, m["token_start"], m["sha256"]) for i, d in enumerate(batch.to_pylist()) for m in d["media"]]
    assert sorted(found) == sorted(media)
    assert text == {i: n for i, parts in enumerate(made) if (n := sum(p for p in parts if p > 0))}


def _inside(parts: list[int]) -> set[int]:
    ends = np.cumsum(np.abs(parts)).tolist()
    return {at for p, e in zip(parts, ends, strict=True) if p < 0 for at in range(e + p + 1, e)}


def test_a_cut_inside_of_a_medium_is_refused() -> None:
    batch = tokenised([[3, -4, 2], [5]])
    for cut in (1, 2, 3, 7, 8):
        assert build(batch, pieces_of([9, 5], [[cut], []])).num_rows == 1
    for cut in (4, 5, 6):
        whole = pieces_of([9, 5], [[cut], []])
        for one in (slice(0, 1), slice(1, 2)):  # the piece that ends there, and the one that begins there
            columns = (whole.start, whole.doc, whole.doc_offset, whole.length, whole.separator)
            with pytest.raises(ValueError, match="inside of a medium"):
                build(batch, Pieces(1, whole.row[one], *(c[one] for c in columns)))
    with pytest.raises(ValueError, match="inside of a medium"):
        build(batch, pieces_of([9, 5], [[4, 6], []]))


def test_rows_do_not_depend_on_how_many_are_built_at_once() -> None:
    batch = tokenised([[4, -3, 5, -2], [-6], [1, -1, -1, 20], [30]])
    pieces = pieces_of(batch.column("n_tokens").to_pylist(), [[], [], [], []])
    single: list[pa.RecordBatch] = []
    for row in range(pieces.rows):
        here = pieces.row == row
        columns = (pieces.start, pieces.doc, pieces.doc_offset, pieces.length, pieces.separator)
        single.append(build(batch, Pieces(1, pieces.row[here] - row, *(c[here] for c in columns))))
    assert pa.concat_batches(single).equals(build(batch, pieces))
