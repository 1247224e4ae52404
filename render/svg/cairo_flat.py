"""Drawing a flat document (see `flat`) by cairosvg, with hard edges. Imported by a child only.

`draw` gives the map alone. `draw_told` also tells each fill and stroke: what it drew before others covered it, and its
geometry, worked out in the picture's own pixels.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cairocffi as cairo
import numpy as np
import numpy.typing as npt
from cairosvg.helpers import size
from cairosvg.parser import Tree
from cairosvg.surface import PNGSurface

from gristmill.render.svg import cairo_gradients, cairo_memo, cairo_text
from gristmill.render.svg.flat import SOFT
from gristmill.render.svg.stroke_box import device_box

Labels = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
Bounds = tuple[float, float, float, float]

_LETTERS = frozenset(["text", "tspan", "textPath"])
_COLOUR = np.uint32(0xFFFFFF)
_SIMILAR = 1e-6


@dataclass(frozen=True)
class Told:
    """A fill or stroke of the element `key`. `box` is its geometry, `clip` what its clips leave; both in pixels.

    `own` are its pixels when it was drawn, from (x, y); None where it lies outside the picture. `is_text`: letters.
    `is_opaque`: it hides what is below it in the picture, not in the map alone.
    """

    key: int
    is_opaque: bool
    box: Bounds
    clip: Bounds
    is_text: bool
    x: int = 0
    y: int = 0
    own: Mask | None = None


class _Flat(PNGSurface):
    cairo: Any

    def set_context_size(self, width: float, height: float, viewbox: Any, tree: Any) -> None:
        if tree.parent is None:
            self.begin()
            options = self.context.get_font_options()
            options.set_hint_style(cairo.HINT_STYLE_NONE)
            options.set_hint_metrics(cairo.HINT_METRICS_OFF)
            self.context.set_font_options(options)
            # Clips too: a soft clip would mix numbers.
            self.context.set_antialias(cairo.ANTIALIAS_NONE)
        super().set_context_size(width, height, viewbox, tree)

    def begin(self) -> None:
        """What a surface does before its root is looked at."""

    def draw(self, node: Any) -> None:
        node["text-rendering"] = "geometricPrecision"
        node["shape-rendering"] = "crispEdges"
        super().draw(node)


class _Telling(cairo.Context):
    """A context that tells its surface of each fill and stroke."""

    def __init__(self, target: Any, surface: "_Told") -> None:
        super().__init__(target)
        self.surface = surface

    def fill_preserve(self) -> None:
        key = self.surface.painted("fill")
        if key < 0:
            super().fill_preserve()
        else:
            self.surface.tell((key, "fill"), self._places(False), super().fill_preserve)

    def stroke(self) -> None:
        key = self.surface.painted("stroke")
        if key < 0:
            super().stroke()
        else:
            self.surface.tell((key, "stroke"), self._places(True), super().stroke)

    def _places(self, is_stroke: bool) -> tuple[Bounds, Bounds]:
        """Boxes of the path and of the clip, in pixels."""
        self.save()
        matrix = self.get_matrix().as_tuple()
        xx, yx, xy, yy = matrix[:4]
        scale = math.sqrt(abs(xx * yy - xy * yx))
        is_similar = abs(abs(xx) - abs(yy)) + abs(abs(xy) - abs(yx)) <= _SIMILAR * scale
        outer = None if is_similar or not is_stroke else self._outer()
        self.identity_matrix()
        if is_stroke and is_similar:
            self._scale_pen(scale)
        box = outer or (self.stroke_extents() if is_stroke else self.path_extents())
        clip = self.clip_extents()
        self.restore()
        return box, clip

    def _scale_pen(self, scale: float) -> None:
        """Give the pen the width and dashes that it has in pixels."""
        self.set_line_width(self.get_line_width() * scale)
        dashes, offset = self.get_dash()
        if dashes:
            self.set_dash([dash * scale for dash in dashes], offset * scale)

    def _outer(self) -> Bounds:
        """The box of a stroke under a matrix that changes angles, or one that holds it."""
        x0, y0, x1, y1 = self.stroke_extents()
        exact = device_box((x0, y0, x1, y1), self.get_matrix().as_tuple())
        if exact is not None:
            return exact
        points = [self.user_to_device(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [point[0] for point in points], [point[1] for point in points]
        return min(xs), min(ys), max(xs), max(ys)


class _Told(_Flat):
    """A flat document's surface that keeps what it was told."""

    def begin(self) -> None:
        self.told: list[Told] = []
        self.keys: set[int] = set()
        self.node: Any = None
        memory: Any = self.cairo.get_data()
        self.numbers: Labels = np.frombuffer(memory, np.uint32).reshape(int(self.height), int(self.width))
        self.context = _Telling(self.cairo, self)

    def draw(self, node: Any) -> None:
        above, self.node = self.node, node
        super().draw(node)
        self.node = above

    def painted(self, kind: str) -> int:
        """The key that the colour of the node's fill or stroke stands for, -1 where it has none."""
        node = self.node
        number = str(node.get(kind, ""))
        if not self.stroke_and_fill or not number.startswith("#"):
            return -1
        if kind == "stroke" and size(self, node.get("stroke-width", "1")) <= 0:
            return -1
        return int(number[1:], 16) - 1

    def tell(self, paint: tuple[int, str], places: tuple[Bounds, Bounds], act: Callable[[], None]) -> None:
        """Draw (key, fill or stroke) and note it; what has no geometry is not noted."""
        key, kind = paint
        box, clip = places
        x0, y0 = (max(math.floor(max(box[side], clip[side], 0)) - 1, 0) for side in (0, 1))
        x1 = min(math.ceil(min(box[2], clip[2])) + 1, self.numbers.shape[1])
        y1 = min(math.ceil(min(box[3], clip[3])) + 1, self.numbers.shape[0])
        is_opaque = kind not in str(self.node.get(SOFT, "")).split()
        is_text = self.node.tag in _LETTERS
        if box[0] == box[2] and box[1] == box[3]:
            act()
        elif x0 >= x1 or y0 >= y1:
            act()
            self.told.append(Told(key, is_opaque, box, clip, is_text))
        else:
            own = self._drawn(key, self.numbers[y0:y1, x0:x1], act)
            self.told.append(Told(key, is_opaque, box, clip, is_text, x0, y0, own))

    def _drawn(self, key: int, here: Labels, act: Callable[[], None]) -> Mask:
        """Draw, and which pixels that drew: those that had the number already are cleared for the while."""
        before: Mask | None = None
        if key in self.keys:
            self.cairo.flush()
            before = (here & _COLOUR) == key + 1
            here[before] = 0
            self.cairo.mark_dirty()
        self.keys.add(key)
        act()
        self.cairo.flush()
        own = (here & _COLOUR) == key + 1
        if before is not None:
            here[before] = key + 1
            self.cairo.mark_dirty()
        return own


def colour(number: int) -> str:
    """The colour that stands for a number on a map."""
    return f"#{number:06x}"


def draw(text: str, width: int, height: int) -> Labels:
    """The numbers that the colours of a flat document stand for, 0 where nothing is drawn."""
    return _numbers(_Flat(Tree(bytestring=text.encode()), None, 96, output_width=width, output_height=height))


def draw_told(text: str, width: int, height: int) -> tuple[Labels, list[Told]]:
    """As `draw`, and each fill and stroke in order of drawing."""
    surface = _Told(Tree(bytestring=text.encode()), None, 96, output_width=width, output_height=height)
    return _numbers(surface), surface.told


def _numbers(surface: Any) -> Labels:
    surface.cairo.flush()
    memory: Any = surface.cairo.get_data()
    return np.frombuffer(memory, np.uint32).reshape(int(surface.height), int(surface.width)) & _COLOUR


cairo_memo.install()
cairo_gradients.install()
cairo_text.install()
