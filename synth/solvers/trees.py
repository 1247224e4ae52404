"""Reference solvers of sums whose parts must be found first: equations, and calls of a request.

Equations: a record says that a name is the sum or the difference of two others, or a number; the query names one of
them and a modulus. A name may be used in other equations too, which do not count. Calls: records say which calls a
request made, and how many milliseconds a call took; the query tells how many calls there are. Every number enters with
+1 or -1, so that the numbers alone are shares. None where a record is missing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gristmill.synth.solvers.asking import Records
from gristmill.synth.solvers.sharing import Solved, shares_law
from gristmill.synth.solvers.sums import read_entry, read_modulus, read_sum_query
from gristmill.synth.solvers.words import NAME_PATTERN, Contradiction, names_in, numbers_in

_TERMS = re.compile(rf"({NAME_PATTERN}) ([+-]) ({NAME_PATTERN})")
_CALL = re.compile(rf"\ba call to ({NAME_PATTERN})")
_MILLISECONDS = re.compile(r"(?<!\d)(\d{1,6}) ms\b")


class Equation(NamedTuple):
    """What a name is: two others, the second with a sign, or a number where there are none."""

    left: str
    terms: tuple[tuple[str, int], ...]
    number: int


class Call(NamedTuple):
    """What a record says of a name: that it made a call, or how many milliseconds it took ("" for `callee`)."""

    caller: str
    callee: str
    number: int


def read_equation(text: str) -> Equation:
    """Raises Contradiction."""
    names, found = names_in(text), _TERMS.findall(text)
    terms = tuple((name, sign) for a, op, b in found for name, sign in ((a, 1), (b, 1 if op == "+" else -1)))
    left = [name for name in names if name not in {term for term, _ in terms}]
    if len(set(left)) != 1 or len(names) != 1 + len(terms) or len(found) > 1 or bool(found) == bool(numbers_in(text)):
        raise Contradiction(f"a record with names {names}, terms {terms} and numbers {numbers_in(text)}")
    return Equation(left[0], terms, 0 if terms else read_entry(text))


def read_call(text: str) -> Call:
    """Raises Contradiction."""
    names, callees, took = names_in(text), _CALL.findall(text), _MILLISECONDS.findall(text)
    callers = [name for name in names if name not in callees]
    if len(callers) != 1 or len(callees) + len(took) != 1 or len(numbers_in(text)) != len(took):
        raise Contradiction(f"a record with names {names}, calls to {callees} and milliseconds {took}")
    return Call(callers[0], callees[0] if callees else "", int(took[0]) if took else 0)


def solve_equations(text: str, records: Records, without: int = -1) -> Solved:
    """The value of the name of a query, modulo its modulus."""
    names, modulus = set(names_in(text)), read_modulus(text)
    if len(names) != 1 or len(numbers_in(text)) != 1:
        raise Contradiction(f"a query with names {sorted(names)} and numbers {numbers_in(text)}")
    key = names.pop()
    open_names, used, parts, whole = [(key, 1)], list[int](), dict[int, int](), True
    while open_names:
        name, sign = open_names.pop()
        known = {start: read_equation(records.texts[start]) for start in records.with_name(name) if start != without}
        own = [start for start, equation in known.items() if equation.left == name]
        if len(own) > 1 or set(own) & set(used):
            raise Contradiction(f"{len(own)} equations of {name}, or one that is used twice")
        whole = whole and bool(own)
        for start in own:
            used.append(start)
            open_names += [(term, sign * own_sign) for term, own_sign in known[start].terms]
            if not known[start].terms:
                parts[start] = sign * known[start].number
    return _solved(key, modulus, used, parts, whole)


def solve_calls(text: str, records: Records, without: int = -1) -> Solved:
    """The milliseconds of all calls of the request of a query, modulo its modulus."""
    query = read_sum_query(text)
    used, parts, whole = list[int](), dict[int, int](), True
    calls = _of_caller(query.name, records, without)
    for start, call in calls.items():
        took = _of_caller(call.callee, records, without)
        if not call.callee or len(took) > 1 or any(inner.callee for inner in took.values()):
            raise Contradiction(f"{query.name} calls {call.callee!r}, which has {len(took)} records")
        whole = whole and bool(took)
        used += [start, *took]
        parts |= {at: inner.number for at, inner in took.items()}
    if len(calls) > query.entries or len(set(used)) < len(used):
        raise Contradiction(f"{len(calls)} calls, {query.entries} asked for")
    return _solved(query.name, query.modulus, used, parts, whole and len(calls) == query.entries)


def _of_caller(name: str, records: Records, without: int) -> dict[int, Call]:
    found = {start: read_call(records.texts[start]) for start in records.with_name(name) if start != without}
    return {start: call for start, call in found.items() if call.caller == name}


def _solved(key: str, modulus: int, used: Sequence[int], parts: Mapping[int, int], whole: bool) -> Solved:
    def total(starts: Sequence[int]) -> str:
        return str(sum(parts[start] for start in starts) % modulus)

    shares = tuple(sorted(parts))
    answer = total(shares) if whole else None
    return Solved(key, answer, tuple(used), shares, tuple(map(str, range(modulus))), total)


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(map(str, numbers_in(text)))


EQUATIONS = shares_law(solve_equations, _numbers)
CALLS = shares_law(solve_calls, _numbers)
