"""One frozen state of a page: boxes, names, picture and id map, read so that they agree.

`take` reads all boxes, photographs, reads them again (they must be equal), paints the id map, and reads them a third
time: what that moved is told by the id map wrongly, and is sampled by hit tests instead. The answer is plain data:

* `pixels` of the picture, and `page`: counts of what happened and how large the page is;
* `things`: a dict for each element or text line worth naming, with `key` (`e<number>` or `t<block>.<n>`), `id` (the
  attribute), `role`, `text`, `states`, `full`, `visible`, `point` (pixels of the picture), `frac`, `pixels`, `z`,
  `truncated`, `cut` (its content is wider than it shows), `source` (`id map` or `hits`), `contrast` (text lines).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.render.protocol import Box
from gristmill.render.web.idmap import (
    INK_LEVEL,
    Mask,
    Owners,
    Seen,
    contrast,
    count_among,
    ink_in,
    median_colour,
    owners_of,
    pixel_box,
    seen_below,
)
from gristmill.render.web.painted import line_says, says
from gristmill.render.web.roles import is_worth_naming, role_of, text_of
from gristmill.render.web.session import Loaded, PageFault, Pixels
from gristmill.render.web.snapshot import Layout, Named, layout_of, named_of

PAINTED, INLINE, CUT, SEVERAL, THEMED = 1, 2, 4, 8, 16
"""Flags of `page.js`."""
MAX_THINGS = 600
HIT_CELLS = 24
_MOVED_PX = 0.51
_SURE_FRAC = 0.6
_INK_OPAQUE = 200
_NAMELESS = Named("", "")


@dataclass(frozen=True)
class Hits:
    """Elements on top (`top`, rows x columns) at places inside `box`, CSS pixels."""

    box: Box
    columns: Sequence[float]
    rows: Sequence[float]
    top: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Scene:
    """What all measures of a page look at; boxes of `elements` and `lines` are CSS pixels, pictures are not."""

    elements: Sequence[Mapping[str, Any]]
    lines: Sequence[Mapping[str, Any]]
    layout: Layout
    named: Mapping[int, Named]
    ends: Sequence[int]
    scale: float
    pixels: Pixels
    owners: Owners
    ink: Pixels
    moved: frozenset[int]
    sampled: Mapping[int, Hits]


def take(loaded: Loaded, ids: Sequence[str] = ()) -> dict[str, Any]:
    """The frozen state of a loaded page; elements with one of `ids` are always worth naming. Raises PageFault."""
    found = loaded.call("collect")
    layout = read_layout(loaded)
    if len(layout.nodes) != len(found["elements"]):
        raise PageFault("trees_disagree", f"{len(found['elements'])} elements, {len(layout.nodes)} in the layout")
    named = named_of(loaded.send("Accessibility.getFullAXTree"), layout)
    before = found["boxes"]
    pixels = loaded.shot()
    wanted = _wanted(found["elements"], named, frozenset(ids))
    sampled = _sampled(loaded, [(i, found["elements"][i]) for i in wanted if found["elements"][i]["flags"] & THEMED])
    still, after = loaded.call("recolour", wanted)
    boxes_moved = sum(a != b for a, b in zip(before, still, strict=True))
    moved = frozenset(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if _distance(a, b) > _MOVED_PX)
    owners, ink = owners_of(loaded.shot(), len(before))
    scale, ends = loaded.view.scale, layout.ends()
    scene = Scene(found["elements"], found["lines"], layout, named, ends, scale, pixels, owners, ink, moved, sampled)
    things = [*_elements(scene, _painting(scene, wanted)), *_lines(scene)][:MAX_THINGS]
    page = found["page"] | {"boxes_moved": boxes_moved, "elements": len(before)}
    page["frames"] = 1 + len(loaded.happened.frames)
    page |= {"unknown_frac": float(np.mean(owners < 0)), "events": dict(loaded.events)}
    things = _settled(loaded, scene, things)
    page |= {"unsaid": sum(thing["unsaid"] for thing in things), "moved": len(moved)}
    return {"pixels": pixels, "page": page, "things": [thing for thing in things if thing["pixels"]]}


def _wanted(elements: Sequence[Mapping[str, Any]], named: Mapping[int, Named], ids: frozenset[str]) -> list[int]:
    """The elements worth naming, in document order; of several with one id the first has it."""
    first: dict[str, int] = {}
    for i, element in enumerate(elements):
        if element["id"] in ids:
            first.setdefault(element["id"], i)
    asked = {i for i in first.values() if elements[i]["box"] is not None}
    return sorted(asked | {i for i, name in named.items() if is_worth_naming(elements[i], name)})


def _painting(scene: Scene, wanted: Sequence[int]) -> list[int]:
    """Those of `wanted` that paint something themselves, or whose content does."""
    paints = np.array([bool(element["flags"] & PAINTED) for element in scene.elements], np.int64)
    for line in scene.lines:
        paints[line["owners"]] = 1
    before = np.concatenate([[0], np.cumsum(paints)])
    return [i for i in wanted if before[scene.ends[i]] > before[i]]


def read_layout(loaded: Loaded) -> Layout:
    """The layout tree of the page. Raises PageFault."""
    asked = {"computedStyles": [], "includePaintOrder": True}
    return layout_of(loaded.send("DOMSnapshot.captureSnapshot", asked))


def scaled(box: Sequence[float], scale: float) -> Box:
    """A box of CSS pixels in those of the picture."""
    return box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale


def clipped(box: Box, width: int, height: int) -> Box:
    """What of a box lies in the picture."""
    x0, y0 = min(max(box[0], 0.0), width), min(max(box[1], 0.0), height)
    return x0, y0, min(max(box[2], x0), width), min(max(box[3], y0), height)


def chain_of(layout: Layout, members: Sequence[int]) -> Mask:
    """A flag for each element: whether it is one of `members` or above one."""
    flags = np.zeros(len(layout.nodes), np.bool_)
    for member in members:
        at = member
        while at >= 0 and not flags[at]:
            flags[at] = True
            at = layout.nodes[at].parent
    return flags


def _elements(scene: Scene, wanted: Sequence[int]) -> list[dict[str, Any]]:
    things: list[dict[str, Any]] = []
    before = np.concatenate([[0], np.cumsum([bool(element["flags"] & PAINTED) for element in scene.elements])])
    for i in wanted:
        element, name = scene.elements[i], scene.named.get(i, _NAMELESS)
        box = scaled(element["box"], scene.scale)
        seen = seen_below(scene.owners, box, i, scene.ends[i])
        if before[scene.ends[i]] == before[i] and not _has_ink(scene, box):
            continue
        alone = element["area"] * scene.scale**2
        text = text_of(name)
        said = says(scene.layout, scene.ends, i, text)
        thing = _thing(scene, f"e{i}", box, seen, alone) | {
            "id": element["id"],
            "role": role_of(element, name),
            "text": text if said else "",
            "unsaid": not said,
            "several": bool(element["flags"] & SEVERAL),
            "states": list(name.states),
            "z": scene.layout.nodes[i].order,
            "cut": bool(element["flags"] & CUT),
            "number": i,
            "last": scene.ends[i],
        }
        things.append(thing)
    return things


def _has_ink(scene: Scene, box: Box) -> bool:
    """Whether text is seen in a box: of what is cut by the picture's edge perhaps only the space above it is."""
    x0, y0, x1, y1 = pixel_box(box, scene.ink.shape[1], scene.ink.shape[0])
    return bool((scene.ink[y0:y1, x0:x1] >= INK_LEVEL).any())


def _lines(scene: Scene) -> list[dict[str, Any]]:
    things: list[dict[str, Any]] = []
    of_block: dict[int, int] = {}
    for line in scene.lines:
        block = line["block"]
        of_block[block] = of_block.get(block, -1) + 1
        said = line_says(scene.layout, scene.ends, block, line["box"], line["text"])
        if line["cut"]:
            continue
        box = scaled(line["box"], scene.scale)
        allowed = chain_of(scene.layout, line["owners"])
        count, (ink, mask) = count_among(scene.owners, box, allowed), ink_in(scene.owners, scene.ink, box, allowed)
        height, width = scene.owners.shape
        alone = (box[2] - box[0]) * (box[3] - box[1])
        inside = clipped(box, width, height)
        shown = count / max((inside[2] - inside[0]) * (inside[3] - inside[1]), 1.0)
        thing = _thing(scene, f"t{block}.{of_block[block]}", box, ink, alone) | {
            "id": "",
            "role": "text line",
            "text": line["text"] if said else "",
            "unsaid": not said,
            "several": False,
            "states": [],
            "z": scene.layout.nodes[line["owners"][0]].order,
            "cut": False,
            "frac": min(shown, 1.0),
            "contrast": _contrast(scene, inside, mask),
        }
        things.append(thing)
    return things


def _thing(scene: Scene, key: str, box: Box, seen: Seen | None, alone: float) -> dict[str, Any]:
    height, width = scene.owners.shape
    thing: dict[str, Any] = {
        "key": key,
        "full": list(clipped(box, width, height)),
        "truncated": box[0] < -0.5 or box[1] < -0.5 or box[2] > width + 0.5 or box[3] > height + 0.5,
        "source": "id map",
        "pixels": seen.count if seen else 0,
        "unknown": seen.unknown if seen else 0,
    }
    if seen:
        thing |= {"visible": list(_inside(seen.bounds, thing["full"])), "point": list(seen.point)}
        # Pixels of which nobody can tell whose they are (soft edges of letters) are shared out as the others are.
        thing["frac"] = min(seen.count / max(alone - seen.unknown, seen.count, 1.0), 1.0)
    return thing


def _inside(bounds: Box, full: Sequence[float]) -> Box:
    """Pixels that a box only touches belong to its border: the bounds end where the box does."""
    x0, y0 = max(bounds[0], full[0]), max(bounds[1], full[1])
    return x0, y0, max(min(bounds[2], full[2]), x0), max(min(bounds[3], full[3]), y0)


def _contrast(scene: Scene, box: Box, ink: Mask) -> float:
    x0, y0 = int(np.floor(box[0] + 1e-3)), int(np.floor(box[1] + 1e-3))
    window = (slice(y0, y0 + ink.shape[0]), slice(x0, x0 + ink.shape[1]))
    strongest = scene.ink[window] >= _INK_OPAQUE
    ink_colour = median_colour(scene.pixels[window], ink & strongest if (ink & strongest).any() else ink)
    ground = median_colour(scene.pixels[window], scene.ink[window] == 0)
    return contrast(ink_colour, ground) if ink_colour and ground else float("nan")


def _distance(a: Sequence[float], b: Sequence[float]) -> float:
    return max(abs(p - q) for p, q in zip(a, b, strict=True))


def _settled(loaded: Loaded, scene: Scene, things: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the theme draws, and what the id map is not sure of, by hit tests; without what its colours moved."""
    unsure = [thing for thing in things if "number" in thing and _is_unsure(thing)]
    late = _sampled(loaded, [(t["number"], scene.elements[t["number"]]) for t in unsure])
    hits = {**late, **scene.sampled}
    settled: list[dict[str, Any]] = []
    for thing in things:
        number = thing.get("number", -1)
        if number in scene.sampled or (number in hits and number not in scene.moved):
            settled.append(_by_hits(thing, hits[number], scene.ends[number], scene.scale))
        elif number not in scene.moved:
            settled.append(thing)
    return settled


def _is_unsure(thing: Mapping[str, Any]) -> bool:
    return not thing["pixels"] or thing["unknown"] > (1 - _SURE_FRAC) * (thing["pixels"] + thing["unknown"])


def _sampled(loaded: Loaded, asked: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[int, Hits]:
    """The element on top at up to HIT_CELLS places each way, the outermost half a pixel inside the box."""
    view = loaded.view
    found: dict[int, Hits] = {}
    if not asked:
        return found
    loaded.ask("gm.reach()")
    for number, element in asked:
        box = clipped(tuple(element["box"]), view.width_px, view.height_px)
        columns, rows = _places(box[0], box[2]), _places(box[1], box[3])
        top = loaded.call("hits", [[x, y] for y in rows for x in columns])
        found[number] = Hits(box, columns, rows, np.asarray(top, np.int64).reshape(len(rows), len(columns)))
    return found


def _places(low: float, high: float) -> list[float]:
    count = max(min(int(high - low), HIT_CELLS), 1)
    return [float(v) for v in np.linspace(low + 0.5, max(high - 1.0, low + 0.5), count)]


def _by_hits(thing: dict[str, Any], hits: Hits, last: int, scale: float) -> dict[str, Any]:
    mask = (hits.top >= thing["number"]) & (hits.top < last)
    thing |= {"source": "hits", "pixels": 0}
    if not mask.any():
        return thing
    across, down = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    x0, x1 = _ends(hits.columns, across, hits.box[0], hits.box[2])
    y0, y1 = _ends(hits.rows, down, hits.box[1], hits.box[3])
    places = np.argwhere(mask)
    row, column = places[np.argmin(np.abs(places - (np.array(mask.shape) - 1) / 2).sum(axis=1))]
    point = [hits.columns[column] * scale, hits.rows[row] * scale]
    area = (hits.box[2] - hits.box[0]) * (hits.box[3] - hits.box[1]) * scale**2
    frac = float(mask.mean())
    return thing | {
        "visible": list(scaled((x0, y0, x1, y1), scale)),
        "point": point,
        "pixels": round(frac * area),
        "frac": frac,
    }


def _ends(places: Sequence[float], hit: Any, low: float, high: float) -> tuple[float, float]:
    """From the first to the last place that was hit; the edges of the box where these are its outermost ones."""
    first, last = int(hit[0]), int(hit[-1])
    return (low if first == 0 else places[first] - 0.5), (high if last == len(places) - 1 else places[last] + 0.5)
