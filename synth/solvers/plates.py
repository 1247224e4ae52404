"""Reference solvers of paths that lead through pictures, and of choices among pictures. Records are told by sight.

* `which_image`: a scene's things from left to right lead to the name of its record;
* `cross_modal`: a name leads to the number of its panel, a row's number to its name;
* `image_coordinate`: names lead on to a name with a scene, this one to the box of the thing that is asked for, in the
  view that the query names;
* `render_match`: a name leads to the pixels that its program draws here, these to the name of the picture with them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from blake3 import blake3

from gristmill.manifests.coordinates import Size, size_of
from gristmill.manifests.coordinates_text import TextView, box_text
from gristmill.render.pixels import Decoded, differing
from gristmill.render.protocol import Rejected
from gristmill.render.svg.engines import DRAW, ask
from gristmill.render.svg.wire import Message
from gristmill.synth.solvers.asking import Asked, Found, Law, Seen, Unproved
from gristmill.synth.solvers.following import PathQuery, PathReader, paths_law
from gristmill.synth.solvers.pixels import decode, decoded
from gristmill.synth.solvers.sight import READ_BEFORE, by_sight, panels, scenes, sized_scenes
from gristmill.synth.solvers.trails import Edge, follow, read_steps, starts
from gristmill.synth.solvers.words import Contradiction, names_in, numbers_in

_THING = re.compile(
    r"\b(red|orange|yellow|green|blue|purple|brown|black) (circle|ring|square|triangle|diamond|star|cross)\b"
)
_BOX = re.compile(r"(\w+ \w+) \[(\d+), (\d+), (\d+), (\d+)\]")
_PROGRAM = re.compile(r"```svg\n(.*?)\n```", re.DOTALL)
_SIDES = re.compile(r'<svg [^>]*\bwidth="(\d{1,4})" height="(\d{1,4})"')
MAX_SIDE_PX = 1024
MIN_DIFFERING_FRAC, MIN_HASH_BITS = 0.005, 4


def _one_name(text: str) -> str:
    names = set(names_in(text))
    if len(names) != 1:
        raise Contradiction(f"names {sorted(names)} where there is to be one")
    return names.pop()


def _edges(read: Callable[[PathQuery, str], Edge]) -> Callable[[PathQuery, Sequence[str]], list[Edge]]:
    return lambda query, texts: [read(query, text) for text in texts]


def _described(text: str) -> PathQuery:
    things = _THING.findall(text)
    return PathQuery(", ".join(" ".join(thing) for thing in _in_order(text, things)), steps=1)


def _in_order(text: str, things: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """From left to right: as they are named, but where one is said to stand between two others."""
    if len(things) != 3:
        raise Contradiction(f"a query for {len(things)} things")
    return (things[1], things[0], things[2]) if "stands between" in text else things


def _scene(query: PathQuery, text: str) -> Edge:
    return Edge(", ".join(" ".join(thing) for thing in _THING.findall(text.rpartition("shown: ")[2])), _one_name(text))


def _all_keys(query: PathQuery, edges: Sequence[Edge]) -> list[str]:
    return [edge.key for edge in edges]


def _joined(query: PathQuery, text: str) -> Edge:
    """A panel's record ends in its number, told by sight; a row does not."""
    found = numbers_in(text)
    if len(found) != 1:
        raise Contradiction(f"a record with numbers {found}")
    words, _, shown = text.rpartition("\nshown: ")
    return Edge(_one_name(text), shown) if words else Edge(str(found[0]), _one_name(text))


def _asked_box(text: str) -> PathQuery:
    things = set(_THING.findall(text))
    views = [view for view, word in (("pixels", "are pixels"), ("normalised", "are fractions")) if word in text]
    if len(things) != 1 or len(views) != 1:
        raise Contradiction(f"a query for {sorted(things)} in {views}")
    return PathQuery(_one_name(text), (" ".join(things.pop()), views[0]))


def _boxed(query: PathQuery, text: str) -> Edge:
    words, _, shown = text.rpartition("\nshown: ")
    if not words:
        names = names_in(text)
        if len(names) != 2 or names[0] == names[1]:
            raise Contradiction(f"a row with names {names}")
        return Edge(names[0], names[1])
    sides, _, things = shown.partition(": ")
    boxes = [tuple(map(float, box)) for kind, *box in _BOX.findall(things) if kind == query.tables[0]]
    if len(boxes) != 1:
        raise Contradiction(f"a picture with {len(boxes)} of {query.tables[0]}")
    x0, y0, x1, y1 = boxes[0]
    view: TextView = "pixels" if query.tables[1] == "pixels" else "normalised"
    return Edge(_one_name(words), box_text((x0, y0, x1, y1), view, _sides(sides)))


def _sides(text: str) -> Size:
    width, _, height = text.partition("x")
    return size_of(int(width), int(height))


def _to_box(query: PathQuery, edges: Sequence[Edge], without: int = -1) -> tuple[str | None, list[int]]:
    """As `trails.follow`, until a box ends it."""
    for steps in range(1, len(edges) + 1):
        end, path = follow(query._replace(tables=(), steps=steps), edges, without)
        if end is None or end.startswith("["):
            return end, path
    return None, []


def _drawn(text: str, png: bytes | None) -> str:
    """The words, and a digest of the pixels that the picture has or the program draws."""
    program = _PROGRAM.search(text)
    if program is not None and png is None:
        return f"{text[: program.start()].strip()}\nprogram: {_program_digest(program[1])}"
    if program is None and png is not None:
        return f"{text.strip()}\npicture: {_digest(png)}"
    raise Contradiction("a record with a program and a picture, or with neither")


@lru_cache(maxsize=READ_BEFORE)
def _digest(png: bytes) -> str:
    return blake3(decode(png).tobytes()).hexdigest(16)


@lru_cache(maxsize=READ_BEFORE)
def _program_digest(svg: str) -> str:
    sides = _SIDES.search(svg)
    if sides is None or not 0 < max(int(sides[1]), int(sides[2])) <= MAX_SIDE_PX:
        raise Contradiction("a program of no size")
    request = {"what": "draw", "text": svg, "width": int(sides[1]), "height": int(sides[2]), "parts": []}
    try:
        return _digest(ask(DRAW, Message(request)).blob)
    except Rejected as error:
        raise Contradiction(f"a program that draws nothing: {error}") from None


def _matched(query: PathQuery, text: str) -> Edge:
    words, _, told = text.rpartition("\n")
    kind, _, digest = told.partition(": ")
    return Edge(_one_name(words), digest) if kind == "program" else Edge(digest, _one_name(words))


def _apart(law: Law) -> Law:
    """A law that also asks that no two pictures of a bank are nearly the same."""

    def prove(seen: Seen, asked: Asked) -> Found:
        known = ("apart", asked.bank)
        if known not in seen.records.memo:
            files = [seen.records.pictures[start] for start, _ in asked.bank if start in seen.records.pictures]
            seen.records.memo[known] = _nearest([decoded(data) for data in files])
        if seen.records.memo[known]:
            raise Unproved("unsolved", f"two pictures of a bank {seen.records.memo[known]}", asked.index)
        return law.prove(seen, asked)

    return replace(law, prove=prove)


def _nearest(pictures: Sequence[Decoded]) -> str:
    """What is wrong with the two that are too near each other; "" where none are."""
    for at, one in enumerate(pictures):
        for other in pictures[:at]:
            if differing(one, other) < MIN_DIFFERING_FRAC * one.rgba.size / 4:
                return "differ in too few pixels"
            if (int(one.dhash, 16) ^ int(other.dhash, 16)).bit_count() < MIN_HASH_BITS:
                return "have nearly one difference hash"
    return ""


WHICH = by_sight(scenes, paths_law(PathReader(_described, _edges(_scene), follow, _all_keys)), distance_only=True)
JOINS = by_sight(panels, paths_law(PathReader(read_steps, _edges(_joined), follow, starts)))
BOXES = by_sight(sized_scenes, paths_law(PathReader(_asked_box, _edges(_boxed), _to_box, starts)))
MATCHES = _apart(
    by_sight(
        _drawn,
        paths_law(PathReader(lambda text: PathQuery(_one_name(text), steps=2), _edges(_matched), follow, starts)),
        distance_only=True,
    )
)
