"""Texts from which the corpus is made: what every Python installation holds, and prose that is generated.

The standard library's sources and docstrings and the licence texts of the installed distributions depend on the
machine; on one machine they come in one order.
"""

import ast
import functools
import os
import re
from importlib import metadata
from itertools import accumulate
from pathlib import Path
from random import Random

MIN_CHARS, MAX_CHARS = 200, 50_000
LIBRARY = Path(os.__file__).parent

_ONSETS = (*"bcdfghklmnprstvw", "br", "ch", "cl", "cr", "dr", "fl", "gr", "pl", "sh", "sl", "sp", "st", "tr", "th")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ee", "io", "ou")
_CODAS = ("n", "r", "s", "t", "l", "m", "d", "nd", "st", "rt", "ck", "ng") + ("",) * 8
_VOCABULARY = 6_000
_COMMON = ("the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not")

_PACKAGES = (
    *("asyncio", "concurrent", "ctypes", "distutils", "email", "http", "idlelib", "importlib", "json", "lib2to3"),
    *("logging", "multiprocessing", "tkinter", "unittest", "urllib", "wsgiref", "xml"),
)


@functools.lru_cache(maxsize=1)
def vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Words of a made-up language, the frequent ones English, and their cumulative weights (Zipf's law)."""
    rng = Random(41)
    found: dict[str, None] = dict.fromkeys(_COMMON)
    while len(found) < _VOCABULARY:
        parts = (rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.randint(1, 3)))
        found["".join(parts)] = None
    weights = (1 / (rank + 2.7) for rank in range(_VOCABULARY))
    return tuple(found), tuple(accumulate(weights))


def prose_words(rng: Random, count: int) -> list[str]:
    """`count` words of made-up prose with its capitals and punctuation."""
    known, weights = vocabulary()
    drawn = rng.choices(known, cum_weights=weights, k=count)
    at = 0
    while at < count:
        end = min(at + rng.randint(5, 24), count)
        drawn[at] = drawn[at].capitalize()
        if end - at > 9:
            drawn[at + (end - at) // 2] += ","
        drawn[end - 1] += rng.choice(".....?!")
        at = end
    return drawn


def prose(rng: Random, count: int) -> str:
    """Made-up prose of `count` words in paragraphs."""
    drawn = prose_words(rng, count)
    return "\n\n".join(" ".join(drawn[at : at + 90]) for at in range(0, count, 90))


def han(rng: Random, count: int) -> str:
    """`count` Han letters in sentences; frequent ones recur."""
    letters = [chr(0x4E00 + 7 * i) for i in range(1200)]
    drawn = rng.choices(letters, weights=[1 / (i + 5) for i in range(1200)], k=count)
    for at in range(17, count, 23):
        drawn[at] = rng.choice("，，。；")
    return "".join(drawn)


@functools.lru_cache(maxsize=1)
def library_files() -> tuple[Path, ...]:
    """The sources of the standard library without its tests, in an order by name that mixes packages."""
    files = LIBRARY.glob("*.py")
    nested = (p for name in _PACKAGES for p in LIBRARY.glob(f"{name}/**/*.py") if "test" not in p.parts)
    return tuple(sorted({*files, *nested}, key=lambda p: (p.stem[1:], p.relative_to(LIBRARY).as_posix())))


def read(path: Path) -> str:
    """The text of a file, "" when it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def sources(count: int) -> list[str]:
    """Up to `count` pieces of Python sources of MIN_CHARS to about 9,000 characters."""
    found: list[str] = []
    for path in library_files():
        pieces = pieces_of(read(path), 9_000)
        found += [p for p in pieces if len(p) >= MIN_CHARS]
        if len(found) >= count:
            break
    return found[:count]


def docstrings(count: int) -> list[str]:
    """Up to `count` documents: the docstrings of one module each, prose with names and examples in it."""
    found: list[str] = []
    for path in library_files():
        if len(found) >= count:
            break
        found += [piece for piece in pieces_of(_docstrings_of(read(path)), 9_000) if len(piece) >= 600]
    return found[:count]


def _docstrings_of(source: str) -> str:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ""
    nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    return "\n\n".join(doc for node in nodes if (doc := ast.get_docstring(node)))


def pieces_of(text: str, max_chars: int) -> list[str]:
    """A text cut between paragraphs into pieces of about `max_chars` (longer where a paragraph is)."""
    found: list[str] = []
    parts: list[str] = []
    size = 0
    for part in re.split(r"\n\n+", text):
        if size and size + len(part) > max_chars:
            found.append("\n\n".join(parts))
            parts, size = [], 0
        parts.append(part)
        size += len(part)
    return [*found, "\n\n".join(parts)]


@functools.lru_cache(maxsize=1)
def licences() -> tuple[str, ...]:
    """The distinct licence texts of the installed distributions: natural near-duplicates of each other."""
    wanted = re.compile(r"(licen[cs]e|copying)[^/]*$", re.IGNORECASE)
    found: dict[str, None] = {}
    for dist in sorted(metadata.distributions(), key=lambda d: (d.name or "").lower()):
        for file in dist.files or ():
            path = Path(str(dist.locate_file(file)))
            if wanted.search(str(file)) and path.suffix in ("", ".txt", ".md", ".rst") and path.is_file():
                text = read(path)
                if MIN_CHARS <= len(text) <= MAX_CHARS:
                    found[text] = None
    return tuple(found)
