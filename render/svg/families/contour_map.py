"""Heights as contour lines or tinted steps about one to three peaks, with spot heights, a track and a lake."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.charts import base_size
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import ANY
from gristmill.render.svg.nodes import (
    Node,
    circle,
    clip,
    ellipse,
    fill,
    group,
    line,
    outlined,
    path,
    pen,
    polygon,
    rect,
    text,
)
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import Point, loop, polar, regular, smooth
from gristmill.render.svg.scene import backdrop, compass, sample_scene, scale_bar
from gristmill.render.svg.words import BRANDS
from gristmill.render.svg.writer import document


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, ANY, "Contour map", 0.2)
    peaks: list[dict[str, Any]] = []
    whole = draws.chance(0.2)
    count = 1 if whole else draws.integer(1, 4)
    for place in range(count):
        peaks.append(
            {
                "at": [round((place + 0.5) / count + draws.real(-0.02, 0.02), 2), round(draws.real(0.3, 0.7), 2)],
                "form": [round(draws.real(0.75, 1.25), 2) for _ in range(9)],
                "height": draws.integer(42, 310) * 10,
                "rings": draws.integer(3, 7),
            }
        )
    return view, params | {
        "peaks": peaks,
        "style": draws.pick(("lines", "tints", "both", "dashes")),
        "heights": draws.pick(("none", "peaks", "peaks", "lines")),
        "summit": draws.pick(("triangle", "dot", "cross", "none")),
        "name": f"Mount {draws.pick(BRANDS)}" if draws.chance(0.5) else "",
        "track": draws.pick(("none", "dashes", "dots", "line")),
        "lake": draws.chance(0.35),
        "grid": draws.pick(("none", "lines", "ticks")),
        "index": draws.chance(0.5),
        "round": whole,
        "compass": draws.chance(0.3),
        "bar": draws.chance(0.3),
        "frame": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme, size = theme_of(params), base_size(view)
    w, h = view.width_px, view.height_px
    low, high = mix(theme.hues[2], theme.paper, 0.75), mix(theme.hues[0], theme.paper, 0.35)
    body = [backdrop(view, low if params["style"] in ("tints", "both") else theme.paper), *_grid(params, theme, view)]
    land: list[Node] = []
    for peak in params["peaks"]:
        land.append(group(_rings(params, theme, peak, (w, h), (low, high))).noted(f"{peak['height']} m"))
    if params["lake"]:
        land.append(ellipse(w * 0.84, h * 0.82, w * 0.1, h * 0.07, outlined("#8ecae6", "#3a7ca5", 1.5)).named("lake"))
    if params["track"] != "none":
        dash = {"dashes": (8, 5), "dots": (1, 7)}.get(params["track"], ())
        points = [
            (w * 0.03, h * 0.9),
            (w * 0.25, h * 0.8),
            (w * 0.5, h * 0.86),
            (w * 0.7, h * 0.66),
            (w * 0.97, h * 0.5),
        ]
        land.append(path(smooth(points, 1), pen(theme.hues[1], 2.5, dash, "round")).named("track"))
    land += _summits(params, theme, (w, h), size)
    defs: list[Node] = []
    if params["round"]:
        defs = [clip("sheet", circle(w / 2, h / 2, min(w, h) / 2 - 6, {}))]
        body = [backdrop(view, theme.paper), group([*body[1:], *land]).with_("clip-path", "url(#sheet)")]
        body.append(circle(w / 2, h / 2, min(w, h) / 2 - 6, pen(theme.ink, 2)).named("frame"))
    else:
        body += land
    if params["frame"] and not params["round"]:
        body.append(rect(5, 5, w - 10, h - 10, pen(theme.ink, 2)).named("frame"))
    body += compass(w - 32, 34, 18, theme.ink, theme.paper) if params["compass"] else []
    body += [scale_bar(18, h - 14, 36, theme.ink)] if params["bar"] else []
    return document(body, defs, params, view)


def _middle(peak: Mapping[str, Any], size: tuple[float, float]) -> Point:
    return peak["at"][0] * size[0], peak["at"][1] * size[1]


def _rings(
    params: Mapping[str, Any], theme: Theme, peak: Mapping[str, Any], size: tuple[float, float], ends: tuple[str, str]
) -> list[Node]:
    middle = _middle(peak, size)
    reach = min(min(size) * 0.4, size[0] / len(params["peaks"]) * 0.37)
    nodes: list[Node] = []
    count = peak["rings"]
    for ring in range(count):
        far = reach * (1 - ring / count)
        blend = ring / count
        points = [
            polar(*middle, far * (value * (1 - blend) + blend), 40 * place) for place, value in enumerate(peak["form"])
        ]
        thick = 2.2 if params["index"] and ring % 3 == 0 else 1.2
        ink = mix(theme.hues[1], theme.ink, 0.4)
        paint = pen(ink, thick, (5, 3) if params["style"] == "dashes" else ())
        if params["style"] in ("tints", "both"):
            paint = fill(mix(*ends, (ring + 1) / count))
            if params["style"] == "both":
                paint |= {"stroke": ink, "stroke-width": thick}
        nodes.append(path(loop(points), paint).named("contour"))
        if params["heights"] == "lines" and ring % 2 == 0 and ring < count - 1 and points[7][1] > 14:
            x, y = points[7]
            words = str(peak["height"] - 100 * (count - ring))
            nodes.append(text(x, y + 4, words, 10, theme.ink, "sans", "middle").named("contour height"))
    return nodes


def _summits(params: Mapping[str, Any], theme: Theme, size: tuple[float, float], small: float) -> list[Node]:
    nodes: list[Node] = []
    for place, peak in enumerate(params["peaks"]):
        x, y = _middle(peak, size)
        mark = {
            "triangle": polygon(regular(x, y, 6, 3), fill(theme.ink)),
            "dot": circle(x, y, 3.5, fill(theme.ink)),
            "cross": path([("M", x - 5, y), ("L", x + 5, y), ("M", x, y - 5), ("L", x, y + 5)], pen(theme.ink, 2)),
        }.get(params["summit"])
        if mark:
            nodes.append(mark.named("summit"))
        if params["heights"] == "peaks":
            nodes.append(
                text(x, y - 9, str(peak["height"]), small, theme.ink, "sans-bold", "middle").named("spot height")
            )
        if params["name"] and place == 0:
            nodes.append(
                text(x, y + small + 10, params["name"], small, theme.ink, "serif-italic", "middle").named("peak name")
            )
    return [group(nodes).noted("summits")] if nodes else []


def _grid(params: Mapping[str, Any], theme: Theme, view: View) -> list[Node]:
    if params["grid"] == "none":
        return []
    w, h, step = view.width_px, view.height_px, 80
    if params["grid"] == "lines":
        nodes = [line(x, 0, x, h, pen(theme.rule, 1)) for x in range(step, w, step)] + [
            line(0, y, w, y, pen(theme.rule, 1)) for y in range(step, h, step)
        ]
    else:
        nodes = [line(x, 0, x, 8, pen(theme.ink, 1.5)) for x in range(step, w, step)] + [
            line(0, y, 8, y, pen(theme.ink, 1.5)) for y in range(step, h, step)
        ]
    return [group(nodes).named("grid")]
