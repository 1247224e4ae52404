"""The command line of bubblewrap for one program: what it sees, and as whom it runs.

It sees /usr, the libraries and the interpreter, read-only; /proc and a few devices of its own; and one folder that it
may write to, BOX, in memory and of limited size. No network, no other process, nothing of /home, /etc or the project.
Of the environment it has ENVIRONMENT alone. It runs without any capability, and as nobody: a driver that is root
becomes the real user `nobody` (setpriv; the namespace alone would leave it the machine's root in the eyes of /proc),
any other user appears as nobody in a user namespace.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

BOX = "/tmp"
"""The one folder that a program may write to; it starts there."""
MAIN = "/main"
"""Where its source lies."""
NOBODY = 65534

ENVIRONMENT: Mapping[str, str] = {
    "HOME": BOX,
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    # A pool of threads for each core takes address space that is limited, and its sums differ by their number.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}

_LINKS = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
_FILES = ("/etc/ld.so.cache", "/etc/fonts")


@dataclass(frozen=True)
class Descriptors:
    """Open files that bubblewrap reads or writes: the source, the filter of system calls, what it tells of itself."""

    source: int
    seccomp: int
    status: int


def bubblewrap() -> str | None:
    """The program's path; None where it is not installed."""
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")


@dataclass(frozen=True)
class Form:
    """Of the sandbox: the size of BOX, whether this interpreter's packages can be imported, and whether a driver that
    is root starts it."""

    box_bytes: int
    with_packages: bool
    as_root: bool


def command(bwrap: str, descriptors: Descriptors, form: Form) -> list[str]:
    """The whole command."""
    as_root, with_packages = form.as_root, form.with_packages
    return [
        bwrap,
        *("--unshare-ipc", "--unshare-net", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
        *(() if as_root else ("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))),
        *("--die-with-parent", "--new-session", "--hostname", "box", "--cap-drop", "ALL"),
        *(("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP") if as_root else ()),
        *_mounts(form.box_bytes, with_packages),
        *("--perms", "0444", "--ro-bind-data", str(descriptors.source), MAIN, "--remount-ro", "/", "--chdir", BOX),
        "--clearenv",
        *(word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)),
        *("--seccomp", str(descriptors.seccomp), "--json-status-fd", str(descriptors.status), "--"),
        *(_as_nobody() if as_root else ()),
        *_interpreter(with_packages),
        MAIN,
    ]


def _mounts(box_bytes: int, with_packages: bool) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path in _LINKS:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for path in _FILES:
        yield from ("--ro-bind-try", path, path)
    # What bubblewrap makes for /dev may be written to and has no limit.
    yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
    yield from ("--perms", "1777", "--size", str(box_bytes), "--tmpfs", BOX)
    # Behind BOX, which would hide an interpreter that lies in its place.
    for folder in _prefixes(with_packages):
        # Those that bubblewrap makes itself have the modes of the machine's own, which may shut out nobody.
        for above in reversed(Path(folder).parents[:-1]):
            if str(above) != BOX:
                yield from ("--perms", "0755", "--dir", str(above))
        yield from ("--ro-bind", folder, folder)


def _prefixes(with_packages: bool) -> list[str]:
    """Folders of the interpreter that do not lie in /usr."""
    found = [os.path.realpath(sys.base_prefix), *([sys.prefix] if with_packages else [])]
    return [path for path in dict.fromkeys(found) if not Path(path).is_relative_to("/usr")]


def _interpreter(with_packages: bool) -> list[str]:
    """Python, with no folder on its path but those of the installation."""
    if with_packages:
        return [sys.executable, "-s", "-P", "-B"]
    return [os.path.realpath(sys.executable), "-s", "-S", "-P", "-B"]


def _as_nobody() -> list[str]:
    user = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    return ["/usr/bin/setpriv", *user, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
