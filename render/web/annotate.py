"""Annotations out of a page's frozen state: what is left of `frozen.take`'s things, in order of painting.

Left out: elements of fewer than MIN_PIXELS visible pixels or a visible side under MIN_SIDE_PX; elements that cut their
own content off; text lines that are partly covered or cut by the picture's edge, that contrast too little with what
lies behind them, or whose text is not what is painted. An annotation's id is `#` and the part's key for a named part,
else `e<number>` of the element or `t<block>.<n>` of the text line. A text line's visible box bounds its ink, its text
is what is painted there; the text of any other element is what it is called, which may stand beside it (a label) or
nowhere (the name of a picture). Roles carry states: `checkbox, checked`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.render.protocol import Annotation, Box, Code, Part
from gristmill.render.web.roles import with_states

MIN_PIXELS = 8
MIN_SIDE_PX = 4.0
MIN_CONTRAST = 2.2
"""A little over the limit of verification, which samples other pixels."""
MIN_LINE_FRAC = 0.97
LINE = "text line"


def annotations_of(code: Code, things: Sequence[Mapping[str, Any]]) -> tuple[Annotation, ...]:
    """The annotations of a page."""
    parts = {part.key: part for part in code.parts}
    named: set[str] = set()
    found: list[Annotation] = []
    order = sorted(range(len(things)), key=lambda k: (things[k]["z"], k))
    for k in order:
        thing = things[k]
        part = parts.get(thing["id"]) if thing["id"] not in named else None
        if not _is_shown(thing, part):
            continue
        if part is not None:
            named.add(part.key)
        found.append(_annotation(thing, part, len(found)))
    return tuple(found)


def _is_shown(thing: Mapping[str, Any], part: Part | None) -> bool:
    x0, y0, x1, y1 = thing["visible"]
    if thing["pixels"] < MIN_PIXELS or min(x1 - x0, y1 - y0) < MIN_SIDE_PX:
        return False
    if thing["role"] != LINE:
        return not (thing["cut"] and (thing["text"] or (part and part.text)))
    clear = thing["contrast"] >= MIN_CONTRAST
    return clear and bool(thing["text"]) and thing["frac"] >= MIN_LINE_FRAC and not thing["truncated"]


def _annotation(thing: Mapping[str, Any], part: Part | None, z: int) -> Annotation:
    role, text = (part.role, part.text or thing["text"]) if part else (thing["role"], thing["text"])
    return Annotation(
        id=f"#{part.key}" if part else thing["key"],
        role=with_states(role, thing["states"]),
        text=text,
        bbox_full=_box(thing["full"]),
        bbox_visible=_box(thing["visible"]),
        point=(float(thing["point"][0]), float(thing["point"][1])),
        visible_frac=float(thing["frac"]),
        truncated=bool(thing["truncated"]),
        z=z,
    )


def _box(values: Sequence[float]) -> Box:
    x0, y0, x1, y1 = map(float, values)
    return x0, y0, x1, y1
