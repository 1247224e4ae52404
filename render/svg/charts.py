"""What charts with two axes share: ground, title, grid, axes, legend, and where values fall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.hand import sample_hand
from gristmill.render.svg.layout import WIDE, baseline, clipped, fitting, nice_step, sample_view, shown, spread
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, rect, text
from gristmill.render.svg.palettes import Theme, sample_theme, theme_of
from gristmill.render.svg.paths import arrow_head, closed
from gristmill.render.svg.words import subject

CHART_SIZES = (*WIDE, (420, 420), (512, 512), (480, 600), (560, 420))
SOURCES = ("Source: survey", "Sample data", "Figures rounded", "Preliminary", "Index, 100 = start")


@dataclass(frozen=True)
class Plot:
    """The area of the marks, and the values at its lower and upper edge."""

    x0: float
    y0: float
    x1: float
    y1: float
    low: float
    high: float
    step: float
    size: float

    def y(self, value: float) -> float:
        """Of a value on the vertical axis."""
        return self.y1 - (value - self.low) / (self.high - self.low) * (self.y1 - self.y0)

    def x(self, value: float) -> float:
        """Of a value where the value axis lies flat."""
        return self.x0 + (value - self.low) / (self.high - self.low) * (self.x1 - self.x0)

    def slots(self, count: int, across: bool = True) -> list[tuple[float, float]]:
        """Starts of `count` equal slots along the other axis, and their width."""
        low, high = (self.x0, self.x1) if across else (self.y0, self.y1)
        width = (high - low) / count
        return [(low + width * place, width) for place in range(count)]


def sample_frame(draws: Draws, dark_chance: float = 0.25) -> tuple[View, dict[str, Any]]:
    """View, hand, theme and the options of a chart's frame."""
    view = sample_view(draws, CHART_SIZES)
    own = draws.child("frame")
    return view, {
        "hand": sample_hand(draws),
        "theme": sample_theme(draws, dark_chance),
        "title": subject(draws),
        "title_at": own.weighted(("start", "middle", "none"), (5, 4, 1)),
        "subtitle": own.pick(SOURCES) if own.chance(0.3) else "",
        "ground": own.pick(("paper", "paper", "card", "panel")),
        "grid": own.weighted(("lines", "dashes", "bands", "none"), (4, 3, 1, 2)),
        "axis": own.weighted(("line", "ticks", "arrows", "none"), (4, 3, 1, 2)),
        "value_labels": own.chance(0.85),
        "value_title": own.pick(("Units", "Thousands", "Share", "Index", "Tonnes", "Hours")) if own.chance(0.3) else "",
        "legend": own.pick(("right", "bottom", "top")),
    }


def base_size(view: View) -> float:
    """A size of small text that suits the view: 11 to 15 pixels, whole."""
    return min(max(round(min(view.width_px, view.height_px) / 32), 11), 15)


def ground(params: Mapping[str, Any], view: View) -> list[Node]:
    """The paper, and the card on it."""
    theme = theme_of(params)
    nodes = [rect(0, 0, view.width_px, view.height_px, fill(theme.paper))]
    if params["ground"] == "card":
        nodes.append(
            rect(6, 6, view.width_px - 12, view.height_px - 12, outlined(theme.paper, theme.rule, 1.5), 10).named(
                "card"
            )
        )
    return nodes


def heading(params: Mapping[str, Any], view: View) -> tuple[list[Node], float]:
    """Title and subtitle, and where what is below may begin."""
    if params["title_at"] == "none":
        return [], 18.0
    theme = theme_of(params)
    size = base_size(view)
    middle = params["title_at"] == "middle"
    x = view.width_px / 2 if middle else 20
    big = fitting(params["title"], view.width_px - 48, round(size * 1.5), "sans-bold")
    y = 18 + big
    nodes = [text(x, y, params["title"], big, theme.ink, "sans-bold", params["title_at"]).named("title")]
    if params["subtitle"]:
        y += size + 5
        nodes.append(text(x, y, params["subtitle"], size, theme.muted, "sans", params["title_at"]).named("subtitle"))
    return nodes, y + size


def legend(
    params: Mapping[str, Any], names: Sequence[str], colours: Sequence[str], box: tuple[float, float], size: float
) -> Node:
    """Keys in a column or a row from `box`, left top."""
    x, y = box
    column = params["legend"] == "right"
    nodes: list[Node] = []
    theme = theme_of(params)
    for name, colour in zip(names, colours, strict=False):
        if len(name) % 2:
            nodes.append(circle(x + size / 2, y + size / 2, size / 2, fill(colour)).named("legend key"))
        else:
            nodes.append(rect(x, y, size, size, fill(colour), 2).named("legend key"))
        nodes.append(text(x + size + 6, baseline(y + size / 2, size), name, size, theme.ink).named("legend label"))
        if column:
            y += size * 1.7
        else:
            x += size + 20 + text_width_px(name, size)
    return group(nodes).noted("legend")


def legend_width(names: Sequence[str], size: float) -> float:
    """Of a legend in a row."""
    return sum(size + 20 + text_width_px(name, size) for name in names)


@dataclass(frozen=True)
class Frame:
    """A chart's frame: what lies behind the marks, what lies before them, and the plot."""

    back: list[Node]
    front: list[Node]
    plot: Plot


def frame(
    params: Mapping[str, Any],
    view: View,
    values: Sequence[float],
    names: Sequence[str] = (),
    zero: bool = True,
    flat: bool = False,
    room: float = 0.0,
) -> Frame:
    """The frame of a chart of values; `names` are a legend's, `flat` lays the value axis below, `room` px is left."""
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    back = [*ground(params, view), *head]
    right, bottom = view.width_px - 22, view.height_px - 22 - size * 1.6
    colours = theme.hues
    if names:
        if params["legend"] == "right":
            right -= max(text_width_px(name, size) for name in names) + size + 16
            back.append(legend(params, names, colours, (right + 12, top + 8), size))
        elif params["legend"] == "top" or legend_width(names, size) > view.width_px - 40:
            back.append(legend({**params, "legend": "top"}, names, colours, (22, top), size))
            top += size * 2
        else:
            back.append(legend(params, names, colours, (22, view.height_px - 16 - size), size))
            bottom -= size * 1.9
    low, high, step = _range(values, zero)
    ticks = [low + step * place for place in range(round((high - low) / step) + 1)]
    labels = [shown(tick) for tick in ticks]
    left = (
        24 + (0 if flat or not params["value_labels"] else max(text_width_px(label, size) for label in labels)) + room
    )
    if params["value_title"] and not flat:
        top += size * 1.3
    plot = Plot(
        left + 4, top + 6, right, bottom - (size * 1.5 if flat and params["value_title"] else 0), low, high, step, size
    )
    back += _panel(params, theme, plot)
    back += _grid(params, theme, plot, ticks, labels, flat)
    return Frame(back, _axes(params, theme, plot, flat), plot)


def _range(values: Sequence[float], zero: bool) -> tuple[float, float, float]:
    low, high = min(values), max(values)
    low = min(low, 0) if zero else low
    step = nice_step((high - low) or 1, 5)
    low = step * int(low // step)
    count = max(int(-(-(high - low) // step)), 1)
    return round(low, 6), round(low + step * count, 6), step


def _panel(params: Mapping[str, Any], theme: Theme, plot: Plot) -> list[Node]:
    if params["ground"] != "panel":
        return []
    return [rect(plot.x0, plot.y0, plot.x1 - plot.x0, plot.y1 - plot.y0, fill(theme.surface)).named("plot area")]


def _grid(
    params: Mapping[str, Any], theme: Theme, plot: Plot, ticks: Sequence[float], labels: Sequence[str], flat: bool
) -> list[Node]:
    lines: list[Node] = []
    words: list[Node] = []
    kind = params["grid"]
    pencil = pen(theme.rule, 1, (4, 4) if kind == "dashes" else ())
    for place, (tick, label) in enumerate(zip(ticks, labels, strict=True)):
        at = plot.x(tick) if flat else plot.y(tick)
        ends = (at, plot.y0, at, plot.y1) if flat else (plot.x0, at, plot.x1, at)
        if kind in ("lines", "dashes") and place:
            lines.append(line(*ends, pencil))
        if kind == "bands" and place % 2 and place + 1 < len(ticks):
            lines.append(_band(theme, plot, (at, plot.x(ticks[place + 1]) if flat else plot.y(ticks[place + 1])), flat))
        if params["value_labels"]:
            if flat:
                words.append(
                    text(at, plot.y1 + plot.size * 1.4, label, plot.size, theme.muted, "sans", "middle").named(
                        "tick label"
                    )
                )
            else:
                words.append(
                    text(plot.x0 - 8, baseline(at, plot.size), label, plot.size, theme.muted, "sans", "end").named(
                        "tick label"
                    )
                )
    if params["value_title"]:
        words.append(_value_title(params, theme, plot, flat))
    return [group(lines).noted("grid")] * bool(lines) + [group(words).noted("value axis")] * bool(words)


def _value_title(params: Mapping[str, Any], theme: Theme, plot: Plot, flat: bool) -> Node:
    words = params["value_title"]
    if flat:
        return text(
            (plot.x0 + plot.x1) / 2, plot.y1 + plot.size * 2.9, words, plot.size, theme.ink, "sans", "middle"
        ).named("axis title")
    return text(20, plot.y0 - plot.size * 0.9, words, plot.size, theme.ink).named("axis title")


def _band(theme: Theme, plot: Plot, ends: tuple[float, float], flat: bool) -> Node:
    low, high = min(ends), max(ends)
    paint = fill(theme.rule, 0.35)
    if flat:
        return rect(low, plot.y0, high - low, plot.y1 - plot.y0, paint)
    return rect(plot.x0, low, plot.x1 - plot.x0, high - low, paint)


def _axes(params: Mapping[str, Any], theme: Theme, plot: Plot, flat: bool) -> list[Node]:
    kind = params["axis"]
    if kind == "none":
        return []
    ink = pen(theme.muted, 1.5)
    zero = plot.x(max(plot.low, 0)) if flat else plot.y(max(plot.low, 0))
    base = (zero, plot.y0, zero, plot.y1) if flat else (plot.x0, zero, plot.x1, zero)
    if kind == "line":
        return [line(*base, ink).named("axis")]
    if kind == "ticks":
        count = round((plot.high - plot.low) / plot.step) + 1
        if flat:
            marks = [line(at, plot.y1, at, plot.y1 + 4, ink) for at in spread(count, plot.x0, plot.x1)]
        else:
            marks = [line(plot.x0 - 4, at, plot.x0, at, ink) for at in spread(count, plot.y0, plot.y1)]
        corner = [("M", plot.x0, plot.y0), ("L", plot.x0, plot.y1), ("L", plot.x1, plot.y1)]
        return [path(corner, ink).named("axes"), *marks]
    tips = (((plot.x1 + 6, plot.y1), (plot.x0, plot.y1)), ((plot.x0, plot.y0 - 6), (plot.x0, plot.y1)))
    return [
        group(
            [
                part
                for tip, tail in tips
                for part in (line(*tail, *tip, ink), path(closed(arrow_head(tip, tail, 8)), fill(theme.muted)))
            ]
        ).named("axes")
    ]


def names_below(plot: Plot, names: Sequence[str], theme: Theme, tilted: bool = False) -> Node:
    """Labels of slots below the plot, cut or left out where they would touch."""
    slots = plot.slots(len(names))
    width = slots[0][1]
    size = plot.size
    words = [clipped(name, width, size) for name in names]
    widest = max(text_width_px(word, size) for word in words) + 6
    every = 1
    while every * width < widest:
        every += 1
    nodes = [
        text(start + width / 2, plot.y1 + size * 1.4, word, size, theme.muted, "sans", "middle").named("category label")
        for place, ((start, width), word) in enumerate(zip(slots, words, strict=True))
        if place % every == 0
    ]
    return group(nodes).noted("categories")


def names_left(plot: Plot, names: Sequence[str], theme: Theme) -> Node:
    """Labels of slots left of the plot."""
    nodes = [
        text(plot.x0 - 8, baseline(start + width / 2, plot.size), name, plot.size, theme.muted, "sans", "end").named(
            "category label"
        )
        for (start, width), name in zip(plot.slots(len(names), across=False), names, strict=True)
    ]
    return group(nodes).noted("categories")
