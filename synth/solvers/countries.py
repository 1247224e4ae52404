"""What is known of countries, from `countries.json`: the capital, the two letters of ISO 3166-1, a sight.

No cue is that of two countries, and none shares the beginning of a word with the name of its own.

Records of `latent_link` give a cue, the query the country; the solver knows that they belong together.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from gristmill.synth.solvers.following import PathQuery, PathReader
from gristmill.synth.solvers.trails import Edge, follow, read_link, starts
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

KINDS = ("capital", "code", "sight")
_DIGITS = 4


@cache
def countries() -> Mapping[str, Mapping[str, str]]:
    """Country -> kind of cue -> cue as records write it."""
    table = json.loads(Path(__file__).with_name("countries.json").read_text())
    return {name: {kind: _written(kind, cues[kind]) for kind in KINDS} for name, cues in table.items()}


def _written(kind: str, cue: str) -> str:
    return f"the code {cue}" if kind == "code" else cue


@cache
def _country_of() -> Mapping[str, str]:
    return {cue: name for name, cues in countries().items() for cue in cues.values()}


@cache
def _pattern(what: str) -> re.Pattern[str]:
    words = countries() if what == "country" else _country_of()
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + r")(?!\w)")


def read_country(text: str) -> PathQuery:
    """Raises Contradiction where a query has not one country, or has invented names or numbers."""
    found = set(_pattern("country").findall(text))
    if len(found) != 1 or names_in(text) or numbers_in(text):
        raise Contradiction(f"a query with countries {sorted(found)} and names {names_in(text)}")
    return PathQuery(found.pop())


def read_pair(query: PathQuery, text: str) -> Edge:
    """A cue leads to the member that has it, a member to the next, the last to a number. Raises Contradiction."""
    names, numbers, cues = names_in(text), numbers_in(text), _pattern("cue").findall(text)
    if len(names) == len(cues) == 1 and not numbers:
        return Edge(_country_of()[cues[0]], names[0])
    if len(names) == len(numbers) == 1 and not cues and len(str(numbers[0])) == _DIGITS:
        return Edge(names[0], str(numbers[0]))
    if cues:
        raise Contradiction(f"a record with names {names}, numbers {numbers} and cues {cues}")
    return read_link(query, text)


def _pairs(query: PathQuery, texts: Sequence[str]) -> list[Edge]:
    return [read_pair(query, text) for text in texts]


def _has_cue(text: str) -> bool:
    return bool(_pattern("cue").search(text))


COUNTRIES = PathReader(read_country, _pairs, follow, starts, foreign=_has_cue)
