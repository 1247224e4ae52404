"""Phones with a home screen: status bar, widgets, rows of app icons, a dock, inside a case or bare."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.controls import status_bar
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.icons import ICONS, Tones, icon
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, clip, fill, group, linear, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.paths import smooth
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import APPS, DAYS, MONTH_NAMES
from gristmill.render.svg.writer import document

SIZES = ((320, 600), (360, 640), (400, 720), (420, 640), (480, 640))


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Home screen", 0.3)
    columns, rows = draws.pick((3, 4, 4)), draws.integer(2, 4)
    return view, params | {
        "clock": f"{draws.integer(1, 24)}:{draws.integer(10, 60)}",
        "day": f"{draws.pick(DAYS)} {draws.integer(1, 29)} {draws.pick(MONTH_NAMES)}",
        "columns": columns,
        "apps": [[draws.pick(APPS), draws.pick(sorted(ICONS))] for _ in range(columns * rows - draws.integer(0, 3))],
        "names": draws.some(APPS, 12),
        "tile": draws.pick(("round", "circle", "square")),
        "glyphs": draws.pick(("outline", "solid")),
        "labels": draws.chance(0.7),
        "case": draws.pick(("full", "full", "bare", "notch")),
        "wall": draws.pick(("flat", "fade", "hills", "rings")),
        "widget": draws.pick(("clock", "weather", "search", "none")),
        "dock": draws.pick(("bar", "plain", "none")),
        "pages": draws.integer(2, 5) if draws.chance(0.6) else 0,
        "badges": draws.chance(0.35),
        "handle": draws.chance(0.5),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    bare = params["case"] == "bare"
    margin = 0.0 if bare else 18.0
    sw, sh = w - 2 * margin - (0 if bare else 20), h - 2 * margin - (0 if bare else 20)
    wall = theme.surface if params["wall"] == "flat" else mix(theme.hues[0], theme.paper, 0.55)
    ink = ink_on(wall)
    inner = [*_wall(params, theme, (sw, sh), wall), status_bar(sw, theme, ink, params["clock"])]
    top = 36.0
    nodes, top = _widget(params, theme, (sw, top), ink)
    inner += nodes
    foot = sh - (96 if params["dock"] != "none" else 28)
    inner += [*_apps(params, theme, (sw, top, foot), ink), *_foot(params, theme, (sw, sh), ink)]
    defs = [linear("wall", ((0, wall), (1, mix(theme.hues[1], theme.paper, 0.55))))] if params["wall"] == "fade" else []
    if bare:
        return document(inner, defs, params, view)
    defs.append(clip("screen", rect(0, 0, sw, sh, {}, 22)))
    x = margin + 10
    body = [
        backdrop(view, theme.paper),
        rect(margin, margin, w - 2 * margin, h - 2 * margin, fill("#16181d"), 32).named("phone case"),
    ]
    body.append(group([group(inner).with_("clip-path", "url(#screen)")], ("translate", x, x)).named("screen"))
    if params["case"] == "notch":
        body.append(rect(w / 2 - 42, margin + 9, 84, 15, fill("#16181d"), 7).named("notch"))
    return document(body, defs, params, view)


def _wall(params: Mapping[str, Any], theme: Theme, size: tuple[float, float], wall: str) -> list[Node]:
    w, h = size
    nodes = [rect(0, 0, w, h, fill("url(#wall)" if params["wall"] == "fade" else wall)).named("wallpaper")]
    if params["wall"] == "hills":
        ridge = smooth([(-10, h * 0.75), (w * 0.3, h * 0.62), (w * 0.65, h * 0.78), (w + 10, h * 0.66)], 1)
        nodes.append(path([*ridge, ("L", w + 10, h + 5), ("L", -10, h + 5), ("Z",)], fill(mix(wall, theme.paper, 0.3))))
    if params["wall"] == "rings":
        nodes += [circle(w * 0.8, h * 0.85, r, pen(mix(wall, theme.paper, 0.3), 12)) for r in (60, 110)]
    return nodes


def _widget(params: Mapping[str, Any], theme: Theme, at: tuple[float, float], ink: str) -> tuple[list[Node], float]:
    w, y = at
    kind = params["widget"]
    if kind == "none":
        return [], y + 8
    if kind == "clock":
        words = text(w / 2, y + 44, params["clock"], 44, ink, "sans", "middle").named("large clock")
        return [words, text(w / 2, y + 66, params["day"], 13, ink, "sans", "middle").named("date")], y + 84
    box = rect(16, y, w - 32, 40 if kind == "search" else 76, fill(theme.paper), 18).named("widget")
    if kind == "search":
        glass = group(
            [
                circle(40, y + 18, 6, pen(theme.muted, 2)),
                path([("M", 44, y + 23), ("L", 50, y + 29)], pen(theme.muted, 2)),
            ]
        ).named("search icon")
        return [box, glass, text(60, baseline(y + 20, 13), "Search", 13, theme.muted).named("search text")], y + 54
    nodes = [box, circle(w - 62, y + 38, 18, fill("#f5b301")).named("sun")]
    nodes.append(text(32, y + 34, f"{len(params['apps']) + 9} deg", 20, theme.ink, "sans-bold").named("temperature"))
    return [*nodes, text(32, y + 58, params["day"], 12, theme.muted).named("date")], y + 92


def _tile(params: Mapping[str, Any], at: tuple[float, float], r: float, hue: str, name: str) -> list[Node]:
    x, y = at
    rx = {"round": r * 0.45, "square": 3.0}.get(params["tile"], 0.0)
    tile = circle(x, y, r, fill(hue)) if params["tile"] == "circle" else rect(x - r, y - r, 2 * r, 2 * r, fill(hue), rx)
    ink = ink_on(hue)
    tones = Tones("", ink, hue, 2) if params["glyphs"] == "solid" else Tones(ink, "", "", 1.8)
    return [tile.named("app icon", name), *icon(name, (x - r * 0.58, y - r * 0.58), r * 0.58 / 12, tones, False)]


def _apps(params: Mapping[str, Any], theme: Theme, area: tuple[float, float, float], ink: str) -> list[Node]:
    w, top, foot = area
    columns = params["columns"]
    rows = -(-len(params["apps"]) // columns)
    step = min((foot - top) / rows, w / columns * 1.15)
    r = min(w / columns * 0.3, step * 0.3)
    nodes: list[Node] = []
    for place, (name, glyph) in enumerate(params["apps"]):
        x = w / columns * (place % columns + 0.5)
        y = top + step * (place // columns) + r + 6
        cell = _tile(params, (x, y), r, theme.hues[place % 8], glyph)
        if params["badges"] and place % 5 == 1:
            cell.append(circle(x + r * 0.85, y - r * 0.85, 7, outlined("#e11d48", "#ffffff", 1.5)).named("badge"))
        if params["labels"] and step > 2 * r + 22:
            cell.append(text(x, y + r + 14, name, 10.5, ink, "sans", "middle").named("app name"))
        nodes.append(group(cell).noted(name))
    return nodes


def _foot(params: Mapping[str, Any], theme: Theme, size: tuple[float, float], ink: str) -> list[Node]:
    w, h = size
    nodes: list[Node] = []
    if params["pages"]:
        y = h - (92 if params["dock"] != "none" else 26)
        dots = [
            circle(w / 2 + 14 * (n - (params["pages"] - 1) / 2), y, 3, fill(ink, 1 if n == 0 else 0.4))
            for n in range(params["pages"])
        ]
        nodes.append(group(dots).named("page dots"))
    if params["dock"] != "none":
        if params["dock"] == "bar":
            nodes.append(rect(12, h - 80, w - 24, 60, fill(theme.paper, 0.55), 18).named("dock"))
        glyphs = ("phone", "mail", "camera", "music")
        for place, name in enumerate(glyphs):
            nodes.append(
                group(_tile(params, (w * (place + 0.5) / 4, h - 50), 20, theme.hues[-1 - place], name)).noted(name)
            )
    if params["handle"]:
        nodes.append(rect(w / 2 - 45, h - 11, 90, 4, fill(ink), 2).named("home handle"))
    return nodes
