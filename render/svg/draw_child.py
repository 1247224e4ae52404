"""The child that draws: code to a picture and the places of its elements, by cairosvg.

Request and answer are `wire` messages. Request: `what` "draw" with text, width, height and parts [[key, role, text]];
"existing", whose blob is a file; "forms" with text, width and height. Answer: `refused` [reason, detail]; or for "draw"
`rows` (see `row`) and a PNG as blob, for "existing" text, width and height, for "forms" `forms` by name.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from lxml import etree

from gristmill.render.svg import fonts, png
from gristmill.render.svg.forms import forms
from gristmill.render.svg.glyphs import lacking
from gristmill.render.svg.naming import Named, in_order, named, text_of
from gristmill.render.svg.places import MIN_SEEN_PX, MIN_SIDE_PX, Patch, Place, bounds, merge, pole
from gristmill.render.svg.sanitise import check, local
from gristmill.render.svg.vocabulary import AREA_PX, MAX_UNMATCHED_PX, XLINK_HREF, Refused
from gristmill.render.svg.wire import Message, pack, unpack

_EDGE_SLACK_PX = 0.5


def serve(init: bytes) -> Callable[[bytes], bytes]:
    """The function of the child."""
    set_up_cairo()
    return answer


def set_up_cairo() -> None:
    """Load cairo with the fonts of SVG alone."""
    folder = fonts.with_own_fonts()
    from gristmill.render.svg import cairo_paint

    probe = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text y="9" font-family="%s">x</text></svg>'
    for family in fonts.FAMILIES:
        cairo_paint.draw(probe % family.encode(), 9, 9)
    fonts.forget(folder)


def answer(payload: bytes) -> bytes:
    """One record."""
    request = unpack(payload)
    try:
        return pack(_ANSWERS[request.head["what"]](request))
    except Refused as refused:
        return pack(Message({"refused": [refused.reason, refused.detail]}))


def keyed(root: etree._Element, width: int, height: int) -> bytes:
    """The document for an engine: each element with its key, the root as large as the picture, links without xlink."""
    from gristmill.render.svg.cairo_paint import KEY

    for key, element in enumerate(in_order(root)):
        element.set(KEY, str(key))
        link = element.attrib.pop(XLINK_HREF, None)
        if link is not None and element.get("href") is None:
            element.set("href", link)
    set_size(root, width, height)
    return etree.tostring(root)


def set_size(root: etree._Element, width: int, height: int) -> None:
    """Give the root the picture's size; what it showed before is kept by a viewBox. Raises Refused (bad_size)."""
    from gristmill.render.svg.view import own_size

    if root.get("viewBox") is None:
        own = own_size(root)
        root.set("viewBox", f"0 0 {own[0]:g} {own[1]:g}")
    root.set("width", str(width))
    root.set("height", str(height))


def _existing(request: Message) -> Message:
    from gristmill.render.svg.repair import repaired

    text, width, height = repaired(request.blob)
    return Message({"text": text, "width": width, "height": height})


def _forms(request: Message) -> Message:
    """The forms of a code that look as it does by the rule for engines, and have as many elements."""
    from gristmill.render.svg import compare

    text, size = request.head["text"], (request.head["width"], request.head["height"])
    picture, count, px_per_unit = _looked_at(text, size)
    found: dict[str, str] = {}
    for name, form in forms(text, px_per_unit).items():
        other, elements, _ = _looked_at(form, size)
        off = compare.unmatched_px(picture, other) * AREA_PX / (size[0] * size[1])
        if elements == count and off <= MAX_UNMATCHED_PX:
            found[name] = form
    return Message({"forms": found})


def _looked_at(text: str, size: tuple[int, int]) -> tuple[Any, int, float]:
    """Picture, number of elements and scale of a text."""
    from gristmill.render.svg import cairo_paint
    from gristmill.render.svg.view import own_size

    root = check(text.encode("utf-8", "surrogatepass"))
    scale = size[0] / own_size(root)[0]
    pixels, _, _ = cairo_paint.draw(keyed(root, *size), *size)
    return pixels.view(np.uint8).reshape(*pixels.shape, 4), len(in_order(root)), scale


def _draw(request: Message) -> Message:
    from gristmill.render.svg import cairo_paint

    head = request.head
    root = check(head["text"].encode("utf-8", "surrogatepass"))
    wanted = named(root, head["parts"])
    _refuse_lacking_glyphs(root)
    width, height = head["width"], head["height"]
    body = keyed(root, width, height)
    asked = frozenset(key for one in wanted for key in range(one.key, one.end))
    pixels, labels, operations = cairo_paint.draw(body, width, height, asked)
    patches = [_patch(operation, labels) for operation in operations]
    seen = [_seen(operation, patch) for operation, patch in zip(operations, patches, strict=True)]
    rows: list[dict[str, Any]] = []
    for one in wanted:
        place = _place(one, operations, patches, seen, (width, height))
        if place is not None:
            rows.append(row(one, place))
    return Message({"rows": ranked(rows)}, png.encode(pixels))


def _refuse_lacking_glyphs(root: etree._Element) -> None:
    """Raise Refused (no_glyph): what is drawn as an empty box is not what the text says."""
    for element in in_order(root):
        char = lacking(text_of(element)) if local(element) == "text" else ""
        if char:
            raise Refused("no_glyph", f"U+{ord(char):04X}")


def row(one: Named, place: Place) -> dict[str, Any]:
    """An annotation as plain data."""
    frac = place.visible_px / place.own_px
    return {
        "id": str(one.key),
        "role": one.role,
        "text": one.text,
        "bbox_full": place.bbox_full,
        "bbox_visible": place.bbox_visible,
        "point": place.point,
        "visible_frac": frac,
        "truncated": place.truncated,
        "z": place.z,
    }


def ranked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in order of drawing, `z` counting from 0."""
    rows = sorted(rows, key=lambda one: (one["z"], -int(one["id"])))
    for rank, one in enumerate(rows):
        one["z"] = rank
    return rows


def _patch(operation: Any, labels: Any) -> Patch | None:
    if operation.mask is None:
        return None
    height, width = operation.mask.shape
    here = labels[operation.y : operation.y + height, operation.x : operation.x + width]
    visible = operation.mask & (here == operation.number if operation.opaque else here < operation.number)
    return Patch(operation.x, operation.y, operation.mask, visible)


def _seen(operation: Any, patch: Patch | None) -> float:
    """Visible pixels that an operation changed in the picture when it was drawn; inf where nobody can tell."""
    if patch is None:
        return 0.0
    return np.inf if operation.changed is None else float(np.count_nonzero(operation.changed & patch.visible))


def _place(
    one: Named, operations: Sequence[Any], patches: Sequence[Patch | None], seen: Sequence[float], size: tuple[int, int]
) -> Place | None:
    """Where an element is; None where too little of it is seen."""
    mine = [at for at, operation in enumerate(operations) if one.key <= operation.key < one.end]
    if sum(seen[at] for at in mine) < MIN_SEEN_PX:
        return None
    whole = merge([patch for at in mine if (patch := patches[at]) is not None])
    if whole is None:
        return None
    visible_px = int(np.count_nonzero(whole.visible))
    box = bounds(whole.visible, whole.x, whole.y)
    if box is None or visible_px < MIN_SEEN_PX or min(box[2] - box[0], box[3] - box[1]) < MIN_SIDE_PX:
        return None
    inner = whole.visible[box[1] - whole.y : box[3] - whole.y, box[0] - whole.x : box[2] - whole.x]
    x, y = pole(inner)
    full, truncated = _full([operations[at] for at in mine if patches[at] is not None], size)
    own_px = int(np.count_nonzero(whole.own))
    point = (box[0] + x + 0.5, box[1] + y + 0.5)
    outer = (min(full[0], box[0]), min(full[1], box[1]), max(full[2], box[2]), max(full[3], box[3]))
    visible = (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
    return Place(one.key, outer, visible, point, visible_px, own_px, truncated, operations[mine[-1]].number)


def _full(operations: Sequence[Any], size: tuple[int, int]) -> tuple[tuple[float, float, float, float], bool]:
    """Box of the geometry within its clips and the picture; whether the picture's edge cuts it, or a text a clip."""
    width, height = size
    boxes = [operation.clipped for operation in operations]
    x0, y0 = max(min(box[0] for box in boxes), 0.0), max(min(box[1] for box in boxes), 0.0)
    x1, y1 = min(max(box[2] for box in boxes), float(width)), min(max(box[3] for box in boxes), float(height))
    return (x0, y0, x1, y1), any(_is_cut(operation, size) for operation in operations)


def _is_cut(operation: Any, size: tuple[int, int]) -> bool:
    box, clip = operation.box, operation.clipped
    if operation.is_text and max(abs(a - b) for a, b in zip(box, clip, strict=True)) > _EDGE_SLACK_PX:
        return True
    low = any(box[side] < -_EDGE_SLACK_PX and clip[side] <= 0 for side in (0, 1))
    return low or any(box[side + 2] > size[side] + _EDGE_SLACK_PX and clip[side + 2] >= size[side] for side in (0, 1))


_ANSWERS: dict[str, Callable[[Message], Message]] = {"draw": _draw, "existing": _existing, "forms": _forms}
