"""Solid icons, one to four: areas in one colour, details cut in the ground's, flat or shaded."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.hand import sample_hand
from gristmill.render.svg.icon_plates import on_plate, plated, sample_plate
from gristmill.render.svg.icons import ICONS, Tones
from gristmill.render.svg.layout import sample_view
from gristmill.render.svg.nodes import fill, linear, rect
from gristmill.render.svg.palettes import Theme, ink_on, mix, sample_theme, theme_of
from gristmill.render.svg.writer import document

SIZES = ((256, 256), (400, 400), (448, 256), (512, 512), (320, 400))
UNITS = (1, 1, 0.5, 2, 0.25)


def sample(draws: Draws) -> tuple[View, Params]:
    view = sample_view(draws, SIZES)
    count = 2 if view.width_px > view.height_px * 1.5 else draws.pick((1, 2, 3, 4))
    return view, {
        "hand": sample_hand(draws, UNITS),
        "theme": sample_theme(draws, 0.25),
        "icons": draws.some(sorted(ICONS), count),
        "title": "Glyphs",
        "grid": draws.chance(0.5),
        "paper": draws.chance(0.75),
        "moved": draws.pick(("none", "translate", "scale")),
        **sample_plate(draws),
        "shaded": draws.chance(0.35),
        "width": draws.pick((1.5, 1.8, 2.2)),
        "ring": draws.chance(0.25),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    body = [rect(0, 0, view.width_px, view.height_px, fill(theme.paper)).named("background")]
    if params["ring"]:
        inset = min(view.width_px, view.height_px) * 0.03
        body.append(
            rect(
                inset,
                inset,
                view.width_px - 2 * inset,
                view.height_px - 2 * inset,
                {"fill": "none", "stroke": theme.muted, "stroke-width": 2},
                12,
            ).named("frame")
        )
    for place, name in enumerate(params["icons"]):
        body.append(plated(params, theme, view, (place, _tones(params, theme, theme.hues[place]))).noted(name))
    return document(
        body,
        [linear("solid", ((0, mix(theme.hues[0], theme.ink, 0.15)), (1, theme.hues[0])))] if _shaded(params) else [],
        params,
        view,
    )


def _shaded(params: Mapping[str, Any]) -> bool:
    return bool(params["shaded"]) and not on_plate(params)


def _tones(params: Mapping[str, Any], theme: Theme, hue: str) -> Tones:
    if on_plate(params):
        return Tones("", ink_on(hue), hue, params["width"])
    return Tones("", "url(#solid)" if params["shaded"] else hue, theme.paper, params["width"])
