"""The media of packed pieces: which stand in each piece, and the segments, media and loss spans that follow.

In: pieces and the documents that they name, whose `media` are those of TOKENISED. A medium belongs to the piece that
holds all of its places; a piece that begins behind it does not know of it. Within a piece text and media take turns,
so its segments are the stretches between the edges `[0, start of a medium, end of it, ..., length]`, empty ones left
out.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.trainer_schema import LOSS_SPAN, ROW_MEDIUM

Ints = npt.NDArray[np.int64]

_OF_MEDIUM = ("sha256", "mime", "width", "height", "frames")


@dataclass(frozen=True)
class Shown:
    """Media in their pieces, in the order of these: `piece` of each, `start` and `end` in it, `item` its number among
    all media of the documents, `items`. `per_piece` counts those of each piece."""

    piece: Ints
    start: Ints
    end: Ints
    item: Ints
    per_piece: Ints
    items: pa.StructArray

    def is_video(self) -> npt.NDArray[np.bool_]:
        """Of each."""
        kinds = self.items.field("kind").take(pa.array(self.item))
        return pc.equal(kinds, "video").to_numpy(zero_copy_only=False)


def shown_media(doc: Ints, doc_offset: Ints, length: Ints, docs: pa.RecordBatch) -> Shown:
    """The media of pieces. Raises ValueError where a piece begins or ends inside of one."""
    column: pa.ListArray = docs.column("media")
    items: pa.StructArray = column.flatten()
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0), np.int64)
    tokens = docs.column("n_tokens").to_numpy().astype(np.int64)
    # Places in documents that stand one behind the other are sorted, and no medium reaches into the next document.
    first = np.cumsum(tokens) - tokens
    start = np.repeat(first, lengths) + items.field("token_start").to_numpy(zero_copy_only=False).astype(np.int64)
    end = start + items.field("token_len").to_numpy(zero_copy_only=False).astype(np.int64)
    begins = first[doc] + doc_offset
    low, high = np.searchsorted(start, begins), np.searchsorted(start, begins + length)
    per_piece = high - low
    piece = np.repeat(np.arange(len(doc)), per_piece)
    item = np.arange(len(piece)) + np.repeat(low - (np.cumsum(per_piece) - per_piece), per_piece)
    before = np.append(end, 0)[low - 1]
    if bool(((low > 0) & (before > begins)).any()) or bool((end[item] > (begins + length)[piece]).any()):
        raise ValueError("a piece begins or ends inside of a medium")
    return Shown(piece, start[item] - begins[piece], end[item] - begins[piece], item, per_piece, items)


@dataclass(frozen=True)
class Stretches:
    """What tiles each piece and its separator, in order: `start` and `end` in the piece; `medium` is the number in
    `Shown`, -1 for text; `is_separator`."""

    piece: Ints
    start: Ints
    end: Ints
    medium: Ints
    is_separator: npt.NDArray[np.bool_]


def stretches_of(length: Ints, separator: npt.NDArray[np.bool_], shown: Shown) -> Stretches:
    """The stretches of pieces of `length` tokens."""
    edges = 2 + 2 * shown.per_piece + separator
    at = np.cumsum(edges) - edges
    edge = np.zeros(int(edges.sum()), dtype=np.int64)
    medium = np.full(len(edge), -1, dtype=np.int64)
    number = np.arange(len(shown.piece))
    nth = number - (np.cumsum(shown.per_piece) - shown.per_piece)[shown.piece]
    place = at[shown.piece] + 1 + 2 * nth
    edge[place], edge[place + 1], medium[place] = shown.start, shown.end, number
    behind = at + 1 + 2 * shown.per_piece
    edge[behind] = length
    last = behind[separator]
    edge[last + 1] = length[separator] + 1
    piece = np.repeat(np.arange(len(edges)), edges)
    is_separator = np.zeros(len(edge), dtype=np.bool_)
    is_separator[last] = True
    till = np.append(edge[1:], 0)
    ends = np.append(piece[1:] != piece[:-1], True)
    stays = np.flatnonzero(~ends & (till > edge))
    return Stretches(piece[stays], edge[stays], till[stays], medium[stays], is_separator[stays])


def row_media(shown: Shown, place: Ints, bounds: Ints) -> pa.ListArray:
    """Column `media` of rows; `place`: where each medium begins in its row, `bounds`: those of each row."""
    taken = {name: shown.items.field(name).take(pa.array(shown.item)) for name in _OF_MEDIUM}
    taken["token_start"] = pa.array(place.astype(np.int32))
    taken["token_len"] = pa.array((shown.end - shown.start).astype(np.int32))
    return lists(bounds, [taken[f.name] for f in ROW_MEDIUM], ROW_MEDIUM)


def row_loss(shown: Shown, place: Ints, bounds: Ints) -> pa.ListArray:
    """Column `loss_spans` of rows: places of media have no target."""
    columns = [
        pa.array(place.astype(np.int32)),
        pa.array((place + shown.end - shown.start).astype(np.int32)),
        pa.array(np.zeros(len(place), dtype=np.float32)),
        pa.array(["media"] * len(place), pa.string()),
    ]
    return lists(bounds, columns, LOSS_SPAN)


def lists(bounds: Ints, columns: list[pa.Array], item: pa.DataType) -> pa.ListArray:
    """Lists of structs, those of row r being [bounds[r], bounds[r + 1])."""
    values = pa.StructArray.from_arrays(columns, fields=list(item))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), values)
