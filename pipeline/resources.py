"""What one task takes of a machine, and how people write memory: `8 GiB`, `500 MB`, or whole bytes.

It decides where and when work is done, never what comes out: it enters no key and no digest.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

_UNITS: Mapping[str, int] = {
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("kMGT", 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
_MEMORY = re.compile(rf"(\d{{1,18}}(?:\.\d{{1,9}})?) ?({'|'.join(_UNITS)})", re.ASCII)
MAX_MEM_BYTES = 1 << 50
MAX_COUNT = 4096


@dataclass(frozen=True)
class Resources:
    """What one task takes: processors, bytes of memory (0: not said), and accelerators."""

    cpus: int = 1
    mem_bytes: int = 0
    gpus: int = 0

    def with_those_of(self, other: "Resources") -> "Resources":
        """What is enough for either."""
        return Resources(max(self.cpus, other.cpus), max(self.mem_bytes, other.mem_bytes), max(self.gpus, other.gpus))

    def plain(self) -> dict[str, int | None]:
        """As a recipe holds it, defaults written out."""
        return {"cpus": self.cpus, "mem": self.mem_bytes or None, "gpus": self.gpus}


SMALL = Resources()


def enough_for(many: Iterable[Resources]) -> Resources:
    """What is enough for any of them."""
    return reduce(Resources.with_those_of, many, SMALL)


def memory_bytes(given: object) -> int | None:
    """Bytes of a whole number or of a text such as `8 GiB`; None where it is neither, or no amount that is."""
    if type(given) is int:
        amount = given
    elif isinstance(given, str) and (found := _MEMORY.fullmatch(given)):
        amount = int(Fraction(found[1]) * _UNITS[found[2]])
    else:
        return None
    return amount if 0 < amount <= MAX_MEM_BYTES else None


def shown_memory(amount: int) -> str:
    """Bytes as `memory_bytes` takes them: in the largest unit that is exact, else rounded to a tenth."""
    for letter in "TGMK":
        size = _UNITS[f"{letter}iB"]
        if amount >= size:
            exact = amount % size == 0
            return f"{amount // size} {letter}iB" if exact else f"{amount / size:.1f} {letter}iB"
    return f"{amount} B"
