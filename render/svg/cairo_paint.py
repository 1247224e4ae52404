"""Drawing by cairosvg, watched: each stroke and fill tells its element, its geometry and the pixels that it changed.

One pass draws two things: the picture, and a map on which each operation has one flat number and hard edges. Clips and
states of the picture's context are repeated on the map's. An operation that is not opaque is taken back from the map
once its pixels are known, so it hides nothing. Elements carry their place in document order as `KEY`; what `use` and
markers draw belongs to the element that has them.

Imported by a child only, after `fonts.with_own_fonts`.
"""

import math
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

import cairocffi as cairo
import numpy as np
import numpy.typing as npt
from cairosvg.helpers import size
from cairosvg.parser import Tree
from cairosvg.surface import PNGSurface

from gristmill.render.svg import cairo_gradients, cairo_memo, cairo_text
from gristmill.render.svg.cairo_memo import color, paint
from gristmill.render.svg.stroke_box import device_box
from gristmill.render.svg.vocabulary import OPAQUE, UNSEEN

KEY = "data-gristmill-key"
_CHANGED_LEVELS = 6
_STRIP_PX = 1 << 14
_INKLESS = frozenset(["svg", "g", "symbol", "use", "a"])
_SPREADING = frozenset(["text", "tspan", "textPath"])
_LIBRARY: Any = cairo.cairo

Pixels = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
Bounds = tuple[float, float, float, float]
Act = Callable[[], Any]


@dataclass
class Operation:
    """A fill or stroke. `number` counts from 1 in order of drawing; `box` is its geometry, `clipped` within its clips.

    `mask` are its pixels on the map when it was drawn, with the top left corner at (x, y); `changed` those of the
    picture that it changed, None where that cannot be told. Both are None where it lies outside the picture, or nobody
    asked for its element. `is_text`: it sets letters.
    """

    number: int
    key: int
    opaque: bool
    box: Bounds
    clipped: Bounds
    is_text: bool
    x: int = 0
    y: int = 0
    mask: Mask | None = None
    changed: Mask | None = None


class _Watched(cairo.Context):
    """A cairo context that tells its surface what it draws and keeps a map's context in the same state."""

    def __init__(self, target: Any, surface: "_Surface", map_: Any) -> None:
        super().__init__(target)
        self.surface = surface
        self.map = map_

    def save(self) -> None:
        super().save()
        self.map.save()

    def restore(self) -> None:
        super().restore()
        self.map.restore()

    def clip(self) -> None:
        self.copy_outline()
        self.map.set_fill_rule(self.get_fill_rule())
        self.map.clip()
        super().clip()

    def fill_preserve(self) -> None:
        if self.surface.is_painted("fill"):
            self.surface.watch("fill", self.device_box(), super().fill_preserve)

    def stroke(self) -> None:
        if self.surface.is_painted("stroke"):
            self.surface.watch("stroke", self.stroked_box(), super().stroke)
        else:
            self.new_path()

    def paint_with_alpha(self, alpha: float) -> None:
        node = self.surface.node
        if node.tag != "image":
            super().paint_with_alpha(alpha)
            return
        self.new_path()
        self.rectangle(0, 0, node.image_width, node.image_height)
        box = self.device_box()
        self.surface.watch("image", box, lambda: super(_Watched, self).paint_with_alpha(alpha))
        self.new_path()

    def copy_outline(self) -> None:
        """Make the path the map's, which lives in pixels."""
        matrix = self.get_matrix()
        self.identity_matrix()
        self.map.new_path()
        path = _LIBRARY.cairo_copy_path(self._pointer)
        _LIBRARY.cairo_append_path(self.map._pointer, path)
        _LIBRARY.cairo_path_destroy(path)
        self.set_matrix(matrix)

    def device_box(self) -> Bounds:
        """The path's box in pixels."""
        matrix = self.get_matrix()
        self.identity_matrix()
        box = self.path_extents()
        self.set_matrix(matrix)
        return box

    def stroked_box(self) -> Bounds:
        """Box of the stroke in pixels: exact but where slanted axes stand near 45 degrees.

        There it is the smaller of two that hold it.
        """
        x0, y0, x1, y1 = self.stroke_extents()
        points = [self.user_to_device(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [point[0] for point in points], [point[1] for point in points]
        outer = min(xs), min(ys), max(xs), max(ys)
        matrix = self.get_matrix().as_tuple()
        if (x0, y0) == (x1, y1):
            return outer
        if min(abs(matrix[1]) + abs(matrix[2]), abs(matrix[0]) + abs(matrix[3])) < 1e-9:
            return outer
        if abs(abs(matrix[0]) - abs(matrix[3])) + abs(abs(matrix[1]) - abs(matrix[2])) < 1e-9:
            return self._turned_stroke_box(math.hypot(*matrix[:2]))
        exact = device_box((x0, y0, x1, y1), matrix)
        if exact is not None:
            return exact
        reach = self.get_line_width() / 2 * math.hypot(*matrix[:4])
        if self.get_line_join() == cairo.LINE_JOIN_MITER:
            reach *= min(self.get_miter_limit(), 4)
        x0, y0, x1, y1 = self.device_box()
        return (
            max(outer[0], x0 - reach),
            max(outer[1], y0 - reach),
            min(outer[2], x1 + reach),
            min(outer[3], y1 + reach),
        )

    def _turned_stroke_box(self, scale: float) -> Bounds:
        """Box of the stroke in pixels where the axes are turned and all lengths grow by `scale`."""
        self.save()
        self.identity_matrix()
        self.set_line_width(self.get_line_width() * scale)
        dashes, offset = self.get_dash()
        self.set_dash([dash * scale for dash in dashes], offset * scale)
        box = self.stroke_extents()
        self.restore()
        return box

    def stroke_map(self) -> None:
        """Stroke the map's path as this context would."""
        map_ = self.map
        map_.set_matrix(self.get_matrix())
        map_.set_line_width(self.get_line_width())
        map_.set_line_cap(self.get_line_cap())
        map_.set_line_join(self.get_line_join())
        map_.set_miter_limit(self.get_miter_limit())
        map_.set_dash(*self.get_dash())
        map_.stroke()
        map_.identity_matrix()


class _Surface(PNGSurface):
    """The picture's surface, with the map beside it."""

    cairo: Any

    def __init__(self, body: bytes, width: int, height: int, asked: Container[int]) -> None:
        self.asked = asked
        self.operations: list[Operation] = []
        self.node: Any = None
        self.owner: int | None = None
        self.alpha = 1.0
        self.group_depth = 0
        self.is_watched = False
        self.map_surface = cairo.ImageSurface(cairo.FORMAT_RGB24, width, height)
        self.numbers: Pixels = np.frombuffer(_memory(self.map_surface), np.uint32).reshape(height, width)
        tree = Tree(bytestring=body)
        super().__init__(tree, None, 96, output_width=width, output_height=height, background_color="white")

    def set_context_size(self, width: float, height: float, viewbox: Any, tree: Any) -> None:
        if not self.is_watched:
            self.is_watched = True
            map_ = cairo.Context(self.map_surface)
            map_.set_antialias(cairo.ANTIALIAS_NONE)
            self.context = _Watched(self.cairo, self, map_)
            options = self.context.get_font_options()
            options.set_hint_style(cairo.HINT_STYLE_NONE)
            options.set_hint_metrics(cairo.HINT_METRICS_OFF)
            self.context.set_font_options(options)
            self.pixels: Pixels = np.frombuffer(_memory(self.cairo), np.uint32).reshape(self.height, self.width)
        super().set_context_size(width, height, viewbox, tree)

    def draw(self, node: Any) -> None:
        if not self.stroke_and_fill:
            super().draw(node)
            return
        saved = self.node, self.owner, self.alpha, self.group_depth
        self.node = node
        if self.owner is None and (node.tag == "use" or (node.tag not in _INKLESS and node.tag not in _SPREADING)):
            self.owner = int(node.get(KEY, -1))
        # On groups too: text is measured with the options of what stands around it.
        node["text-rendering"] = "geometricPrecision"
        opacity = float(node.get("opacity", 1))
        self.alpha *= opacity
        self.group_depth += opacity < 1 and bool(node.children)
        super().draw(node)
        self.node, self.owner, self.alpha, self.group_depth = saved

    def paint_alphas(self, kind: str) -> tuple[float, float]:
        """How opaque the node's fill or stroke is where it is least and most so; zeros where there is none."""
        if kind == "image":
            return 0.0, self.alpha
        node = self.node
        source, plain = paint(node.get(kind, "black" if kind == "fill" else None))
        own = float(node.get(f"{kind}-opacity", 1)) * self.alpha
        if source is not None and source in self.gradients:
            least, most = _gradient_alphas(self, source)
            return own * least, own * most
        if source in self.patterns:
            return 0.0, own
        alpha = own * color(plain)[3] if plain not in (None, "none") else 0.0
        return alpha, alpha

    def is_painted(self, kind: str) -> bool:
        """Whether the node has such a paint, and a stroke a width."""
        if self.node.tag in _INKLESS or not self.stroke_and_fill:
            return False
        if kind == "stroke" and size(self, self.node.get("stroke-width", "1")) <= 0:
            return False
        return self.paint_alphas(kind)[1] > UNSEEN

    def watch(self, kind: str, box: Bounds, act: Act) -> None:
        """Do an operation of the current node, on the picture and on the map, and note it.

        One of no geometry is not noted: its box is the origin (a `text` whose words stand in `tspan`s has such a one).
        """
        if box[0] == box[2] and box[1] == box[3]:
            act()
            return
        clip = self.context.map.clip_extents()
        clipped = max(box[0], clip[0]), max(box[1], clip[1]), min(box[2], clip[2]), min(box[3], clip[3])
        key = self.owner if self.owner is not None else int(self.node.get(KEY, -1))
        is_opaque, is_text = self.paint_alphas(kind)[0] >= OPAQUE, self.node.tag in _SPREADING
        operation = Operation(len(self.operations) + 1, key, is_opaque, box, clipped, is_text)
        self.operations.append(operation)
        x0, y0 = max(math.floor(clipped[0]) - 1, 0), max(math.floor(clipped[1]) - 1, 0)
        x1, y1 = min(math.ceil(clipped[2]) + 1, self.width), min(math.ceil(clipped[3]) + 1, self.height)
        if x0 >= x1 or y0 >= y1:
            act()
            return
        operation.x, operation.y = x0, y0
        area = (slice(y0, y1), slice(x0, x1))
        is_asked = key in self.asked
        if is_asked or is_opaque:
            self._put_on_map(operation, kind, area)
        if self.group_depth or not is_asked:
            act()
        else:
            self._put_on_picture(operation, area, act)

    def _put_on_picture(self, operation: Operation, area: tuple[slice, slice], act: Act) -> None:
        self.cairo.flush()
        here = self.pixels[area]
        before = here.copy()
        act()
        self.cairo.flush()
        operation.changed = _changed(before, here)

    def _put_on_map(self, operation: Operation, kind: str, area: tuple[slice, slice]) -> None:
        number, here, map_ = operation.number, self.numbers[area], self.context.map
        map_.set_source_rgb((number >> 16) / 255, (number >> 8 & 255) / 255, (number & 255) / 255)
        before = None if operation.opaque else here.copy()
        self.context.copy_outline()
        if kind == "stroke":
            self.context.stroke_map()
        else:
            map_.set_fill_rule(self.context.get_fill_rule())
            map_.fill()
        self.map_surface.flush()
        if operation.key in self.asked:
            operation.mask = (here & np.uint32(0xFFFFFF)) == number
        if before is not None:
            here[...] = before
            self.map_surface.mark_dirty()


def draw(body: bytes, width: int, height: int, asked: Container[int] = ()) -> tuple[Any, Pixels, list[Operation]]:
    """The picture on white (pixels as cairo keeps them: BGRX), the map and the operations.

    The map has at each pixel the number of the uppermost opaque operation, 0 for none. Masks are told of
    operations of the elements `asked` for alone.
    """
    surface = _Surface(body, width, height, asked)
    surface.cairo.flush()
    # Copies: the surface's memory goes with it, whoever still looks at it.
    return surface.pixels.copy(), surface.numbers & np.uint32(0xFFFFFF), surface.operations


def _changed(before: Pixels, after: Pixels) -> Mask:
    """Pixels that differ by more than a few levels in some channel; in strips, which the processor's cache holds."""
    found = np.empty(before.shape, np.bool_)
    rows = max(1, _STRIP_PX // before.shape[1])
    for top in range(0, len(before), rows):
        strip = slice(top, top + rows)
        old, new = before[strip].view(np.uint8), after[strip].view(np.uint8)
        high = np.maximum(old, new)
        high -= np.minimum(old, new, out=old)
        np.not_equal((high > _CHANGED_LEVELS).view(np.uint32), 0, out=found[strip])
    return found


def _memory(surface: Any) -> Any:
    return surface.get_data()


def _gradient_alphas(surface: Any, name: str) -> tuple[float, float]:
    """Least and greatest opacity of a gradient's stops; those of the one that it refers to where it has none."""
    for _ in range(16):
        node = surface.gradients.get(name)
        if node is None:
            break
        stops = [child for child in node.children if child.tag == "stop"]
        alphas = [color(s.get("stop-color", "black"))[3] * float(s.get("stop-opacity", 1)) for s in stops]
        if alphas:
            return min(alphas), max(alphas)
        name = str(node.get_href() or "").lstrip("#")
    return 0.0, 0.0


cairo_memo.install()
cairo_gradients.install()
cairo_text.install()
