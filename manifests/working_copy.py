"""Where the working copy of an output in object storage lies, and which output a working copy is of.

`<scratch>/gristmill-remote-<user>/<URL, quoted>@<8 hex digits of the server's address>`; scratch is what TMPDIR or a
profile says. The folder is the user's alone: a name in a shared folder could be another's trap.

A process that has opened a working copy holds a shared lock (`flock`) on its folder until it ends. A copy that
nobody has opened for a day and nobody holds is removed by whoever opens one next: on the machines of a cluster
nobody else would.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from blake3 import blake3

from gristmill.manifests.errors import UsageError
from gristmill.manifests.remote_access import RemotePlace, endpoint, is_remote, place_of

KEPT_S = 86_400.0
"""How long a working copy stays that nobody opens."""
_ABOVE = "gristmill-remote-"
_MAX_NAME_BYTES = 255
_held: dict[Path, int] = {}
"""Working copy -> the folder, opened and locked; forked processes share it, and the lock with it."""


def working_copy(url: str) -> Path:
    """The folder of an output's working copy, made when absent. Raises UsageError on a URL that is none."""
    place = place_of(url)
    name = f"{quote(place.url, safe='')}@{_server()}"
    if len(name) > _MAX_NAME_BYTES:
        raise UsageError("too long for an output", place.url, len(place.url), "choose a shorter prefix")
    return _secured(Path(tempfile.gettempdir()).resolve() / f"{_ABOVE}{os.getuid()}" / name)


def _secured(root: Path) -> Path:
    """A working copy, made when absent, in a folder that is the user's alone; held from here on."""
    root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = root.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise UsageError("not a folder of yours alone", str(root.parent), None, "remove it, or set TMPDIR")
    if not _is_held(root):
        _hold(root)
        _sweep(root.parent)
    with suppress(OSError):
        os.utime(root)
    return root


def _hold(root: Path) -> None:
    """Open and lock a working copy: the one that stands there then, not one that was removed meanwhile."""
    while not _is_held(root):
        if root in _held:
            os.close(_held.pop(root))
        root.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            _held[root] = _opened(root)
            fcntl.flock(_held[root], fcntl.LOCK_SH)


def _is_held(root: Path) -> bool:
    return root in _held and _stands(root, _held[root])


def _opened(root: Path) -> int:
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _stands(root: Path, fd: int) -> bool:
    """Whether an opened folder is the one of that name."""
    try:
        return os.path.samestat(root.lstat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def _is_alone(root: Path, fd: int) -> bool:
    """Whether no other process holds the folder; then none can until the file descriptor is closed."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return _stands(root, fd)


def _sweep(above: Path) -> None:
    """Remove working copies that nobody has opened for long and nobody holds."""
    with suppress(OSError):
        for root in list(above.iterdir()):
            if root not in _held and time.time() - root.lstat().st_mtime > KEPT_S:
                _remove_old(root)


def _remove_old(root: Path) -> None:
    try:
        fd = _opened(root)
    except OSError:
        return
    try:
        if _is_alone(root, fd) and time.time() - os.fstat(fd).st_mtime > KEPT_S:
            shutil.rmtree(root, ignore_errors=True)
    finally:
        os.close(fd)


def output_of(root: Path) -> RemotePlace | None:
    """The output that a working copy is of, which is made when it is not on this machine; None for any other folder.

    Raises UsageError where AWS_ENDPOINT_URL does not name the server that it is of.
    """
    url, _, server = root.name.rpartition("@")
    url = unquote(url)
    if not root.parent.name.startswith(_ABOVE) or not is_remote(url):
        return None
    if server != _server():
        remedy = "set it on every machine as it is set where the run was started"
        raise UsageError("AWS_ENDPOINT_URL names another server than the run's", url, None, remedy)
    _secured(root)
    return place_of(url)


def remove_working_copy(root: Path) -> None:
    """Remove what a working copy holds: all that is committed stands in object storage. The folder goes, too, where no
    other process holds it. To be called under the output's lock, else they may be the files of another run by now."""
    if not root.parent.name.startswith(_ABOVE) or not root.is_dir():
        return
    _hold(root)
    for path in list(root.iterdir()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    with suppress(OSError):
        if _is_alone(root, _held[root]):
            root.rmdir()
    os.close(_held.pop(root))


def _server() -> str:
    return blake3(endpoint().encode()).hexdigest()[:8]
