"""`TokenStream`: the batches of a plan for one rank, in an order that is a pure function of the plan.

Batch k of a stage is the global indices `[k * global_batch, (k + 1) * global_batch)` of what is not skipped, and rank r
of w takes the r-th of w equal slices. So any number of ranks, and any batch size, may go on from any index: the state
is that index, with the digests of what it counts in. Nothing is drawn, buffered or shuffled on the way.

A stage whose rows are no multiple of the batch ends with fewer: `tail="drop"` (the default: ranks stay in step) leaves
them out and says so in `dropped`, `tail="short"` hands them out, the ranks' slices then differing by a row at most.

Batches are read ahead by one thread of this process (`prefetch` of them): a hand-over between processes costs more than
reading. Under a DataLoader with workers, worker i of n makes every n-th batch, by where it begins.
"""

import importlib
import queue
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.reader.ahead import Ahead
from gristmill.pipeline.reader.batch import Batch
from gristmill.pipeline.reader.block_cache import LIMIT_BYTES, BlockCache, default_folder
from gristmill.pipeline.reader.order import Window, places, stage_of
from gristmill.pipeline.reader.plan import Plan, load_plan
from gristmill.pipeline.reader.rows_dataset import CorruptRowError, RowsDataset

STATE_VERSION = 1

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReadOptions:
    """How rows are read: `verify` holds each against its hash; a damaged one raises, or with `on_corrupt="skip"` comes
    as a row of padding without loss, and is noted in `corrupt`; `prefetch` batches are read ahead (0: when they are
    asked for); `torch` None: tensors where torch is installed. `cache_dir` keeps what comes from object storage
    (`reader` in the user's cache where none is given, or $GRISTMILL_CACHE), and where it is given compressed rows, too,
    up to `cache_bytes`. `fetch_rows` are fetched at once; by default a block of the plan's shuffle, or 8 MiB."""

    verify: bool = True
    on_corrupt: Literal["raise", "skip"] = "raise"
    prefetch: int = 2
    tail: Literal["drop", "short"] = "drop"
    torch: bool | None = None
    cache_dir: str | Path | None = None
    cache_bytes: int = LIMIT_BYTES
    fetch_rows: int | None = None


_TORCH: Any = importlib.import_module("torch") if find_spec("torch") is not None else None
_BASE: Any = importlib.import_module("torch.utils.data").IterableDataset if _TORCH is not None else object


class TokenStream(_BASE):
    """See the module; an IterableDataset where torch is installed. `plan` is a plan's file, a dataset's folder or
    its place in object storage, or a Plan.

    Raises UsageError where ranks and batch do not fit together, and what `load_plan` raises.
    """

    def __init__(
        self,
        plan: str | Path | Plan,
        rank: int = 0,
        world_size: int = 1,
        global_batch: int = 1,
        options: ReadOptions | None = None,
    ) -> None:
        if not 0 <= rank < world_size:
            raise UsageError("no such rank", "TokenStream", rank, f"give 0 to {world_size - 1}")
        if global_batch < 1 or global_batch % world_size:
            remedy = "give a multiple of world_size"
            raise UsageError("ranks cannot share the batch evenly", "TokenStream global_batch", global_batch, remedy)
        if options is not None and options.torch and _TORCH is None:
            raise UsageError("torch is not installed", "TokenStream", None, "pip install torch, or torch=False")
        self.plan = plan if isinstance(plan, Plan) else load_plan(plan)
        self.rank, self.world_size, self.global_batch = rank, world_size, global_batch
        self.options = options or ReadOptions()
        for dataset in self.plan.datasets.values():
            _keep(dataset, self.options)
        self._order, self._look = Window(self.plan), Ahead(self.plan)
        self.next = 0
        self.skipped: list[tuple[int, int]] = []
        self.corrupt: list[int] = []
        self.dropped = 0

    def __iter__(self) -> Iterator[Batch]:
        """Batches from `next` on; `next` moves when a batch is handed out, so what was read ahead is not lost."""
        made = self._ahead() if self.options.prefetch else self._made(self.next)
        for batch, after, dropped in made:
            self.next = after
            self.dropped += dropped
            if batch is not None:
                yield batch

    def _made(self, start: int) -> Iterator[tuple[Batch | None, int, int]]:
        """(batch, where the next one begins, rows left out before it)."""
        worker, workers = _dataloader_worker()
        while start < self.plan.rows:
            indices, after = self._indices(start)
            lost = 0
            if len(indices) < self.global_batch and self.options.tail == "drop":
                indices, lost = indices[:0], len(indices)
            mine = indices[_slice(len(indices), self.rank, self.world_size)]
            if start // self.global_batch % workers == worker:
                yield (self._batch(mine, start) if len(indices) else None), after, lost
            start = after

    def _indices(self, start: int) -> tuple[Ints, int]:
        """The global indices of the batch that begins at or behind `start`, and where the one behind it begins."""
        stop = self.plan.starts[stage_of(self.plan, start) + 1]
        at, parts, wanted = start, list[Ints](), self.global_batch
        for first, end in [*(s for s in self.skipped if s[1] > start), (stop, stop)]:
            until = min(first, stop, at + wanted)
            if until > at:
                parts.append(np.arange(at, until, dtype=np.int64))
                wanted -= until - at
                at = until
            if not wanted or at >= stop:
                break
            at = max(at, min(end, stop))
        return np.concatenate([np.empty(0, np.int64), *parts]), at

    def _batch(self, indices: Ints, first: int) -> Batch:
        number = stage_of(self.plan, first)
        stage = self.plan.stages[number]
        tokens = np.empty((len(indices), stage.context), dtype=np.int32)
        if not len(indices):
            return Batch(self._given(tokens), first, number, indices, (), indices, ())
        self._look.look(first)
        placed = self._order.places(indices)
        sides: list[tuple[Ints, Any]] = []
        for s in np.unique(placed.source).tolist():
            here = np.flatnonzero(placed.source == s)
            dataset = self.plan.datasets[stage.mixture.names[s]]
            part = tokens if len(here) == len(tokens) else np.empty((len(here), stage.context), dtype=np.int32)
            sides += self._read(dataset, placed.row[here], here, part, indices)
            if part is not tokens:
                tokens[here] = part
        names = tuple(stage.mixture.names[s] for s in placed.source.tolist())
        return Batch(self._given(tokens), first, number, indices, names, placed.row, tuple(sides))

    def _read(self, dataset: Any, rows: Ints, here: Ints, out: Any, indices: Ints) -> list[tuple[Ints, Any]]:
        """The sides of a dataset's rows of a batch; damaged ones are padding where that is asked for."""
        try:
            return [(here, dataset.read(rows, out, self.options.verify))]
        except CorruptRowError:
            if self.options.on_corrupt == "raise":
                raise
        found: list[tuple[Ints, Any]] = []
        for i in range(len(rows)):
            try:
                found.append((here[i : i + 1], dataset.read(rows[i : i + 1], out[i : i + 1], self.options.verify)))
            except CorruptRowError:
                out[i] = dataset.tokenizer.pad_id
                self.corrupt.append(int(indices[here[i]]))
        return found

    def _given(self, tokens: Any) -> Any:
        return tokens if _TORCH is None or self.options.torch is False else _TORCH.from_numpy(tokens)

    def _ahead(self) -> Iterator[tuple[Batch | None, int, int]]:
        """`_made`, in a thread that is as many batches ahead as are asked for, and ends with the iterator."""
        ready: queue.Queue[Any] = queue.Queue(self.options.prefetch)
        ended = threading.Event()

        def put(item: Any) -> bool:
            while not ended.is_set():
                try:
                    ready.put(item, timeout=0.1)
                    return True
                except queue.Full:
                    continue
            return False

        def make() -> None:
            try:
                for item in self._made(self.next):
                    if not put(item):
                        return
                put(None)
            except BaseException as error:
                put(error)

        thread = threading.Thread(target=make, name="gristmill-reader", daemon=True)
        thread.start()
        try:
            while (item := ready.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            ended.set()
            thread.join()

    def __getitem__(self, index: int) -> Batch:
        """The row at a global index, as a batch of one: what any step saw, without going there."""
        found = range(self.plan.rows)[index]
        return self._batch(np.array([found], dtype=np.int64), found)

    def skip(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Leave out the global indices of half-open ranges from here on; they stand in the state."""
        self.skipped = _merged([*self.skipped, *((int(a), int(b)) for a, b in ranges)])

    def state_dict(self) -> dict[str, Any]:
        """Where the next batch begins, with what that counts in: under 1 KB, and the same on every rank."""
        manifests = {name: dataset.digest for name, dataset in self.plan.datasets.items()}
        skipped = [list(r) for r in self.skipped]
        return {
            "v": STATE_VERSION,
            "next": self.next,
            "plan": self.plan.digest,
            "manifests": manifests,
            "skipped": skipped,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state. Raises UsageError where it is none, or of another plan or other data."""
        if state.get("v") != STATE_VERSION or not isinstance(state.get("next"), int):
            raise UsageError("no state of a TokenStream", "load_state_dict", sorted(state), "give what state_dict gave")
        own = self.state_dict()
        for key in ("plan", "manifests"):
            if state[key] != own[key]:
                remedy = "go on with the plan and the datasets that the state is of"
                raise UsageError(f"the state is of another plan ({key})", "load_state_dict", state[key], remedy)
        if not 0 <= state["next"] <= self.plan.rows:
            raise UsageError("the state is outside of the plan", "load_state_dict", state["next"], "use its own plan")
        self.next = state["next"]
        self.skipped = _merged([(a, b) for a, b in state["skipped"]])

    def documents(self, index: int) -> dict[str, Any]:
        """What the row at a global index says of itself: its documents and tasks, segments, media, loss spans."""
        placed = places(self.plan, np.array([index], dtype=np.int64))
        name = self.plan.stages[placed.stage].mixture.names[int(placed.source[0])]
        return {"source": name, "epoch": int(placed.epoch[0]), **self.plan.datasets[name].documents(int(placed.row[0]))}

    def report(self, until: int | None = None) -> dict[str, dict[str, float]]:
        """For each dataset the rows, tokens and epochs that the first `until` indices (default: `next`) draw."""
        drawn = self.next if until is None else until
        found = {name: {"rows": 0, "tokens": 0} for name in self.plan.datasets}
        for number, stage in enumerate(self.plan.stages):
            inside = min(max(drawn - self.plan.starts[number], 0), stage.rows)
            for name, rows in zip(stage.mixture.names, stage.mixture.before(inside), strict=True):
                found[name]["rows"] += rows
                found[name]["tokens"] += rows * stage.context
        return {n: {**f, "epochs": f["rows"] / self.plan.datasets[n].rows} for n, f in found.items()}


def _keep(dataset: RowsDataset, options: ReadOptions) -> None:
    if options.cache_dir is not None or dataset.is_remote:
        folder = default_folder() if options.cache_dir is None else Path(options.cache_dir)
        dataset.keep_in(BlockCache(folder, options.cache_bytes), options.fetch_rows)


def _slice(count: int, rank: int, world_size: int) -> slice:
    return slice(count * rank // world_size, count * (rank + 1) // world_size)


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for first, stop in sorted(r for r in ranges if r[1] > r[0]):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], stop))
        else:
            out.append((first, stop))
    return out


def _dataloader_worker() -> tuple[int, int]:
    """(number, of how many) of a DataLoader's worker processes; (0, 1) outside of one."""
    data: Any = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    return (0, 1) if info is None else (info.id, info.num_workers)
