"""Laws of families whose records have pictures: what the pictures show is put into words first, from pixels alone.

A `Sight` gives the words of a record and of its picture; the laws of texts then hold for those. Who plants the words of
a picture in a row is thus no witness: files are decoded, and read by the solvers' own drawings.
"""

from collections.abc import Callable
from dataclasses import replace

from gristmill.synth.solvers.asking import Asked, Found, Law, Records, Seen, View
from gristmill.synth.solvers.digits import number_in
from gristmill.synth.solvers.forms import words_of
from gristmill.synth.solvers.pixels import Rgb, decode
from gristmill.synth.solvers.records import records_of
from gristmill.synth.solvers.words import names_in

Sight = Callable[[str, Rgb | None], str]
"""Of the words of a record, and its picture. Raises Contradiction."""


def by_sight(sight: Sight, law: Law, distance_only: bool = False) -> Law:
    """A law of texts for records with pictures."""

    def prove(seen: Seen, asked: Asked) -> Found:
        return law.prove(replace(seen, records=_among(seen.records, asked, sight)), asked)

    def look(query: str, records: Records, answer: str) -> tuple[View, ...]:
        return law.look(query, _told(records, sight), answer)

    def solve(query: str, records: Records) -> str | None:
        return law.solve(query, _told(records, sight))

    return Law(prove, look, solve, distance_only)


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
    png = records.pictures.get(start)
    return sight(records.texts[start], None if png is None else decode(png))


def numbers(text: str, picture: Rgb | None) -> str:
    """The words, and the number of a panel behind them."""
    return text if picture is None else f"{text.strip()} {number_in(picture)}"


def scenes(text: str, picture: Rgb | None) -> str:
    """The words, and the things of a scene in a line of their own."""
    return text if picture is None else f"{text.strip()}\nshown: {words_of(picture)}"
