"""Pictures and videos among the text of sequences: what takes their places, and how texts with them are encoded.

In texts each medium is one U+FFFC. A medium takes as many places among the ids as `image_tokens` counts for its size;
the pad id stands there, and the text in front of it and behind it is encoded by itself: exactly what emit writes
(`trainer_schema`). Bytes travel beside the ids and are handed out with the row.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gristmill.manifests.errors import UsageError
from gristmill.manifests.image_tokens import ImageCost, is_size
from gristmill.manifests.media_shard import Medium
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.trainer_schema import TrainerFormat

Ids = npt.NDArray[np.uint32]

KINDS = ("image", "video")


class Shown(NamedTuple):
    """A medium and its bytes; b"" where whoever writes shards has them already."""

    medium: Medium
    data: bytes

    def tokens(self, cost: ImageCost) -> int:
        """Places that it takes."""
        return cost.tokens(self.medium.width, self.medium.height, self.medium.frames)


class Bit(NamedTuple):
    """Some ids of a text, or the places of a medium."""

    ids: Ids
    shown: Shown | None = None


Bits = tuple[Bit, ...]


def length(bits: Bits) -> int:
    """Ids of all."""
    return sum(len(bit.ids) for bit in bits)


def has_places(shown: Shown | None) -> bool:
    """Whether a medium of a document can take places: it has a size, and a video frames. Others are left out."""
    if shown is None or shown.medium.kind not in KINDS or not is_size(shown.medium.width, shown.medium.height):
        return False
    return (shown.medium.frames or 0) >= 1 if shown.medium.kind == "video" else shown.medium.frames is None


def is_whole(shown: Shown) -> bool:
    """Whether the bytes are those of the hash beside them."""
    return not shown.data or hashlib.sha256(shown.data).digest() == shown.medium.sha256


def png(data: bytes, width: int, height: int) -> Shown:
    """A picture that was drawn here."""
    return Shown(Medium(hashlib.sha256(data).digest(), "image", "image/png", width, height, None), data)


def without(text: str, media: Sequence[Shown | None]) -> tuple[str, tuple[Shown, ...]]:
    """The text without the marks of media that have no places, and those that have. Raises ValueError where there is
    another number of marks than of media."""
    stretches = text.split(MEDIUM_CHAR)
    if len(stretches) != len(media) + 1:
        raise ValueError(f"{len(stretches) - 1} places for {len(media)} media")
    kept = [shown if has_places(shown) else None for shown in media]
    marks = [MEDIUM_CHAR if shown is not None else "" for shown in kept]
    joined = "".join(part for pair in zip(stretches, [*marks, ""], strict=True) for part in pair)
    return joined, tuple(shown for shown in kept if shown is not None)


def bits_of(stretches: Sequence[Ids], media: Sequence[Shown], pad_id: int, cost: ImageCost) -> Bits:
    """The ids of a text with media, from those of its stretches; empty stretches are left out."""
    bits: list[Bit] = [Bit(stretches[0])]
    for shown, ids in zip(media, stretches[1:], strict=True):
        bits += [Bit(np.full(shown.tokens(cost), pad_id, np.uint32), shown), Bit(ids)]
    return tuple(bit for bit in bits if len(bit.ids))


def check_format(shown: Mapping[bytes, Shown], cost: ImageCost, form: TrainerFormat) -> None:
    """Raises UsageError where rows of this format would say that these media cost something else."""
    if shown and form.image_cost != cost:
        raise UsageError(
            "rows with pictures need the image cost that their tokens were counted by",
            where="synth.image_cost",
            value=form.image_cost,
            remedy=f"give the format {cost}",
        )
