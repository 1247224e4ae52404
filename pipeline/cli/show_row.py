"""`gristmill show DATASET --row N`: a trainer's row as a person reads it.

Its shard and place, tokens and padding; its documents; each segment with its text, or its medium; its loss spans and
tasks. The row is read as `TokenStream` reads it, held against its hash. Texts are decoded by the tokenizer that the
manifest names where that one is at hand (`--tokenizer` for one that is not packaged), and is the same; else ids are
shown.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gristmill.manifests.errors import GristmillError, UsageError
from gristmill.pipeline.cli.output import emit_json, print_line

if TYPE_CHECKING:
    from gristmill.manifests.tokenizer import Tokenizer
    from gristmill.pipeline.reader.rows_dataset import RowsDataset

IDS_SHOWN = 16


def show_row(place: str | Path, number: int, chars: int, tokenizer: str | None, as_json: bool) -> None:
    """Print a row of a dataset's folder, or of its place in object storage. Raises UsageError outside of the dataset,
    CorruptRowError, and as `RowsDataset.open`."""
    told = told_row(place, number, tokenizer)
    if as_json:
        emit_json(told)
        return
    for line in _lines(told, chars):
        print_line(line)


def told_row(place: str | Path, number: int, tokenizer: str | None = None) -> dict[str, Any]:
    """The row as plain data: `text` of a segment is null where no tokenizer is at hand, or it is a medium's."""
    from gristmill.pipeline.reader.rows_dataset import RowsDataset

    dataset = RowsDataset.open(place)
    if not 0 <= number < dataset.rows:
        raise UsageError("no such row", f"{place} --row", number, f"it has rows 0 to {dataset.rows - 1}")
    ids = np.empty((1, dataset.context), dtype=np.int32)
    dataset.read(np.array([number], dtype=np.int64), ids)
    said = dataset.documents(number)
    shard, inside = dataset.place(number)
    valid = max((s["end"] for s in said["segments"]), default=0)
    decoder = _decoder(dataset, tokenizer)
    segments = [
        {**s, "text": _text(decoder, ids[0, s["start"] : s["end"]], s), "ids": ids[0, s["start"] : s["end"]].tolist()}
        for s in said["segments"]
    ]
    return {
        "row": number,
        "shard": str(shard.path),
        "shard_row": inside,
        "row_id": said["row_id"].hex(),
        "context": dataset.context,
        "n_tokens": valid,
        "padding": dataset.context - valid,
        "tokenizer": dataset.tokenizer.name,
        "docs": [_plain(doc) for doc in said["docs"]],
        "segments": segments,
        "media": [_plain(medium) for medium in said["media"]],
        "loss_spans": said["loss_spans"],
        "tasks": [_plain(task) for task in said["tasks"]],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value.hex() if isinstance(value, bytes) else value


def _decoder(dataset: "RowsDataset", spec: str | None) -> "Tokenizer | None":
    """The tokenizer of the dataset; None where it is not at hand. Raises UsageError where one that is given is
    another."""
    from gristmill.manifests.tokenizer import load_tokenizer
    from gristmill.manifests.vocabulary import BYTES_NAME, PACKAGED

    if spec is None and dataset.tokenizer.name not in (*PACKAGED, BYTES_NAME):  # a manifest names no file
        return None
    try:
        found = load_tokenizer(spec or dataset.tokenizer.name, isolated=False)
    except GristmillError:
        if spec is None:
            return None
        raise
    if found.identity.digest == dataset.tokenizer.digest:
        return found
    if spec is not None:
        raise UsageError("another tokenizer than the dataset's", "--tokenizer", spec, f"give {dataset.tokenizer.name}")
    return None


def _text(decoder: "Tokenizer | None", ids: Any, segment: Mapping[str, Any]) -> str | None:
    if decoder is None or segment["media_idx"] is not None or segment["kind"] == "separator":
        return None
    known = ids.view(np.uint32)
    return decoder.decode(known) if int(known.max(initial=0)) < decoder.identity.vocab_size else None


def _lines(told: Mapping[str, Any], chars: int) -> Iterator[str]:
    filled = f"{told['n_tokens']} of {told['context']} tokens, {told['padding']} of padding"
    yield f"row {told['row']} ({told['row_id']}): {filled}"
    yield f"  in {told['shard']}, row {told['shard_row']}"
    for number, doc in enumerate(told["docs"]):
        of = ", ".join(f"{name} {doc[name]}" for name in ("domain", "source", "license") if doc[name])
        yield f"doc {number}: {doc['id']}, {doc['n_tokens_total']} tokens, use {doc['use_no']}{f', {of}' if of else ''}"
    for segment in told["segments"]:
        yield from _segment(segment, told, chars)
    for span in told["loss_spans"]:
        why = f" ({span['reason']})" if span.get("reason") else ""
        yield f"loss [{span['start']}, {span['end']}): weight {span['weight']:g}{why}"
    for task in told["tasks"]:
        yield "task: " + ", ".join(f"{k} {v}" for k, v in task.items() if v not in (None, [], ""))


def _segment(segment: Mapping[str, Any], told: Mapping[str, Any], chars: int) -> Iterator[str]:
    place = f"[{segment['start']}, {segment['end']}) {segment['kind']}"
    yield f"{place}, group {segment['attn_group']}, doc {segment['doc_idx']} from {segment['doc_offset']}"
    if segment["media_idx"] is not None:
        medium = told["media"][segment["media_idx"]]
        yield f"  | {medium['sha256']} {medium['mime']} {medium['width']} x {medium['height']}"
    elif segment["text"] is not None:
        text = segment["text"]
        yield from (f"  | {line}" for line in text[:chars].split("\n"))
        if len(text) > chars:
            yield f"  | ... {len(text) - chars} characters more"
    elif segment["kind"] != "separator":
        ids, more = segment["ids"], " ..." if len(segment["ids"]) > IDS_SHOWN else ""
        yield f"  | ids {' '.join(map(str, ids[:IDS_SHOWN]))}{more}"
