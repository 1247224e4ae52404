"""Which media of documents take places among their tokens, and how many: before anything is encoded.

In: a batch with `text` and `media` of DOCUMENT. Out: for each medium of each document a `Place`, or why it has none. A
medium takes places when it has bytes, and a size: that which its file names (`manifests.picture_header`, in a killable
child), for it is what a decoder will find, else the one that its record names. A size beyond `image_tokens.is_size` is
none; a video needs the number of its frames, too. All others are cut from the text (`media_missing`).

What is wrong with a medium is wrong with its document: bytes that do not have the sha256 beside them
(`medium_damaged`), another number of U+FFFC than of media (`media_miscounted`), more tokens than a row has
(`medium_exceeds_context`). No picture is decoded.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.image_tokens import ImageCost, is_size
from gristmill.manifests.media_index import binary_bounds
from gristmill.manifests.media_shard import Medium
from gristmill.manifests.picture_header import HEAD_BYTES, Size, sizes
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.protocol import RowVerdict

KINDS = ("image", "video")
_TOLD = ("kind", "sha256", "mime", "width", "height", "frames")


@dataclass(frozen=True)
class MediaRules:
    """What a picture costs, and the most tokens that a medium may have: the longest row's."""

    cost: ImageCost
    context: int


@dataclass(frozen=True)
class Place:
    """A medium that takes `tokens` places; `data` are its bytes, a view of the batch."""

    medium: Medium
    tokens: int
    data: memoryview


@dataclass(frozen=True)
class MediaPlaces:
    """Of a batch: for each document that has a place the media in order, None where one has none; and the verdicts on
    the documents that have to go."""

    of_row: dict[int, list[Place | None]]
    verdicts: dict[int, RowVerdict]


def media_places(batch: pa.RecordBatch, rules: MediaRules) -> MediaPlaces:
    """See the module."""
    media = batch.column("media")
    counts = np.asarray(pc.fill_null(pc.list_value_length(media), 0), np.int64)
    if not counts.any():
        return MediaPlaces({}, {})
    told, data = _told(media)
    found = _sizes(told, data)
    marks = np.asarray(pc.fill_null(pc.count_substring(batch.column("text"), MEDIUM_CHAR), 0), np.int64)
    ends = np.cumsum(counts)
    of_row: dict[int, list[Place | None]] = {}
    verdicts: dict[int, RowVerdict] = {}
    for row in np.flatnonzero(counts).tolist():
        mine = range(int(ends[row] - counts[row]), int(ends[row]))
        if int(marks[row]) != len(mine):
            detail = f"{int(marks[row])} places for {len(mine)} media"
            verdicts[row] = RowVerdict(row, "quarantine", "media_miscounted", detail=detail)
            continue
        places = [_place(told[i], data[i], found.get(i), rules.cost) for i in mine]
        wrong = _verdict(row, [told[i] for i in mine], places, rules)
        if wrong is not None:
            verdicts[row] = wrong
        elif any(places):
            of_row[row] = places
    return MediaPlaces(of_row, verdicts)


def _told(media: pa.ListArray) -> tuple[list[dict[str, Any]], list[memoryview]]:
    """What is said of all media, one behind the other, and their bytes: empty where there are none."""
    items: pa.StructArray = media.flatten()
    names = [field.name for field in items.type]
    columns = dict(zip(names, items.flatten(), strict=True))
    told = pa.Table.from_arrays([columns[name] for name in _TOLD], names=list(_TOLD)).to_pylist()
    return told, list(_values(columns["bytes"]))


def _values(column: pa.LargeBinaryArray) -> Iterator[memoryview]:
    body = memoryview(column.buffers()[2] or b"")
    bounds = binary_bounds(column)
    valid = column.is_valid().to_pylist()
    for number, is_there in enumerate(valid):
        yield body[bounds[number] : bounds[number + 1]] if is_there else body[:0]


def _sizes(told: list[dict[str, Any]], data: list[memoryview]) -> dict[int, Size | None]:
    """The size that the file of each picture with bytes names."""
    asked = [i for i, one in enumerate(told) if one["kind"] == "image" and len(data[i])]
    return dict(zip(asked, sizes([data[i][:HEAD_BYTES] for i in asked]), strict=True))


def _place(told: dict[str, Any], data: memoryview, stored: Size | None, cost: ImageCost) -> Place | None:
    if not len(data) or told["kind"] not in KINDS or told["sha256"] is None:
        return None
    width, height = stored if stored is not None else (told["width"], told["height"])
    frames = told["frames"] if told["kind"] == "video" else None
    if not is_size(width, height) or (told["kind"] == "video" and (frames or 0) < 1):
        return None
    medium = Medium(told["sha256"], told["kind"], told["mime"], width, height, frames)
    return Place(medium, cost.tokens(width, height, frames), data)


def _verdict(row: int, told: list[dict[str, Any]], places: list[Place | None], rules: MediaRules) -> RowVerdict | None:
    for number, place in enumerate(places):
        if place is None:
            continue
        found = hashlib.sha256(place.data).hexdigest()
        if found != place.medium.sha256.hex():
            detail = f"medium {number}: {found}, not {place.medium.sha256.hex()}"
            return RowVerdict(row, "quarantine", "medium_damaged", detail=detail)
        if place.tokens > rules.context:
            at = f"medium {number} of {len(told)}"
            return RowVerdict(
                row, "drop", "medium_exceeds_context", "medium_tokens", place.tokens, rules.context, detail=at
            )
    return None
