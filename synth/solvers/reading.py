"""A row as its reader sees it: the text of its pieces, decoded from the ids alone.

In: the columns of `trainer_schema.packed_schema` for one row, and the tokenizer that its metadata name. `Reading.text`
is the UTF-8 of the valid ids with nothing for end-of-sequence ids; `at(token)` gives the byte where a token begins.
Raises Unreadable on ids that spell no UTF-8, on spans outside the row;
`check_joins` asks whether encoding the text again gives the ids.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import InputError
from gristmill.manifests.tokenizer import Tokenizer

Ids = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Span = tuple[int, int]

PLANTED = ("record", "query", "answer")


class Unreadable(Exception):
    """What is wrong with a row as text."""


@dataclass(frozen=True)
class Reading:
    """One row: `spans`, `kinds` and `groups` of its segments, `tasks` the column as plain data.

    `bytes_at[i]` (int64[n_tokens + 1]) is the byte of `text` where token i begins.
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

    def piece(self, start: int, end: int) -> str:
        """The text of tokens [start, end). Raises Unreadable where they are not inside of the row or cut a letter."""
        if not 0 <= start < end <= self.n_tokens:
            raise Unreadable(f"tokens [{start}, {end}) of {self.n_tokens}")
        try:
            return self.text[self.bytes_at[start] : self.bytes_at[end]].decode()
        except UnicodeDecodeError:
            raise Unreadable(f"tokens [{start}, {end}) cut a character") from None


def read_row(row: pa.RecordBatch, tokenizer: Tokenizer) -> Reading:
    """Read a batch of one row."""
    n_tokens = row.column("n_tokens")[0].as_py()
    context = row.column("input_ids").type.list_size
    if n_tokens is None or not 0 < n_tokens <= context:
        raise Unreadable(f"{n_tokens} tokens in a row of {context}")
    ids = row.column("input_ids").flatten().to_numpy()[:n_tokens]
    segments = row.column("segments").flatten()
    starts, ends, groups = (segments.field(name).to_pylist() for name in ("start", "end", "attn_group"))
    if [0, *ends] != [*starts, n_tokens] or any(start >= end for start, end in zip(starts, ends, strict=True)):
        raise Unreadable("segments do not tile the tokens")
    text, bytes_at = _decode(ids, tokenizer)
    return Reading(
        context=context,
        n_tokens=n_tokens,
        ids=ids,
        text=text,
        bytes_at=bytes_at,
        spans=tuple(zip(starts, ends, strict=True)),
        kinds=tuple(segments.field("kind").to_pylist()),
        groups=tuple(groups),
        tasks=tuple(row.column("tasks")[0].as_py() or ()),
    )


def _decode(ids: Ids, tokenizer: Tokenizer) -> tuple[bytes, Ints]:
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
    is_end = ids == tokenizer.identity.eos_id
    counts = np.where(is_end, 0, lengths[ids])
    if len(counts) and int(counts.min()) < 0:
        raise Unreadable("an id that no text yields")
    bytes_at = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
    text = tokenizer.decode(np.ascontiguousarray(ids[~is_end])).encode()
    if len(text) != int(bytes_at[-1]):
        raise Unreadable(f"ids that spell {len(text)} bytes of text, {int(bytes_at[-1])} by their own lengths")
    return text, bytes_at


def check_joins(reading: Reading, tokenizer: Tokenizer) -> None:
    """Each run between end-of-sequence ids, encoded again, gives its ids. Raises Unreadable naming the first place."""
    ends = np.flatnonzero(reading.ids == tokenizer.identity.eos_id)
    firsts, lasts = [0, *(ends + 1).tolist()], [*ends.tolist(), reading.n_tokens]
    runs = [(a, b) for a, b in zip(firsts, lasts, strict=True) if b > a]
    texts = [reading.piece(a, b) for a, b in runs]
    encoded = tokenizer.encode_batch(pa.array(texts, pa.large_string()))
    for (a, b), first, last in zip(runs, encoded.offsets[:-1], encoded.offsets[1:], strict=True):
        again = encoded.ids[first:last]
        if not np.array_equal(again, reading.ids[a:b]):
            common = min(len(again), b - a)
            differ = np.flatnonzero(again[:common] != reading.ids[a : a + common])
            at = a + (int(differ[0]) if len(differ) else common)
            raise Unreadable(f"encoding its text again gives other ids from token {at} on")
