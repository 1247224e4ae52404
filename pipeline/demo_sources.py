"""What the demo corpus is made from: the table of packages, and the shapes that its parts share.

Nothing here fetches or writes. A `Package` names what to look for in the distribution and the licence of
what is taken from it; a `Source` is such a package (or the running interpreter) once it lies unpacked on
disk; a `Part` turns one source into files of one domain below the output folder. Licences are SPDX
expressions (https://spdx.org/licenses) and hold for the files that are taken, not for the packaging.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PYTHON_MINORS = (sys.version_info.minor, 11, 13, 12, 14, 10, 9)


@dataclass(frozen=True)
class Package:
    """A package of the distribution: `names` are tried in order, `root_glob` finds its content."""

    key: str
    names: tuple[str, ...]
    licence: str
    root_glob: str


@dataclass(frozen=True)
class Source:
    """A package on disk: content below `root`; `notice` is the file with its copyright, if there is one."""

    root: Path
    package: str
    version: str
    licence: str
    notice: Path | None

    @property
    def origin(self) -> str:
        """Package and version, as the manifests give it."""
        return f"{self.package} {self.version}"


@dataclass(frozen=True)
class Gathered:
    """What a part wrote: bytes of text or markup before any compression, and remarks for the report."""

    raw_bytes: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """One piece of the demo corpus.

    All files of the part, and no other files, have paths that begin with `prefix`. `packages` are
    alternatives, the first to be had is taken; none means the running interpreter. `gather(source,
    folder)` writes below `folder` with the paths that the files have below the output folder; its bytes
    depend on the source alone.
    """

    name: str
    domain: str
    prefix: str
    packages: tuple[Package, ...]
    gather: Callable[[Source, Path], Gathered]


PYTHON_DOC = Package(
    key="python-doc",
    names=tuple(dict.fromkeys(f"python3.{minor}-doc" for minor in _PYTHON_MINORS)),
    licence="PSF-2.0",
    root_glob="usr/share/doc/python3.*/html",
)
DEBIAN_HANDBOOK = Package(
    key="debian-handbook",
    names=("debian-handbook",),
    licence="GPL-2.0-or-later OR CC-BY-SA-3.0",
    root_glob="usr/share/doc/debian-handbook/html",
)
MAXIMA_DOC = Package(
    key="maxima-doc",
    names=("maxima-doc",),
    licence="GPL-2.0-only",
    root_glob="usr/share/doc/maxima-doc/html",
)
METAMATH = Package(
    key="metamath-databases",
    names=("metamath-databases",),
    licence="CC0-1.0",
    root_glob="usr/share/metamath/databases",
)
# SWIG itself is GPL-3; its Examples folder may be copied "without restriction" (the package's copyright
# file), for which SPDX has no identifier. About twenty languages, and many files that recur word for word.
SWIG_EXAMPLES = Package(
    key="swig-examples",
    names=("swig4.0-examples", "swig-examples"),
    licence="LicenseRef-SWIG-Examples",
    root_glob="usr/share/doc/swig*-examples/Examples",
)

PYTHON_LICENCE = "PSF-2.0"


def regular_files(root: Path, suffixes: tuple[str, ...] = ("",)) -> Iterator[tuple[str, Path]]:
    """(path below `root` with slashes, file) of each regular file, in the order of those paths' characters.

    Links are neither followed nor yielded; a name that is not printable UTF-8 is passed over.
    """
    found: list[tuple[str, Path]] = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            inside = path.relative_to(root).as_posix()
            if name.endswith(suffixes) and inside.isprintable() and path.is_file() and not path.is_symlink():
                found.append((inside, path))
    yield from sorted(found)
