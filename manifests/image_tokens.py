"""What a picture or a video costs in tokens, and the size that the model sees it in: one function for everybody.

The encoder is one of native resolution: a picture keeps its aspect and is cut into patches of `patch_px` pixels, of
which `merge` by `merge` become one token; the last patches of a line or column are padded. Beside them stand
`delimiters` tokens.

    tokens = ceil(width / (patch_px * merge)) * ceil(height / (patch_px * merge)) + delimiters

A picture that would cost more than `max_tokens` is made smaller first: to the largest length of its longer side, and
the other that keeps the aspect (rounded half up, 1 at least), at which it fits. It is never made larger. Coordinates of
annotations are those of the size that `resized` gives, which is what the model sees; padding is beyond them. A video
costs as many pictures as it has groups of `frames_per_group` frames, under one pair of delimiters; a group's cap is
that of a picture.

Patch, merge and delimiters are those of Qwen2.5-VL and MoonViT (arXiv:2502.13923 section 2.1, arXiv:2504.07491 section
2.1); all integer arithmetic, so that no machine counts otherwise.
"""

from dataclasses import asdict, dataclass

from gristmill.manifests.errors import UsageError

MAX_SIDE_PX = 1 << 24
MAX_PIXELS = 178_956_970
"""Of a picture that anybody decodes here: above it Pillow calls a file a bomb (twice PIL.Image.MAX_IMAGE_PIXELS)."""


@dataclass(frozen=True)
class ImageCost:
    """See the module. Raises UsageError where a number makes no sense."""

    patch_px: int = 14
    merge: int = 2
    delimiters: int = 2
    max_tokens: int = 4096
    frames_per_group: int = 2

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 0 if name == "delimiters" else 1
            if not least <= value < 1 << 31:
                raise UsageError(f"must be {least} or more", f"image cost {name}", value)
        if self.max_tokens <= self.delimiters:
            raise UsageError("leaves no token for the picture", "image cost max_tokens", self.max_tokens)

    @property
    def cell_px(self) -> int:
        """The side of what becomes one token."""
        return self.patch_px * self.merge

    def resized(self, width: int, height: int) -> tuple[int, int]:
        """The size in which the model sees a picture of `width` by `height` pixels. Raises ValueError on a size that is
        none."""
        _check(width, height)
        if self._cells(width, height) + self.delimiters <= self.max_tokens:
            return width, height
        if width < height:
            seen_height, seen_width = self._shrunk(height, width)
        else:
            seen_width, seen_height = self._shrunk(width, height)
        return seen_width, seen_height

    def image_tokens(self, width: int, height: int) -> int:
        """Tokens of a picture of that size as it came, delimiters included. Raises ValueError as `resized`."""
        return self._cells(*self.resized(width, height)) + self.delimiters

    def video_tokens(self, width: int, height: int, frames: int) -> int:
        """Tokens of a video of that size and that many frames. Raises ValueError as `resized`, and without a frame."""
        if frames < 1:
            raise ValueError(f"a video of {frames} frames")
        groups = -(-frames // self.frames_per_group)
        return groups * self._cells(*self.resized(width, height)) + self.delimiters

    def tokens(self, width: int, height: int, frames: int | None) -> int:
        """Tokens of a picture (`frames` None), or of a video. Raises ValueError as these."""
        return self.image_tokens(width, height) if frames is None else self.video_tokens(width, height, frames)

    def _cells(self, width: int, height: int) -> int:
        return -(-width // self.cell_px) * -(-height // self.cell_px)

    def _shrunk(self, longer: int, shorter: int) -> tuple[int, int]:
        """The largest size of the same aspect that fits; the longer side is searched for, for its steps are finer."""
        fits, too_large = 1, longer
        while too_large - fits > 1:
            middle = (fits + too_large) // 2
            if self._cells(middle, _scaled(shorter, middle, longer)) + self.delimiters <= self.max_tokens:
                fits = middle
            else:
                too_large = middle
        return fits, _scaled(shorter, fits, longer)


def _scaled(side: int, part: int, whole: int) -> int:
    """side * part / whole, rounded half up, 1 at least."""
    return max(1, (2 * side * part + whole) // (2 * whole))


def is_size(width: int | None, height: int | None) -> bool:
    """Whether these are the sides of a picture that can be, and can be decoded."""
    if width is None or height is None or not (0 < width <= MAX_SIDE_PX and 0 < height <= MAX_SIDE_PX):
        return False
    return width * height <= MAX_PIXELS


def _check(width: int, height: int) -> None:
    if not (1 <= width <= MAX_SIDE_PX and 1 <= height <= MAX_SIDE_PX):
        raise ValueError(f"a picture of {width} by {height} pixels")
