"""Results in order, made by threads that stay a few ahead of who takes them.

Nothing runs but what was asked for: whoever takes a result hands out the next job, so an iterator that nobody goes on
with does no work, and one that is closed, or collected, waits for the jobs that are being done and drops the others.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Made = TypeVar("Made")


def ahead(jobs: Iterable[Job], make: Callable[[Job], Made], threads: int, depth: int) -> Iterator[Made]:
    """`make(job)` of each job, in order; up to `depth` more are made or being made meanwhile. depth 0: in this thread.

    What `make` raises comes where its result would have.
    """
    if not depth:
        yield from map(make, jobs)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="gristmill-reader")
    pending: deque[Future[Made]] = deque()
    try:
        for job in jobs:
            pending.append(pool.submit(make, job))
            if len(pending) > depth:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
