"""Elements of a drawing before they are written: shapes, text, groups, paint and definitions.

Lengths are pixels of the view. Attribute values are str (written as they stand), int or float (lengths, but for those
that the writer knows as pure numbers), lists of path segments (`d`), of points (`points`), of steps (`transform`:
("translate", x, y), ("rotate", degrees, x, y), ("scale", x, y), ("skewX", degrees), ("matrix", a, b, c, d, e, f)) or
of lengths (`stroke-dasharray`, `viewBox`). An element with a role becomes a Part.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.render.svg.metrics import FACES, bearings_px, kerning_px, text_width_px
from gristmill.render.svg.paths import Path, Point

Paint = dict[str, Any]

# Engines differ by this much without any pixel being unmatched: the 5x5 rule forgives two pixels.
_FORGIVEN_PX = 1.3


@dataclass
class Node:
    """An element. `note` is a comment written before it."""

    tag: str
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    children: list["Node"] = field(default_factory=list["Node"])
    text: str = ""
    role: str = ""
    says: str = ""
    note: str = ""

    def named(self, role: str, says: str = "") -> "Node":
        """Itself, as a part."""
        self.role = role
        self.says = says or self.says
        return self

    def noted(self, note: str) -> "Node":
        """Itself, with a comment before it."""
        self.note = note
        return self

    def with_(self, name: str, value: Any) -> "Node":
        """Itself, with one attribute more."""
        self.attrs[name] = value
        return self

    def moved(self, *steps: tuple[Any, ...]) -> "Node":
        """Itself, with a transform."""
        self.attrs["transform"] = list(steps)
        return self


def fill(colour: str, opacity: float = 1.0) -> Paint:
    """Paint of an area."""
    paint: Paint = {"fill": colour}
    if opacity < 1:
        paint["fill-opacity"] = opacity
    return paint


def pen(colour: str, width_px: float, dash: Sequence[float] = (), cap: str = "", join: str = "") -> Paint:
    """Paint of a line, without an area."""
    paint: Paint = {"fill": "none", "stroke": colour, "stroke-width": width_px}
    if dash:
        paint["stroke-dasharray"] = list(dash)
    if cap:
        paint["stroke-linecap"] = cap
    if join:
        paint["stroke-linejoin"] = join
    return paint


def outlined(colour: str, edge: str, width_px: float) -> Paint:
    """Paint of an area with an edge."""
    return {"fill": colour, "stroke": edge, "stroke-width": width_px}


def el(tag: str, attrs: dict[str, Any], *children: Node) -> Node:
    """Any element."""
    return Node(tag, attrs, list(children))


def group(children: Iterable[Node], *steps: tuple[Any, ...]) -> Node:
    """A group, with a transform where there are steps."""
    return Node("g", {"transform": list(steps)} if steps else {}, list(children))


def rect(x: float, y: float, w: float, h: float, paint: Paint, rx: float = 0) -> Node:
    """A rectangle; `x` and `y` of 0 go unsaid."""
    attrs: dict[str, Any] = {name: value for name, value in (("x", x), ("y", y)) if value}
    attrs |= {"width": w, "height": h}
    if rx:
        attrs["rx"] = rx
    return Node("rect", attrs | paint)


def circle(x: float, y: float, r: float, paint: Paint) -> Node:
    """A circle about (x, y)."""
    return Node("circle", {"cx": x, "cy": y, "r": r} | paint)


def ellipse(x: float, y: float, rx: float, ry: float, paint: Paint) -> Node:
    """An ellipse about (x, y)."""
    return Node("ellipse", {"cx": x, "cy": y, "rx": rx, "ry": ry} | paint)


def line(x1: float, y1: float, x2: float, y2: float, paint: Paint) -> Node:
    """A line; its paint's `fill` is left out, a line has none."""
    stroke = {name: value for name, value in paint.items() if name != "fill"}
    return Node("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2} | stroke)


def path(d: Path, paint: Paint) -> Node:
    """A path of segments."""
    return Node("path", {"d": d} | paint)


def polygon(points: Sequence[Point], paint: Paint) -> Node:
    """A closed polygon."""
    return Node("polygon", {"points": list(points)} | paint)


def polyline(points: Sequence[Point], paint: Paint) -> Node:
    """An open polyline."""
    return Node("polyline", {"points": list(points)} | paint)


def text(x: float, y: float, words: str, size: float, colour: str, face: str = "sans", anchor: str = "start") -> Node:
    """A line of text with its baseline at y.

    Where the engines' notions of an anchored line's middle or end differ visibly (cairo goes by ink, resvg by advance)
    the line is started at the place that its width gives; kerning is turned off where only one engine's would show.
    """
    family, weight, style = FACES[face]
    attrs: dict[str, Any] = {"x": x, "y": y, "font-family": family, "font-size": size, "fill": colour}
    if weight != "normal":
        attrs["font-weight"] = weight
    if style != "normal":
        attrs["font-style"] = style
    if kerning_px(words, size, face) > _FORGIVEN_PX:
        attrs["font-kerning"] = "none"
    left, right = bearings_px(words, size, face)
    off = {"start": 0.0, "middle": (left - right) / 2, "end": right}[anchor]
    if abs(off) > _FORGIVEN_PX:
        attrs["x"] = x - text_width_px(words, size, face) * (0.5 if anchor == "middle" else 1)
    elif anchor != "start":
        attrs["text-anchor"] = anchor
    return Node("text", attrs, [], words, says=words)


def lines_of(x: float, y: float, lines: Sequence[str], size: float, colour: str, face: str, leading: float) -> Node:
    """Lines of one text element, as tspans that start at x."""
    node = text(x, y, "", size, colour, face)
    for place, words in enumerate(lines):
        attrs: dict[str, Any] = {"x": x} if place == 0 else {"x": x, "dy": leading}
        node.children.append(Node("tspan", attrs, [], words))
    if any(kerning_px(words, size, face) > _FORGIVEN_PX for words in lines):
        node.attrs["font-kerning"] = "none"
    node.says = " ".join(lines)
    return node


def linear(name: str, stops: Sequence[tuple[float, str]], down: bool = True) -> Node:
    """A linear gradient over the painted element's box, downwards or to the right."""
    ends = {"x1": "0", "y1": "0", "x2": "0", "y2": "1"} if down else {}
    return Node("linearGradient", {"id": name} | ends, _stops(stops))


def slanted(name: str, stops: Sequence[tuple[float, str]], box: tuple[float, float, float, float]) -> Node:
    """A linear gradient from one corner of a box to the other, in the drawing's coordinates."""
    x1, y1, x2, y2 = box
    ends = {"gradientUnits": "userSpaceOnUse", "x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return Node("linearGradient", {"id": name} | ends, _stops(stops))


def radial(name: str, stops: Sequence[tuple[float, str]], focus: tuple[str, str] | None = None) -> Node:
    """A radial gradient over the painted element's box."""
    attrs: dict[str, Any] = {"id": name, "cx": "50%", "cy": "50%", "r": "50%"}
    if focus:
        attrs |= {"fx": focus[0], "fy": focus[1]}
    return Node("radialGradient", attrs, _stops(stops))


def _stops(stops: Sequence[tuple[float, str]]) -> list[Node]:
    return [Node("stop", {"offset": at, "stop-color": colour}) for at, colour in stops]


def clip(name: str, *shapes: Node) -> Node:
    """A clip path; point at it with `clip-path`: `url(#name)`."""
    return Node("clipPath", {"id": name}, list(shapes))


def use(name: str, x: float = 0, y: float = 0) -> Node:
    """An instance of a defined element, moved to (x, y)."""
    return Node("use", {"href": f"#{name}"} | ({"x": x, "y": y} if x or y else {}))


def defined(name: str, node: Node) -> Node:
    """Itself, with an id."""
    node.attrs = {"id": name} | node.attrs
    return node
