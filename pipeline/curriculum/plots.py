"""Plots of a plan: shares of its stages, epochs of its documents, exposure over the run. PNG, equal for equal numbers.

The plan comes as the plain data that `gristmill plan --json` prints.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gristmill.pipeline.figures import new_figure, png_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shown = Mapping[str, Any]

# Okabe and Ito 2008: told apart by people who are colour-blind; grey is for what is synthesised; beyond seven, hatched.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
_HATCHES = ("", "//", "..", "xx", "--", "oo")
_LEAST_NAMED = 0.03
_SHADES = ("#DEEBF7", "#9ECAE1", "#4292C6", "#2171B5", "#08306B")
_CAP_COLOUR = "#D55E00"
_LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def plots(plan: Shown) -> dict[str, bytes]:
    """File name -> PNG."""
    return {
        "shares_by_bucket.png": shares_png(plan, "bucket", "Length of documents in each stage"),
        "shares_by_domain.png": shares_png(plan, "domain", "Domains of each stage"),
        "epochs.png": epochs_png(plan),
        "exposure.png": exposure_png(plan),
    }


def shares_png(plan: Shown, key: str, title: str) -> bytes:
    """Stacked bars: the share of each bucket, or domain, in each stage; synthesised sequences are one of their own."""
    stages: Sequence[Shown] = plan["stages"]
    names = _ordered(plan, key)
    figure, axes = new_figure(1.6 + 1.15 * len(stages) + 2.0, 4.2)
    at, bottom = np.arange(len(stages)), np.zeros(len(stages))
    for number, name in enumerate(names):
        share = np.array([sum(s["rate"] * _share(s, key, name) for s in stage["sources"]) for stage in stages])
        colour, hatch = _style(number, key, name, len(names))
        axes.bar(at, share, 0.7, bottom=bottom, color=colour, hatch=hatch, edgecolor="white", linewidth=0.8, label=name)
        for x, (low, height) in enumerate(zip(bottom, share, strict=True)):
            if height >= _LEAST_NAMED:
                dark = _is_dark(colour)
                axes.text(x, low + height / 2, f"{100 * height:.0f}", ha="center", va="center", fontsize=8, color=dark)
        bottom += share
    axes.set_xticks(at, [_stage_name(s) for s in stages])
    axes.set(ylabel="share of the stage's rows", ylim=(0, 1), title=title)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=9)
    _plain_frame(axes)
    return png_of(figure)


def epochs_png(plan: Shown) -> bytes:
    """Epochs over the whole run of each domain and length, with its cap; those of several packings add up."""
    cells: Sequence[Shown] = [c for c in plan["epochs"] if c["epochs"] > 0]
    figure, axes = new_figure(7.6, 1.4 + 0.24 * max(len(cells), 4))
    at = np.arange(len(cells))[::-1]
    axes.barh(at, [c["epochs"] for c in cells], 0.72, color=_COLOURS[0])
    for y, cell in zip(at, cells, strict=True):
        axes.plot([cell["cap"]] * 2, [y - 0.42, y + 0.42], color=_CAP_COLOUR, linewidth=2)
        axes.annotate(
            f"{cell['epochs']:.2f}",
            (cell["epochs"], y),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            bbox=_LABEL,
        )
    several = len({c["documents_of"] for c in cells}) > 1
    names = [" ".join([*([c["documents_of"]] if several else []), c["domain"] or "any", c["bucket"]]) for c in cells]
    axes.set_yticks(at, names, fontsize=8)
    axes.plot([], [], color=_CAP_COLOUR, linewidth=2, label="cap")
    most = max((max(c["epochs"], c["cap"]) for c in cells), default=1.0)
    axes.set(xlabel="epochs over the whole run", title="How often documents come", xlim=(0, 1.08 * most))
    axes.set_ylim(-0.7, max(len(cells), 1) - 0.3)
    axes.legend(loc="lower right", fontsize=8, framealpha=0.9)
    _plain_frame(axes)
    return png_of(figure)


def exposure_png(plan: Shown) -> bytes:
    """Tokens of documents of each length seen so far, over the tokens of the run, on logarithmic axes."""
    stages: Sequence[Shown] = plan["stages"]
    names = _ordered(plan, "bucket")
    figure, axes = new_figure(7.6, 4.2)
    ends = np.cumsum([0, *(s["tokens"] for s in stages)])
    points = [np.linspace(a, b, 60)[1:] for a, b in pairwise(ends.tolist())]
    for number, name in enumerate(names):
        seen, before = list[float](), 0.0
        for stage, x in zip(stages, points, strict=True):
            tokens = sum(s["tokens"] * _share(s, "bucket", name) for s in stage["sources"])
            first, last = float(x[0] - (x[1] - x[0])), float(x[-1])
            seen += [before + tokens * (float(p) - first) / (last - first) for p in x]
            before += tokens
        colour = _COLOURS[number % len(_COLOURS)]
        style = "--" if number >= len(_COLOURS) else "-"
        axes.plot(np.concatenate(points) / ends[-1], np.maximum(seen, 0) / ends[-1], style, color=colour, label=name)
    for end, stage in zip(ends[:-1], stages, strict=True):
        axes.axvline(end / ends[-1], color="#BBBBBB", linewidth=0.8, linestyle=":")
        where = (end / ends[-1], 1.0)
        axes.annotate(
            _stage_name(stage).split("\n")[0],
            where,
            (3, -9),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=7,
            rotation=90,
            va="top",
        )
    axes.set_yscale("log")
    axes.set_ylim(top=5)
    axes.set(xlabel="part of the run", ylabel="tokens seen, parts of the run", title="Exposure by length", xlim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=9)
    _plain_frame(axes)
    return png_of(figure)


def _parts(source: Shown, key: str) -> Sequence[tuple[str, float, tuple[float, float]]]:
    """(name, share of the source, where it stands): one of a domain, one of each length that it holds."""
    if source["synthesised"]:
        return [("synthesised", 1.0, (0, 0))]
    if key == "domain":
        return [(str(source["domain"] or "any"), 1.0, (0, 0))]
    ends = ((p, p["max_tokens"] or float("inf")) for p in source["lengths"])
    return [(p["bucket"], p["share"], (p["min_tokens"], high)) for p, high in ends]


def _share(source: Shown, key: str, name: str) -> float:
    return sum(share for part, share, _ in _parts(source, key) if part == name)


def _ordered(plan: Shown, key: str) -> list[str]:
    """Buckets from short to long, domains by name; what is synthesised last."""
    found: dict[str, tuple[Any, ...]] = {}
    for stage in plan["stages"]:
        for s in stage["sources"]:
            for name, _, place in _parts(s, key):
                found[name] = (s["synthesised"], *place)
    return sorted(found, key=lambda name: (found[name], name))


def _style(number: int, key: str, name: str, count: int) -> tuple[str, str]:
    """Colour and hatch: lengths in shades of one colour, so that longer reads darker."""
    if name == "synthesised":
        return "#999999", "//"
    if key == "bucket" and count <= len(_SHADES) + 1:
        return _SHADES[number], ""
    return _COLOURS[number % len(_COLOURS)], _HATCHES[number // len(_COLOURS) % len(_HATCHES)]


def _is_dark(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "black"


def _stage_name(stage: Shown) -> str:
    from gristmill.pipeline.curriculum.cells import length_name

    name = stage["name"] or f"stage {stage['stage']}"
    return f"{name}\n{length_name(stage['context'])}\n{short_tokens(stage['tokens'])}"


def short_tokens(tokens: float) -> str:
    """890000000000 as 890B."""
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if tokens >= size:
            return f"{tokens / size:.3g}{unit}"
    return f"{tokens:.0f}"


def _plain_frame(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
