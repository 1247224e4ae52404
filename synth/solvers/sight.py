"""Laws of families whose records have pictures: what the pictures show is put into words first, from pixels alone.

A `Sight` gives the words of a record and of its picture; the laws of texts then hold for those. Who plants the words of
a picture in a row is thus no witness: files are decoded, and read by the solvers' own drawings.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from gristmill.synth.solvers.asking import Asked, Found, Law, Records, Seen, View
from gristmill.synth.solvers.digits import number_in
from gristmill.synth.solvers.forms import words_of
from gristmill.synth.solvers.pages import text_of
from gristmill.synth.solvers.pixels import decode
from gristmill.synth.solvers.records import records_of
from gristmill.synth.solvers.words import Contradiction, names_in

Sight = Callable[[str, bytes | None], str]
"""Of the words of a record, and the file of its picture. Raises Contradiction."""
READ_BEFORE = 8192
"""So many pictures are kept as words: several tasks of a bank, and who proves and who verifies, look at the same."""


def by_sight(sight: Sight, law: Law, distance_only: bool = False) -> Law:
    """A law of texts for records with pictures."""

    def prove(seen: Seen, asked: Asked) -> Found:
        return law.prove(replace(seen, records=_among(seen.records, asked, sight)), asked)

    def look(query: str, records: Records, answer: str) -> tuple[View, ...]:
        return law.look(query, _told(records, sight), answer)

    def solve(query: str, records: Records) -> str | None:
        return law.solve(query, _told(records, sight))

    return Law(prove, look, solve, distance_only=distance_only)


def _among(records: Records, asked: Asked, sight: Sight) -> Records:
    """All records of a row, those of a bank told by sight."""
    known = ("by sight", asked.family, asked.bank)
    if known not in records.memo:
        own = {start: _words(records, start, sight) for start, _ in asked.bank}
        named = dict(records.named)
        for start, text in own.items():
            for name in names_in(text):
                named[name] = named.get(name, frozenset()) | {start}
        records.memo[known] = Records({**records.texts, **own}, named, records.pictures)
    return records.memo[known]


def _told(records: Records, sight: Sight) -> Records:
    """All records of a bank, told by sight."""
    if "by sight" not in records.memo:
        texts = {start: _words(records, start, sight) for start in records.texts}
        records.memo["by sight"] = records_of(texts, records.pictures)
    return records.memo["by sight"]


def _words(records: Records, start: int, sight: Sight) -> str:
    if start not in records.texts:
        raise Contradiction(f"no record begins at {start}")
    return sight(records.texts[start], records.pictures.get(start))


@lru_cache(maxsize=READ_BEFORE)
def number_of(png: bytes) -> str:
    """What a panel shows."""
    return number_in(decode(png))


@lru_cache(maxsize=READ_BEFORE)
def scene_of(png: bytes) -> tuple[str, int, int]:
    """(words of a scene, width, height)."""
    picture = decode(png)
    return words_of(picture), picture.shape[1], picture.shape[0]


def numbers(text: str, png: bytes | None) -> str:
    """The words, and the number of a panel behind them."""
    return text if png is None else f"{text.strip()} {number_of(png)}"


def panels(text: str, png: bytes | None) -> str:
    """As `numbers`, in a line of its own."""
    return text if png is None else f"{text.strip()}\nshown: {number_of(png)}"


@lru_cache(maxsize=READ_BEFORE)
def page_of(png: bytes) -> str:
    """The words of a page of print."""
    return text_of(decode(png))


def pages(text: str, png: bytes | None) -> str:
    """The words, and those of a page in a line of their own."""
    return text if png is None else f"{text.strip()}\n{page_of(png)}"


def scenes(text: str, png: bytes | None) -> str:
    """The words, and the things of a scene in a line of their own."""
    return text if png is None else f"{text.strip()}\nshown: {scene_of(png)[0]}"


def sized_scenes(text: str, png: bytes | None) -> str:
    """As `scenes`, with the sides of the picture in front."""
    if png is None:
        return text
    words, width, height = scene_of(png)
    return f"{text.strip()}\nshown: {width}x{height}: {words}"
