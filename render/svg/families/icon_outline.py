"""Icons in outline, one to four: strokes of one width, with an accent, plates and badges."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.hand import sample_hand
from gristmill.render.svg.icon_plates import on_plate, plated, sample_plate
from gristmill.render.svg.icons import ICONS, Tones
from gristmill.render.svg.layout import sample_view
from gristmill.render.svg.nodes import fill, rect
from gristmill.render.svg.palettes import Theme, ink_on, mix, sample_theme, theme_of
from gristmill.render.svg.writer import document

SIZES = ((256, 256), (320, 320), (384, 256), (512, 256), (480, 480), (300, 400))
UNITS = (1, 1, 0.5, 0.25, 0.1)


def sample(draws: Draws) -> tuple[View, Params]:
    view = sample_view(draws, SIZES)
    count = 2 if view.width_px > view.height_px * 1.5 else draws.pick((1, 1, 2, 4))
    return view, {
        "hand": sample_hand(draws, UNITS),
        "theme": sample_theme(draws, 0.25),
        "icons": draws.some(sorted(ICONS), count),
        "title": "Icons",
        "grid": draws.chance(0.5),
        "paper": draws.chance(0.75),
        "moved": draws.pick(("none", "translate", "scale")),
        **sample_plate(draws),
        "width": draws.pick((1, 1.25, 1.5, 1.5, 2)),
        "cap": draws.pick(("round", "round", "butt")),
        "accent": draws.chance(0.4),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    body = [rect(0, 0, view.width_px, view.height_px, fill(theme.paper)).named("background")]
    for place, name in enumerate(params["icons"]):
        body.append(plated(params, theme, view, (place, _tones(params, theme, theme.hues[place]))).noted(name))
    return document(body, [], params, view)


def _tones(params: Mapping[str, Any], theme: Theme, hue: str) -> Tones:
    stroke = ink_on(hue) if on_plate(params) else hue if params["accent"] else theme.ink
    hole = mix(hue, theme.paper, 0.6) if params["grid"] else ""
    return Tones(stroke, "", hole, params["width"], params["cap"])
