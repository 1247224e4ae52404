"""The media of rows as a trainer takes them: where they stand among the tokens, and their bytes when asked for.

`batch.media[i]` lists those of row i in the order of their places. `bytes()` is the file as it came; `decode()` what
the model sees of a picture: uint8[height, width, 3], RGB, of the size that `ImageCost.resized` gives, so that it has
exactly the patches that its places count; what is transparent is white. An orientation in EXIF turns nothing.

Decoding happens in this process, by Pillow, on files from anywhere: whoever calls it takes that risk. Before a pixel is
made the size is held against the row's and against MAX_PIXELS. A picture that Pillow cannot read raises InputError.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import InputError, UsageError, VerifyError
from gristmill.manifests.image_tokens import ImageCost, is_size
from gristmill.pipeline.reader.rows_dataset import RowsDataset

DECODERS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
"""Of Pillow's: those whose sizes `manifests.picture_header` knows. The others are the less tried ones."""
_WHITE = (255, 255, 255, 255)


@dataclass(frozen=True)
class MediaSource:
    """A dataset of rows by its folder, or URL, and the digest of its manifest: small, so that batches may cross
    processes."""

    folder: str
    digest: str

    def dataset(self) -> RowsDataset:
        """Opened, once in a process. Raises VerifyError where another dataset stands there now."""
        return _opened(self.folder, self.digest)


@lru_cache(maxsize=64)
def _opened(folder: str, digest: str) -> RowsDataset:
    dataset = RowsDataset.open(folder)
    if dataset.digest != digest:
        raise VerifyError("the dataset was made anew meanwhile", folder, dataset.digest, "load the plan again")
    return dataset


@dataclass(frozen=True)
class RowMedium:
    """A picture or a video of a row: places `[token_start, token_start + token_len)`; `width` and `height` in pixels as
    it came; `frames` of a video."""

    sha256: bytes
    mime: str | None
    kind: str
    width: int
    height: int
    frames: int | None
    token_start: int
    token_len: int
    source: MediaSource

    def bytes(self, verify: bool = False) -> bytes:
        """The file, held against its xxh3, and with `verify` against its sha256. Raises CorruptMediumError, naming
        file and medium."""
        return self.source.dataset().media().read(self.sha256, verify)

    def decode(self, verify: bool = False) -> npt.NDArray[np.uint8]:
        """See the module. Raises UsageError for a video, InputError where the file is no picture of the row's size,
        and as `bytes`."""
        if self.kind != "image":
            raise UsageError("only pictures are decoded here", f"medium {self.sha256.hex()}", self.kind, "use bytes()")
        cost = ImageCost(**self.source.dataset().manifest["facts"]["image_cost"])
        return decoded(self.bytes(verify), (self.width, self.height), cost, self.sha256.hex())


def decoded(data: bytes, size: tuple[int, int], cost: ImageCost, where: str) -> npt.NDArray[np.uint8]:
    """A picture of `size` as the model sees it; see the module."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=DECODERS) as picture:
            if picture.size != size or not is_size(*picture.size):
                raise InputError("a picture of another size than its row says", f"medium {where}", picture.size)
            return np.asarray(_seen(picture, cost.resized(*size)))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise InputError(
            "a picture cannot be decoded", f"medium {where}", error, "leave it out, or use bytes()"
        ) from None


def _seen(picture: Any, size: tuple[int, int]) -> Any:
    from PIL import Image

    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        shown = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", shown.size, _WHITE), shown)
    picture = picture.convert("RGB")
    return picture if picture.size == size else picture.resize(size, Image.Resampling.BICUBIC)


def media_of(rows: Sequence[int], source: MediaSource) -> list[list[RowMedium]]:
    """The media of rows of a dataset, from what the rows say of themselves. Raises CorruptRowError."""
    dataset = source.dataset()
    return [_media_of_row(dataset.documents(row), source) for row in rows]


def _media_of_row(told: dict[str, Any], source: MediaSource) -> list[RowMedium]:
    kinds = {s["media_idx"]: s["kind"] for s in told["segments"] if s["media_idx"] is not None}
    return [RowMedium(**medium, kind=kinds[number], source=source) for number, medium in enumerate(told["media"])]
