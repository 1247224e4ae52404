"""Task `render`: a range of slots of one domain, or existing files -> samples -> fused row-local steps -> shards.

Payload: `domain` (as the recipe names it), `identity` (name, version, fingerprint), `families`, `slots` ([start, stop))
or `files` (url, rel, bytes, digest) with their `ids`, `license`, `dataset`, `steps` (the first is `render`), `chain`,
`base_dir`, `seed`, `measures_all`, `sample` (fraction or null).

Every attempt is a record that came in: kept where it is a sample, else in the ledger, whose `file` is the family or
the existing file. Facts beside RowPass's: `render`, with `source` and `counts`: `slots` worked on, `empty_slots` of
them without a sample, `twice` (samples that were rendered twice); and `accepted`, samples by family.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from blake3 import blake3

from gristmill.manifests.commit import ObjectStore, ObjectWriter
from gristmill.manifests.errors import InputError
from gristmill.manifests.receipt import Receipt
from gristmill.manifests.samples import TEXT_CHARS, threshold
from gristmill.manifests.schema import BATCH_BYTES
from gristmill.pipeline.account import AccountSpec, Rows
from gristmill.pipeline.own_files import INPUTS
from gristmill.pipeline.row_pass import RowPass, load_stages
from gristmill.pipeline.sources.files import open_binary
from gristmill.pipeline.sources.protocol import InputFile, Loss
from gristmill.pipeline.task import Task
from gristmill.pipeline.tasks.read_map import refuse_changed
from gristmill.render import domains
from gristmill.render.make import MAX_FILE_BYTES, Ask, Rejection, Sample, make_existing, make_slot
from gristmill.render.protocol import Domain
from gristmill.render.record import record_batch, source_of
from gristmill.stages.chain import count_chars

_STEP = "render"


class _Renderer:
    """The state of one task."""

    def __init__(self, payload: Mapping[str, Any], domain: Domain, writer: ObjectWriter) -> None:
        self.payload = payload
        self.domain = domain
        self.source = source_of(domain.name)
        self.counts: Counter[str] = Counter({"slots": 0, "empty_slots": 0, "twice": 0})
        self.families: Counter[str] = Counter()
        spec = AccountSpec(payload["dataset"], tuple(payload["steps"]), payload["seed"], payload["measures_all"])
        self.row_pass = RowPass(writer, spec, load_stages(payload["chain"], payload["base_dir"]))
        self._held: list[Sample] = []
        self._bytes = 0
        self._rows = 0
        self._losses = 0

    def take(self, outcomes: Iterator[Sample | Rejection]) -> None:
        """The attempts at one slot."""
        self.counts["slots"] += 1
        found = None
        for found in outcomes:
            if isinstance(found, Sample):
                self._keep(found)
            else:
                self._reject(found)
        self.counts["empty_slots"] += not isinstance(found, Sample)

    def _reject(self, rejection: Rejection) -> None:
        place = rejection.place
        loss = Loss(
            rejection.verdict,
            rejection.reason,
            0,
            bytes.fromhex(place.id),
            rejection.detail,
            rejection.value,
            rejection.limit,
            rejection.code[:TEXT_CHARS].encode("utf-8", "surrogatepass"),
            measure=rejection.measure,
        )
        self.row_pass.account.losses(_STEP, place.file or place.family, [loss], self._losses, self.source)
        self._losses += 1

    def _keep(self, sample: Sample) -> None:
        size = len(sample.looked.shot.png) + len(sample.code.text)
        if self._held and self._bytes + size > BATCH_BYTES:
            self.flush()
        self._held.append(sample)
        self._bytes += size
        self.counts["twice"] += sample.twice
        self.families[sample.place.family] += 1

    def flush(self) -> None:
        """Pass the samples held through the chain."""
        if not self._held:
            return
        batch = record_batch(self._held, self.domain, self.payload["license"])
        files = [s.place.file or s.place.family for s in self._held]
        ordinals = np.arange(self._rows, self._rows + len(files), dtype=np.int64)
        self._rows += len(files)
        self._held, self._bytes = [], 0
        chars = count_chars(batch)
        self.row_pass.account.read(_STEP, batch, chars)
        self.row_pass.feed(batch, Rows(ordinals, files, np.arange(len(files), dtype=np.int32)), chars)

    def finish(self, where: str) -> dict[str, Any]:
        """Close all files; the facts for the receipt."""
        self.flush()
        facts = self.row_pass.finish(where)
        told = {"counts": dict(sorted(self.counts.items())), "accepted": dict(sorted(self.families.items()))}
        return {**facts, "render": {"source": self.source, **told}}


def is_sampled(payload: Mapping[str, Any], key: str) -> bool:
    """Whether `--sample` takes a slot or a file, by its key; what it leaves out is not attempted, and in no books."""
    fraction = payload["sample"]
    if fraction is None:
        return True
    text = f"render sample\0{payload['identity']['domain']}\0{payload['seed']}\0{key}"
    return int.from_bytes(blake3(text.encode("utf-8", "surrogatepass")).digest(8), "big") < int(threshold(fraction))


def _slots(payload: Mapping[str, Any], domain: Domain, ask: Ask) -> Iterator[Iterator[Sample | Rejection]]:
    start, stop = payload["slots"]
    for slot in range(start, stop):
        if is_sampled(payload, str(slot)):
            yield make_slot(domain, ask, slot)


def _existing(payload: Mapping[str, Any], domain: Domain, ask: Ask) -> Iterator[Iterator[Sample | Rejection]]:
    for given, record in zip(payload["files"], payload["ids"], strict=True):
        file = InputFile(**given)
        if is_sampled(payload, file.digest):
            with open_binary(file.url) as stream:
                body = stream.read(MAX_FILE_BYTES + 1)
            yield iter([make_existing(domain, record, file.rel, body, ask)])


def loaded_domain(payload: Mapping[str, Any]) -> Domain:
    """The domain of a task. Raises InputError where it, its engines or fonts are not those of the task's key."""
    domain = domains.load(payload["domain"], Path(payload["base_dir"]))
    here, wanted = domains.identity(domain), payload["identity"]
    if here != wanted:
        names = [name for name in sorted(wanted) if here.get(name) != wanted[name]]
        raise InputError(
            f"the engines of render/{domain.name} are others here than where the run was started",
            where=payload["base_dir"],
            value=", ".join(names),
            remedy="install the same versions and fonts on every machine, then run again",
        )
    return domain


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    payload = task.payload
    domain = loaded_domain(payload)
    ask = Ask(payload["seed"], tuple(payload["families"]))
    with store.begin(task.key, task.what) as writer:
        renderer = _Renderer(payload, domain, writer)
        slots = _existing(payload, domain, ask) if "files" in payload else _slots(payload, domain, ask)
        for outcomes in slots:
            renderer.take(outcomes)
        facts = renderer.finish(task.label)
        refuse_changed([InputFile(**f) for f in payload.get("files", ())], store.root / INPUTS)
        return writer.commit(facts)
