"""Nested rectangles sized by share: squarish, sliced or in columns, with heads, names and figures."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, fill, group, outlined, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.shares import sample_shares
from gristmill.render.svg.words import FRUIT, GOODS, PLACES, TEAMS
from gristmill.render.svg.writer import document

Box = tuple[float, float, float, float]


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    count = draws.integer(3, 7)
    names = draws.some((*GOODS, *FRUIT, *PLACES), 40)
    groups: list[dict[str, Any]] = []
    for share in sample_shares(draws, count, 8):
        inner = draws.integer(1, 5) if share > 14 else 1
        kids = [(names.pop(), kid) for kid in sample_shares(draws, inner, 12)]
        groups.append({"share": share, "kids": [[name, kid, max(1, round(share * kid / 100))] for name, kid in kids]})
    return view, params | {
        "groups": groups,
        "heads": draws.some(TEAMS, count),
        "split": draws.pick(("squarish", "slices", "columns")),
        "gap": draws.pick((0, 2, 4, 6)),
        "round": draws.chance(0.35),
        "headed": draws.chance(0.4),
        "figures": draws.pick(("none", "below", "beside")),
        "edge": draws.chance(0.3),
        "shades": draws.pick(("steps", "flat")),
        "moved": draws.chance(0.35),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    box = (18.0, top + 2, view.width_px - 36.0, view.height_px - top - 20.0)
    shares = [entry["share"] for entry in params["groups"]]
    for place, outer in enumerate(_split(shares, box, params["split"])):
        body.append(_group(params, theme, outer, size, place))
    return document(body, [], params, view)


def _split(shares: list[int], box: Box, how: str) -> list[Box]:
    """Boxes of shares: in halves of about equal weight, or in slices along the longer side."""
    x, y, w, h = box
    if len(shares) == 1:
        return [box]
    total = sum(shares)
    if how == "columns" or (how == "slices" and len(shares) < 4):
        out: list[Box] = []
        for share in shares:
            wide = w * share / total
            out.append((x, y, wide, h))
            x += wide
        return out
    cut, first = 1, shares[0]
    while cut < len(shares) - 1 and abs(first + shares[cut] - total / 2) < abs(first - total / 2):
        first += shares[cut]
        cut += 1
    part = first / total
    if w >= h:
        halves = (x, y, w * part, h), (x + w * part, y, w * (1 - part), h)
    else:
        halves = (x, y, w, h * part), (x, y + h * part, w, h * (1 - part))
    return _split(shares[:cut], halves[0], how) + _split(shares[cut:], halves[1], how)


def _group(params: Mapping[str, Any], theme: Theme, outer: Box, size: float, place: int) -> Node:
    x, y, w, h = outer
    gap = params["gap"]
    x, y, w, h = x + gap / 2, y + gap / 2, w - gap, h - gap
    origin = (round(x), round(y)) if params["moved"] else (0, 0)
    x, y = x - origin[0], y - origin[1]
    colour = theme.hues[place]
    nodes: list[Node] = []
    name = params["heads"][place]
    kids = params["groups"][place]["kids"]
    if params["headed"] and len(kids) > 1 and text_width_px(name, size, "sans-bold") < w - 12 and h > 70:
        nodes.append(
            rect(x, y, w, size * 1.8, fill(mix(colour, "#000000", 0.35)), 3 if params["round"] else 0).named(
                "group head"
            )
        )
        ink = ink_on(mix(colour, "#000000", 0.35))
        nodes.append(text(x + 6, y + size * 1.3, name, size, ink, "sans-bold").named("group name"))
        y, h = y + size * 1.8, h - size * 1.8
    inner = _split([kid[1] for kid in kids], (x, y, w, h), "squarish")
    for step, (kid, cell) in enumerate(zip(kids, inner, strict=True)):
        shade = mix(colour, theme.paper, 0.17 * step) if params["shades"] == "steps" else colour
        nodes += _cell(params, theme, cell, kid, shade, size)
    return group(nodes, *([("translate", *origin)] if params["moved"] else [])).noted(name)


def _cell(params: Mapping[str, Any], theme: Theme, cell: Box, kid: list[Any], colour: str, size: float) -> list[Node]:
    x, y, w, h = cell
    paint = (
        outlined(colour, theme.paper, 1.5)
        if params["edge"] or params["gap"] == 0 or params["shades"] == "flat"
        else fill(colour)
    )
    nodes = [rect(x, y, w, h, paint, 4 if params["round"] else 0).named("tile", kid[0])]
    name, figure = kid[0], f"{kid[2]}%"
    ink = ink_on(colour)
    big = min(max(size, w * 0.09), size * 1.7)
    if params["figures"] == "beside" and text_width_px(f"{name} {figure}", big) < w - 14:
        name = f"{name} {figure}"
    if text_width_px(name, big) < w - 14 and h > big * 2:
        nodes.append(text(x + 7, y + big * 1.35, name, big, ink).named("tile label"))
        if params["figures"] == "below" and h > big * 3.3:
            nodes.append(text(x + 7, y + big * 2.6, figure, size, ink).named("tile figure"))
    return nodes
