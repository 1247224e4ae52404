"""The second look at a page, inside the worker: what the annotations say against what another way finds.

There is no second browser engine here that lays pages out alike, so the page is loaded anew, and what is compared
comes by other ways than the first look took:

* boxes: the layout tree and the pieces of painted text of DOMSnapshot, in place of the page's script interface;
* texts: those painted pieces, attributes and shown values, in place of the accessibility tree;
* who is on top: `elementFromPoint` at each point, on and around the edges of visible boxes and on a grid, in place of
  the id map;
* roles, states, what the picture's edge cuts and the order of painting: see `facts`;
* ink: the difference between the picture and a shot with all text made clear, in place of the blue channel;
* the picture itself: outside of text that shot must equal it, so every record is rendered twice; on one in
  `domain.WHOLE_ONE_IN` (by the hash of the code) all pixels are compared,
  and the annotated leaves are hidden and looked for.

A request has `annotations`: dicts with `id`, `role`, `text`, `full`, `visible`, `point`, `frac`, `truncated`, `z`,
`part_role` (None where the code has no such part); the answer has `measures` (see `rules`) and `notes`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.render.protocol import Box
from gristmill.render.web.facts import LINE, says_cut, says_order, says_role
from gristmill.render.web.frozen import clipped, read_layout, scaled
from gristmill.render.web.idmap import Mask, contrast, median_colour, pixel_box
from gristmill.render.web.painted import line_pieces, line_says, says
from gristmill.render.web.rules import LIMITS
from gristmill.render.web.session import Loaded, Pixels
from gristmill.render.web.snapshot import Layout

CHANGED_LEVEL = 6
"""Least difference of a channel that counts as another pixel."""
INK_LEVEL = 24
INK_AROUND_PX = 1.5
MAX_NOTES = 2000
_HOLDING_TEXT = frozenset({"IMG", "INPUT", "SELECT", "TEXTAREA", "BUTTON", "METER", "PROGRESS"})
"""What shows text that the layout tree does not tell: values, alternatives."""
_SLACK_PX = 2


Pairs = Sequence[tuple[dict[str, Any], int]]
"""Annotations with the numbers of their elements."""


@dataclass(frozen=True)
class Second:
    """The page anew, and the picture that is judged."""

    loaded: Loaded
    layout: Layout
    ends: Sequence[int]
    picture: Pixels
    scale: float


def measured(loaded: Loaded, head: Mapping[str, Any], picture: Pixels) -> dict[str, Any]:
    """The measures of one sample, but for those that the first look told."""
    annotations: list[dict[str, Any]] = head["annotations"]
    layout = read_layout(loaded)
    second = Second(loaded, layout, layout.ends(), picture, loaded.view.scale)
    pairs = [(a, n) for a in annotations if (n := _number(layout, a["id"])) is not None]
    told = [a for a, _ in pairs]
    notes: list[str] = []
    measures = {
        "unknown_ids": float(len(annotations) - len(pairs)),
        "box_off_px": _worst(notes, "box_off_px", told, [_box_off(second, a, n) for a, n in pairs]),
        "wrong_texts": _count(notes, "wrong_texts", told, [_says(second, a, n) for a, n in pairs]),
    }
    # Hit tests come first: what is hidden later on is not hit.
    measures |= (
        _facts(second, pairs, notes) | _hits(second, pairs, notes) | _pixels(second, pairs, notes, bool(head["whole"]))
    )
    return {"measures": measures, "notes": notes[:MAX_NOTES]}


def _number(layout: Layout, key: str) -> int | None:
    """The element that an annotation's id names; for a text line (`t<block>.<n>`) the one that its text lies in."""
    if key.startswith("#"):
        return next((i for i, node in enumerate(layout.nodes) if node.attributes.get("id") == key[1:]), None)
    digits = key[1:].partition(".")[0]
    number = int(digits) if digits.isascii() and digits.isdigit() else -1
    return number if 0 <= number < len(layout.nodes) else None


def _says(second: Second, annotation: Mapping[str, Any], number: int) -> bool:
    if annotation["role"] == LINE:
        return line_says(second.layout, second.ends, number, _css_box(second, annotation), annotation["text"])
    return says(second.layout, second.ends, number, annotation["text"])


def _css_box(second: Second, annotation: Mapping[str, Any]) -> Box:
    return scaled(annotation["full"], 1 / second.scale)


def _box_off(second: Second, annotation: Mapping[str, Any], number: int) -> float:
    """How far the farthest edge of the declared box is from the layout's, in pixels."""
    height, width = second.picture.shape[:2]
    found = _line_boxes(second, annotation, number) if annotation["role"] == LINE else [second.layout.nodes[number].box]
    boxes = [clipped(scaled(box, second.scale), width, height) for box in found if box is not None]
    offs = [max(abs(a - b) for a, b in zip(box, annotation["full"], strict=True)) for box in boxes]
    return min(offs, default=float("inf"))


def _line_boxes(second: Second, annotation: Mapping[str, Any], number: int) -> list[Box]:
    """The bounds of a line's pieces: with those that are but white space (tabs, indents), and without them."""
    pieces = line_pieces(second.layout, second.ends, number, _css_box(second, annotation))
    written = [piece.box for piece in pieces if piece.text.strip()]
    found: list[Box] = []
    for boxes in ([piece.box for piece in pieces], written) if written else ():
        x0, y0, x1, y1 = zip(*boxes, strict=True)
        found.append((min(x0), min(y0), max(x1), max(y1)))
    return found


def _pixels(second: Second, pairs: Pairs, notes: list[str], whole: bool) -> dict[str, float]:
    """Blank checks, the second render, ink of lines, contrast; on a sample also that hiding an element is seen."""
    measures = _blank(second.picture)
    measures["second_render_px"] = measures["unseen_leaves"] = float("nan")
    if whole:
        measures["second_render_px"] = float(np.count_nonzero(_change(second.picture, second.loaded.shot())))
    second.loaded.ask("gm.hideText()")
    bare = second.loaded.shot()
    change = _change(second.picture, bare)
    ink, outside = change >= INK_LEVEL, change >= CHANGED_LEVEL
    shadowed = (node.box for node in second.layout.nodes if node.tag in _HOLDING_TEXT and node.box)
    for box in [*(piece.box for piece in second.layout.texts), *second.layout.added, *shadowed]:
        x0, y0, x1, y1 = pixel_box(scaled(box, second.scale), ink.shape[1], ink.shape[0])
        slack = _SLACK_PX + round((y1 - y0) * 0.5)
        outside[max(y0 - slack, 0) : y1 + slack, max(x0 - slack, 0) : x1 + slack] = False
    measures["restless_px"] = float(np.count_nonzero(outside))
    lines = [a for a, _ in pairs if a["role"] == LINE]
    measures["ink_off_px"] = _worst(notes, "ink_off_px", lines, [_ink_off(ink, a) for a in lines])
    contrasts = [_contrast(second.picture, bare, change, a) for a in lines]
    measures["min_contrast"] = min((c for c in contrasts if not math.isnan(c)), default=float("nan"))
    if whole:
        measures["unseen_leaves"] = _unseen(second, pairs, notes)
    return measures


def _blank(picture: Pixels) -> dict[str, float]:
    """Colours, and the share of the most frequent one, among every third pixel of every third row."""
    flat = picture[::3, ::3].reshape(-1, 3).astype(np.uint32)
    _, counts = np.unique(flat[:, 0] << 16 | flat[:, 1] << 8 | flat[:, 2], return_counts=True)
    return {"colours": float(len(counts)), "ground_frac": float(counts.max() / counts.sum())}


def _change(one: Pixels, other: Pixels) -> npt.NDArray[np.uint8]:
    """The largest difference of a channel, for each pixel."""
    apart = np.maximum(one, other)
    apart -= np.minimum(one, other)
    return np.maximum(np.maximum(apart[..., 0], apart[..., 1]), apart[..., 2])


def _ink_off(ink: Mask, annotation: Mapping[str, Any]) -> float:
    """How far the edges of the declared visible box are from those of the ink in the line's box.

    Only the rows of the visible box and INK_AROUND_PX above and below are looked at, as ink of other lines may reach
    into the box: ink that is declared and not there is measured in full, ink above and below it only so far.
    """
    (x0, _, x1, _), (_, y0, _, y1) = annotation["full"], annotation["visible"]
    rows_of = (x0, y0 - INK_AROUND_PX, x1, y1 + INK_AROUND_PX)
    x0, y0, x1, y1 = pixel_box(rows_of, ink.shape[1], ink.shape[0])
    crop = ink[y0:y1, x0:x1]
    if not crop.any():
        return float("inf")
    columns, rows = np.flatnonzero(crop.any(axis=0)), np.flatnonzero(crop.any(axis=1))
    found = x0 + columns[0], y0 + rows[0], x0 + columns[-1] + 1, y0 + rows[-1] + 1
    return float(max(abs(a - b) for a, b in zip(found, annotation["visible"], strict=True)))


def _contrast(picture: Pixels, bare: Pixels, change: npt.NDArray[np.uint8], annotation: Mapping[str, Any]) -> float:
    """Contrast of the pixels that text changes most with what lies behind them."""
    x0, y0, x1, y1 = pixel_box(annotation["full"], change.shape[1], change.shape[0])
    window = (slice(y0, y1), slice(x0, x1))
    strongest = int(change[window].max(initial=0))
    if strongest < INK_LEVEL:
        return float("nan")
    strong = change[window] >= 0.8 * strongest
    over, under = median_colour(picture[window], strong), median_colour(bare[window], strong)
    return contrast(over, under) if over and under else float("nan")


def _unseen(second: Second, all_pairs: Pairs, notes: list[str]) -> float:
    """Hide the elements that have no annotated element below; each must change pixels inside its visible box."""
    pairs = [(a, n) for a, n in all_pairs if a["role"] != LINE]
    taken = sorted(n for _, n in pairs)
    leaves = [(a, n) for a, n in pairs if not any(n < other < second.ends[n] for other in taken)]
    second.loaded.call("hide", [n for _, n in leaves])
    changed = _change(second.picture, second.loaded.shot()) >= CHANGED_LEVEL
    seen: list[bool] = []
    for annotation, _ in leaves:
        x0, y0, x1, y1 = pixel_box(annotation["visible"], changed.shape[1], changed.shape[0])
        seen.append(bool(changed[y0:y1, x0:x1].any()))
    return _count(notes, "unseen_leaves", [a for a, _ in leaves], seen)


def _facts(second: Second, pairs: Pairs, notes: list[str]) -> dict[str, float]:
    """What the picture's edge cuts, and the order of painting."""
    told = [annotation for annotation, _ in pairs]
    orders = [_order(second, annotation, number) for annotation, number in pairs]
    return {
        "wrong_cuts": _count(notes, "wrong_cuts", told, [_says_cut(second, a, n) for a, n in pairs]),
        "wrong_orders": _count(notes, "wrong_orders", told, says_order(orders, [a["z"] for a in told])),
    }


def _says_cut(second: Second, annotation: Mapping[str, Any], number: int) -> bool:
    height, width = second.picture.shape[:2]
    found = _line_boxes(second, annotation, number) if annotation["role"] == LINE else [second.layout.nodes[number].box]
    boxes = [scaled(box, second.scale) for box in found if box is not None]
    return any(says_cut(box, width, height, annotation["truncated"]) for box in boxes)


def _order(second: Second, annotation: Mapping[str, Any], number: int) -> int:
    """Of a line, the order of the element that its first piece lies in."""
    pieces = (
        line_pieces(second.layout, second.ends, number, _css_box(second, annotation))
        if annotation["role"] == LINE
        else []
    )
    return second.layout.nodes[pieces[0].element if pieces else number].order


def _hits(second: Second, pairs: Pairs, notes: list[str]) -> dict[str, float]:
    """Who is on top: at each point, around each visible box, and how much of a grid over the full box; roles, states.

    A share is held against the full box and against what the element would have alone, as round corners take some.
    """
    asked = [_asked(second, annotation, number) for annotation, number in pairs]
    found = second.loaded.call("judged", asked)
    told = [annotation for annotation, _ in pairs]
    points = [point and _holds(a["visible"], a["point"]) for a, (point, *_) in zip(told, found, strict=True)]
    shares = [_share_off(a, of[2], of[3]) for a, of in zip(told, found, strict=True)]
    roles = [says_role(second.layout, n, a, of[4]) for (a, n), of in zip(pairs, found, strict=True)]
    return {
        "missed_points": _count(notes, "missed_points", told, points),
        "missed_edges": _count(notes, "missed_edges", told, [of[1] for of in found]),
        "share_off": _worst(notes, "share_off", told, shares),
        "wrong_roles": _count(notes, "wrong_roles", told, roles),
    }


def _holds(box: Box, point: Sequence[float]) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def _share_off(annotation: Mapping[str, Any], share: float, larger: float) -> float:
    told = annotation["frac"]
    return min(abs(share - told), abs(min(share * larger, 1.0) - told))


def _asked(second: Second, annotation: Mapping[str, Any], number: int) -> list[Any]:
    """What `page.js:judged` takes: lines have no edges of their own."""
    visible, full = (scaled(annotation[name], 1 / second.scale) for name in ("visible", "full"))
    x, y = annotation["point"]
    own = annotation["role"] != LINE
    return [number, second.ends[number], [x / second.scale, y / second.scale], visible, full, own]


def _worst(notes: list[str], measure: str, told: Sequence[Mapping[str, Any]], values: Sequence[float]) -> float:
    """The largest value; each that is over the measure's limit is noted."""
    limit = LIMITS[measure]
    notes += [f"{measure} {v:.2f}: {a['id']} {a['role']}" for a, v in zip(told, values, strict=True) if v > limit]
    return float(max(values, default=0.0))


def _count(notes: list[str], measure: str, told: Sequence[Mapping[str, Any]], good: Sequence[bool]) -> float:
    """How many are not good; each is noted."""
    wrong = [a for a, ok in zip(told, good, strict=True) if not ok]
    notes += [f"{measure}: {a['id']} {a['role']} {a['text'][:40]!r}" for a in wrong]
    return float(len(wrong))
