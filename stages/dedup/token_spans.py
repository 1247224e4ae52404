"""Texts as sequences of units with their places in bytes: the tokens of a vocabulary, or words where those have none.

A vocabulary spells each of its tokens by bytes: byte-level ones (GPT-2, Llama 3, Qwen, DeepSeek) and rank files of
tiktoken exactly, those with `▁` for a space and `<0x0A>` for a byte nearly so. Whether the tokens of a document spell
its text is checked for each one, byte by byte. Where they do not (normalisation that changes the text, an unknown
word, a document that the tokenizer fails on) the document is a sequence of words (`kernels.windows_units`) instead.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.vocabulary import Vocabulary, parse_ranks, read_vocabulary
from gristmill.stages.dedup.tokens import token_ids, tokenizer_of
from gristmill.stages.kernels.blake3_lanes import blake3_128
from gristmill.stages.kernels.buffers import Bytes, Offsets, text_buffers
from gristmill.stages.kernels.windows import WindowHashes, chunks, window_hashes, windows_of
from gristmill.stages.kernels.windows_tokens import Places, token_places, word_units
from gristmill.stages.kernels.winnow import Ids, Ints, WindowRuns

_LOWER_BYTE, _UPPER_BYTE = 0x21, 0x7E
"""What the byte-level alphabet leaves as it is of ASCII (GPT-2's `bytes_to_unicode`)."""
_META_SPACE = "▁"


@dataclass(frozen=True)
class Units:
    """Units of some rows. `rows` are their numbers in the column; row i of these has the units from `offsets[i]` to
    `offsets[i + 1]`: `ids` find equal ones, `starts` and `stops` are their bytes in the text of the row. `words`: they
    are words, told apart by their bytes, and not tokens, told apart by their ids."""

    rows: Ints
    ids: Ids
    offsets: Ints
    starts: Places
    stops: Places
    words: bool

    def taken(self, which: npt.NDArray[np.bool_]) -> "Units":
        """Those of some of the rows."""
        if which.all():
            return self
        sizes = np.diff(self.offsets)
        mine = np.repeat(which, sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes[which])]).astype(np.int64)
        parts = (array[mine] for array in (self.ids, self.starts, self.stops))
        ids, starts, stops = parts
        return Units(self.rows[which], ids, offsets, starts, stops, self.words)


def units_of(text: pa.Array, spec: str) -> list[Units]:
    """The rows of a column as units of the vocabulary, then those that are words; each row is in one of the two."""
    texts = text_buffers(text)
    ids, offsets = token_ids(text, spec)
    starts, stops, is_spelled = token_places((ids, offsets), texts, spelling_of(spec))
    everything = np.arange(len(text), dtype=np.int64)
    tokens = Units(everything, ids, offsets, starts, stops, words=False).taken(is_spelled)
    if is_spelled.all():
        return [tokens]
    rest = np.flatnonzero(~is_spelled).astype(np.int64)
    values, bounds, first, last = word_units(*text_buffers(text.take(pa.array(rest))))
    return [tokens, Units(rest, values, bounds, first, last, words=True)]


def hashes_of(units: Units, runs: WindowRuns, length: int, texts: tuple[Bytes, Offsets]) -> Iterator[WindowHashes]:
    """The strong hashes of windows of so many units, as `window_hashes`: of tokens by ids, of words by their text.

    No window of words has the hash of one of tokens: their digests are inverted.
    """
    if not units.words:
        yield from window_hashes(units.ids, units.offsets, runs, length)
        return
    data, offsets = texts
    for part in chunks(runs):
        rows, positions = windows_of(part)
        first = units.offsets[rows] + positions
        starts, stops = (a.astype(np.int64) for a in (units.starts[first], units.stops[first + length - 1]))
        yield WindowHashes(rows, positions, ~blake3_128(data, offsets[units.rows[rows]] + starts, stops - starts))


@functools.lru_cache(maxsize=2)
def spelling_of(spec: str) -> tuple[Bytes, Ints]:
    """How the vocabulary of a tokenizer (`params.tokenizer_param`) spells its tokens; see `spelling`."""
    path = tokenizer_of(spec).spec.path
    return spelling(read_vocabulary(None if path is None else Path(path)))


def spelling(vocabulary: Vocabulary) -> tuple[Bytes, Ints]:
    """All bytes, and bounds: token i stands for `spelled[bounds[i]:bounds[i + 1]]`, nothing where it has no text."""
    pieces = _pieces(vocabulary)
    size = max(pieces, default=-1) + 1
    sizes = np.zeros(size + 1, np.int64)
    for token, piece in pieces.items():
        sizes[token + 1] = len(piece)
    spelled = b"".join(pieces.get(token, b"") for token in range(size))
    return np.frombuffer(spelled, np.uint8), np.cumsum(sizes)


def _pieces(vocabulary: Vocabulary) -> dict[int, bytes]:
    if vocabulary.format == "bytes":
        return {byte: bytes([byte]) for byte in range(256)}
    if vocabulary.format == "tiktoken":
        assert vocabulary.path is not None
        return {rank: piece for piece, rank in parse_ranks(vocabulary.path, vocabulary.data).items()}
    document = json.loads(vocabulary.data)
    vocab: Any = document["model"]["vocab"]
    texts: Mapping[str, int] = vocab if isinstance(vocab, dict) else {piece[0]: i for i, piece in enumerate(vocab)}
    alphabet = byte_alphabet() if '"ByteLevel"' in vocabulary.data.decode() else None
    pieces = {token: _piece(text, alphabet) for text, token in texts.items()}
    return {**pieces, **{token: text.encode() for text, token in vocabulary.words.items()}}


def _piece(text: str, alphabet: Mapping[str, int] | None) -> bytes:
    """The bytes of a token, nothing where it cannot be told."""
    if alphabet is not None:
        return bytes(alphabet[char] for char in text) if all(char in alphabet for char in text) else b""
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        try:
            return bytes([int(text[3:5], 16)])
        except ValueError:
            pass
    return text.replace(_META_SPACE, " ").encode("utf-8", "replace")


def byte_alphabet() -> dict[str, int]:
    """Character -> byte of byte-level vocabularies: printable bytes are themselves, the others stand from U+0100 on."""
    printable = [*range(_LOWER_BYTE, _UPPER_BYTE + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{chr(byte): byte for byte in printable}, **{chr(256 + n): byte for n, byte in enumerate(others)}}
