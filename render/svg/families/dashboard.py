"""Dashboards: a side bar or a head, cards with figures, small charts, lists and progress in a grid."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import Box
from gristmill.render.svg.controls import avatar, glyph
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, clipped, shown
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, seen, theme_of
from gristmill.render.svg.paths import Point, arc, round_top, smooth
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import BRANDS, SUBJECTS, TEAMS
from gristmill.render.svg.writer import document

SIZES = ((640, 420), (720, 480), (800, 520), (880, 560), (960, 600))
CARDS = ("figure", "line", "bars", "ring", "list", "progress")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Dashboard", 0.35)
    rows = [
        draws.pick(((1, 1, 1), (2, 1), (1, 2), (1, 1)))
        for _ in range(2 if view.height_px < 500 else draws.integer(2, 4))
    ]
    cards: list[dict[str, Any]] = []
    for row in rows:
        for span in row:
            cards.append(
                {
                    "kind": draws.pick(CARDS),
                    "span": span,
                    "title": draws.pick([word for word in SUBJECTS if len(word) < 10]),
                    "value": draws.integer(12, 9900),
                    "change": draws.integer(-20, 30),
                    "data": [round(draws.real(0.15, 1), 2) for _ in range(draws.integer(6, 11))],
                    "names": draws.some(TEAMS, 4),
                }
            )
    return view, params | {
        "brand": draws.pick(BRANDS),
        "rows": [len(row) for row in rows],
        "cards": cards,
        "nav": draws.pick(("side", "side", "icons", "top", "none")),
        "menu": draws.some(TEAMS, 5),
        "edge": draws.pick(("none", "line", "shadow")),
        "round": draws.pick((0, 6, 12)),
        "accent": draws.chance(0.4),
        "user": draws.chance(0.5),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    body = [backdrop(view, theme.surface)]
    left, top = 14.0, 52.0
    if params["nav"] in ("side", "icons"):
        wide = 130.0 if params["nav"] == "side" else 56.0
        body.append(group(_side(params, theme, wide, h)).noted("navigation"))
        left += wide
    else:
        body.append(rect(0, 0, w, 44, fill(theme.paper)).named("top bar"))
        body.append(text(18, 28, params["brand"], 16, theme.ink, "sans-bold").named("brand"))
    if params["nav"] == "top":
        body += [
            text(150 + 96 * n, 27, name, 12, theme.muted).named("menu item")
            for n, name in enumerate(params["menu"][: int((w - 240) // 96)])
        ]
    if params["nav"] in ("side", "icons"):
        body.append(text(left + 4, 32, "Overview", 18, theme.ink, "sans-bold").named("page title"))
    if params["user"]:
        body.append(avatar((w - 32, 24), 14, params["brand"][0], theme.hues[2]))
    cards = list(params["cards"])
    high = (h - top - 14) / len(params["rows"])
    for row, count in enumerate(params["rows"]):
        mine, cards = cards[:count], cards[count:]
        unit = (w - left - 14) / sum(card["span"] for card in mine)
        x = left
        for card in mine:
            box = (x, top + high * row, unit * card["span"] - 10, high - 10)
            body.append(group(_card(params, theme, card, box)).noted(card["title"]))
            x += unit * card["span"]
    return document(body, [], params, view)


def _side(params: Mapping[str, Any], theme: Theme, wide: float, h: float) -> list[Node]:
    ground = theme.hues[0] if params["accent"] else theme.paper
    ink = ink_on(ground)
    nodes = [rect(0, 0, wide, h, fill(ground)).named("side bar")]
    if params["nav"] == "side":
        nodes.append(text(16, 32, params["brand"], 16, ink, "sans-bold").named("brand"))
    else:
        nodes.append(avatar((28, 26), 15, params["brand"][0], theme.hues[1]))
    nodes.append(rect(8, 56, wide - 16, 30, fill(mix(ground, ink, 0.14)), 6).named("selected item"))
    for place, name in enumerate(params["menu"]):
        y = 71 + 40 * place
        if params["nav"] == "side":
            nodes.append(circle(24, y, 4.5, fill(theme.hues[place + 1])))
            nodes.append(text(38, baseline(y, 12), name, 12, ink).named("menu item"))
        else:
            nodes.append(glyph(("home", "chart", "mail", "bell", "user")[place], (28, y), 10, ink))
    return nodes


def _card(params: Mapping[str, Any], theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    nodes: list[Node] = []
    if params["edge"] == "shadow":
        nodes.append(rect(x + 2, y + 3, w, h, fill(theme.rule), params["round"]))
    paint = outlined(theme.paper, theme.rule, 1.2) if params["edge"] == "line" else fill(theme.paper)
    nodes.append(rect(x, y, w, h, paint, params["round"]).named("card", card["title"]))
    nodes.append(text(x + 14, y + 22, card["title"], 12, theme.muted).named("card title"))
    inner = (x + 14, y + 34, w - 28, h - 48)
    draw = {"figure": _figure, "line": _line, "bars": _bars, "ring": _ring, "list": _list, "progress": _progress}[
        card["kind"]
    ]
    return nodes + draw(theme, card, inner)


def _figure(theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    up = card["change"] >= 0
    ink = seen(theme.hues[2 if up else 1], theme.paper, 4.5)
    size = min(h * 0.36, 30)
    return [
        text(x, y + size * 1.1, shown(card["value"]), size, theme.ink, "sans-bold").named("figure"),
        text(x, y + size * 1.1 + 22, f"{card['change']:+}% since May", 11, ink).named("change"),
        rect(x, y + h - 6, w, 6, fill(theme.rule), 3).named("track"),
        rect(x, y + h - 6, max(w * card["data"][0], 8), 6, fill(theme.hues[0]), 3).named("level"),
    ]


def _line(theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    data = card["data"]
    points: list[Point] = [(x + w * n / (len(data) - 1), y + h * (1 - 0.9 * value)) for n, value in enumerate(data)]
    curve = smooth(points)
    under = path([*curve, ("L", x + w, y + h), ("L", x, y + h), ("Z",)], fill(theme.hues[3], 0.2))
    return [
        under.named("area"),
        path(curve, pen(theme.hues[3], 2.5)).named("line"),
        line(x, y + h, x + w, y + h, pen(theme.rule, 1)),
    ]


def _bars(theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    step = w / len(card["data"])
    return [
        group(
            [
                path(
                    round_top(x + step * n + step * 0.18, y + h * (1 - value), step * 0.64, h * value, 4),
                    fill(theme.hues[0]),
                )
                for n, value in enumerate(card["data"])
            ]
        ).named("bars")
    ]


def _ring(theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    r = min(w, h) * 0.42
    centre = (x + w / 2, y + h / 2)
    share = round(card["data"][0] * 90) + 5
    ring = path(arc(centre, r, -90, -90 + share * 3.6), pen(theme.hues[4], r * 0.3, (), "round"))
    nodes = [circle(*centre, r, pen(theme.rule, r * 0.3)).named("track"), ring.named("share ring")]
    if r > 30:
        nodes.append(
            text(centre[0], baseline(centre[1], 15), f"{share}%", 15, theme.ink, "sans-bold", "middle").named("share")
        )
    return nodes


def _list(theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    count = min(4, int(h // 20))
    step = h / max(count, 1)
    nodes: list[Node] = []
    for place, name in enumerate(card["names"][:count]):
        middle = y + step * (place + 0.5)
        nodes.append(circle(x + 6, middle, 5, fill(theme.hues[place])))
        nodes.append(text(x + 20, baseline(middle, 11), clipped(name, w - 60, 11), 11, theme.ink).named("list item"))
        nodes.append(
            text(
                x + w, baseline(middle, 11), str(round(card["data"][place] * 100)), 11, theme.muted, "sans", "end"
            ).named("list value")
        )
    return nodes


def _progress(theme: Theme, card: Mapping[str, Any], box: Box) -> list[Node]:
    x, y, w, h = box
    count = min(3, int(h // 26))
    step = h / max(count, 1)
    nodes: list[Node] = []
    for place, name in enumerate(card["names"][:count]):
        top = y + step * place
        nodes.append(text(x, top + 11, name, 11, theme.ink).named("bar name"))
        nodes.append(rect(x, top + 16, w, 7, fill(theme.rule), 3.5).named("track"))
        nodes.append(rect(x, top + 16, max(w * card["data"][place], 8), 7, fill(theme.hues[place]), 3.5).named("level"))
    return nodes
