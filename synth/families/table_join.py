"""T7, table join: tables of two columns beside their key; through which columns to go is asked, the others are in the
way. Class A.

Slots of a record: key, cells ("Column = Value, Column = Value", in either order). Each column of a table maps its keys
one to one to those of the next; the values of both are the same names, so that only the column tells them apart.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "the row of {key} holds {cells}",
        "for {key} the form was filled in as {cells}",
        "{key} is on record with {cells}",
        "the columns beside {key} say {cells}",
        "under {key} somebody typed {cells}",
        "{cells} belongs to the key {key}",
        "one finds {cells} when {key} is looked up",
        "the sheet has {key} on the left, then {cells}",
        "{key} was exported along with {cells}",
        "the join on {key} brings up {cells}",
        "{cells} are the fields of {key} after the merge",
        "i see {cells} in the line that starts with {key}",
        "whoever filters by {key} gets {cells}",
        "the card of {key} lists {cells}",
        "{key} keeps its attributes as {cells}",
        "the query for {key} came back with {cells}",
    ),
    fields=(
        "key={key} fields: {cells}",
        "{key}: {cells}",
        "row[{key}] = ({cells})",
        "record {key} with {cells}",
        "{key} | {cells} | end",
        "select {key} gave {cells}",
        "{cells} for id {key}",
        '<row key="{key}" cells="{cells}"/>',
    ),
    asks=(
        "join the tables from {start} on by the columns {columns}, one after the other. Which value do you end with",
        "from the row of {start} follow the columns {columns}, each in the row found before. What is the last value",
        "which value does {start} reach through {columns}, in this order",
        "the columns {columns} lead from row to row, beginning with {start}. What stands in the last of them",
        "start with the key {start}; read {columns}, each time using the value as the next key. What comes out",
        "a report begins at {start} and goes through {columns}. Which value does it show in the end",
        "what do you get for {start} by way of {columns}, when every value is the key of the next row",
        "look up {start} and go along {columns}, column by column. Name the value at the end",
    ),
)


def names_needed(size: Size) -> int:
    """Two columns a table, and the names of all layers."""
    return 2 * size.hops + size.facts + size.chains


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.hops` tables of `size.chains` rows."""
    columns, rest = names[: 2 * size.hops], names[2 * size.hops :]
    nodes = paths.layers(size, rest[: size.facts], rest[size.facts :], draws)
    facts: list[Fact] = []
    for hop in range(size.hops):
        asked, other = columns[2 * hop : 2 * hop + 2]
        rows = zip(nodes[hop], nodes[hop + 1], draws.shuffled(nodes[hop + 1]), strict=True)
        for chain, (key, value, decoy) in enumerate(rows):
            cells = draws.shuffled((f"{asked} = {value}", f"{other} = {decoy}"))
            facts.append(Fact({"key": key, "cells": ", ".join(cells)}, chain, hop))
    listed = ", ".join(columns[::2])
    questions = tuple(
        Question({"start": nodes[0][c], "columns": listed}, paths.evidence(size, c), nodes[-1][c])
        for c in range(size.chains)
    )
    return Bank(tuple(facts), questions, tuple(sorted(nodes[-1])), paths.params(size))


FAMILY = Family(
    name="table_join",
    version=1,
    klass="A",
    law="path",
    sizes=(
        Size(tier=3, chains=48, hops=7, asked=8),
        Size(tier=2, chains=48, hops=5, asked=8),
        Size(tier=2, chains=32, hops=5, asked=4),
        Size(tier=1, chains=56, hops=3, asked=4),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
