"""Spider charts: polygon or round grids, one to three outlines, labels at the spokes."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size, ground, heading, legend, legend_width, sample_frame
from gristmill.render.svg.curves import marker
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, path, pen, polygon, text
from gristmill.render.svg.palettes import Theme, theme_of
from gristmill.render.svg.paths import closed, loop, polar, regular
from gristmill.render.svg.words import SHORT, TEAMS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_frame(draws)
    spokes, series = draws.integer(4, 9), draws.integer(1, 4)
    return view, params | {
        "names": draws.some(SHORT, spokes),
        "series": draws.some(TEAMS, series),
        "values": [[round(draws.real(0.3, 1), 2) for _ in range(spokes)] for _ in range(series)],
        "rings": draws.integer(2, 6),
        "web": draws.pick(("polygon", "polygon", "round", "spokes")),
        "shape": draws.pick(("polygon", "path", "smooth")),
        "marks": draws.pick(("none", "dot", "ring", "square")),
        "banded": draws.chance(0.25),
        "scale": draws.chance(0.4),
        "keyed": draws.chance(0.75),
        "filled": draws.chance(0.75),
        "dashed": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    head, top = heading(params, view)
    body = [*ground(params, view), *head]
    bottom = view.height_px - 14.0
    if params["keyed"] and legend_width(params["series"], size) < view.width_px - 40:
        keys = {**params, "legend": "bottom"}
        body.append(legend(keys, params["series"], theme.hues, (22, view.height_px - 18 - size), size))
        bottom -= size * 2
    longest = max(len(name) for name in params["names"])
    r = min(view.width_px / 2 - size * (longest * 0.62 + 1.6), (bottom - top) / 2 - size * 1.9)
    centre = (view.width_px / 2, (top + bottom) / 2)
    body += [*_web(params, theme, centre, r), *_scale(params, theme, centre, r, size)]
    for place in range(len(params["series"])):
        body += _series(params, theme, centre, r, place)
    body.append(_names(params, theme, centre, r, size))
    return document(body, [], params, view)


def _web(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float) -> list[Node]:
    spokes = len(params["names"])
    thin = pen(theme.rule, 1.2)
    rings: list[Node] = []
    for step in range(params["rings"], 0, -1):
        radius = r * step / params["rings"]
        paint = thin | (fill(theme.surface if step % 2 else theme.paper) if params["banded"] else {})
        if params["web"] == "polygon":
            rings.append(polygon(regular(*centre, radius, spokes), paint))
        elif params["web"] == "round":
            rings.append(circle(*centre, radius, paint))
    rays = [line(*centre, *tip, thin) for tip in regular(*centre, r, spokes)]
    if rings:
        rings[0].named("grid")
    return [group(rings).noted("web")] * bool(rings) + [group(rays).noted("spokes")]


def _scale(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, size: float) -> list[Node]:
    if not params["scale"] or r / params["rings"] < size * 1.2:
        return []
    nodes = [
        text(
            centre[0] + 4, centre[1] - r * step / params["rings"] + size * 0.9, str(step * 20), size * 0.9, theme.muted
        )
        for step in range(1, params["rings"])
    ]
    return [group(nodes).noted("scale")]


def _series(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, place: int) -> list[Node]:
    colour = theme.hues[place]
    count = len(params["names"])
    points = [polar(*centre, r * value, -90 + 360 * at / count) for at, value in enumerate(params["values"][place])]
    paint = pen(colour, 2.5, (6, 4) if params["dashed"] and place else (), "", "round")
    if params["filled"]:
        paint |= fill(colour, 0.25) if place < 2 else fill("none")
    if params["shape"] == "polygon":
        shape = polygon(points, paint)
    else:
        shape = path(loop(points, 0.6) if params["shape"] == "smooth" else closed(points), paint)
    nodes = [shape.named("outline", params["series"][place]).noted(params["series"][place])]
    if params["marks"] != "none":
        nodes.append(group([marker(params["marks"], at, 4, colour, theme) for at in points]))
    return nodes


def _names(params: Mapping[str, Any], theme: Theme, centre: tuple[float, float], r: float, size: float) -> Node:
    nodes: list[Node] = []
    count = len(params["names"])
    for place, name in enumerate(params["names"]):
        x, y = polar(*centre, r + size * 0.9, -90 + 360 * place / count)
        off = x - centre[0]
        anchor = "middle" if abs(off) < r * 0.2 else "start" if off > 0 else "end"
        nodes.append(text(x, baseline(y, size), name, size, theme.ink, "sans", anchor).named("spoke label"))
    return group(nodes).noted("labels")
