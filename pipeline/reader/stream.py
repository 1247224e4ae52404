"""`TokenStream`: the batches of a plan for one rank, in an order that is a pure function of the plan.

Batch k of a stage is the global indices `[k * global_batch, (k + 1) * global_batch)` of what is not skipped, and rank
r of w takes the r-th of w equal slices of it, in a permuted order. So any number of ranks, and any batch size, may go
on from any index: the state is that index, with the digests of what it counts in. Nothing is drawn, buffered or
shuffled on the way.

A stage whose rows are no multiple of the batch ends with fewer: `tail="drop"` (the default: ranks stay in step) leaves
them out and says so in `dropped`, `tail="short"` hands them out, the ranks' slices then differing by a row at most.

Batches are read ahead by threads of this process: a hand-over between processes costs more than reading. Under a
DataLoader with workers, worker i of n makes every n-th batch, by where it begins.
"""

import importlib
import os
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader.ahead import ahead
from gristmill.pipeline.reader.batch import Batch
from gristmill.pipeline.reader.batches import Batches, check_batches, first_index_of, merged
from gristmill.pipeline.reader.block_cache import LIMIT_BYTES, BlockCache, default_folder
from gristmill.pipeline.reader.buffers import Buffers
from gristmill.pipeline.reader.fetch_ahead import FetchAhead
from gristmill.pipeline.reader.ledger import exposure
from gristmill.pipeline.reader.media import MediaSource
from gristmill.pipeline.reader.order import Window, places, stage_of
from gristmill.pipeline.reader.permute import permuted, round_keys
from gristmill.pipeline.reader.plan import Plan, load_plan
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset
from gristmill.pipeline.reader.state import Position, position_of, state_of

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReadOptions:
    """What is seldom asked for: `prefetch` batches are read ahead (0: they are read in the trainer's thread when it
    asks); `tail`: see the module; `torch` None: tensors where torch is installed; `pin` None: in page-locked memory
    where torch sees a CUDA device. `cache_dir` keeps what comes from object storage (`reader` in the user's cache where
    none is given, or $GRISTMILL_CACHE), and where it is given compressed rows, too, up to `cache_bytes`. `fetch_rows`
    are fetched at once; by default a block of the plan's shuffle, or 8 MiB."""

    prefetch: int = 4
    tail: Literal["drop", "short"] = "drop"
    torch: bool | None = None
    pin: bool | None = None
    cache_dir: str | Path | None = None
    cache_bytes: int = LIMIT_BYTES
    fetch_rows: int | None = None


_TORCH: Any = importlib.import_module("torch") if find_spec("torch") is not None else None
_BASE: Any = importlib.import_module("torch.utils.data").IterableDataset if _TORCH is not None else object

_OF_PROCESS = ("_order", "_look", "_own", "_shared", "_buffers", "_turn")

_Job = tuple[Ints, int, int, int]
"""This rank's indices of a batch, where the batch begins, where the next one does, and rows left out before that."""


class TokenStream(_BASE):
    """See the module; an IterableDataset where torch is installed.

    plan: a plan's file, a dataset's folder or its place in object storage, or a Plan; global_batch: rows of a batch
    over all ranks; threads: that read ahead; verify "row": each row is held against its hash; on_corrupt "skip": a
    damaged row comes as padding without loss and is noted in `corrupt`, where "raise" ends the reading with
    CorruptRowError.

    Raises UsageError where ranks and batch do not fit together, and what `load_plan` raises.
    """

    def __init__(
        self,
        plan: str | Path | Plan,
        rank: int = 0,
        world_size: int = 1,
        global_batch: int = 1,
        threads: int = 2,
        verify: Literal["row", "off"] = "row",
        on_corrupt: Literal["raise", "skip"] = "raise",
        options: ReadOptions | None = None,
    ) -> None:
        self.options = options or ReadOptions()
        _check(rank, world_size, global_batch, threads)
        _check_words(verify, on_corrupt, self.options)
        self.plan = self._written = plan if isinstance(plan, Plan) else load_plan(plan)
        self.base: Mapping[str, int] = {}
        self._manifests: Mapping[str, str] = {}
        self.rank, self.world_size, self.global_batch = rank, world_size, global_batch
        self.threads, self.verify, self.on_corrupt = threads, verify, on_corrupt
        if self.options.tail == "drop":
            check_batches(self.plan, global_batch)
        for dataset in self.plan.datasets.values():
            _keep(dataset, self.options)
        self._media = {n: MediaSource(s.dataset.where, s.dataset.digest) for n, s in self.plan.sources.items()}
        self.next = 0
        self.skipped: list[tuple[int, int]] = []
        self.corrupt: list[int] = []
        self.dropped = 0
        self._begin()

    def _begin(self) -> None:
        self._pid, self._turn = os.getpid(), object()
        self._order, self._look = Window(self.plan), FetchAhead(self.plan)
        self._own, self._shared = threading.local(), threading.RLock()
        self._buffers = Buffers(_TORCH if _pinned(self.options) else None)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in _OF_PROCESS}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __iter__(self) -> Iterator[Batch]:
        """Batches from `next` on; `next` moves when a batch is handed out, so what was read ahead is not lost. A stream
        stands in one place: of two iterators the one that began last goes on, the other raises UsageError."""
        self._here()
        turn = self._turn = object()
        for batch, after, dropped in ahead(self._jobs(), self._made, self.threads, self.options.prefetch):
            if self._turn is not turn:
                remedy = "make a TokenStream for each: opened plans may be shared (plan=stream.plan)"
                raise UsageError("another iterator of this stream has begun", "TokenStream", self.next, remedy)
            self.next = after
            self.dropped += dropped
            if batch is not None:
                yield batch

    def _jobs(self) -> Iterator[_Job]:
        worker, workers = _dataloader_worker()
        skipped, batches, start = None, None, self.next
        short = self.options.tail == "short"
        while start < self.plan.rows:
            if batches is None or skipped is not self.skipped:  # more may be skipped while batches are handed out
                skipped, batches = self.skipped, Batches(self.plan, self.skipped, self.global_batch)
            indices, after = batches.at(start)
            lost = 0
            if len(indices) < self.global_batch and not short:
                indices, lost = indices[:0], len(indices)
            if workers == 1 or batches.ordinal(start, short) % workers == worker:
                yield self._mine(indices), start if len(indices) else -1, after, lost
            start = after

    def _mine(self, indices: Ints) -> Ints:
        """This rank's slice of a batch, whose rows are put into another order for it: where the mixture goes round by
        as many rows as there are ranks, each rank would read one source for ever."""
        count = len(indices)
        if self.world_size == 1 or not count:
            return indices
        keys = round_keys(self.plan.seed, "\0ranks", int(indices[0]))
        low, high = (count * r // self.world_size for r in (self.rank, self.rank + 1))
        return indices[permuted(np.arange(low, high, dtype=np.int64), count, keys)]

    def _made(self, job: _Job) -> tuple[Batch | None, int, int]:
        indices, first, after, lost = job
        return (self._batch(indices, first) if first >= 0 else None), after, lost

    def _here(self) -> None:
        """After a fork: locks may have been held by a thread that this process does not have."""
        if self._pid != os.getpid():
            self._begin()

    @contextmanager
    def _dataset(self, name: str) -> Generator[RowsDataset]:
        """A dataset of the plan, with files of this thread's own: another might close one that is being read. One that
        comes through the cache of blocks is there once, for one thread at a time: they would fetch the same blocks."""
        dataset = self.plan.datasets[name]
        if dataset.cache is not None:
            with self._shared:
                yield dataset
            return
        own: dict[str, RowsDataset] = self._own.__dict__.setdefault("datasets", {})
        if name not in own:
            own[name] = dataset.copy()
        yield own[name]

    def _batch(self, indices: Ints, first: int) -> Batch:
        number = stage_of(self.plan, first)
        stage = self.plan.stages[number]
        tokens = self._buffers.take(len(indices), stage.context)
        if not len(indices):
            return Batch(self._given(tokens), first, number, indices, (), indices, ())
        with self._shared:
            self._look.look(first)
        placed = self._order.places(indices)
        names = [stage.mixture.names[s] for s in placed.source.tolist()]
        datasets = np.array([self.plan.sources[name].dataset_name for name in names], dtype=object)
        sides: list[tuple[Ints, Any]] = []
        for dataset_name in sorted(set(datasets.tolist())):
            here = np.flatnonzero(datasets == dataset_name)
            part = tokens if len(here) == len(tokens) else np.empty((len(here), stage.context), dtype=np.int32)
            with self._dataset(dataset_name) as dataset:
                sides += self._read(dataset, placed.row[here], here, part, indices)
            if part is not tokens:
                tokens[here] = part
        free = partial(self._buffers.give, tokens)
        given = self._given(tokens)
        return Batch(given, first, number, indices, tuple(names), placed.row, tuple(sides), self._media, free)

    def _read(self, dataset: Any, rows: Ints, here: Ints, out: Any, indices: Ints) -> list[tuple[Ints, Any]]:
        """The sides of a dataset's rows of a batch; damaged ones are padding where that is asked for."""
        try:
            return [(here, dataset.read(rows, out, self.verify == "row"))]
        except CorruptRowError:
            if self.on_corrupt == "raise":
                raise
        found: list[tuple[Ints, Any]] = []
        for i in range(len(rows)):
            try:
                found.append((here[i : i + 1], dataset.read(rows[i : i + 1], out[i : i + 1], self.verify == "row")))
            except CorruptRowError:
                out[i] = dataset.tokenizer.pad_id
                self.corrupt.append(int(indices[here[i]]))
        return found

    def _given(self, tokens: Any) -> Any:
        return tokens if _TORCH is None or self.options.torch is False else _TORCH.from_numpy(tokens)

    def __getitem__(self, index: int) -> Batch:
        """The row at a global index, as a batch of one: what any step saw, without going there."""
        return self.rows([range(self.plan.rows)[index]])

    def rows(self, indices: Sequence[int]) -> Batch:
        """The rows at global indices of one stage, in any order, as a batch. Raises IndexError outside of it."""
        self._here()
        return self._batch(np.array(indices, dtype=np.int64), min(indices))

    def skip(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Leave out the global indices of half-open ranges, where they are not read ahead yet; the state has them."""
        self.skipped = merged([*self.skipped, *((int(a), int(b)) for a, b in ranges)])

    def state_dict(self) -> dict[str, Any]:
        """Where the next batch begins, with what that counts in (`state`): the same on every rank."""
        return state_of(Position(self.plan, self.next, self.skipped, self.base, self.dropped, self._manifests))

    def load_state_dict(self, state: Mapping[str, Any], rebase: bool = False) -> None:
        """Go on from a state. One of another plan, or of datasets that were made anew, is refused; with `rebase` this
        plan begins, each of its sources from the row that the state had come to (`rebase`).

        Raises UsageError where it is none, or refused; RecipeError where documents would come more often than they may.
        """
        at = position_of(state, self._written, rebase)
        self.plan, self.next, self.skipped, self.base = at.plan, at.next, list(at.skipped), at.base
        self.dropped, self._manifests = at.dropped, at.manifests
        self._begin()

    def documents(self, index: int) -> dict[str, Any]:
        """What the row at a global index says of itself: its documents and tasks, segments, media, loss spans."""
        placed = places(self.plan, np.array([index], dtype=np.int64))
        name = self.plan.stages[placed.stage].mixture.names[int(placed.source[0])]
        return {"source": name, "epoch": int(placed.epoch[0]), **self._documents(name, int(placed.row[0]))}

    def _documents(self, source: str, row: int) -> dict[str, Any]:
        self._here()
        with self._dataset(self.plan.sources[source].dataset_name) as dataset:
            return dataset.documents(row)

    def where(self, step: int) -> list[dict[str, Any]]:
        """What batch `step` is made of, over all ranks, batches being of `global_batch` rows from the first on: of each
        row its global index, source, epoch, number in its dataset, shard (path) and number in that shard.

        Raises IndexError outside of the plan.
        """
        first = first_index_of(self.plan, self.skipped, self.global_batch, self.options.tail == "short", step)
        indices, _ = Batches(self.plan, self.skipped, self.global_batch).at(first)
        placed = places(self.plan, indices)
        names = self.plan.stages[placed.stage].mixture.names
        found: list[dict[str, Any]] = []
        columns = zip(indices.tolist(), placed.source.tolist(), placed.row.tolist(), placed.epoch.tolist(), strict=True)
        for index, source, row, epoch in columns:
            shard, inside = self.plan.sources[names[source]].dataset.place(row)
            of_row = {"index": index, "source": names[source], "epoch": epoch, "row": row}
            found.append({**of_row, "shard": str(shard.path), "shard_row": inside})
        return found

    def report(self, until: int | None = None) -> dict[str, dict[str, Any]]:
        """What the first `until` indices (default: `next`) draw of each source: see `ledger.exposure`."""
        return exposure(self.plan, self.next if until is None else until)


def _keep(dataset: RowsDataset, options: ReadOptions) -> None:
    if options.cache_dir is not None or dataset.is_remote:
        folder = default_folder() if options.cache_dir is None else Path(options.cache_dir)
        dataset.keep_in(BlockCache(folder, options.cache_bytes), options.fetch_rows)


def _check(rank: int, world_size: int, global_batch: int, threads: int) -> None:
    if not 0 <= rank < world_size:
        raise UsageError("no such rank", "TokenStream", rank, f"give 0 to {world_size - 1}")
    if global_batch < 1 or global_batch % world_size:
        remedy = "give a multiple of world_size"
        raise UsageError("ranks cannot share the batch evenly", "TokenStream global_batch", global_batch, remedy)
    if threads < 1:
        raise UsageError("no thread to read", "TokenStream threads", threads, "give 1 or more")


def _check_words(verify: str, on_corrupt: str, options: ReadOptions) -> None:
    known = (("verify", verify, ("row", "off")), ("on_corrupt", on_corrupt, ("raise", "skip")))
    for name, value, words in (*known, ("tail", options.tail, ("drop", "short"))):
        if value not in words:
            raise UsageError("no such choice", f"TokenStream {name}", value, f"give {' or '.join(words)}")
    if _TORCH is None and (options.torch or options.pin):
        raise UsageError("torch is not installed", "TokenStream", None, "pip install torch, or torch=False")


def _pinned(options: ReadOptions) -> bool:
    if _TORCH is None or options.torch is False:
        return False
    return bool(_TORCH.cuda.is_available()) if options.pin is None else options.pin


def _dataloader_worker() -> tuple[int, int]:
    """(number, of how many) of a DataLoader's worker processes; (0, 1) outside of one."""
    data: Any = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    return (0, 1) if info is None else (info.id, info.num_workers)
