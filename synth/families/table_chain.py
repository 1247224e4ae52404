"""T1, table chain: k tables map names to names, one to one; where a start ends after all of them. Class A.

Slots of a record: table, key, image. The query names the start and the tables in their order. Tables' rows stand where
they like; what a window leaks is that the images which it shows are not the answer.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "table {table} turns {key} into {image}",
        "in {table} the entry for {key} reads {image}",
        "{key} leads to {image} under the rules of {table}",
        "whoever looks up {key} in {table} finds {image}",
        "the {table} list sends {key} on to {image}",
        "{table} pairs the word {key} with {image}",
        "{image} is what {table} gives for {key}",
        "going by {table}, one replaces {key} with {image}",
        "{table} has {key} on the left and {image} on the right",
        "for {key} the page of {table} offers {image}",
        "under {table}, {key} stands for {image}",
        "{table} answers {key} with {image}",
        "by {table} you get from {key} to {image}",
        "the clerk of {table} swaps {key} for {image}",
        "{table} writes {image} wherever {key} comes in",
        "when {table} is handed {key} it returns {image}",
    ),
    fields=(
        "table={table} key={key} value={image}",
        "{table}: {key} -> {image}",
        "at {table}[{key}] stands {image}",
        "lookup {key} in {table} gives {image}",
        "{table} | in: {key} | out: {image}",
        "map {table} from {key} to {image}",
        "{key} becomes {image} ({table})",
        '<row table="{table}" in="{key}" out="{image}"/>',
    ),
    asks=(
        "take {start} through {tables}, in this order, each time going on with what you found. Where do you end",
        "look {start} up in {tables}, one after the other, each with the last result. What is the final word",
        "starting at {start} and using {tables} in turn, which word comes out",
        "{start} goes in. The tables are, first to last, {tables}. What is the word at the end",
        "what does {start} become after {tables} have been applied in that sequence",
        "chain the tables {tables} and feed in {start}: which word is the last result",
        "with {tables} followed from left to right, to which word does {start} lead",
        "if {start} is replaced by way of {tables}, step after step, what remains",
    ),
)


def names_needed(size: Size) -> int:
    """Tables, and the names of all layers."""
    return size.hops + size.chains * (size.hops + 1)


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.hops` tables of `size.chains` rows."""
    tables, rest = names[: size.hops], names[size.hops :]
    nodes = paths.layers(size, rest[: size.facts], rest[size.facts :], draws)
    facts: list[Fact] = []
    for hop, table in enumerate(tables):
        rows = zip(nodes[hop], nodes[hop + 1], strict=True)
        facts += [Fact({"table": table, "key": k, "image": i}, chain, hop) for chain, (k, i) in enumerate(rows)]
    listed = ", ".join(tables)
    questions = [
        Question({"start": nodes[0][c], "tables": listed}, tuple(range(c, size.facts, size.chains)), nodes[-1][c])
        for c in range(size.chains)
    ]
    return Bank(tuple(facts), tuple(questions), tuple(sorted(nodes[-1])), paths.params(size))


FAMILY = Family(
    name="table_chain",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=2, chains=64, hops=6, asked=16),
        Size(tier=2, chains=48, hops=5, asked=8),
        Size(tier=2, chains=32, hops=5, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
    embeds=True,
)
