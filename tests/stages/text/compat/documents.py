"""Real documents of this machine, the same ones at each call: what agreement with datatrove is measured on.

Pages, manuals, readme files, sources and docstrings of installed packages, and the gathered demo inputs where they are
there. Long ones are cut at blank lines, if whole ones are not asked for. Each source gives at most so many, and content
decides the order.
"""

import ast
import functools
import hashlib
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

REPO = Path(__file__).parents[4]
MIN_CHARS, MAX_CHARS = 150, 4000
MIN_WHOLE_CHARS, MAX_WHOLE_CHARS = 2000, 30_000
_MAX_FILE_BYTES = 400_000
_PROSE = (".html", ".md", ".rst", ".txt", ".pod")
_SUFFIXES = (".html", ".md", ".rst", ".txt", ".py", ".pod", ".mm", ".tex", ".java", ".rb", ".lua")


def _roots(everywhere: bool) -> list[Path]:
    stdlib = Path(sysconfig.get_path("stdlib"))
    demo = [REPO / "demo" / "input" / name for name in ("web", "knowledge", "math", "code")]
    shared = [REPO.parent / "shared" / "data" / name for name in ("web", "books", "math")]
    if not everywhere:
        return [*demo, *shared, stdlib]
    packages = Path(sysconfig.get_path("purelib"))
    rust = sorted((Path.home() / ".rustup" / "toolchains").glob("*/share/doc/rust/html"))
    return [*demo, *shared, stdlib, packages, Path("/usr/share/doc"), Path("/usr/share/perl"), *rust[:1]]


def _page(raw: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(raw.decode("utf-8", "replace"), main_content=True, alt_texts=False)


def _docstrings(source: str) -> str:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return "\n\n".join(doc for node in nodes if isinstance(node, kinds) and (doc := ast.get_docstring(node)))


def _texts(path: Path, prose: bool) -> Iterator[str]:
    if prose and path.suffix not in (*_PROSE, ".py"):
        return
    raw = path.read_bytes()
    if path.suffix == ".html":
        yield _page(raw)
        return
    text = raw.decode("utf-8", "replace")
    if path.suffix != ".py" or not prose:
        yield text
    if path.suffix == ".py":
        yield _docstrings(text)


def _pieces(text: str) -> Iterator[str]:
    """Runs of paragraphs of MIN_CHARS to MAX_CHARS characters; how long a piece gets, its first paragraph decides."""
    piece = ""
    for paragraph in text.split("\n\n"):
        wanted = MIN_CHARS + int.from_bytes(hashlib.blake2b(piece[:200].encode(), digest_size=2).digest()) % MAX_CHARS
        if len(piece) >= wanted:
            yield piece
            piece = ""
        piece = f"{piece}\n\n{paragraph}" if piece else paragraph
        if len(piece) > 2 * MAX_CHARS:
            yield piece[: 2 * MAX_CHARS]
            piece = ""
    if len(piece) >= MIN_CHARS:
        yield piece


def _whole(text: str) -> Iterator[str]:
    """The text, if it is long enough and not too long."""
    if MIN_WHOLE_CHARS <= len(text) <= MAX_WHOLE_CHARS:
        yield text


def _of_root(root: Path, prose: bool, whole: bool) -> Iterator[str]:
    paths = [p for p in root.rglob("*") if p.suffix in _SUFFIXES and p.is_file() and not p.is_symlink()]
    key = {p: hashlib.blake2b(str(p.relative_to(root)).encode("utf-8", "replace")).digest() for p in paths}
    for path in sorted(paths, key=lambda p: key[p]):
        if path.stat().st_size <= _MAX_FILE_BYTES:
            for text in _texts(path, prose):
                yield from _whole(text) if whole else islice(_pieces(text), 12)


@functools.lru_cache(maxsize=4)
def documents(count: int, everywhere: bool = False, prose: bool = False, whole: bool = False) -> tuple[str, ...]:
    """At most `count` different documents; `everywhere`: also from what the machine has installed besides Python;
    `prose`: no sources of programs; `whole`: uncut, those of MIN_WHOLE_CHARS to MAX_WHOLE_CHARS."""
    found: dict[bytes, str] = {}
    roots = [root for root in _roots(everywhere) if root.is_dir()]
    for root in roots:
        for text in islice(_of_root(root, prose, whole), 2 * count // max(len(roots), 1) + 1):
            clean = text.encode("utf-8", "replace").decode()
            found[hashlib.blake2b(clean.encode(), digest_size=16).digest()] = clean
    return tuple(found[digest] for digest in sorted(found))[:count]
