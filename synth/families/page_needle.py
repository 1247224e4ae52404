"""M9, page needle: scans of printed pages, on each a line that books a number to a name; their sum modulo M. Class A.

A record is a caption that says nothing but that a page is here; name and number stand in the pixels of the page alone,
among other words, with an x-height of 10 pixels or more.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import shares
from gristmill.synth.protocol import Bank, Fact, Family, Size, Wording
from gristmill.synth.scenes.pages import page

SAYINGS = (
    "{name} was given {value} crowns.",
    "It cost {name} all of {value} pence.",
    "They owed {name} some {value} coins.",
    "Then {name} came up with {value} more.",
    "For {name} he wrote down {value}.",
    "So {value} was what {name} got.",
)

WORDING = Wording(
    clauses=(
        "a page of the old folder is shown here as it was found",
        "the scan beside this line comes from a bound volume",
        "somebody photographed the sheet that you see here",
        "this is one more leaf of the same book",
        "the print at this place was cut out with care",
        "one of the pages got loose and was pasted in here",
        "the copy here can be read without a lens",
        "what follows or stands above is a page of type",
        "the leaf here is as clean as on its first day",
        "a single sheet was kept at this point",
        "no more than one page of the book is given here",
        "the facsimile here was made before the flood",
        "there is a printed sheet next to this remark",
        "the page in this spot has never been copied out",
        "the archive put a sheet of print right here",
        "you have a leaf of the account book before you",
    ),
    fields=(
        "scan=inline pages=one",
        "page image, see here",
        "[sheet attached]",
        "type: facsimile; pages: one",
        "leaf <- scanner",
        "printed page | embedded image | legible",
        "attach(this_page)",
        '<page src="inline" text="none"/>',
    ),
    asks=(
        "on {hops} of the printed pages something is booked to {name}. What do these numbers make, modulo {modulus}",
        "find {name} on {hops} scanned sheets, add the numbers in its lines, and reduce modulo {modulus}",
        "taking the {hops} leaves that mention {name}, how much is it in all after division by {modulus}",
        "the print names {name} in {hops} places, each with a number. Their sum modulo {modulus} is",
        "what do the {hops} facsimiles with {name} in them add up to, counted modulo {modulus}",
        "read every page image; of those {hops} that have {name}, total the figures. What is left modulo {modulus}",
        "which number modulo {modulus} comes of the {hops} lines of type about {name}",
        "on a dial of {modulus} steps the hand moves by each figure that {hops} pages put beside {name}. It stops at",
    ),
)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """Pages of `size.chains` names."""
    style = draws.child("style")

    def told(chain: int, values: Sequence[int]) -> tuple[list[Fact], dict[str, str]]:
        said = [style.pick(SAYINGS).format(name=names[chain], value=value) for value in values]
        facts = [Fact({}, chain, hop, drawing=page(sentence, style)) for hop, sentence in enumerate(said)]
        return facts, {"name": names[chain]}

    return shares.bank(size, draws, told)


FAMILY = Family(
    name="page_needle",
    version=1,
    klass="A",
    law="sum",
    sizes=(
        Size(tier=2, chains=7, hops=4, asked=6, modulus=89),
        Size(tier=1, chains=4, hops=3, asked=3, modulus=53),
        Size(tier=1, chains=2, hops=2, asked=1, modulus=53),
    ),
    wording=WORDING,
    names_needed=shares.one_a_chain,
    build=build,
    pictured=True,
)
