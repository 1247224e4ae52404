"""Pictures drawn in the page: scenes, things, faces and patterns as inline SVG, of the page's own colours.

A picture is plain data (`sample_picture`) until `picture` draws it; lengths are those of its viewBox.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.web.tree import Node, el

KINDS = ("hills", "sea", "blocks", "rings", "sunrise", "stripes", "leafy", "city")
PRODUCTS = (
    "shirt",
    "lamp",
    "cup",
    "blanket",
    "bag",
    "bottle",
    "notebook",
    "board",
    "jacket",
    "headphones",
    "shoes",
    "organiser",
)
"""What each of the bank's `products` looks like, in their order."""
_W, _H = 320, 200


def sample_picture(draws: Draws, kinds: tuple[str, ...] = KINDS) -> dict[str, Any]:
    """What a picture shows: its kind, the order of its colours, some lengths in [0, 1]."""
    colours = draws.shuffled(range(1, 7))[:4]
    return {"kind": draws.pick(kinds), "colours": colours, "at": [round(draws.frac(), 2) for _ in range(6)]}


def product_picture(draws: Draws, products: Sequence[str], name: str) -> dict[str, Any]:
    """The picture of one of the bank's `products`."""
    return sample_picture(draws, (PRODUCTS[products.index(name)],))


def picture(data: Mapping[str, Any], tokens: Mapping[str, str], label: str, ratio: float = 1.6) -> Node:
    """The picture as an element; `ratio` is width by height, and what does not fit is cut away."""
    colours = [tokens[f"c{place}"] for place in data["colours"]]
    height = round(_W / ratio)
    attrs: dict[str, str | None] = {"viewBox": f"0 0 {_W} {height}", "preserveAspectRatio": "xMidYMid slice"}
    attrs |= {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    draw = _THINGS.get(str(data["kind"])) or _SCENES[str(data["kind"])]
    return el("svg.picture", attrs, draw(colours, list(data["at"]), height))


def _rect(x: float, y: float, width: float, height: float, fill: str, rx: float = 0) -> Node:
    attrs: dict[str, str | None] = {"x": _n(x), "y": _n(y), "width": _n(width), "height": _n(height), "fill": fill}
    return el("rect", attrs, {"rx": _n(rx)} if rx else None)


def _disc(x: float, y: float, r: float, fill: str) -> Node:
    return el("circle", {"cx": _n(x), "cy": _n(y), "r": _n(r), "fill": fill})


def _path(d: str, fill: str) -> Node:
    return el("path", {"d": d, "fill": fill})


def _n(value: float) -> str:
    return f"{round(value, 1):g}"


def _hills(c: list[str], at: list[float], h: float) -> list[Node]:
    top, low = h * (0.4 + 0.2 * at[0]), h * (0.6 + 0.15 * at[1])
    return [
        _rect(0, 0, _W, h, c[0]),
        _disc(60 + 200 * at[2], h * 0.28, 14 + 14 * at[3], c[1]),
        _path(f"M0 {_n(top)} Q80 {_n(top - 50)} 170 {_n(top)} T320 {_n(top - 20)} V{_n(h)} H0 Z", c[2]),
        _path(f"M0 {_n(low)} Q110 {_n(low + 40)} 200 {_n(low)} T320 {_n(low)} V{_n(h)} H0 Z", c[3]),
    ]


def _sea(c: list[str], at: list[float], h: float) -> list[Node]:
    line, x = h * (0.5 + 0.15 * at[0]), 60 + 180 * at[1]
    sail = f"M{_n(x)} {_n(line - 60)} L{_n(x)} {_n(line - 6)} L{_n(x + 40)} {_n(line - 6)} Z"
    hull = f"M{_n(x - 20)} {_n(line - 2)} H{_n(x + 50)} L{_n(x + 36)} {_n(line + 14)} H{_n(x - 8)} Z"
    return [_rect(0, 0, _W, h, c[0]), _rect(0, line, _W, h - line, c[1]), _path(sail, c[2]), _path(hull, c[3])]


def _blocks(c: list[str], at: list[float], h: float) -> list[Node]:
    across, down = 100 + 120 * at[0], h * (0.35 + 0.3 * at[1])
    return [
        _rect(0, 0, _W, h, c[0]),
        _rect(0, 0, across, down, c[1]),
        _rect(across, down, _W - across, h - down, c[2]),
        _disc(across, down, 22 + 22 * at[2], c[3]),
    ]


def _rings(c: list[str], at: list[float], h: float) -> list[Node]:
    x, y = 100 + 120 * at[0], h * (0.4 + 0.2 * at[1])
    discs = [_disc(x, y, h * size, c[1 + place % 3]) for place, size in enumerate((0.6, 0.45, 0.3, 0.15))]
    return [_rect(0, 0, _W, h, c[0]), *discs]


def _sunrise(c: list[str], at: list[float], h: float) -> list[Node]:
    line = h * (0.6 + 0.15 * at[0])
    rays = [_path(f"M160 {_n(line)} L{-40 + 80 * k} 0 H{-10 + 80 * k} Z", c[2]) for k in range(6)]
    return [_rect(0, 0, _W, h, c[0]), *rays, _disc(160, line, 40 + 20 * at[1], c[1]), _rect(0, line, _W, h, c[3])]


def _stripes(c: list[str], at: list[float], h: float) -> list[Node]:
    step = 24 + round(24 * at[0])
    bars = [_path(f"M{x} 0 h{step // 2} l-60 {_n(h)} h-{step // 2} Z", c[1 + x % 2]) for x in range(0, 380, step)]
    return [_rect(0, 0, _W, h, c[0]), *bars, _disc(160, h / 2, 30 + 20 * at[1], c[3])]


def _leafy(c: list[str], at: list[float], h: float) -> list[Node]:
    leaves = [
        _path(
            f"M{_n(x)} {_n(h)} C{_n(x - 50)} {_n(h * 0.6)} {_n(x - 10)} {_n(h * 0.3)} {_n(x)} {_n(h * top)} "
            f"C{_n(x + 20)} {_n(h * 0.4)} {_n(x + 50)} {_n(h * 0.7)} {_n(x)} {_n(h)} Z",
            c[1 + place % 3],
        )
        for place, (x, top) in enumerate(zip((50, 120, 200, 270), at, strict=False))
    ]
    return [_rect(0, 0, _W, h, c[0]), *leaves]


def _city(c: list[str], at: list[float], h: float) -> list[Node]:
    towers = [_rect(54 * k + 4, h * (0.3 + 0.45 * at[k]), 44, h, c[1 + k % 3]) for k in range(6)]
    return [_rect(0, 0, _W, h, c[0]), *towers]


def _bottle(c: list[str], at: list[float], h: float) -> list[Node]:
    return [
        _rect(0, 0, _W, h, c[0]),
        _rect(130, h * 0.35, 60, h * 0.55, c[1], 14),
        _rect(146, h * 0.15, 28, h * 0.22, c[2], 5),
        _rect(130, h * (0.5 + 0.1 * at[0]), 60, h * 0.15, c[3]),
    ]


def _lamp(c: list[str], at: list[float], h: float) -> list[Node]:
    shade = f"M125 {_n(h * 0.2)} h70 l{_n(20 + 20 * at[0])} {_n(h * 0.3)} H{_n(105 - 20 * at[0])} Z"
    return [
        _rect(0, 0, _W, h, c[0]),
        _rect(156, h * 0.5, 8, h * 0.35, c[2]),
        _path(shade, c[1]),
        _rect(120, h * 0.83, 80, 10, c[3], 5),
    ]


def _bag(c: list[str], at: list[float], h: float) -> list[Node]:
    handle = f"M130 {_n(h * 0.4)} C130 {_n(h * 0.1)} 190 {_n(h * 0.1)} 190 {_n(h * 0.4)} h-12 C178 {_n(h * 0.2)} 142 {_n(h * 0.2)} 142 {_n(h * 0.4)} Z"  # noqa: E501
    return [
        _rect(0, 0, _W, h, c[0]),
        _path(handle, c[2]),
        _rect(100, h * 0.38, 120, h * 0.5, c[1], 8 + 10 * at[0]),
        _rect(130, h * 0.55, 60, h * 0.2, c[3], 5),
    ]


def _cup(c: list[str], at: list[float], h: float) -> list[Node]:
    return [
        _rect(0, 0, _W, h, c[0]),
        _disc(205, h * 0.5, h * 0.16, c[2]),
        _disc(205, h * 0.5, h * 0.09, c[0]),
        _rect(115, h * 0.3, 90, h * 0.45, c[1], 8 + 12 * at[0]),
        _rect(100, h * 0.78, 120, 8, c[3], 4),
    ]


def _shirt(c: list[str], at: list[float], h: float) -> list[Node]:
    body = f"M120 {_n(h * 0.18)} h80 l50 {_n(h * 0.2)} l-24 {_n(h * 0.18)} l-22 -{_n(h * 0.08)} v{_n(h * 0.4)} h-88 v-{_n(h * 0.4)} l-22 {_n(h * 0.08)} l-24 -{_n(h * 0.18)} Z"  # noqa: E501
    return [
        _rect(0, 0, _W, h, c[0]),
        _path(body, c[1]),
        _disc(160, h * 0.18, 14 + 6 * at[0], c[2]),
        _rect(176, h * 0.42, 18, h * 0.1, c[3]),
    ]


def _jacket(c: list[str], at: list[float], h: float) -> list[Node]:
    return [*_shirt(c, at, h)[:2], _rect(157, h * 0.18, 6, h * 0.63, c[3]), _disc(160, h * 0.15, 20, c[2])]


def _blanket(c: list[str], at: list[float], h: float) -> list[Node]:
    folds = [_rect(90, h * (0.3 + 0.17 * k), 140, h * 0.16, c[1 + k % 2], 10 + 6 * at[0]) for k in range(3)]
    return [_rect(0, 0, _W, h, c[0]), *folds, _rect(150, h * 0.3, 18, h * 0.5, c[3])]


def _notebook(c: list[str], at: list[float], h: float) -> list[Node]:
    return [
        _rect(0, 0, _W, h, c[0]),
        _rect(112, h * 0.15, 96, h * 0.7, c[1], 6),
        _rect(112, h * 0.15, 16, h * 0.7, c[2], 4),
        _rect(184 - 10 * at[0], h * 0.15, 6, h * 0.7, c[3]),
    ]


def _board(c: list[str], at: list[float], h: float) -> list[Node]:
    return [
        _rect(0, 0, _W, h, c[0]),
        _rect(80, h * 0.3, 130, h * 0.42, c[1], 8 + 12 * at[0]),
        _rect(200, h * 0.44, 56, h * 0.14, c[1], 8),
        _disc(242, h * 0.51, 5, c[0]),
        _rect(90, h * 0.4, 110, 5, c[2]),
    ]


def _headphones(c: list[str], at: list[float], h: float) -> list[Node]:
    top = h * (0.2 + 0.06 * at[0])
    band = f"M104 {_n(h * 0.6)} C104 {_n(top - 30)} 216 {_n(top - 30)} 216 {_n(h * 0.6)} h-12 "
    band += f"C204 {_n(top)} 116 {_n(top)} 116 {_n(h * 0.6)} Z"
    cups = [_rect(x, h * 0.52, 34, h * 0.32, c[2], 12) for x in (94, 192)]
    return [_rect(0, 0, _W, h, c[0]), _path(band, c[1]), *cups]


def _shoes(c: list[str], at: list[float], h: float) -> list[Node]:
    upper = f"M90 {_n(h * 0.36)} h46 l56 {_n(h * 0.2)} c34 6 44 {_n(h * 0.06)} 44 {_n(h * 0.14)} H90 Z"
    stripes = [_rect(128 + 16 * k, h * 0.52, 6, h * 0.16, c[3]) for k in range(3)]
    return [_rect(0, 0, _W, h, c[0]), _path(upper, c[1]), *stripes, _rect(84, h * 0.69, 156, 10 + 6 * at[0], c[2], 6)]


def _organiser(c: list[str], at: list[float], h: float) -> list[Node]:
    pens = [_rect(122 + 26 * k, h * (0.2 + 0.1 * at[k]), 10, h * 0.5, c[2 + k % 2], 4) for k in range(3)]
    return [_rect(0, 0, _W, h, c[0]), *pens, _rect(104, h * 0.48, 112, h * 0.36, c[1], 6)]


_SCENES = {
    "hills": _hills,
    "sea": _sea,
    "blocks": _blocks,
    "rings": _rings,
    "sunrise": _sunrise,
    "stripes": _stripes,
    "leafy": _leafy,
    "city": _city,
}
_THINGS = {
    "bottle": _bottle,
    "lamp": _lamp,
    "bag": _bag,
    "cup": _cup,
    "shirt": _shirt,
    "jacket": _jacket,
    "blanket": _blanket,
    "notebook": _notebook,
    "board": _board,
    "headphones": _headphones,
    "shoes": _shoes,
    "organiser": _organiser,
}
