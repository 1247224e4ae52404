"""Proofs of tasks made of passages of real documents: `chunk_order` and `fill_middle`, class C.

Nothing is proved of what a reader of some of them knows: they are natural text, no epsilon is computed or stored, and
nothing says that such a task needs all of its evidence. Proved is what can be: that the stored answer is the order in
the document, or the passage that was taken out, by the places of segments in their documents; that the passages
follow each other without a gap, stand nowhere else in the row and no other part of their document does; and that none
shares GRAM_WORDS words in a row with another one that it could be told by.

A header, the record in front of a passage, gives it a name; a gap is a record between two passages.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise
from math import factorial

import numpy as np
import numpy.typing as npt

from gristmill.synth.solvers.asking import Asked, Found, Law, Records, Seen, Unproved, View
from gristmill.synth.solvers.reading import Reading
from gristmill.synth.solvers.spans import Span
from gristmill.synth.solvers.words import Contradiction, names_in

GRAM_WORDS = 8
MIN_WORDS = 30
"""Of a passage."""
MAX_ELSEWHERE = 0.1
"""Most of a passage's stretches of GRAM_TOKENS tokens that may stand elsewhere in the row."""
GRAM_TOKENS = 16
TEXT_KINDS = ("text", "code")

Hashes = npt.NDArray[np.uint64]

_WORD = re.compile(r"\w+")
_LIST = re.compile(r"[A-Z][a-z]+(?:, [A-Z][a-z]+)+")


def grams(text: str) -> set[tuple[str, ...]]:
    """All stretches of GRAM_WORDS words, in lower case."""
    words = _WORD.findall(text.lower())
    return set(zip(*(words[at:] for at in range(GRAM_WORDS)), strict=False))


class _Bank:
    """The segments of a task's bank: their numbers in the row, and what headers and gaps are called."""

    def __init__(self, seen: Seen, asked: Asked) -> None:
        self.reading, self.index = seen.reading, asked.index
        numbers = {span: number for number, span in enumerate(self.reading.spans)}
        self.own = frozenset(numbers[span] for span in asked.bank)
        self.names: dict[str, int] = {}
        for start, end in asked.bank:
            if start in seen.records.texts:
                found = set(names_in(seen.records.texts[start]))
                if len(found) != 1 or found & set(self.names):
                    raise Contradiction(f"a header with names {sorted(found)}")
                self.names[found.pop()] = numbers[start, end]

    def passage(self, number: int) -> int:
        """The number, where it is that of a passage of the bank."""
        if number not in self.own or self.reading.kinds[number] not in TEXT_KINDS:
            raise Contradiction(f"no passage stands at segment {number}")
        return number

    def text(self, number: int) -> str:
        """Of a segment."""
        return self.reading.piece(*self.reading.spans[number])

    def place(self, number: int) -> tuple[int, int, int]:
        """Document, first token in it, and the one behind its last."""
        (start, end), offset = self.reading.spans[number], self.reading.offsets[number]
        return self.reading.docs[number], offset, offset + end - start

    def named(self, name: str) -> int:
        """The segment of a header or a gap."""
        if name not in self.names:
            raise Contradiction(f"nothing is called {name}")
        return self.names[name]


def _order(bank: _Bank, query: str) -> tuple[str, list[int], tuple[str, ...]]:
    """(answer, segments used, names) of the passages of a query in the order of their document."""
    names = tuple(dict.fromkeys(names_in(query)))
    passages = {name: bank.passage(bank.named(name) + 1) for name in names}
    ordered = sorted(names, key=lambda name: bank.place(passages[name]))
    for one, other in pairwise(ordered):
        if bank.place(passages[one])[::2] != bank.place(passages[other])[:2]:
            raise Contradiction(f"{one} and {other} do not follow each other in one document")
    segments = [number for name in ordered for number in (bank.named(name), passages[name])]
    texts = [grams(bank.text(passages[name])) for name in ordered]
    if any(one & other for one, other in combinations(texts, 2)):
        raise Unproved("alike", "two passages share words in a row", bank.index)
    return ", ".join(ordered), segments, names


def _middle(bank: _Bank, query: str) -> tuple[str, list[int], tuple[str, ...]]:
    """(answer, segments used, candidates): the passage between those around a gap."""
    lists = _LIST.findall(query)
    gaps = set(names_in(query)) - set(lists[0].split(", ") if len(lists) == 1 else ())
    if len(lists) != 1 or len(gaps) != 1:
        raise Contradiction(f"a query with lists {lists} and gaps {sorted(gaps)}")
    names, gap = tuple(lists[0].split(", ")), bank.named(gaps.pop())
    before, after = bank.passage(gap - 1), bank.passage(gap + 1)
    doc, _, first = bank.place(before)
    wanted = (doc, first, bank.place(after)[1])
    passages = {name: bank.passage(bank.named(name) + 1) for name in names}
    found = [name for name in names if bank.place(passages[name]) == wanted]
    if len(found) != 1 or bank.place(after)[0] != doc:
        raise Contradiction(f"{len(found)} passages fit")
    around = grams(bank.text(before)) | grams(bank.text(after))
    if any(around & grams(bank.text(number)) for number in passages.values()):
        raise Unproved("alike", "a passage shares words in a row with what stands around the gap", bank.index)
    return found[0], [before, gap, after, bank.named(found[0]), passages[found[0]]], names


Solve = Callable[[_Bank, str], tuple[str, list[int], tuple[str, ...]]]


def _prove(solve: Solve, ordered: bool, seen: Seen, asked: Asked) -> Found:
    bank = _Bank(seen, asked)
    answer, used, names = solve(bank, asked.query)
    if answer != asked.answer or [bank.reading.spans[number] for number in used] != list(asked.evidence):
        raise Unproved("unsolved", f"the solver finds {answer!r} by {len(used)} segments", asked.index)
    passages = [number for number in used if bank.reading.kinds[number] in TEXT_KINDS]
    docs = {bank.reading.docs[number] for number in passages}
    others = [
        n for n, doc in enumerate(bank.reading.docs) if doc in docs and n not in bank.own and not _is_end(bank, n)
    ]
    if others:
        raise Unproved("alike", f"segment {others[0]} is of a document that a task takes apart", asked.index)
    for number in passages:
        share = _elsewhere(bank.reading, bank.reading.spans[number], seen.records)
        if share > MAX_ELSEWHERE:
            raise Unproved("alike", f"{share:.2f} of a passage stands elsewhere in the row", asked.index)
    return Found(names, (), factorial(len(names)) if ordered else len(names))


def _is_end(bank: _Bank, number: int) -> bool:
    return bank.reading.kinds[number] == "separator"


def _elsewhere(reading: Reading, span: Span, records: Records) -> float:
    """The share of a passage's stretches of GRAM_TOKENS tokens that stand outside of it as well."""
    if "token grams" not in records.memo:
        every = _hashes(reading.ids)
        records.memo["token grams"] = (every, np.sort(every))
    every, ordered = records.memo["token grams"]
    own, inside = np.unique(every[span[0] : max(span[0] + 1, span[1] - GRAM_TOKENS + 1)], return_counts=True)
    stands = np.searchsorted(ordered, own, "right") - np.searchsorted(ordered, own, "left")
    return float(np.mean(stands > inside)) if len(own) else 0.0


def _hashes(ids: npt.NDArray[np.uint32]) -> Hashes:
    """A hash of the GRAM_TOKENS ids from each token on."""
    size = max(0, len(ids) - GRAM_TOKENS + 1)
    out = np.zeros(size, np.uint64)
    for at in range(GRAM_TOKENS):
        out = out * np.uint64(0x9E3779B97F4A7C15) + ids[at : at + size].astype(np.uint64)
    return out


def _look(query: str, records: Records, answer: str) -> tuple[View, ...]:
    """The passage that comes first in an order, or that fills a gap; headers mention their names."""
    lists: Sequence[str] = _LIST.findall(query)
    names = tuple(lists[0].split(", ")) if lists else tuple(names_in(query))
    known = frozenset(names)
    values = {start: tuple(n for n in names_in(text) if n in known) for start, text in records.texts.items()}
    key = next((name for name in names_in(query) if name not in known), "")
    return (View(key, names, values, answer.split(", ", maxsplit=1)[0]),)


def _unsolved(query: str, records: Records) -> str | None:
    """Headers alone tell nothing."""
    return None


ORDER = Law(partial(_prove, _order, True), _look, _unsolved, "C")
MIDDLE = Law(partial(_prove, _middle, False), _look, _unsolved, "C")
