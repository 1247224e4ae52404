"""`render:` of a dataset: domains of render pairs, and what each of them makes.

In: a `DatasetShape`'s mapping with its node tree. Out: one `Rendered` a domain, sorted by name, or problems with their
places. Two forms, `svg: 200` and the longer one with keys:

* `count`: slots that are generated, each with at most one record; `families`: only of these template families;
* `from`: a glob or a list of them, of code that exists already, instead of `count`;
* `min_accept_frac`: the run stops (exit 5) when less than this share of the attempts is let through by verification.

Beside the domains may stand `resources:`, what each task takes of a machine (`RESOURCES_OF` where they do not).
Whether a domain and its families exist is judged when it is loaded (`pipeline.renders`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gristmill.pipeline.recipe_resources import RESOURCES, Declared, take_resources
from gristmill.pipeline.recipe_shape import Params, Problem, shown
from gristmill.pipeline.recipe_yaml import Node, Place, place_of
from gristmill.pipeline.resources import Resources, enough_for
from gristmill.render.domains import BUILTIN, USER_FILE_MARK

KEYS = ("count", "families", "from", "min_accept_frac")
MAX_COUNT = 1_000_000_000
MIN_ACCEPT_FRAC = 0.5
"""Of what is generated. A sound domain is far above it; of existing code nobody knows beforehand, so there it is 0."""
RESOURCES_OF: Mapping[str, Resources] = {"web": Resources(mem_bytes=1536 << 20)}
"""What a task of a domain takes where nobody says: a browser is killed at 1,200 MiB, and two processes wait on it."""
MIN_ATTEMPTS = 20
"""Fewer attempts stop nothing: one of them would be more than 5 %."""


@dataclass(frozen=True)
class Rendered:
    """What one domain makes: `count` slots of `families` (all when empty), or the files of `patterns`.

    `where` is `FILE:LINE` of the domain, `key_where` those of its keys.
    """

    domain: str
    count: int
    families: tuple[str, ...]
    patterns: tuple[str, ...]
    min_accept_frac: float
    where: str = field(default="", compare=False)
    key_where: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    def plain(self) -> dict[str, Any]:
        """As a recipe and a manifest hold it, defaults written out."""
        floor = {"min_accept_frac": self.min_accept_frac}
        if self.patterns:
            return {"from": list(self.patterns), **floor}
        return {"count": self.count, "families": list(self.families) or None, **floor}


def parse_render(name: str, render: Params, root: Node) -> tuple[Rendered, ...]:
    """The domains of a dataset that has no `render_problems`."""
    return tuple(_rendered(name, domain, render[domain], root) for domain in sorted(render) if domain != RESOURCES)


def resources_of(name: str, render: Params, root: Node) -> Declared | None:
    """What each task takes, as declared, else enough for any of the domains; None where that is nothing special."""
    where = str(place_of(root, ("datasets", name, "render", RESOURCES)))
    rest, given = take_resources(render, where)
    usual = [domain for domain in sorted(rest) if domain in RESOURCES_OF]
    if given is not None or not usual:
        return given
    where = str(place_of(root, ("datasets", name, "render", usual[0])))
    return Declared(enough_for(RESOURCES_OF[domain] for domain in usual), where)


def _rendered(name: str, domain: str, given: Any, root: Node) -> Rendered:
    path = ("datasets", name, "render", domain)
    keys: Mapping[str, Any] = {"count": given} if isinstance(given, int) else given
    patterns = _listed(keys.get("from"))
    floor = keys.get("min_accept_frac")
    return Rendered(
        domain,
        keys.get("count") or 0,
        tuple(sorted(set(_listed(keys.get("families"))))),
        patterns,
        float(floor) if floor is not None else 0.0 if patterns else MIN_ACCEPT_FRAC,
        str(place_of(root, path)),
        {key: str(place_of(root, (*path, key))) for key in keys},
    )


def _listed(value: Any) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def render_problems(name: str, render: Params, root: Node) -> Iterator[Problem]:
    """What is wrong with the `render:` of a dataset."""
    path = ("datasets", name, "render")
    if not set(render) - {RESOURCES}:
        remedy = "write a domain and how many, `render: {svg: 200}`"
        yield Problem(place_of(root, path), f"datasets.{name}.render: names no domain", "{}", remedy)
    for domain, given in render.items():
        if domain == RESOURCES:
            continue
        place, what = place_of(root, (*path, domain)), f"datasets.{name}.render.{domain}"
        if domain not in BUILTIN and USER_FILE_MARK not in domain:
            yield Problem(place, f"datasets.{name}.render: no such domain", domain, known=BUILTIN)
        elif isinstance(given, Mapping):
            yield from _key_problems(what, given, (*path, domain), root)
        elif not _is_count(given):
            remedy = "write a whole number, 1 or more, or `{from: GLOB}`"
            yield Problem(place, f"{what}: not a number of records", shown(given), remedy)


def _key_problems(what: str, given: Mapping[str, Any], path: tuple[str, ...], root: Node) -> Iterator[Problem]:
    for key, value in given.items():
        place = place_of(root, (*path, key))
        if key not in KEYS:
            yield Problem(place, f"{what}: unknown key", key, known=KEYS)
        else:
            yield from _value_problems(f"{what}.{key}", key, value, place)
    has_count, has_files = given.get("count") is not None, given.get("from") is not None
    if has_count == has_files:
        told = (
            "takes count: or from:, not both"
            if has_count
            else "says neither how many (count:) nor of which files (from:)"
        )
        remedy = "make two datasets and join them with from:" if has_count else "write `count: 200`"
        yield Problem(place_of(root, path), f"{what}: {told}", None, remedy, absent=not has_count)
    if has_files and given.get("families") is not None:
        place = place_of(root, (*path, "families"))
        yield Problem(
            place, f"{what}.families: existing files have no families", shown(given["families"]), "take it out"
        )


def _value_problems(what: str, key: str, value: Any, place: Place) -> Iterator[Problem]:
    if value is None:
        return
    if key == "count" and not _is_count(value):
        yield Problem(place, f"{what}: not a number of records", shown(value), "write a whole number, 1 or more")
    elif key in ("families", "from") and not _are_texts(value):
        told = ("no family", "write a list of families") if key == "families" else ("no glob", "write a glob in quotes")
        yield Problem(place, f"{what}: {told[0]}", shown(value), f"{told[1]}, or a list of them")
    elif key == "min_accept_frac" and not (type(value) in (int, float) and 0 <= value <= 1):
        yield Problem(place, f"{what}: not a fraction", shown(value), "write a number from 0 to 1")


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_COUNT


def _are_texts(value: Any) -> bool:
    listed = [value] if isinstance(value, str) else value
    return isinstance(listed, list) and bool(listed) and all(isinstance(one, str) and one for one in listed)
