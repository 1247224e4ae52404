"""Contact sheets: the pictures of a family with what is said of them drawn over, for people to look at.

A tile is a picture, enlarged or reduced to at most TILE_PX a side, under it a line that names its record; on it for
each annotation the full box (thin, where it is another), the visible box, the point, and the role. Colours go by role.
"""

import io
from collections.abc import Sequence
from hashlib import sha256

from PIL import Image, ImageDraw, ImageFont

from gristmill.manifests.child import ChildFailure
from gristmill.manifests.errors import VerifyError
from gristmill.render.dataset import Record
from gristmill.render.pixels import decode_stored

TILE_PX = 420
COLUMNS = 4
_MARGIN_PX = 10
_CAPTION_PX = 16
_POINT_PX = 3
_ROLE_CHARS = 24
_ROLE_PX = 9
_MAX_ENLARGED = 2.0
_COLOURS = ("#e6194b", "#0b8a3c", "#1f5fe0", "#c25a00", "#7b1fa2", "#00798c", "#b8006e", "#5d6d00")


def sheet(records: Sequence[Record], title: str) -> bytes:
    """A PNG of the records of a family, in order."""
    tiles = [_tile(record) for record in records]
    columns = min(COLUMNS, max(len(tiles), 1))
    rows = [tiles[start : start + columns] for start in range(0, len(tiles), columns)]
    heights = [max(tile.height for tile in row) + _MARGIN_PX for row in rows]
    width = columns * (TILE_PX + _MARGIN_PX) + _MARGIN_PX
    image = Image.new("RGB", (width, sum(heights) + _CAPTION_PX + 2 * _MARGIN_PX), "#d8d8d8")
    ImageDraw.Draw(image).text((_MARGIN_PX, _MARGIN_PX // 2), title, fill="#000000", font=_font(14))
    top = _CAPTION_PX + _MARGIN_PX
    for row, height in zip(rows, heights, strict=True):
        for column, tile in enumerate(row):
            image.paste(tile, (_MARGIN_PX + column * (TILE_PX + _MARGIN_PX), top))
        top += height
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _tile(record: Record) -> Image.Image:
    picture = _picture(record)
    scale = min(TILE_PX / max(picture.size), _MAX_ENLARGED)
    shown = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    tile = Image.new("RGB", (TILE_PX, shown.height + _CAPTION_PX), "#d8d8d8")
    tile.paste(shown, (0, 0))
    brush = ImageDraw.Draw(tile)
    for one in record.medium["annotations"]:
        _draw(brush, one, scale)
    render = record.render
    place = render["file"] or f"slot {render['slot']}.{render['attempt']}"
    caption = f"{place}  {picture.width}x{picture.height}  {len(record.medium['annotations'])} annotations"
    brush.text((2, shown.height + 2), caption[:70], fill="#000000", font=_font(10))
    return tile


def _picture(record: Record) -> Image.Image:
    """Raises VerifyError where it cannot be decoded."""
    try:
        found = decode_stored(record.medium["bytes"])
    except (OSError, TypeError) as error:
        raise VerifyError("a picture cannot be decoded", record.id, error, "run `gristmill verify`") from error
    if isinstance(found, ChildFailure):
        raise VerifyError("a picture cannot be decoded", record.id, found.detail or found.kind, "drop it: render_check")
    return Image.fromarray(found.rgba).convert("RGB")


def _draw(brush: ImageDraw.ImageDraw, one: dict[str, object], scale: float) -> None:
    role = str(one["role"])
    colour = _COLOURS[sha256(role.encode("utf-8", "replace")).digest()[0] % len(_COLOURS)]
    full, seen = _scaled(one["bbox_full"], scale), _scaled(one["bbox_visible"], scale)
    if full != seen:
        _dashed(brush, full, colour)
    brush.rectangle((seen[0], seen[1], max(seen[2] - 1, seen[0]), max(seen[3] - 1, seen[1])), outline=colour)
    x, y = _scaled(one["point"], scale)
    brush.line((x - _POINT_PX, y, x + _POINT_PX, y), fill=colour)
    brush.line((x, y - _POINT_PX, x, y + _POINT_PX), fill=colour)
    at = (seen[0], seen[1] - _ROLE_PX if seen[1] >= _ROLE_PX else seen[1])
    brush.text(at, role[:_ROLE_CHARS], fill=colour, font=_font(_ROLE_PX - 1), stroke_width=1, stroke_fill="#ffffff")


def _scaled(numbers: object, scale: float) -> list[int]:
    assert isinstance(numbers, list)
    return [round(float(number) * scale) for number in numbers]


def _dashed(brush: ImageDraw.ImageDraw, box: Sequence[int], colour: str, dash_px: int = 3) -> None:
    x0, y0, x1, y1 = box
    for x in range(x0, x1, 2 * dash_px):
        for y in (y0, max(y1 - 1, y0)):
            brush.line((x, y, min(x + dash_px, x1) - 1, y), fill=colour)
    for y in range(y0, y1, 2 * dash_px):
        for x in (x0, max(x1 - 1, x0)):
            brush.line((x, y, x, min(y + dash_px, y1) - 1), fill=colour)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
