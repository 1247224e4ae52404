"""Where the working copy of an output in object storage lies, and which output a working copy is of.

`<scratch>/gristmill-remote-<user>/<URL, quoted>@<8 hex digits of the server's address>`; scratch is what TMPDIR or a
profile says. The folder is the user's alone: a name in a shared folder could be another's trap.
"""

import os
import shutil
import stat
import tempfile
from pathlib import Path
from urllib.parse import quote, unquote

from blake3 import blake3

from gristmill.manifests.errors import UsageError
from gristmill.manifests.remote_access import RemotePlace, endpoint, is_remote, place_of

_ABOVE = "gristmill-remote-"
_MAX_NAME_BYTES = 255


def working_copy(url: str) -> Path:
    """The folder of an output's working copy, made when absent. Raises UsageError on a URL that is none."""
    place = place_of(url)
    name = f"{quote(place.url, safe='')}@{_server()}"
    if len(name) > _MAX_NAME_BYTES:
        raise UsageError("too long for an output", place.url, len(place.url), "choose a shorter prefix")
    return _secured(Path(tempfile.gettempdir()).resolve() / f"{_ABOVE}{os.getuid()}" / name)


def _secured(root: Path) -> Path:
    """A working copy, made when absent, in a folder that is the user's alone."""
    root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = root.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise UsageError("not a folder of yours alone", str(root.parent), None, "remove it, or set TMPDIR")
    root.mkdir(exist_ok=True)
    return root


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
    """Remove a working copy: all that is committed stands in object storage."""
    if root.parent.name.startswith(_ABOVE):
        shutil.rmtree(root, ignore_errors=True)


def _server() -> str:
    return blake3(endpoint().encode()).hexdigest()[:8]
