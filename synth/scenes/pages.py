"""Pages of print: lines of plain words, one of which says something that is asked for.

The face is DejaVu Sans Mono in a size whose letters are a whole number of pixels apart: its x-height is 10.9 pixels or
more. Lines break between words.
"""

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Drawing
from gristmill.synth.scenes.things import picture

SIZE_PX = (448, 336)
ADVANCES_PX = (12, 13)
EM_PER_ADVANCE = 2048 / 1233
"""DejaVu Sans Mono: 1233 of 2048 units a letter; its x-height is 1120 units."""
MARGIN_PX = 14
LINES = 10
PAPERS = (("#ffffff", "#1b1b1b"), ("#f7f1e3", "#3a2a18"), ("#eef2f5", "#1d2b3a"), ("#f3f3ee", "#2b2b2b"))
"""Ground and ink."""
_WORDS = """the of and to in a was on with that they from before after under over river harbour letter morning evening
garden window carpenter baker winter summer bread copper silver paper between market stone bridge quiet narrow carried
brought opened closed counted nobody somebody along around lantern yellow orchard ladder rain snow wind fields station
parcel ticket wagon coal timber salt wool linen barley honey kettle stove cellar attic stairs"""
WORDS = tuple(_WORDS.split())


def page(said: str, draws: Draws) -> Drawing:
    """A page with this sentence somewhere among others."""
    width, height = SIZE_PX
    advance = draws.pick(ADVANCES_PX)
    columns = (width - 2 * MARGIN_PX) // advance
    room = LINES - len(wrap(said, columns)) - 1
    before = draws.integer(0, room + 1)
    sentences = [*_sentences(before, columns, draws), said, *_sentences(room - before, columns, draws)]
    lines = wrap(" ".join(sentences), columns)
    ground, ink = draws.pick(PAPERS)
    pitch = 2 * advance + draws.integer(2, 6)
    left, top = MARGIN_PX + draws.integer(-4, 5), MARGIN_PX + 2 * advance + draws.integer(-6, 3)
    texts = [_line(line, left, top + number * pitch) for number, line in enumerate(lines)]
    face = f'font-family="DejaVu Sans Mono" font-size="{advance * EM_PER_ADVANCE:.4f}" fill="{ink}"'
    return picture(
        [f'<rect width="{width}" height="{height}" fill="{ground}"/>', f"<g {face}>", *texts, "</g>"], SIZE_PX
    )


def _line(text: str, x: int, y: int) -> str:
    return f'  <text x="{x}" y="{y}">{escape(text)}</text>'


def _sentences(lines: int, columns: int, draws: Draws) -> Sequence[str]:
    """Sentences that fill no more than so many lines."""
    found: list[str] = []
    while True:
        words = [draws.pick(WORDS) for _ in range(draws.integer(4, 9))]
        sentence = " ".join(words).capitalize() + "."
        if len(wrap(" ".join([*found, sentence]), columns)) > lines:
            return found
        found.append(sentence)
