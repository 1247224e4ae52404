"""Grounds and grids of repeated motifs: shared by the families of patterns."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.nodes import Node, el, fill, pen, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix
from gristmill.render.svg.scene import sample_scene
from gristmill.render.svg.words import BRANDS

SIZES = ((320, 320), (400, 400), (512, 512), (512, 320), (360, 480), (640, 400))


def sample_pattern(draws: Draws, title: str) -> tuple[View, dict[str, Any]]:
    """View, hand, theme and what frames a pattern."""
    view, params = sample_scene(draws, SIZES, title, 0.3)
    own = draws.child("pattern")
    return view, params | {
        "label": own.pick(BRANDS) if own.chance(0.25) else "",
        "edge": own.pick(("none", "none", "line", "band")),
        "colours": own.integer(2, 5),
    }


def ground_of(params: Mapping[str, Any], theme: Theme) -> str:
    """The colour that a pattern lies on."""
    return mix(theme.hues[5], theme.paper, 0.8) if params["colours"] > 3 else theme.paper


def edge(params: Mapping[str, Any], theme: Theme, view: View) -> list[Node]:
    """Frame and label over a pattern."""
    w, h = view.width_px, view.height_px
    nodes: list[Node] = []
    if params["edge"] == "line":
        nodes.append(rect(5, 5, w - 10, h - 10, pen(theme.ink, 3)).named("frame"))
    elif params["edge"] == "band":
        nodes.append(rect(9, 9, w - 18, h - 18, pen(theme.hues[6], 18)).named("border"))
    if params["label"]:
        hue = theme.hues[7]
        wide = len(params["label"]) * 17 + 32.0
        nodes.append(rect((w - wide) / 2, h / 2 - 24, wide, 48, fill(hue), 6).named("label"))
        nodes.append(
            text(w / 2, h / 2 + 8, params["label"], 22, ink_on(hue), "sans-bold", "middle").named("label text")
        )
    return nodes


def pattern(name: str, w: float, h: float, children: list[Node], steps: tuple[Any, ...] = ()) -> Node:
    """A pattern of tiles w by h, in the drawing's coordinates."""
    attrs: dict[str, Any] = {"id": name, "width": w, "height": h, "patternUnits": "userSpaceOnUse"}
    if steps:
        attrs["patternTransform"] = list(steps)
    return el("pattern", attrs, *children)
