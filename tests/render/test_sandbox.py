"""The sandbox holds, costs one record a program, and refuses where it cannot hold."""

import json
import os
import platform
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from gristmill.manifests.child import ChildFailure
from gristmill.manifests.effects import EFFECTS, effects_of_task, facts_of_effects
from gristmill.manifests.errors import EXIT_USAGE, EngineMissingError, VerifyError
from gristmill.render import sandbox, sandbox_child, sandbox_seccomp
from gristmill.render.sandbox import Program, ProgramLimits, Ran, run_programs, sandbox_state
from gristmill.render.sandbox_bwrap import bubblewrap
from gristmill.render.sandbox_probe import PROBE, faults_of
from tests.render.hostile_programs import HOSTILE, PRELUDE

# One that is there and does not hold is no reason to skip: these tests say where.
ABSENT = not sandbox_state().works and "does not hold" not in sandbox_state().detail
pytestmark = pytest.mark.skipif(ABSENT, reason=f"no sandbox here: {sandbox_state().detail}")

LIMITS = ProgramLimits(
    max_seconds=1.5,
    max_memory_bytes=200 << 20,
    max_address_bytes=1 << 30,
    max_output_bytes=1 << 20,
    max_file_bytes=4 << 20,
    max_box_bytes=16 << 20,
    max_files=500,
    max_threads=64,
)
X86_ALONE = {
    *(
        "a process by clone",
        "ptrace",
        "memory of others",
        "hidden memory",
        "mounts",
        "namespaces",
        "calls of the kernel",
    ),
    *("calls by the numbers of another machine", "calls as a program of 32 bits"),
}
"""Programs that hold numbers of system calls."""


def running() -> list[str]:
    """Command lines of sandboxes that are still there."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if b"--json-status-fd" in line or line.endswith(b"\0/main\0"):
            found.append(line.decode("utf-8", "replace"))
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program(name: str) -> None:
    if name in X86_ALONE and platform.machine() != "x86_64":
        pytest.skip("numbers of x86_64")
    source, kind, told = HOSTILE[name]
    began = time.monotonic()
    answers = run_programs([Program(b"print(1)"), Program((PRELUDE + source).encode()), Program(b"print(2)")], LIMITS)
    assert answers[0] == Ran(0, b"1\n", b"") and answers[2] == Ran(0, b"2\n", b"")
    answer = answers[1]
    if isinstance(answer, ChildFailure):
        assert kind in (answer.kind, "ended badly"), answer
        assert told in answer.detail
    elif kind == "ended badly":
        assert answer.exit_code != 0
    else:
        assert (kind, answer.stdout.decode()) == ("ran", told), answer
        assert len(answer.stderr) <= 4000
    assert time.monotonic() - began < 6
    assert running() == []


def test_one_item_costs_one_record() -> None:
    bad = [PRELUDE + HOSTILE[n][0] for n in ("kills itself", "output flood", "a crash", "endless loop", "memory bomb")]
    programs = [Program(text.encode()) for source in bad for text in (f"print({len(source)})", source)]
    answers = run_programs(programs, LIMITS)
    assert [isinstance(a, ChildFailure) for a in answers] == [False, True] * len(bad)
    assert [a.stdout for a in answers if isinstance(a, Ran)] == [b"%d\n" % len(source) for source in bad]


def test_a_program_has_its_input_and_gives_its_output_and_its_code() -> None:
    source = (
        b"import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])\nprint('e', file=sys.stderr)\nsys.exit(7)"
    )
    body = bytes(range(256)) * 1000
    assert run_programs([Program(source, body), Program(source, b"")], LIMITS) == [
        Ran(7, body[::-1], b"e\n"),
        Ran(7, b"", b"e\n"),
    ]


def test_input_that_nobody_reads() -> None:
    assert run_programs([Program(b"print(1)", bytes(8 << 20))], LIMITS) == [Ran(0, b"1\n", b"")]


def test_what_it_prints_is_believed_by_nobody() -> None:
    lie = sandbox_child.pack({"kind": "ran", "detail": "", "exit_code": 0}, b"all is well", b"")
    source = f"import sys\nsys.stdout.buffer.write({lie!r})\nsys.exit(3)".encode()
    assert run_programs([Program(source), Program(b"print(2)")], LIMITS) == [Ran(3, lie, b""), Ran(0, b"2\n", b"")]


def test_no_program_sees_what_another_left() -> None:
    first = b"open('/tmp/left', 'w').write('x')\nimport os\nprint(os.listdir('/tmp'))"
    assert run_programs([Program(first), Program(b"import os\nprint(os.listdir('/tmp'))")], LIMITS) == [
        Ran(0, b"['left']\n", b""),
        Ran(0, b"[]\n", b""),
    ]


def test_nothing_of_the_driver_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRISTMILL_SECRET", "hunter2")
    source = b"""
import glob, os
seen = [os.environ.get("GRISTMILL_SECRET")]
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        seen.append("hunter2" in open(path).read())
    except OSError:
        pass
print(any(seen), sorted(os.environ))
"""
    # The child of another test was started without the variable.
    limits = ProgramLimits(**{**asdict(LIMITS), "max_files": 501})
    (answer,) = run_programs([Program(source)], limits)
    assert isinstance(answer, Ran)
    assert answer.stdout.startswith(b"False ["), answer
    assert b"GRISTMILL" not in answer.stdout


def test_packages_can_be_had_and_the_project_cannot() -> None:
    project = Path(sandbox.__file__).parent
    source = (
        f"import os, numpy\nprint(numpy.arange(3).sum(), os.path.exists({str(project)!r}))\nimport gristmill.render"
    )
    (answer,) = run_programs([Program(source.encode(), packages=True)], LIMITS)
    assert isinstance(answer, Ran) and answer.stdout == b"3 False\n"
    assert b"ModuleNotFoundError" in answer.stderr
    (without,) = run_programs([Program(b"import numpy")], LIMITS)
    assert isinstance(without, Ran) and b"ModuleNotFoundError" in without.stderr


def test_a_core_file_is_left_nowhere() -> None:
    before = set(os.listdir())
    run_programs([Program(b"import os; os.abort()")], LIMITS)
    assert set(os.listdir()) == before


@pytest.mark.parametrize("as_root", [False, True])
def test_both_forms_of_the_sandbox_hold(as_root: bool) -> None:
    """That of a driver who is root, and that of any other user."""
    if as_root and os.geteuid() != 0:
        pytest.skip("the driver is not root")
    init = json.dumps({**asdict(LIMITS), "bwrap": bubblewrap(), "as_root": as_root})
    answer = sandbox_child.make(init.encode())(sandbox_child.pack({"packages": False}, PROBE, b""))
    head, stdout, stderr = sandbox_child.unpack(answer)
    assert (head["kind"], head["exit_code"], faults_of(0, stdout)) == ("ran", 0, ""), (head, stderr)


def test_failures_are_recorded_and_replayed() -> None:
    programs = [Program(b"print(1)"), Program(b"import time; time.sleep(99)"), Program(b"import os; os.abort()")]
    with effects_of_task(None):
        first = run_programs(programs, LIMITS)
        recorded = facts_of_effects()[EFFECTS]
    assert [fact[1:] for fact in recorded.values()] == [["timeout", "over 1.5 s"], ["died", "killed by SIGABRT"]]
    with effects_of_task(recorded):
        began = time.monotonic()
        assert run_programs(programs, LIMITS) == first
        assert time.monotonic() - began < 1.4, "nobody waits for what the record says"
    with effects_of_task(recorded), pytest.raises(VerifyError, match="other questions"):
        run_programs([programs[0], programs[2], programs[1]], LIMITS)
    with effects_of_task({}), pytest.raises(VerifyError, match="here there is none"):
        run_programs([programs[2]], LIMITS)


@pytest.fixture
def fresh() -> Iterator[None]:
    """The sandbox is tried anew, here and afterwards."""
    sandbox_state.cache_clear()
    yield
    sandbox_state.cache_clear()


def forged(folder: Path, body: str) -> str:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return str(path)


ARGUMENTS = 'for a in "$@"; do shift; case "$a" in {}) ;; *) set -- "$@" "$a" ;; esac; done\nexec {} "$@"'


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (None, "there is no bwrap"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions to create new namespace"),
        ("sleep 99", "timeout"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "the sandbox does not stand"),
        (ARGUMENTS.format("--unshare-pid|--remount-ro|--new-session|/", "{bwrap}"), "the sandbox does not stand"),
        (ARGUMENTS.format("--unshare-pid", "{bwrap}"), "it does not hold: processes"),
    ],
)
def test_where_no_sandbox_works_nothing_runs(
    body: str | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = None if body is None else forged(tmp_path, body.replace("{bwrap}", str(bubblewrap())))
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: path)
    state = sandbox_state()
    assert not state.works and why in state.detail and state.remedy
    ran = tmp_path / "ran"
    with pytest.raises(EngineMissingError) as refused:
        run_programs([Program(f"open({str(ran)!r}, 'w')".encode())])
    assert refused.value.exit_code == EXIT_USAGE and refused.value.remedy
    assert not ran.exists()


@pytest.mark.usefixtures("fresh")
def test_an_unknown_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sandbox_seccomp.filter_bytes("sparc64") is None
    assert sandbox_seccomp.filter_bytes("aarch64") != sandbox_seccomp.filter_bytes("x86_64")
    monkeypatch.setattr(platform, "machine", lambda: "sparc64")
    assert not sandbox_state().works


def test_frames_come_back() -> None:
    for bodies in ((b"", b""), (b"a\0{}", bytes(range(256)))):
        assert sandbox_child.unpack(sandbox_child.pack({"x": "é"}, *bodies)) == ({"x": "é"}, *bodies)
