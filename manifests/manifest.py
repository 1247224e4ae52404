"""A dataset's manifest: the one thing that a reader believes.

`OUT/<dataset>/manifest.json` is canonical JSON, written last and replaced in one step. Its `digest` covers all
but `volatile` (times, host, engine). Fields:

* `format` "gristmill-manifest", `format_version`, `name`, `kind` ("documents": Parquet of schema.DOCUMENT; "rows":
  Arrow IPC of trainer rows), `recipe` {name, digest}, `seed`;
* `sample` (fraction of a `--sample` run, else null) and `until` (step at which a partial run stopped, else null);
* `origin` and `inputs` (the frozen listing: rel, bytes, digest) or `upstream` (datasets with their digests);
* `steps`: in order, each with `step`, `stage`, `version`, `params`, `rules`, `vocabulary` (reasons that are no
  rule's), `alarm` where the recipe declares one, the totals of its tally (`records_in + derived = kept + dropped +
  quarantined`) and `sources`, the tally of each source;
* `shards`, `media_shards` (`media_shard`), `ledger`, `measures`, `cuts`, `samples`, `stats`, `tokenised`,
  `row_indexes` and `media_indexes` (one for each shard of rows or of media, in their order: `row_index`,
  `media_index`): lists of files with `path` (relative to the manifest), `role`, `rows`, `bytes`, `digest`; nothing
  else in the folder counts;
* `totals` {records, tokens, rows, chars; of rows also media: those in the media shards, media_tokens: their places in
  rows}, `licenses` {licence: records}, `facts` of the kind (rows: context, tokenizer, image_cost, padding), `objects`:
  keys of the work that it stands on.

`OUT/run.json` names the datasets of the last run in the recipe's order, with the resolved recipe.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import canonical_json, is_sealed, sealed
from gristmill.manifests.commit import TMP_PREFIX, replace_file
from gristmill.manifests.errors import InputError, VerifyError
from gristmill.manifests.receipt import FileEntry
from gristmill.manifests.tally import StepTallies, tally_from_json

FORMAT = "gristmill-manifest"
RUN_FORMAT = "gristmill-run"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
PUBLISHING = TMP_PREFIX + "0" * 32
"""A file of this name stands in a dataset's folder from the first link until the last one is swept: whoever finds it
beside no manifest, or beside files that the manifest does not name, knows that a run was killed there."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)
RUN = "run.json"
ALARMS = "alarms"
"""The folder of an output with what alarms stopped: a dataset's folder each, cut short, with a manifest."""
FILE_LISTS = (
    *("shards", "media_shards", "ledger", "measures", "cuts", "samples", "stats", "tokenised"),
    *("row_indexes", "media_indexes"),
)

Manifest = dict[str, Any]


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> Manifest:
    """Seal a manifest and put it in place; the files that it names must be there already."""
    document = sealed(manifest)
    replace_file(folder / MANIFEST, canonical_json(document))
    return document


def _read(path: Path, form: str, remedy: str) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), remedy=remedy) from None
    except OSError as error:
        raise VerifyError("cannot be read as JSON", where=str(path), value=error, remedy="run again") from error
    return _parsed(data, str(path), form)


def _parsed(data: bytes, where: str, form: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise VerifyError("cannot be read as JSON", where, error, "run again") from error
    if not isinstance(document, dict) or document.get("format") != form:
        raise VerifyError(f"not a {form}", where, None, "check the path")
    if document.get("format_version") != FORMAT_VERSION:
        remedy = f"this version reads {FORMAT_VERSION}"
        raise VerifyError("unknown format_version", where, document.get("format_version"), remedy)
    if not is_sealed(document):
        raise VerifyError("digest does not match the content", where, None, "run again")
    return document


def parse_manifest(data: bytes, where: str) -> Manifest:
    """A dataset's manifest from its bytes. VerifyError, which names `where`, when it is not whole."""
    return _parsed(data, where, FORMAT)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a dataset's folder. InputError when absent, VerifyError when it is not whole."""
    return _read(folder / MANIFEST, FORMAT, "the dataset is not finished: run the recipe")


def write_run(out: Path, run: Mapping[str, Any]) -> None:
    """Put `run.json` in place."""
    replace_file(out / RUN, canonical_json(sealed({"format": RUN_FORMAT, "format_version": FORMAT_VERSION, **run})))


def read_run(out: Path) -> dict[str, Any]:
    """`run.json` of an output. InputError when there is none, VerifyError when a dataset's name is not one."""
    run = _read(out / RUN, RUN_FORMAT, "give the folder that --out named")
    for name in run["datasets"]:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise VerifyError("not a dataset's name", where=str(out / RUN), value=name, remedy="run again")
    return run


def published(out: Path) -> Iterator[tuple[str, Manifest]]:
    """The finished datasets of an output in the recipe's order."""
    for name in read_run(out)["datasets"]:
        if (out / name / MANIFEST).exists():
            yield name, read_manifest(out / name)


def finished(out: Path) -> list[tuple[str, Path, Manifest]]:
    """Name, folder and manifest of the one dataset in this folder, or of every finished one of an output; none of a
    folder that is neither."""
    if (out / MANIFEST).exists():
        manifest = read_manifest(out)
        return [(str(manifest["name"]), out, manifest)]
    return [(name, out / name, manifest) for name, manifest in published(out)] if (out / RUN).exists() else []


def file_entries(manifest: Mapping[str, Any]) -> Iterator[FileEntry]:
    """Every file that a manifest names."""
    for name in FILE_LISTS:
        for entry in manifest.get(name, []):
            yield FileEntry.from_json(entry)


def entries_to_json(entries: list[FileEntry]) -> list[dict[str, Any]]:
    """Plain data."""
    return [asdict(e) for e in entries]


def manifest_tallies(manifest: Mapping[str, Any]) -> StepTallies:
    """The books of a manifest."""
    return {
        step["step"]: {source: tally_from_json(t) for source, t in step["sources"].items()}
        for step in manifest["steps"]
    }
