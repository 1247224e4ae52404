"""How records of Python code are read, by `ast`: each module binds one invented name, and says where an attribute of it
comes from.

Read are classes (an attribute of their own goes before that of a base), other names for them, imports under another
name, and functions of a class that return a default argument. A module is at most MAX_CHARS long, so that no nesting
can hurt the parser.
"""

import ast
import re
from collections.abc import Sequence

from gristmill.synth.solvers.following import PathQuery, PathReader
from gristmill.synth.solvers.trails import Edge, follow, starts
from gristmill.synth.solvers.words import NAME_PATTERN, Contradiction, names_in, numbers_in

MAX_CHARS = 4000
_ASKED = re.compile(rf"({NAME_PATTERN})\.([a-z]+)\b")


def read_attribute(text: str) -> PathQuery:
    """Raises Contradiction where a query names not one attribute of one class."""
    found = set(_ASKED.findall(text))
    if len(found) != 1 or len(set(names_in(text))) != 1 or numbers_in(text):
        raise Contradiction(f"a query for {sorted(found)}")
    ((start, attribute),) = found
    return PathQuery(start, (attribute,))


def read_module(attribute: str, text: str) -> Edge:
    """Which name a module binds, and where its attribute comes from. Raises Contradiction."""
    if len(text) > MAX_CHARS:
        raise Contradiction(f"a module of {len(text)} characters")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Contradiction(f"a module that does not parse: {error}") from None
    found = [edge for statement in tree.body for edge in _bound(statement, attribute)]
    if len(found) != 1:
        raise Contradiction(f"a module that binds {[edge.key for edge in found]}")
    return found[0]


def _bound(statement: ast.stmt, attribute: str) -> list[Edge]:
    match statement:
        case ast.ClassDef(name=name) if _is_name(name):
            return [Edge(name, _of_class(statement, attribute))]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if _is_name(name):
            return [Edge(name, other)]
        case ast.ImportFrom(names=aliases):
            return [Edge(a.asname, a.name) for a in aliases if a.asname is not None and _is_name(a.asname)]
        case _:
            return []


def _of_class(made: ast.ClassDef, attribute: str) -> str:
    """The class that a class has the attribute from, or its number."""
    functions = {inner.name: inner for inner in made.body if isinstance(inner, ast.FunctionDef)}
    own = [
        inner.value
        for inner in made.body
        if isinstance(inner, ast.Assign) and [ast.unparse(target) for target in inner.targets] == [attribute]
    ]
    if own:
        return _value(own[-1], attribute, functions)
    bases = [base.id for base in made.bases if isinstance(base, ast.Name) and _is_name(base.id)]
    if len(bases) != 1:
        raise Contradiction(f"{made.name} has no {attribute} of its own, and bases {bases}")
    return bases[0]


def _value(value: ast.expr, attribute: str, functions: dict[str, ast.FunctionDef]) -> str:
    match value:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return str(number)
        case ast.Attribute(value=ast.Name(id=other), attr=attr) if attr == attribute and _is_name(other):
            return other
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in functions:
            return _value(_default(functions[name]), attribute, {})
        case _:
            raise Contradiction(f"{attribute} = {ast.unparse(value)}")


def _default(function: ast.FunctionDef) -> ast.expr:
    """What a function returns that returns its only argument."""
    match function:
        case ast.FunctionDef(
            args=ast.arguments(posonlyargs=[], args=[ast.arg(arg=name)], kwonlyargs=[], defaults=[default]),
            body=[ast.Return(value=ast.Name(id=returned))],
        ) if name == returned:
            return default
        case _:
            raise Contradiction(f"a function {function.name} that does more than return its default")


def _is_name(word: str) -> bool:
    return names_in(word) == [word]


def _modules(query: PathQuery, texts: Sequence[str]) -> list[Edge]:
    return [read_module(query.tables[0], text) for text in texts]


CODE = PathReader(read_attribute, _modules, follow, starts)
