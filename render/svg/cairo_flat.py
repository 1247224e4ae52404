"""Drawing a flat document (see `flat`) by cairosvg, unwatched and with hard edges. Imported by a child only."""

from typing import Any

import cairocffi as cairo
import numpy as np
import numpy.typing as npt
from cairosvg.parser import Tree
from cairosvg.surface import PNGSurface

from gristmill.render.svg import cairo_gradients, cairo_text

Labels = npt.NDArray[np.uint32]


class _Flat(PNGSurface):
    cairo: Any

    def set_context_size(self, width: float, height: float, viewbox: Any, tree: Any) -> None:
        if tree.parent is None:
            options = self.context.get_font_options()
            options.set_hint_style(cairo.HINT_STYLE_NONE)
            options.set_hint_metrics(cairo.HINT_METRICS_OFF)
            self.context.set_font_options(options)
            # Clips too: a soft clip would mix numbers.
            self.context.set_antialias(cairo.ANTIALIAS_NONE)
        super().set_context_size(width, height, viewbox, tree)

    def draw(self, node: Any) -> None:
        node["text-rendering"] = "geometricPrecision"
        node["shape-rendering"] = "crispEdges"
        super().draw(node)


def colour(number: int) -> str:
    """The colour that stands for a number on a map."""
    return f"#{number:06x}"


def draw(text: str, width: int, height: int) -> Labels:
    """The numbers that the colours of a flat document stand for, 0 where nothing is drawn."""
    surface = _Flat(Tree(bytestring=text.encode()), None, 96, output_width=width, output_height=height)
    surface.cairo.flush()
    memory: Any = surface.cairo.get_data()
    return np.frombuffer(memory, np.uint32).reshape(height, width) & np.uint32(0xFFFFFF)


cairo_gradients.install()
cairo_text.install()
