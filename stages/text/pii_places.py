"""Where the files of a whole repository stand in its text, kept true while spans of the text are replaced.

`meta` of such a record holds `files` under its source's name: for each file `path`, and the characters `[start, end)`
of `text` that it takes (see the source `tree`). Data is hostile: what has not this shape is left as it is.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import orjson

from gristmill.manifests.schema import MAX_DOC_BYTES


class Edit(NamedTuple):
    """Bytes `[start, end)` of a text became `new_chars` characters."""

    start: int
    end: int
    new_chars: int


class Places:
    """The places of one record's files; `moved` follows a round of edits, `meta` gives the record's meta anew."""

    def __init__(self, meta: Any, files: list[dict[str, Any]]) -> None:
        self._meta, self._files = meta, files

    @classmethod
    def of(cls, meta: str | None) -> "Places | None":
        """The places in a record's `meta`; None where it has none."""
        if not meta or '"files"' not in meta:
            return None
        try:
            found = orjson.loads(meta)
        except orjson.JSONDecodeError:
            return None
        files = list(_files(found))
        return cls(found, files) if files and _can_be_written(found) else None

    def moved(self, text: bytes, edits: Sequence[Edit]) -> None:
        """Follow edits, in ascending order, of `text`: a bound inside a replaced span goes to its end."""
        bounds = sorted({file[name] for file in self._files for name in ("start", "end")})
        new = dict(zip(bounds, _moved(text, edits, bounds), strict=True))
        for file in self._files:
            file["start"], file["end"] = new[file["start"]], new[file["end"]]

    def meta(self) -> str:
        """JSON as it was, with the places that hold now."""
        return orjson.dumps(self._meta).decode()


def _files(meta: Any) -> Iterator[dict[str, Any]]:
    spaces = list(cast(dict[str, Any], meta).values()) if isinstance(meta, dict) else []
    for space in spaces:
        listed = cast(dict[str, Any], space).get("files") if isinstance(space, dict) else None
        for file in cast(list[Any], listed) if isinstance(listed, list) else []:
            if isinstance(file, dict) and all(_is_place(cast(Any, file).get(name)) for name in ("start", "end")):
                yield cast(dict[str, Any], file)


def _is_place(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_DOC_BYTES


def _can_be_written(meta: Any) -> bool:
    # orjson reads 1,024 levels, and writes 254.
    try:
        orjson.dumps(meta)
    except orjson.JSONEncodeError:
        return False
    return True


def _moved(text: bytes, edits: Sequence[Edit], bounds: list[int]) -> list[int]:
    new: list[int] = []
    at_byte = at_char = shift = 0
    for edit in edits:
        first = at_char + _chars(text[at_byte : edit.start])
        behind = first + _chars(text[edit.start : edit.end])
        while len(new) < len(bounds) and bounds[len(new)] <= first:
            new.append(bounds[len(new)] + shift)
        while len(new) < len(bounds) and bounds[len(new)] < behind:
            new.append(first + shift + edit.new_chars)
        at_byte, at_char, shift = edit.end, behind, shift + edit.new_chars - (behind - first)
    return [*new, *(bound + shift for bound in bounds[len(new) :])]


def _chars(part: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(part, np.int8) >= -64))
