"""Where the judge sees an element: id maps of the document that it has recoloured itself, drawn as they are needed.

cairo draws them, from other code than the one that named the elements: own cascade, own copies for `use` and markers.
Its geometry is what resvg's picture is held against. In audited samples resvg draws the maps as well:
it takes four times as long.

The first map has all paints, also those that are not opaque. It is right for all but elements under such paints; these
are looked for in a second map without them, and at last each in a map of its own where nothing else is soft.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from gristmill.render.svg import resvg_paint
from gristmill.render.svg.alone import Alone, Orders, alone, uppermost
from gristmill.render.svg.compare import any_channel, difference
from gristmill.render.svg.flat import Flat
from gristmill.render.svg.naming import Named, in_order
from gristmill.render.svg.places import bounds
from gristmill.render.svg.second import Second
from gristmill.render.svg.tables import Box, Labels, Table, table, union

BOX_SLACK_PX = 1.0
_MAX_EXTRA_DRAWINGS = 24
_HAIR_PX = 1
_FAINT_LEVELS = 2

Mask = npt.NDArray[np.bool_]


class Truth:
    """The maps of a document, by resvg or by cairo. `root` is changed; `second` is resvg's picture."""

    def __init__(self, root: etree._Element, second: Second, has_text: bool, by_resvg: bool) -> None:
        self._by_resvg = by_resvg
        self.second = second
        self._has_text = has_text
        self._text = etree.tostring(root)
        self._keys = len(in_order(root))
        self._flat = Flat(root)
        self._left = _MAX_EXTRA_DRAWINGS
        self._told: list[Any] = []
        self._alone: dict[int, Alone | None] = {}
        self.whole = self._drawn_whole()
        self.whole_table = table(self.whole, self._keys)

    def alone(self, one: Named) -> Alone | None:
        """An element as it would be alone; None where it draws nothing."""
        if one.key not in self._alone:
            self._alone[one.key] = alone(self._told, self._upper, one)
        return self._alone[one.key]

    @cached_property
    def _upper(self) -> Orders:
        return uppermost(self._told, self.second.size)

    @cached_property
    def opaque(self) -> Labels | None:
        """The map of opaque paints alone; None where all are."""
        return self._drawn(lambda _: False) if self._flat.soft_keys else None

    @cached_property
    def _both(self) -> Table:
        opaque = self.opaque
        return self.whole_table if opaque is None else union(self.whole_table, table(opaque, self._keys))

    def views(self, one: Named) -> Iterator[tuple[int, Box | None, list[Labels]]]:
        """Pixels and box of an element, with the maps that they are from; each view sees more than the one before."""
        yield *self.whole_table.of(one.key, one.end), [self.whole]
        if self.opaque is None:
            return
        maps = [self.whole, self.opaque]
        yield *self._both.of(one.key, one.end), maps
        if self._left and any(one.key <= key < one.end for key in self._flat.soft_keys):
            self._left -= 1
            alone = self._drawn(lambda key: one.key <= key < one.end)
            yield *union(self._both, table(alone, self._keys)).of(one.key, one.end), [*maps, alone]

    def changed_without(self, ranges: Sequence[tuple[int, int]], levels: int = _FAINT_LEVELS) -> Mask | None:
        """The pixels of the judge's picture that change when elements are removed; None when too many were tried."""
        if not self._left:
            return None
        self._left -= 1
        root = etree.fromstring(self._text)
        starts = {start for start, _ in ranges}
        for key, element in enumerate(in_order(root)):
            if key in starts:
                element.set("style", f"{element.get('style') or ''};display:none".lstrip(";"))
        bare = resvg_paint.draw(etree.tostring(root, encoding="unicode"), self._has_text)
        return any_channel(difference(bare, self.second.full) > levels)

    def is_hair(self, one: Named, box: Sequence[float], truth: Box, maps: Sequence[Labels]) -> bool:
        """Whether a box is off only where the element is thinner than a pixel, and engines see its tips differently.

        What the maps have outside the box must be such hair: at most one pixel for each pixel of length. What the box
        has beyond the maps must change when the element is removed from the judge's picture.
        """
        mask = np.zeros(self.whole.shape, np.bool_)
        for map_ in maps:
            mask |= (map_ > one.key) & (map_ <= one.end)
        x0, y0, x1, y1 = (max(round(side), 0) for side in box)
        for strip, length in (
            (mask[:, :x0], x0 - truth[0]),
            (mask[:y0], y0 - truth[1]),
            (mask[:, x1:], truth[2] - x1),
            (mask[y1:], truth[3] - y1),
        ):
            if length > BOX_SLACK_PX and np.count_nonzero(strip) > length * _HAIR_PX:
                return False
        if max(truth[0] - x0, truth[1] - y0, x1 - truth[2], y1 - truth[3]) <= BOX_SLACK_PX:
            return True
        changed = self.changed_without([(one.key, one.end)])
        soft = bounds(changed) if changed is not None else None
        return soft is not None and max(soft[0] - x0, soft[1] - y0, x1 - soft[2], y1 - soft[3]) <= BOX_SLACK_PX

    def _drawn_whole(self) -> Labels:
        """The map with all paints, and what cairo tells of each."""
        from gristmill.render.svg import cairo_flat

        text = self._flat.document(lambda _: True, cairo_flat.colour)
        whole, self._told = cairo_flat.draw_told(text, *self.second.size)
        return self._drawn(lambda _: True) if self._by_resvg else whole

    def _drawn(self, shows: Callable[[int], bool]) -> Labels:
        if self._by_resvg:
            text = self._flat.document(shows, resvg_paint.colour)
            return resvg_paint.labels(resvg_paint.draw(text, self._has_text, hard_edges=True))
        from gristmill.render.svg import cairo_flat

        width, height = self.second.size
        return cairo_flat.draw(self._flat.document(shows, cairo_flat.colour), width, height)


def box_off(box: Sequence[float], truth: Sequence[float] | None) -> float:
    """The farthest that a side is off; inf where there is no box."""
    if truth is None:
        return math.inf
    return max(abs(a - b) for a, b in zip(box, truth, strict=True))


def is_hit(maps: Sequence[Labels], point: Sequence[float], one: Named) -> bool:
    """Whether one of the pixels at or beside a point is the element's: engines differ in which pixel a hair has."""
    x, y = math.floor(point[0]), math.floor(point[1])
    for map_ in maps:
        near = map_[max(y - 1, 0) : max(y + 2, 0), max(x - 1, 0) : max(x + 2, 0)]
        if np.any((near > one.key) & (near <= one.end)):
            return True
    return False
