"""Schemas of what a trainer reads: packed rows of any length, and the unpacked tokenised documents behind them.

`packed_schema` gives the one schema of packed rows from 8K to 1M (design section 8). Token positions are
int32 and half open, relative to the row; `doc_offset` and `n_tokens_total` count tokens of a whole document
and are int64. Invariants of a packed row:

* `input_ids` holds exactly `context` ids; those from `n_tokens` on are the pad id;
* `segments` tile `[0, n_tokens)` in order, without gap or overlap, and none is empty;
* `doc_idx` and `media_idx` index the row's own `docs` and `media`; tokens may attend to earlier tokens of the same
  `attn_group` only;
* a `separator` segment is the end-of-sequence id behind the end of a document; it belongs to that document and its
  `doc_offset` is the document's length. A document that ends exactly at the row's end has none;
* a medium (a picture, a video) takes the places `[token_start, token_start + token_len)`: one segment of kind `image`
  or `video`, which names it by `media_idx`, in the attention group of its document, with a loss span of weight 0 and
  reason `media`. The ids there are the pad id: a trainer puts its own embeddings there. `token_len` is what
  `image_tokens` counts for its `width` and `height` (and a video's `frames`), in pixels as it came, at the
  `image_cost` of the schema metadata;
* outside `loss_spans` the weight is 1, on padding 0.

The bytes of media stand in media shards beside the token shards (`media_shard`). `row_id` is defined in
pipeline/rows.py. `TOKENISED` is the durable artefact that every packing starts from: ids of whole documents without
separators or padding, and the places where packing may cut them. Its `media` are those that have places, in order, with
positions in the document: int64, as its tokens are counted, while those of a row are int32, as its context is.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import pyarrow as pa

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.schema import ID_BYTES

FORMAT_VERSION = 1
MAX_CONTEXT = (1 << 31) - 1

SEGMENT_KINDS = ("text", "code", "image", "video", "record", "query", "answer", "separator", "marker")
"""Closed; a kind's index stands for it in `row_id`, so new kinds are appended."""

TASK_CLASSES = ("A", "B", "C")
"""What is proved of a task: A exactly nothing leaks, B the leak is computed, C checked empirically only."""

SEGMENT = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("kind", pa.string()),
        ("attn_group", pa.int32()),
        ("doc_idx", pa.int32()),
        ("doc_offset", pa.int64()),
        ("media_idx", pa.int32()),
    ]
)

ROW_DOCUMENT = pa.struct(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("domain", pa.string()),
        ("license", pa.string()),
        ("content_hash", pa.binary(ID_BYTES)),
        ("n_tokens_total", pa.int64()),
        ("use_no", pa.int32()),
    ]
)

ROW_MEDIUM = pa.struct(
    [
        ("sha256", pa.binary(32)),
        ("mime", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("frames", pa.int32()),
        ("token_start", pa.int32()),
        ("token_len", pa.int32()),
    ]
)

TOKENISED_MEDIUM = pa.struct(
    [
        ("sha256", pa.binary(32)),
        ("kind", pa.string()),
        ("mime", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("frames", pa.int32()),
        ("token_start", pa.int64()),
        ("token_len", pa.int64()),
    ]
)

LOSS_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("weight", pa.float32()), ("reason", pa.string())])

EVIDENCE = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("hop", pa.int16()),
        ("segment", pa.int32()),
        ("media_idx", pa.int32()),
        ("bbox_norm", pa.list_(pa.float32(), 4)),
    ]
)

DISTRACTOR = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("chain", pa.int16())])

TASK = pa.struct(
    [
        ("task_id", pa.string()),
        ("family", pa.string()),
        ("family_version", pa.int16()),
        ("tier", pa.int8()),
        ("klass", pa.string()),
        ("split", pa.string()),
        ("query_start", pa.int32()),
        ("query_end", pa.int32()),
        ("answer_start", pa.int32()),
        ("answer_end", pa.int32()),
        ("answer", pa.string()),
        ("disc_offset", pa.int16()),
        ("answer_space", pa.int32()),
        ("chance", pa.float32()),
        ("eps_pos", pa.float32()),
        ("evidence", pa.list_(EVIDENCE)),
        ("distractors", pa.list_(DISTRACTOR)),
        ("span_frac", pa.float32()),
        ("min_gap", pa.int32()),
        ("cover_64th", pa.int16()),
        ("cover_16th", pa.int16()),
        ("cover_4th", pa.int16()),
        ("window_eps", pa.list_(pa.float32())),
        ("params_json", pa.string()),
        ("template_ids", pa.list_(pa.int32())),
        ("verified", pa.bool_()),
        ("verifier_version", pa.string()),
    ]
)

BREAK_STRETCH_TOKENS = 256
"""A long document names one place to cut it in each stretch of so many tokens: 8 bytes beside 1,024 of ids."""

BREAK_LEVELS = 8
"""`breaks` holds `position * BREAK_LEVELS + level`: a place in front of token `position` of the document."""

BREAK_TOKEN, BREAK_SENTENCE, BREAK_LINE, BREAK_PARAGRAPH, BREAK_TOP, HOLD_END, HOLD_START = range(1, 8)
"""Levels, the better the higher: in front of any whole character, behind a sentence, a line, a blank line; in front
of a heading (in code of what stands behind a blank line and is not indented). The last two are marks: from a hold's
start to its end stand a medium and its caption, which stay together, and no candidate lies between."""

TOKENISED = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("content_hash", pa.binary(ID_BYTES), nullable=False),
        pa.field("source", pa.string()),
        pa.field("domain", pa.string()),
        pa.field("license", pa.string()),
        pa.field("input_ids", pa.large_list(pa.uint32()), nullable=False),
        pa.field("n_tokens", pa.int64(), nullable=False),
        pa.field("media", pa.list_(TOKENISED_MEDIUM)),
        pa.field("breaks", pa.large_list(pa.int64()), nullable=False),
    ]
)
"""A document a row: `n_tokens == len(input_ids)`, no separator; order of rows as in the documents' shards. `breaks`
ascend and lie in (0, n_tokens), marks in [0, n_tokens]; a document of up to BREAK_STRETCH_TOKENS has none, nor one
whose ids do not spell its text byte by byte (a tokenizer that normalises)."""


@dataclass(frozen=True)
class TokenizerIdentity:
    """What the ids of a shard mean.

    `digest` is "sha256:<hex>" of the vocabulary file; `fingerprint` (32 hex digits) also covers the engine, its
    version and the rules of its use. `vocab_size` is one more than the largest id, eos and pad included.
    """

    name: str
    digest: str
    fingerprint: str
    vocab_size: int
    eos_id: int
    pad_id: int

    def metadata(self) -> dict[str, str]:
        """As schema metadata."""
        return {
            "tokenizer": self.name,
            "tokenizer_digest": self.digest,
            "tokenizer_fingerprint": self.fingerprint,
            "vocab_size": str(self.vocab_size),
            "eos_id": str(self.eos_id),
            "pad_id": str(self.pad_id),
        }


@dataclass(frozen=True)
class TrainerFormat:
    """What a reader must know of packed rows; it stands in the schema metadata of each file.

    `stage` names the stage of the curriculum that the rows are for; `image_cost` is None in rows of before there were
    media.
    """

    context: int
    tokenizer: TokenizerIdentity
    stage: str
    image_cost: ImageCost | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.context <= MAX_CONTEXT:
            raise ValueError(f"context must be in [1, {MAX_CONTEXT}], not {self.context}")

    def metadata(self) -> dict[str, str]:
        """As schema metadata."""
        cost = {} if self.image_cost is None else {"image_cost": json.dumps(asdict(self.image_cost), sort_keys=True)}
        return {**_version(), "context": str(self.context), "stage": self.stage, **cost, **self.tokenizer.metadata()}

    @staticmethod
    def from_metadata(metadata: Mapping[bytes, bytes]) -> "TrainerFormat":
        """Inverse of `metadata`. Raises KeyError on a missing key, ValueError on another format version or no cost."""
        text = {k.decode(): v.decode() for k, v in metadata.items()}
        if text["format_version"] != str(FORMAT_VERSION):
            raise ValueError(f"format_version {text['format_version']!r}, this version reads {FORMAT_VERSION}")
        tokenizer = TokenizerIdentity(
            name=text["tokenizer"],
            digest=text["tokenizer_digest"],
            fingerprint=text["tokenizer_fingerprint"],
            vocab_size=int(text["vocab_size"]),
            eos_id=int(text["eos_id"]),
            pad_id=int(text["pad_id"]),
        )
        cost = _cost_of(text["image_cost"]) if "image_cost" in text else None
        return TrainerFormat(int(text["context"]), tokenizer, text["stage"], cost)


def _cost_of(text: str) -> ImageCost:
    try:
        return ImageCost(**json.loads(text))
    except (TypeError, GristmillError) as error:
        raise ValueError(f"image_cost is none: {error}") from None


def _version() -> dict[str, str]:
    return {"gristmill": "1", "format_version": str(FORMAT_VERSION)}


def packed_schema(form: TrainerFormat) -> pa.Schema:
    """Schema of packed rows of `form.context` tokens, with the format as metadata."""
    return packed_columns(form.context).with_metadata(form.metadata())


def packed_columns(context: int) -> pa.Schema:
    """The columns of packed rows of `context` tokens, without metadata."""
    ids = pa.list_(pa.field("item", pa.uint32(), nullable=False), context)
    fields = [
        pa.field("row_id", pa.binary(ID_BYTES), nullable=False),
        pa.field("input_ids", ids, nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("segments", pa.list_(SEGMENT), nullable=False),
        pa.field("docs", pa.list_(ROW_DOCUMENT), nullable=False),
        pa.field("media", pa.list_(ROW_MEDIUM), nullable=False),
        pa.field("loss_spans", pa.list_(LOSS_SPAN), nullable=False),
        pa.field("tasks", pa.list_(TASK), nullable=False),
    ]
    return pa.schema(fields)


def tokenised_schema(tokenizer: TokenizerIdentity) -> pa.Schema:
    """TOKENISED with the tokenizer's identity as metadata."""
    return TOKENISED.with_metadata({**_version(), **tokenizer.metadata()})
