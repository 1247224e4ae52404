"""Plots of a classifier: reliability diagram, histogram of scores. PNG bytes, the same for the same numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gristmill.pipeline.figures import new_figure, png_of
from gristmill.stages.protocol import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 40
# Okabe and Ito 2008: told apart by people who are colour-blind, and in grey.
_BEFORE, _AFTER = "#999999", "#0072B2"
_NEGATIVE, _POSITIVE = "#D55E00", "#009E73"


def reliability_png(report: Mapping[str, Any], title: str) -> bytes:
    """Share of positives against predicted probability, before and after calibration, with 95 % intervals."""
    figure, axes = new_figure(5.5, 5)
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":", label="perfect")
    _curve(axes, report["before"], _BEFORE, "raw", False)
    _curve(axes, report["after"], _AFTER, "calibrated", True)
    axes.set(xlabel="predicted probability of good", ylabel="share of good documents", title=title)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.05, 1.02)
    axes.set_aspect("equal")
    axes.legend(loc="upper left", fontsize=8, framealpha=0.9)
    return png_of(figure)


def scores_png(scores: Floats, positive: Floats, threshold: float, title: str) -> bytes:
    """How many documents of either class have which score, and the threshold."""
    from matplotlib.ticker import ScalarFormatter

    figure, axes = new_figure(5.5, 5)
    edges = np.linspace(0, 1, _BINS + 1).tolist()
    for value, colour, name in ((0, _NEGATIVE, "bad"), (1, _POSITIVE, "good")):
        chosen = scores[positive == value]
        axes.hist(chosen, bins=edges, color=colour, alpha=0.6, label=f"{name} ({len(chosen)})")
    axes.axvline(threshold, color="black", linewidth=1, label=f"threshold {threshold:.4g}")
    axes.set_yscale("symlog", linthresh=10)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.set(xlabel="score", ylabel="documents (linear below 10)", title=title)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8, framealpha=0.9, loc="upper center")
    return png_of(figure)


def _curve(axes: "Axes", part: Mapping[str, Any], colour: str, name: str, detailed: bool) -> None:
    """The bins as a line; with intervals and numbers of documents where `detailed`."""
    bins: Sequence[Mapping[str, float]] = part["reliability"]
    x = [one["mean_score"] for one in bins]
    y = np.array([one["positive_frac"] for one in bins])
    label = f"{name}: ECE {part['ece']:.3f}, Brier {part['brier']:.3f}"
    if not detailed:
        axes.plot(x, y, color=colour, marker="o", markersize=3, linewidth=1, label=label)
        return
    low = y - np.array([one["positive_low"] for one in bins])
    high = np.array([one["positive_high"] for one in bins]) - y
    spread = np.clip([low, high], 0, None)
    axes.errorbar(x, y, spread, color=colour, marker="o", markersize=4, linewidth=1.2, capsize=2, label=label)
    for one, at in zip(bins, x, strict=True):
        axes.annotate(
            f"{one['docs']:.0f}",
            (at, one["positive_frac"]),
            (3, -9),
            textcoords="offset points",
            fontsize=6,
            color=colour,
        )
