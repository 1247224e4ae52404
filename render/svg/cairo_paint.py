"""Drawing by cairosvg, watched: each stroke and fill tells its element, its geometry and the pixels that it changed.

Two passes over a document draw the same operations in the same order: `draw_picture` with colours and soft edges,
`draw_map` with one flat number for each operation and hard edges. An operation that is not opaque is taken back from
the map once its pixels are known, so it hides nothing. Elements carry their place in document order as `KEY`; what
`use` and markers draw belongs to the element that has them.

Imported by a child only, after `fonts.with_own_fonts`.
"""

import math
from dataclasses import dataclass
from typing import Any

import cairocffi as cairo
import numpy as np
import numpy.typing as npt
from cairosvg.colors import color
from cairosvg.helpers import paint, size
from cairosvg.parser import Tree
from cairosvg.surface import PNGSurface

from gristmill.render.svg.vocabulary import OPAQUE, UNSEEN

KEY = "data-gristmill-key"
_CHANGED_LEVELS = 6
_INKLESS = frozenset(["svg", "g", "symbol", "use", "a"])

Labels = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
Bounds = tuple[float, float, float, float]


@dataclass
class Crop:
    """A mask and where its top left corner lies."""

    x: int
    y: int
    mask: Mask


@dataclass
class Operation:
    """A fill or stroke, or the letters of a text. `number` counts from 1 in order of drawing; `box` is unclipped.

    `clipped` is the box within what clips it; `crops` are the map's pixels at the time of drawing, the picture's pass
    gives those that changed, None where that cannot be told.
    """

    number: int
    key: int
    opaque: bool
    box: Bounds
    clipped: Bounds
    crops: list[Crop] | None


class _Watched(cairo.Context):
    """A cairo context that tells its surface what it draws."""

    surface: "_Surface"

    def fill_preserve(self) -> None:
        if self.surface.is_painted("fill"):
            self.surface.watch("fill", self.device_box(self.path_extents), super().fill_preserve)

    def stroke(self) -> None:
        if self.surface.is_painted("stroke"):
            self.surface.watch("stroke", self._stroked(), super().stroke)
        else:
            self.new_path()

    def show_text(self, text: str) -> None:
        # The outlines of all letters stand in the path already, for the stroke. Filled at once they have the hard edges
        # of shapes in the map and no hinting anywhere, and cost a tenth.
        if not self.surface.text_done:
            self.surface.text_done = True
            self.fill_preserve()

    def device_box(self, extents: Any) -> Bounds:
        self.save()
        self.identity_matrix()
        box = extents()
        self.restore()
        return box

    def to_device(self, box: Bounds) -> Bounds:
        x0, y0, x1, y1 = box
        points = [self.user_to_device(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [point[0] for point in points], [point[1] for point in points]
        return min(xs), min(ys), max(xs), max(ys)

    def _stroked(self) -> Bounds:
        """Box of the stroke: exact on upright axes, else the smaller of two that hold it."""
        outer = self.to_device(self.stroke_extents())
        matrix = self.get_matrix().as_tuple()
        if min(abs(matrix[1]) + abs(matrix[2]), abs(matrix[0]) + abs(matrix[3])) < 1e-9:
            return outer
        reach = self.get_line_width() / 2 * math.hypot(*matrix[:4])
        if self.get_line_join() == cairo.LINE_JOIN_MITER:
            reach *= min(self.get_miter_limit(), 4)
        x0, y0, x1, y1 = self.device_box(self.path_extents)
        return (
            max(outer[0], x0 - reach),
            max(outer[1], y0 - reach),
            min(outer[2], x1 + reach),
            min(outer[3], y1 + reach),
        )


class _Surface(PNGSurface):
    """What both passes share: whose operation it is, whether it shows, where it lands."""

    cairo: Any

    def __init__(self, body: bytes, width: int, height: int, background: str | None) -> None:
        self.operations: list[Operation] = []
        self.operations_watched = False
        self.node: Any = None
        self.owner: int | None = None
        self.alpha = 1.0
        self.text_done = False
        self.group_depth = 0
        tree = Tree(bytestring=body)
        super().__init__(tree, None, 96, output_width=width, output_height=height, background_color=background)

    def set_context_size(self, width: float, height: float, viewbox: Any, tree: Any) -> None:
        if not self.operations_watched:
            self.operations_watched = True
            self.context = _Watched(self.cairo)
            self.context.surface = self
            options = self.context.get_font_options()
            options.set_hint_style(cairo.HINT_STYLE_NONE)
            options.set_hint_metrics(cairo.HINT_METRICS_OFF)
            self.context.set_font_options(options)
            self.pixels: Labels = np.frombuffer(self.cairo.get_data(), np.uint32).reshape(self.height, self.width)
        super().set_context_size(width, height, viewbox, tree)

    def draw(self, node: Any) -> None:
        if not self.stroke_and_fill:
            super().draw(node)
            return
        saved = self.node, self.owner, self.alpha, self.text_done, self.group_depth
        self.node, self.text_done = node, False
        key = int(node.get(KEY, -1))
        inked = node.tag not in _INKLESS
        if self.owner is None and (node.tag == "use" or (inked and node.tag not in ("text", "tspan", "textPath"))):
            self.owner = key
        # On groups too: text is measured with the options of what stands around it.
        node["text-rendering"] = "geometricPrecision"
        if node.tag == "image":
            self.watch_image(node)
        else:
            self.prepare(node)
            super().draw(node)
        self.node, self.owner, self.alpha, self.text_done, self.group_depth = saved

    def prepare(self, node: Any) -> None:
        """What a pass changes of a node before it is drawn."""
        raise NotImplementedError

    def watch_image(self, node: Any) -> None:
        """Draw a picture inside the document."""
        raise NotImplementedError

    def paint_alphas(self, kind: str) -> tuple[float, float]:
        """How opaque the node's fill or stroke is where it is least and most so; zeros where there is none."""
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

    def watch(self, kind: str, box: Bounds, act: Any) -> None:
        """Do an operation of the current node and note it."""
        clip = self.context.device_box(self.context.clip_extents)
        clipped = max(box[0], clip[0]), max(box[1], clip[1]), min(box[2], clip[2]), min(box[3], clip[3])
        key = self.owner if self.owner is not None else int(self.node.get(KEY, -1))
        operation = Operation(len(self.operations) + 1, key, self.paint_alphas(kind)[0] >= OPAQUE, box, clipped, [])
        self.operations.append(operation)
        x0, y0 = max(math.floor(clipped[0]) - 1, 0), max(math.floor(clipped[1]) - 1, 0)
        x1, y1 = min(math.ceil(clipped[2]) + 1, self.width), min(math.ceil(clipped[3]) + 1, self.height)
        if x0 < x1 and y0 < y1:
            self.perform(operation, (x0, y0, x1, y1), act)
        else:
            act()

    def perform(self, operation: Operation, area: tuple[int, int, int, int], act: Any) -> None:
        """Do an operation and keep what it did to `area`."""
        raise NotImplementedError


class _Picture(_Surface):
    def prepare(self, node: Any) -> None:
        opacity = float(node.get("opacity", 1))
        self.alpha *= opacity
        self.group_depth += opacity < 1 and bool(node.children)

    def watch_image(self, node: Any) -> None:
        box = _image_box(self, node)
        self.operations.append(Operation(len(self.operations) + 1, self.owner or -1, False, box, box, None))
        PNGSurface.draw(self, node)

    def perform(self, operation: Operation, area: tuple[int, int, int, int], act: Any) -> None:
        x0, y0, x1, y1 = area
        self.cairo.flush()
        before = self.pixels[y0:y1, x0:x1].copy()
        act()
        if self.group_depth:
            operation.crops = None
        if operation.crops is None:
            return
        self.cairo.flush()
        old, new = before.view(np.uint8), self.pixels[y0:y1, x0:x1].copy().view(np.uint8)
        changed = (np.maximum(old, new) - np.minimum(old, new)) > _CHANGED_LEVELS
        operation.crops.append(Crop(x0, y0, changed.view(np.uint32) != 0))


class _Map(_Surface):
    def prepare(self, node: Any) -> None:
        self.alpha *= float(node.get("opacity", 1))
        node["opacity"] = 1
        node["shape-rendering"] = "crispEdges"

    def watch_image(self, node: Any) -> None:
        node.tag = "rect"
        node["fill"], node["stroke"], node["fill-opacity"] = "black", "none", 0.5
        self.prepare(node)
        super(_Surface, self).draw(node)

    def perform(self, operation: Operation, area: tuple[int, int, int, int], act: Any) -> None:
        x0, y0, x1, y1 = area
        here = self.pixels[y0:y1, x0:x1]
        number = operation.number
        self.context.set_source_rgb((number >> 16) / 255, (number >> 8 & 255) / 255, (number & 255) / 255)
        before = None
        if not operation.opaque:
            self.cairo.flush()
            before = here.copy()
        act()
        self.cairo.flush()
        assert operation.crops is not None
        operation.crops.append(Crop(x0, y0, (here & 0xFFFFFF) == number))
        if before is not None:
            here[...] = before
            self.cairo.mark_dirty()


def draw_picture(body: bytes, width: int, height: int) -> tuple[npt.NDArray[np.uint8], list[Operation]]:
    """RGB pixels of a document on white, and its operations with what each changed."""
    surface = _Picture(body, width, height, "white")
    surface.cairo.flush()
    rgb = surface.pixels.view(np.uint8).reshape(height, width, 4)[..., 2::-1]
    return np.ascontiguousarray(rgb), surface.operations


def draw_map(body: bytes, width: int, height: int) -> tuple[Labels, list[Operation]]:
    """The number of the uppermost opaque operation at each pixel, 0 for none, and the operations."""
    surface = _Map(body, width, height, None)
    surface.cairo.flush()
    return surface.pixels & np.uint32(0xFFFFFF), surface.operations


def _gradient_alphas(surface: Any, name: str) -> tuple[float, float]:
    """The least and the greatest opacity of a gradient's stops; of the one that it refers to if there are none."""
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


def _image_box(surface: Any, node: Any) -> Bounds:
    x, y = size(surface, node.get("x"), "x"), size(surface, node.get("y"), "y")
    width, height = size(surface, node.get("width"), "x"), size(surface, node.get("height"), "y")
    return surface.context.to_device((x, y, x + width, y + height))
