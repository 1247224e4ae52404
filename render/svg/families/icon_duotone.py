"""Icons in two tones, one to four: pale areas under darker strokes, some shifted, some with a shadow."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.hand import sample_hand
from gristmill.render.svg.icon_plates import middle, on_plate, plated, sample_plate
from gristmill.render.svg.icons import ICONS, Tones
from gristmill.render.svg.layout import sample_view
from gristmill.render.svg.nodes import fill, rect
from gristmill.render.svg.palettes import Theme, ink_on, mix, sample_theme, theme_of
from gristmill.render.svg.writer import document

SIZES = ((256, 256), (320, 320), (360, 360), (512, 320), (400, 560))
UNITS = (1, 1, 0.5, 0.2)


def sample(draws: Draws) -> tuple[View, Params]:
    view = sample_view(draws, SIZES)
    count = 2 if view.width_px > view.height_px * 1.5 else draws.pick((1, 2, 3, 4))
    return view, {
        "hand": sample_hand(draws, UNITS),
        "theme": sample_theme(draws, 0.25),
        "icons": draws.some(sorted(ICONS), count),
        "title": "Duotone icons",
        "grid": draws.chance(0.5),
        "paper": draws.chance(0.75),
        "moved": draws.pick(("none", "translate", "scale")),
        **sample_plate(draws),
        "width": draws.pick((1, 1.5, 1.5, 2)),
        "by_opacity": draws.chance(0.5),
        "shadow": draws.chance(0.35),
        "second": draws.chance(0.5),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    body = [rect(0, 0, view.width_px, view.height_px, fill(theme.paper)).named("background")]
    if params["shadow"]:
        for place in range(len(params["icons"])):
            x, y, r = middle(params, view, place)
            shade = rect(x - r * 0.8, y + r * 1.06, r * 1.6, r * 0.12, fill(theme.rule), r * 0.06)
            body.append(shade if params["plate"] != "none" else shade.named("shadow"))
    for place, name in enumerate(params["icons"]):
        body.append(plated(params, theme, view, (place, _tones(params, theme, theme.hues[place]))).noted(name))
    return document(body, [], params, view)


def _tones(params: Mapping[str, Any], theme: Theme, hue: str) -> Tones:
    if on_plate(params):
        ink = ink_on(hue)
        return Tones(ink, mix(hue, ink, 0.3), mix(hue, ink, 0.6), params["width"])
    pale = hue if params["by_opacity"] else mix(hue, theme.paper, 0.65)
    stroke = theme.ink if params["second"] else hue
    return Tones(stroke, pale, theme.paper, params["width"], "round", 0.3 if params["by_opacity"] else 1.0)
