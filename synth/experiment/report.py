"""Results of all seeds as one table in Markdown, one JSON file and two pictures.

In: `result.json` of each seed's working folder (`collect`); out: what the documentation shows. Questions of all seeds
are pooled, with Wilson's interval, and the share of each seed stands behind; `chance` is one of all candidates, `left`
one of those that no earlier answer of the bank has used up, the most that a reader without the evidence gets; losses
of documents are compared pairwise, with a bootstrap interval. Fewer than two seeds are called indicative.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import InputError
from gristmill.synth.experiment.intervals import paired, wilson
from gristmill.synth.experiment.sequences import SETS
from gristmill.synth.experiment.settings import ARMS, DISTANCES, WINDOWS, bank_size

FEW_SEEDS = 2
FAR = 4096
TITLES: Mapping[str, str] = {
    "held_out_templates": "wording held out",
    "held_out_family": "family held out",
    "trained_templates": "wording of training",
}

Result = Mapping[str, Any]


def collect(folder: Path) -> dict[str, Any]:
    """All that was measured in a working folder, also written to its `result.json`."""
    arms = [arm for arm in ARMS if (folder / f"{arm}.scores.json").exists()]
    if not arms:
        raise InputError("nothing was scored here", str(folder), remedy="run `make`, `train` and `score` first")
    found = {
        "data": json.loads((folder / "data.json").read_text()),
        "training": {arm: json.loads((folder / f"{arm}.training.json").read_text()) for arm in arms},
        "scores": {arm: json.loads((folder / f"{arm}.scores.json").read_text()) for arm in arms},
    }
    (folder / "result.json").write_text(json.dumps(found) + "\n")
    return found


def read_results(paths: Sequence[Path]) -> list[Result]:
    """Results of several seeds. Raises InputError where a file is none."""
    try:
        return [json.loads(path.read_text()) for path in paths]
    except (OSError, ValueError) as error:
        raise InputError("no result of the experiment", "table", str(error), "name files that `score` wrote") from None


def pooled(results: Sequence[Result], arm: str, **wanted: Any) -> tuple[int, int, float]:
    """Right, asked and expected by guessing over all seeds, of the cells whose fields are (or are among) `wanted`."""
    right = asked = 0
    guess = 0.0
    for cell in (c for r in results if arm in r["scores"] for c in r["scores"][arm]["answers"]):
        if all(cell[k] in v if isinstance(v, tuple) else cell[k] == v for k, v in wanted.items()):
            right, asked, guess = right + cell["right"], asked + cell["asked"], guess + cell["guess"]
    return right, asked, guess


def table(results: Sequence[Result]) -> str:
    """The Markdown."""
    arms = [arm for arm in ARMS if all(arm in r["scores"] for r in results)]
    parts = [_heading(results, arms)]
    for name in SETS:
        parts.append(_by_distance(results, arms, name))
    parts += [_windows(results, arms), _losses(results, arms), _copies(results, arms), _positions(results, arms)]
    return "\n\n".join(parts) + "\n"


def _heading(results: Sequence[Result], arms: Sequence[str]) -> str:
    seeds = sorted(r["data"]["data"]["seed"] for r in results)
    note = "" if len(seeds) >= FEW_SEEDS else " **Indicative: one seed alone.**"
    lines = [f"Seeds: {', '.join(map(str, seeds))}.{note}", "", "| arm | parameters | tokens | seconds | all steps |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for arm in arms:
        told = [r["training"][arm] for r in results]
        cells = [[f"{t['parameters'] / 1e6:.1f}M", f"{t['tokens'] / 1e6:.0f}M", f"{t['seconds']:.0f}"] for t in told]
        done = "yes" if all(t["done"] for t in told) else "no"
        lines.append(
            f"| {arm} | " + " | ".join(" / ".join(dict.fromkeys(c)) for c in zip(*cells, strict=True)) + f" | {done} |"
        )
    if len({t["tokens"] for r in results for t in r["training"].values()}) > 1:
        lines += [
            "",
            "The seeds saw different numbers of tokens: read each one by itself, in brackets behind the whole.",
        ]
    return "\n".join(lines)


def share(right: int, asked: int) -> str:
    """A share in per cent with its interval."""
    low, high = wilson(right, asked)
    return f"{100 * right / asked:.1f} [{100 * low:.1f}, {100 * high:.1f}]" if asked else "-"


def _cell(results: Sequence[Result], arm: str, **wanted: Any) -> str:
    """The share over all seeds, and that of each."""
    right, asked, _ = pooled(results, arm, **wanted)
    each = [pooled([result], arm, **wanted) for result in results]
    alone = " / ".join(f"{100 * r / a:.0f}" if a else "-" for r, a, _ in each)
    return share(right, asked) + (f" ({alone})" if asked and len(results) > 1 else "")


def _guess(found: tuple[int, int, float]) -> str:
    return f"{100 * found[2] / found[1]:.1f}" if found[1] else "-"


def _by_distance(results: Sequence[Result], arms: Sequence[str], name: str) -> str:
    lines = [f"Right answers in per cent, {TITLES[name]}, names and documents new, full attention:", ""]
    lines += ["| hops | distance | questions | chance | left | " + " | ".join(arms) + " |"]
    lines += ["| --- " * (5 + len(arms)) + "|"]
    for hops in (1, 2, 3):
        for distance in DISTANCES:
            wanted = {"set": name, "window": None, "hops": hops, "distance": distance}
            found, chance = pooled(results, arms[0], **wanted), 100 / bank_size(hops).chains
            cells = " | ".join(_cell(results, arm, **wanted) for arm in arms)
            lines.append(f"| {hops} | {distance} | {found[1]} | {chance:.1f} | {_guess(found)} | {cells} |")
    return "\n".join(lines)


def _windows(results: Sequence[Result], arms: Sequence[str]) -> str:
    lines = [
        f"One hop, {FAR} tokens and more away, attention cut to a window at test (the evidence is outside of it):",
        "",
    ]
    lines += ["| wording | attention | questions | chance | left | " + " | ".join(arms) + " |"]
    lines += ["| --- " * (5 + len(arms)) + "|"]
    far, chance = tuple(d for d in DISTANCES if d >= FAR), 100 / bank_size(1).chains
    for name in SETS:
        for window in (None, *WINDOWS):
            wanted = {"set": name, "window": window, "hops": 1, "distance": far}
            found = pooled(results, arms[0], **wanted)
            cells = " | ".join(_cell(results, arm, **wanted) for arm in arms)
            title = f"{TITLES[name]} | {window or 'all'} | {found[1]} | {chance:.1f} | {_guess(found)}"
            lines.append(f"| {title} | {cells} |")
    return "\n".join(lines)


def _losses(results: Sequence[Result], arms: Sequence[str]) -> str:
    lines = ["Loss on held-out documents, one by one (nats a token), and how it differs from that of plain:", ""]
    lines += ["| arm | loss | difference in per cent |", "| --- | --- | --- |"]
    plain = _documents(results, "plain") if "plain" in arms else []
    for arm in arms:
        own = _documents(results, arm)
        change = paired(own, plain) if plain and arm != "plain" else None
        told = "-" if change is None else f"{100 * change[0]:+.2f} [{100 * change[1]:+.2f}, {100 * change[2]:+.2f}]"
        if change is not None and len(results) > 1:
            each = [paired(_documents([r], arm), _documents([r], "plain"))[0] for r in results]
            told += " (" + " / ".join(f"{100 * x:+.2f}" for x in each) + ")"
        lines.append(f"| {arm} | {sum(own) / len(own):.4f} | {told} |")
    return "\n".join(lines)


def _documents(results: Sequence[Result], arm: str) -> list[float]:
    return [loss for r in results for loss in r["scores"][arm]["documents"]]


def _copies(results: Sequence[Result], arms: Sequence[str]) -> str:
    lines = ["Tokens guessed right in a passage told a second time (the first time), in per cent:", ""]
    lines += ["| distance | " + " | ".join(arms) + " |", "| --- " * (1 + len(arms)) + "|"]
    for at, distance in enumerate(DISTANCES):
        cells: list[str] = []
        for arm in arms:
            own = [r["scores"][arm]["copies"][at] for r in results]
            tokens, again, first = (sum(o[name] for o in own) for name in ("tokens", "again", "first"))
            cells.append(f"{share(again, tokens)} ({100 * first / tokens:.1f})")
        lines.append(f"| {distance} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _positions(results: Sequence[Result], arms: Sequence[str]) -> str:
    lines = ["Loss by place in a window of joined held-out documents (nats a token):", ""]
    lines += ["| tokens | " + " | ".join(arms) + " |", "| --- " * (1 + len(arms)) + "|"]
    for at, place in enumerate(results[0]["scores"][arms[0]]["positions"]):
        own = [[r["scores"][arm]["positions"][at]["loss"] for r in results] for arm in arms]
        lines.append(
            f"| {place['from']} to {place['to']} | " + " | ".join(f"{sum(o) / len(o):.3f}" for o in own) + " |"
        )
    return "\n".join(lines)


def plots(results: Sequence[Result], folder: Path) -> list[Path]:
    """Two pictures: right answers by distance, and under a window."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    arms = [arm for arm in ARMS if all(arm in r["scores"] for r in results)]
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4), sharey=True)
    for axis, hops in zip(axes, (1, 2, 3), strict=True):
        for arm in arms:
            _line(axis, results, arm, set="held_out_templates", window=None, hops=hops)
        axis.axhline(1 / bank_size(hops).chains, color="k", linestyle=":", label="chance")
        _finish(axis, f"{hops} hop{'s' * (hops > 1)}, wording held out")
    first = folder / "answers_by_distance.png"
    _save(figure, first)
    figure, axis = pyplot.subplots(figsize=(6, 4))
    for window in (None, *WINDOWS):
        label = "all" if window is None else f"last {window}"
        _line(axis, results, "tasks", label, set="held_out_templates", window=window, hops=1)
    _finish(axis, "tasks, one hop: attention at test")
    second = folder / "answers_by_window.png"
    _save(figure, second)
    return [first, second]


def _line(axis: Any, results: Sequence[Result], arm: str, label: str = "", **wanted: Any) -> None:
    found = [pooled(results, arm, distance=distance, **wanted) for distance in DISTANCES]
    shares = [right / max(asked, 1) for right, asked, _ in found]
    bounds = [wilson(right, asked) for right, asked, _ in found]
    low = [max(s - b[0], 0) for s, b in zip(shares, bounds, strict=True)]
    high = [max(b[1] - s, 0) for s, b in zip(shares, bounds, strict=True)]
    axis.errorbar(range(len(DISTANCES)), shares, yerr=(low, high), marker="o", capsize=3, label=label or arm)


def _finish(axis: Any, title: str) -> None:
    axis.set_title(title)
    axis.set_xticks(range(len(DISTANCES)), [str(d) for d in DISTANCES])
    axis.set_xlabel("tokens to the farthest evidence")
    axis.set_ylabel("right answers")
    axis.set_ylim(0, 1.02)
    axis.grid(alpha=0.3)
    axis.legend()


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=110)
