"""Controls of screens: bars, buttons, fields, switches, sliders, rows, small glyphs."""

from gristmill.render.svg.boxes import Box
from gristmill.render.svg.icons import Tones, icon
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on
from gristmill.render.svg.paths import Point


def button(box: Box, words: str, size: float, colours: tuple[str, str], rx: float, hollow: bool = False) -> list[Node]:
    """A button with words in its middle; `colours` are its own and that below it."""
    x, y, w, h = box
    hue, under = colours
    paint = outlined(under, hue, 1.5) if hollow else fill(hue)
    ink = ink_on(under) if hollow else ink_on(hue)
    label = text(x + w / 2, baseline(y + h / 2, size), words, size, ink, "sans-bold", "middle")
    return [rect(x, y, w, h, paint, rx).named("button", words), label.named("button label")]


def field(box: Box, words: str, size: float, theme: Theme, kind: str) -> list[Node]:
    """A text field: boxed, filled or ruled below, with words in it."""
    x, y, w, h = box
    if kind == "ruled":
        shape = line(x, y + h, x + w, y + h, pen(theme.muted, 1.5))
    else:
        shape = rect(x, y, w, h, fill(theme.surface) if kind == "filled" else outlined(theme.paper, theme.rule, 1.5), 6)
    inner = text(x + (0 if kind == "ruled" else 12), baseline(y + h / 2, size), words, size, theme.muted)
    return [shape.named("text field", words), inner.named("field text")]


def switch(at: Point, on: bool, hue: str, theme: Theme) -> Node:
    """A switch with its right end at x, 40 by 22."""
    x, y = at
    track = rect(x - 40, y - 11, 40, 22, fill(hue if on else theme.rule), 11)
    knob = circle(x - 11 if on else x - 29, y, 8.5, fill("#ffffff"))
    return group([track, knob]).named("switch on" if on else "switch off")


def slider(x: float, y: float, w: float, share: float, hue: str, rest: str) -> Node:
    """A level slider with its knob."""
    return group(
        [
            line(x, y, x + w, y, pen(rest, 4) | {"stroke-linecap": "round"}),
            line(x, y, x + w * share, y, pen(hue, 4) | {"stroke-linecap": "round"}),
            circle(x + w * share, y, 7, fill(hue)),
        ]
    ).named("slider")


def tick_box(at: Point, on: bool, hue: str, theme: Theme) -> Node:
    """A tick box of 16 by 16 with its left top at `at`."""
    x, y = at
    nodes = [rect(x, y, 16, 16, fill(hue) if on else outlined(theme.paper, theme.muted, 1.5), 3)]
    if on:
        nodes.append(path([("M", x + 3.5, y + 8), ("L", x + 7, y + 12), ("L", x + 12.5, y + 4.5)], pen(ink_on(hue), 2)))
    return group(nodes).named("tick box")


def chevron(x: float, y: float, colour: str) -> Node:
    """A small sign to the right."""
    return path([("M", x - 4, y - 5), ("L", x + 1, y), ("L", x - 4, y + 5)], pen(colour, 2, (), "round", "round"))


def status_bar(w: float, theme: Theme, ink: str, clock: str) -> Node:
    """Clock and battery at the top of a phone's screen, 24 high."""
    return group(
        [
            text(16, 17, clock, 11, ink, "sans-bold").named("clock"),
            rect(w - 40, 8, 20, 10, pen(ink, 1.2), 2.5).named("battery"),
            rect(w - 38, 10, 13, 6, fill(ink), 1),
            circle(w - 52, 13, 3.5, fill(ink)),
        ]
    ).noted("status bar")


def glyph(name: str, at: Point, r: float, ink: str, solid: str = "") -> Node:
    """A small icon with its middle at `at`."""
    tones = Tones(ink, "", "", 1.8) if not solid else Tones("", ink, solid, 1.8)
    return group(icon(name, (at[0] - r, at[1] - r), r / 12, tones, False)).named("icon", name)


def avatar(at: Point, r: float, letter: str, hue: str) -> Node:
    """A disc with a letter."""
    words = text(at[0], baseline(at[1], r), letter, round(r * 1.05, 1), ink_on(hue), "sans-bold", "middle")
    return group([circle(*at, r, fill(hue)), words]).named("avatar", letter)
