"""Where things go: views, boxes, and text that fits."""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.metrics import text_width_px

SQUARE = ((256, 256), (320, 320), (400, 400), (512, 512))
WIDE = ((480, 320), (640, 400), (640, 480), (720, 480), (800, 500), (960, 540))
TALL = ((320, 480), (360, 640), (400, 600), (420, 560))
ANY = (*SQUARE[2:], *WIDE, *TALL[2:])


def sample_view(draws: Draws, sizes: Sequence[tuple[int, int]]) -> View:
    """One of these sizes, up to an eighth larger each way, in steps of 4 pixels."""
    width, height = draws.pick(sizes)
    if draws.chance(0.5):
        width += 4 * draws.integer(0, width // 32)
        height += 4 * draws.integer(0, height // 32)
    if draws.chance(0.25) and width != height:
        height = int(height / 10) * 10
    return View(min(width, 1024), min(height, 1024))


def baseline(y: float, size: float) -> float:
    """The baseline of a line of text whose capitals stand about y."""
    return y + size * 0.36


def fitting(words: str, width: float, size: float, face: str = "sans") -> float:
    """The largest size up to `size` at which words are no wider than `width`, in half pixels."""
    at_one = text_width_px(words, 1, face)
    return min(size, int(2 * width / at_one) / 2) if at_one else size


def clipped(words: str, width: float, size: float, face: str = "sans") -> str:
    """Words, without the last ones where they are wider than `width`; the first word always stays."""
    kept = words.split()
    while len(kept) > 1 and text_width_px(" ".join(kept), size, face) > width:
        kept.pop()
    return " ".join(kept)


def wrap(words: str, width: float, size: float, face: str = "sans") -> list[str]:
    """Lines no wider than `width`, but for single words that are."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width_px(longer, size, face) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def spread(count: int, low: float, high: float) -> list[float]:
    """`count` places from low to high, both ends among them."""
    if count == 1:
        return [(low + high) / 2]
    return [low + (high - low) * place / (count - 1) for place in range(count)]


def nice_step(span: float, count: int) -> float:
    """The round step (1, 2, 2.5, 5 times a power of ten) that cuts span into about `count`."""
    rough = span / count
    power = 1.0
    while power > rough:
        power /= 10
    while power * 10 <= rough:
        power *= 10
    for factor in (1, 2, 2.5, 5, 10):
        if power * factor >= rough:
            return power * factor
    return power * 10


def shown(value: float) -> str:
    """A value as a label shows it: 1,200, 35, 2.5."""
    rounded = round(value, 2)
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:g}"
