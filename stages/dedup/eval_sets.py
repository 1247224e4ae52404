"""The n-grams of evaluation sets, ready to be looked for, and what each of them stands for.

`EvalSets` holds the table for the kernels and, for each n-gram, the texts in which it stands. N-grams that stand in
more than `ignore_above` items are boilerplate of the sets, and those of the `ignore` texts are known to stand anywhere:
they are not looked for, and count in no text. A text of which nothing is looked for is unchecked, as are items of which
every text is.
"""

import functools
import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.dedup.eval_files import EvalItems, EvalText, read_items
from gristmill.stages.kernels.buffers import Bytes, text_buffers
from gristmill.stages.kernels.ngram_fold import Fold, fold
from gristmill.stages.kernels.ngram_index import Flags, Grams, Occurrences, Words, index_grams, with_bits
from gristmill.stages.kernels.ngram_probe import distinct_grams
from gristmill.stages.kernels.ngram_words import words_of_texts

Ints = npt.NDArray[np.int64]
Versions = tuple[tuple[str, int, int], ...]
"""Path, size and time of each file: what is read of them is held for as long as these are."""


class EvalWish(NamedTuple):
    """What is to be looked for: the parameters of the stage that decide it."""

    against: Versions
    fields: tuple[str, ...]
    ngram: int
    min_words: int
    ignore_above: int
    ignore: Versions


class EvalSets(NamedTuple):
    """`text_ids[text_bounds[gram]:text_bounds[gram + 1]]` are the texts in which an n-gram stands; `text_grams[text]`
    how many distinct n-grams of a text are looked for."""

    fold: Fold
    grams: Grams
    items: EvalItems
    text_ids: Ints
    text_bounds: Ints
    text_grams: Ints
    ignored: int

    def name_of(self, text: int) -> str:
        """Item and field of a text, such as `test.jsonl:12 question`."""
        found = self.items.texts[text]
        return f"{self.items.names[found.item]} {found.field}".strip()

    def occurrences_of(self, grams: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
        """(which of these n-grams, text) of each occurrence, in order."""
        starts = self.text_bounds[grams]
        counts = self.text_bounds[grams.astype(np.int64) + 1] - starts
        which = np.repeat(np.arange(len(grams)), counts)
        place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts - starts, counts)
        return which, self.text_ids[place]

    def unchecked(self, max_ngrams: int) -> list[str]:
        """Names of the items of which no text has more n-grams than that: they cannot be found."""
        able = {text.item for text, grams in zip(self.items.texts, self.text_grams, strict=True) if grams > max_ngrams}
        return [name for number, name in enumerate(self.items.names) if number not in able]


def versions_of(paths: Sequence[str]) -> Versions:
    """The files as they are now. Raises InputError where one is gone."""
    found: list[tuple[str, int, int]] = []
    for path in paths:
        try:
            status = Path(path).stat()
        except OSError as error:
            what = "an evaluation file cannot be read"
            raise InputError(what, path, error.strerror, "name a file that you may read") from error
        found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(found)


@functools.lru_cache(maxsize=4)
def load_sets(wish: EvalWish) -> EvalSets:
    """Read the files and index them. Raises InputError or UsageError on files that cannot serve."""
    items = read_items([path for path, *_ in wish.against], wish.fields)
    table = fold()
    words = _words([text.text for text in items.texts], table)
    # A text that has an n-gram is not too short for it.
    least = min(wish.min_words, wish.ngram)
    grams, found, firsts = index_grams(words, wish.ngram, least)
    if not len(grams.sizes):
        remedy = f"no text has {least} words; lower min_words, or name the fields that hold the texts"
        raise UsageError("nothing to look for", "stage decontaminate.against", wish.against[0][0], remedy)
    active = _active(grams, found, items.texts, wish.ignore_above)
    for path, *_ in wish.ignore:
        ignored, _ = distinct_grams(_text_of(path), table, with_bits(grams, words.hashes, firsts, np.ones_like(active)))
        active[ignored] = 0
    if not active.any():
        remedy = "raise ignore_above, or leave out ignore"
        raise UsageError("every n-gram is ignored", "stage decontaminate.ignore_above", wish.ignore_above, remedy)
    return _sets(table, with_bits(grams, words.hashes, firsts, active), items, found)


def _sets(table: Fold, grams: Grams, items: EvalItems, found: Occurrences) -> EvalSets:
    bounds = np.zeros(len(grams.sizes) + 1, np.int64)
    np.cumsum(np.bincount(found.grams, minlength=len(grams.sizes)), out=bounds[1:])
    wanted = found.texts[grams.active[found.grams] != 0]
    totals = np.bincount(wanted, minlength=len(items.texts)).astype(np.int64)
    ignored = int((grams.active == 0).sum())
    # The texts themselves have served: a worker need not hold them.
    items = items._replace(texts=[text._replace(text="") for text in items.texts])
    return EvalSets(table, grams, items, found.texts.astype(np.int64), bounds, totals, ignored)


def _words(texts: Sequence[str], table: Fold) -> Words:
    words = Words(*words_of_texts(*text_buffers(pa.array(texts, pa.large_string())), table))
    for array in words:
        array.flags.writeable = False
    return words


def _active(grams: Grams, found: Occurrences, texts: Sequence[EvalText], ignore_above: int) -> Flags:
    active = np.ones(len(grams.sizes), np.uint8)
    if ignore_above:
        item_of = np.array([text.item for text in texts], np.int64)
        pairs = np.unique(found.grams.astype(np.int64) << 32 | item_of[found.texts])
        active[np.bincount(pairs >> 32, minlength=len(active)) > ignore_above] = 0
    return active


def _text_of(path: str) -> Bytes:
    try:
        raw = Path(path).read_bytes()
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        text.decode("utf-8")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError("a text cannot be read", path, str(error), "give UTF-8, plain or .gz") from error
    return np.frombuffer(text, np.uint8)
