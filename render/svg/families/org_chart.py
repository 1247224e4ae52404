"""Trees of boxes: who stands under what, top down or from the left, with cards of several kinds."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import Box, link, outline, side, words_in
from gristmill.render.svg.charts import base_size, ground, heading, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, circle, fill, group, outlined, path, pen, rect
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.words import TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    names = draws.shuffled(TEAMS)
    deep = draws.chance(0.6)
    tops = draws.integer(2, 4 if deep else 5)
    tree = [[names.pop(), [names.pop() for _ in range(draws.integer(0, 4) if deep else 0)]] for _ in range(tops)]
    return view, params | {
        "root": draws.pick(("Board", "Office", "Council", "Head office", "Group")),
        "tree": tree,
        "flat": draws.chance(0.35) or view.width_px < 420,
        "box": draws.pick(("square", "round", "pill", "cut", "slant")),
        "route": draws.pick(("elbow", "elbow", "curve", "straight")),
        "paint": draws.pick(("solid", "pale", "edge", "bar")),
        "levels": draws.chance(0.5),
        "avatars": draws.chance(0.25),
        "shadow": draws.chance(0.2),
        "dashed": draws.chance(0.2),
        "staff": draws.pick(("Audit", "Press", "")) if draws.chance(0.5) else "",
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    boxes, links = _layout(params, (16, top, view.width_px - 16.0, view.height_px - 18.0))
    ink = pen(theme.muted, 1.8, (5, 4) if params["dashed"] else ())
    wires = [link(start, end, params["route"], not params["flat"], ink) for start, end in links]
    body = [*ground(params, view), *head, group(wires).noted("links")]
    for name, box, level, branch in boxes:
        hue = theme.hues[level if params["levels"] else branch + 1 if level else 0]
        body.append(group(_card(params, theme, name, box, hue, size)).noted(name))
    return document(body, [], params, view)


Placed = tuple[str, Box, int, int]


def _layout(
    params: Mapping[str, Any], area: Box
) -> tuple[list[Placed], list[tuple[tuple[float, float], tuple[float, float]]]]:
    """Leaves in equal slots across, parents over the middle of theirs; levels along."""
    flat, tree = params["flat"], params["tree"]
    x0, y0, x1, y1 = area
    deep = 3 if any(kids for _, kids in tree) else 2
    across = (y0, y1) if flat else (x0, x1)
    along = (x0, x1) if flat else (y0, y1)
    leaves = sum(max(len(kids), 1) for _, kids in tree)
    slot, level = (across[1] - across[0]) / leaves, (along[1] - along[0]) / deep
    thick = min(slot * 0.82, 46 if flat else 170)
    long = min(level * 0.62, 150 if flat else 56)

    def box(at: float, depth: int) -> Box:
        start = along[0] + level * depth + (level - long) / 2
        return (start, at - thick / 2, long, thick) if flat else (at - thick / 2, start, thick, long)

    ends = ("right", "left") if flat else ("bottom", "top")
    boxes: list[Placed] = []
    links: list[tuple[tuple[float, float], tuple[float, float]]] = []
    root = box(sum(across) / 2, 0)
    at = across[0]
    for branch, (name, kids) in enumerate(tree):
        wide = slot * max(len(kids), 1)
        mine = box(at + wide / 2, 1)
        boxes.append((name, mine, 1, branch))
        links.append((side(root, ends[0]), side(mine, ends[1])))
        for place, kid in enumerate(kids):
            leaf = box(at + slot * (place + 0.5), 2)
            boxes.append((kid, leaf, 2, branch))
            links.append((side(mine, ends[0]), side(leaf, ends[1])))
        at += wide
    return [(params["root"], root, 0, 0), *boxes], links


def _card(params: Mapping[str, Any], theme: Theme, name: str, box: Box, hue: str, size: float) -> list[Node]:
    x, y, w, h = box
    nodes: list[Node] = []
    if params["shadow"]:
        nodes.append(outline(params["box"], (x + 3, y + 3, w, h), fill(theme.rule)))
    paint, ink = fill(hue), ink_on(hue)
    if params["paint"] == "pale":
        paint, ink = fill(mix(hue, theme.paper, 0.75)), ink_on(mix(hue, theme.paper, 0.75))
    if params["paint"] in ("edge", "bar"):
        paint, ink = outlined(theme.paper, hue, 1.8), theme.ink
    nodes.append(outline(params["box"], box, paint).named("box", name))
    if params["paint"] == "bar":
        nodes.append(rect(x, y, w, 5, fill(hue)))
    inner = box
    if params["avatars"] and h > 34 and w > 70:
        r = min(h * 0.22, 12)
        at = (x + r + 8, y + h / 2)
        nodes.append(circle(at[0], at[1] - r * 0.45, r * 0.5, fill(ink)))
        nodes.append(
            path([("M", at[0] - r, at[1] + r), ("A", r, r, 0, 0, 1, at[0] + r, at[1] + r), ("Z",)], fill(ink)).named(
                "person icon"
            )
        )
        inner = (x + 2 * r + 8, y, w - 2 * r - 8, h)
    return nodes + words_in(inner, name, size, ink, "sans", "box label")
