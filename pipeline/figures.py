"""Plots as PNG: figures without a display, and bytes that are the same for the same numbers."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 110


def new_figure(width: float, height: float) -> "tuple[Figure, Axes]":
    """A figure of that size in inches, and its one pair of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def png_of(figure: "Figure") -> bytes:
    """The figure; no name or date of what made it stands in it."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=_DPI, metadata={"Software": None})
    return out.getvalue()
