"""Islands: coast, beaches, hills, woods, a river, paths and a cross, with waves, ships, a rose and a title."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import ANY, fitting
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, polygon, radial, rect, text
from gristmill.render.svg.palettes import ink_on, mix
from gristmill.render.svg.paths import Point, closed, loop, polar, smooth
from gristmill.render.svg.scene import backdrop, compass, sample_scene, scale_bar
from gristmill.render.svg.words import BRANDS
from gristmill.render.svg.writer import document

SEAS = (
    ("#8ecae6", "#e9d8a6", "#90b77d"),
    ("#f2e3c0", "#d8b77a", "#c9a45f"),
    ("#3d7ea6", "#ffe8a3", "#6aa84f"),
    ("#bfe3f0", "#f7edd5", "#a3c585"),
    ("#1d3557", "#e9c46a", "#2a9d8f"),
)


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, ANY, "Island map")
    corners = draws.integer(9, 15)
    return view, params | {
        "sea": draws.integer(0, len(SEAS)),
        "coast": [round(draws.real(0.78, 1.12), 2) for _ in range(corners)],
        "name": f"{draws.pick(BRANDS)} Island",
        "beach": draws.pick(("ring", "line", "none", "dashes")),
        "marks": [
            [
                draws.pick(("hill", "tree", "tree", "hut", "palm", "rock")),
                draws.integer(0, 360),
                round(draws.real(0.15, 0.62), 2),
            ]
            for _ in range(draws.integer(5, 14))
        ],
        "river": draws.chance(0.4),
        "lake": draws.chance(0.35),
        "trail": draws.pick(("dots", "dashes", "none")),
        "cross": draws.chance(0.6),
        "islets": draws.integer(0, 4),
        "waves": draws.integer(0, 7),
        "ship": draws.chance(0.35),
        "titled": draws.pick(("top", "banner", "none")),
        "compass": draws.chance(0.5),
        "bar": draws.chance(0.25),
        "frame": draws.pick(("none", "line", "double")),
        "deep": draws.chance(0.25),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    sea, sand, land = SEAS[params["sea"]]
    ink = mix(land, "#000000", 0.65)
    w, h = view.width_px, view.height_px
    middle, r = (w / 2, h * 0.53), min(w, h) * 0.36
    stretch = min(w / h, 1.5) if w > h else 1.0
    body = [backdrop(view, sea)]
    if params["deep"]:
        body.append(circle(*middle, min(w, h) * 0.48, fill("url(#shallows)")).named("shallows"))
    body += _waves(params, view, mix(sea, "#ffffff", 0.5))
    coast = _coast(params, middle, r, stretch)
    body += _island(params, coast, (middle, r, stretch), (sand, land, ink))
    body += _inland(params, (middle, r, stretch), (sea, land, ink))
    for place in range(params["islets"]):
        x, y = polar(*middle, min(w, h) * 0.47, 35 + 80 * place)
        x = middle[0] + (x - middle[0]) * (stretch * 1.12 if stretch > 1 else 1)
        body.append(circle(x, y, 7 + 3 * place, outlined(land, sand, 3)).named("islet"))
    body += _furniture(params, view, (sea, sand, ink))
    defs = [radial("shallows", ((0.55, mix(sea, "#ffffff", 0.5)), (1, sea)))] if params["deep"] else []
    return document(body, defs, params, view)


def _coast(params: Mapping[str, Any], middle: Point, r: float, stretch: float) -> list[Point]:
    count = len(params["coast"])
    points = [polar(*middle, r * far, 360 * place / count) for place, far in enumerate(params["coast"])]
    return [(middle[0] + (x - middle[0]) * stretch, y) for x, y in points]


def _island(
    params: Mapping[str, Any], coast: list[Point], form: tuple[Point, float, float], colours: tuple[str, str, str]
) -> list[Node]:
    sand, land, ink = colours
    middle, _, _ = form
    nodes: list[Node] = []
    if params["beach"] == "ring":
        wide = [(middle[0] + (x - middle[0]) * 1.08, middle[1] + (y - middle[1]) * 1.08) for x, y in coast]
        nodes.append(path(loop(wide), fill(sand)).named("beach"))
    paint = fill(land)
    if params["beach"] in ("line", "dashes"):
        paint = outlined(land, sand if params["beach"] == "line" else ink, 4 if params["beach"] == "line" else 2)
    if params["beach"] == "dashes":
        paint["stroke-dasharray"] = [6, 4]
    return [*nodes, path(loop(coast), paint).named("island", params["name"])]


def _inland(params: Mapping[str, Any], form: tuple[Point, float, float], colours: tuple[str, str, str]) -> list[Node]:
    middle, r, stretch = form
    sea, land, ink = colours
    nodes: list[Node] = []

    def at(turn: float, far: float) -> Point:
        x, y = polar(*middle, r * far, turn)
        return middle[0] + (x - middle[0]) * stretch, y

    if params["river"]:
        nodes.append(
            path(
                smooth([at(200, 0.1), at(150, 0.3), at(120, 0.5), at(110, 0.8)], 1), pen(sea, r * 0.05, (), "round")
            ).named("river")
        )
    if params["lake"]:
        x, y = at(200, 0.12)
        nodes.append(
            path(loop([(x - r * 0.16, y), (x, y - r * 0.09), (x + r * 0.17, y), (x, y + r * 0.1)]), fill(sea)).named(
                "lake"
            )
        )
    marks: list[Node] = []
    taken: list[Point] = []
    for kind, turn, far in params["marks"]:
        x, y = at(turn, far)
        if all(abs(x - a) > r * 0.2 or abs(y - b) > r * 0.2 for a, b in taken):
            taken.append((x, y))
            marks.append(_mark(kind, (x, y), r * 0.1, (land, ink)).named("mountain" if kind == "hill" else str(kind)))
    nodes.append(group(marks).noted("land marks"))
    if params["trail"] != "none":
        dash = (1, 7) if params["trail"] == "dots" else (7, 5)
        nodes.append(
            path(
                smooth([at(170, 0.72), at(230, 0.4), at(300, 0.3), at(20, 0.5)], 1), pen(ink, 2.5, dash, "round")
            ).named("trail")
        )
    if params["cross"]:
        x, y = at(20, 0.56)
        s = r * 0.06
        nodes.append(
            path(
                [("M", x - s, y - s), ("L", x + s, y + s), ("M", x + s, y - s), ("L", x - s, y + s)],
                pen("#c1121f", 4, (), "round"),
            ).named("cross")
        )
    return nodes


def _mark(kind: str, at: Point, s: float, colours: tuple[str, str]) -> Node:
    x, y = at
    land, ink = colours
    if kind == "hill":
        peak = polygon([(x - s * 1.1, y + s * 0.7), (x, y - s), (x + s * 1.1, y + s * 0.7)], fill(mix(land, ink, 0.5)))
        return group(
            [peak, polygon([(x - s * 0.35, y - s * 0.45), (x, y - s), (x + s * 0.35, y - s * 0.45)], fill("#ffffff"))]
        )
    if kind == "tree":
        return group(
            [
                rect(x - s * 0.12, y + s * 0.2, s * 0.24, s * 0.6, fill("#6b4226")),
                circle(x, y - s * 0.2, s * 0.6, fill(mix(land, "#0b3d20", 0.6))),
            ]
        )
    if kind == "palm":
        trunk = path(
            [("M", x, y + s), ("Q", x + s * 0.2, y, x - s * 0.1, y - s * 0.6)], pen("#6b4226", max(s * 0.2, 2))
        )
        leaf = [
            ("M", x - s * 0.1, y - s * 0.6),
            ("Q", x - s * 0.8, y - s, x - s, y - s * 0.2),
            ("M", x - s * 0.1, y - s * 0.6),
            ("Q", x + s * 0.7, y - s, x + s * 0.9, y - s * 0.2),
        ]
        return group([trunk, path(leaf, pen(mix(land, "#0b3d20", 0.6), max(s * 0.25, 2), (), "round"))])
    if kind == "hut":
        return group(
            [
                rect(x - s * 0.6, y - s * 0.1, s * 1.2, s * 0.8, fill("#b5651d")),
                polygon([(x - s * 0.85, y), (x, y - s * 0.85), (x + s * 0.85, y)], fill("#7f3b10")),
            ]
        )
    return polygon(
        [
            (x - s * 0.7, y + s * 0.5),
            (x - s * 0.4, y - s * 0.3),
            (x + s * 0.2, y - s * 0.5),
            (x + s * 0.7, y + s * 0.5),
        ],
        fill("#7d8597"),
    )


def _waves(params: Mapping[str, Any], view: View, foam: str) -> list[Node]:
    nodes: list[Node] = []
    for place in range(params["waves"]):
        x = view.width_px * (0.05 + 0.86 * ((place * 0.37) % 1))
        y = view.height_px * (0.06 if place % 2 else 0.93) + (place % 3) * 6
        nodes.append(
            path([("M", x, y), ("Q", x + 6, y - 7, x + 12, y), ("T", x + 24, y), ("T", x + 36, y)], pen(foam, 2)).named(
                "wave"
            )
        )
    return [group(nodes).noted("waves")] if nodes else []


def _furniture(params: Mapping[str, Any], view: View, colours: tuple[str, str, str]) -> list[Node]:
    sea, sand, _ = colours
    w, h = view.width_px, view.height_px
    ink = ink_on(sea)
    nodes: list[Node] = []
    if params["ship"]:
        x, y = w * 0.13, h * 0.84
        hull = path(closed([(x - 18, y), (x + 18, y), (x + 12, y + 9), (x - 12, y + 9)]), fill("#6b4226"))
        nodes.append(
            group(
                [
                    line(x, y, x, y - 26, pen("#6b4226", 2)),
                    polygon([(x + 2, y - 26), (x + 16, y - 5), (x + 2, y - 5)], fill("#ffffff")),
                    hull,
                ]
            ).named("ship")
        )
    if params["titled"] != "none":
        size = fitting(params["name"], w * 0.6, 24, "serif-bold")
        ground = ink
        if params["titled"] == "banner":
            nodes.append(
                rect(w * 0.16, 12, w * 0.68, size * 1.6, outlined(sand, mix(sand, "#000000", 0.5), 1.5), 5).named(
                    "banner"
                )
            )
            ground = ink_on(sand)
        nodes.append(text(w / 2, 12 + size * 1.15, params["name"], size, ground, "serif-bold", "middle").named("title"))
    if params["compass"]:
        nodes += compass(w - 34, h - 36, 20, ink, sea)
    if params["bar"]:
        nodes.append(scale_bar(20, h - 12, 36, ink))
    if params["frame"] != "none":
        nodes.append(rect(4, 4, w - 8, h - 8, pen(ink, 2)).named("frame"))
    if params["frame"] == "double":
        nodes.append(rect(9, 9, w - 18, h - 18, pen(ink, 1)))
    return nodes
