"""Plans of a few streets: blocks, parks, water, a railway, names along streets, pins and a route."""

import itertools
from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import ANY, baseline
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, path, pen, polygon, polyline, rect, text
from gristmill.render.svg.palettes import ink_on, mix, theme_of
from gristmill.render.svg.paths import smooth
from gristmill.render.svg.scene import backdrop, compass, sample_scene, scale_bar
from gristmill.render.svg.words import STREETS
from gristmill.render.svg.writer import document

GROUNDS = (
    ("#eceae4", "#ffffff", "#b9dcb0", "#a9d3ea"),
    ("#f7f3e9", "#ffe9a8", "#c9e4b9", "#b5d8f0"),
    ("#e4e8ec", "#ffffff", "#bcd9c0", "#8fbfe0"),
    ("#2b3440", "#4b5766", "#2f5440", "#26506e"),
)


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, ANY, "Town plan")
    columns, rows = (
        draws.integer(2, max(3, view.width_px // 130 + 1)),
        draws.integer(2, max(3, view.height_px // 120 + 1)),
    )
    return view, params | {
        "ground": draws.integer(0, len(GROUNDS)),
        "xs": sorted(round((n + 1 + draws.real(-0.2, 0.2)) / (columns + 1), 3) for n in range(columns)),
        "ys": sorted(round((n + 1 + draws.real(-0.2, 0.2)) / (rows + 1), 3) for n in range(rows)),
        "names": draws.some(STREETS, columns + rows),
        "wide": [draws.integer(9, 20) for _ in range(columns + rows)],
        "parks": [[draws.integer(0, columns + 1), draws.integer(0, rows + 1)] for _ in range(draws.integer(0, 3))],
        "houses": [round(draws.frac(), 2) for _ in range(40)] if draws.chance(0.6) else [],
        "river": [round(draws.frac(), 2) for _ in range(4)] if draws.chance(0.45) else [],
        "avenue": draws.chance(0.4),
        "rail": draws.chance(0.3),
        "route": draws.pick(("none", "line", "dots", "none")),
        "pins": draws.integer(0, 4),
        "pin": draws.pick(("drop", "disc", "flag")),
        "casing": draws.chance(0.4),
        "roundabout": draws.chance(0.25),
        "compass": draws.chance(0.35),
        "bar": draws.chance(0.3),
        "tilt": draws.pick((0, 0, 0, -8, 6)),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    land, street, park, water = GROUNDS[params["ground"]]
    w, h = view.width_px, view.height_px
    xs, ys = [x * w for x in params["xs"]], [y * h for y in params["ys"]]
    town: list[Node] = [*_blocks(params, (xs, ys), (w, h), (land, park))]
    if params["river"]:
        points = [(w * at, h * (0.15 + 0.7 * y)) for at, y in zip((-0.1, 0.35, 0.7, 1.1), params["river"], strict=True)]
        town.append(path(smooth(points, 1), pen(water, min(w, h) * 0.09, (), "round")).named("river").noted("river"))
    town += _streets(params, (xs, ys), (w, h), (street, land))
    if params["rail"]:
        d = [("M", -0.1 * w, 0.9 * h), ("C", 0.3 * w, 0.8 * h, 0.6 * w, 0.6 * h, 1.1 * w, 0.64 * h)]
        ink = mix(street, ink_on(land), 0.6)
        town.append(group([path(d, pen(ink, 5)).named("railway"), path(d, pen(land, 3, (9, 9)))]).noted("railway"))
    town += _route(params, (xs, ys), theme.hues[0])
    body = [backdrop(view, land)]
    if params["tilt"]:
        body.append(group(town, ("rotate", params["tilt"], w / 2, h / 2), ("scale", 1.0)).noted("town"))
        body[-1].attrs["transform"] = [("rotate", params["tilt"], w / 2, h / 2)]
    else:
        body += [*town, *_names(params, (xs, ys), (w, h), (street, ink_on(street)))]
    body += _pins(params, (xs, ys), list(theme.hues))
    if params["compass"]:
        body += compass(w - 30, 32, 18, ink_on(land), land)
    if params["bar"]:
        body.append(scale_bar(18, h - 16, 40, ink_on(land)))
    return document(body, [], params, view)


def _blocks(
    params: Mapping[str, Any],
    lines: tuple[list[float], list[float]],
    size: tuple[float, float],
    colours: tuple[str, str],
) -> list[Node]:
    xs, ys = [-40.0, *lines[0], size[0] + 40.0], [-40.0, *lines[1], size[1] + 40.0]
    nodes: list[Node] = []
    used: set[tuple[int, int]] = set()
    for column, row in params["parks"]:
        if (column, row) not in used:
            used.add((column, row))
            box = (xs[column] + 12, ys[row] + 12, xs[column + 1] - xs[column] - 24, ys[row + 1] - ys[row] - 24)
            nodes.append(rect(*box, fill(colours[1]), 6).named("park"))
    houses: list[Node] = []
    shade = mix(colours[0], ink_on(colours[0]), 0.14)
    for place, frac in enumerate(params["houses"]):
        column, row = place % (len(xs) - 1), place // (len(xs) - 1) % (len(ys) - 1)
        w, h = xs[column + 1] - xs[column] - 36, ys[row + 1] - ys[row] - 36
        if (column, row) not in used and w > 40 and h > 40 and frac < 0.75:
            used.add((column, row))
            houses.append(
                rect(xs[column] + 18, ys[row] + 18, w * 0.42, h * (0.4 + 0.5 * frac), fill(shade)).named("building")
            )
            if frac < 0.4:
                x, y = xs[column] + 18 + w * 0.55, ys[row] + 18
                houses.append(
                    polygon(
                        [
                            (x, y),
                            (x + w * 0.4, y),
                            (x + w * 0.4, y + h * 0.8),
                            (x + w * 0.2, y + h * 0.8),
                            (x + w * 0.2, y + h * 0.4),
                            (x, y + h * 0.4),
                        ],
                        fill(shade),
                    ).named("building")
                )
    return [*nodes, *([group(houses).noted("buildings")] if houses else [])]


def _streets(
    params: Mapping[str, Any],
    lines: tuple[list[float], list[float]],
    size: tuple[float, float],
    colours: tuple[str, str],
) -> list[Node]:
    w, h = size
    street, land = colours
    count = len(lines[0])
    runs = [([(x, -60), (x, h + 60)], wide) for x, wide in zip(lines[0], params["wide"], strict=False)]
    runs += [([(-60, y), (w + 60, y)], wide) for y, wide in zip(lines[1], params["wide"][count:], strict=True)]
    if params["avenue"]:
        runs.append(([(-60, h * 0.95), (w * 0.4, h * 0.55), (w + 60, h * 0.1)], 16))
    nodes: list[Node] = []
    if params["casing"]:
        nodes += [polyline(points, pen(mix(street, ink_on(land), 0.35), wide + 3)) for points, wide in runs]
    nodes += [
        polyline(points, pen(street, wide)).named("street", name)
        for (points, wide), name in zip(runs, [*params["names"], "Avenue"], strict=False)
    ]
    if params["roundabout"]:
        x, y = lines[0][0], lines[1][0]
        nodes.append(
            group([circle(x, y, 22, fill(street)), circle(x, y, 11, fill(GROUNDS[params["ground"]][2]))]).named(
                "roundabout"
            )
        )
    return [group(nodes).noted("streets")]


def _names(
    params: Mapping[str, Any],
    lines: tuple[list[float], list[float]],
    size: tuple[float, float],
    colours: tuple[str, str],
) -> list[Node]:
    """Names along streets that have room for them before the first crossing."""
    nodes: list[Node] = []
    xs = [*lines[0], size[0]]
    count = len(lines[0])
    for place, y in enumerate(lines[1]):
        name, wide = params["names"][count + place], params["wide"][count + place]
        gaps = [(b - a, a) for a, b in itertools.pairwise(xs)]
        gap, start = max(gaps)
        if (
            wide >= 13
            and text_width_px(name, 10) < gap - 48
            and not params["avenue"]
            and not params["rail"]
            and not params["river"]
        ):
            nodes.append(
                text(start + gap / 2, baseline(y, 10), name, 10, colours[1], "sans", "middle").named("street name")
            )
    return [group(nodes).noted("names")] if nodes else []


def _route(params: Mapping[str, Any], lines: tuple[list[float], list[float]], hue: str) -> list[Node]:
    if params["route"] == "none":
        return []
    xs, ys = lines
    points = [(xs[0], -20), (xs[0], ys[0]), (xs[-1], ys[0]), (xs[-1], ys[-1]), (xs[-1], ys[-1] + 60)]
    dash = (1, 9) if params["route"] == "dots" else ()
    return [polyline(points, pen(hue, 5, dash, "round", "round")).named("route")]


def _pins(params: Mapping[str, Any], lines: tuple[list[float], list[float]], hues: list[str]) -> list[Node]:
    nodes: list[Node] = []
    for place in range(params["pins"]):
        x, y = lines[0][place % len(lines[0])] + 3 * place, lines[1][-1 - place % len(lines[1])] - 4
        hue = hues[place + 1]
        if params["pin"] == "drop":
            d = [
                ("M", x, y),
                ("C", x - 6, y - 12, x - 11, y - 16, x - 11, y - 23),
                ("A", 11, 11, 0, 1, 1, x + 11, y - 23),
                ("C", x + 11, y - 16, x + 6, y - 12, x, y),
                ("Z",),
            ]
            nodes.append(group([path(d, fill(hue)), circle(x, y - 23, 4.5, fill("#ffffff"))]).named("pin"))
        elif params["pin"] == "disc":
            words = text(x, y + 4, chr(65 + place), 12, ink_on(hue), "sans-bold", "middle")
            nodes.append(group([circle(x, y, 11, fill(hue)).named("pin"), words.named("pin letter")]))
        else:
            d = [("M", x, y), ("L", x, y - 30), ("L", x + 20, y - 24), ("L", x, y - 16)]
            nodes.append(path(d, {"fill": hue, "stroke": hue, "stroke-width": 2}).named("flag"))
    return nodes
