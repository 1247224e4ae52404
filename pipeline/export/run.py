"""An export from end to end: all or nothing, the same bytes each time, whoever is killed when.

Shards are written into `.NAME.export` beside DIR/NAME, each with a receipt; then what ties them together, the card, and
last `gristmill_export.json`. The folder is renamed to its name when all of it is on the disk. A killed export leaves
the hidden folder: the same command takes its finished shards up, another command begins anew. An error (a damaged row,
a full disk) leaves nothing.

`gristmill_export.json` is canonical JSON with a digest over all of it:

* `format` "gristmill-export", `format_version`, `key` (of source, format and options: equal keys, equal bytes);
* `export` {format, version, unit, order, seed, first, stop, shard_bytes}; seed null where the order is `stored`;
* `source`: kind, digest of its manifest, and of rows and tokens `tokenizer`, `context`;
* `totals` {samples, tokens}; `files` with path, role, rows, bytes, digest, of everything else in the folder.
"""

import errno
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import canonical_json, key_of, sealed
from gristmill.manifests.commit import HashingFile, fsync_dir, replace_file
from gristmill.manifests.errors import EngineLostError, UsageError, VerifyError
from gristmill.manifests.receipt import FileEntry
from gristmill.pipeline.export.card import CARD, card_of
from gristmill.pipeline.export.check import EXPORT, FORMAT, FORMAT_VERSION, is_export, read_export
from gristmill.pipeline.export.formats import FORMATS, open_source
from gristmill.pipeline.export.shape import Request, Source, Written
from gristmill.pipeline.export.shards import RECEIPTS, Cut, found_shard, receipt_name
from gristmill.pipeline.export.workers import write_all
from gristmill.pipeline.lock import LOCK, driver_lock

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Notify = Callable[[int, int], None]
"""Called with samples written and samples in all."""


def export(request: Request, out: Path, workers: int = 0, notify: Notify | None = None) -> dict[str, Any]:
    """Write an export; its manifest, with `reused`: whether it stood there already.

    Raises UsageError where the format cannot hold the dataset, or `out` is there and another's; VerifyError of damage;
    EngineLostError of a full disk or a lost worker.
    """
    source = open_source(request)
    what = _described(request, source)
    out = out.resolve()
    if (standing := _standing(out, what["key"])) is not None:
        return {**standing, "reused": True}
    folder = out.parent / f".{out.name}.export"
    _check_place(request, out, folder)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with driver_lock(folder):
            try:
                document = _made(request, source, what, folder, workers, notify or _unheard)
                _put(folder, out)
            except Exception as error:
                if not isinstance(error, EngineLostError):
                    shutil.rmtree(folder, ignore_errors=True)
                raise
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.EACCES, errno.EROFS):
            raise UsageError("cannot be written", "--out", str(out), error.strerror or "") from None
        if error.errno not in _NO_SPACE:
            raise
        with suppress(OSError):
            folder.rmdir()
        remedy = "make room and run the same command again: nothing of it was left"
        raise EngineLostError("no space left on the device", str(out), None, remedy) from error
    return {**document, "reused": False}


def _check_place(request: Request, out: Path, folder: Path) -> None:
    """What stands in the hidden folder is taken away, so it must be an export's; and none stands within its dataset."""
    dataset = request.dataset.resolve()
    if out == dataset or dataset in out.parents:
        raise UsageError("lies within the dataset", "--out", str(out), "name a folder beside it")
    if folder.is_symlink() or (folder.exists() and not _is_ours(folder)):
        remedy = "remove it, or name another --out"
        raise UsageError("stands where the export would grow, and is none", "--out", str(folder), remedy)


def _is_ours(folder: Path) -> bool:
    """Whether a folder is what a killed export left: files alone, and the lock of one among them, or none at all."""
    if not folder.is_dir():
        return False
    inside = list(folder.iterdir())
    return not inside or (any(path.name == LOCK for path in inside) and all(path.is_file() for path in inside))


def _described(request: Request, source: Source) -> dict[str, Any]:
    """What decides the bytes, and the key of it."""
    form = FORMATS[request.format]
    asked = {
        "format": form.name,
        "version": form.version,
        "unit": source.unit,
        "order": request.order,
        "seed": request.seed if request.order == "shuffled" else None,
        "first": source.first,
        "stop": source.stop,
        "shard_bytes": request.shard_bytes or form.shard_bytes,
    }
    what = {"export": asked, "source": dict(source.facts)}
    named = {**what, "name": request.dataset.resolve().name} if request.order == "shuffled" else what
    return {**what, "key": key_of(named)}


def _standing(out: Path, key: str) -> dict[str, Any] | None:
    """The manifest of the export that stands there, if it is this one; None where nothing stands in the way."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    remedy = "name another folder, or remove it"
    if not out.is_dir() or not is_export(out):
        raise UsageError("is there already, and no export", "--out", str(out), remedy)
    document = read_export(out)
    if document["key"] != key:
        raise UsageError("holds another export", "--out", str(out), remedy)
    return document


def _made(
    request: Request, source: Source, what: Mapping[str, Any], folder: Path, workers: int, notify: Notify
) -> dict[str, Any]:
    """All files of the export, in the hidden folder."""
    cut = Cut(what["key"], source.bounds(what["export"]["shard_bytes"]))
    written = {n: done for n in range(cut.shards) if (done := found_shard(cut, folder, n)) is not None}
    _clear(folder, written)
    missing = [n for n in range(cut.shards) if n not in written]
    samples = source.stop - source.first
    done = sum(w.samples for w in written.values())
    notify(done, samples)
    with closing(write_all(request, cut, folder, missing, workers)) as finished:
        for number, shard in finished:
            written[number] = shard
            done += shard.samples
            notify(done, samples)
    return _tied(request, source, what, folder, [written[n] for n in range(cut.shards)])


def _clear(folder: Path, written: Mapping[int, Written]) -> None:
    """Take away what is of no finished shard: a killed attempt's, or another export's."""
    keep = {file.path for shard in written.values() for file in shard.files} | {LOCK}
    keep |= {receipt_name(number) for number in written}
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink()


def _tied(
    request: Request, source: Source, what: Mapping[str, Any], folder: Path, shards: Sequence[Written]
) -> dict[str, Any]:
    """The files that are written last, and the manifest."""
    samples, tokens = (sum(getattr(shard, name) for shard in shards) for name in ("samples", "tokens"))
    if samples != source.stop - source.first:
        raise VerifyError("the dataset holds other samples than it says", str(request.dataset), samples)
    files = [file for shard in shards for file in shard.files]
    files += FORMATS[request.format].finish(folder, source, shards)
    what = {**what, "totals": {"samples": samples, "tokens": tokens}}
    card = HashingFile(folder / CARD)
    card.write(card_of(FORMATS[request.format], what).encode())
    files.append(FileEntry(CARD, "card", 0, card.bytes, card.finish()))
    entries = [asdict(file) for file in files]
    document = sealed({"format": FORMAT, "format_version": FORMAT_VERSION, **what, "files": entries})
    replace_file(folder / EXPORT, canonical_json(document))
    return document


def _put(folder: Path, out: Path) -> None:
    """Give the folder its name."""
    for path in [*folder.glob(RECEIPTS), folder / LOCK]:
        path.unlink()
    fsync_dir(folder)
    try:
        os.rename(folder, out)
    except OSError as error:
        remedy = "name a folder that is not there yet"
        raise UsageError("cannot be put in place", "--out", f"{out}: {error.strerror}", remedy) from error
    fsync_dir(out.parent)


def _unheard(done: int, samples: int) -> None:
    del done, samples
