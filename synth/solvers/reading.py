"""A row as its reader sees it: the text of its pieces, decoded from the ids alone.

In: the columns of `trainer_schema.packed_schema` for one row, and the tokenizer that its metadata name. `Reading.text`
is the UTF-8 of the valid ids with nothing for end-of-sequence ids and the places of media; `bytes_at` gives the byte
where a token begins. Raises Unreadable on ids that spell no UTF-8, on spans outside the row;
`check_joins` asks whether encoding the text again gives the ids, and `media_faults` what is wrong with media.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import InputError
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.manifests.trainer_schema import LOSS_SPAN, ROW_MEDIUM, SEGMENT, TrainerFormat
from gristmill.manifests.verify_row_media import KINDS, row_faults

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Span = tuple[int, int]

PLANTED = ("record", "query", "answer")


class Unreadable(Exception):
    """What is wrong with a row as text."""


@dataclass(frozen=True)
class Reading:
    """One row: `spans`, `kinds` and `groups` of its segments, `tasks` the column as plain data.

    `docs` and `offsets`: of each segment, its document and how many tokens of that stand in front.
    `bytes_at[i]` (int64[n_tokens + 1]) is the byte of `text` where token i begins. `media_idx` is that of each segment,
    `media` the column, `faults` what is wrong with it, and `media_bytes` what came beside the row, by sha256.
    """

    context: int
    n_tokens: int
    ids: Ids
    text: bytes
    bytes_at: Ints
    spans: tuple[Span, ...]
    kinds: tuple[str, ...]
    groups: tuple[int, ...]
    tasks: tuple[Mapping[str, Any], ...]
    docs: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    media_idx: tuple[int | None, ...] = ()
    media: tuple[Mapping[str, Any], ...] = ()
    faults: tuple[str, ...] = ()
    media_bytes: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])

    def piece(self, start: int, end: int) -> str:
        """The text of tokens [start, end). Raises Unreadable where they are not inside of the row or cut a letter."""
        if not 0 <= start < end <= self.n_tokens:
            raise Unreadable(f"tokens [{start}, {end}) of {self.n_tokens}")
        try:
            return self.text[self.bytes_at[start] : self.bytes_at[end]].decode()
        except UnicodeDecodeError:
            raise Unreadable(f"tokens [{start}, {end}) cut a character") from None


def read_row(row: pa.RecordBatch, tokenizer: Tokenizer, media_bytes: Mapping[bytes, bytes] | None = None) -> Reading:
    """Read a batch of one row; `media_bytes` holds the bytes of its media by sha256, as far as they are at hand."""
    n_tokens = row.column("n_tokens")[0].as_py()
    context = row.column("input_ids").type.list_size
    if n_tokens is None or not 0 < n_tokens <= context:
        raise Unreadable(f"{n_tokens} tokens in a row of {context}")
    ids = row.column("input_ids").flatten().to_numpy()[:n_tokens]
    segments = row.column("segments").flatten()
    starts, ends, groups = (segments.field(name).to_pylist() for name in ("start", "end", "attn_group"))
    if [0, *ends] != [*starts, n_tokens] or any(start >= end for start, end in zip(starts, ends, strict=True)):
        raise Unreadable("segments do not tile the tokens")
    spans, kinds = tuple(zip(starts, ends, strict=True)), tuple(segments.field("kind").to_pylist())
    text, bytes_at = _decode(ids, ends_of(ids, spans, kinds, tokenizer), tokenizer)
    return Reading(
        context=context,
        n_tokens=n_tokens,
        ids=ids,
        text=text,
        bytes_at=bytes_at,
        spans=spans,
        kinds=kinds,
        groups=tuple(groups),
        tasks=tuple(row.column("tasks")[0].as_py() or ()),
        docs=tuple(segments.field("doc_idx").to_pylist()),
        offsets=tuple(segments.field("doc_offset").to_pylist()),
        media_idx=tuple(segments.field("media_idx").to_pylist()),
        media=tuple(row.column("media")[0].as_py() or ()),
        faults=_media_faults(row, ids, kinds),
        media_bytes=media_bytes or {},
    )


def ends_of(ids: Ids, spans: tuple[Span, ...], kinds: tuple[str, ...], tokenizer: Tokenizer) -> npt.NDArray[np.bool_]:
    """Of each id whether it spells nothing: the end of a sequence, or a place of a medium."""
    found = ids == tokenizer.identity.eos_id
    for (start, end), kind in zip(spans, kinds, strict=True):
        if kind in KINDS:
            found[start:end] = True
    return found


def _media_faults(row: pa.RecordBatch, ids: Ids, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """What is wrong with places of media; nothing where there are none."""
    if not set(KINDS) & set(kinds) and not len(row.column("media").flatten()):
        return ()
    (plain,) = row.select(["segments", "media", "loss_spans"]).to_pylist()
    needed = {
        "segments": [f.name for f in SEGMENT if f.name != "media_idx"],
        "media": [f.name for f in ROW_MEDIUM if f.name not in ("mime", "frames")],
        "loss_spans": [f.name for f in LOSS_SPAN],
    }
    for column, names in needed.items():
        if plain[column] is None or any(item is None or item[n] is None for item in plain[column] for n in names):
            return (f"null in {column}",)
    try:
        form = TrainerFormat.from_metadata(row.schema.metadata or {})
    except (KeyError, ValueError) as error:
        return (f"no image cost: {error}",)
    return tuple(sorted(row_faults(plain, ids, form)))


def bytes_fault(reading: Reading, sha256: bytes) -> str:
    """What is wrong with the bytes of a medium that came beside the row; "" where nothing is."""
    data = reading.media_bytes.get(sha256)
    if data is None:
        return "its bytes are not at hand"
    return "" if hashlib.sha256(data).digest() == sha256 else "its bytes have another sha256"


def _decode(ids: Ids, is_end: npt.NDArray[np.bool_], tokenizer: Tokenizer) -> tuple[bytes, Ints]:
    """`is_end`: which ids spell nothing."""
    lengths = tokenizer.byte_lengths()
    if lengths is None:
        raise InputError(
            "the ids of this tokenizer do not spell the bytes of a text",
            where="synth",
            value=tokenizer.identity.name,
            remedy="use one that encodes bytes without normalising, such as deepseek",
        )
    if len(ids) and int(ids.max()) >= tokenizer.identity.vocab_size:
        raise Unreadable(f"an id {int(ids.max())} outside of the vocabulary")
    counts = np.where(is_end, 0, lengths[ids])
    if len(counts) and int(counts.min()) < 0:
        raise Unreadable("an id that no text yields")
    bytes_at = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
    text = tokenizer.decode(np.ascontiguousarray(ids[~is_end])).encode()
    if len(text) != int(bytes_at[-1]):
        raise Unreadable(f"ids that spell {len(text)} bytes of text, {int(bytes_at[-1])} by their own lengths")
    return text, bytes_at


def check_joins(reading: Reading, tokenizer: Tokenizer) -> None:
    """Each run between ends of sequences and media, encoded again, gives its ids. Raises Unreadable naming the first
    place."""
    gap = ends_of(reading.ids, reading.spans, reading.kinds, tokenizer)
    edges = np.flatnonzero(np.diff(np.concatenate(([True], gap, [True])).astype(np.int8))).tolist()
    runs = list(zip(edges[::2], edges[1::2], strict=True))
    texts = [reading.piece(a, b) for a, b in runs]
    encoded = tokenizer.encode_batch(pa.array(texts, pa.large_string()))
    for (a, b), first, last in zip(runs, encoded.offsets[:-1], encoded.offsets[1:], strict=True):
        again = encoded.ids[first:last]
        if not np.array_equal(again, reading.ids[a:b]):
            common = min(len(again), b - a)
            differ = np.flatnonzero(again[:common] != reading.ids[a : a + common])
            at = a + (int(differ[0]) if len(differ) else common)
            raise Unreadable(f"encoding its text again gives other ids from token {at} on")
