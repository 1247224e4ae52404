"""Star and rosette grids: stars of 5 to 12 points, polygons between them, strapwork lines, dots and petals."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, circle, defined, ellipse, fill, group, outlined, pen, polygon, radial, use
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import polar, regular, star
from gristmill.render.svg.patterns import edge, ground_of, sample_pattern
from gristmill.render.svg.scene import backdrop
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_pattern(draws, "Stars")
    return view, params | {
        "step": draws.pick((90, 110, 130, 160)),
        "points": draws.pick((5, 6, 8, 8, 10, 12)),
        "inner": round(draws.real(0.4, 0.75), 2),
        "rings": draws.integer(1, 4),
        "between": draws.pick(("none", "dots", "squares", "stars", "crosses")),
        "petals": draws.pick((0, 0, 6, 8)),
        "strap": draws.chance(0.4),
        "paint": draws.pick(("fill", "edge", "line", "ball")),
        "offset": draws.chance(0.4),
        "how": draws.pick(("use", "drawn")),
        "core": draws.pick(("none", "disc", "polygon")),
        "turn": draws.pick((0, 0, 15, 22.5)),
        "net": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h, step = view.width_px, view.height_px, params["step"]
    body = [backdrop(view, ground_of(params, theme))]
    motif = _motif(params, theme)
    defs = [defined("rosette", group(motif))] if params["how"] == "use" else []
    if params["paint"] == "ball":
        defs.append(radial("glow", ((0, mix(theme.hues[0], "#ffffff", 0.5)), (1, theme.hues[0]))))
    stars: list[Node] = []
    small: list[Node] = []
    for row in range(int(h // step) + 1):
        shift = step / 2 if params["offset"] and row % 2 else 0
        for column in range(-1 if shift else 0, int(w // step) + 1):
            x, y = step * (column + 0.5) + shift, step * (row + 0.5)
            inner = motif if not defs or params["how"] != "use" else [use("rosette")]
            steps: list[tuple[Any, ...]] = [("translate", x, y)] + (
                [("rotate", params["turn"])] if params["turn"] else []
            )
            stars.append(group(inner, *steps).named("rosette"))
            small += _between(params, theme, (x + step / 2, y + step / 2))
    if params["net"]:
        lines = [
            polygon(regular(step * (n % 4 + 0.5), step * (n // 4 + 0.5), step * 0.7, 4), pen(theme.rule, 2))
            for n in range(16)
        ]
        body.append(group(lines).named("net"))
    body += [group(stars).noted("rosettes"), *([group(small).noted("between")] if small else [])]
    return document([*body, *edge(params, theme, view)], defs, params, view)


def _motif(params: Mapping[str, Any], theme: Theme) -> list[Node]:
    r = params["step"] * 0.46
    nodes: list[Node] = []
    for place in range(params["petals"]):
        turn = 360 * place / params["petals"]
        x, y = polar(0, 0, r * 0.55, turn)
        petal = ellipse(x, y, r * 0.36, r * 0.14, fill(mix(theme.hues[3], theme.paper, 0.4)))
        nodes.append(petal.moved(("rotate", turn, x, y)))
    for ring in range(params["rings"]):
        size = r * (1 - 0.3 * ring) * (0.9 if params["petals"] else 1)
        hue = theme.hues[ring]
        paint = {"edge": outlined(mix(hue, theme.paper, 0.5), hue, 2), "line": pen(hue, 2.5, (), "", "round")}.get(
            params["paint"], fill(hue)
        )
        if params["paint"] == "ball" and ring == 0:
            paint = fill("url(#glow)")
        nodes.append(polygon(star((0, 0), size, size * params["inner"], params["points"]), paint))
    if params["strap"]:
        nodes += [polygon(regular(0, 0, r * 0.62, 4, turn), pen(theme.ink, 2)) for turn in (0, 45)]
    if params["core"] == "disc":
        nodes.append(circle(0, 0, r * 0.14, fill(theme.paper)))
    elif params["core"] == "polygon":
        nodes.append(polygon(regular(0, 0, r * 0.2, params["points"]), fill(theme.paper)))
    return nodes


def _between(params: Mapping[str, Any], theme: Theme, at: tuple[float, float]) -> list[Node]:
    kind, r = params["between"], params["step"] * 0.09
    hue = theme.hues[4]
    if kind == "dots":
        return [circle(*at, r, fill(hue)).named("dot")]
    if kind == "squares":
        return [polygon(regular(*at, r * 1.4, 4), fill(hue)).named("square")]
    if kind == "stars":
        return [polygon(star(at, r * 1.5, r * 0.6, 4), fill(hue)).named("small star")]
    if kind == "crosses":
        return [polygon(star(at, r * 1.5, r * 0.45, 4, -45), fill(hue)).named("small cross")]
    return []
