"""Panels that show a number of up to four digits, each in one of the fonts of SVG.

The digits are at least 15 pixels high, of one colour on one ground, dark on light or light on dark; some panels have a
frame around them.
"""

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Drawing
from gristmill.synth.scenes.things import picture

SIZE_PX = (112, 56)
FONTS = ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono")
PAINTS = (
    ("#ffffff", "#1f2430"),
    ("#f4efe2", "#5a2d0c"),
    ("#e8f0fb", "#123a7a"),
    ("#16202e", "#e8eef7"),
    ("#243b2f", "#d9f2df"),
    ("#3a1f2b", "#f6dbe4"),
    ("#eaf5ea", "#1d5c2b"),
)
"""Ground and ink."""
FONT_PX = (26, 35)
DIGIT_FRAC = 0.7
"""Advance of a digit, of the size of the font: no more in any of these fonts."""
MARGIN_PX = 8


def panel(number: int, draws: Draws) -> Drawing:
    """The picture of a number in [0, 9999]."""
    text, (width, height) = str(number), SIZE_PX
    ground, ink = draws.pick(PAINTS)
    size = draws.integer(*FONT_PX)
    room = width - 2 * MARGIN_PX - int(len(text) * size * DIGIT_FRAC)
    x = MARGIN_PX + draws.integer(0, max(room, 0) + 1)
    y = height // 2 + int(size * 0.36) + draws.integer(-5, 6)
    weight = draws.pick(("normal", "bold"))
    lines = [f'<rect width="{width}" height="{height}" fill="{ground}"/>']
    if draws.chance(0.4):
        lines.append(
            f'<rect x="2.5" y="2.5" width="{width - 5}" height="{height - 5}" rx="{draws.integer(0, 9)}" '
            f'fill="none" stroke="{ink}" stroke-width="{draws.integer(1, 3)}"/>'
        )
    lines.append(
        f'<text x="{x}" y="{y}" font-family="{draws.pick(FONTS)}" font-size="{size}" font-weight="{weight}" '
        f'fill="{ink}">{text}</text>'
    )
    return picture(lines, SIZE_PX)
