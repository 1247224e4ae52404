"""Block and allow lists over `url`: domains, whole addresses, words. No list is packaged; each is a file of its user.

Columns in: `url`. A list is a text file (UTF-8, `.gz` is fine), one entry a line, `#` begins a comment line. Measures,
0 or 1 but for `soft_words`; all 0 for a row whose URL is missing or names no host, or that an allow list names:

| reason | measure | the URL |
|---|---|---|
| domain | blocked_domain | its host, or a domain above it, is in `block_domains` |
| url | blocked_url | is in `block_urls`, scheme, fragment, credentials, port 80 or 443 and "www." apart |
| hard_blacklisted | banned_word | has a word of `banned_words` |
| soft_blacklisted | soft_words | has `soft_word_threshold` distinct words of `soft_words` or more |
| blacklisted_subword | banned_subword | holds an entry of `banned_subwords`, all but letters and digits taken out |

Reasons bear datatrove's names and their order is its. Deliberate differences from it: a domain is looked up with every
domain above it, without a list of public suffixes, so `b.example.org` blocks `a.b.example.org`, too (there only the
registered domain and the very host are looked up), and an entry `org` blocks all of it; words are found in any case
(capitals in a URL hid them) and in every script, percent-encoded or as punycode; an entry of several words wants them
one after the other; allow lists win; a missing URL is kept (there it fails). Lists are read in place, by each process
for itself: nothing is unpacked or shared (datatrove#140, #155).

Hosts are compared in lower case, without a dot at the end, in the letters that punycode stands for; what browsers
overlook in an address (tabs, line ends, backslashes for slashes, credentials, a port) is overlooked here.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Floats, Rule
from gristmill.stages.text.bad_words import Versions, read_list, versions_of
from gristmill.stages.text.characters import in_form

MAX_URL_CHARS = 65_536
"""No more of a URL is looked at."""

_SOURCE = "Penedo et al. 2023, RefinedWeb, appendix G.1; datatrove's URLFilter"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB_SCHEMES = ("http", "https", "ftp", "ws", "wss")
_DEFAULT_PORTS = ("", "80", "443")
_OVERLOOKED = dict.fromkeys(map(ord, "\t\r\n"))
_DOTS = {0x3002: ".", 0xFF0E: ".", 0xFF61: "."}
_WORDS = re.compile(r"[^\W_]+")
_PUNYCODE = "xn--"
_MAX_LABELS = 127


class Address(NamedTuple):
    """A URL taken apart: `host` in lower case and Unicode, "" where there is none; `port` "" if it is the usual one;
    `rest` is path and query, "/" at least."""

    host: str
    port: str
    rest: str


@dataclass(frozen=True)
class UrlLists:
    """Drop records by their URL: domains, addresses and words of block lists, but for what allow lists name."""

    name: ClassVar[str] = "url_lists"
    version: ClassVar[int] = 1

    block_domains: tuple[str, ...] = file_param((), "lists of domains; those below them are meant, too")
    block_urls: tuple[str, ...] = file_param((), "lists of addresses")
    banned_words: tuple[str, ...] = file_param((), "lists of words, of which none may be in a URL")
    soft_words: tuple[str, ...] = file_param((), "lists of words, of which few may be in a URL")
    soft_word_threshold: int = param(2, "drop from so many distinct soft words on")
    banned_subwords: tuple[str, ...] = file_param((), "lists of character sequences, of which none may be in a URL")
    allow_domains: tuple[str, ...] = file_param((), "lists of domains that are kept whatever else holds")
    allow_urls: tuple[str, ...] = file_param((), "lists of addresses that are kept whatever else holds")

    def __post_init__(self) -> None:
        if self.soft_word_threshold < 1:
            where = "stage url_lists.soft_word_threshold"
            raise UsageError("must be positive", where, self.soft_word_threshold)

    def rules(self) -> tuple[Rule, ...]:
        """All rules; without lists none of them can fail."""
        return (
            Rule("blocked_domain", "above", 0.0, "domain", _SOURCE),
            Rule("blocked_url", "above", 0.0, "url", _SOURCE),
            Rule("banned_word", "above", 0.0, "hard_blacklisted", _SOURCE),
            Rule("soft_words", "above", float(self.soft_word_threshold - 1), "soft_blacklisted", _SOURCE),
            Rule("banned_subword", "above", 0.0, "blacklisted_subword", _SOURCE),
        )

    def prepare(self) -> None:
        """Read the lists once on the driver, so that a faulty one is told before any work. Raises InputError."""
        self._lists()

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """The measures of the table above, as long as the batch."""
        lists = self._lists()
        urls: list[str | None] = batch.column("url").to_pylist()
        rows = np.array([lists.look(url or "") for url in urls], dtype=np.float64).reshape(len(urls), 5)
        return {rule.measure: rows[:, column] for column, rule in enumerate(self.rules())}

    def _lists(self) -> "_Lists":
        names = (self.block_domains, self.block_urls, self.banned_words, self.soft_words)
        return _read_all(*(versions_of(paths) for paths in (*names, self.banned_subwords)), *self._allowed())

    def _allowed(self) -> Iterator[Versions]:
        return (versions_of(paths) for paths in (self.allow_domains, self.allow_urls))


def address(url: str) -> Address | None:
    """A URL taken apart; None where it names no host (`mailto:`, `data:`, a path)."""
    url = url[:MAX_URL_CHARS].strip().translate(_OVERLOOKED)
    scheme = _SCHEME.match(url)
    has_port = scheme is not None and url[scheme.end() : scheme.end() + 1].isdigit()
    if scheme is not None and not has_port:
        if scheme.group()[:-1].lower() not in _WEB_SCHEMES:
            return None
        url = url[scheme.end() :]
    elif url.startswith("/") and not url.startswith("//"):
        return None
    url = url.partition("#")[0]
    before, mark, query = url.partition("?")
    authority, _, path = before.replace("\\", "/").lstrip("/").partition("/")
    host, port = _host_and_port(authority.rpartition("@")[2])
    return Address(host, "" if port in _DEFAULT_PORTS else port, f"/{path}{mark}{query}") if host else None


def _host_and_port(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, port = text.partition("]")
        return host[1:].lower(), port.lstrip(":")
    host, _, port = text.partition(":")
    return normal_host(host), port


def normal_host(host: str) -> str:
    """A host in lower case, composed, with its letters for punycode, without a dot at either side."""
    host = in_form("NFKC", unquote(host).translate(_DOTS)).lower().strip(". ")
    return ".".join(_label(label) for label in host.split(".")) if _PUNYCODE in host else host


def _label(label: str) -> str:
    if not label.startswith(_PUNYCODE):
        return label
    try:
        return in_form("NFKC", label[len(_PUNYCODE) :].encode("ascii").decode("punycode")).lower()
    except UnicodeError:
        return label


def domains_above(host: str) -> Iterator[str]:
    """A host and the domains above it, from the longest on."""
    yield host
    for _ in range(_MAX_LABELS):
        _, dot, host = host.partition(".")
        if not dot:
            return
        yield host


def _url_key(found: Address) -> str:
    return found.host.removeprefix("www.") + (f":{found.port}" if found.port else "") + found.rest


def _words_of(text: str) -> list[str]:
    return _WORDS.findall(in_form("NFKC", text).lower())


@dataclass(frozen=True)
class _Lists:
    block_domains: frozenset[str]
    block_urls: frozenset[str]
    banned_words: frozenset[tuple[str, ...]]
    soft_words: frozenset[tuple[str, ...]]
    banned_subwords: Any
    allow_domains: frozenset[str]
    allow_urls: frozenset[str]

    def look(self, url: str) -> tuple[float, ...]:
        """The five measures of a URL."""
        found = address(url)
        if found is None:
            return (0.0,) * 5
        key, domains = _url_key(found), list(domains_above(found.host))
        if key in self.allow_urls or not self.allow_domains.isdisjoint(domains):
            return (0.0,) * 5
        words = _words_of(f"{found.host} {unquote(found.rest)}")
        return (
            float(not self.block_domains.isdisjoint(domains)),
            float(key in self.block_urls),
            float(_count(words, self.banned_words) > 0),
            float(_count(words, self.soft_words)),
            float(self.banned_subwords is not None and self.banned_subwords.search("".join(words)) is not None),
        )


def _count(words: list[str], wanted: frozenset[tuple[str, ...]]) -> int:
    """How many of the entries occur; an entry is words in sequence."""
    sizes = {len(entry) for entry in wanted}
    occurring = {tuple(words[i : i + size]) for size in sizes for i in range(len(words) - size + 1)}
    return len(occurring & wanted)


@functools.lru_cache(maxsize=8)
def _read_all(
    block_domains: Versions,
    block_urls: Versions,
    banned_words: Versions,
    soft_words: Versions,
    banned_subwords: Versions,
    allow_domains: Versions,
    allow_urls: Versions,
) -> _Lists:
    return _Lists(
        _domains(block_domains),
        _urls(block_urls),
        _entries(banned_words),
        _entries(soft_words),
        _any_of({"".join(entry) for entry in _entries(banned_subwords)}),
        _domains(allow_domains),
        _urls(allow_urls),
    )


def _lines(versions: Versions) -> Iterator[str]:
    return (entry for path, *_ in versions for entry in read_list(path))


def _domains(versions: Versions) -> frozenset[str]:
    """Entries may be addresses, have a port, or begin with "*."."""
    found = (address(entry.removeprefix("*.")) for entry in _lines(versions))
    return frozenset(a.host for a in found if a is not None)


def _urls(versions: Versions) -> frozenset[str]:
    found = (address(entry) for entry in _lines(versions))
    return frozenset(_url_key(a) for a in found if a is not None)


def _entries(versions: Versions) -> frozenset[tuple[str, ...]]:
    return frozenset(words for entry in _lines(versions) if (words := tuple(_words_of(entry))))


def _any_of(subwords: set[str]) -> Any:
    if not subwords:
        return None
    import re2

    options = re2.Options()
    options.max_mem = 512 << 20
    options.log_errors = False
    return re2.compile("|".join(map(re2.escape, sorted(subwords))), options)
