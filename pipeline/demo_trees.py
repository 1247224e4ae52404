"""The code, math and knowledge domains of the demo corpus: trees of files, JSON lines and Parquet.

`code/<repository>/...` source trees; `math/html/...` the Maxima manual; `math/metamath/set-NN.txt` the
first megabytes of set.mm, cut between statements; `knowledge/text/...`, `knowledge/*.jsonl.zst` and
`knowledge/*.parquet` the plain-text sources of the Python manual, columns `id`, `text`, `url`, `license`.
"""

import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

from gristmill.manifests.errors import InputError
from gristmill.pipeline.demo_sources import Gathered, Source, regular_files

_MAX_FILE_BYTES = 4 << 20
_STDLIB_MAX_BYTES = 15 << 20
# Third-party code, compiled files, and tests: the tests alone are 17 MB, more than all they test.
_STDLIB_LEFT_OUT = frozenset(("site-packages", "dist-packages", "__pycache__", "test", "tests", "idle_test"))
_BUILD_PATHS_PREFIX = "_sysconfigdata"
_SET_MM_SLICES = 8
_SET_MM_SLICE_BYTES = 512 << 10
_MARKUP = re.compile(rb"(?<!\S)\$[(){}.acdefpv](?!\S)[ \t]*\n?")
_KNOWLEDGE_HOST = "http://docs.example.org/python/_sources/"
_KNOWLEDGE_SUFFIX = ".rst.txt"
_ZSTD_LEVEL = 9
_ZSTD_FRAME_BYTES = 1 << 20


class Article(TypedDict):
    """A row of the JSON lines and Parquet files."""

    id: str
    text: str
    url: str
    license: str


def gather_code_cpython(source: Source, folder: Path) -> Gathered:
    """The modules of the running interpreter's standard library, without tests and installed packages."""
    raw, passed_over = 0, 0
    for inside, path in regular_files(source.root, (".py",)):
        parts = inside.split("/")
        if _STDLIB_LEFT_OUT.intersection(parts[:-1]) or parts[-1].startswith(_BUILD_PATHS_PREFIX):
            continue
        size = path.stat().st_size
        if raw + size > _STDLIB_MAX_BYTES:
            passed_over += 1
            continue
        raw += _write(folder / "code/cpython" / inside, path.read_bytes())
    notes = (f"code: {passed_over} modules left out of code/cpython, over its limit",) if passed_over else ()
    return Gathered(_some(raw, source), notes)


def gather_code_swig(source: Source, folder: Path) -> Gathered:
    """SWIG's examples and tests in all its languages; the distribution's `.gz` files are unpacked."""
    raw = 0
    for inside, path in regular_files(source.root):
        content = _unpacked(path)
        if len(content) <= _MAX_FILE_BYTES and b"\0" not in content:
            raw += _write(folder / "code/swig-examples" / inside.removesuffix(".gz"), content)
    note = "code: many files of code/swig-examples are the same in several languages (exact duplicates)"
    return Gathered(_some(raw, source), (note,))


def gather_math_html(source: Source, folder: Path) -> Gathered:
    """The Maxima manual without its one-page edition."""
    raw = 0
    for inside, path in regular_files(source.root, (".html",)):
        if inside != "maxima_singlepage.html":
            raw += _write(folder / "math/html" / inside, path.read_bytes())
    return Gathered(_some(raw, source))


def gather_math_metamath(source: Source, folder: Path) -> Gathered:
    """The first slices of set.mm, each a text file of whole statements."""
    with (source.root / "set.mm").open("rb") as file:
        start = file.read((_SET_MM_SLICES + 1) * _SET_MM_SLICE_BYTES)
    slices = metamath_slices(start, _SET_MM_SLICE_BYTES)[:_SET_MM_SLICES]
    for number, content in enumerate(slices):
        _write(folder / f"math/metamath/set-{number:02d}.txt", content)
    return Gathered(_some(sum(map(len, slices)), source))


def metamath_slices(database: bytes, slice_bytes: int) -> list[bytes]:
    """Consecutive slices of a Metamath database (Megill and Wheeler, Metamath, 2019, section 4.1).

    Each ends with the first statement or outermost block that reaches `slice_bytes`; what follows the
    last such end, perhaps half a statement, belongs to no slice.
    """
    slices: list[bytes] = []
    start = 0
    for end in _statement_ends(database):
        if end - start >= slice_bytes:
            slices.append(database[start:end])
            start = end
    return slices


def gather_knowledge(source: Source, folder: Path) -> Gathered:
    """The manual's reStructuredText: the library as JSON lines, its history as Parquet, the rest as files."""
    raw = 0
    chapters: dict[str, list[Article]] = {"library": [], "whatsnew": []}
    for inside, path in regular_files(source.root / "_sources", (_KNOWLEDGE_SUFFIX,)):
        content = path.read_bytes()
        chapter = chapters.get(inside.split("/")[0])
        if chapter is None:
            _write(folder / "knowledge/text" / inside, content)
        else:
            chapter.append(_article(inside, content, source.licence))
        raw += len(content)
    _some(raw, source)
    _write(folder / "knowledge/python-library.jsonl.zst", _jsonl_zst(chapters["library"]))
    _write(folder / "knowledge/python-whatsnew.parquet", _parquet(chapters["whatsnew"]))
    note = "knowledge: the sources of pages that the web domain holds as HTML (near, not exact, duplicates)"
    return Gathered(raw, (note,))


def _statement_ends(database: bytes) -> Iterator[int]:
    """Offsets just after each statement or block that stands in no block and no comment."""
    depth, in_comment = 0, False
    for match in _MARKUP.finditer(database):
        word = database[match.start() + 1 : match.start() + 2]
        if in_comment:
            in_comment = word != b")"
            continue
        in_comment = word == b"("
        depth += (word == b"{") - (word == b"}")
        if depth == 0 and word in (b".", b"}"):
            yield match.end()


def _article(inside: str, content: bytes, licence: str) -> Article:
    return {
        "id": f"python/{inside.removesuffix(_KNOWLEDGE_SUFFIX)}",
        "text": content.decode("utf-8", "replace"),
        "url": _KNOWLEDGE_HOST + quote(inside),
        "license": licence,
    }


def _jsonl_zst(articles: list[Article]) -> bytes:
    """JSON lines in several zstd frames, as appending writers leave them."""
    import zstandard  # loaded here: `import gristmill.pipeline` stays light

    compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
    frames: list[bytes] = []
    pending = b""
    for article in articles:
        pending += json.dumps(article, ensure_ascii=False).encode("utf-8") + b"\n"
        if len(pending) >= _ZSTD_FRAME_BYTES:
            frames.append(compressor.compress(pending))
            pending = b""
    return b"".join([*frames, compressor.compress(pending)])


def _parquet(articles: list[Article]) -> bytes:
    import pyarrow as pa  # loaded here: `import gristmill.pipeline` stays light
    import pyarrow.parquet as pq

    text = pa.large_string()
    schema = pa.schema({"id": pa.string(), "text": text, "url": pa.string(), "license": pa.string()})
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(articles), schema=schema), sink, compression="zstd")
    return sink.getvalue()


def _unpacked(path: Path) -> bytes:
    """The file's bytes, decompressed where its name ends in .gz; at most one byte over _MAX_FILE_BYTES."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES + 1)
    except (OSError, EOFError) as error:
        raise InputError("cannot be read", where=str(path), value=error, remedy="call with --refresh") from error


def _write(path: Path, content: bytes) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return len(content)


def _some(raw_bytes: int, source: Source) -> int:
    """`raw_bytes`, or InputError when it is 0: a part without content is left out, never written empty."""
    if raw_bytes == 0:
        raise InputError("the package holds no such files", where=source.origin, value=source.root.name)
    return raw_bytes
