"""Small pictures on a grid of 24 by 24, each a few named strokes: drawn as outlines, areas or in two tones.

A stroke is (role, path data, kind): `area` can be filled, `line` is only ever a line, `hole` is an area that lies on
another. Circles and rectangles are written as such: "o x y r" and "r x y width height rx".
"""

from dataclasses import dataclass
from typing import Any

from gristmill.render.svg.nodes import Node, circle, path, rect
from gristmill.render.svg.paths import parse, placed

Stroke = tuple[str, str, str]

ICONS: dict[str, tuple[Stroke, ...]] = {
    "home": (
        ("walls", "M5 10v11h14v-11", "area"),
        ("roof", "M2 12L12 3l10 9", "line"),
        ("door", "r 10 14 4 7 0.5", "hole"),
        ("chimney", "M17 7v-4h2.5v6", "line"),
    ),
    "mail": (
        ("envelope", "r 2 5 20 14 2", "area"),
        ("flap", "M2.5 6.5L12 14l9.5-7.5", "line"),
        ("left fold", "M3 18l6-6", "line"),
        ("right fold", "M21 18l-6-6", "line"),
    ),
    "clock": (
        ("face", "o 12 12 9.5", "area"),
        ("hour hand", "M12 12V6.5", "line"),
        ("minute hand", "M12 12l4 2.5", "line"),
        ("pin", "o 12 12 1", "hole"),
    ),
    "camera": (
        ("body", "M3 8h4l2-3h6l2 3h4v12H3z", "area"),
        ("lens", "o 12 13.5 4", "hole"),
        ("flash", "o 18 11 0.9", "hole"),
        ("inner lens", "o 12 13.5 1.6", "hole"),
    ),
    "bell": (
        ("bell", "M6 17V11a6 6 0 0 1 12 0v6z", "area"),
        ("rim", "M4 17h16", "line"),
        ("clapper", "M10 20a2 2 0 0 0 4 0", "line"),
        ("knob", "M12 5V2.5", "line"),
    ),
    "lock": (
        ("body", "r 4 11 16 10.5 2", "area"),
        ("shackle", "M7.5 11V8a4.5 4.5 0 0 1 9 0v3", "line"),
        ("keyhole", "o 12 15.5 1.5", "hole"),
        ("slot", "M12 17v2", "line"),
    ),
    "bin": (
        ("can", "M5.5 7l1 14h11l1-14z", "area"),
        ("lid", "M3.5 7h17", "line"),
        ("handle", "M9 7V4h6v3", "line"),
        ("left rib", "M10 11v6", "line"),
        ("right rib", "M14 11v6", "line"),
    ),
    "folder": (
        ("folder", "M2.5 5h7l2 3h10v12H2.5z", "area"),
        ("edge", "M2.5 11h19", "line"),
        ("tab", "M5 15h5", "line"),
    ),
    "book": (
        ("left page", "M12 6C9 4 5.5 4 2.5 5v14c3-1 6.500-1 9.500 1z", "area"),
        ("right page", "M12 6c3-2 6.500-2 9.500-1v14c-3-1-6.500-1-9.500 1z", "area"),
        ("left line", "M5 9.500c1.500-.3 3-.2 4.500.4", "line"),
        ("right line", "M14.500 9.900c1.500-.6 3-.7 4.500-.4", "line"),
    ),
    "cart": (
        ("basket", "M6 7h15l-2 8.500H8z", "area"),
        ("handle", "M2 3.500h3L8 15.500", "line"),
        ("left wheel", "o 9.500 19.500 1.500", "area"),
        ("right wheel", "o 17.500 19.500 1.500", "area"),
        ("bar", "M9 11h9", "line"),
    ),
    "sun": (
        ("disc", "o 12 12 4.500", "area"),
        ("upright rays", "M12 1.500v3M12 19.500v3", "line"),
        ("level rays", "M1.500 12h3M19.500 12h3", "line"),
        ("falling rays", "M4.600 4.600l2.100 2.100M17.300 17.300l2.100 2.100", "line"),
        ("rising rays", "M4.600 19.400l2.100-2.100M17.300 6.700l2.100-2.100", "line"),
    ),
    "cloud": (
        ("cloud", "M7 18a4.500 4.500 0 0 1-.5-9a6 6 0 0 1 11.500 1.500a3.800 3.800 0 0 1-.5 7.500z", "area"),
        ("first drop", "M8 20.500v2", "line"),
        ("second drop", "M12 20.500v2", "line"),
        ("third drop", "M16 20.500v2", "line"),
    ),
    "heart": (
        (
            "heart",
            (
                "M12 20.500C5 15.500 2.500 12 2.500 8.500a4.800 4.800 0 0 1 9.500-1.500a4.800 4.800 0 0 1 9.500 1.500"
                "c0 3.500-2.500 7-9.500 12z"
            ),
            "area",
        ),
        ("shine", "M6 8.500a2 2 0 0 1 2-2", "line"),
    ),
    "music": (
        ("left note", "o 6.500 18 3", "area"),
        ("right note", "o 17.500 16 3", "area"),
        ("stems", "M9.500 18V5l11-2v13", "line"),
        ("beam", "M9.500 8.500l11-2", "line"),
    ),
    "pin": (
        ("drop", "M12 22C7 16 4.500 12.500 4.500 9.500a7.500 7.500 0 0 1 15 0c0 3-2.500 6.500-7.500 12.500z", "area"),
        ("eye", "o 12 9.500 2.800", "hole"),
        ("ground", "M7 22.500h10", "line"),
    ),
    "phone": (
        ("case", "r 6 1.500 12 21 2.500", "area"),
        ("screen", "r 8 5 8 12.500 0.500", "hole"),
        ("button", "o 12 20 1", "hole"),
        ("speaker", "M10.500 3.300h3", "line"),
    ),
    "chart": (
        ("axes", "M3 3v18h18", "line"),
        ("first bar", "r 6 12 3 7 0.500", "area"),
        ("second bar", "r 11 8 3 11 0.500", "area"),
        ("third bar", "r 16 5 3 14 0.500", "area"),
    ),
    "flag": (
        ("pole", "M5 2v20", "line"),
        ("cloth", "M5 4c4-2 7 2 14 0v9c-7 2-10-2-14 0z", "area"),
        ("foot", "M2.500 22h5", "line"),
    ),
    "gift": (
        ("box", "r 4 11 16 10.500 1", "area"),
        ("lid", "r 2.500 7 19 4 1", "area"),
        ("ribbon", "M12 7v14.500", "line"),
        ("left bow", "M12 7C8 7 6.500 5 8 3.500s3.500 0 4 3.500", "line"),
        ("right bow", "M12 7c4 0 5.500-2 4-3.500s-3.500 0-4 3.500", "line"),
    ),
    "key": (
        ("bow", "o 7.500 7.500 5", "area"),
        ("hole", "o 7.500 7.500 1.600", "hole"),
        ("shaft", "M11 11l9.500 9.500", "line"),
        ("first tooth", "M16.500 16.500l2.500-2.500", "line"),
        ("second tooth", "M19 19l2.500-2.500", "line"),
    ),
    "leaf": (
        ("leaf", "M4 20C2 10 8 3 21 3c0 12-6 18.500-16 17z", "area"),
        ("vein", "M3 22C6 15 10 11 15 8", "line"),
        ("side vein", "M9 14h5", "line"),
    ),
    "mug": (
        ("mug", "M4 8h13v9a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4z", "area"),
        ("handle", "M17 10h2a2.500 2.500 0 0 1 0 6h-2", "line"),
        ("left steam", "M8 5V2.500", "line"),
        ("right steam", "M13 5V2.500", "line"),
    ),
    "plane": (
        ("plane", "M2 11.500L22 3l-6 18-4.500-7z", "area"),
        ("fold", "M22 3L11.500 14", "line"),
        ("trail", "M3 20l5-4", "line"),
    ),
    "tree": (
        ("crown", "M12 2l7 9h-3.500l4 6H4.500l4-6H5z", "area"),
        ("trunk", "M12 17v5", "line"),
        ("ground", "M6 22h12", "line"),
    ),
    "truck": (
        ("load", "r 1.500 5 12.500 11.500 1", "area"),
        ("cab", "M14 9h4.500l4 4v3.500H14z", "area"),
        ("rear wheel", "o 6 18 2.200", "area"),
        ("front wheel", "o 18 18 2.200", "area"),
        ("window", "M16 11v2.500h3.500", "line"),
    ),
    "umbrella": (
        ("canopy", "M2 13a10 10 0 0 1 20 0z", "area"),
        ("shaft", "M12 13v6.500a2.500 2.500 0 0 1-5 0", "line"),
        ("tip", "M12 3V1.500", "line"),
        ("rib", "M8 13c0-4 1.500-7.500 4-10", "line"),
    ),
    "user": (
        ("head", "o 12 7 4.500", "area"),
        ("shoulders", "M3 22a9 8 0 0 1 18 0z", "area"),
        ("collar", "M9.500 14.500l2.500 3 2.500-3", "line"),
    ),
    "screen": (
        ("frame", "r 2 3 20 14 1.500", "area"),
        ("glass", "r 4 5 16 10 0.500", "hole"),
        ("neck", "M12 17v4", "line"),
        ("stand", "M7 21.500h10", "line"),
    ),
    "bulb": (
        ("glass", "M8 17c0-2-3-3.500-3-7.500a7 7 0 0 1 14 0c0 4-3 5.500-3 7.500z", "area"),
        ("thread", "M9 19.500h6", "line"),
        ("foot", "M10.500 22h3", "line"),
        ("wire", "M10 17v-5l2 1.500 2-1.500v5", "line"),
    ),
    "calendar": (
        ("sheet", "r 3 4 18 17.500 2", "area"),
        ("head line", "M3 9.500h18", "line"),
        ("left ring", "M8 2v4", "line"),
        ("right ring", "M16 2v4", "line"),
        ("day", "r 13 13 4.500 4.500 0.500", "hole"),
    ),
    "shield": (
        ("shield", "M12 2l8.500 3v7c0 5-3.500 8.500-8.500 10.500C7 20.500 3.500 17 3.500 12V5z", "area"),
        ("tick", "M8 12l3 3 5-6", "line"),
    ),
    "bike": (
        ("rear wheel", "o 5.500 16.500 4", "area"),
        ("front wheel", "o 18.500 16.500 4", "area"),
        ("frame", "M5.500 16.500L9 9.500h7l-4.500 7z", "line"),
        ("fork", "M18.500 16.500L15.500 6H18", "line"),
        ("saddle", "M7 7.500h4", "line"),
    ),
    "bag": (
        ("bag", "M4 7.500h16l1 14H3z", "area"),
        ("handle", "M8 11V6a4 4 0 0 1 8 0v5", "line"),
        ("pocket", "M7 16.500h10", "line"),
    ),
    "anchor": (
        ("ring", "o 12 4.500 2.500", "area"),
        ("shank", "M12 7v15", "line"),
        ("stock", "M8 10.500h8", "line"),
        ("arms", "M3 14c0 5 4 8 9 8s9-3 9-8", "line"),
    ),
    "puzzle": (
        ("piece", "M4 8h4.500a2.500 2.500 0 1 1 5 0H18v4.500a2.500 2.500 0 1 1 0 5V21.500H4z", "area"),
        ("mark", "M8 15h5", "line"),
    ),
    "wrench": (
        ("jaw", "M20.500 6.500l-4 3-2.500-2.500 3-4a6 6 0 0 0-7.500 7.500L3 17l4 4 6.500-6.500a6 6 0 0 0 7-8z", "area"),
        ("pin", "o 6.500 17.500 1", "hole"),
    ),
}


@dataclass(frozen=True)
class Tones:
    """Colours of an icon: lines, areas, holes; `fill` "" leaves areas open; widths in grid units."""

    stroke: str
    fill: str
    hole: str
    width: float
    cap: str = "round"
    area_opacity: float = 1.0


def icon(name: str, at: tuple[float, float], scale: float, tones: Tones, named: bool = True) -> list[Node]:
    """An icon's strokes with its grid's corner at `at`, `scale` pixels to a grid unit."""
    return [_named(_stroke(data, kind, at, scale, tones), role, named) for role, data, kind in ICONS[name]]


def _named(node: Node, role: str, named: bool) -> Node:
    return node.named(role) if named else node


def _stroke(data: str, kind: str, at: tuple[float, float], scale: float, tones: Tones) -> Node:
    paint: dict[str, Any] = {"fill": "none"}
    if kind == "area" and tones.fill:
        paint = {"fill": tones.fill}
        if tones.area_opacity < 1:
            paint["fill-opacity"] = tones.area_opacity
    if kind == "hole" and tones.hole:
        paint = {"fill": tones.hole}
    solid = tones.fill and not tones.stroke
    if kind == "line" or (tones.stroke and not (kind == "hole" and tones.hole)):
        ink = tones.stroke or tones.fill
        paint |= {"stroke": tones.hole if solid and kind == "line" and tones.hole and data in _ON_AREA else ink}
        paint |= {
            "stroke-width": tones.width * scale,
            "stroke-linecap": tones.cap,
            "stroke-linejoin": "round" if tones.cap == "round" else "miter",
        }
    words = data.split()
    dx, dy = at
    if words[0] == "o":
        x, y, r = (float(word) for word in words[1:])
        return circle(x * scale + dx, y * scale + dy, r * scale, paint)
    if words[0] == "r":
        x, y, w, h, rx = (float(word) for word in words[1:])
        return rect(x * scale + dx, y * scale + dy, w * scale, h * scale, paint, rx * scale)
    return path(placed(parse(data), scale, dx, dy), paint)


# Lines that lie on an area of their icon: where areas are solid they are drawn in the colour of holes.
_ON_AREA = frozenset(
    data
    for name, role, data in (
        (name, role, data) for name, strokes in ICONS.items() for role, data, kind in strokes if kind == "line"
    )
    if (name, role)
    in {
        *(("mail", role) for role in ("flap", "left fold", "right fold")),
        *(("clock", role) for role in ("hour hand", "minute hand")),
        *(("bin", role) for role in ("left rib", "right rib")),
        *(("folder", role) for role in ("edge", "tab")),
        *(("book", role) for role in ("left line", "right line")),
        *(("leaf", role) for role in ("side vein",)),
        *(("calendar", role) for role in ("head line",)),
        *(("gift", role) for role in ("ribbon",)),
        ("lock", "slot"),
        ("cart", "bar"),
        ("heart", "shine"),
        ("phone", "speaker"),
        ("plane", "fold"),
        ("truck", "window"),
        ("umbrella", "rib"),
        ("user", "collar"),
        ("bulb", "wire"),
        ("shield", "tick"),
        ("bag", "pocket"),
        ("puzzle", "mark"),
    }
)
