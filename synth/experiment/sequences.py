"""The sequences of the experiment, made by `synth.materialise` in as many processes as there are processors.

In: documents and a vocabulary. Out, in a working folder:

* `ARM.ids.npy` uint16[n, CONTEXT], `ARM.kinds.npy` uint8[n, CONTEXT] (index into `settings.KINDS`);
* `score-SET.npz`: ids, and of each question its row, place, candidates, answer (`Items`);
* `documents.ids.npy` uint16[n, DOC_TOKENS], held-out documents one by one; `long.ids.npy`, held-out ones joined.

Content and seed decide every byte, whatever the number of processes.
"""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared, Source, encode, prepare
from gristmill.synth.experiment.documents import NAMES_AT_ONCE, SAMPLE_NAMES, read_documents, train_vocabulary
from gristmill.synth.experiment.planting import Planter
from gristmill.synth.experiment.settings import (
    CONTEXT,
    HELD_OUT_FAMILIES,
    KINDS,
    ONE_HOP,
    SCORED_FAMILIES,
    SCORED_HOPS,
    TRAINED_FAMILIES,
    TRAINED_HOPS,
    Arm,
    Data,
    bank_size,
)
from gristmill.synth.grammar import Split
from gristmill.synth.materialise import Discarded, Material, materialise
from gristmill.synth.order import Mode
from gristmill.synth.plan import BankPlan, SequencePlan, SynthParams

Ids = npt.NDArray[np.uint16]
DOC_TOKENS = 1024
LONG_ROWS = 48
SPARE_TOKENS = 1024
BLOCK, PREPARED_AT_ONCE = 16, 64
MAX_TRIES = 4
MODES: dict[Arm, Mode] = {"plain": "concat", "permuted": "knot", "tasks": "task", "random": "task"}
SETS: dict[str, tuple[tuple[str, ...], Split]] = {
    "held_out_templates": (SCORED_FAMILIES, "held_out"),
    "held_out_family": (HELD_OUT_FAMILIES, "held_out"),
    "trained_templates": (SCORED_FAMILIES, "train"),
}
"""Evaluation sets: families and wording. Names and documents are new in all of them."""


@dataclass(frozen=True)
class Item:
    """A question of an evaluation set. `place`: token of the first answer token in its row; `distance` tokens to the
    farthest evidence; `left`: candidates that no earlier answer of its bank has used up."""

    row: int
    place: int
    hops: int
    distance: int
    left: int
    right: int
    candidates: tuple[int, ...]


@dataclass(frozen=True)
class _Kind:
    """One kind of sequence; those of the same `purpose` and number have the same documents and draws."""

    documents: Sequence[Prepared]
    mode: Mode
    purpose: str
    split: Split
    planter: Planter
    banks: Callable[[int], tuple[BankPlan, ...]]


@dataclass(frozen=True)
class _Work:
    """What a process needs to make any sequence of one kind; `turns`: the documents of each."""

    kind: _Kind
    turns: Sequence[tuple[int, ...]]
    params: SynthParams
    tokenizer: dict[str, Any]


_here: dict[str, Any] = {}
"""What a process of the pool was started with."""


def make(corpus: str, folder: Path, arms: Sequence[Arm], data: Data, processes: int, limit: int | None = None) -> None:
    """Everything that training and evaluation read. What stands in `folder` already is kept.

    `limit`: so many documents at most, and a vocabulary that knows few invented names: for a look.
    """
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    train, held = read_documents(corpus, limit)
    vocabulary = folder / "tokenizer.json"
    if not vocabulary.exists():
        train_vocabulary(train, vocabulary, SAMPLE_NAMES if limit is None else NAMES_AT_ONCE)
    tokenizer = load_tokenizer(str(vocabulary), isolated=False)
    kept, scored = (_prepared(some, tokenizer, processes) for some in (train, held))
    if not kept or not scored:
        raise InputError("too few documents", corpus, f"{len(kept)} to train on, {len(scored)} held out")
    _tell(folder, data, tokenizer, kept, scored)
    _plain_text(folder, scored, data, tokenizer)
    for name, (families, split) in SETS.items():
        if not (folder / f"score-{name}.npz").exists():
            banks = partial(_scored_banks, families)
            kind = _Kind(scored, "task", f"score {name}", split, Planter(scored=True), banks)
            work = _work(kind, data.scored, data, tokenizer)
            _save_items(folder / f"score-{name}.npz", _all(work, data.scored, processes))
    for arm in arms:
        if not (folder / f"{arm}.kinds.npy").exists():
            planter = Planter(random=arm == "random")
            banks = _trained_banks if arm in ("tasks", "random") else _no_banks
            kind = _Kind(kept, MODES[arm], "train", "train", planter, banks)
            work = _work(kind, data.sequences, data, tokenizer)
            made = _all(work, data.sequences, processes)
            _save(folder / f"{arm}.ids.npy", np.stack([ids for ids, _, _ in made]))
            _save(folder / f"{arm}.kinds.npy", np.stack([kinds for _, kinds, _ in made]))


def _save(path: Path, array: npt.NDArray[Any]) -> None:
    """A reader sees all of it or nothing."""
    np.save(path.with_suffix(".new.npy"), array)
    path.with_suffix(".new.npy").replace(path)


def _prepared(sources: Sequence[Source], tokenizer: Tokenizer, processes: int) -> list[Prepared]:
    blocks = [sources[at : at + PREPARED_AT_ONCE] for at in range(0, len(sources), PREPARED_AT_ONCE)]
    if processes == 1:
        return prepare(sources, tokenizer)[0]
    with ProcessPoolExecutor(processes, get_context("fork"), _start, (None, tokenizer.to_data())) as pool:
        return [document for block in pool.map(_prepare, blocks) for document in block]


def _prepare(sources: Sequence[Source]) -> list[Prepared]:
    return prepare(sources, _here["tokenizer"])[0]


def _tell(folder: Path, data: Data, tokenizer: Tokenizer, kept: Sequence[Prepared], held: Sequence[Prepared]) -> None:
    licences = sorted({d.source.license for d in [*kept, *held]})
    told = {
        "data": asdict(data),
        "vocabulary": tokenizer.identity.vocab_size,
        "documents": len(kept),
        "tokens": sum(d.total for d in kept),
        "held_out_documents": len(held),
        "held_out_tokens": sum(d.total for d in held),
        "licences": licences,
    }
    (folder / "data.json").write_text(json.dumps(told, indent=1) + "\n")


def _no_banks(_: int) -> tuple[BankPlan, ...]:
    return ()


def _trained_banks(number: int) -> tuple[BankPlan, ...]:
    return _banks(TRAINED_FAMILIES, TRAINED_HOPS[number % 2], number)


def _scored_banks(families: tuple[str, ...], number: int) -> tuple[BankPlan, ...]:
    return _banks(families, SCORED_HOPS, number)


def _banks(families: tuple[str, ...], hops: Sequence[int], number: int) -> tuple[BankPlan, ...]:
    """A bank for each of `hops`, families in turn; sums only of one hop."""
    banks: list[BankPlan] = []
    for at, count in enumerate(hops):
        able = [name for name in families if count == 1 or name != "share_sum"]
        size = bank_size(count)
        banks.append(BankPlan(able[(number + at) % len(able)], size, size.asked))
    return tuple(banks)


def _work(kind: _Kind, count: int, data: Data, tokenizer: Tokenizer) -> _Work:
    seed = int.from_bytes(blake3(f"experiment\0{kind.purpose}\0{data.seed}".encode()).digest(6), "big")
    params = SynthParams(context=CONTEXT, sequences=count, seed=seed, split=kind.split, embedded_frac=0)
    return _Work(kind, turns(kind.documents, count, seed), params, tokenizer.to_data())


def turns(documents: Sequence[Prepared], count: int, seed: int) -> list[tuple[int, ...]]:
    """The documents of each sequence: all of them in random order, and again in another when they have run out."""
    draws = Draws("experiment turns", seed)
    left: list[int] = []
    out: list[tuple[int, ...]] = []
    for _ in range(count):
        chosen: list[int] = []
        have = 0
        while have < CONTEXT + SPARE_TOKENS:
            if not left:
                left = draws.shuffled(range(len(documents)))
            doc = left.pop()
            if doc not in chosen:
                chosen.append(doc)
                have += documents[doc].total
            elif len(chosen) == len(documents):
                raise InputError("too few documents for a sequence", "synth.experiment", f"{have} tokens")
        out.append(tuple(chosen))
    return out


Made = tuple[Ids, npt.NDArray[np.uint8], list[Item]]


def _all(work: _Work, count: int, processes: int) -> list[Made]:
    blocks = [range(at, min(at + BLOCK, count)) for at in range(0, count, BLOCK)]
    if processes == 1:
        _start(work, work.tokenizer)
        return [made for block in blocks for made in _block(block)]
    with ProcessPoolExecutor(processes, get_context("fork"), _start, (work, work.tokenizer)) as pool:
        return [made for block in pool.map(_block, blocks) for made in block]


def _start(work: _Work | None, tokenizer: dict[str, Any]) -> None:
    _here.update(work=work, tokenizer=Tokenizer.from_data(tokenizer, isolated=False))


def _block(numbers: range) -> list[Made]:
    return [_one(_here["work"], _here["tokenizer"], number) for number in numbers]


def _one(work: _Work, tokenizer: Tokenizer, number: int) -> Made:
    """The sequence of a number; of a discarded one, that of a number which no other has."""
    for attempt in range(MAX_TRIES):
        own, docs = number + attempt * len(work.turns), work.turns[(number + attempt) % len(work.turns)]
        plan = SequencePlan(own, work.kind.mode, docs, (0,) * len(docs), work.kind.banks(number))
        try:
            made = materialise(plan, work.params, work.kind.documents, tokenizer, planting=work.kind.planter)
        except Discarded:
            continue
        return _arrays(made, tokenizer, number)
    raise InputError("a sequence was discarded every time", "synth.experiment", number, "give other documents")


def _arrays(made: Material, tokenizer: Tokenizer, number: int) -> Made:
    ids = np.full(CONTEXT, tokenizer.identity.eos_id, np.uint16)
    kinds = np.zeros(CONTEXT, np.uint8)
    at = 0
    where: dict[int, int] = {}
    for stretch in made.stretches:
        stop = at + len(stretch.ids)
        ids[at:stop] = stretch.ids
        kinds[at:stop] = KINDS.index(_kind(stretch.kind))
        if stretch.piece >= 0:
            where[stretch.piece] = at
            kinds[at] = KINDS.index("first") if stretch.kind == "answer" else kinds[at]
        at = stop
    kinds[at : made.n_tokens] = KINDS.index("text")
    return ids, kinds, _items(made, tokenizer, where, number)


def _kind(kind: str) -> str:
    return {"code": "text", "separator": "text", "marker": "ignored"}.get(kind, kind)


def _items(made: Material, tokenizer: Tokenizer, where: dict[int, int], number: int) -> list[Item]:
    """The questions whose answer no other candidate shares its first token with, and that have few candidates."""
    items: list[Item] = []
    for asked in made.planted.tasks:
        if len(asked.candidates) > ONE_HOP:
            continue
        firsts = [int(ids[0]) for ids in encode([c + "\n\n" for c in asked.candidates], tokenizer)]
        right, place = asked.candidates.index(asked.answer_text), where[asked.answer]
        if firsts.count(firsts[right]) > 1:
            continue
        before = [t for t in made.planted.tasks if t.bank == asked.bank and where[t.answer] < place]
        farthest = min(where[fact] for fact in asked.facts)
        left = len(asked.candidates) - len(before)
        items.append(Item(number, place, len(asked.facts), place - farthest, left, right, tuple(firsts)))
    return items


def _save_items(path: Path, made: Sequence[Made]) -> None:
    items = [item for _, _, own in made for item in own]
    candidates = np.full((len(items), ONE_HOP), -1, np.int64)
    for row, item in enumerate(items):
        candidates[row, : len(item.candidates)] = item.candidates
    columns: dict[str, Any] = {
        name: np.array([getattr(item, name) for item in items], np.int64)
        for name in ("row", "place", "hops", "distance", "left", "right")
    }
    np.savez(path, **columns, ids=np.stack([ids for ids, _, _ in made]), candidates=candidates)


def _plain_text(folder: Path, held: Sequence[Prepared], data: Data, tokenizer: Tokenizer) -> None:
    """Held-out documents one by one, and joined to whole windows."""
    whole = [ids.astype(np.uint16) for ids in encode([d.text for d in held], tokenizer)]
    starts = [ids[:DOC_TOKENS] for ids in whole if len(ids) >= DOC_TOKENS][: data.documents]
    end = np.array([tokenizer.identity.eos_id], np.uint16)
    joined = np.concatenate([part for ids in whole for part in (ids, end)])
    rows = min(LONG_ROWS, len(joined) // CONTEXT)
    if not starts or not rows:
        raise InputError("too little held-out text", "synth.experiment", f"{len(joined)} tokens")
    np.save(folder / "documents.ids.npy", np.stack(starts))
    np.save(folder / "long.ids.npy", joined[: rows * CONTEXT].reshape(rows, CONTEXT))


def density(kinds: npt.NDArray[np.uint8]) -> dict[str, float]:
    """The share of tokens of each kind."""
    counts = np.bincount(kinds.ravel(), minlength=len(KINDS))
    return {name: round(float(c) / kinds.size, 5) for name, c in zip(KINDS, counts, strict=True)}
