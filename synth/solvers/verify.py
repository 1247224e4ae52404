"""What is proved of emitted rows, by who has nothing but them and the tokenizer that they name.

`verify_row` makes every proof of `prove` anew and holds each claim of the row against what it measures;
`verify_shards` reads Arrow IPC files of `packed_schema`, and stops at the first row that fails. Nothing here, nor in
what it imports, makes rows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.row_id import row_ids
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.manifests.trainer_schema import TrainerFormat, packed_schema
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.gate import Gate
from gristmill.synth.solvers.media_files import MediaFiles
from gristmill.synth.solvers.prove import Proof, prove
from gristmill.synth.solvers.reading import Reading, Unreadable, read_row


@dataclass
class Verified:
    """What was proved: rows, tasks, and tasks by family and by class."""

    rows: int = 0
    tasks: int = 0
    families: Counter[str] = field(default_factory=Counter[str])
    classes: Counter[str] = field(default_factory=Counter[str])


def verify_row(
    row: pa.RecordBatch, tokenizer: Tokenizer, media_bytes: Mapping[bytes, bytes] | None = None
) -> list[Proof]:
    """All proofs of a batch of one row, from it and the bytes of its media by sha256. Raises Unproved on the first
    proof or claim that fails."""
    try:
        reading = read_row(row, tokenizer, media_bytes)
    except Unreadable as error:
        raise Unproved("unreadable", str(error)) from None
    return verify_reading(reading, tokenizer)


def verify_reading(reading: Reading, tokenizer: Tokenizer) -> list[Proof]:
    """As `verify_row`, of a row that has been read."""
    proofs = prove(reading, tokenizer)
    for index, (task, proof) in enumerate(zip(reading.tasks, proofs, strict=True)):
        for name, measured in vars(proof).items():
            if not _agree(task[name], measured):
                raise Unproved("claims", f"{name} is said to be {task[name]}, measured {measured}", index)
        if not task["verified"]:
            raise Unproved("claims", "the task is not marked as verified", index)
    return proofs


def _agree(claimed: Any, measured: Any) -> bool:
    """Equal, floats as far as float32 tells."""
    if claimed is None:
        return False
    if isinstance(measured, tuple):
        return len(claimed) == len(measured) and all(map(_agree, claimed, measured))
    if isinstance(measured, float):
        return isclose(claimed, measured, rel_tol=1e-6, abs_tol=1e-7)
    return claimed == measured


def verify_shards(
    paths: Iterable[Path], tokenizer: Tokenizer, media_paths: Iterable[Path] = (), gate: Gate | None = None
) -> Verified:
    """Every row of these files, with the media in the others; `gate` counts those that are proved, and whoever gives it
    asks it for failures. Raises VerifyError at the first that fails: the file, the row, the task, and why."""
    done = Verified()
    media = MediaFiles(media_paths)
    for path in paths:
        first = 0
        for batch in read_ipc(path):
            _check_format(path, batch, tokenizer)
            same = batch.column("row_id").equals(row_ids(batch))
            for index in range(batch.num_rows):
                where = f"{path} row {first + index}"
                if not same:
                    raise VerifyError("row_id is not that of the content", where)
                reading = _verify_one(where, batch.slice(index, 1), tokenizer, media, done)
                if gate is not None:
                    gate.add(reading)
            first += batch.num_rows
    return done


def _check_format(path: Path, batch: pa.RecordBatch, tokenizer: Tokenizer) -> None:
    try:
        form = TrainerFormat.from_metadata(batch.schema.metadata or {})
    except (KeyError, ValueError) as error:
        raise VerifyError("these are no trainer rows", str(path), str(error)) from None
    if form.tokenizer.fingerprint != tokenizer.identity.fingerprint:
        raise VerifyError("rows of another tokenizer", str(path), form.tokenizer.name, "verify with that one")
    if not batch.schema.equals(packed_schema(form), check_metadata=False):
        raise VerifyError("the columns are not those of trainer rows", str(path))


def _verify_one(
    where: str, row: pa.RecordBatch, tokenizer: Tokenizer, media: Mapping[bytes, bytes], done: Verified
) -> Reading:
    try:
        reading = read_row(row, tokenizer, media)
        verify_reading(reading, tokenizer)
    except Unreadable as error:
        raise VerifyError(f"not proved: unreadable: {error}", where) from None
    except Unproved as error:
        raise VerifyError(f"not proved: {error}", where) from None
    done.rows += 1
    done.tasks += len(reading.tasks)
    done.families.update(task["family"] for task in reading.tasks)
    done.classes.update(task["klass"] for task in reading.tasks)
    return reading
