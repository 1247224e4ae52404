"""The child that judges: a second engine's picture and id map, and what annotations are off by against them.

Request: text, width, height, parts, `rows` (annotations as `draw_child.row` writes them), `audit`, the picture's PNG as
blob. Answer: `measures` by name, `notes`; or `refused`.
"""

import io
import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree
from PIL import Image

from gristmill.render.svg import compare, resvg_paint
from gristmill.render.svg.contrast import contrast, ink_frac, text_colours
from gristmill.render.svg.draw_child import set_size
from gristmill.render.svg.flat import Flat
from gristmill.render.svg.naming import Named, in_order, named, says
from gristmill.render.svg.places import bounds
from gristmill.render.svg.sanitise import check, local
from gristmill.render.svg.tables import Table, table, union
from gristmill.render.svg.vocabulary import TEXTS, Refused
from gristmill.render.svg.wire import Message, pack, unpack

AREA_PX = 256 * 256
_BOX_SLACK_PX = 1.0
_MAX_ALONE = 24
_HAIR_PX = 1
_FAINT_LEVELS = 2
_PAD_PX = 3

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int32]
Box = tuple[int, int, int, int]


@dataclass
class _Case:
    """All that is known of the record under judgement. `soft` is the map with paints that are not opaque, if any."""

    size: tuple[int, int]
    mine: Pixels
    theirs: Pixels
    opaque: Labels
    soft: Labels | None
    truth: Table
    alone: Callable[[Named], tuple[int, Box | None, Labels | None]]
    without: Callable[[Named], Pixels | None]
    measures: dict[str, float] = field(default_factory=dict[str, float])
    notes: list[str] = field(default_factory=list[str])

    def worse(self, measure: str, value: float, who: str, low: bool = False) -> None:
        """Keep the worst value of a measure over all annotations."""
        old = self.measures[measure]
        if math.isnan(old) or (value < old if low else value > old):
            self.measures[measure] = value
            self.notes.append(f"{measure} {value:g}: {who}")


def serve(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child."""
    return answer


def answer(payload: bytes) -> bytes:
    """One record."""
    try:
        return pack(_judge(unpack(payload)))
    except Refused as refused:
        return pack(Message({"refused": [refused.reason, refused.detail]}))


def _judge(request: Message) -> Message:
    head = request.head
    size = (head["width"], head["height"])
    with Image.open(io.BytesIO(request.blob), formats=["PNG"]) as picture:
        mine = np.asarray(picture.convert("RGB"))
    root = check(head["text"].encode("utf-8", "surrogatepass"))
    wanted = {one.key: one for one in named(root, head["parts"])}
    elements = in_order(root)
    set_size(root, *size)
    has_text = any(local(element) in TEXTS for element in elements)
    theirs = resvg_paint.draw(_without_kerning(root), has_text)
    measures = _picture_measures(mine, theirs, size)
    if measures["size_off_px"] == 0:
        case = _case(root, size, (mine, theirs), has_text)
        case.measures.update(measures)
        _judge_rows(case, head["rows"], wanted, elements)
        measures, notes = case.measures, case.notes
    else:
        notes = ["the picture has another size"]
    return Message({"measures": {k: None if math.isnan(v) else v for k, v in measures.items()}, "notes": notes[-8:]})


def _without_kerning(root: etree._Element) -> str:
    """The document for resvg. cairosvg sets letter by letter, so kerning is off, which SVG leaves to the renderer."""
    style = root.get("style")
    root.set("style", f"{style};font-kerning:none" if style else "font-kerning:none")
    return etree.tostring(root, encoding="unicode")


def _picture_measures(mine: Pixels, theirs: Pixels, size: tuple[int, int]) -> dict[str, float]:
    height, width = mine.shape[:2]
    off = max(
        abs(width - size[0]),
        abs(height - size[1]),
        *(abs(a - b) for a, b in zip(mine.shape, theirs.shape, strict=True)),
    )
    colours, ink = compare.colours_and_ink(mine)
    found = {name: math.nan for name in ("unmatched_px_per_65536", "mean_abs_diff")}
    found |= {"size_off_px": float(off), "colours": float(colours), "ink_frac": ink}
    if not off:
        found["unmatched_px_per_65536"] = compare.unmatched_px(mine, theirs) * AREA_PX / (width * height)
        found["mean_abs_diff"] = compare.mean_abs_diff(mine, theirs)
    return found


def _case(root: etree._Element, size: tuple[int, int], pictures: tuple[Pixels, Pixels], has_text: bool) -> _Case:
    keys = len(in_order(root))
    shown = deepcopy(root)
    flat = Flat(root)

    def drawn(shows: Callable[[int], bool]) -> Labels:
        return resvg_paint.labels(resvg_paint.draw(flat.document(shows), has_text, hard_edges=True))

    opaque = drawn(lambda _: False)
    soft = drawn(lambda _: True) if flat.soft_keys else None
    truth = table(opaque, keys)
    if soft is not None:
        truth = union(truth, table(soft, keys))
    left = _MAX_ALONE

    def alone(one: Named) -> tuple[int, Box | None, Labels | None]:
        """The element's place in a map without others that are not opaque: in the shared one these hide each other."""
        nonlocal left
        if left and any(one.key <= key < one.end for key in flat.soft_keys):
            left -= 1
            map_ = drawn(lambda key: one.key <= key < one.end)
            return *union(table(opaque, keys), table(map_, keys)).of(one.key, one.end), map_
        return 0, None, None

    def without(one: Named) -> Pixels | None:
        """The judge's picture with the element removed."""
        nonlocal left
        if not left:
            return None
        left -= 1
        return resvg_paint.draw(_without(shown, [(one.key, one.end)]), has_text)

    return _Case(size, *pictures, opaque, soft, truth, alone, without)


def _without(root: etree._Element, ranges: Sequence[tuple[int, int]]) -> str:
    """The document without the elements of these keys."""
    copied = deepcopy(root)
    for key, element in enumerate(in_order(copied)):
        if any(start == key for start, _ in ranges):
            element.set("style", f"{element.get('style') or ''};display:none".lstrip(";"))
    return etree.tostring(copied, encoding="unicode")


_ABSENT = (
    "owned_px_min",
    "outside_px_max",
    "box_off_px_max",
    "off_picture_px_max",
    "text_contrast_min",
    "text_ink_min",
)


def _judge_rows(case: _Case, rows: Sequence[Any], wanted: dict[int, Named], elements: Sequence[etree._Element]) -> None:
    case.measures.update({name: math.nan for name in _ABSENT})
    case.measures.update({name: 0.0 for name in ("named_wrong", "point_missed", "visible_frac_wrong")})
    case.measures["elements"] = float(len(rows))
    seen: set[str] = set()
    for row in rows:
        one = wanted.get(int(row["id"])) if str(row["id"]).isdigit() else None
        if (
            one is None
            or row["id"] in seen
            or (row["role"], row["text"]) != (one.role, one.text)
            or not says(elements[one.key], one)
        ):
            case.measures["named_wrong"] += 1
            case.notes.append(f"named_wrong: {row['id']} {row['role']} {row['text']}"[:100])
        seen.add(row["id"])
        if one is not None:
            _judge_place(case, row, one)
            if local(elements[one.key]) in TEXTS:
                _judge_text(case, one, row)


def _judge_place(case: _Case, row: Any, one: Named) -> None:
    who = f"{one.key} {one.role}"[:60]
    pixels, box = case.truth.of(one.key, one.end)
    maps = [case.opaque] + ([case.soft] if case.soft is not None else [])
    if _box_off(row["bbox_visible"], box) > _BOX_SLACK_PX or not _is_hit(maps, row["point"], one):
        more, wider, map_ = case.alone(one)
        if wider is not None and map_ is not None:
            pixels, box, maps = more, wider, [*maps, map_]
    off = _box_off(row["bbox_visible"], box)
    if off > _BOX_SLACK_PX and box is not None and _is_only_hair(case, row["bbox_visible"], box, one, maps):
        off = _BOX_SLACK_PX
    case.worse("owned_px_min", float(pixels), who, low=True)
    case.worse("off_picture_px_max", _off_picture(row, case.size), who)
    case.worse("box_off_px_max", off, who)
    full = row["bbox_full"]
    if box is not None:
        case.worse("outside_px_max", max(full[0] - box[0], full[1] - box[1], box[2] - full[2], box[3] - full[3]), who)
    if not _is_hit(maps, row["point"], one):
        case.measures["point_missed"] += 1
        case.notes.append(f"point_missed: {who}")
    if not 0 < row["visible_frac"] <= 1:
        case.measures["visible_frac_wrong"] += 1


def _box_off(box: Sequence[float], truth: Sequence[float] | None) -> float:
    """The farthest that a side is off."""
    if truth is None:
        return math.inf
    return max(abs(a - b) for a, b in zip(box, truth, strict=True))


def _is_only_hair(case: _Case, box: Sequence[float], truth: Box, one: Named, maps: Sequence[Labels]) -> bool:
    """Whether a box is off only where the element is thinner than a pixel, so that engines see its tips differently.

    What the judge's map has outside the box must be such hair: at most one pixel for each pixel of length. What the box
    has beyond the map must change when the element is removed from the judge's soft picture.
    """
    mask = np.zeros(case.opaque.shape, np.bool_)
    for map_ in maps:
        mask |= (map_ > one.key) & (map_ <= one.end)
    x0, y0, x1, y1 = (round(side) for side in box)
    for strip, length in (
        (mask[:, : max(x0, 0)], x0 - truth[0]),
        (mask[: max(y0, 0)], y0 - truth[1]),
        (mask[:, max(x1, 0) :], truth[2] - x1),
        (mask[max(y1, 0) :], truth[3] - y1),
    ):
        if length > _BOX_SLACK_PX and np.count_nonzero(strip) > length * _HAIR_PX:
            return False
    beyond = max(truth[0] - x0, truth[1] - y0, x1 - truth[2], y1 - truth[3])
    if beyond <= _BOX_SLACK_PX:
        return True
    bare = case.without(one)
    if bare is None:
        return False
    changed = (np.maximum(bare, case.theirs) - np.minimum(bare, case.theirs)).max(axis=2) > _FAINT_LEVELS
    soft = bounds(changed)
    if soft is None:
        return False
    return max(soft[0] - x0, soft[1] - y0, x1 - soft[2], y1 - soft[3]) <= _BOX_SLACK_PX


def _off_picture(row: Any, size: tuple[int, int]) -> float:
    """How far a box leaves the picture or turns inside out, or a point leaves its box; NaN counts as far."""
    worst = 0.0
    for box in (row["bbox_full"], row["bbox_visible"]):
        worst = max(worst, -box[0], -box[1], box[2] - size[0], box[3] - size[1], box[0] - box[2], box[1] - box[3])
    x, y = row["point"]
    inner = row["bbox_visible"]
    worst = max(worst, inner[0] - x, inner[1] - y, x - inner[2], y - inner[3])
    return worst if all(map(math.isfinite, (*row["bbox_full"], *inner, x, y))) else math.inf


def _is_hit(maps: Sequence[Labels], point: Sequence[float], one: Named) -> bool:
    """Whether one of the pixels at or beside a point is the element's: engines differ in which pixel a hair has."""
    if not all(map(math.isfinite, point)):
        return False
    x, y = math.floor(point[0]), math.floor(point[1])
    for map_ in maps:
        near = map_[max(y - 1, 0) : max(y + 2, 0), max(x - 1, 0) : max(x + 2, 0)]
        if np.any((near > one.key) & (near <= one.end)):
            return True
    return False


def _judge_text(case: _Case, one: Named, row: Any) -> None:
    box = case.truth.of(one.key, one.end)[1]
    if box is None:
        return
    width, height = case.size
    rows = slice(max(box[1] - _PAD_PX, 0), min(box[3] + _PAD_PX, height))
    columns = slice(max(box[0] - _PAD_PX, 0), min(box[2] + _PAD_PX, width))
    ink = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.bool_)
    for map_ in [case.opaque] + ([case.soft] if case.soft is not None else []):
        ink |= (map_[rows, columns] > one.key) & (map_[rows, columns] <= one.end)
    who = f"{one.key} {one.text}"[:60]
    for pixels in (case.mine[rows, columns], case.theirs[rows, columns]):
        colours = text_colours(pixels, ink)
        if colours is None:
            case.worse("text_ink_min", 0.0, who, low=True)
            continue
        case.worse("text_contrast_min", contrast(*colours), who, low=True)
        case.worse("text_ink_min", ink_frac(pixels, ink, colours[1]), who, low=True)
