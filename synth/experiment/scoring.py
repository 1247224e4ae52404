"""What a trained arm can do, measured on documents, names and wordings that it has not seen.

In: `ARM.weights.pt` and the evaluation files of `sequences`; out: `ARM.scores.json`:

* `answers`: of each set, attention and cell (hops, bin of distance) how many questions were asked, how many were
  answered with the right candidate (best score among the candidates' first tokens), and what a guess among those that
  no earlier answer used up would get;
* `documents`: the mean loss of each held-out document; `positions`: loss by place in a window of joined documents;
* `copies`: how often the next token of a passage is right, the first time and when it is told again at a distance.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.render.draws import Draws
from gristmill.synth.experiment import model
from gristmill.synth.experiment.model import torch
from gristmill.synth.experiment.sequences import SETS
from gristmill.synth.experiment.settings import CONTEXT, DISTANCE_EDGES, DISTANCES, WINDOWS, Arm, Shape

TOKENS_AT_ONCE = 64 * 1024
POSITION_EDGES = (0, 128, 256, 512, 1024, 2048, 4096, 8192)
PASSAGE, SKIPPED = 64, 16
"""Tokens of a passage that is told twice, and of its beginning, which nothing announces."""
COPY_ROWS = 32


def score(folder: Path, arm: Arm, device: str) -> dict[str, Any]:
    """Everything about an arm, also written to `ARM.scores.json`."""
    place = model.need_torch(device)
    told = json.loads((folder / f"{arm}.training.json").read_text())
    shape = Shape(**told["shape"])
    weights = torch.load(folder / f"{arm}.weights.pt", map_location=place)
    found = {
        "arm": arm,
        "answers": [cell for name in SETS for cell in _answers(folder, name, weights, shape)],
        "documents": _document_losses(folder, weights, shape),
        "positions": _position_losses(folder, weights, shape),
        "copies": _copies(folder, weights, shape),
    }
    (folder / f"{arm}.scores.json").write_text(json.dumps(found) + "\n")
    return found


def _states(ids: Any, weights: Any, shape: Shape, window: int | None, use: Any) -> None:
    """Call `use(first row, hidden states)` for groups of rows of `ids` [rows, tokens]."""
    device, tokens = weights["embed"].device, ids.shape[1]
    turns = model.rotations(shape, tokens, device)
    at_once = max(1, TOKENS_AT_ONCE // tokens)
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16):
        for first in range(0, len(ids), at_once):
            rows = torch.from_numpy(ids[first : first + at_once].astype(np.int64)).to(device)
            use(first, rows, model.forward(weights, rows, turns, shape, window))


def _answers(folder: Path, name: str, weights: Any, shape: Shape) -> list[dict[str, Any]]:
    items = dict(np.load(folder / f"score-{name}.npz"))
    cells: list[dict[str, Any]] = []
    for window in (None, *WINDOWS):
        right = _right(items, weights, shape, window)
        bins = np.digitize(items["distance"], DISTANCE_EDGES[1:-1])
        for hops in np.unique(items["hops"]).tolist():
            for at, distance in enumerate(DISTANCES):
                chosen = (items["hops"] == hops) & (bins == at)
                cells.append(
                    {
                        "set": name,
                        "window": window,
                        "hops": hops,
                        "distance": distance,
                        "asked": int(chosen.sum()),
                        "right": int(right[chosen].sum()),
                        "guess": float((1 / items["left"][chosen]).sum()),
                    }
                )
    return cells


def _right(items: dict[str, Any], weights: Any, shape: Shape, window: int | None) -> Any:
    """Whether each question's best candidate is the right one."""
    chosen = np.zeros(len(items["row"]), np.int64)

    def use(first: int, rows: Any, states: Any) -> None:
        mine = np.flatnonzero((items["row"] >= first) & (items["row"] < first + len(rows)))
        if not len(mine):
            return
        at = torch.from_numpy(items["row"][mine] - first), torch.from_numpy(items["place"][mine] - 1)
        scores = model.logits(weights, states[at[0].to(states.device), at[1].to(states.device)]).float()
        candidates = torch.from_numpy(items["candidates"][mine]).to(states.device)
        own = scores.gather(1, candidates.clamp(min=0)).masked_fill(candidates < 0, -torch.inf)
        chosen[mine] = own.argmax(1).cpu().numpy()

    _states(items["ids"], weights, shape, window, use)
    return chosen == items["right"]


def _losses(ids: Any, weights: Any, shape: Shape) -> Any:
    """Loss of each token but the first: float64[rows, tokens - 1]."""
    out = np.zeros((len(ids), ids.shape[1] - 1))

    def use(first: int, rows: Any, states: Any) -> None:
        for row in range(len(rows)):
            scores = model.logits(weights, states[row, :-1]).float()
            out[first + row] = torch.nn.functional.cross_entropy(scores, rows[row, 1:], reduction="none").cpu().numpy()

    _states(ids, weights, shape, None, use)
    return out


def _document_losses(folder: Path, weights: Any, shape: Shape) -> list[float]:
    return [round(float(x), 5) for x in _losses(np.load(folder / "documents.ids.npy"), weights, shape).mean(1)]


def _position_losses(folder: Path, weights: Any, shape: Shape) -> list[dict[str, float]]:
    losses = _losses(np.load(folder / "long.ids.npy"), weights, shape)
    edges = pairwise(POSITION_EDGES)
    return [{"from": a, "to": b, "loss": round(float(losses[:, a : b - 1].mean()), 5)} for a, b in edges]


def _copies(folder: Path, weights: Any, shape: Shape) -> list[dict[str, Any]]:
    """Passages of held-out text told a second time."""
    long = np.load(folder / "long.ids.npy")[:COPY_ROWS]
    found: list[dict[str, Any]] = []
    for distance in DISTANCES:
        ids, firsts = _repeated(long, distance)
        hits = _hits(ids, firsts, weights, shape)
        again = _hits(ids, [first + distance for first in firsts], weights, shape)
        found.append({"distance": distance, "tokens": len(ids) * (PASSAGE - SKIPPED), "first": hits, "again": again})
    return found


def _repeated(long: Any, distance: int) -> tuple[Any, list[int]]:
    ids, firsts = long.copy(), []
    for row in range(len(ids)):
        draws = Draws("experiment copies", distance, row)
        first = draws.integer(0, CONTEXT - distance - PASSAGE)
        ids[row, first + distance : first + distance + PASSAGE] = ids[row, first : first + PASSAGE]
        firsts.append(first)
    return ids, firsts


def _hits(ids: Any, firsts: Sequence[int], weights: Any, shape: Shape) -> int:
    """Tokens of passages, but for their beginnings, that are the best guess."""
    hits = 0

    def use(first: int, rows: Any, states: Any) -> None:
        nonlocal hits
        for row in range(len(rows)):
            at = firsts[first + row] + SKIPPED
            scores = model.logits(weights, states[row, at - 1 : at + PASSAGE - SKIPPED - 1])
            hits += int((scores.argmax(-1) == rows[row, at : at + PASSAGE - SKIPPED]).sum())

    _states(ids, weights, shape, None, use)
    return hits
