"""The books of one manifest against themselves, its ledger and its files.

In: a manifest of the right shape (`manifest_model`), its folder, and the set of its files that are whole. Out:
faults. Every step and source must balance, each step must read what the one before kept, the ledger must hold
each reason as often as the tallies say, and the totals must be those of the last step and of the shards.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.manifest import FILE_LISTS, MANIFEST, manifest_tallies
from gristmill.manifests.shard import read_shard
from gristmill.manifests.tally import StepTallies, Tally, tally_from_json, tally_to_json, total_of
from gristmill.manifests.verify_files import Fault, Named

_OF_SOURCES = tuple(f for f in tally_to_json(Tally()) if f != "rows")
"""Fields of a step that are sums over its sources; a row made from several sources belongs to none."""


@dataclass(frozen=True)
class Dataset:
    """A dataset whose manifest is sound: `shown` is its folder relative to what is verified, "" for itself.

    `files` are all that the manifest names.
    """

    folder: Path
    shown: str
    manifest: dict[str, Any]
    files: list[Named]

    @property
    def name(self) -> str:
        """How faults of the dataset as a whole are shown."""
        return f"{self.shown}/{MANIFEST}" if self.shown else MANIFEST

    def sound(self, file_list: str, whole: set[str]) -> list[Named]:
        """The files of one of the manifest's lists that are among `whole`, in order."""
        paths = {entry["path"] for entry in self.manifest.get(file_list, [])}
        return [named for named in self.files if named.entry.path in paths and named.shown in whole]

    def is_whole(self, whole: set[str]) -> bool:
        """Whether every file that the manifest names is there and among `whole`."""
        named = sum(len(self.manifest.get(name, [])) for name in FILE_LISTS)
        return len(self.files) == named and all(one.shown in whole for one in self.files)


LedgerCounts = Counter[tuple[str, str, str, str]]
"""(step, source, verdict, reason) -> rows."""


def balance_faults(manifest: Mapping[str, Any], shown: str) -> Iterator[Fault]:
    """Steps and sources that do not balance, sums that are none, records lost between steps."""
    previous: int | None = None
    for step in manifest["steps"]:
        where = f"step {step['step']}"
        by_source = {source: tally_from_json(tally) for source, tally in step["sources"].items()}
        for source, tally in by_source.items():
            try:
                tally.balance(f"{where} source {source}")
            except VerifyError as error:
                yield Fault(shown, "books", str(error))
        total = tally_to_json(total_of(by_source))
        for name in _OF_SOURCES:
            if step[name] != total[name]:
                yield Fault(shown, "books", f"{where}: {name} is {step[name]}, its sources give {total[name]}")
        if previous is not None and previous != step["records_in"]:
            lost = f"{previous} kept before it, {step['records_in']} read"
            yield Fault(shown, "books", f"{where}: records were lost between two steps: {lost}")
        previous = step["kept"]


def totals_faults(manifest: Mapping[str, Any], shown: str) -> Iterator[Fault]:
    """Totals that are not those of the last step or of the shards."""
    last, totals = manifest["steps"][-1], manifest["totals"]
    shard_rows = sum(entry["rows"] for entry in manifest["shards"])
    unit = "records" if manifest["kind"] == "documents" else "rows"
    said = [
        ("records", last["kept"], "the last step kept"),
        ("chars", last["chars_kept"], "the last step kept"),
        (unit, shard_rows, "the shards hold"),
    ]
    if manifest["kind"] == "rows":
        said.append(("rows", last["rows"], "the last step made"))
        if "synth" not in manifest["facts"]:  # sequences are made of documents as they are
            said.append(("records", sum(entry["rows"] for entry in manifest["tokenised"]), "were tokenised"))
    for name, value, what in said:
        if totals[name] != value:
            yield Fault(shown, "books", f"totals.{name} is {totals[name]}, but {what} {value}")


def ledger_faults(manifest: Mapping[str, Any], shown: str, ledger: Sequence[Named]) -> Iterator[Fault]:
    """Reasons that the ledger holds more or less often than the tallies say."""
    counts: LedgerCounts = Counter()
    for named in ledger:
        try:
            counts.update(_ledger_counts(named.path))
        except VerifyError as error:
            yield Fault(named.shown, "unreadable", str(error))
            return
    yield from _compare(manifest_tallies(manifest), counts, shown)


def _ledger_counts(path: Path) -> LedgerCounts:
    counts: LedgerCounts = Counter()
    names = ["step", "source", "verdict", "reason"]
    for batch in read_shard(path, names):
        groups = pa.Table.from_batches([batch]).group_by(names).aggregate([([], "count_all")])
        for group in groups.to_pylist():
            step, source, verdict, reason = (group[name] or "" for name in names)
            counts[step, source, verdict, reason] += group["count_all"]
    return counts


def _compare(tallies: StepTallies, counts: LedgerCounts, shown: str) -> Iterator[Fault]:
    reasons: Counter[tuple[str, str, str]] = Counter()
    verdicts: Counter[tuple[str, str, str]] = Counter()
    for (step, source, verdict, reason), rows in counts.items():
        reasons[step, source, reason] += rows
        verdicts[step, source, verdict] += rows
    said_reasons: Counter[tuple[str, str, str]] = Counter()
    said_verdicts: Counter[tuple[str, str, str]] = Counter()
    for step, by_source in tallies.items():
        for source, tally in by_source.items():
            said_verdicts[step, source, "drop"] += tally.dropped
            said_verdicts[step, source, "quarantine"] += tally.quarantined
            for reason, count in tally.reasons.items():
                said_reasons[step, source, reason] += count
    for said, held in ((said_reasons, reasons), (said_verdicts, verdicts)):
        for cell in sorted(said.keys() | held.keys()):
            if said[cell] != held[cell]:
                where = f"step {cell[0]} source {cell[1]}: {cell[2]}"
                yield Fault(shown, "ledger", f"{where}: {said[cell]} by the tally, {held[cell]} in the ledger")


def row_count(path: Path) -> int | None:
    """Rows of a Parquet, Arrow IPC or JSON lines file by its own account; None for others.

    Raises pa.ArrowException, OSError or ValueError on a file that is none.
    """
    if path.suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            return file.metadata.num_rows
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
    if path.suffix == ".jsonl":
        with path.open("rb") as lines:
            return sum(1 for _ in lines)
    return None


def row_faults(files: Sequence[Named]) -> Iterator[Fault]:
    """Files that hold another number of rows than their entry says."""
    for named in files:
        try:
            rows = row_count(named.path)
        except (pa.ArrowException, OSError, ValueError) as error:
            yield Fault(named.shown, "unreadable", " ".join(str(error).split()))
            continue
        if rows is not None and rows != named.entry.rows:
            yield Fault(named.shown, "rows", f"{rows} rows, not {named.entry.rows}")


def books_faults(dataset: Dataset, whole: set[str]) -> Iterator[Fault]:
    """All of the above. `whole` are the names of sound files; what is not whole is left aside."""
    yield from balance_faults(dataset.manifest, dataset.name)
    yield from totals_faults(dataset.manifest, dataset.name)
    yield from row_faults([named for named in dataset.files if named.shown in whole])
    ledger = dataset.sound("ledger", whole)
    if len(ledger) == len(dataset.manifest["ledger"]):
        yield from ledger_faults(dataset.manifest, dataset.name, ledger)
