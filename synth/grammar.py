"""Surface templates: beginnings, cores and endings, combined so that no two templates share more than one of them.

Template (i, j) of a register has beginning i, core j and ending (i + j) mod 8, a Latin square: two templates of a
register share one part of three at most, so their word trigrams overlap by less than half. 7 registers of 64 give a
family 448 record templates; 64 more ask. A family with registers of its own has as many templates as these give.
Every fourth core, whatever its register, is held out from training, so a held-out template has words about the fact
itself that no training record has.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Wording
from gristmill.synth.registers import ASK_LEADS, ASK_TAILS, PEOPLE, PLACES, REGISTERS, Register

Split = Literal["train", "held_out"]
SPLITS: tuple[Split, ...] = ("train", "held_out")

SQUARE = 8
PER_REGISTER = SQUARE * SQUARE
ASK_TEMPLATES = PER_REGISTER
HELD_OUT_EVERY = 4

_SLOT = re.compile(r"\{(\w+)\}")


def registers_of(wording: Wording) -> tuple[Register, ...]:
    """The registers that a family's records are written in."""
    return wording.registers or REGISTERS


def record_templates(wording: Wording) -> int:
    """How many record templates a family has."""
    return PER_REGISTER * len(registers_of(wording))


def record_template(wording: Wording, number: int) -> str:
    """Record template `number` of [0, record_templates), or of `embedded_templates`, with its slots."""
    if number >= record_templates(wording):
        return wording.clauses[number - record_templates(wording)]
    register = registers_of(wording)[number // PER_REGISTER]
    lead, core, tail = _parts(number)
    cores = wording.clauses if register.kind == "clause" else wording.fields
    return register.leads[lead] + cores[register.cores[core]] + register.tails[tail]


def embedded_templates(wording: Wording) -> tuple[int, ...]:
    """Numbers of what is said beside a sentence of a document (`hosts`): a clause and no more, a number each."""
    first = record_templates(wording)
    return tuple(range(first, first + len(wording.clauses)))


@cache
def embedded_of(wording: Wording, split: Split) -> tuple[int, ...]:
    """Those of a split."""
    return tuple(n for n in embedded_templates(wording) if record_split(wording, n) == split)


def ask_template(wording: Wording, number: int) -> str:
    """Query template `number` of [0, ASK_TEMPLATES), with its slots; what ends it calls for the answer."""
    lead, core, tail = _parts(number)
    return ASK_LEADS[lead] + wording.asks[core] + ASK_TAILS[tail]


def _parts(number: int) -> tuple[int, int, int]:
    lead, core = divmod(number % PER_REGISTER, SQUARE)
    return lead, core, (lead + core) % SQUARE


def record_split(wording: Wording, number: int) -> Split:
    """Which split a record template belongs to, by its core."""
    if number >= record_templates(wording):
        return _split(number - record_templates(wording))
    register = registers_of(wording)[number // PER_REGISTER]
    return _split(register.cores[number % SQUARE])


def ask_split(number: int) -> Split:
    """Which split a query template belongs to, by its core."""
    return _split(number % SQUARE)


def _split(core: int) -> Split:
    return "held_out" if core % HELD_OUT_EVERY == HELD_OUT_EVERY - 1 else "train"


@cache
def records_of(wording: Wording, split: Split) -> tuple[int, ...]:
    """The record templates of a split."""
    return tuple(n for n in range(record_templates(wording)) if record_split(wording, n) == split)


ASKS_OF: Mapping[Split, tuple[int, ...]] = {
    split: tuple(n for n in range(ASK_TEMPLATES) if ask_split(n) == split) for split in SPLITS
}


def fill(template: str, slots: Mapping[str, str], draws: Draws) -> str:
    """The template's text: its facts from `slots`, people, places, dates and times from `draws`."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return slots[name] if name in slots else _decoration(name, draws)

    return _SLOT.sub(value, template)


def _decoration(name: str, draws: Draws) -> str:
    if name == "person":
        return draws.pick(PEOPLE)
    if name == "place":
        return draws.pick(PLACES)
    if name == "time":
        return f"{draws.integer(0, 24):02}:{draws.integer(0, 60):02}:{draws.integer(0, 60):02}"
    if name == "date":
        return f"{draws.integer(1990, 2026)}-{draws.integer(1, 13):02}-{draws.integer(1, 29):02}"
    raise KeyError(name)


def masked(template: str) -> tuple[str, ...]:
    """The words of a template when every name, number and decoration is the same word: what repetition is told by."""
    return tuple(re.findall(r"\w+", _SLOT.sub("0", template).lower()))
