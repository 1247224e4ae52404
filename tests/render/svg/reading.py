"""Where the text of a written SVG stands: boxes of lines by the fonts' widths, through the transforms above."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from gristmill.render.svg.metrics import FACES, text_width_px

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1, 0, 0, 1, 0, 0)
_STEP = re.compile(r"(\w+)\s*\(([^)]*)\)")
_NUMBER = re.compile(r"-?\d*\.?\d+")
_RULE = re.compile(r"\.([\w-]+)\s*\{([^}]*)\}")


@dataclass(frozen=True)
class Line:
    """A line of text: its words, its box in the view's pixels, its size and colour."""

    words: str
    box: tuple[float, float, float, float]
    size_px: float
    colour: str
    place: int


def times(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] * b[0] + a[2] * b[1],
        a[1] * b[0] + a[3] * b[1],
        a[0] * b[2] + a[2] * b[3],
        a[1] * b[2] + a[3] * b[3],
        a[0] * b[4] + a[2] * b[5] + a[4],
        a[1] * b[4] + a[3] * b[5] + a[5],
    )


def matrix_of(transform: str) -> Matrix:
    out = IDENTITY
    for kind, inner in _STEP.findall(transform):
        out = times(out, _step(kind, [float(n) for n in _NUMBER.findall(inner)]))
    return out


def _step(kind: str, n: list[float]) -> Matrix:
    if kind == "translate":
        return (1, 0, 0, 1, n[0], n[1] if len(n) > 1 else 0)
    if kind == "scale":
        return (n[0], 0, 0, n[1] if len(n) > 1 else n[0], 0, 0)
    if kind == "rotate":
        c, s = math.cos(math.radians(n[0])), math.sin(math.radians(n[0]))
        x, y = (n[1], n[2]) if len(n) > 2 else (0.0, 0.0)
        return times(times((1, 0, 0, 1, x, y), (c, s, -s, c, 0, 0)), (1, 0, 0, 1, -x, -y))
    if kind == "skewX":
        return (1, 0, math.tan(math.radians(n[0])), 1, 0, 0)
    if kind == "skewY":
        return (1, math.tan(math.radians(n[0])), 0, 1, 0, 0)
    return (n[0], n[1], n[2], n[3], n[4], n[5])


def properties(css: str) -> dict[str, str]:
    pairs = (pair.partition(":") for pair in css.split(";") if ":" in pair)
    return {name.strip(): value.strip() for name, _, value in pairs}


def lines_of_text(svg: str, width_px: int) -> list[Line]:
    root = etree.fromstring(svg.encode(), etree.XMLParser(remove_comments=True, resolve_entities=False))
    sheet = "".join(style.text or "" for style in root.iter("{*}style"))
    rules = {name: properties(body) for name, body in _RULE.findall(sheet)}
    box = [float(n) for n in root.get("viewBox", f"0 0 {width_px} 0").split()]
    scale = width_px / box[2]
    places = {node: place for place, node in enumerate(root.iter("*"))}
    out: list[Line] = []
    for node, style, matrix in _walk(root, {}, (scale, 0, 0, scale, 0, 0), rules):
        if etree.QName(node).localname == "text":
            out += _lines(node, style, matrix, places[node])
    return out


def _walk(
    node: etree._Element, style: dict[str, str], matrix: Matrix, rules: dict[str, dict[str, str]]
) -> Iterator[tuple[etree._Element, dict[str, str], Matrix]]:
    own = {name: value for name, value in node.attrib.items() if name not in ("id", "class", "style", "x", "y")}
    for name in node.get("class", "").split():
        own |= rules.get(name, {})
    own |= properties(node.get("style", ""))
    matrix = times(matrix, matrix_of(node.get("transform", "")))
    style = {**style, **own}
    yield node, style, matrix
    for child in node:
        yield from _walk(child, style, matrix, rules)


def face_of(style: dict[str, str]) -> str:
    family = style.get("font-family", "DejaVu Sans").split(",")[0].strip("'\" ")
    wanted = (family, style.get("font-weight", "normal"), style.get("font-style", "normal"))
    return next((name for name, face in FACES.items() if face == wanted), "sans")


def _lines(node: etree._Element, style: dict[str, str], matrix: Matrix, place: int) -> list[Line]:
    size = float(style.get("font-size", "16").removesuffix("px"))
    x, y = float(node.get("x", 0)), float(node.get("y", 0))
    spans: list[tuple[float, float, str]] = []
    if node.text and node.text.strip():
        spans.append((x, y, node.text))
    for span in node:
        if etree.QName(span).localname == "tspan":
            x = float(span.get("x", x))
            y += float(span.get("dy", 0))
            spans.append((x, y, span.text or ""))
    out: list[Line] = []
    for start, base, words in spans:
        width = text_width_px(words, size, face_of(style)) + float(style.get("letter-spacing", 0)) * (len(words) - 1)
        left = start - {"middle": width / 2, "end": width}.get(style.get("text-anchor", "start"), 0)
        corners = [(left, base - 0.74 * size), (left + width, base + 0.12 * size)]
        corners += [(corners[0][0], corners[1][1]), (corners[1][0], corners[0][1])]
        points = [
            (matrix[0] * u + matrix[2] * v + matrix[4], matrix[1] * u + matrix[3] * v + matrix[5]) for u, v in corners
        ]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        size_px = size * math.sqrt(abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]))
        out.append(Line(words, (min(xs), min(ys), max(xs), max(ys)), size_px, style.get("fill", "black"), place))
    return out


def overlap(a: Line, b: Line) -> float:
    """Shared area of two lines' boxes as a share of the smaller."""
    w = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
    h = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / min((x.box[2] - x.box[0]) * (x.box[3] - x.box[1]) for x in (a, b))
