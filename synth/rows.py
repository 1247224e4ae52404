"""A sequence as a row of the trainer's schema (`manifests.trainer_schema`), tasks and proofs with it.

Columns in: a `Material`; out: one row of `packed_schema`. Stretches that follow each other in a document are one
segment. What was planted, and the words of ties, belong to one more entry of `docs`, whose id is made of its text;
behind it stand documents whose sentences stand in records (`hosts`).
Attention: in concat mode a group for each document; elsewhere one for the row, as tasks look across documents.
Loss: records and queries hold secrets that nobody can predict and have weight SECRET_WEIGHT, answers 1 under their own
reason, so that a trainer can give them another; ties have 0, and so have the places of media, under reason `media`.
Media are those of the row's segments, in order: one that stands in two places is there twice.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.row_id import row_ids
from gristmill.manifests.schema import ID_BYTES
from gristmill.manifests.trainer_schema import TrainerFormat, packed_schema
from gristmill.synth.atoms import Prepared
from gristmill.synth.layout import Stretch
from gristmill.synth.materialise import Material
from gristmill.synth.media import Shown, length
from gristmill.synth.plant import Asked
from gristmill.synth.solvers.prove import VERIFIER_VERSION, Proof

SECRET_WEIGHT = 0.1
LOSS_WEIGHTS: Mapping[str, float] = {
    "record": SECRET_WEIGHT,
    "query": SECRET_WEIGHT,
    "answer": 1.0,
    "marker": 0.0,
    "image": 0.0,
    "video": 0.0,
}

Fields = dict[str, Any]


def to_row(
    material: Material, form: TrainerFormat, split: str, proofs: Sequence[Proof] | None = None
) -> pa.RecordBatch:
    """A batch of one row. Without `proofs` what is measured of tasks is null and they are not `verified`."""
    stretches = _merged(_closed(material, form))
    starts = np.cumsum([0, *(len(s.ids) for s in stretches)]).tolist()
    ids = np.full(form.context, form.tokenizer.pad_id, np.uint32)
    ids[: material.n_tokens] = np.concatenate([s.ids for s in stretches])
    numbers = accumulate((s.shown is not None for s in stretches), initial=0)
    segments = [_segment(material, *each) for each in zip(stretches, starts, numbers, strict=False)]
    schema = packed_schema(form)
    values: Fields = {
        "row_id": [None],
        "n_tokens": [material.n_tokens],
        "segments": [segments],
        "docs": [_docs(material)],
        "media": [[_medium(s.shown, s, start) for s, start in zip(stretches, starts, strict=False) if s.shown]],
        "loss_spans": [[_loss(s) for s in segments if s["kind"] in LOSS_WEIGHTS]],
        "tasks": [_tasks(material, stretches, starts, split, proofs)],
    }
    columns: list[Any] = []
    for field in schema:
        if field.name == "input_ids":
            columns.append(pa.FixedSizeListArray.from_arrays(pa.array(ids), type=field.type))
        else:
            columns.append(pa.array(values[field.name], field.type))
    columns[0] = row_ids(pa.RecordBatch.from_arrays(columns, names=schema.names))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _closed(material: Material, form: TrainerFormat) -> list[Stretch]:
    """The stretches with the last end-of-sequence id, which belongs to the document of the last atom."""
    stretches = list(material.stretches)
    if material.plan.mode != "concat":
        last = next(s for s in reversed(stretches) if s.doc >= 0)
        eos = np.array([form.tokenizer.eos_id], np.uint32)
        stretches.append(Stretch("separator", eos, last.doc, last.offset + len(last.ids)))
    return stretches


def _merged(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Those that follow each other in a document become one."""
    runs: list[list[Stretch]] = []
    for stretch in stretches:
        if runs and _follows(runs[-1], stretch):
            runs[-1].append(stretch)
        else:
            runs.append([stretch])
    return [replace(run[0], ids=np.concatenate([s.ids for s in run])) for run in runs]


def _follows(run: Sequence[Stretch], stretch: Stretch) -> bool:
    last = run[-1]
    same = last.doc == stretch.doc >= 0 and last.kind == stretch.kind and stretch.shown is None
    return same and last.offset + len(last.ids) == stretch.offset


def _segment(material: Material, stretch: Stretch, start: int, medium: int) -> Fields:
    doc = stretch.doc if stretch.doc >= 0 else len(material.filler.documents)
    return {
        "start": start,
        "end": start + len(stretch.ids),
        "kind": stretch.kind,
        "attn_group": doc if material.plan.mode == "concat" else 0,
        "doc_idx": doc,
        "doc_offset": stretch.offset,
        "media_idx": None if stretch.shown is None else medium,
    }


def _medium(shown: Shown, stretch: Stretch, start: int) -> Fields:
    told = shown.medium._asdict()
    del told["kind"]
    return {**told, "token_start": start, "token_len": len(stretch.ids)}


def _docs(material: Material) -> list[Fields]:
    uses = dict(zip(material.plan.docs, material.plan.uses, strict=True))
    both = zip(material.filler.documents, material.filler.taken, strict=True)
    docs = [_doc(document, uses[material.plan.docs[taken.doc]]) for document, taken in both]
    planted = [s for s in material.stretches if s.doc < 0]
    if planted:
        ids = np.concatenate([s.ids for s in planted])
        shas = b"".join(s.shown.medium.sha256 for s in planted if s.shown)
        digest = blake3(ids.astype("<u4").tobytes() + shas).digest(ID_BYTES)
        made: Fields = {"id": digest.hex(), "source": "synth", "domain": None, "license": None, "content_hash": digest}
        docs.append({**made, "n_tokens_total": len(ids), "use_no": 0})
    return docs + [_doc(document, use) for document, use in material.hosts]


def _doc(document: Prepared, use_no: int) -> Fields:
    source = document.source
    told = {name: getattr(source, name) for name in ("id", "source", "domain", "license", "content_hash")}
    return {**told, "n_tokens_total": document.total, "use_no": use_no}


def _loss(segment: Fields) -> Fields:
    weight = LOSS_WEIGHTS[segment["kind"]]
    reason = "media" if segment["media_idx"] is not None else segment["kind"]
    return {"start": segment["start"], "end": segment["end"], "weight": weight, "reason": reason}


class _Where(NamedTuple):
    """Where a piece is: its first token, its first segment, and the number of its picture."""

    start: int
    segment: int
    medium: int | None = None


def _tasks(
    material: Material,
    stretches: Sequence[Stretch],
    starts: Sequence[int],
    split: str,
    proofs: Sequence[Proof] | None,
) -> list[Fields]:
    where: dict[int, _Where] = {}
    medium = 0
    for index, (stretch, start) in enumerate(zip(stretches, starts, strict=False)):
        if stretch.piece >= 0:
            first = where.setdefault(stretch.piece, _Where(start, index))
            where[stretch.piece] = first._replace(medium=medium) if stretch.shown else first
        medium += stretch.shown is not None
    tasks: list[Fields] = []
    for number, asked in enumerate(material.planted.tasks):
        measured = {} if proofs is None else asdict(proofs[number])
        measured["verified"] = proofs is not None
        tasks.append(_task(material, asked, where, split) | measured)
    return tasks


def _task(material: Material, asked: Asked, where: Mapping[int, _Where], split: str) -> Fields:
    sizes = [length(bits) for bits in material.piece_bits]
    query, answer = where[asked.query].start, where[asked.answer].start
    evidence = [_evidence(where[fact], sizes[fact], hop) for hop, fact in enumerate(asked.facts)]
    others = [(where[piece].start, sizes[piece], chain) for piece, chain in asked.others]
    pieces = material.planted.pieces
    digest = blake3(json.dumps([material.plan.number, asked.bank, asked.chain, pieces[asked.query].text]).encode())
    return {
        "task_id": digest.hexdigest(ID_BYTES),
        "family": asked.family.name,
        "family_version": asked.family.version,
        "tier": asked.tier,
        "klass": asked.family.klass,
        "split": split,
        "query_start": query,
        "query_end": query + sizes[asked.query],
        "answer_start": answer,
        "answer_end": answer + sizes[asked.answer],
        "answer": asked.answer_text,
        "eps_pos": (1 / asked.alpha - 1) / len(asked.candidates),
        "evidence": evidence,
        "distractors": [{"start": start, "end": start + size, "chain": chain} for start, size, chain in others],
        "params_json": json.dumps(dict(asked.params), sort_keys=True),
        "template_ids": [pieces[i].template for i in (*asked.facts, asked.query)],
        "verifier_version": VERIFIER_VERSION,
    }


def _evidence(where: _Where, size: int, hop: int) -> Fields:
    return {
        "start": where.start,
        "end": where.start + size,
        "hop": hop,
        "segment": where.segment,
        "media_idx": where.medium,
        "bbox_norm": None,
    }
