"""Good and bad documents for the demo's classifiers, of what `gristmill demo-data` gathered and packages carry.

Labels come from what a classifier does not see: the share of a page's characters that stand inside links (pages that
mostly link are indexes), the place of a text on its page (side bars), the file that it is in, who sent a mail. `label`
yields `Sample`s of one domain; `source` is what the split goes by, so it names the smallest thing that writes alike: a
section of a manual, a package, a sender.
"""

import functools
import gzip
import re
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import document_batch
from gristmill.pipeline import demo_mail
from gristmill.pipeline.classifier.inputs import read_rows
from gristmill.stages.chain import run_chain
from gristmill.stages.text.extract_html import ExtractHtml

MIN_GOOD_CHARS = 600
PROSE_LINK_FRAC = 0.25
INDEX_LINK_FRAC = 0.5
"""Measured over the 1,423 pages of the demo: 80 % lie below 0.2, indexes above 0.5, few between."""

MAX_PAGE_BYTES = 400_000
MAX_PAGES = 500
"""Extraction is most of the time; which pages are seen is drawn by content."""
_REPEATED_HOSTS = ("mirror.example.net", "old.example.net")
_CHANGELOGS = "python-doc/root/usr/share/doc/python3.*/html/whatsnew/changelog.html.gz"
_RELEASE = re.compile(r'<section id="(python-[\w-]+)">')
_MAX_CHANGELOG_BYTES = 32 << 20
_LINKS = r"(?s)<a\b[^>]*>.*?</a>"
_TAGS = r"(?s)<[^>]*>"
_GENERATED = re.compile(rb"(?i)generated (?:by|from|on|automatically)|do not edit|auto-?generated|gencodec")
_GENERATED_HEAD_BYTES = 1500
_DATA_MODULES = (
    *("phonenumbers/data/*.py", "phonenumbers/carrierdata/*.py", "phonenumbers/tzdata/*.py", "pygments/lexers/_*.py"),
    *("matplotlib/_cm*.py", "matplotlib/_color_data.py", "fontTools/unicodedata/[A-Z]*.py", "rich/_emoji_codes.py"),
    *("rich/_unicode_data/*.py", "fontTools/encodings/*.py", "fontTools/agl.py", "pygments/unistring.py"),
)
_HAND_WRITTEN = ("rich/*.py", "pygments/lexers/[a-z]*.py", "fsspec/**/*.py", "matplotlib/*.py", "fontTools/ttLib/*.py")
_HAND_WRITTEN_EXCEPT = frozenset(("_cm.py", "_cm_listed.py", "_color_data.py", "_emoji_codes.py"))
_CODE_SUFFIXES = frozenset(
    (
        "py",
        "c",
        "cc",
        "cpp",
        "cxx",
        "h",
        "hpp",
        "i",
        "java",
        "js",
        "go",
        "rb",
        "php",
        "pl",
        "pm",
        "lua",
        "d",
        "cs",
        "m",
        "ml",
        "r",
        "tcl",
        "scm",
    )
)
_MAIL_DOCS = 500


@dataclass(frozen=True)
class Sample:
    """A labelled document: its text, whose it is, a path that tells it from others."""

    text: str
    good: bool
    kind: str
    source: str
    path: str


@dataclass(frozen=True)
class Page:
    """A page of the demo: URL or path, its HTML, the text of its main content, the share of that within links."""

    where: str
    html: str
    text: str
    link_frac: float

    @property
    def path(self) -> str:
        """`where` without scheme and host."""
        return urlsplit(self.where).path.strip("/")

    @property
    def section(self) -> str:
        """The folder that it stands in; a single page of a manual without folders."""
        parts = self.path.split("/")
        return "/".join(parts[:-1]) if len(parts) > 2 else "/".join(parts)


@dataclass
class Gatherer:
    """Where documents come from, what was read of it already, and, in `left_out`, what could not be had."""

    demo: Path
    cache: Path
    left_out: list[str]

    @functools.cached_property
    def web_pages(self) -> list[Page]:
        """Pages of the web domain: several domains use them."""
        return list(_pages(self.demo / "web", "warc"))

    @functools.cached_property
    def mail(self) -> list[Sample]:
        """Spam and wanted mail: several domains use them."""
        return list(_mails(self))


def label(domain: str, gatherer: Gatherer) -> Iterator[Sample]:
    """The labelled documents of a domain (web, code, math, knowledge)."""
    return _DOMAINS[domain](gatherer)


def _web(g: Gatherer) -> Iterator[Sample]:
    for page in g.web_pages:
        yield from _page_samples(page)
        side_bar = _side_bar(page.html)
        if side_bar:
            yield Sample(side_bar, False, "side-bars", page.section, page.path)
    yield from _mail_samples(g, good=True)


def _math(g: Gatherer) -> Iterator[Sample]:
    for page in _pages(g.demo / "math/html", "html"):
        yield from _page_samples(page)
    for page in g.web_pages:
        if page.link_frac > INDEX_LINK_FRAC:
            yield Sample(page.text, False, "indexes", page.section, page.path)
    yield from _mail_samples(g, good=False)


def _knowledge(g: Gatherer) -> Iterator[Sample]:
    for text, path in _texts(g.demo / "knowledge"):
        good = len(text) >= MIN_GOOD_CHARS and "toctree::" not in text
        if good:
            yield Sample(text, True, "manual", "/".join(path.split("/")[:2]), path)
        elif "toctree::" in text:
            yield Sample(text, False, "contents", path, path)
    for page in g.web_pages:
        if "/en-US/" in page.where or page.link_frac > INDEX_LINK_FRAC:
            yield from _page_samples(page)
    for text, release in _changelogs(g.cache):
        yield Sample(text, False, "changelogs", release, release)
    for text, package in _file_lists():
        yield Sample(text, False, "file-lists", package, package)
    yield from _mail_samples(g, good=True)


def _code(g: Gatherer) -> Iterator[Sample]:
    for path in sorted((g.demo / "code").rglob("*")):
        if path.suffix[1:] not in _CODE_SUFFIXES or not path.is_file() or path.is_symlink():
            continue
        inside = path.relative_to(g.demo / "code").as_posix()
        content = path.read_bytes()
        data = bool(_GENERATED.search(content[:_GENERATED_HEAD_BYTES])) or "pydoc_data/" in inside
        source = inside if data or inside.count("/") < 2 else inside.rpartition("/")[0]
        yield Sample(_decoded(content), not data, "generated" if data else "hand-written", source, inside)
    packages = Path(sysconfig.get_path("purelib"))
    for pattern in _DATA_MODULES:
        for path in sorted(packages.glob(pattern)):
            inside = path.relative_to(packages).as_posix()
            yield Sample(_decoded(path.read_bytes()), False, "tables", inside, inside)
    for pattern in _HAND_WRITTEN:
        for path in sorted(packages.glob(pattern)):
            inside = path.relative_to(packages).as_posix()
            if path.name not in _HAND_WRITTEN_EXCEPT:
                yield Sample(_decoded(path.read_bytes()), True, "packages", inside, inside)


_DOMAINS: Mapping[str, Callable[[Gatherer], Iterator[Sample]]] = {
    "web": _web,
    "code": _code,
    "math": _math,
    "knowledge": _knowledge,
}
DOMAINS = tuple(_DOMAINS)


def _page_samples(page: Page) -> Iterator[Sample]:
    """Prose, or an index; nothing for a page that is neither."""
    if page.link_frac > INDEX_LINK_FRAC:
        yield Sample(page.text, False, "indexes", page.section, page.path)
    elif page.link_frac < PROSE_LINK_FRAC and len(page.text) >= MIN_GOOD_CHARS:
        yield Sample(page.text, True, "prose", page.section, page.path)


def _pages(folder: Path, kind: str) -> Iterator[Page]:
    """Pages with some text, but for those that the demo repeats on purpose."""
    for kept in _drawn(list(read_rows(str(folder), kind))):
        htmls = kept.column("text").to_pylist()
        extracted = run_chain([ExtractHtml()], kept)
        texts = dict(zip(extracted.kept_rows.tolist(), extracted.kept.column("text").to_pylist(), strict=True))
        for row, frac in enumerate(link_fractions(htmls)):
            where = kept.column("url")[row].as_py() or _path_of(kept.column("meta")[row].as_py())
            if row in texts:
                yield Page(where, htmls[row], texts[row], frac)


def _drawn(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """At most MAX_PAGES of the rows, those of the smallest content hashes, no page twice."""
    table = pa.Table.from_batches(batches, batches[0].schema) if batches else None
    if table is None:
        return []
    hosts = [urlsplit(url).netloc if url else "" for url in table.column("url").to_pylist()]
    sizes = pc.binary_length(table.column("text")).to_pylist()
    hashes = table.column("content_hash").to_pylist()
    able = [r for r in range(len(hosts)) if hosts[r] not in _REPEATED_HOSTS and sizes[r] <= MAX_PAGE_BYTES]
    ranked = sorted(able, key=lambda row: hashes[row])
    return table.take(pa.array(ranked[:MAX_PAGES])).to_batches(max_chunksize=256)


def link_fractions(htmls: list[str]) -> list[float]:
    """For each page the share of the characters of its main content that stand inside links, white space aside."""
    mains = pa.array([_main(html) for html in htmls], pa.large_string())
    total = _visible_chars(mains)
    outside = _visible_chars(pc.replace_substring_regex(mains, _LINKS, ""))
    return [(t - o) / max(t, 1) for t, o in zip(total, outside, strict=True)]


def _visible_chars(htmls: pa.Array) -> list[int]:
    bare = pc.replace_substring_regex(htmls, _TAGS, "")
    return pc.utf8_length(pc.replace_substring_regex(bare, r"\s+", "")).to_pylist()


def _main(html: str) -> str:
    start, end = html.find('role="main"'), html.find('class="sphinxsidebar"')
    return html if start < 0 else html[start : end if end > start else len(html)]


def _side_bar(html: str) -> str:
    """The text of a Sphinx page behind its main content: contents, previous, next, this page, footer."""
    start = html.find('class="sphinxsidebar"')
    if start < 0:
        return ""
    bare = pc.replace_substring_regex(pa.array([html[html.index(">", start) + 1 :]], pa.large_string()), _TAGS, "\n")
    return "\n".join(line for line in bare[0].as_py().split("\n") if line.strip())


def _path_of(meta: str | None) -> str:
    import orjson

    fields = orjson.loads(meta or "{}").values()
    return next((str(inner["path"]) for inner in fields if isinstance(inner, dict) and "path" in inner), "")


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """(text, path) of the knowledge domain's files."""
    for pattern in ("text/**/*.txt", "*.jsonl.zst", "*.parquet"):
        if any(folder.glob(pattern)):
            for batch in read_rows(f"{folder}/{pattern}", None):
                names = batch.column("url").to_pylist()
                for row, text in enumerate(batch.column("text").to_pylist()):
                    path = urlsplit(names[row]).path.strip("/") if names[row] else ""
                    yield text, path or _path_of(batch.column("meta")[row].as_py())


def _changelogs(cache: Path) -> Iterator[tuple[str, str]]:
    """The changes of each release of Python, which the demo's pages leave out; none where the package is not kept."""
    for path in sorted(cache.glob(_CHANGELOGS)):
        with gzip.open(path) as file:
            html = _decoded(file.read(_MAX_CHANGELOG_BYTES))
        pieces = _RELEASE.split(html)
        texts = pc.replace_substring_regex(pa.array(pieces[2::2], pa.large_string()), _TAGS, "")
        yield from zip(texts.to_pylist(), pieces[1::2], strict=True)


def _file_lists() -> Iterator[tuple[str, str]]:
    """The list of installed files of each package: names alone, since hashes would make it too easy."""
    for record in sorted(Path(sysconfig.get_path("purelib")).glob("*.dist-info/RECORD")):
        lines = [line.split(",")[0] for line in record.read_text("utf-8", "replace").splitlines()]
        yield "\n".join(lines), record.parent.name


def _mail_samples(g: Gatherer, good: bool) -> Iterator[Sample]:
    """Spam, and wanted mail where it is an example of good prose."""
    yield from (sample for sample in g.mail if good or not sample.good)


def _mails(g: Gatherer) -> Iterator[Sample]:
    """_MAIL_DOCS of spam, then of wanted mail; nothing where the package cannot be had."""
    for folders, wanted in ((demo_mail.SPAM, False), (demo_mail.WANTED, True)):
        try:
            found = list(islice(demo_mail.mails(g.cache, folders), _MAIL_DOCS))
        except InputError as error:
            g.left_out.append(f"mail: {error}")
            return
        texts = _without_markup([mail.text for mail in found])
        for mail, text in zip(found, texts, strict=True):
            if text:
                yield Sample(text, wanted, "mail" if wanted else "spam", mail.sender, mail.name)


def _without_markup(texts: list[str]) -> list[str]:
    result = run_chain([ExtractHtml()], document_batch({"text": pa.array(texts, pa.large_string())}))
    found = dict(zip(result.kept_rows.tolist(), result.kept.column("text").to_pylist(), strict=True))
    return [found.get(row, "") for row in range(len(texts))]


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")
