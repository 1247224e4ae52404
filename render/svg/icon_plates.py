"""What stands under and beside an icon: plates, badges, sparks, captions."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.icons import Tones, icon
from gristmill.render.svg.nodes import Node, circle, fill, group, line, outlined, path, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, ink_on
from gristmill.render.svg.paths import Point, closed, polar, regular, star

PLATES = ("none", "circle", "square", "round", "ring", "hexagon", "dashes", "blob")
BADGES = ("none", "dot", "count", "plus", "tick", "slash")


def sample_plate(draws: Draws) -> dict[str, Any]:
    """Options of what surrounds an icon."""
    own = draws.child("plate")
    return {
        "plate": own.pick(PLATES),
        "badge": own.pick(BADGES),
        "sparks": own.integer(1, 5) if own.chance(0.3) else 0,
        "count": own.integer(1, 10),
        "ground": own.chance(0.25),
    }


def plate(params: Mapping[str, Any], theme: Theme, at: Point, r: float, hue: str) -> list[Node]:
    """Under an icon with its middle at `at` and half its width r; what it covers is told by `on_plate`."""
    x, y = at
    kind = params["plate"]
    reach = r * 1.5
    shapes = {
        "circle": circle(x, y, reach, fill(hue)),
        "square": rect(x - reach, y - reach, 2 * reach, 2 * reach, fill(hue)),
        "round": rect(x - reach, y - reach, 2 * reach, 2 * reach, fill(hue), reach * 0.45),
        "ring": circle(x, y, reach, pen(hue, r * 0.1)),
        "hexagon": polygon(regular(x, y, reach * 1.08, 6), fill(hue)),
        "dashes": circle(x, y, reach, pen(hue, r * 0.08, (r * 0.3, r * 0.2))),
        "blob": path(closed(star(at, reach * 1.05, reach * 0.93, 12)), fill(hue)),
    }
    return [shapes[kind].named("plate")] if kind in shapes else []


def on_plate(params: Mapping[str, Any]) -> bool:
    """Whether the icon stands on a coloured area."""
    return params["plate"] in ("circle", "square", "round", "hexagon", "blob")


def extras(params: Mapping[str, Any], theme: Theme, at: Point, r: float, hue: str) -> list[Node]:
    """Badge, sparks and ground of an icon."""
    x, y = at
    nodes: list[Node] = []
    for place in range(params["sparks"]):
        spot = polar(x, y, r * 1.72, -70 + 65 * place)
        shape = (
            polygon(star(spot, r * 0.14, r * 0.05, 4), fill(hue))
            if params["count"] % 2
            else circle(*spot, r * 0.07, fill(hue))
        )
        nodes.append(shape.named("spark"))
    if params["ground"] and params["plate"] == "none":
        nodes.append(
            line(x - r * 1.2, y + r * 1.12, x + r * 1.2, y + r * 1.12, pen(theme.muted, r * 0.08)).named("ground line")
        )
    return nodes + _badge(params, theme, (x + r * 0.95, y - r * 0.95), r * 0.36, at)


def _badge(params: Mapping[str, Any], theme: Theme, at: Point, r: float, middle: Point) -> list[Node]:
    kind = params["badge"]
    x, y = at
    hue = theme.hues[-1]
    if kind == "none":
        return []
    if kind == "slash":
        far = (middle[0] * 2 - x, middle[1] * 2 - y)
        return [line(*far, x, y, pen(hue, r * 0.4) | {"stroke-linecap": "round"}).named("slash")]
    disc = circle(x, y, r, outlined(hue, theme.paper, r * 0.2)).named("badge")
    ink = pen(ink_on(hue), r * 0.24, (), "round", "round")
    if kind == "plus":
        d = [("M", x - r * 0.45, y), ("L", x + r * 0.45, y), ("M", x, y - r * 0.45), ("L", x, y + r * 0.45)]
        return [group([disc, path(d, ink).named("plus")])]
    if kind == "tick":
        d = [("M", x - r * 0.45, y), ("L", x - r * 0.1, y + r * 0.35), ("L", x + r * 0.5, y - r * 0.35)]
        return [group([disc, path(d, ink).named("tick mark")])]
    if kind == "count" and r > 8:
        words = text(x, y + r * 0.42, str(params["count"]), round(r * 1.2, 1), ink_on(hue), "sans-bold", "middle")
        return [group([disc, words.named("count")])]
    return [disc]


def middle(params: Mapping[str, Any], view: View, place: int) -> tuple[float, float, float]:
    """Middle of an icon and half its width."""
    count = len(params["icons"])
    columns = 2 if count > 2 else count
    rows = -(-count // columns)
    w, h = view.width_px / columns, view.height_px / rows
    return w * (place % columns + 0.5), h * (place // columns + 0.5), min(w, h) * 0.24


def plated(params: Mapping[str, Any], theme: Theme, view: View, one: tuple[int, Tones]) -> Node:
    """An icon with what is under and beside it; `one` is its place among the icons, and how it is drawn."""
    place, tones = one
    x, y, r = middle(params, view, place)
    hue = theme.hues[place]
    nodes = plate(params, theme, (x, y), r, hue)
    scale = r / 12
    name = params["icons"][place]
    if params["moved"] == "none":
        nodes += icon(name, (x - r, y - r), scale, tones)
    elif params["moved"] == "translate":
        nodes.append(group(icon(name, (0, 0), scale, tones), ("translate", x - r, y - r)))
    else:
        nodes.append(
            group(icon(name, (0, 0), 1, tones), ("translate", x - r, y - r), ("scale", round(scale * 20) / 20))
        )
    return group(nodes + extras(params, theme, (x, y), r, hue)).named(name)
