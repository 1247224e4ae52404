"""The judge's own picture, by resvg: reduced at first, at full size for what cannot be decided so.

resvg and the comparison take as much time as there are pixels. Pictures whose longer side is over 480 pixels are
drawn at a whole fraction of their size, to some 320, the size at which the rule for two engines was measured. They
are held against ours by a narrower rule (`compare.screened_px`); where they differ by it, and wherever a drawing is
about to be rejected, the pictures of full size decide.
"""

from functools import cached_property

from gristmill.render.svg import resvg_paint
from gristmill.render.svg.resvg_paint import Pixels

JUDGED_SIDE_PX = 320


class Second:
    """resvg's picture of a document as large as its own width and height say, (width, height) `size`."""

    def __init__(self, text: str, size: tuple[int, int], with_text: bool) -> None:
        self.size = size
        self.factor = max(1, round(max(size) / JUDGED_SIDE_PX))
        self._text = text
        self._with_text = with_text

    @cached_property
    def full(self) -> Pixels:
        """The picture of full size."""
        return resvg_paint.draw(self._text, self._with_text)

    @cached_property
    def reduced(self) -> Pixels:
        """The picture with sides 1 / `factor` as long, rounded up: what lacks is white."""
        if self.factor == 1:
            return self.full
        width, height = (-(-side // self.factor) for side in self.size)
        # A zoom would be rounded to whole pixels of the picture, and shift what is far from the corner. A root inside
        # another would be clipped, on a layer of its own.
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width * self.factor} {height * self.factor}">'
        )
        text = self._text
        if " overflow=" not in text[: text.index(">")]:
            text = text.replace("<svg ", '<svg overflow="visible" ', 1)
        return resvg_paint.draw(f"{head}{text}</svg>", self._with_text)

    @property
    def is_drawn_full(self) -> bool:
        """Whether there is a picture of full size already."""
        return self.factor == 1 or "full" in self.__dict__

    @property
    def reduced_off_px(self) -> int:
        """By how many pixels a side of the reduced picture is not what it must be."""
        height, width = self.reduced.shape[:2]
        return max(abs(found + side // -self.factor) for found, side in zip((width, height), self.size, strict=True))
