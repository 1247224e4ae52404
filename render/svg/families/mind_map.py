"""Mind maps: a topic in the middle or at the left, branches with twigs, in several manners of drawing."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.boxes import Box, centre, link, outline, side, words_in
from gristmill.render.svg.charts import base_size, ground, sample_frame
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, pen, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, theme_of
from gristmill.render.svg.words import FRUIT, SHORT, SUBJECTS, TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws, 0.2)
    tall = view.height_px > view.width_px
    branches = draws.integer(3, 6 if view.height_px < 420 else 8)
    words = draws.some([word for word in (*SHORT, *TEAMS, *FRUIT) if len(word) < 9], 40)
    return view, params | {
        "topic": draws.pick(SUBJECTS).split()[0],
        "branches": [[words.pop(), [words.pop() for _ in range(draws.integer(0, 4))]] for _ in range(branches)],
        "sides": 1 if tall or view.width_px < 580 else draws.pick((1, 2, 2)),
        "root": draws.pick(("ellipse", "round", "pill", "circle", "hexagon")),
        "node": draws.pick(("pill", "round", "square", "ellipse", "bare", "underline")),
        "route": draws.pick(("curve", "curve", "elbow", "straight")),
        "twig": draws.pick(("text", "dots", "text", "lines")),
        "paint": draws.pick(("solid", "pale", "edge")),
        "one": draws.chance(0.3),
        "width": draws.pick((1.5, 2, 3, 4)),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    w, h = view.width_px, view.height_px
    sides = params["sides"]
    topic_w, topic_h = min(w * (0.16 if sides == 2 else 0.22), 150), min(h * 0.16, 80)
    root: Box = ((w - topic_w) / 2 if sides == 2 else 18, (h - topic_h) / 2, topic_w, topic_h)
    links: list[Node] = []
    nodes: list[Node] = []
    for place, (name, twigs) in enumerate(params["branches"]):
        right = sides == 1 or place % 2 == 0
        mates = len(params["branches"][(0 if right else 1) :: sides])
        order = place // sides
        room = (h - 28) / mates
        middle = 14 + room * (order + 0.5)
        box_w = min(w * (0.15 if sides == 2 else 0.24), 120)
        x = root[0] + topic_w + w * (0.03 if sides == 2 else 0.1) if right else root[0] - w * 0.03 - box_w
        box = (x, middle - size * 1.1, box_w, size * 2.2)
        hue = theme.hues[0 if params["one"] else place]
        start, end = (side(root, "right"), side(box, "left")) if right else (side(root, "left"), side(box, "right"))
        links.append(link(start, end, params["route"], False, pen(hue, params["width"])).named("branch line", name))
        nodes.append(
            group(
                _branch(params, theme, box, name, hue, size)
                + _twigs(params, theme, (box, room, right), twigs, hue, size)
            ).noted(name)
        )
    paint = outlined(theme.surface, theme.ink, 2) if params["paint"] == "edge" else fill(theme.ink)
    ink = theme.ink if params["paint"] == "edge" else theme.paper
    topic = [
        outline(params["root"], root, paint).named("topic"),
        *words_in(_inner(params["root"], root), params["topic"], size + 3, ink, "sans-bold", "topic label"),
    ]
    return document([*ground(params, view), group(links).noted("links"), *nodes, *topic], [], params, view)


def _inner(kind: str, box: Box) -> Box:
    if kind != "circle":
        return box
    x, y = centre(box)
    r = min(box[2], box[3]) / 2
    return x - r, y - r, 2 * r, 2 * r


def _branch(params: Mapping[str, Any], theme: Theme, box: Box, name: str, hue: str, size: float) -> list[Node]:
    kind = params["node"]
    if kind in ("bare", "underline"):
        nodes = words_in(box, name, size, theme.ink, "sans-bold", "branch label")
        if kind == "underline":
            nodes.append(line(box[0], box[1] + box[3], box[0] + box[2], box[1] + box[3], pen(hue, 2)))
        return nodes
    colour = mix(hue, theme.paper, 0.75) if params["paint"] == "pale" else hue
    paint = outlined(theme.paper, hue, 2) if params["paint"] == "edge" else fill(colour)
    ink = theme.ink if params["paint"] == "edge" else ink_on(colour)
    return [outline(kind, box, paint).named("branch"), *words_in(box, name, size, ink, "sans", "branch label")]


def _twigs(
    params: Mapping[str, Any], theme: Theme, spot: tuple[Box, float, bool], twigs: list[str], hue: str, size: float
) -> list[Node]:
    box, room, right = spot
    step = min(size * 1.6, room / max(len(twigs), 1))
    if step < size * 1.15:
        twigs = twigs[: max(int(room / (size * 1.15)), 1)]
        step = size * 1.15
    nodes: list[Node] = []
    start = side(box, "right" if right else "left")
    x = start[0] + (22 if right else -22)
    for place, word in enumerate(twigs):
        y = start[1] + (place - (len(twigs) - 1) / 2) * step
        nodes.append(link(start, (x, y), params["route"], False, pen(hue, 1.2)))
        if params["twig"] == "dots":
            nodes.append(circle(x, y, 3, fill(hue)))
        at = x + (7 if right else -7)
        nodes.append(
            text(at, baseline(y, size), word, size, theme.ink, "sans", "start" if right else "end").named("twig label")
        )
    return nodes
