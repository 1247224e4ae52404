"""Things that are made by a few threads: some are waited for, others are wanted soon.

What is waited for goes first. A thread lives while there is something to make, so that nothing has to be ended.
"""

import threading
from collections.abc import Callable, Iterable, Sequence


class Fetcher:
    """`make` makes one thing by its key, and returns at once where it is there already."""

    def __init__(self, make: Callable[[int], None], at_once: int) -> None:
        self._make = make
        self._at_once = at_once
        self._changed = threading.Condition()
        self._urgent: dict[int, None] = {}
        self._wanted: dict[int, None] = {}
        self._running: set[int] = set()
        self._failed: dict[int, BaseException] = {}
        self._threads = 0

    def ahead(self, keys: Iterable[int]) -> None:
        """Make these when there is nothing more urgent; what fails is made again, and told, when it is needed."""
        with self._changed:
            self._wanted.update(dict.fromkeys(keys))
            self._start()

    def need(self, keys: Sequence[int]) -> dict[int, BaseException]:
        """Wait until all are made; what those raised that could not be."""
        with self._changed:
            for key in keys:
                self._failed.pop(key, None)
                self._wanted.pop(key, None)
            self._urgent.update({key: None for key in keys if key not in self._running})
            self._start()
            self._changed.wait_for(lambda: not any(key in self._urgent or key in self._running for key in keys))
            return {key: self._failed.pop(key) for key in keys if key in self._failed}

    def clear(self) -> None:
        """Make nothing more that nobody waits for."""
        with self._changed:
            self._wanted.clear()

    def _start(self) -> None:
        for _ in range(min(self._at_once - self._threads, len(self._urgent) + len(self._wanted))):
            self._threads += 1
            threading.Thread(target=self._work, name="gristmill-fetch", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._changed:
                queue = self._urgent or self._wanted
                if not queue:
                    self._threads -= 1
                    return
                key = next(iter(queue))
                del queue[key]
                if key in self._running:
                    continue
                self._running.add(key)
            error = self._made(key)
            with self._changed:
                self._running.discard(key)
                if error is not None:
                    self._failed[key] = error
                self._changed.notify_all()

    def _made(self, key: int) -> BaseException | None:
        try:
            self._make(key)
        except BaseException as error:
            return error
        return None
