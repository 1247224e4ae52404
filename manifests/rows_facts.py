"""What a reader of trainer rows takes from a manifest, as types: whoever seals a manifest again may write anything.

`RowsFacts` is `facts` of a dataset of rows; `ManifestModel` holds every manifest of rows against it. `check_rows` is
for readers, which want less of a manifest than `verify` does: what they use has its type, names nothing outside, and
counts no more rows than its files have bytes for.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gristmill.manifests.errors import VerifyError

MAX_CONTEXT = 1 << 26
"""Tokens of a row: 64 times the longest in use."""
INDEX_ROW_BYTES = 16
"""Of an index, at least, for each row."""

_Count = Annotated[int, Field(ge=0, lt=1 << 62)]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]


class _Facts(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class LengthModel(_Facts):
    """Documents of a range of lengths within a bucket."""

    min_tokens: _Count
    max_tokens: _Count | None
    documents: _Count
    tokens: _Count


class BucketModel(LengthModel):
    """Rows of one domain and range of lengths (`pipeline.reader.sources`)."""

    domain: str | None
    first_row: _Count
    stop_row: _Count
    image_tokens: _Count
    padding_frac: Annotated[float, Field(ge=0, le=1)]
    lengths: list[LengthModel] = []
    rate: Annotated[float, Field(ge=0, le=1)] = 0.0


class PackingModel(_Facts):
    """How rows were packed."""

    padding_frac: Annotated[float, Field(ge=0, le=1)] = 0.0
    buckets: list[BucketModel] = []


class TokenizerModel(_Facts):
    """What ids mean (`trainer_schema.TokenizerIdentity`), and nothing else."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: str
    digest: str
    fingerprint: str
    vocab_size: _Count
    eos_id: _Count
    pad_id: _Count


class RowsFacts(_Facts):
    """`facts` of a dataset of rows."""

    context: Annotated[int, Field(ge=1, le=MAX_CONTEXT)]
    tokenizer: TokenizerModel
    packing: PackingModel = PackingModel()
    image_cost: dict[str, _Count] = {}


class UpstreamModel(_Facts):
    """A dataset that another is made of, beside it."""

    name: _Name
    digest: str


class _File(_Facts):
    path: Annotated[str, Field(min_length=1)]
    rows: _Count
    bytes: _Count
    digest: str
    extra: dict[str, Any] = {}


class _Step(_Facts):
    derived: _Count = 0


class _Rows(_Facts):
    kind: Literal["documents", "rows"]
    shards: list[_File]
    row_indexes: list[_File] = []
    media_shards: list[_File] = []
    media_indexes: list[_File] = []
    tokenised: list[_File] = []
    steps: list[_Step] = []
    upstream: list[UpstreamModel] = []
    facts: dict[str, Any]


def facts_fault(facts: Mapping[str, Any]) -> str | None:
    """What is wrong with the facts of a dataset of rows, in a line; None where nothing is."""
    return _fault(RowsFacts, facts, "facts.")


def check_rows(manifest: Mapping[str, Any], where: str) -> None:
    """Raises VerifyError where a manifest of rows is nothing to go by. Of one of documents the kind alone counts."""
    wrong = _fault(_Rows, manifest, "")
    if wrong is None and manifest["kind"] == "rows":
        wrong = facts_fault(manifest["facts"]) or _crowded(manifest)
    if wrong is not None:
        raise VerifyError("a manifest that is none", where, wrong, "see `gristmill verify`; do not use the dataset")


def _crowded(manifest: Mapping[str, Any]) -> str | None:
    """A file with fewer bytes than its rows take."""
    size = 4 * manifest["facts"]["context"]
    for entry in manifest["shards"]:
        plain = entry.get("extra", {}).get("codec", "none") == "none"
        if entry["rows"] * (size if plain else 1) > entry["bytes"]:
            return f"{entry['path']}: {entry['rows']} rows in {entry['bytes']} bytes"
    for entry in manifest.get("row_indexes", []):
        if entry["rows"] * INDEX_ROW_BYTES > entry["bytes"]:
            return f"{entry['path']}: {entry['rows']} rows in {entry['bytes']} bytes"
    return None


def _fault(model: type[BaseModel], value: Mapping[str, Any], above: str) -> str | None:
    try:
        model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{above}{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None
