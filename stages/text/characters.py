"""Which characters a text keeps: line ends, control characters, invisible characters, normal form.

Pure functions from a piece of text to the piece anew; each keeps every U+FFFC (it stands for a medium), and what it
returns it would return again. `kernels.damage` counts exactly what they change.

* Line ends: CR LF, CR, VT, FF, FS, GS, RS, NEL, LS and PS (those of `str.splitlines`) become LF.
* Control characters: ANSI escape sequences and overstrikes (a character, a backspace and what is struck over it, as in
  formatted manuals) go as a whole, but for the last character of an overstrike; characters of C1 are read as
  Windows-1252, as browsers do (WHATWG HTML, numeric character references); what is left of C0, DEL
  and C1, but for tab and LF, goes.
* Invisible characters: byte order marks, soft hyphens, word joiners, embeddings, overrides and isolates of direction,
  interlinear annotation, tags and noncharacters go. A zero width joiner or non-joiner stays between characters that
  it joins or parts (`damage_points.JOINED`), a zero width space between letters of scripts without spaces
  (`damage_points.UNSPACED`), tags in a flag. Marks of direction (LRM, RLM, ALM) stay.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Literal

from gristmill.stages.kernels.damage_points import INVISIBLE_POINTS, JOINED, UNSPACED, means_something

_LINE_ENDS = ("\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")

# Bounded, so that no text makes them slow: the longest sequences that programs write are far shorter.
_ANSI = re.compile(
    "\x1b(?:\\[[0-?]{0,64}[ -/]{0,8}[@-~]|\\][^\x07\x1b\n\ufffc]{0,512}(?:\x07|\x1b\\\\)|[ -/]{0,2}[0-Z\\\\^-~])"
)
_OVERSTRIKE = re.compile("[^\n\x08\ufffc]\x08(?=[^\n\x08])")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_C1_BY_1252 = {
    byte: bytes([byte]).decode("cp1252")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x85, 0x8D, 0x8F, 0x90, 0x9D)
}


def _class_of(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(end - 1)}" for first, end in ranges)


_INVISIBLE = re.compile(f"[{''.join(map(chr, INVISIBLE_POINTS))}]")
# The same as `means_something` without a call for each: a million of them in a row are gone in a tenth of the time.
_MEANINGLESS = re.compile(
    f"[{''.join(chr(p) for p in INVISIBLE_POINTS if not 0x200B <= p <= 0x200D)}]"
    f"|\u200b(?![{_class_of(UNSPACED)}])|(?<![{_class_of(UNSPACED)}])\u200b"
    f"|[\u200c\u200d](?![{_class_of(JOINED)}])|(?<![{_class_of(JOINED)}])[\u200c\u200d]"
)
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_BLACK_FLAG = "\U0001f3f4"

MAX_SORTED_MARKS = 64
"""A longer run of combining marks is left as it is: Python sorts marks in quadratic time, minutes for a megabyte.
Unicode's own stream-safe form (UAX 15, section 13) has 30."""
_HIDDEN_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"
"""Starters that come apart into marks."""


def with_line_feeds(text: str) -> str:
    """Every end of a line as one LF."""
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    return text


def without_ansi(text: str) -> str:
    """Without ANSI escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def without_controls(text: str) -> str:
    """Without control characters; those of C1 as Windows-1252 where it has a character."""
    if "\x08" in text:
        text = _OVERSTRIKE.sub("", text)
    return _CONTROL.sub("", text.translate(_C1_BY_1252))


def without_invisibles(text: str) -> str:
    """Without invisible characters that mean nothing where they stand."""
    if _BLACK_FLAG not in text:
        return _MEANINGLESS.sub("", text)
    tags = {at for flag in _FLAG.finditer(text) for at in range(flag.start() + 1, flag.end())}

    def kept(found: re.Match[str]) -> str:
        at = found.start()
        return text[at] if at in tags or means_something(text, at) else ""

    return _INVISIBLE.sub(kept, text)


def in_nfc(text: str) -> str:
    """In normal form C."""
    return in_form("NFC", text)


def in_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """In a composed normal form, but for runs of more than MAX_SORTED_MARKS marks: linear for every text."""
    if text.isascii():
        return text
    parts = _long_runs().split(text)
    if len(parts) == 1:
        return text if unicodedata.is_normalized(form, text) else unicodedata.normalize(form, text)
    return "".join(part if at % 2 else unicodedata.normalize(form, part) for at, part in enumerate(parts))


@functools.lru_cache(maxsize=1)
def _long_runs() -> re.Pattern[str]:
    marks = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.combining(char))
    return re.compile(f"([{marks}{_HIDDEN_MARKS}]{{{MAX_SORTED_MARKS + 1},}})")
