"""The web domain of the demo corpus: pages of three manuals as WARC files below `web/`.

Hosts are names that never resolve (RFC 2606). What the corpus shows on purpose: pages that recur word
for word at a second host (exact duplicates), pages in languages that the recipe does not keep, index
pages that a quality filter drops, and one WARC that is cut in its last record.
"""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from urllib.parse import quote

from gristmill.manifests.errors import InputError
from gristmill.pipeline.demo_sources import Gathered, Source, regular_files
from gristmill.pipeline.demo_warc import Page, write_cut_warc, write_warcs

_SHARD_RAW_BYTES = 12 << 20
_PYTHON_HOST = "http://docs.example.org/python/"
_MIRROR_HOST = "http://mirror.example.net/python/"
_HANDBOOK_HOST = "http://handbook.example.org/"
_MAXIMA_HOST = "http://maxima.example.org/manual/"
_CUT_HOST = "http://old.example.net/"

# One-page editions and whole-manual indexes: they only repeat the other pages, 9.5 MB of them.
_PAGES_LEFT_OUT = frozenset(("contents.html", "genindex-all.html", "maxima_singlepage.html"))
_MIRRORED = ("howto/", "tutorial/")
_HANDBOOK_KEPT = ("en-US", "fr-FR", "zh-CN")
_HANDBOOK_OTHERS = ("de-DE", "ja-JP")
_HANDBOOK_OTHER_PAGES = 12
_MAXIMA_PAGES = 60
_CUT_PAGES = 12


def gather_web_python(source: Source, folder: Path) -> Gathered:
    """The Python manual, with its `howto/` and `tutorial/` a second time at a mirror."""
    web = _web_folder(folder)
    raw = write_warcs(web, "python-docs", _pages(source.root, _PYTHON_HOST), _SHARD_RAW_BYTES)
    mirrored = [page for part in _MIRRORED for page in _pages(source.root, _MIRROR_HOST, part)]
    raw += write_warcs(web, "python-docs-mirror", mirrored, _SHARD_RAW_BYTES)
    note = (
        f"web: {len(mirrored)} pages of the Python manual appear twice, at {_PYTHON_HOST} and at"
        f" {_MIRROR_HOST} (exact duplicates)"
    )
    return Gathered(_some(raw, source), (note,))


def gather_web_handbook(source: Source, folder: Path) -> Gathered:
    """The Debian handbook in three languages, and a few pages in two that the recipe does not keep."""
    kept = (_pages(source.root, _HANDBOOK_HOST, f"{lang}/") for lang in _HANDBOOK_KEPT)
    others = (
        islice(_pages(source.root, _HANDBOOK_HOST, f"{lang}/"), _HANDBOOK_OTHER_PAGES) for lang in _HANDBOOK_OTHERS
    )
    pages = chain.from_iterable(chain(kept, others))
    raw = write_warcs(_web_folder(folder), "handbook", pages, _SHARD_RAW_BYTES)
    note = (
        f"web: the handbook comes in {', '.join(_HANDBOOK_KEPT)}, and {_HANDBOOK_OTHER_PAGES} pages each in"
        f" {', '.join(_HANDBOOK_OTHERS)}, which the recipe's language filter drops"
    )
    return Gathered(_some(raw, source), (note,))


def gather_web_maxima(source: Source, folder: Path) -> Gathered:
    """The first pages of the Maxima manual; all of it is also the tree `math/html`."""
    pages = list(islice(_pages(source.root, _MAXIMA_HOST), _MAXIMA_PAGES))
    raw = write_warcs(_web_folder(folder), "maxima", pages, _SHARD_RAW_BYTES)
    note = f"web: {len(pages)} pages of the Maxima manual are in math/html too, where math has another normal form"
    return Gathered(_some(raw, source), (note,))


def gather_web_cut(source: Source, folder: Path) -> Gathered:
    """A few pages at another host, in a file whose tail is missing."""
    pages = list(islice(_pages(source.root, _CUT_HOST), _CUT_PAGES))
    _some(len(pages), source)
    path = _web_folder(folder) / "zz-cut.warc.gz"
    raw = write_cut_warc(path, pages)
    note = (
        f"web: web/{path.name} is cut in its last record on purpose: {len(pages) - 1} pages can be read"
        " (duplicates of other pages), the tail is to be quarantined"
    )
    return Gathered(raw, (note,))


def _pages(root: Path, host: str, below: str = "") -> Iterator[Page]:
    for inside, path in regular_files(root / below, (".html",)):
        if inside not in _PAGES_LEFT_OUT:
            yield Page(host + quote(below + inside), path.read_bytes())


def _web_folder(folder: Path) -> Path:
    web = folder / "web"
    web.mkdir(parents=True, exist_ok=True)
    return web


def _some(count: int, source: Source) -> int:
    """`count`, or InputError when it is 0: a part without content is left out, never written empty."""
    if count == 0:
        raise InputError("the package holds no pages", where=source.origin, value=source.root.name)
    return count
