"""`gristmill export FORMAT DATASET --out DIR`: a dataset in the format of another trainer's reader.

Exits 0 done (or done already), 2 wrong use, 3 no such dataset, 4 a damaged row, 6 a full disk or a lost worker. With
`--json` the manifest of the export, without its `files`, with `reused` and `out`.
"""

import argparse
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import EXIT_DONE, UsageError
from gristmill.manifests.remote_access import is_remote
from gristmill.pipeline.cli.command import Command
from gristmill.pipeline.cli.output import emit_json, print_line
from gristmill.pipeline.cli.told_progress import told_progress

_COMMON = """
Each row is held against its hash when it is read; a damaged one stops the export. DIR appears when all of it is
written, with the same bytes each time, whatever --workers: a killed export goes on where it was when the same command
is given again. `gristmill verify DIR` holds every file against its digest. docs/export.md has the columns.
"""

_HF = f"""Hugging Face datasets: Arrow streams that load_from_disk maps, with a card for the hub

Of a dataset of rows: all columns, with input_ids of fixed length and cu_seqlens. Of a dataset of documents: text and
media as they are.
{_COMMON}
for instance:
  gristmill export hf out/train_8k --out train_8k_hf
  gristmill export hf out/corpus --out corpus_hf --workers 2
  gristmill export hf out/train_8k --out docs_hf --unit document     # unpacked token ids

then:
  datasets.load_from_disk("train_8k_hf")
"""

_MDS = f"""MosaicML Streaming: MDS shards and index.json

Columns: tokens (uint32), n_tokens, row_id, and JSON texts of cu_seqlens, segments, loss_spans, docs, media, tasks.
{_COMMON}
for instance:
  gristmill export mds out/train_8k --out train_8k_mds
  gristmill export mds out/train_8k --out mds --order shuffled --seed 7 --shard-bytes 128MB

then:
  streaming.StreamingDataset(local="train_8k_mds", batch_size=8)
"""

_WEBDATASET = f"""WebDataset: tar shards

A row or tokenised document is KEY.npy (uint32) and KEY.json; a document of a dataset of documents KEY.txt, KEY.json and
its media, KEY.0.png and so on. Keys are the sample's place and its id.
{_COMMON}
for instance:
  gristmill export webdataset out/train_8k --out train_8k_tar --workers 2
  gristmill export webdataset out/pictures --out pictures_tar

then:
  webdataset.WebDataset("train_8k_tar/shard-00000.tar", shardshuffle=False).decode()
"""

_MEGATRON = f"""Megatron: .bin and .idx of an indexed dataset

A sequence is a tokenised document with eos behind it (--unit document, the default), for trainers that pack by
themselves; or a packed row with its padding (--unit row). Ids are uint16 where the vocabulary allows, else int32.
What the format has no room for stands in a .jsonl, a line a sequence.
{_COMMON}
for instance:
  gristmill export megatron out/train_8k --out train_8k_megatron
  gristmill export megatron out/train_8k --out rows_megatron --unit row --order shuffled --seed 7

then:
  --data-path train_8k_megatron/tokens-00000
"""

_BYTES = re.compile(r"([0-9]+)\s*(|[KMG]i?B?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_PLACES = re.compile(r"([0-9]*):([0-9]*)")


def _add_arguments(units: tuple[str, ...], parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="DATASET", help="the folder of a dataset of a run")
    parser.add_argument("--out", required=True, metavar="DIR", help="a folder that is not there yet, or is empty")
    unit_help = f"what a sample is (default: {units[0]})"
    parser.add_argument("--unit", choices=units, help=unit_help)
    order_help = "of rows: as stored, or as epoch 0 of TokenStream with --seed (default: stored)"
    parser.add_argument("--order", choices=("stored", "shuffled"), default="stored", help=order_help)
    parser.add_argument("--seed", type=int, metavar="N", help="of --order shuffled (default: 0)")
    parser.add_argument("--rows", metavar="A:B", help="only the samples at places A to B (without B) of the order")
    parser.add_argument("--shard-bytes", metavar="SIZE", help="about so much a shard, such as 256MB or 1GiB")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that write (default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _run(form: str, args: argparse.Namespace) -> int:
    """Export and report."""
    from gristmill.pipeline.export.run import export
    from gristmill.pipeline.export.shape import Request

    for option, given in (("DATASET", args.dataset), ("--out", args.out)):
        if is_remote(given):
            raise UsageError("an export works on folders of this machine", option, given, "copy it to a disk first")
    if args.seed is not None and args.order != "shuffled":
        raise UsageError("decides nothing here", "--seed", args.seed, "add --order shuffled")
    if args.workers < 0:
        raise UsageError("no number of processes", "--workers", args.workers, "give 1 or more")
    first, stop = places_of(args.rows)
    size = bytes_of(args.shard_bytes)
    request = Request(Path(args.dataset), form, args.unit, args.order, args.seed or 0, first, stop, size)
    start_s = time.monotonic()
    with told_progress("writing", _samples, args.quiet) as told:
        document = export(request, Path(args.out), args.workers, told)
    if args.json:
        emit_json({**{k: v for k, v in document.items() if k != "files"}, "out": args.out})
    else:
        _print(args.out, document, time.monotonic() - start_s)
    return EXIT_DONE


def _print(out: str, document: dict[str, Any], seconds: float) -> None:
    size = sum(file["bytes"] for file in document["files"])
    totals, unit = document["totals"], {"row": "rows", "document": "documents", "text": "documents"}
    what = (
        f"{totals['samples']} {unit[document['export']['unit']]}, {size / 1e6:.1f} MB, {len(document['files'])} files"
    )
    how = "was there already" if document["reused"] else f"written in {seconds:.1f} s"
    print_line(f"{out}: {document['export']['format']}: {what}, {how}")


def _samples(done: int, total: int) -> str | None:
    return f"export: {done} of {total} samples"


def bytes_of(text: str | None) -> int | None:
    """A size such as 64MB, 1GiB or 100000, in bytes. Raises UsageError."""
    if text is None:
        return None
    found = _BYTES.fullmatch(text.strip())
    size = int(found.group(1)) * _UNITS[found.group(2).lower().removesuffix("b")] if found else 0
    if not size:
        raise UsageError("no size", "--shard-bytes", text, "write it like 256MB, 1GiB or 1000000")
    return size


def places_of(text: str | None) -> tuple[int, int | None]:
    """The places of A:B, either of which may be left out. Raises UsageError."""
    if text is None:
        return 0, None
    found = _PLACES.fullmatch(text.strip())
    if found is None:
        raise UsageError("no range", "--rows", text, "write it like 0:1000")
    return int(found.group(1) or 0), int(found.group(2)) if found.group(2) else None


def _command(form: str, told: str, units: tuple[str, ...]) -> Command:
    return Command(told, partial(_add_arguments, units), partial(_run, form))


COMMANDS = {
    "hf": _command("hf", _HF, ("row", "document")),
    "mds": _command("mds", _MDS, ("row", "document")),
    "webdataset": _command("webdataset", _WEBDATASET, ("row", "document")),
    "megatron": _command("megatron", _MEGATRON, ("document", "row")),
}
"""By name."""
