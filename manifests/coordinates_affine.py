"""Resizing and cropping: one affine for a picture and its annotations, so that they cannot part.

`Affine(window, size)` shows the part `window` of a picture (a box in its pixels) as a picture of `size`:

    x' = (x - window.x0) * size.width / (window.x1 - window.x0), y' likewise.

`resize`, `crop` and `seen_by` (what `manifests.image_tokens` shows a model) make one; `then` joins two.

Annotations are mappings with the columns of `manifests.schema.ANNOTATION`. What a crop does to one:

* its boxes and its polygon are moved and clipped; where the new picture's edge cuts `bbox_full`, it is `truncated`;
* `visible_frac` is multiplied by the share of `bbox_visible` that is left. Where that cuts it below MIN_VISIBLE_FRAC,
  or leaves nothing, the annotation is dropped; one that loses nothing stays however little of it was seen before;
* a `point` that comes to lie outside becomes null: where else the element's own pixels are is not known here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gristmill.manifests.coordinates import Box, Point, Size, area, box_of, clipped, is_point, size_of
from gristmill.manifests.image_tokens import ImageCost

if TYPE_CHECKING:
    from PIL.Image import Image

MIN_VISIBLE_FRAC = 0.3

Annotated = Mapping[str, Any]


@dataclass(frozen=True)
class Affine:
    """See the module. `window` may end between pixels."""

    window: Box
    size: Size

    @property
    def scale(self) -> tuple[float, float]:
        """New pixels per old one, across and down."""
        x0, y0, x1, y1 = self.window
        return self.size.width / (x1 - x0), self.size.height / (y1 - y0)

    def point(self, point: Sequence[float]) -> Point:
        """Where a point comes to lie, in the new picture or beside it."""
        across, down = self.scale
        return (point[0] - self.window[0]) * across, (point[1] - self.window[1]) * down

    def box(self, box: Sequence[float]) -> Box:
        """Where a box comes to lie; not clipped."""
        return (*self.point(box[:2]), *self.point(box[2:]))

    def back(self, point: Sequence[float]) -> Point:
        """Where a point of the new picture lies in the old one."""
        across, down = self.scale
        return point[0] / across + self.window[0], point[1] / down + self.window[1]

    def then(self, other: "Affine") -> "Affine":
        """This one and then the other: a window of the old picture shown at the other's size."""
        return Affine((*self.back(other.window[:2]), *self.back(other.window[2:])), other.size)

    def picture(self, picture: "Image") -> "Image":
        """The picture anew (Lanczos; a crop alone moves pixels and changes none). Raises ValueError where the window
        reaches beyond it."""
        from PIL.Image import Resampling

        window = box_of(self.window, size_of(picture.width, picture.height))
        x0, y0, x1, y1 = map(round, window)
        if (x0, y0, x1, y1) == window and (x1 - x0, y1 - y0) == self.size:
            return picture.crop((x0, y0, x1, y1))
        return picture.resize(self.size, Resampling.LANCZOS, box=window)

    def annotations(self, annotations: Iterable[Annotated]) -> list[dict[str, Any]]:
        """Those that can still be seen, in order; see the module."""
        moved = (self._moved(annotation) for annotation in annotations)
        return [annotation for annotation in moved if annotation is not None]

    def _moved(self, annotation: Annotated) -> dict[str, Any] | None:
        full, visible = self.box(annotation["bbox_full"]), self.box(annotation["bbox_visible"])
        left_full, left = clipped(full, self.size), clipped(visible, self.size)
        if left is None or left_full is None:
            return None
        share = 1.0 if left == visible else area(left) / area(visible)
        frac = _number(annotation.get("visible_frac"), 1.0) * share
        if share < 1 and frac < MIN_VISIBLE_FRAC:
            return None
        point, polygon = annotation.get("point"), annotation.get("polygon")
        at = self.point(point) if point is not None else None
        return {
            **annotation,
            "bbox_full": list(left_full),
            "bbox_visible": list(left),
            "point": list(at) if at is not None and is_point(at, self.size) else None,
            "polygon": self._polygon(polygon) if polygon else None,
            "visible_frac": frac,
            "truncated": bool(annotation.get("truncated")) or left_full != full,
        }

    def _polygon(self, polygon: Sequence[float]) -> list[float] | None:
        """x, y, x, y, ... moved and clipped (Sutherland and Hodgman 1974: a concave one that the edge cuts in two keeps
        a seam along it); None where less than a triangle is left."""
        corners = [self.point(polygon[i : i + 2]) for i in range(0, len(polygon) - 1, 2)]
        for axis, side in ((0, self.size.width), (1, self.size.height)):
            corners = _beyond(corners, axis, 0.0, 1.0)
            corners = _beyond(corners, axis, float(side), -1.0)
        return [number for corner in corners for number in corner] if len(corners) > 2 else None


def resize(size: Size, to: Size) -> Affine:
    """The whole picture at another size."""
    return Affine((0.0, 0.0, float(size.width), float(size.height)), size_of(*to))


def crop(size: Size, left: int, top: int, to: Size) -> Affine:
    """The part of size `to` whose corner lies at (left, top). Raises ValueError where it reaches beyond the picture."""
    return Affine(box_of((left, top, left + to.width, top + to.height), size), size_of(*to))


def seen_by(cost: ImageCost, size: Size) -> Affine:
    """The picture at the size at which a model is shown it."""
    return resize(size, Size(*cost.resized(*size)))


def shown(affine: Affine, picture: "Image", annotations: Iterable[Annotated]) -> tuple["Image", list[dict[str, Any]]]:
    """Picture and annotations together: the one way to change either."""
    return affine.picture(picture), affine.annotations(annotations)


def _number(value: Any, otherwise: float) -> float:
    return otherwise if value is None else float(value)


def _beyond(corners: Sequence[Point], axis: int, bound: float, sign: float) -> list[Point]:
    """The part of a polygon where sign * (coordinate - bound) >= 0."""
    kept: list[Point] = []
    for i, corner in enumerate(corners):
        before = corners[i - 1]
        was, now = sign * (before[axis] - bound), sign * (corner[axis] - bound)
        if (was >= 0) != (now >= 0):
            part = was / (was - now)
            cut = [b + (c - b) * part for b, c in zip(before, corner, strict=True)]
            cut[axis] = bound
            kept.append((cut[0], cut[1]))
        if now >= 0:
            kept.append(corner)
    return kept
