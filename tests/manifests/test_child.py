"""A hostile record costs itself alone: hangs, crashes, memory, noise, big payloads, deaths from outside."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests import child as child_module
from gristmill.manifests.child import ChildFailure, ChildLimits, KillableChild, shared_child
from gristmill.manifests.child_main import ANSWER, OK, REQUEST
from gristmill.manifests.child_pipe import BrokenFrameError, Frames
from gristmill.manifests.errors import EngineLostError, GristmillError

TARGETS = "tests.manifests.child_targets"
LIMITS = ChildLimits(max_seconds_per_record=1.0, max_rss_bytes=256 << 20, max_output_bytes=1 << 20)


@pytest.fixture
def child() -> Iterator[KillableChild]:
    with KillableChild(f"{TARGETS}:obey", limits=LIMITS) as started:
        yield started


def _kinds(answers: list[bytes | ChildFailure]) -> list[str]:
    return [a.kind if isinstance(a, ChildFailure) else "ok" for a in answers]


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def _await_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not _alive(pid)


def test_answers_come_in_order_with_init() -> None:
    with KillableChild(f"{TARGETS}:echo", init=b"> ") as child:
        payloads = [str(i).encode() for i in range(5000)]
        assert child.call_many(payloads) == [b"> " + p for p in payloads]
        assert child.call_many([]) == []
        assert child.call(b"") == b"> "


@pytest.mark.parametrize(
    ("order", "kind", "detail"),
    [
        (b"segfault", "died", "killed by SIGSEGV"),
        (b"exit 3", "died", "exited with 3"),
        (b"exit 0", "died", "exited with 0"),
        (b"kill 15", "died", "killed by SIGTERM"),
        (b"kill 9", "died", "killed by SIGKILL"),
        (b"hang", "timeout", "over 1 s"),
        (b"hog 1000000000", "memory", "over 268435456 bytes"),
        (b"leak 1000000000", "died", "killed by SIGSEGV"),
        (b"bad_alloc", "memory", "over 268435456 bytes"),
        (b"raise", "error", "ValueError: not this one at 0x?"),
        (b"big 1048577", "output_too_large", "1048577 bytes, over 1048576"),
    ],
)
def test_a_failure_costs_its_record_alone(child: KillableChild, order: bytes, kind: str, detail: str) -> None:
    answers = child.call_many([b"a", b"b", order, b"c", order, b"d"])
    assert answers == [b"a", b"b", ChildFailure(kind, detail), b"c", ChildFailure(kind, detail), b"d"]  # pyright: ignore[reportArgumentType]


def test_only_failures(child: KillableChild) -> None:
    orders = [b"segfault", b"raise", b"exit 1", b"big 9999999"]
    assert _kinds(child.call_many(orders)) == ["died", "error", "died", "output_too_large"]
    assert child.call(b"fine") == b"fine"


def test_the_clock_is_each_record_s_own() -> None:
    with KillableChild("time:sleep") as wrong, pytest.raises(GristmillError):
        wrong.call(b"")
    limits = ChildLimits(max_seconds_per_record=0.5)
    with KillableChild(f"{TARGETS}:slow", limits=limits) as child:
        assert _kinds(child.call_many([b"0.2"] * 6 + [b"30"] + [b"0.2"])) == ["ok"] * 6 + ["timeout", "ok"]


def test_the_clock_waits_for_the_bytes_of_a_record() -> None:
    """A peer that takes a second to read a payload, with half a second for the record itself."""
    requests, answers = os.pipe(), os.pipe()
    payload = bytes(2 << 20)

    def read_slowly() -> None:
        missing = REQUEST.size + len(payload)
        while missing and (chunk := os.read(requests[0], 1 << 16)):
            missing -= len(chunk)
            time.sleep(0.03)
        os.write(answers[1], ANSWER.pack(OK, 2) + b"ok")

    os.set_blocking(requests[1], False)
    peer = threading.Thread(target=read_slowly)
    peer.start()
    running = SimpleNamespace(to_child=requests[1], from_child=answers[0], frames=Frames(100))
    found: list[bytes | ChildFailure] = []
    failure = child_module._exchange(cast(Any, running), [payload], found, ChildLimits(0.5))
    os.close(requests[1])
    peer.join()
    for fd in (requests[0], *answers):
        os.close(fd)
    assert failure is None
    assert found == [b"ok"]


def test_memory_is_not_spent_by_earlier_records(child: KillableChild) -> None:
    assert set(_kinds(child.call_many([b"hog 150000000"] * 20))) == {"ok"}


def test_printing_does_not_break_the_framing(child: KillableChild) -> None:
    assert child.call_many([b"print"] * 300 + [b"x"]) == [b"print"] * 300 + [b"x"]


@pytest.mark.parametrize("size", [1 << 16, 5_000_000, 70_000_000])
def test_big_payloads_both_ways(size: int) -> None:
    payloads = [bytes([i]) * size for i in range(3)]
    with KillableChild(f"{TARGETS}:echo") as child:
        assert child.call_many([memoryview(p) for p in payloads]) == payloads


def test_full_pipes_do_not_deadlock() -> None:
    payloads = [b"%d" % (300_000 + i) for i in range(60)]
    with KillableChild(f"{TARGETS}:grow") as child:
        answers = child.call_many([p + b" " * 300_000 for p in payloads])
    assert [len(a) for a in answers if isinstance(a, bytes)] == [int(p) for p in payloads]


def test_killed_from_outside_costs_nothing_once(child: KillableChild, tmp_path: Path) -> None:
    order = f"kill_once {tmp_path / 'mark'}".encode()
    assert child.call_many([b"a", order, b"b"]) == [b"a", order, b"b"]
    assert (tmp_path / "mark").exists()


def test_killed_while_idle(child: KillableChild) -> None:
    child.call(b"a")
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    assert _await_gone(child.pid)
    assert child.call(b"b") == b"b"


def test_killed_while_at_work_by_another(child: KillableChild) -> None:
    child.call(b"a")
    first = child.pid
    assert first is not None
    killer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
    killer.start()
    assert _kinds(child.call_many([b"b", b"hang", b"c"])) == ["ok", "timeout", "ok"]
    assert child.pid != first


def test_stopped_child_is_a_timeout(child: KillableChild) -> None:
    child.call(b"a")
    assert child.pid is not None
    os.kill(child.pid, signal.SIGSTOP)
    assert _kinds(child.call_many([b"b", b"c"])) == ["timeout", "ok"]


def test_no_zombie_no_orphan(child: KillableChild) -> None:
    pids = {int(str(child.call(b"pid"), "ascii"))}  # pyright: ignore[reportArgumentType]
    for order in (b"segfault", b"hang", b"exit 1"):
        child.call(order)
        pids.add(int(str(child.call(b"pid"), "ascii")))  # pyright: ignore[reportArgumentType]
    child.close()
    child.close()
    assert len(pids) == 4
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_forgotten_child_ends() -> None:
    child = KillableChild(f"{TARGETS}:echo")
    child.call(b"a")
    pid = child.pid
    assert pid is not None
    del child
    assert not Path(f"/proc/{pid}").exists()


_PARENT = f"""
import sys, time
from gristmill.manifests.child import KillableChild
child = KillableChild("{TARGETS}:obey")
print(str(child.call(b"pid"), "ascii"), flush=True)
child.call(b"hang")
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_child_dies_with_its_parent(repo: Path, signum: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT],
        cwd=repo,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert _alive(pid)
        parent.send_signal(signum)
        parent.wait(10)
    assert _await_gone(pid)


def test_sigint_is_left_to_the_parent(child: KillableChild) -> None:
    child.call(b"a")
    pid = child.pid
    assert pid is not None
    os.kill(pid, signal.SIGINT)
    assert child.call(b"b") == b"b"
    assert child.pid == pid


def test_interrupted_call_leaves_no_half_answer(child: KillableChild) -> None:
    child.call(b"a")
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        child.call_many([b"b", b"hang"])
    assert child.pid is None
    assert child.call_many([b"c", b"d"]) == [b"c", b"d"]


def test_secrets_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    with KillableChild(f"{TARGETS}:environment", env={"EXTRA": "1"}) as child:
        assert child.call_many([b"AWS_SECRET_ACCESS_KEY", b"EXTRA", b"PATH"])[:2] == [b"absent", b"1"]


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        ("broken", "ValueError: no such model: x"),
        ("exits", "the reason why"),
        ("absent", "has no attribute 'absent'"),
    ],
)
def test_a_child_that_cannot_start_is_an_error_of_ours(factory: str, told: str) -> None:
    with KillableChild(f"{TARGETS}:{factory}", init=b"x") as child, pytest.raises(GristmillError) as caught:
        child.call(b"a")
    assert told in str(caught.value)
    assert child.pid is None


def test_killed_from_outside_while_it_starts_is_tried_once_more(tmp_path: Path) -> None:
    """And then it is a loss of the machine, after which a run can be resumed; no fault of the program."""
    left = tmp_path / "left"
    left.write_bytes(b"xxx")
    with KillableChild(f"{TARGETS}:killed_at_start", init=str(left).encode()) as child:
        with pytest.raises(EngineLostError, match="resume"):
            child.call(b"a")
        assert child.call(b"b") == b"b"


def test_a_fork_gets_its_own_child(child: KillableChild) -> None:
    ours = child.call(b"pid")
    read, write = os.pipe()
    forked = os.fork()
    if forked == 0:
        answer = child.call(b"pid")
        os.write(write, answer if isinstance(answer, bytes) else b"failed")
        child.close()
        os._exit(0)
    os.close(write)
    theirs = os.read(read, 100)
    os.close(read)
    assert os.waitpid(forked, 0)[1] == 0
    assert theirs.isdigit()
    assert theirs != ours
    assert child.call(b"pid") == ours


def test_threads_share_a_child(child: KillableChild) -> None:
    wrong: list[bytes] = []

    def work(name: bytes) -> None:
        payloads = [name + b"%d" % i for i in range(500)]
        if child.call_many(payloads) != payloads:
            wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_shared_child_is_one() -> None:
    assert shared_child(f"{TARGETS}:echo", b"1") is shared_child(f"{TARGETS}:echo", b"1")
    assert shared_child(f"{TARGETS}:echo", b"2") is not shared_child(f"{TARGETS}:echo", b"1")


@given(bodies=st.lists(st.binary(max_size=40)), cuts=st.lists(st.integers(1, 30), min_size=1))
def test_frames_do_not_depend_on_the_chunks(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(ANSWER.pack(OK, len(b)) + b for b in bodies)
    frames, found, at = Frames(100), list[tuple[int, bytes]](), 0
    for i in range(len(stream)):
        size = cuts[i % len(cuts)]
        if at < len(stream):
            found += frames.feed(stream[at : at + size])
        at += size
    assert found == [(OK, b) for b in bodies]


def test_a_frame_that_announces_too_much_is_refused() -> None:
    with pytest.raises(BrokenFrameError):
        list(Frames(100).feed(ANSWER.pack(OK, 101)))


def test_a_process_with_many_open_files_starts_a_child() -> None:
    """`select` takes descriptors below 1,024 alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip(f"at most {hard} open files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with KillableChild(f"{TARGETS}:echo", b"x") as child:
            assert child.call(b"y") == b"xy"
    finally:
        for fd in opened:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
