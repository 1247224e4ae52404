"""The picture of `stage tune`: one panel a rule, share kept against limit, the present limit marked."""

from collections.abc import Sequence
from pathlib import Path

from gristmill.pipeline.trial.tune import Curve, Stored, margin

COLUMNS = 3
LONG_TAIL = 50.0
"""Times that the largest limit is the present one, or the median of all, before an axis is logarithmic."""
PANEL_INCHES = (4.2, 3.2)


def draw(stored: Stored, found: Sequence[Curve], path: Path) -> None:
    """Write a PNG (or whatever the suffix names)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(found))
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"{stored.dataset}.{stored.step}: {stored.measured} of {stored.records} records measured")
    for index, curve in enumerate(found):
        axes = figure.add_subplot(rows, columns, index + 1)
        limits = [point.limit for point in curve.points]
        shares = [point.alone for point in curve.points]
        wide = [margin(share, stored.measured) for share in shares]
        axes.fill_between(
            limits,
            [max(0.0, s - w) for s, w in zip(shares, wide, strict=True)],
            [min(1.0, s + w) for s, w in zip(shares, wide, strict=True)],
            alpha=0.2,
            step=None,
        )
        axes.plot(limits, shares, marker=".", label="this rule alone")
        axes.plot(limits, [point.together for point in curve.points], marker=".", label="all rules")
        axes.axvline(curve.rule["limit"], color="black", linestyle="--", linewidth=1)
        axes.set_title(f"{curve.rule['reason']}: {curve.now.alone:.1%} at {curve.rule['limit']:g}", fontsize=9)
        axes.set_xlabel(f"drop {curve.rule['direction']} this {curve.rule['measure']}", fontsize=8)
        axes.set_ylabel("share kept", fontsize=8)
        axes.set_ylim(-0.02, 1.02)
        if is_long_tailed(limits, curve.rule["limit"]):
            # Linear up to 1, logarithmic above: a limit of 50 words is seen beside texts of 10,000.
            axes.set_xscale("symlog", linthresh=1.0)
            axes.set_xlim(left=min(limits))
        if index == 0:
            axes.legend(fontsize=7)
    figure.savefig(path, dpi=110, metadata={"Software": None} if path.suffix == ".png" else None)


def is_long_tailed(limits: Sequence[float], now: float) -> bool:
    """Whether an axis of these limits, one of them the present one, is to be logarithmic."""
    middle = sorted(limits)[len(limits) // 2]
    return len(limits) > 2 and min(limits) >= 0 and max(limits) > LONG_TAIL * max(1.0, min(abs(now), middle))
