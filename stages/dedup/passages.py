"""A text without some of its passages, and the record's `meta` that follows it.

Media stand by marks (U+FFFC) in the text, as many as there are media: those of a passage stay. The places of a
repository's files move with the text (`text.pii_places`). What was cut is noted in `meta` under `decontaminate`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import orjson

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.text.pii_places import Edit, Places

NOTES = "decontaminate"
_MEDIUM = MEDIUM_CHAR.encode()
_GAP = b"\n"


class Passage(NamedTuple):
    """The text that stays (UTF-8), its `meta`, and the characters of gaps that were written."""

    text: bytearray
    meta: str | None
    gaps: int


def without_passages(
    text: Bytes, spans: npt.NDArray[np.int64], meta: str | None, notes: Sequence[Mapping[str, str]]
) -> Passage:
    """The text without the bytes [start, stop) of `spans` (ascending, apart), a line end for each that stood between
    others; `notes` has an entry for each span."""
    view, whole = text.data, len(text)
    out, at, gaps = bytearray(), 0, 0
    edits: list[Edit] = []
    told: list[dict[str, Any]] = []
    for (start, stop), note in zip(spans.tolist(), notes, strict=True):
        part = view[start:stop].tobytes()
        gap = _GAP if start > 0 and stop < whole else b""
        media = part.count(_MEDIUM)
        out += view[at:start]
        out += gap + _MEDIUM * media
        edits.append(Edit(start, stop, len(gap) + media))
        told.append({**note, "chars": len(part.decode("utf-8")) - media})
        at, gaps = stop, gaps + len(gap)
    out += view[at:]
    return Passage(out, _noted(_moved(text, meta, edits), told), gaps)


def _moved(text: Bytes, meta: str | None, edits: Sequence[Edit]) -> str | None:
    places = Places.of(meta)
    if places is None:
        return meta
    places.moved(text.tobytes(), edits)
    return places.meta()


def _noted(meta: str | None, notes: Sequence[Mapping[str, Any]]) -> str | None:
    """`meta` with the notes; what is no JSON object, or nested too deeply to be written, is left as it is."""
    try:
        found = orjson.loads(meta) if meta else {}
        if not isinstance(found, dict):
            return meta
        return orjson.dumps({**cast(dict[str, Any], found), NOTES: list(notes)}).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return meta
