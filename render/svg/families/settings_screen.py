"""Pages of settings: groups of rows with icons, switches, sliders, values, choices; phones or windows."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.controls import avatar, button, chevron, glyph, slider, status_bar, switch, tick_box
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.icons import ICONS
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, seen, theme_of
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import BRANDS, SETTINGS, TEAMS
from gristmill.render.svg.writer import document

SIZES = ((320, 560), (360, 640), (400, 600), (640, 480), (720, 520), (480, 560))
CONTROLS = ("switch", "switch", "switch", "value", "more", "slider", "tick", "stepper")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Settings", 0.35)
    names = draws.shuffled(SETTINGS)
    groups: list[dict[str, Any]] = []
    for _ in range(draws.integer(2, 4)):
        rows = [[names.pop(), draws.pick(CONTROLS), draws.chance(0.5)] for _ in range(draws.integer(2, 5))]
        groups.append(
            {"title": draws.pick(("General", "Network", "Display", "Privacy", "Sound", "Account")), "rows": rows}
        )
    return view, params | {
        "groups": groups,
        "glyphs": draws.some(sorted(ICONS), 16),
        "icons": draws.pick(("tiles", "lines", "none")),
        "frame": draws.pick(("cards", "cards", "rules", "plain")),
        "heads": draws.chance(0.7),
        "title": draws.pick(("Settings", "Preferences", "Options")),
        "bar": draws.pick(("large", "centre", "solid")),
        "profile": draws.pick(("card", "row", "none", "none")),
        "brand": draws.pick(BRANDS),
        "status": draws.chance(0.4) and view.height_px > view.width_px,
        "tabs": draws.some(TEAMS, 4) if view.width_px > 600 and draws.chance(0.6) else [],
        "search": draws.chance(0.3),
        "done": draws.chance(0.35),
        "row": draws.pick((38, 44, 50)),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    body = [backdrop(view, theme.surface)]
    top = 0.0
    if params["status"]:
        body.append(status_bar(w, theme, theme.ink, "9:41"))
        top = 24.0
    left = 0.0
    if params["tabs"]:
        left = 160.0
        body.append(group(_tabs(params, theme, h)).noted("tabs"))
    head, top = _head(params, theme, (left, top, w))
    body += head
    foot = h - (58 if params["done"] else 12)
    left, right = left + 16, w - 16
    nodes, top = _profile(params, theme, (left, top, right))
    body += nodes
    place = 0
    for entry in params["groups"]:
        made, top = _group(params, theme, entry, (left, top, right, foot), place)
        body += made
        place += len(entry["rows"])
    if params["done"]:
        wide = min(right - left, 220)
        body += button(
            ((left + right - wide) / 2, h - 50, wide, 36), "Save changes", 13, (theme.hues[0], theme.surface), 8
        )
    return document(body, [], params, view)


def _tabs(params: Mapping[str, Any], theme: Theme, h: float) -> list[Node]:
    nodes = [rect(0, 0, 160, h, fill(theme.paper)).named("side bar")]
    for place, name in enumerate(params["tabs"]):
        y = 60 + 40 * place
        if place == 1:
            nodes.append(rect(8, y - 16, 144, 32, fill(theme.hues[0]), 6).named("selected tab"))
        nodes.append(
            text(24, baseline(y, 13), name, 13, ink_on(theme.hues[0]) if place == 1 else theme.ink).named("tab")
        )
    return nodes


def _head(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float]) -> tuple[list[Node], float]:
    x, y, w = at
    nodes: list[Node] = []
    if params["bar"] == "large":
        nodes.append(text(x + 16, y + 38, params["title"], 26, theme.ink, "sans-bold").named("page title"))
        y += 54
    else:
        ground = theme.hues[0] if params["bar"] == "solid" else theme.paper
        nodes.append(rect(x, y, w - x, 44, fill(ground)).named("head bar"))
        nodes.append(
            text((x + w) / 2, baseline(y + 22, 16), params["title"], 16, ink_on(ground), "sans-bold", "middle").named(
                "page title"
            )
        )
        nodes.append(
            path(
                [("M", x + 26, y + 14), ("L", x + 18, y + 22), ("L", x + 26, y + 30)],
                pen(ink_on(ground), 2.5, (), "round", "round"),
            ).named("back")
        )
        y += 58
    if params["search"]:
        nodes.append(rect(x + 16, y, w - x - 32, 34, outlined(theme.paper, theme.rule, 1.2), 17).named("search field"))
        nodes.append(text(x + 36, baseline(y + 17, 13), "Search", 13, theme.muted).named("field text"))
        y += 46
    return nodes, y


def _profile(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float]) -> tuple[list[Node], float]:
    x, y, right = at
    if params["profile"] == "none":
        return [], y
    nodes: list[Node] = []
    if params["profile"] == "card":
        nodes.append(rect(x, y, right - x, 60, fill(theme.paper), 10).named("profile card"))
    nodes.append(avatar((x + 34, y + 30), 19, params["brand"][0], theme.hues[2]))
    nodes.append(text(x + 66, y + 27, params["brand"], 15, theme.ink, "sans-bold").named("account name"))
    nodes.append(text(x + 66, y + 45, "Account and storage", 11, theme.muted).named("account line"))
    nodes.append(chevron(right - 16, y + 30, theme.muted))
    return [group(nodes).noted("profile")], y + 74


def _group(
    params: Mapping[str, Any],
    theme: Theme,
    entry: Mapping[str, Any],
    area: tuple[float, float, float, float],
    place: int,
) -> tuple[list[Node], float]:
    x, y, right, foot = area
    high = params["row"]
    head = 22 if params["heads"] else 0
    rows = entry["rows"][: max(int((foot - y - head) // high), 0)]
    if not rows:
        return [], foot
    nodes: list[Node] = []
    if params["heads"]:
        nodes.append(
            text(x + 4, y + 12, entry["title"], 12, seen(theme.hues[0], theme.surface, 4.5), "sans-bold").named(
                "group title"
            )
        )
        y += 22
    if params["frame"] == "cards":
        nodes.append(rect(x, y, right - x, high * len(rows), fill(theme.paper), 10).named("group card"))
    for order, row in enumerate(rows):
        nodes.append(group(_row(params, theme, row, (x, y + high * order, right, high), place + order)).noted(row[0]))
        if params["frame"] != "plain" and order:
            nodes.append(line(x + 12, y + high * order, right, y + high * order, pen(theme.rule, 1)))
    return nodes, y + high * len(rows) + 16


def _row(
    params: Mapping[str, Any], theme: Theme, row: list[Any], box: tuple[float, float, float, float], place: int
) -> list[Node]:
    x, y, right, high = box
    name, kind, on = row
    middle = y + high / 2
    nodes: list[Node] = []
    at = x + 12
    hue = theme.hues[place % 8]
    if params["icons"] == "tiles":
        nodes.append(rect(at, middle - 13, 26, 26, fill(hue), 6).named("row tile"))
        nodes.append(glyph(params["glyphs"][place % 16], (at + 13, middle), 9, ink_on(hue)))
        at += 38
    elif params["icons"] == "lines":
        nodes.append(glyph(params["glyphs"][place % 16], (at + 10, middle), 10, theme.ink))
        at += 32
    nodes.append(text(at, baseline(middle, 13), name, 13, theme.ink).named("setting name"))
    return nodes + _control(theme, kind, on, (right - 12, middle))


def _control(theme: Theme, kind: str, on: bool, at: tuple[float, float]) -> list[Node]:
    edge, middle = at
    nodes: list[Node] = []
    if kind == "switch":
        nodes.append(switch((edge, middle), on, theme.hues[0], theme))
    elif kind == "value":
        nodes.append(
            text(edge - 12, baseline(middle, 12), "On" if on else "Auto", 12, theme.muted, "sans", "end").named(
                "setting value"
            )
        )
        nodes.append(chevron(edge, middle, theme.muted))
    elif kind == "more":
        nodes.append(chevron(edge, middle, theme.muted).named("more"))
    elif kind == "slider":
        nodes.append(slider(edge - 96, middle, 90, 0.65 if on else 0.35, theme.hues[0], theme.rule))
    elif kind == "tick":
        nodes.append(tick_box((edge - 16, middle - 8), on, theme.hues[0], theme))
    else:
        minus, plus = edge - 66, edge - 10
        nodes += [
            circle(minus, middle, 10, pen(theme.muted, 1.5)).named("less"),
            circle(plus, middle, 10, pen(theme.muted, 1.5)).named("more"),
        ]
        nodes.append(
            path(
                [
                    ("M", minus - 4, middle),
                    ("L", minus + 4, middle),
                    ("M", plus - 4, middle),
                    ("L", plus + 4, middle),
                    ("M", plus, middle - 4),
                    ("L", plus, middle + 4),
                ],
                pen(theme.ink, 1.8),
            )
        )
        nodes.append(
            text((minus + plus) / 2, baseline(middle, 13), "3" if on else "5", 13, theme.ink, "sans", "middle").named(
                "count"
            )
        )
    return nodes
