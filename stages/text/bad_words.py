"""Lists of words that a text must not hold, by language: the hook of C4's "bad words" rule. No list is packaged.

A list is a UTF-8 text file (`.gz` is fine), one word or phrase a line; `#` begins a comment line. A word is found in
any case, and only where neither a letter, digit, mark nor underscore touches it, except that this is not asked on the
side of a letter of a script without spaces (Han, kana, Thai): datatrove does so for whole languages (ja, th, zh).
Each language is looked up by its own name for each document (datatrove#377: one shadowed the next).
"""

import functools
import gzip
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.stages.kernels.buffers import Bytes, Offsets

Mask = npt.NDArray[np.bool_]
Versions = tuple[tuple[str, int, int], ...]
"""Path, size and time of each file: what is read of them is held for as long as these are."""
EVERY_LANGUAGE = ""
_MAX_PATTERN_BYTES = 512 << 20
_TOUCHING = r"\pL\pN\pM_"


def read_list(path: str) -> tuple[str, ...]:
    """The entries of a list: stripped lines that are neither blank nor comments, in order. Raises InputError."""
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        remedy = "one entry a line, UTF-8, plain or .gz"
        raise InputError("a list cannot be read", path, str(error), remedy) from error
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def versions_of(paths: Iterable[str]) -> Versions:
    """The files as they are now. Raises InputError where one is gone."""
    found: list[tuple[str, int, int]] = []
    for path in paths:
        try:
            status = Path(path).stat()
        except OSError as error:
            raise InputError("a list cannot be read", path, error.strerror, "name a file that you may read") from error
        found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(found)


def found_bad_words(
    data: Bytes, offsets: Offsets, langs: Sequence[str], lists: Sequence[str], list_langs: Sequence[str]
) -> Mask:
    """Whether each text (bytes and offsets) holds a word of the lists of its language, bool (n).

    `lists` are paths, `list_langs` the language of each; none at all: every list is for every text.
    """
    found = np.zeros(len(langs), dtype=np.bool_)
    patterns = {lang: _matcher(_paths_of(lang, lists, list_langs)) for lang in set(langs)}
    for row, lang in enumerate(langs):
        if (pattern := patterns[lang]) is not None:
            found[row] = pattern.search(data[offsets[row] : offsets[row + 1]].tobytes()) is not None
    return found


def is_sampled(text: bytes, seed: int, keep_frac: float) -> bool:
    """Whether this content belongs to the share that is kept anyway: a hash of seed and text, below `keep_frac`."""
    digest = blake3(b"bad_words:%d:" % seed + text).digest(8)
    return int.from_bytes(digest, "big") < keep_frac * 2**64


def _paths_of(lang: str, lists: Sequence[str], list_langs: Sequence[str]) -> Versions:
    of_each = list_langs or [EVERY_LANGUAGE] * len(lists)
    wanted = [path for path, of in zip(lists, of_each, strict=True) if of in (lang, EVERY_LANGUAGE)]
    return versions_of(wanted)


@functools.lru_cache(maxsize=64)
def _matcher(versions: Versions) -> Any:
    """A compiled pattern over bytes, None where there is no word."""
    words = {word for path, *_ in versions for word in read_list(path)}
    return _compiled(sorted(words)) if words else None


def _compiled(words: Sequence[str]) -> Any:
    import re2

    options = re2.Options()
    options.max_mem = _MAX_PATTERN_BYTES
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile("|".join(_pattern(word) for word in words), options)


def _pattern(word: str) -> str:
    import re2

    before = "" if _is_solo(word[0]) else f"(?:^|[^{_TOUCHING}])"
    after = "" if _is_solo(word[-1]) else f"(?:$|[^{_TOUCHING}])"
    return before + re2.escape(word) + after


def _is_solo(char: str) -> bool:
    from gristmill.stages.kernels.char_table import SOLO, char_flags

    return bool(int(char_flags()[ord(char)]) & SOLO)
