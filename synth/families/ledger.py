"""T23, ledger with transfers: sums go to an account and leave it; what is in it at the end, modulo M. Class A.

Slots of a record: giver, taker, value: one of the two is an account, the other a partner that is named nowhere else.
The name behind "to" takes, the one behind "from" gives. An account begins empty. Accounts have no lines in common, so
that the balance of one says nothing of another.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "{value} marks went from {giver} to {taker}",
        "a transfer of {value} marks to {taker} came from {giver}",
        "the bank moved {value} marks to {taker} from {giver}",
        "from {giver} the sum of {value} marks was carried to {taker}",
        "a draft over {value} marks passed from {giver} to {taker}",
        "{value} marks were taken from {giver} and handed to {taker}",
        "to {taker} were paid {value} marks from {giver}",
        "they booked {value} marks over from {giver} to {taker}",
        "{value} marks changed hands from {giver} to {taker}",
        "the clerk wired {value} marks to {taker}, drawn from {giver}",
        "rent of {value} marks is due to {taker} from {giver} and was settled",
        "from {giver} a purse with {value} marks found its way to {taker}",
        "{value} marks left the chest, from {giver} to {taker}",
        "it cost {value} marks, to {taker} from {giver}, as agreed",
        "an order over {value} marks from {giver} was made out to {taker}",
        "the messenger took {value} marks from {giver} across to {taker}",
    ),
    fields=(
        "from={giver} to={taker} marks={value}",
        "transfer {value} from {giver} to {taker}",
        "to: {taker}; from: {giver}; amount: {value}",
        "pay(from={giver}, to={taker}, {value})",
        "row: {value} | to {taker} | marks, from {giver}",
        "marks {value} moved to {taker} (from {giver})",
        "debit from {giver}, credit to {taker}: {value}",
        '<transfer from="{giver}" to="{taker}" marks="{value}"/>',
    ),
    asks=(
        "{account} was empty before its {hops} transfers, in and out. What does it hold after them, modulo {modulus}",
        "balance the {hops} lines of {account}, what came in less what went out, modulo {modulus}. What remains",
        "if {account} begins at zero and all {hops} of its payments count, where does it close modulo {modulus}",
        "add or subtract the {hops} bookings that touch {account} as they say. Which number modulo {modulus} is it",
        "{account} was opened at zero and {hops} lines concern it. What is its closing balance, modulo {modulus}",
        "receipts of {account} minus its expenses, {hops} bookings altogether, leave which remainder by {modulus}",
        "settle {account} from zero over {hops} transfers on a dial of {modulus} steps. What does the dial show",
        "counting in with plus and out with minus, what do the {hops} transfers of {account} make modulo {modulus}",
    ),
)


def names_needed(size: Size) -> int:
    """Accounts, and a partner for each line."""
    return size.chains + size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` accounts with `size.hops` lines each."""
    accounts, partners = names[: size.chains], iter(names[size.chains :])
    facts: list[Fact] = []
    questions: list[Question] = []
    for account, (chain, values) in zip(accounts, enumerate(shares.numbers(size, draws)), strict=True):
        evidence = tuple(range(len(facts), len(facts) + size.hops))
        balance = 0
        for hop, value in enumerate(values):
            comes = draws.chance(0.5)
            giver, taker = (next(partners), account)[:: 1 if comes else -1]
            facts.append(Fact({"giver": giver, "taker": taker, "value": str(value)}, chain, hop))
            balance += value if comes else -value
        slots = {"account": account, "hops": str(size.hops), "modulus": str(size.modulus)}
        questions.append(Question(slots, evidence, str(balance % size.modulus)))
    return Bank(tuple(facts), tuple(questions), shares.candidates(size), shares.params(size))


FAMILY = Family(
    name="ledger",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=9, hops=7, asked=8, modulus=100),
        Size(tier=2, chains=4, hops=5, asked=3, modulus=100),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=50),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
