"""T2, share sum: deposits of one holder, scattered; their sum modulo M. Class A, no places leak.

Slots of a record: name, value. The query tells how many entries there are, so that a set that lacks one is known to.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Size, Wording

WORDING = Wording(
    clauses=(
        "{name} put {value} units into the pool",
        "a deposit of {value} units was booked to {name}",
        "{value} more units went to the credit of {name}",
        "the share of {name} grew by {value} units",
        "{name} was paid {value} units for the week",
        "they counted out {value} units for {name}",
        "the night mail brought {value} units to {name}",
        "{name} took delivery of {value} units",
        "the bank moved {value} units over to {name}",
        "{name} received a further {value} units",
        "an instalment worth {value} units fell to {name}",
        "a box with {value} units was set aside for {name}",
        "{name} earned {value} units at the fair",
        "the treasurer granted {name} a sum of {value} units",
        "{name} left the counter with {value} units",
        "a parcel of {value} units was signed for by {name}",
    ),
    fields=(
        "account={name} units_in={value}",
        "holder {name} receives +{value}",
        "units {value} -> {name}",
        "credit[{name}] = {value}",
        "{name} | {value} | incoming",
        "payee: {name}; amount: {value}",
        "amount_in {value} booked for {name}",
        '<entry holder="{name}" units="{value}"/>',
    ),
    asks=(
        "what do the {hops} sums that went to {name} make when added up, modulo {modulus}",
        "taking all {hops} entries of {name} together, how many units remain after division by {modulus}",
        "if you total the {hops} amounts booked for {name}, what is left modulo {modulus}",
        "{name} was credited {hops} times in the text. What is that total, reduced modulo {modulus}",
        "how much did {name} get in the {hops} places that mention it, counted modulo {modulus}",
        "compute the units of {name} over its {hops} records and take the remainder by {modulus}. What comes out",
        "which number modulo {modulus} do the {hops} payments to {name} add up to",
        "adding the {hops} values recorded for {name} on a dial of {modulus} steps, where does the hand stop",
    ),
)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Entries of `size.chains` holders."""

    def told(chain: int, values: Sequence[int]) -> tuple[list[Fact], dict[str, str]]:
        own = [{"name": names[chain], "value": str(value)} for value in values]
        return [Fact(slots, chain, hop) for hop, slots in enumerate(own)], {"name": names[chain]}

    return shares.bank(size, draws, told)


FAMILY = Family(
    name="share_sum",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=3, chains=9, hops=8, asked=8, modulus=97),
        Size(tier=2, chains=4, hops=5, asked=3, modulus=89),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=53),
    ),
    wording=WORDING,
    names_needed=shares.one_a_chain,
    build=build,
    embeds=True,
)
