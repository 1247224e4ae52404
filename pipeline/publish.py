"""Publishing a dataset: its files get readable names beside a manifest, which is written last.

`OUT/<dataset>/` holds hard links to the files of its objects (a copy where links are refused), so that people and
other tools read it without knowing of objects. A new manifest replaces the old one in one step; only then are
links that no manifest names taken away, so that a glob over the folder never reads a mixture of two runs.
Files under names that publishing does not give are somebody else's and stay.
"""

import os
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gristmill.manifests.canonical import VOLATILE, canonical_json
from gristmill.manifests.commit import DIGEST_PREFIX, OBJECTS, TMP_PREFIX, HashingFile, ObjectStore, fsync_dir
from gristmill.manifests.manifest import (
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    PUBLISHING,
    Manifest,
    entries_to_json,
    file_entries,
    read_manifest,
    write_manifest,
)
from gristmill.manifests.receipt import FileEntry, Receipt
from gristmill.manifests.samples import Sample, merge_samples, samples_from_bytes, samples_to_bytes
from gristmill.manifests.tally import (
    StepTallies,
    Tally,
    check_balance,
    merge_tallies,
    step_tallies_from_json,
    tally_to_json,
    total_of,
)
from gristmill.pipeline.build import Built
from gristmill.pipeline.context import ShardRef
from gristmill.pipeline.own_files import ROLE_FOLDERS, stray_files
from gristmill.pipeline.phases import LoadedStep
from gristmill.pipeline.recipe import DatasetSpec, ReadOrigin, RenderOrigin
from gristmill.pipeline.renders import described
from gristmill.pipeline.row_pass import merge_stats
from gristmill.stages import catalogue

_ROLE_NAMES = {
    "data": "part",
    "rows": "part",
    "row_indexes": "part",
    "tokenised": "tokens",
    "media_shards": "media",
    "media_indexes": "media",
}


class Publisher:
    """Collects the files of one dataset's folder under readable names."""

    def __init__(self, folder: Path, store: ObjectStore) -> None:
        self.folder = folder
        self._store = store
        self._origins: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PUBLISHING).touch()

    def links(self, role: str, refs: Sequence[ShardRef]) -> list[FileEntry]:
        """Link files of a role in order; entries with their new paths."""
        return [self._link(role, index, ref) for index, ref in enumerate(refs)]

    def _link(self, role: str, index: int, ref: ShardRef) -> FileEntry:
        shown, _, suffix = ref.entry.path.rpartition(".")
        digest8 = shown.rpartition(".")[2]
        name = f"{_ROLE_NAMES.get(role, role)}-{index:05d}.{digest8}.{suffix}"
        target = self._place(role) / name
        self._store.place(ref.key, ref.entry, target)
        path = str(target.relative_to(self.folder))
        self._origins[path] = f"{OBJECTS}/{ref.key}/{ref.entry.path}"
        return replace(ref.entry, path=path)

    def _place(self, role: str) -> Path:
        place = self.folder / ROLE_FOLDERS[role] if role in ROLE_FOLDERS else self.folder
        place.mkdir(exist_ok=True)
        return place

    def write(self, role: str, stem: str, suffix: str, rows: int, data: bytes) -> FileEntry:
        """Write a small file of the dataset as a whole (merged samples, stats)."""
        tmp = self._place(role) / f"{TMP_PREFIX}{uuid.uuid4().hex}"
        file = HashingFile(tmp)
        file.write(data)
        digest = file.finish()
        target = tmp.parent / f"{stem}.{digest.removeprefix(DIGEST_PREFIX)[:8]}.{suffix}"
        os.replace(tmp, target)
        return FileEntry(str(target.relative_to(self.folder)), role, rows, len(data), digest)

    def finish(self, manifest: Mapping[str, Any]) -> Manifest:
        """Write the manifest, then take away what it does not name."""
        for place in {self.folder, *(self.folder / f for f in ROLE_FOLDERS.values())}:
            if place.is_dir():
                fsync_dir(place)
        document = write_manifest(self.folder, manifest)
        self._store.publish(self.folder, document, self._origins)
        sweep(self.folder, document)
        (self.folder / PUBLISHING).unlink()
        return document


def sweep(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Remove links and leftovers of ours in a dataset's folder that its manifest does not name."""
    for path in stray_files(folder, {PUBLISHING, *(e.path for e in file_entries(manifest))}):
        path.unlink()


def describe_step(step: LoadedStep) -> dict[str, Any]:
    """A step as data: stage, version, parameters, rules, and the vocabulary of reasons that are no rule's."""
    stage = step.stage
    rules = [vars_of(r) for r in stage.rules()] if hasattr(stage, "rules") else []
    vocabulary = [vars_of(r) for r in stage.reasons()] if hasattr(stage, "reasons") else []
    return {
        "step": step.label,
        "stage": step.name,
        "version": stage.version,
        "params": catalogue.canonical_params(stage),
        "rules": rules,
        "vocabulary": vocabulary,
    }


def describe_steps(built: Built) -> list[dict[str, Any]]:
    """The origin and the steps behind it as data, with the alarms that the recipe declares."""
    steps = [origin_step(built), *(describe_step(s) for s in built_steps(built))]
    return with_alarms(built.spec, steps)


def with_alarms(spec: DatasetSpec, steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Descriptions of steps with their alarm, where they have one."""
    alarms = spec.alarms()
    return [{**s, "alarm": alarms[s["step"]].plain()} if s["step"] in alarms else {**s} for s in steps]


def vars_of(value: Any) -> dict[str, Any]:
    """A frozen dataclass of plain values as data."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def origin_step(built: Built) -> dict[str, Any]:
    """The first step: `read`, `render` or `from`."""
    origin = built.spec.origin
    if isinstance(origin, RenderOrigin):
        return described(built.renders)
    if isinstance(origin, ReadOrigin):
        params = {"source": origin.source, "glob": list(origin.patterns), "key": origin.key, **origin.options}
        return {"step": "read", "stage": "read", "version": 1, "params": params, "rules": [], "vocabulary": []}
    names = list(origin.names)
    return {
        "step": "from",
        "stage": "from",
        "version": 1,
        "params": {"datasets": names},
        "rules": [],
        "reasons": [],
    }


def built_tallies(built: Built) -> StepTallies:
    """The books of a dataset over all its splits; those of a pass-through are what came in."""
    if built.pass_through:
        return {"from": _passed(built.upstream)}
    parts = [step_tallies_from_json(r.facts["tallies"]) for r in built.receipts]
    return merge_tallies(parts) if parts else {}


def _passed(upstream: Iterable[Built]) -> dict[str, Tally]:
    total: dict[str, Tally] = {}
    for source in upstream:
        tallies = built_tallies(source)
        for name, tally in (tallies[list(tallies)[-1]] if tallies else {}).items():
            passed = Tally(
                records_in=tally.kept, kept=tally.kept, chars_in=tally.chars_kept, chars_kept=tally.chars_kept
            )
            total.setdefault(name, Tally()).add(passed)
    return total


def step_entries(descriptions: Sequence[Mapping[str, Any]], tallies: StepTallies) -> list[dict[str, Any]]:
    """Descriptions with their totals and the tally of each source."""
    entries: list[dict[str, Any]] = []
    for step in descriptions:
        by_source = tallies.get(step["step"], {})
        sources = {name: tally_to_json(t) for name, t in sorted(by_source.items())}
        entries.append({**step, **tally_to_json(total_of(by_source)), "sources": sources})
    return entries


@dataclass(frozen=True)
class Content:
    """What a manifest says of one dataset, before it is sealed; fields as in manifests.manifest."""

    name: str
    kind: str
    inputs: Sequence[Mapping[str, Any]]
    steps: Sequence[Mapping[str, Any]]
    shards: Sequence[FileEntry]
    account: Mapping[str, Any]
    stats: Mapping[str, Any]
    totals: Mapping[str, Any]
    objects: Sequence[str]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tokenised: Sequence[FileEntry] = ()
    row_indexes: Sequence[FileEntry] = ()
    media_shards: Sequence[FileEntry] = ()
    media_indexes: Sequence[FileEntry] = ()
    upstream: Sequence[Mapping[str, str]] = ()
    seconds: float = 0.0


def write_content(publisher: Publisher, content: Content, shared: Mapping[str, Any], engine: str) -> Manifest:
    """Write stats and manifest. `shared` are the manifest's fields of the whole run."""
    stats_file = publisher.write("stats", "stats", "json", 1, canonical_json(content.stats))
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": content.name,
        "kind": content.kind,
        **shared,
        "origin": content.steps[0]["params"],
        "inputs": list(content.inputs),
        "upstream": list(content.upstream),
        "steps": list(content.steps),
        "shards": entries_to_json(list(content.shards)),
        "media_shards": entries_to_json(list(content.media_shards)),
        **content.account,
        "stats": entries_to_json([stats_file]),
        "tokenised": entries_to_json(list(content.tokenised)),
        **(_indexes(content) if content.kind == "rows" else {}),
        "licenses": content.stats["license"],
        "totals": {
            "records": 0,
            "tokens": None,
            "rows": None,
            "chars": content.stats["chars"],
            **content.totals,
        },
        "facts": dict(content.facts),
        "objects": list(content.objects),
        VOLATILE: {"created_s": int(time.time()), "engine": engine, "seconds": content.seconds},
    }
    return publisher.finish(manifest)


def _indexes(content: Content) -> dict[str, Any]:
    return {name: entries_to_json(list(getattr(content, name))) for name in ("row_indexes", "media_indexes")}


def publish(out: Path, built: Built, shared: Mapping[str, Any], engine: str, store: ObjectStore) -> Manifest:
    """Publish a dataset of documents."""
    tallies = built_tallies(built)
    check_balance(tallies, built.spec.name)
    publisher = Publisher(out / built.spec.name, store)
    content = Content(
        name=built.spec.name,
        kind="documents",
        inputs=built.inputs,
        steps=step_entries(describe_steps(built), tallies),
        shards=publisher.links("data", built.shards),
        account=account_files(publisher, built.receipts, store),
        stats=merge_stats([r.facts["stats"] for r in last_receipts(built)]),
        totals={"records": sum(s.entry.rows for s in built.shards)},
        facts=built.facts,
        objects=[r.key for r in built.receipts],
        upstream=upstream_digests(out, built),
        seconds=work_seconds(built.receipts),
    )
    return write_content(publisher, content, shared, engine)


def upstream_digests(out: Path, built: Built) -> list[dict[str, str]]:
    """The published manifests that a dataset was made from: name and digest.

    One that shows something else (a part of the recipe was run since, or a sample) is left out.
    """
    found: list[dict[str, str]] = []
    for upstream in built.upstream:
        folder = out / upstream.spec.name
        if (folder / MANIFEST).exists():
            manifest = read_manifest(folder)
            if [s["digest"] for s in manifest["shards"]] == [s.entry.digest for s in upstream.shards]:
                found.append({"name": upstream.spec.name, "digest": manifest["digest"]})
    return found


def built_steps(built: Built) -> list[LoadedStep]:
    """The steps behind the origin, in order."""
    return [s for p in built.phases for s in p.steps()]


def last_receipts(built: Built) -> list[Receipt]:
    """The receipts whose kept rows are the dataset: those of its shards, or of the datasets passed through."""
    if built.pass_through:
        return [r for upstream in built.upstream for r in last_receipts(upstream)]
    return built.receipts[-built.last_splits :] if built.last_splits else []


def work_seconds(receipts: Iterable[Receipt]) -> float:
    """Time that workers spent on what a dataset stands on, whenever that was."""
    return round(sum(r.volatile.get("seconds", 0.0) for r in receipts), 3)


def read_samples(receipts: Sequence[Receipt], store: ObjectStore) -> list[list[Sample]]:
    """The samples of each split."""
    return [samples_from_bytes(store.sound_path(r.key, f).read_bytes()) for r in receipts for f in r.role("samples")]


def account_files(publisher: Publisher, receipts: Sequence[Receipt], store: ObjectStore) -> dict[str, Any]:
    """Ledger, measures and merged samples of a dataset, as manifest fields."""
    fields: dict[str, Any] = {}
    for role in ("ledger", "measures", "cuts"):
        refs = [ShardRef(r.key, f, store.path(r.key, f)) for r in receipts for f in r.role(role)]
        fields[role] = entries_to_json(publisher.links(role, refs))
    samples = merge_samples(read_samples(receipts, store))
    file = publisher.write("samples", "samples", "jsonl", len(samples), samples_to_bytes(samples))
    fields["samples"] = entries_to_json([file])
    return fields
