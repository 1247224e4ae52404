"""Floor plans: outer and inner walls, rooms with names, doors that swing, windows, furniture, measures."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import Box
from gristmill.render.svg.charts import base_size
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.scene import backdrop, compass, sample_scene
from gristmill.render.svg.words import ROOMS
from gristmill.render.svg.writer import document

SIZES = ((480, 360), (560, 420), (640, 480), (720, 540), (512, 512), (420, 560))
FURNITURE = {
    "Bedroom": "bed",
    "Guest": "bed",
    "Living": "sofa",
    "Kitchen": "stove",
    "Dining": "table",
    "Study": "desk",
    "Bath": "bath",
}


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Floor plan", 0.15)
    rows = draws.integer(2, 4)
    return view, params | {
        "rows": [round(draws.real(0.8, 1.3), 2) for _ in range(rows)],
        "columns": [[round(draws.real(0.7, 1.4), 2) for _ in range(draws.integer(1, 4))] for _ in range(rows)],
        "names": draws.shuffled(ROOMS),
        "walls": draws.pick(("thick", "double", "thin")),
        "floors": draws.pick(("none", "tints", "one")),
        "doors": draws.pick(("swing", "swing", "gap")),
        "windows": draws.pick(("lines", "bars", "none")),
        "furniture": draws.chance(0.65),
        "named": draws.chance(0.85),
        "areas": draws.chance(0.35),
        "measures": draws.pick(("none", "bottom", "both")),
        "compass": draws.chance(0.3),
        "hatch": draws.chance(0.2),
        "terrace": draws.chance(0.3),
        "stairs": draws.chance(0.25),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    low, left = (44 if params["measures"] != "none" else 22), (48 if params["measures"] == "both" else 22)
    house = (left, 24.0, view.width_px - left - 24.0, view.height_px - 24.0 - low)
    if params["compass"]:
        house = (house[0], house[1], house[2] - 44, house[3])
    if params["terrace"]:
        house = (house[0], house[1] + 40, house[2], house[3] - 40)
    rooms = _rooms(params, house)
    body = [backdrop(view, theme.paper)]
    if params["terrace"]:
        body.append(
            rect(
                house[0] + house[2] * 0.2, house[1] - 36, house[2] * 0.5, 36, outlined(theme.surface, theme.muted, 1.5)
            ).named("terrace")
        )
    floors: list[Node] = []
    for place, box in enumerate(rooms):
        tint = {"none": theme.paper, "one": theme.surface}.get(
            params["floors"], mix(theme.hues[place % 8], theme.paper, 0.82)
        )
        floors.append(rect(*box, fill(tint)).named("room", params["names"][place]))
    body.append(group(floors).noted("floors"))
    body += _walls(params, theme, house, rooms)
    for place, box in enumerate(rooms):
        body.append(group(_inside(params, theme, box, size, place)).noted(params["names"][place]))
    body += _measures(params, theme, house, size)
    if params["compass"]:
        body += compass(view.width_px - 32, 44, 18, theme.ink, theme.paper)
    return document(body, [], params, view)


def _rooms(params: Mapping[str, Any], house: Box) -> list[Box]:
    x0, y, w, h = house
    boxes: list[Box] = []
    for share, columns in zip(params["rows"], params["columns"], strict=True):
        high = h * share / sum(params["rows"])
        x = x0
        for part in columns:
            wide = w * part / sum(columns)
            boxes.append((x, y, wide, high))
            x += wide
        y += high
    return boxes


def _walls(params: Mapping[str, Any], theme: Theme, house: Box, rooms: list[Box]) -> list[Node]:
    thick = {"thick": 7.0, "double": 5.0, "thin": 2.5}[params["walls"]]
    nodes = [rect(*box, pen(theme.ink, thick * 0.6)) for box in rooms]
    nodes.append(rect(*house, pen(theme.ink, thick)).named("outer wall"))
    if params["walls"] == "double":
        nodes.append(rect(*house, pen(theme.paper, 1.5)))
    gaps: list[Node] = []
    _x0, y0, _w, h = house
    for x, y, wide, high in rooms:
        door = min(wide * 0.3, high * 0.4, 34)
        at = x + wide * 0.16
        lower = y + high < y0 + h - 2
        edge = y + high if lower else y
        gaps.append(line(at, edge, at + door, edge, pen(theme.paper, thick + 1.5)))
        if params["doors"] == "swing":
            way = -1 if lower else 1
            swing = [
                ("M", at, edge),
                ("L", at, edge + way * door),
                ("A", door, door, 0, 0, 1 if lower else 0, at + door, edge),
            ]
            gaps.append(path(swing, pen(theme.muted, 1.5)).named("door"))
        gaps += _windows(params, theme, (x, y, wide, high), house, thick)
    return [group(nodes).noted("walls"), group(gaps).noted("openings")]


def _windows(params: Mapping[str, Any], theme: Theme, box: Box, house: Box, thick: float) -> list[Node]:
    x, y, wide, high = box
    if params["windows"] == "none" or high < 70:
        return []
    edges = [edge for edge in (x, x + wide) if abs(edge - house[0]) < 1 or abs(edge - house[0] - house[2]) < 1]
    nodes: list[Node] = []
    for edge in edges:
        ends = (edge, y + high * 0.35, edge, y + high * 0.7)
        nodes.append(line(*ends, pen(theme.paper, thick * 0.8)))
        if params["windows"] == "bars":
            nodes.append(
                rect(
                    edge - thick / 2 - 1,
                    ends[1],
                    thick + 2,
                    ends[3] - ends[1],
                    outlined(theme.paper, theme.hues[0], 1.5),
                ).named("window")
            )
        else:
            nodes.append(line(*ends, pen(theme.hues[0], 2.5)).named("window"))
    return nodes


def _inside(params: Mapping[str, Any], theme: Theme, box: Box, size: float, place: int) -> list[Node]:
    x, y, w, h = box
    name = params["names"][place]
    nodes: list[Node] = []
    if params["furniture"] and w > 80 and h > 80 and name in FURNITURE:
        kind = FURNITURE[name]
        nodes.append(
            _piece(kind, (x + w * 0.55, y + h * 0.14, min(w * 0.34, 80), min(h * 0.34, 70)), theme).named(kind)
        )
    if params["stairs"] and name in ("Hall", "Store") and w > 70 and h > 60:
        steps = [
            line(x + w * 0.55 + 7 * n, y + 12, x + w * 0.55 + 7 * n, y + h * 0.4, pen(theme.muted, 1.5))
            for n in range(5)
        ]
        nodes.append(group(steps).named("stairs"))
    if params["named"] and text_width_px(name, size) < w - 14:
        nodes.append(text(x + w / 2, y + h * 0.62, name, size, theme.ink, "sans", "middle").named("room name"))
        words = f"{round(w * h / 2600)} m2"
        if params["areas"] and h > 90:
            nodes.append(
                text(x + w / 2, y + h * 0.62 + size * 1.25, words, size - 1, theme.muted, "sans", "middle").named(
                    "room area"
                )
            )
    return nodes


def _piece(kind: str, box: Box, theme: Theme) -> Node:
    x, y, w, h = box
    ink = outlined(theme.paper, theme.muted, 1.5)
    if kind == "bed":
        return group(
            [
                rect(x, y, w, h, ink, 4),
                rect(x + w * 0.08, y + h * 0.08, w * 0.38, h * 0.25, ink, 3),
                rect(x + w * 0.54, y + h * 0.08, w * 0.38, h * 0.25, ink, 3),
                line(x, y + h * 0.45, x + w, y + h * 0.45, pen(theme.muted, 1.5)),
            ]
        )
    if kind == "sofa":
        return group([rect(x, y, w, h * 0.55, ink, 6), rect(x + w * 0.12, y + h * 0.15, w * 0.76, h * 0.4, ink, 4)])
    if kind == "stove":
        rings = [
            circle(
                x + w * (0.28 + 0.44 * (n % 2)), y + h * (0.3 + 0.4 * (n // 2)), min(w, h) * 0.13, pen(theme.muted, 1.5)
            )
            for n in range(4)
        ]
        return group([rect(x, y, w, h, ink), *rings])
    if kind == "table":
        chairs = [
            circle(x + w * a, y + h * b, min(w, h) * 0.13, ink)
            for a, b in ((0.5, -0.02), (0.5, 1.02), (-0.02, 0.5), (1.02, 0.5))
        ]
        return group([*chairs, rect(x + w * 0.15, y + h * 0.15, w * 0.7, h * 0.7, ink, 3)])
    if kind == "desk":
        return group([rect(x, y, w, h * 0.45, ink), circle(x + w / 2, y + h * 0.68, min(w, h) * 0.18, ink)])
    return group(
        [rect(x, y, w, h * 0.55, ink, 4), rect(x + 5, y + 5, w - 10, h * 0.55 - 10, pen(theme.muted, 1.2), h * 0.2)]
    )


def _measures(params: Mapping[str, Any], theme: Theme, house: Box, size: float) -> list[Node]:
    if params["measures"] == "none":
        return []
    x, y, w, h = house
    low, left = y + h + 18, x - 18
    ink = pen(theme.muted, 1.2)
    level = [
        ("M", x, low - 5),
        ("L", x, low + 5),
        ("M", x, low),
        ("L", x + w, low),
        ("M", x + w, low - 5),
        ("L", x + w, low + 5),
    ]
    nodes = [
        path(level, ink).named("measure"),
        text(x + w / 2, low + size * 1.3, f"{w / 50:.1f} m", size, theme.ink, "sans", "middle").named("measure label"),
    ]
    if params["measures"] == "both":
        upright = [
            ("M", left - 5, y),
            ("L", left + 5, y),
            ("M", left, y),
            ("L", left, y + h),
            ("M", left - 5, y + h),
            ("L", left + 5, y + h),
        ]
        words = text(left - 8, y + h / 2, f"{h / 50:.1f} m", size, theme.ink, "sans", "middle").moved(
            ("rotate", -90, left - 8, y + h / 2)
        )
        nodes += [path(upright, ink).named("measure"), words.named("measure label")]
    return [group(nodes).noted("measures")]
