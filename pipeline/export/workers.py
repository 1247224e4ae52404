"""Shards written by processes that die with the driver; what one raises, the driver raises.

In: a request and the numbers of the shards that are missing. Out: (number, what was written), as they are finished.
A worker opens the dataset for itself. One that dies (memory, a signal) is an EngineLostError: what was finished stays
for the next run of the same command.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import EngineLostError
from gristmill.pipeline.engines.answer import answer_to
from gristmill.pipeline.engines.processes import begin, started
from gristmill.pipeline.export.formats import open_source
from gristmill.pipeline.export.shape import Request, Written
from gristmill.pipeline.export.shards import Cut, write_shard

MOST_A_CPU = 4
"""Workers; they read and write, and none waits long for a disk."""


def write_all(
    request: Request, cut: Cut, folder: Path, missing: Sequence[int], workers: int
) -> Generator[tuple[int, Written]]:
    """Write shards into a folder; with 0 or 1 workers in this process, with more by at most MOST_A_CPU a processor:
    each opens the dataset for itself, and takes 200 MB."""
    workers = min(workers, MOST_A_CPU * (os.cpu_count() or 1))
    if workers <= 1 or len(missing) <= 1:
        source = open_source(request)
        for number in missing:
            yield number, write_shard(source, request.format, cut, folder, number)
        return
    pool = [started(_work, (request, cut, str(folder)), "gristmill-export") for _ in range(min(workers, len(missing)))]
    with closing(_given_out(pool, list(missing))) as found:
        try:
            yield from found
        finally:
            for process, pipe in pool:
                process.kill()
                process.join()
                pipe.close()


def _work(pipe: Connection, parent_pid: int, request: Request, cut: Cut, folder: str) -> None:
    """A worker: a number in, what was written (or an error) out, until the pipe closes."""
    begin(parent_pid)
    source: Any = None
    while True:
        try:
            number: int = pipe.recv()
        except EOFError:
            return
        try:
            source = source or open_source(request)
            answer: Any = write_shard(source, request.format, cut, Path(folder), number)
        except BaseException as error:
            answer = answer_to(error, f"shard {number}")
        pipe.send(answer)


def _given_out(pool: Sequence[tuple[Any, Connection]], waiting: list[int]) -> Generator[tuple[int, Written]]:
    busy: dict[Connection, tuple[Any, int]] = {}

    def give(process: Any, pipe: Connection) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # its end is told where its answer is asked for
            pipe.send(waiting[0])
        busy[pipe] = process, waiting.pop(0)

    for process, pipe in pool:
        give(process, pipe)
    while busy:
        for pipe in wait(list(busy)):
            assert isinstance(pipe, Connection)
            process, number = busy.pop(pipe)
            yield number, _answer(pipe, process, number)
            if waiting:
                give(process, pipe)


def _answer(pipe: Connection, process: Any, number: int) -> Written:
    try:
        answer = pipe.recv()
    except (EOFError, OSError):
        process.join()
        how, remedy = f"exit code {process.exitcode}", "run the same command to go on, with fewer --workers"
        raise EngineLostError("a worker died", f"shard {number}", how, remedy) from None
    if isinstance(answer, Written):
        return answer
    raise answer
