"""The bytes between the stage and the HTML child, and the check of what comes back.

Request: one byte (1: keep images), `<I` length of the page's URL, the URL, the page, both UTF-8. Answer: `<IQ` lengths
of the head and of the text; the head (JSON: `media`, `written`), the text (UTF-8), the bytes of data images one
behind the other. A medium of the head has `uri` or `mime` with `size`, and may have `width`, `height`, `alt`.

A child may have been taken over by the page that it read: `checked_answer` believes nothing of it.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from gristmill.stages.text.html_blocks import MEDIUM_CHAR
from gristmill.stages.text.html_images import (
    DATA_TYPES,
    MAX_ALT_CHARS,
    MAX_DATA_BYTES,
    MAX_PAGE_DATA_BYTES,
    MAX_SIDE_PIXELS,
    MAX_URI_CHARS,
)

_REQUEST = struct.Struct("<BI")
_ANSWER = struct.Struct("<IQ")
MAX_HEAD_BYTES = 64 << 20


class Answer(NamedTuple):
    """Text with U+FFFC for each medium, the media in order, characters of the text that the stage wrote itself."""

    text: str
    media: list[dict[str, Any]]
    written: int


class BadAnswerError(ValueError):
    """The child answered what it must not."""


def packed_request(page: memoryview | bytes, url: str, keep_images: bool) -> bytes:
    """Bytes for the child."""
    address = url.encode("utf-8", "replace")
    return b"".join((_REQUEST.pack(keep_images, len(address)), address, page))


def unpacked_request(request: bytes) -> tuple[str, str, bool]:
    """Page, URL, whether images are kept."""
    keep_images, length = _REQUEST.unpack_from(request)
    page_at = _REQUEST.size + length
    url = request[_REQUEST.size : page_at].decode("utf-8", "replace")
    return str(memoryview(request)[page_at:], "utf-8", "replace"), url, bool(keep_images)


def packed_answer(answer: Answer) -> bytes:
    """Bytes for the stage."""
    blobs = [m["data"] for m in answer.media if "data" in m]
    media = [{k: v for k, v in m.items() if k != "data"} | _size(m) for m in answer.media]
    head = json.dumps({"media": media, "written": answer.written}).encode()
    text = answer.text.encode("utf-8", "replace")
    return b"".join((_ANSWER.pack(len(head), len(text)), head, text, *blobs))


def _size(medium: Mapping[str, Any]) -> dict[str, int]:
    return {"size": len(medium["data"])} if "data" in medium else {}


def checked_answer(answer: bytes) -> Answer:
    """The answer of a child, each part checked. Raises BadAnswerError saying what is wrong with it."""
    try:
        head_length, text_length = _ANSWER.unpack_from(answer)
        head_at = _ANSWER.size
        text_at = head_at + head_length
        if head_length > MAX_HEAD_BYTES or text_at + text_length > len(answer):
            raise BadAnswerError("lengths do not fit")
        head = json.loads(answer[head_at:text_at])
        text = str(memoryview(answer)[text_at : text_at + text_length], "utf-8")
        media = _checked_media(head["media"], memoryview(answer)[text_at + text_length :])
        written = head["written"]
    except (struct.error, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, RecursionError) as error:
        raise BadAnswerError(f"not an answer: {type(error).__name__}") from None
    if text.count(MEDIUM_CHAR) != len(media):
        raise BadAnswerError(f"{text.count(MEDIUM_CHAR)} places for {len(media)} media")
    if type(written) is not int or not 0 <= written <= len(text):
        raise BadAnswerError("written characters out of range")
    return Answer(text, media, written)


def _checked_media(media: Any, blobs: memoryview) -> list[dict[str, Any]]:
    if not isinstance(media, list):
        raise BadAnswerError("media are no list")
    at = 0
    checked: list[dict[str, Any]] = []
    for medium in media:
        one = _checked_medium(medium)
        if "size" in one:
            one["data"] = bytes(blobs[at : at + one["size"]])
            at += one.pop("size")
            if not DATA_TYPES[one["mime"]].match(one["data"]):
                raise BadAnswerError("bytes of another type")
        checked.append(one)
    if at != len(blobs) or at > MAX_PAGE_DATA_BYTES:
        raise BadAnswerError("bytes of media do not fit")
    return checked


def _checked_medium(medium: Any) -> dict[str, Any]:
    if not isinstance(medium, dict) or ("uri" in medium) == ("size" in medium):
        raise BadAnswerError("a medium has either address or bytes")
    one: dict[str, Any] = {
        "width": _number(medium.get("width"), MAX_SIDE_PIXELS),
        "height": _number(medium.get("height"), MAX_SIDE_PIXELS),
        "alt": _string(medium.get("alt", ""), MAX_ALT_CHARS),
    }
    if "uri" in medium:
        return one | {"uri": _string(medium["uri"], MAX_URI_CHARS)}
    if medium.get("mime") not in DATA_TYPES:
        raise BadAnswerError("an unknown type of image")
    return one | {"mime": medium["mime"], "size": _number(medium["size"], MAX_DATA_BYTES) or 0}


def _number(value: Any, limit: int) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= limit:
        raise BadAnswerError("a number out of range")
    return value


def _string(value: Any, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit:
        raise BadAnswerError("a text out of range")
    # A lone surrogate can stand in JSON and in no column.
    return value.encode("utf-8", "replace").decode()
