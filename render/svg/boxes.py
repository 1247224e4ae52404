"""Boxes with words in them, and links between boxes: what diagrams are made of."""

from collections.abc import Sequence

from gristmill.render.svg.layout import baseline, wrap
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, Paint, circle, ellipse, fill, group, line, path, pen, polygon, rect, text
from gristmill.render.svg.paths import Path, Point, arrow_head, regular

Box = tuple[float, float, float, float]


def outline(kind: str, box: Box, paint: Paint) -> Node:
    """A box of a kind: square, round, pill, ellipse, diamond, hexagon, slant, cut, tab or note."""
    x, y, w, h = box
    if kind == "ellipse":
        return ellipse(x + w / 2, y + h / 2, w / 2, h / 2, paint)
    if kind == "circle":
        return circle(x + w / 2, y + h / 2, min(w, h) / 2, paint)
    if kind == "diamond":
        return polygon([(x + w / 2, y), (x + w, y + h / 2), (x + w / 2, y + h), (x, y + h / 2)], paint)
    if kind == "hexagon":
        c = min(h / 2, w / 5)
        return polygon(
            [(x + c, y), (x + w - c, y), (x + w, y + h / 2), (x + w - c, y + h), (x + c, y + h), (x, y + h / 2)], paint
        )
    if kind == "slant":
        c = min(h / 3, w / 6)
        return polygon([(x + c, y), (x + w, y), (x + w - c, y + h), (x, y + h)], paint)
    if kind == "cut":
        c = min(w, h) / 4
        return path(
            [("M", x, y), ("L", x + w - c, y), ("L", x + w, y + c), ("L", x + w, y + h), ("L", x, y + h), ("Z",)], paint
        )
    rx = {"round": min(h, w) / 5, "pill": h / 2}.get(kind, 0)
    return rect(x, y, w, h, paint, rx)


def words_in(box: Box, words: str, size: float, colour: str, face: str = "sans", role: str = "label") -> list[Node]:
    """Words in the middle of a box, on up to three lines; smaller where they are too wide."""
    x, y, w, h = box
    lines = wrap(words, w - size * 0.8, size, face)
    while size > 9.5 and (
        len(lines) * size * 1.2 > h or max(text_width_px(each, size, face) for each in lines) > w - size * 0.6
    ):
        size -= 0.5
        lines = wrap(words, w - size * 0.8, size, face)
    top = y + h / 2 - (len(lines) - 1) * size * 0.6
    return [
        text(x + w / 2, baseline(top + place * size * 1.2, size), each, size, colour, face, "middle").named(role)
        for place, each in enumerate(lines)
    ]


def centre(box: Box) -> Point:
    """Of a box."""
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def side(box: Box, name: str) -> Point:
    """The middle of a box's top, bottom, left or right."""
    x, y, w, h = box
    return {"top": (x + w / 2, y), "bottom": (x + w / 2, y + h), "left": (x, y + h / 2), "right": (x + w, y + h / 2)}[
        name
    ]


def route(start: Point, end: Point, kind: str, down: bool) -> Path:
    """From start to end: straight, elbow, or curve, leaving downwards or sideways."""
    (x0, y0), (x1, y1) = start, end
    if kind == "elbow":
        bend = [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2)] if down else [((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1)]
        return [("M", x0, y0), *(("L", *point) for point in bend), ("L", x1, y1)]
    if kind == "curve":
        pulls = ((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2)) if down else (((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1))
        return [("M", x0, y0), ("C", *pulls[0], *pulls[1], x1, y1)]
    return [("M", x0, y0), ("L", x1, y1)]


def link(start: Point, end: Point, kind: str, down: bool, paint: Paint) -> Node:
    """A link as a path, or a line where it is straight."""
    if kind == "straight":
        return line(*start, *end, paint)
    return path(route(start, end, kind, down), paint)


def arrow(points: Sequence[Point], colour: str, width: float, head: str = "solid", dash: Sequence[float] = ()) -> Node:
    """A polyline with a head at its last point: solid, open or dot."""
    tip, tail = points[-1], points[-2]
    d: Path = [("M" if place == 0 else "L", *point) for place, point in enumerate(points)]
    shaft = path(d, pen(colour, width, dash)) if len(points) > 2 else line(*tail, *tip, pen(colour, width, dash))
    wings = arrow_head(tip, tail, 6 + width * 2)
    if head == "open":
        barbs: Path = [("M", *wings[1]), ("L", *tip), ("L", *wings[2])]
        return group([shaft, path(barbs, pen(colour, width, (), "round", "round"))])
    if head == "dot":
        return group([shaft, circle(*tip, 3 + width, fill(colour))])
    return group([shaft, polygon(wings, fill(colour))])


def tile(middle: Point, r: float, corners: int, paint: Paint) -> Node:
    """A circle, or a regular polygon where there are corners."""
    return polygon(regular(*middle, r, corners), paint) if corners else circle(*middle, r, paint)
