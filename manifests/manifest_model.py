"""The format of the JSON documents of a run as types: manifest, run index, receipt.

`manifest.schema.json` beside this file is their JSON Schema, for tools that do not speak Python; a test
holds the two together, and `python -m gristmill.manifests.manifest_model` prints it. The types say what must
be there and of what kind; a document may hold more. Seals and books are the matter of `manifests.verify`.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from gristmill.manifests.rows_facts import UpstreamModel, facts_fault

SCHEMA_FILE = Path(__file__).parent / "manifest.schema.json"

Digest = Annotated[str, Field(pattern=r"^blake3:[0-9a-f]{64}$")]
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Count = Annotated[int, Field(ge=0)]
Version = Annotated[int, Field(ge=1, le=1)]


class _Strict(BaseModel):
    """No conversions: a count written as text is an error. Further keys are kept."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class FileModel(_Strict):
    """A file: `path` relative to the folder of the document that names it, with / between folders."""

    path: Annotated[str, Field(min_length=1)]
    role: str
    rows: Count
    bytes: Count
    digest: Digest
    extra: dict[str, Any] = {}


class TallyModel(_Strict):
    """What a step did: records, characters, rows made and reasons (see `manifests.tally`)."""

    records_in: Count
    kept: Count
    dropped: Count
    quarantined: Count
    derived: Count
    rows: Count
    tokens: Count
    chars_in: Count
    chars_kept: Count
    chars_gone: int
    chars_cut: dict[str, int]
    reasons: dict[str, Count]


class SourceModel(TallyModel):
    """The tally of one source, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class AlarmModel(_Strict):
    """How much of a source a step may lose: fractions of records and of characters, null where there is no limit."""

    max_drop_frac: Annotated[float, Field(ge=0, le=1)] | None
    max_cut_frac: Annotated[float, Field(ge=0, le=1)] | None
    min_records: Count


class StepModel(TallyModel):
    """A step of a dataset with its totals and, in `sources`, the tally of each source."""

    step: str
    stage: str
    version: int
    params: dict[str, Any]
    rules: list[dict[str, Any]]
    sources: dict[str, SourceModel]
    alarm: AlarmModel | None = None


class RecipeRef(_Strict):
    """Which recipe made a dataset."""

    name: str
    digest: Digest


class TotalsModel(_Strict):
    """What a dataset holds; null where the kind of dataset has no such thing."""

    records: Count
    tokens: Count | None
    rows: Count | None
    chars: Count | None
    media: Count | None = None
    media_tokens: Count | None = None


class ManifestModel(_Strict):
    """`manifest.json` of a dataset (see `manifests.manifest`)."""

    format: Literal["gristmill-manifest"]
    format_version: Version
    name: str
    kind: Literal["documents", "rows"]
    recipe: RecipeRef
    seed: int
    sample: float | None
    until: str | None
    steps: Annotated[list[StepModel], Field(min_length=1)]
    shards: list[FileModel]
    media_shards: list[FileModel]
    ledger: list[FileModel]
    measures: list[FileModel]
    cuts: list[FileModel] = []
    samples: list[FileModel]
    stats: list[FileModel]
    tokenised: list[FileModel]
    upstream: list[UpstreamModel] = []
    row_indexes: list[FileModel] = []
    media_indexes: list[FileModel] = []
    totals: TotalsModel
    licenses: dict[str, Count]
    facts: dict[str, Any]
    objects: list[Key]
    volatile: dict[str, Any]
    digest: Digest

    @model_validator(mode="after")
    def _facts_of_rows(self) -> Self:
        if self.kind == "rows" and (wrong := facts_fault(self.facts)):
            raise ValueError(wrong)
        return self


class RunModel(_Strict):
    """`run.json` of an output: its datasets in the recipe's order, and the resolved recipe."""

    format: Literal["gristmill-run"]
    format_version: Version
    datasets: list[str]
    recipe: dict[str, Any]
    sample: float | None
    volatile: dict[str, Any]
    digest: Digest


class ReceiptModel(_Strict):
    """`receipt.json` of a finished piece of work (see `manifests.commit`)."""

    format: Literal["gristmill-object"]
    format_version: Version
    key: Key
    what: dict[str, Any]
    files: list[FileModel]
    facts: dict[str, Any]
    volatile: dict[str, Any]
    digest: Digest


class IndexShardModel(_Strict):
    """A part of an index: its files, and how many addresses it has."""

    rows: Count
    files: list[FileModel]


class IndexModel(_Strict):
    """`index.json` of an index of deduplicated documents (see `manifests.indexes`)."""

    format: Literal["gristmill-index"]
    format_version: Version
    config: dict[str, Any]
    dataset: str
    recipe: RecipeRef
    sample: float | None
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    documents: Count
    shards: list[IndexShardModel]
    volatile: dict[str, Any]
    digest: Digest


Document = Annotated[ManifestModel | RunModel | ReceiptModel | IndexModel, Field(discriminator="format")]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of all four documents, told apart by `format`."""
    schema = TypeAdapter(Document).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gristmill documents",
        **schema,
    }


def schema_text() -> str:
    """The text of `manifest.schema.json`."""
    return json.dumps(json_schema(), indent=1, sort_keys=True) + "\n"


def shape_fault(model: type[BaseModel], document: Mapping[str, Any]) -> str | None:
    """What is wrong with the shape of a document, in one line naming the place; None when nothing is."""
    try:
        model.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}{more}"
    return None


if __name__ == "__main__":
    sys.stdout.write(schema_text())
