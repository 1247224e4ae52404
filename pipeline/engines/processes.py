"""Processes that an engine starts on this machine: clean, deaf to Ctrl-C (the driver ends them), and dead with it."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

_PR_SET_PDEATHSIG = 1


def started(target: Callable[..., None], args: tuple[Any, ...], name: str) -> tuple[BaseProcess, Connection]:
    """A spawned process that runs `target(pipe, pid of this one, *args)`, and our end of the pipe."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, os.getpid(), *args), daemon=False, name=name)
    # A process inherits the mask: one that is still importing when Ctrl-C comes would print a traceback.
    resource_tracker.ensure_running()  # else `start` does it, and unblocks the signal on the way
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    theirs.close()
    return process, ours


def begin(parent_pid: int) -> None:
    """What such a process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(2, 1)  # what a stage prints is no result of the command
    die_with_parent(parent_pid)


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel end this process with its parent (Linux); elsewhere the closed pipe does."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent_pid:
        os._exit(1)
