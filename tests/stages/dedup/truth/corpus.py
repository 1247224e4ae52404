"""A corpus whose copies are known: texts with planted copies of every kind, the same for each call.

`build(QUICK)` stands on what every machine has; `build(LARGE, extra)` takes further texts. Each document names
its `kind`, and a planted copy the document that it was made from and the share of it that was edited.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random

from tests.stages.dedup.truth import bases

RATES = (0.01, 0.02, 0.05, 0.10, 0.20)
CHAIN_DOCS, CHAIN_WORDS, CHAIN_STEP = 60, 200, 18


@dataclass(frozen=True)
class Doc:
    """One document. `base` is the index of the document it was copied from, `rate` the share of words edited."""

    text: str
    domain: str
    kind: str
    base: int | None = None
    rate: float = 0.0


@dataclass(frozen=True)
class Size:
    """How many documents of each sort `build` makes."""

    prose: int
    docstrings: int
    sources: int
    exact: int
    edits: int
    """Near copies of each sort (word edits, block edits) at each rate."""
    spread: int
    """Copies of generated prose whose rate is drawn anew for each, so that every Jaccard occurs."""
    families: int
    licences: int


QUICK = Size(prose=90, docstrings=60, sources=60, exact=30, edits=8, spread=140, families=4, licences=25)
LARGE = Size(prose=1500, docstrings=700, sources=900, exact=900, edits=120, spread=1500, families=30, licences=300)


@dataclass
class _Builder:
    rng: Random
    docs: list[Doc] = field(default_factory=list)

    def add(self, text: str, domain: str, kind: str, base: int | None = None, rate: float = 0.0) -> int:
        self.docs.append(Doc(text, domain, kind, base, rate))
        return len(self.docs) - 1


def build(size: Size = QUICK, extra: Iterable[tuple[str, str]] = (), seed: int = 7) -> list[Doc]:
    """The corpus; `extra` are further (text, domain). The order is shuffled; `base` follows it."""
    made = _Builder(Random(seed))
    _add_bases(made, size, extra)
    copied = len(made.docs)
    _add_copies(made, size, copied)
    for add in (_add_templates, _add_numbers, _add_operators):
        for number in range(size.families):
            add(made, number)
    _add_han(made)
    _add_short(made)
    _add_chain(made)
    for text in bases.licences()[: size.licences]:
        made.add(text, "knowledge", "licence")
    return _shuffled(made.docs, made.rng)


def _add_bases(made: _Builder, size: Size, extra: Iterable[tuple[str, str]]) -> None:
    for _ in range(size.prose):
        made.add(bases.prose(made.rng, int(made.rng.lognormvariate(5.6, 0.7)) + 40), "web", "base")
    for text in bases.docstrings(size.docstrings):
        made.add(text, "knowledge", "base")
    for text in bases.sources(size.sources):
        made.add(text, "code", "base")
    for text, domain in extra:
        made.add(text, domain, "base")


def _add_copies(made: _Builder, size: Size, count: int) -> None:
    for _ in range(size.exact):
        base = made.rng.randrange(count)
        made.add(made.docs[base].text, made.docs[base].domain, "exact", base)
    for edit, kind in ((edit_words, "word_edits"), (edit_block, "block_edit")):
        for rate in RATES:
            for base in made.rng.sample(range(count), size.edits):
                made.add(edit(made.rng, made.docs[base].text, rate), made.docs[base].domain, kind, base, rate)
    prose = [i for i in range(count) if made.docs[i].domain != "code"]
    for base in made.rng.sample(prose, min(size.exact, len(prose))):
        made.add(reset(made.docs[base].text), made.docs[base].domain, "reset", base)
    for _ in range(size.spread):
        base = made.add(bases.prose(made.rng, made.rng.randint(80, 500)), "web", "base")
        rate = made.rng.uniform(0.003, 0.1)
        made.add(edit_words(made.rng, made.docs[base].text, rate), "web", "spread", base, rate)


def edit_words(rng: Random, text: str, rate: float) -> str:
    """A copy with about `rate` of its words (at least one) replaced, left out or followed by another."""
    found = text.split(" ")
    places = [i for i in range(len(found)) if rng.random() < rate] or [rng.randrange(len(found))]
    for i in places:
        other = rng.choice(bases.prose_words(rng, 8))
        found[i] = rng.choice((other, other, "", f"{found[i]} {other}"))
    return " ".join(found)


def edit_block(rng: Random, text: str, rate: float) -> str:
    """A copy with one block of `rate` of its words (at least one) replaced by as many others."""
    found = text.split(" ")
    count = max(1, round(rate * len(found)))
    at = rng.randrange(len(found) - count + 1)
    return " ".join([*found[:at], *bases.prose_words(rng, count), *found[at + count :]])


def reset(text: str) -> str:
    """The same words set in other lines, case and Unicode form: like its base to the last shingle."""
    return unicodedata.normalize("NFD", "\r\n".join(text.split(" ")).replace("The", "the"))


def _add_templates(made: _Builder, number: int) -> None:
    """Pages of one template with different data: the template's share grows with the family."""
    frame = [bases.prose_words(made.rng, 30 + 25 * (number % 4)) for _ in range(3)]
    for _ in range(10):
        data = [bases.prose_words(made.rng, made.rng.randint(15, 60)) for _ in range(3)]
        parts = [" ".join(words) for pair in zip(frame, data, strict=True) for words in pair]
        made.add("\n".join(parts), "web", "template")


def _add_numbers(made: _Builder, number: int) -> None:
    """Documents that differ in nothing but their numbers."""
    rng = made.rng
    for _ in range(3):
        rows = (f"Row {n} measured {rng.randrange(10**5)} at {rng.randrange(24)} h" for n in range(12))
        made.add("\n".join(rows), "knowledge", "numbers")
        invoice = f"Invoice {rng.randrange(10**6)} of {rng.randrange(31)} May {number}, {rng.randrange(99)} euros"
        made.add(invoice, "web", "numbers")
        made.add("\n".join(f"{rng.randrange(99)} * x + {rng.randrange(99)} = y" for _ in range(9)), "math", "numbers")


def _add_operators(made: _Builder, number: int) -> None:
    """Programs that differ in nothing but their operators."""
    lines = [f"    v{i} = v{made.rng.randrange(i)} OP v{made.rng.randrange(i)}" for i in range(1, 25)]
    for operator in ("+", "-", "*", "//", "<<"):
        body = "\n".join(lines).replace("OP", operator)
        made.add(f"def f{number}(v0):\n{body}\n    return v24\n", "code", "operators")


def _add_han(made: _Builder) -> None:
    for _ in range(8):
        base = made.add(bases.han(made.rng, made.rng.randint(120, 700)), "web", "han")
        text = made.docs[base].text
        made.add(text, "web", "han_exact", base)
        for count in (1, 3):
            changed = list(text)
            for at in made.rng.sample(range(len(text)), count):
                changed[at] = chr(0x4E01 + 7 * made.rng.randrange(1200))
            made.add("".join(changed), "web", "han_edits", base, count / len(text))


def _add_short(made: _Builder) -> None:
    """Three copies each of documents of too few words for a shingle, and others like them but for a word."""
    for text in ("", "four words, no more", "你好世界", "x"):
        for domain in ("web", "code"):
            base = made.add(text, domain, "short")
            for _ in range(2):
                made.add(text, domain, "short_exact", base)
    for text in ("four words, not more", "你好世间", "y", "four words no more"):
        made.add(text, "web", "short")


def _add_chain(made: _Builder) -> None:
    """Each a window on one text, shifted by CHAIN_STEP words: the next is like it, the fifth no longer."""
    words = bases.prose_words(made.rng, CHAIN_WORDS + CHAIN_STEP * CHAIN_DOCS)
    for i in range(CHAIN_DOCS):
        made.add(" ".join(words[i * CHAIN_STEP : i * CHAIN_STEP + CHAIN_WORDS]), "web", "chain")


def _shuffled(docs: list[Doc], rng: Random) -> list[Doc]:
    order = list(range(len(docs)))
    rng.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    moved = (docs[old] for old in order)
    return [replace(doc, base=None if doc.base is None else place[doc.base]) for doc in moved]
