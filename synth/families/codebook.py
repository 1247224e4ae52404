"""T20, codebook: books give a letter for each sign; which word some signs spell by one of the books. Class A.

Slots of a record: book, sign, letter. All books of a bank have the same signs. Letters are independent and uniform, so
that no letter tells about another. `size.spare` signs of a book are not asked.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the sign {sign} means the letter {letter} in {book}",
        "in {book} one writes {sign} for the letter {letter}",
        "{book} has the letter {letter} next to {sign}",
        "whoever sends {sign} by {book} means the letter {letter}",
        "the letter {letter} hides behind {sign} in the book called {book}",
        "{sign}, if you go by {book}, is the letter {letter}",
        "{book} spells the letter {letter} as {sign}",
        "a spy with {book} reads {sign} as the letter {letter}",
        "on a page of {book} the number {sign} got the letter {letter}",
        "the key {book} gives the letter {letter} to {sign}",
        "{sign} was matched with the letter {letter} when {book} was made",
        "by {book} you turn {sign} back into the letter {letter}",
        "the letter {letter} goes out as {sign} under {book}",
        "the author of {book} chose {sign} to stand for the letter {letter}",
        "decoding {sign} with {book} yields the letter {letter}",
        "{book} keeps {sign} for the letter {letter} alone",
    ),
    fields=(
        "book={book} sign={sign} letter={letter}",
        "letter {letter} := {book}/{sign}",
        "decode({book}, {sign}) -> letter {letter}",
        "{sign} in {book}: letter {letter}",
        "{sign} | row of {book} | letter {letter}",
        "sign: {sign}; of: {book}; letter: {letter}",
        "letter {letter} coded {sign} ({book})",
        '<code book="{book}" sign="{sign}" letter="{letter}"/>',
    ),
    asks=(
        "which word do the signs {signs} spell by the book {book}",
        "decode {signs}, in this order, with {book}. What do you read",
        "a message in {book} says {signs}. Write it in letters",
        "the book to use is {book} and the message {signs}. What does it say",
        "what is {signs} in plain letters if {book} is the key",
        "somebody telegraphs {signs} and both sides own {book}. Which letters arrive",
        "turn {signs} into letters, one sign after the other, under {book}. What stands there",
        "put the letters that {book} has for {signs} side by side. Which word is it",
    ),
)

ALPHABET = "adeilnorst"
_FIRST, _PAST = 100, 1000


def names_needed(size: Size) -> int:
    """One a book."""
    return size.chains


@cache
def _words(letters: int) -> tuple[str, ...]:
    return tuple(map("".join, product(ALPHABET, repeat=letters)))


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` books of `size.hops + size.spare` signs, of which `size.hops` are asked of each."""
    signs: set[int] = set()
    while len(signs) < size.hops + size.spare:
        signs.add(draws.integer(_FIRST, _PAST))
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, book in enumerate(names[: size.chains]):
        first, letters = len(facts), [draws.pick(ALPHABET) for _ in signs]
        rows = zip(sorted(signs), letters, strict=True)
        facts += [
            Fact({"book": book, "sign": str(s), "letter": letter}, chain, hop) for hop, (s, letter) in enumerate(rows)
        ]
        asked = draws.some(range(first, len(facts)), size.hops)
        slots = {"book": book, "signs": " ".join(facts[fact].slots["sign"] for fact in asked)}
        questions.append(Question(slots, tuple(asked), "".join(facts[fact].slots["letter"] for fact in asked)))
    params = {"chains": size.chains, "hops": size.hops, "spare": size.spare}
    return Bank(tuple(facts), tuple(questions), _words(size.hops), params)


FAMILY = Family(
    name="codebook",
    version=1,
    klass="A",
    law="codebook",
    sizes=(
        Size(tier=2, chains=9, hops=4, asked=8, spare=2),
        Size(tier=2, chains=4, hops=4, asked=3, spare=1),
        Size(tier=2, chains=3, hops=4, asked=2),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
