"""The child that judges: a second engine's picture and id maps, and what annotations are off by against them.

Request: text, width, height, parts, `rows` (annotations as `draw_child.row` writes them), `audit`, the picture's PNG as
blob. Answer: `measures` by name, null for NaN, and `notes`; or `refused`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lxml import etree

from gristmill.render.svg import compare, resvg_paint
from gristmill.render.svg.alone import ranks_wrong
from gristmill.render.svg.audit import audit
from gristmill.render.svg.contrast import Colour, Mask, around, contrast, ground_colour, letter_colour
from gristmill.render.svg.draw_child import set_size, set_up_cairo
from gristmill.render.svg.naming import Named, in_order, named, says
from gristmill.render.svg.resvg_paint import Pixels, reduced
from gristmill.render.svg.sanitise import check, local
from gristmill.render.svg.second import Second
from gristmill.render.svg.tables import Box, Labels
from gristmill.render.svg.truth import BOX_SLACK_PX, Truth, box_off, is_hit
from gristmill.render.svg.vocabulary import AREA_PX, TEXTS, Refused
from gristmill.render.svg.wire import Message, pack, unpack

_PAD_PX = 3
_NOTES = 12
_SCREEN_MAX_UNMATCHED = 8
_SCREEN_MAX_MEAN = 2
_SCREEN_MIN_INK = 0.5
_WORST = (
    "owned_px_min",
    "outside_px_max",
    "box_off_px_max",
    "off_picture_px_max",
    "full_off_px_max",
    "visible_frac_off_max",
    "text_contrast_min",
    "text_ink_min",
)
_COUNTED = ("named_wrong", "point_missed", "visible_frac_wrong", "truncated_wrong")


@dataclass
class _Findings:
    """Measures as they get worse, and words about what made them so."""

    measures: dict[str, float]
    notes: dict[str, str] = field(default_factory=dict[str, str])

    def worse(self, measure: str, value: float, who: str, low: bool = False) -> None:
        """Keep the worst value of a measure over all annotations."""
        old = self.measures[measure]
        if math.isnan(old) or (value < old if low else value > old):
            self.measures[measure] = value
            self.notes[measure] = f"{measure} {value:g}: {who}"[:100]

    def count(self, measure: str, who: str) -> None:
        """One more of what must not be."""
        self.measures[measure] += 1
        self.notes[measure] = f"{measure}: {who}"[:100]


def serve(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child; fonts are set up before cairo is loaded."""
    set_up_cairo()
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
    mine = resvg_paint.decoded(request.blob)
    root = check(head["text"].encode("utf-8", "surrogatepass"))
    wanted = {one.key: one for one in named(root, head["parts"])}
    set_size(root, *size)
    has_text = any(local(element) in TEXTS for element in in_order(root))
    second = Second(_without_kerning(root), size, has_text)
    found = _Findings(_picture_measures(mine, second))
    if found.measures["size_off_px"] == 0:
        _judge_rows(found, head, wanted, (mine, Truth(root, second, has_text, head["audit"])))
    measures = {name: None if math.isnan(value) else value for name, value in found.measures.items()}
    return Message({"measures": measures, "notes": list(found.notes.values())[-_NOTES:]})


def _without_kerning(root: etree._Element) -> str:
    """The document for resvg. cairo sets text without kerning, which SVG leaves to the renderer."""
    style = root.get("style")
    root.set("style", f"{style};font-kerning:none" if style else "font-kerning:none")
    return etree.tostring(root, encoding="unicode")


def _picture_measures(mine: Pixels, second: Second) -> dict[str, float]:
    width, height = second.size
    off = max(abs(mine.shape[1] - width), abs(mine.shape[0] - height), second.reduced_off_px)
    colours, ink = compare.colours_and_ink(mine)
    found = {"size_off_px": float(off), "colours": float(colours), "ink_frac": ink}
    pair = (math.nan, math.nan) if off else engines_differ(mine, second)
    return found | dict(zip(("unmatched_px_per_65536", "mean_abs_diff"), pair, strict=True))


def engines_differ(mine: Pixels, second: Second) -> tuple[float, float]:
    """Unmatched pixels per AREA_PX and mean difference: of the reduced pictures where these are alike, else of both."""
    if second.factor > 1:
        small, theirs = reduced(mine, second.factor), second.reduced
        unmatched = compare.screened_px(small, theirs) * AREA_PX / (small.shape[0] * small.shape[1])
        mean = compare.mean_abs_diff(small, theirs)
        if unmatched <= _SCREEN_MAX_UNMATCHED and mean <= _SCREEN_MAX_MEAN:
            return unmatched, mean
    unmatched = compare.unmatched_px(mine, second.full) * AREA_PX / (mine.shape[0] * mine.shape[1])
    return unmatched, compare.mean_abs_diff(mine, second.full)


def _judge_rows(found: _Findings, head: Any, wanted: dict[int, Named], seen: tuple[Pixels, Truth]) -> None:
    mine, truth = seen
    # The tree was flattened: what elements say is read from the text anew.
    elements = in_order(etree.fromstring(head["text"].encode("utf-8", "surrogatepass")))
    found.measures.update({name: math.nan for name in _WORST})
    found.measures.update({name: 0.0 for name in _COUNTED})
    found.measures["elements"] = float(len(head["rows"]))
    known: dict[int, tuple[Any, Named]] = {}
    for row in head["rows"]:
        one = wanted.get(int(row["id"])) if str(row["id"]).isdigit() else None
        if one is None or one.key in known or (row["role"], row["text"]) != (one.role, one.text):
            found.count("named_wrong", f"{row['id']} {row['role']} {row['text']}")
        elif not says(elements[one.key], one):
            found.count("named_wrong", f"{row['id']} says something else than {row['text']}")
        if one is not None:
            known[one.key] = (row, one)
            box, maps = _judge_place(found, row, one, truth)
            if box is not None and local(elements[one.key]) in TEXTS:
                _judge_text(found, one, (box, maps), (mine, truth.second))
                for run in _runs(elements, one):
                    _judge_run(found, run, (box, maps), mine)
    _judge_order(found, list(known.values()), truth)
    if head["audit"]:
        unseen, outside, notes = audit(truth, list(known.values()), elements)
        found.measures.update({"audit_unseen": float(unseen), "audit_outside_px": float(outside)})
        found.notes.update({note: note for note in notes})


def _judge_place(found: _Findings, row: Any, one: Named, truth: Truth) -> tuple[Box | None, list[Labels]]:
    """Hold an annotation against the maps, the first that bears it out, else the last; that map's box and maps."""
    who = f"{one.key} {one.role}"
    pixels, box, maps, off, hit = 0, None, list[Labels](), math.inf, False
    for view in truth.views(one):
        pixels, box, maps = view
        off, hit = box_off(row["bbox_visible"], box), is_hit(maps, row["point"], one)
        if off <= BOX_SLACK_PX and hit:
            break
    if off > BOX_SLACK_PX and box is not None and truth.is_hair(one, row["bbox_visible"], box, maps):
        off = BOX_SLACK_PX
    size = truth.second.size
    found.worse("owned_px_min", float(pixels), who, low=True)
    found.worse("off_picture_px_max", _off_picture(row, size), who)
    found.worse("box_off_px_max", off, who)
    if box is not None:
        full = row["bbox_full"]
        outside = max(full[0] - box[0], full[1] - box[1], box[2] - full[2], box[3] - full[3], 0)
        found.worse("outside_px_max", outside, who)
    if not hit:
        found.count("point_missed", who)
    if not 0 < row["visible_frac"] <= 1:
        found.count("visible_frac_wrong", who)
    _judge_alone(found, row, one, truth)
    return box, maps


def _judge_alone(found: _Findings, row: Any, one: Named, truth: Truth) -> None:
    """Hold full box, visible share and truncation against the element alone."""
    who = f"{one.key} {one.role}"
    mine = truth.alone(one)
    found.worse("full_off_px_max", math.inf if mine is None else mine.full_off(row["bbox_full"]), who)
    if mine is None:
        return
    found.worse("box_off_px_max", box_off(row["bbox_visible"], mine.visible), who)
    found.worse("visible_frac_off_max", _share_off(row["visible_frac"], mine.visible_frac), who)
    if mine.cut is not None and mine.cut != row["truncated"]:
        found.count("truncated_wrong", who)


def _share_off(found: float, truth: float) -> float:
    """How far a share is off, as a share of the true one."""
    return abs(found - truth) / truth if truth > 0 else math.inf


def _judge_order(found: _Findings, known: Sequence[tuple[Any, Named]], truth: Truth) -> None:
    """Hold `z` against the order in which the map was drawn."""
    places = [(row["z"], mine.last) for row, one in known if (mine := truth.alone(one)) is not None]
    found.measures["z_wrong"] = float(ranks_wrong(places))


def _off_picture(row: Any, size: tuple[int, int]) -> float:
    """How far a box leaves the picture or turns inside out, or a point leaves its box."""
    worst = 0.0
    for box in (row["bbox_full"], row["bbox_visible"]):
        worst = max(worst, -box[0], -box[1], box[2] - size[0], box[3] - size[1], box[0] - box[2], box[1] - box[3])
    (x, y), inner = row["point"], row["bbox_visible"]
    return max(worst, inner[0] - x, inner[1] - y, x - inner[2], y - inner[3])


def _judge_text(
    found: _Findings, one: Named, place: tuple[Box, Sequence[Labels]], pictures: tuple[Pixels, Second]
) -> None:
    """Whether a text has ink in both pictures, and contrast in ours."""
    (x0, y0, x1, y1), maps = place
    mine, second = pictures
    rows = slice(max(y0 - _PAD_PX, 0), min(y1 + _PAD_PX, second.size[1]))
    columns = slice(max(x0 - _PAD_PX, 0), min(x1 + _PAD_PX, second.size[0]))
    ink = np.zeros(maps[0][rows, columns].shape, np.bool_)
    for map_ in maps:
        ink |= (map_[rows, columns] > one.key) & (map_[rows, columns] <= one.end)
    ground = around(ink)
    who = f"{one.key} {one.text}"
    back, letters, share = _letters(mine[rows, columns], ink, ground)
    found.worse("text_ink_min", share, who, low=True)
    if back is not None and letters is not None:
        found.worse("text_contrast_min", contrast(letters, back), who, low=True)
    share = 0.0
    if not second.is_drawn_full:
        share = _letters(_enlarged(second, rows, columns), ink, ground)[2]
    if share < _SCREEN_MIN_INK:
        share = _letters(second.full[rows, columns], ink, ground)[2]
    found.worse("text_ink_min", share, who, low=True)


def _letters(crop: Pixels, ink: Mask, ground: Mask) -> tuple[Colour | None, Colour | None, float]:
    """Colours of the ground and of the letters, and the share of their pixels that differ from the ground."""
    back = ground_colour(crop, ground)
    return (None, None, 0.0) if back is None else (back, *letter_colour(crop, ink, back))


def _enlarged(second: Second, rows: slice, columns: slice) -> Pixels:
    """A crop of the reduced picture as large as that of the full one."""
    ys, xs = (np.arange(one.start, one.stop) // second.factor for one in (rows, columns))
    return second.reduced[ys][:, xs]


def _runs(elements: Sequence[etree._Element], one: Named) -> list[int]:
    """Keys of the elements in a text that say something themselves, where there are several."""
    keys = [key for key in range(one.key, one.end) if _own_words(elements[key]).strip()]
    return keys if len(keys) > 1 else []


def _own_words(element: etree._Element) -> str:
    tails = (child.tail or "" for child in element)
    return (element.text or "") + "".join(tails) if local(element) in TEXTS else ""


def _judge_run(found: _Findings, key: int, place: tuple[Box, Sequence[Labels]], picture: Pixels) -> None:
    """A part of a text of which nothing is seen is nothing that the text says."""
    (x0, y0, x1, y1), maps = place
    area = (slice(y0, y1), slice(x0, x1))
    ink = np.zeros(maps[0][area].shape, np.bool_)
    for map_ in maps:
        ink |= map_[area] == key + 1
    who = f"{key}: a part of a text"
    back = ground_colour(picture[area], around(ink))
    if not ink.any() or back is None:
        found.worse("text_ink_min", 0.0, who, low=True)
        return
    found.worse("text_ink_min", letter_colour(picture[area], ink, back)[1], who, low=True)
