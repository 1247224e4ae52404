"""Chats: a head, bubbles on both sides, times, pictures, a line to write in; tall screens or windows with a list."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.controls import avatar, chevron, glyph, status_bar
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, clipped, wrap
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, lines_of, outlined, path, polygon, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.paths import closed
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import GROUPS, MESSAGES
from gristmill.render.svg.writer import document

SIZES = ((320, 560), (360, 640), (400, 600), (640, 480), (720, 500), (480, 480))


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Chat", 0.3)
    messages: list[dict[str, Any]] = []
    minute = draws.integer(0, 20)
    for _ in range(12):
        minute += draws.integer(1, 4)
        kind = draws.weighted(("words", "picture", "sound"), (8, 1, 1))
        words = draws.pick(MESSAGES) + (f". {draws.pick(MESSAGES)}" if draws.chance(0.3) else "")
        messages.append({"mine": draws.chance(0.5), "kind": kind, "words": words, "time": f"10:{minute % 60:02d}"})
    return view, params | {
        "group": draws.pick(GROUPS),
        "others": draws.some(GROUPS, 5),
        "messages": messages,
        "bubble": draws.pick(("round", "tail", "square", "edge")),
        "times": draws.pick(("below", "none", "none")),
        "avatars": draws.chance(0.4),
        "head": draws.pick(("solid", "paper", "icons")),
        "status": draws.chance(0.4) and view.height_px > view.width_px,
        "input": draws.pick(("pill", "box", "full")),
        "listed": view.width_px > 600 and draws.chance(0.7),
        "day": draws.chance(0.5),
        "typing": draws.chance(0.25),
        "size": draws.pick((12, 13, 14)),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    body = [backdrop(view, theme.surface)]
    left = 0.0
    if params["listed"]:
        left = w * 0.32
        body.append(group(_list(params, theme, (left, h))).noted("conversations"))
    top = 0.0
    if params["status"]:
        body += [rect(0, 0, w, 26, fill(theme.paper)), status_bar(w, theme, theme.ink, params["messages"][-1]["time"])]
        top = 26.0
    body.append(group(_head(params, theme, (left, top, w))).noted("head"))
    body += _messages(params, theme, (left + 14, top + 60, w - 14, h - 64))
    body.append(group(_input(params, theme, (left, h, w))).noted("input"))
    return document(body, [], params, view)


def _list(params: Mapping[str, Any], theme: Theme, size: tuple[float, float]) -> list[Node]:
    w, h = size
    nodes = [
        rect(0, 0, w, h, fill(theme.paper)).named("side bar"),
        text(18, 34, "Chats", 18, theme.ink, "sans-bold").named("side title"),
    ]
    for place, name in enumerate(params["others"]):
        y = 62 + 62 * place
        if y + 50 > h:
            break
        if place == 0:
            nodes.append(rect(6, y - 4, w - 12, 54, fill(theme.surface), 8).named("selected chat"))
        nodes.append(avatar((34, y + 23), 17, name[0], theme.hues[place]))
        nodes.append(
            text(60, y + 20, clipped(name, w - 70, 13, "sans-bold"), 13, theme.ink, "sans-bold").named("chat name")
        )
        nodes.append(
            text(60, y + 37, clipped(params["messages"][place]["words"], w - 70, 11), 11, theme.muted).named(
                "last message"
            )
        )
    return nodes


def _head(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float]) -> list[Node]:
    x, y, w = at
    hue = theme.hues[0] if params["head"] == "solid" else theme.paper
    ink = ink_on(hue)
    nodes = [
        rect(x, y, w - x, 52, fill(hue)).named("head bar"),
        avatar((x + 36, y + 26), 16, params["group"][0], theme.hues[1]),
    ]
    nodes.append(text(x + 62, y + 24, params["group"], 15, ink, "sans-bold").named("chat title"))
    nodes.append(text(x + 62, y + 41, "5 members", 11, ink).named("chat status"))
    if params["head"] == "icons":
        nodes += [glyph("phone", (w - 62, y + 26), 10, ink), glyph("camera", (w - 28, y + 26), 10, ink)]
    else:
        nodes.append(group([circle(w - 22, y + 18 + 8 * n, 2.2, fill(ink)) for n in range(3)]).named("menu dots"))
    return nodes


def _messages(params: Mapping[str, Any], theme: Theme, area: tuple[float, float, float, float]) -> list[Node]:
    x0, y, x1, foot = area
    nodes: list[Node] = []
    if params["day"]:
        middle = (x0 + x1) / 2
        nodes += [
            rect(middle - 34, y, 68, 20, fill(theme.rule), 10).named("day tag"),
            text(middle, y + 14, "Today", 11, ink_on(theme.rule), "sans", "middle").named("day"),
        ]
        y += 30
    for message in params["messages"]:
        made, high = _message(params, theme, message, (x0, y, x1))
        if y + high > foot - (26 if params["typing"] else 4):
            break
        nodes.append(group(made).noted("mine" if message["mine"] else "theirs"))
        y += high + 9
    if params["typing"]:
        box = rect(x0, y, 52, 22, fill(theme.paper), 11).named("typing bubble")
        nodes.append(
            group([box, *(circle(x0 + 14 + 12 * n, y + 11, 3, fill(theme.muted)) for n in range(3))]).noted("typing")
        )
    return nodes


def _message(
    params: Mapping[str, Any], theme: Theme, message: Mapping[str, Any], at: tuple[float, float, float]
) -> tuple[list[Node], float]:
    x0, y, x1 = at
    size, mine = params["size"], message["mine"]
    shift = 36 if params["avatars"] else 0
    room = (x1 - x0 - shift) * 0.72
    lines = wrap(message["words"], room - 24, size)
    w = max(max(text_width_px(line, size) for line in lines) + 24, 60)
    h = len(lines) * size * 1.3 + 13
    if message["kind"] != "words":
        w, h = (min(room, 150), 84.0) if message["kind"] == "picture" else (min(room, 170), 34.0)
    x = x1 - w if mine else x0 + shift
    hue = theme.hues[0] if mine else theme.paper
    nodes: list[Node] = []
    if params["avatars"] and not mine:
        nodes.append(avatar((x0 + 14, y + 14), 13, params["group"][1].upper(), theme.hues[3]))
    nodes += _bubble(params, theme, (x, y, w, h), hue, mine)
    under = mix(hue, theme.paper, 0.8) if params["bubble"] == "edge" else hue
    nodes += _content(message, (x, y, w, h), lines, size, ink_on(under))
    if params["times"] == "below":
        spot = (x1 - 4, "end") if mine else (x + 4, "start")
        nodes.append(text(spot[0], y + h + 13, message["time"], 10, theme.muted, "sans", spot[1]).named("time"))
        h += 14
    return nodes, h


def _content(
    message: Mapping[str, Any], box: tuple[float, float, float, float], lines: list[str], size: float, ink: str
) -> list[Node]:
    x, y, w, h = box
    if message["kind"] == "picture":
        hills = [
            (x + 8, y + h - 8),
            (x + w * 0.35, y + h * 0.4),
            (x + w * 0.6, y + h * 0.7),
            (x + w * 0.75, y + h * 0.5),
            (x + w - 8, y + h - 8),
        ]
        return [
            rect(x + 8, y + 8, w - 16, h - 16, fill("#bfe3f5")).named("picture"),
            polygon(hills, fill("#5c8a58")),
            circle(x + w - 30, y + 26, 8, fill("#f7b801")),
        ]
    if message["kind"] == "sound":
        bars = [
            rect(x + 36 + 7 * n, y + h / 2 - 4 - n * 5 % 9, 3.5, 8 + 2 * (n * 5 % 9), fill(ink))
            for n in range(int((w - 50) // 7))
        ]
        return [
            polygon([(x + 14, y + 10), (x + 27, y + h / 2), (x + 14, y + h - 10)], fill(ink)).named("play"),
            group(bars).named("sound wave"),
        ]
    if len(lines) == 1:
        return [text(x + 12, y + size * 1.02 + 6, lines[0], size, ink).named("message")]
    said = lines_of(x + 12, y + size * 1.02 + 6, lines, size, ink, "sans", round(size * 1.3, 1))
    return [said.named("message")]


def _bubble(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], hue: str, mine: bool
) -> list[Node]:
    x, y, w, h = box
    paint = (
        outlined(mix(hue, theme.paper, 0.8), theme.hues[0] if mine else theme.muted, 1.5)
        if params["bubble"] == "edge"
        else fill(hue)
    )
    nodes = [rect(x, y, w, h, paint, {"square": 3, "tail": 8}.get(params["bubble"], min(h / 2, 15))).named("bubble")]
    if params["bubble"] == "tail":
        foot = y + h
        tail = (
            [(x + w - 14, foot - 1), (x + w + 5, foot + 5), (x + w - 1, foot - 12)]
            if mine
            else [(x + 14, foot - 1), (x - 5, foot + 5), (x + 1, foot - 12)]
        )
        nodes.insert(0, path(closed(tail), fill(hue)))
    return nodes


def _input(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float]) -> list[Node]:
    x, h, w = at
    nodes = [rect(x, h - 54, w - x, 54, fill(theme.paper)).named("input bar")]
    rx = {"pill": 17, "box": 5}.get(params["input"], 0)
    wide = w - x - (28 if params["input"] == "full" else 74)
    nodes.append(rect(x + 14, h - 44, wide, 34, outlined(theme.paper, theme.rule, 1.5), rx).named("text field"))
    nodes.append(text(x + 28, baseline(h - 27, 13), "Message", 13, theme.muted).named("field text"))
    if params["input"] != "full":
        nodes.append(circle(w - 32, h - 27, 17, fill(theme.hues[0])).named("send button"))
        nodes.append(
            polygon(
                [(w - 38, h - 35), (w - 22, h - 27), (w - 38, h - 19), (w - 34, h - 27)], fill(ink_on(theme.hues[0]))
            ).named("send icon")
        )
    else:
        nodes.append(chevron(w - 28, h - 27, theme.muted))
    return nodes
