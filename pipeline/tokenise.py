"""Documents to tokenised documents: rows of DOCUMENT in, rows of TOKENISED out, in the same order.

A medium with bytes and a size takes as many places among the ids as it costs (`pipeline.media_places`); what stands
there is the pad id, and `media` names the places. The text before and behind it is encoded by itself. Of a medium
without, the U+FFFC is taken out of the text before encoding and counted (`media_missing`). A document that the
tokenizer fails on leaves with reason `tokenizer_failed` (quarantine), one that has no token with `no_tokens` (drop).
Ids are those of text and media alone: no separator, no special token.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.manifests.tokenizer import Encoded, EncodeFailure, Tokenizer
from gristmill.manifests.trainer_schema import MAX_CONTEXT, TOKENISED_MEDIUM, tokenised_schema
from gristmill.pipeline.breaks import Coded, Spans, any_long, find_breaks
from gristmill.pipeline.media_places import MediaRules, Place, media_places
from gristmill.stages.protocol import RowVerdict

REASONS: Mapping[str, str] = {
    "tokenizer_failed": "quarantine: the tokenizer crashed, hung or needed too much memory; detail says which",
    "no_tokens": "drop: nothing is left to encode: an empty text, or media without bytes alone",
    "medium_damaged": "quarantine: the bytes of a medium do not have the sha256 that stands beside them",
    "media_miscounted": "quarantine: the text has another number of U+FFFC than the document has media",
    "medium_exceeds_context": "drop: a medium has more tokens than a row",
}
"""The closed vocabulary of reasons that tokenising gives; the first word is the verdict."""

DEFAULT_RULES = MediaRules(ImageCost(), MAX_CONTEXT)

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Tokenised:
    """What became of n documents.

    batch: rows of `tokenised_schema` for those that stay; kept: int64, their rows among the n; verdicts: of the
    others; media_missing: int64[n] characters U+FFFC taken out of each text; media: those that have places, of the
    documents that stay.
    """

    batch: pa.RecordBatch
    kept: Ints
    verdicts: tuple[RowVerdict, ...]
    media_missing: Ints
    media: list[Place] = field(default_factory=list[Place])


def tokenise(batch: pa.RecordBatch, tokenizer: Tokenizer, rules: MediaRules = DEFAULT_RULES) -> Tokenised:
    """Encode a batch with the columns of DOCUMENT."""
    text = batch.column("text")
    found = media_places(batch, rules)
    placed = {row: _Placed(places) for row, places in found.of_row.items()}
    missing = pc.fill_null(pc.count_substring(text, MEDIUM_CHAR), 0).to_numpy().astype(np.int64)
    bare = _to_encode(text, missing, found.verdicts)
    stretches = _stretches(bare, text, placed)
    for row, one in placed.items():
        missing[row] -= len(one.places)
    done = _joined(tokenizer.encode_batch(stretches), batch.num_rows, placed, tokenizer.identity.pad_id)
    counts = np.diff(done.offsets)
    verdicts = _failures(done, counts) | found.verdicts
    kept = np.flatnonzero(counts > 0).astype(np.int64)
    breaks = _breaks(batch, bare, done, tokenizer, placed)
    rows = _tokenised_rows(batch, (kept, counts, done.ids, breaks), placed, tokenizer)
    media = [place for row, one in placed.items() if counts[row] for place in one.places]
    return Tokenised(rows, kept, tuple(verdicts[row] for row in sorted(verdicts)), missing, media)


class _Placed:
    """The media of one document: `of_mark` for each U+FFFC, `places` those with places, `starts` where these begin."""

    def __init__(self, of_mark: Sequence[Place | None]) -> None:
        self.of_mark = of_mark
        self.places = [place for place in of_mark if place is not None]
        self.starts: list[int] = []

    def cut(self, text: str) -> list[str]:
        """The text around the places, one stretch more than these; empty ones too."""
        stretches = [""]
        for between, place in zip(text.split(MEDIUM_CHAR), [*self.of_mark, None], strict=True):
            stretches[-1] += between
            if place is not None:
                stretches.append("")
        return stretches


def _to_encode(text: pa.LargeStringArray, missing: Ints, gone: Mapping[int, RowVerdict]) -> pa.LargeStringArray:
    """Texts without U+FFFC; nothing of those that go."""
    if missing.any():
        text = pc.replace_substring(text, MEDIUM_CHAR, "")
    if not gone:
        return text
    going = np.zeros(len(text), dtype=np.bool_)
    going[list(gone)] = True
    return pc.if_else(pa.array(going), pa.scalar("", pa.large_string()), text)


def _stretches(
    bare: pa.LargeStringArray, text: pa.LargeStringArray, placed: Mapping[int, _Placed]
) -> pa.LargeStringArray:
    """Texts to encode: those of `placed` in several stretches."""
    if not placed:
        return bare
    parts: list[pa.Array] = []
    before = 0
    for row, one in placed.items():
        parts += [bare.slice(before, row - before), pa.array(one.cut(text[row].as_py()), pa.large_string())]
        before = row + 1
    return pa.concat_arrays([*parts, bare.slice(before)])


def _joined(encoded: Encoded, rows: int, placed: Mapping[int, _Placed], pad_id: int) -> Encoded:
    """Ids of whole documents from those of their stretches, with the pad id in the places of media; fills `starts`."""
    if not placed:
        return encoded
    stretches = np.ones(rows, dtype=np.int64)
    stretches[list(placed)] += [len(one.places) for one in placed.values()]
    first = np.concatenate(([0], np.cumsum(stretches)))
    row_of = np.repeat(np.arange(rows), stretches)
    failures = {int(row_of[f.row]): f for f in reversed(encoded.failures)}
    counts = np.diff(encoded.offsets[first])
    parts: list[Ids] = []
    before = 0
    for row, one in placed.items():
        parts.append(encoded.ids[encoded.offsets[first[before]] : encoded.offsets[first[row]]])
        mine = [] if row in failures else list(_with_places(encoded, int(first[row]), one, pad_id))
        counts[row] = sum(map(len, mine))
        parts += mine
        before = row + 1
    parts.append(encoded.ids[encoded.offsets[first[before]] :])
    told = [EncodeFailure(row, f.kind, f.detail) for row, f in sorted(failures.items())]
    return Encoded(np.concatenate(parts), np.concatenate(([0], np.cumsum(counts))), told)


def _with_places(encoded: Encoded, stretch: int, one: _Placed, pad_id: int) -> Iterator[Ids]:
    at = 0
    for number in range(len(one.places) + 1):
        ids = encoded.ids[encoded.offsets[stretch + number] : encoded.offsets[stretch + number + 1]]
        yield ids
        at += len(ids)
        if number < len(one.places):
            one.starts.append(at)
            at += one.places[number].tokens
            yield np.full(one.places[number].tokens, pad_id, dtype=np.uint32)


def _failures(encoded: Encoded, counts: Ints) -> dict[int, RowVerdict]:
    failed = {f.row: f for f in encoded.failures}
    return {
        row: RowVerdict(row, "quarantine", "tokenizer_failed", detail=f"{failed[row].kind}: {failed[row].detail}")
        if row in failed
        else RowVerdict(row, "drop", "no_tokens")
        for row in np.flatnonzero(counts == 0).tolist()
    }


def _tokenised_rows(
    batch: pa.RecordBatch,
    coded: tuple[Ints, Ints, Ids, pa.LargeListArray],
    placed: Mapping[int, _Placed],
    tokenizer: Tokenizer,
) -> pa.RecordBatch:
    """`coded`: rows that stay, tokens of all rows, ids and breaks of those that stay."""
    kept, counts, ids, breaks = coded
    offsets = np.concatenate(([0], np.cumsum(counts[kept])))
    named = batch.select(["id", "content_hash", "source", "domain", "license"]).take(pa.array(kept))
    columns = {
        **{name: named.column(name) for name in named.schema.names},
        "domain": named.column("domain").cast(pa.string()),
        "input_ids": pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(ids)),
        "n_tokens": pa.array(counts[kept]),
        "media": _media_lists(kept, placed),
        "breaks": breaks,
    }
    schema = tokenised_schema(tokenizer.identity)
    arrays = [columns[f.name] for f in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _breaks(
    batch: pa.RecordBatch, text: pa.Array, encoded: Encoded, tokenizer: Tokenizer, placed: Mapping[int, _Placed]
) -> pa.LargeListArray:
    """Where the documents that stay may be cut; `text` as it was encoded, without what stands for media."""
    lengths = tokenizer.byte_lengths() if any_long(encoded.offsets) else None
    if lengths is None:
        counts, places = np.zeros(batch.num_rows, np.int64), np.zeros(0, np.int64)
    else:
        is_code = pc.fill_null(pc.equal(batch.column("domain").cast(pa.string()), "code"), False)
        coded = Coded(encoded.ids, encoded.offsets, lengths)
        media = _spans(batch.num_rows, np.diff(encoded.offsets), placed)
        counts, places = find_breaks(text, coded, is_code.to_numpy(zero_copy_only=False), media)
    kept = np.flatnonzero(np.diff(encoded.offsets) > 0)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[kept])))
    return pa.LargeListArray.from_arrays(pa.array(bounds), pa.array(places))


def _spans(rows: int, counts: Ints, placed: Mapping[int, _Placed]) -> Spans:
    """The places of media of documents that have tokens."""
    stay = {row: one for row, one in placed.items() if counts[row]}
    lengths = np.zeros(rows, dtype=np.int64)
    lengths[list(stay)] = [len(one.places) for one in stay.values()]
    starts = np.array([start for one in stay.values() for start in one.starts], dtype=np.int64)
    tokens = np.array([place.tokens for one in stay.values() for place in one.places], dtype=np.int64)
    return Spans(np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), starts, tokens)


def _media_lists(kept: Ints, placed: Mapping[int, _Placed]) -> pa.ListArray:
    lengths = np.array([len(placed[row].places) if row in placed else 0 for row in kept.tolist()], dtype=np.int64)
    stay = set(kept.tolist()) if placed else set[int]()
    items = [
        {**place.medium._asdict(), "token_start": start, "token_len": place.tokens}
        for row, one in placed.items()
        if row in stay
        for place, start in zip(one.places, one.starts, strict=True)
    ]
    bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(bounds), pa.array(items, TOKENISED_MEDIUM))
