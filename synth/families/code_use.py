"""T24, definition and use in code: classes that take an attribute from one another, through subclasses, re-exports,
default arguments, overrides and other names, over modules in any order; the number that one of them has. Class A.

Slots of a record: body, the statement that binds a name in a module. Numbers are drawn, so that no knowledge of code
in the world helps.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth import paths
from gristmill.synth.families.code_registers import CODE
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "log = logging.getLogger(__name__) if 'logging' in globals() else None\n{body}",
        "{body}\ndef clear(cache):\n    cache.clear()",
        "def lazy(build):\n    return functools.lru_cache(build)\n{body}",
        "{body}\n# kept below its parents for the sake of readers",
        "_registry: dict[str, object] = dict()\n{body}",
        "{body}\nOLD_NAMES = ('legacy', 'deprecated', 'gone')",
        "class Missing(Exception):\n    pass\n{body}",
        "# the attribute is read by the planner and by nobody else\n{body}",
        "def double():\n    return mock.Mock(name='warehouse')\n{body}",
        "{body}\nEXPECTED = frozenset(('paid', 'sent', 'returned'))",
        "# arrange\n{body}\n# act and assert follow in the cases",
        "def session(request):\n    yield request.getfixturevalue('db')\n{body}",
        "{body}\ndef rollback(connection):\n    connection.rollback()",
        "os_name = 'posix'\n{body}\nPLATFORMS = (os_name, 'nt')",
        "if True:  # was a version check once\n    pass\n{body}",
        "{body}\nassert callable(print), 'somebody shadowed a builtin'",
    ),
    fields=(
        "REGION = 'north'\n{body}",
        "{body}\nEMAIL_FROM = 'desk@example.org'",
        "# limits\n{body}\n# end of limits",
        "USE_CACHE = not False\n{body}\nQUEUE = 'default'",
        "DATABASE = dict(engine='sqlite', name='main.db')\n{body}",
        "{body}\nINSTALLED = ('orders', 'stock', 'mail')",
        "THEME = 'plain'\nFOOTER = None\n{body}",
        "{body}\ndef enabled(flag):\n    return flag in ('on', 'yes')",
    ),
    asks=(
        "when all modules are imported, which number is {start}.{attr}",
        "what does print({start}.{attr}) show",
        "a debugger stops and you type {start}.{attr}. Which number appears",
        "resolve {start}.{attr} through every base, alias and default. What is the number",
        "what would a test have to compare {start}.{attr} with",
        "{start}.{attr} comes from far away in the tree. Which literal is it in the end",
        "which literal would a linter report as the value of {start}.{attr}",
        "if all names are followed to where they are defined, what is {start}.{attr}",
    ),
    registers=CODE,
)

ATTRIBUTES = ("limit", "quota", "depth", "weight", "timeout", "capacity")
_BUILTIN = ("dict", "list", "object", "Exception")
_FIRST, _PAST = 1000, 10_000


def names_needed(size: Size) -> int:
    """The classes."""
    return size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` chains of `size.hops` classes, the last of which has a number."""
    numbers: set[int] = set()
    while len(numbers) < size.chains:
        numbers.add(draws.integer(_FIRST, _PAST))
    values, attr = [str(number) for number in sorted(numbers)], draws.pick(ATTRIBUTES)
    nodes = paths.layers(size, names, values, draws)
    facts: list[Fact] = []
    for fact in paths.rows(nodes, "one", "other"):
        one, other = fact.slots["one"], fact.slots["other"]
        if fact.hop == size.hops - 1:
            body = _number(one, other, attr, draws)
        else:
            apart = draws.pick([name for name in nodes[fact.hop] if name != one])
            body = _link(one, other, apart, attr, draws)
        facts.append(Fact({"body": body}, fact.chain, fact.hop))
    questions = tuple(
        Question({"start": nodes[0][c], "attr": attr}, paths.evidence(size, c), nodes[-1][c])
        for c in range(size.chains)
    )
    return Bank(tuple(facts), questions, tuple(sorted(values)), paths.params(size))


def _link(one: str, other: str, apart: str, attr: str, draws: Draws) -> str:
    """One of the ways in which a name takes its attribute from another; `apart` is in the way in one of them."""
    return draws.pick(
        (
            f"class {one}({other}):\n    pass",
            f"class {one}({other}):\n    retries = None",
            f"{one} = {other}",
            f"from {draws.pick(_MODULES)} import {other} as {one}",
            f"class {one}({draws.pick(_BUILTIN)}):\n    {attr} = {other}.{attr}",
            f"class {one}:\n    def choose({attr}={other}.{attr}):\n        return {attr}\n    {attr} = choose()",
            f"class {one}({apart}):\n    {attr} = {other}.{attr}  # not that of the base",
        )
    )


_MODULES = ("shop.models", "core.defaults", "stock.units", "mail.rules", "desk.plans", "plugins.extra")


def _number(one: str, number: str, attr: str, draws: Draws) -> str:
    """One of the ways in which a class has a number."""
    return draws.pick(
        (
            f"class {one}:\n    {attr} = {number}",
            f"class {one}({draws.pick(_BUILTIN)}):\n    retries = None\n    {attr} = {number}",
            f"class {one}:\n    def choose({attr}={number}):\n        return {attr}\n    {attr} = choose()",
        )
    )


FAMILY = Family(
    name="code_use",
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
