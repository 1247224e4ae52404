"""A text mended piece by piece, so that one of 200 MB costs little beyond itself.

A piece is at most PIECE_BYTES, and ends behind a line feed where it can, else before white space or between two
characters. A text is mended in rounds until nothing changes: what one step leaves may be work for an earlier one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.damage import COUNTS, count_damage
from gristmill.stages.text.characters import in_nfc, with_line_feeds, without_ansi, without_controls, without_invisibles
from gristmill.stages.text.mojibake import evidence, is_damaged, repaired

PIECE_BYTES = 1 << 20
MAX_ROUNDS = 16
"""Each round but the last takes damage away; a text made to take more stays as it is then."""

MOJIBAKE, LINE_END, ANSI, CONTROL, INVISIBLE, NORMAL_FORM = (
    "mojibake_repaired",
    "line_end",
    "ansi_escape",
    "control_character",
    "invisible_character",
    "normal_form",
)
"""Reasons of the characters cut."""

Step = tuple[str, Callable[[str], str]]


@dataclass(frozen=True)
class Mended:
    """A text anew, or None where it was sound, and the characters cut by reason."""

    text: bytearray | None = None
    cut: Mapping[str, int] = field(default_factory=dict[str, int])


def mend(raw: Bytes, with_mojibake: bool, with_nfc: bool) -> Mended:
    """Mend one text."""
    text: bytearray | None = None
    cut: dict[str, int] = {}
    for _ in range(MAX_ROUNDS):
        steps = _steps(raw, with_mojibake, with_nfc)
        made = _round(raw, steps, cut) if steps else None
        if made is None:
            break
        text, raw = made, np.frombuffer(made, dtype=np.uint8)
    return Mended(text, cut)


def _steps(raw: Bytes, with_mojibake: bool, with_nfc: bool) -> list[Step]:
    counts = count_damage(raw, np.array([0, len(raw)], dtype=np.int64))[0]
    count = dict(zip(COUNTS, counts.tolist(), strict=True))
    wanted: list[tuple[bool, Step]] = [
        (with_mojibake and _has_mojibake(raw, count["suspects"], count["chars"]), (MOJIBAKE, repaired)),
        (count["breaks"] > 0, (LINE_END, with_line_feeds)),
        (count["controls"] > 0, (ANSI, without_ansi)),
        (count["controls"] > 0, (CONTROL, without_controls)),
        (count["invisibles"] > 0, (INVISIBLE, without_invisibles)),
        (with_nfc and count["chars"] < len(raw), (NORMAL_FORM, in_nfc)),
    ]
    return [step for is_wanted, step in wanted if is_wanted]


def _has_mojibake(raw: Bytes, suspects: int, chars: int) -> bool:
    if not is_damaged(suspects, 0, chars):
        # No evidence can be more than the kernel suspects: a text with a few is told without a search.
        return False
    found = [evidence(piece) for piece in pieces(raw)]
    return is_damaged(sum(free for free, _ in found), sum(quoted for _, quoted in found), chars)


def _round(raw: Bytes, steps: list[Step], cut: dict[str, int]) -> bytearray | None:
    """The text after each step over each piece, None where that changes nothing; adds to `cut`."""
    out: bytearray | None = None
    at = 0
    for piece in pieces(raw):
        text = piece
        for reason, step in steps:
            made = step(text)
            cut[reason] = cut.get(reason, 0) + len(text) - len(made)
            text = made
        if out is None and text != piece:
            out = bytearray(raw[:at].data)
        if out is not None:
            out += text.encode()
        at += len(piece.encode())
    return out


def pieces(raw: Bytes) -> Iterator[str]:
    """The text in order; bytes that are not UTF-8 come as U+FFFD."""
    at = 0
    while at < len(raw):
        window = raw[at : at + PIECE_BYTES].tobytes()
        if at + len(window) < len(raw):
            window = window[: _end_of_piece(window)]
        yield window.decode("utf-8", "replace")
        at += len(window)


def _end_of_piece(window: bytes) -> int:
    end = window.rfind(b"\n") + 1
    # Not between CR and LF, nor before a mark or joiner: what stands before a space ends there.
    end = end or max(window.rfind(b" "), 0)
    if end == 0:
        end = len(window) - window.endswith(b"\r")
        while end > len(window) - 4 and window[end - 1] & 0xC0 == 0x80:
            end -= 1
        end -= window[end - 1] >= 0xC0
    return end or len(window)
