"""The languages of a text's paragraphs, and the text without those of other languages.

Paragraphs are parted by blank lines; in a text without one, each line is a paragraph. One whose letters weigh less
than MIN_LETTERS (`kernels.scripts.LETTER_WORTH`), whose score is below MIN_SCORE, or in whose script its label is
mostly not written, is not judged. Of a text at most MAX_PARAGRAPHS are looked at; what follows is the last one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from gristmill.stages.kernels.buffers import Bytes
from gristmill.stages.kernels.damage import COUNTS, count_damage
from gristmill.stages.text.language_profiles import code_of
from gristmill.stages.text.language_scripts import script_share, weight_of
from gristmill.stages.text.language_sight import letters_of, one_line
from gristmill.stages.text.lid_model import predictor

MIN_LETTERS = 40
MIN_SCORE = 0.5
MAX_PARAGRAPHS = 200_000
MAX_CHARS = 500
"""Of a paragraph as much is looked at; 500 characters give 97.4 % of the labels of whole documents."""
_MAX_BYTES = 4 * MAX_CHARS
_AT_ONCE = 4096
_WINDOW_BYTES = 1 << 20
_MEDIUM = "\ufffc".encode()


@dataclass(frozen=True)
class Paragraph:
    """Bytes [start, end) of a text, blank lines behind it included; `label` is None where it is not judged."""

    start: int
    end: int
    chars: int
    label: str | None


@dataclass(frozen=True)
class Look:
    """What looking at the paragraphs of a text gives.

    `shares`: label -> share in [0, 1] of the characters of judged paragraphs; `main_frac`: the share of the main
    language, 1 where none is judged; `text`: without paragraphs of other languages, None where nothing is cut.
    """

    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    main_frac: float = 1.0
    text: bytearray | None = None
    cut_chars: int = 0


def look(raw: Bytes, main: str, keep: Sequence[str] | None) -> Look:
    """Judge the paragraphs of a text in the language `main`; with `keep`, cut those in none of these languages (in
    another than the main one where it is empty)."""
    judged = paragraphs_of(raw)
    shares = shares_of(judged)
    main_frac = min(sum(s for label, s in shares.items() if same_language(main, label)), 1.0) if shares else 1.0
    if keep is None:
        return Look(shares, main_frac)
    wanted = keep or (main,)
    text, cut_chars = without_others(raw, judged, lambda label: any(same_language(w, label) for w in wanted))
    return Look(shares, main_frac, text if cut_chars else None, cut_chars)


def same_language(one: str, other: str) -> bool:
    """Whether two labels are one language for the limits of `language_profiles` (such as nn and no), or are equal."""
    return one == other or (bool(code_of(one)) and code_of(one) == code_of(other))


def paragraphs_of(raw: Bytes) -> list[Paragraph]:
    """The paragraphs of a text (UTF-8), judged; they tile it."""
    starts = _starts(raw, False)
    starts = starts if len(starts) > 1 else _starts(raw, True)
    ends = [*starts[1:], len(raw)]
    chars = count_damage(raw, np.array([*starts, len(raw)], dtype=np.int64))[:, COUNTS.index("chars")].tolist()
    found: list[Paragraph] = []
    for at in range(0, len(starts), _AT_ONCE):
        spans = list(zip(starts[at : at + _AT_ONCE], ends[at : at + _AT_ONCE], strict=True))
        labels = _labels([_head(raw, start, end) for start, end in spans])
        found += [Paragraph(*span, chars[at + n], labels[n]) for n, span in enumerate(spans)]
    return found


def _head(raw: Bytes, start: int, end: int) -> str:
    window = raw[start : min(end, start + _MAX_BYTES)].tobytes()
    return one_line(window.decode("utf-8", "ignore")[:MAX_CHARS])


def _starts(raw: Bytes, by_line: bool) -> list[int]:
    """Starts of paragraphs: of lines that are not blank, behind a blank line or, `by_line`, behind any line."""
    starts = [0] if len(raw) else []
    at, after_blank, has_text = 0, False, False
    for end, is_blank in _lines(raw):
        if not is_blank and has_text and (by_line or after_blank):
            starts.append(at)
            if len(starts) == MAX_PARAGRAPHS:
                break
        has_text = has_text or not is_blank
        at, after_blank = end, is_blank
    return starts


def _lines(raw: Bytes) -> Iterator[tuple[int, bool]]:
    """The end of each line, and whether it is blank."""
    end, is_blank, is_open = 0, True, False
    for at in range(0, len(raw), _WINDOW_BYTES):
        parts = raw[at : at + _WINDOW_BYTES].tobytes().split(b"\n")
        for number, part in enumerate(parts):
            is_blank = is_blank and not part.strip()
            end += len(part)
            is_open = is_open or bool(part)
            if number + 1 < len(parts):
                end += 1
                yield end, is_blank
                is_blank, is_open = True, False
    if is_open:
        yield end, is_blank


def _labels(lines: Sequence[str]) -> list[str | None]:
    letters = letters_of(lines)
    asked = (weight_of(letters) >= MIN_LETTERS).nonzero()[0].tolist()
    labels: list[str | None] = [None] * len(lines)
    found, scores = predictor()([lines[row] for row in asked])
    shares = script_share(letters[asked], found)
    for row, label, score, share in zip(asked, found, scores.tolist(), shares.tolist(), strict=True):
        labels[row] = label if score >= MIN_SCORE and share >= MIN_SCORE else None
    return labels


def shares_of(paragraphs: Sequence[Paragraph]) -> Mapping[str, float]:
    """Label -> share, in [0, 1], of the characters of all judged paragraphs, most first; empty where none is judged."""
    chars: dict[str, int] = {}
    for paragraph in paragraphs:
        if paragraph.label is not None:
            chars[paragraph.label] = chars.get(paragraph.label, 0) + paragraph.chars
    whole = max(sum(chars.values()), 1)
    return {label: chars[label] / whole for label in sorted(chars, key=lambda label: (-chars[label], label))}


def without_others(
    raw: Bytes, paragraphs: Sequence[Paragraph], is_wanted: Callable[[str], bool]
) -> tuple[bytearray, int]:
    """The text without judged paragraphs of languages that are not wanted, and how many characters went.

    One that is not judged goes where the judged ones before and after it go (or that of the two which there is). A
    paragraph with a medium stays.
    """
    verdicts = [None if p.label is None else not is_wanted(p.label) for p in paragraphs]
    before = accumulate(verdicts, _last)
    after = reversed([*accumulate(reversed(verdicts), _last)])
    kept = bytearray()
    cut = 0
    for paragraph, last, following in zip(paragraphs, before, after, strict=True):
        part = raw[paragraph.start : paragraph.end]
        goes = (last or following) and last is not False and following is not False
        if goes and _MEDIUM not in part.tobytes():
            cut += paragraph.chars
        else:
            kept += part.data
    return kept, cut


def _last(before: bool | None, now: bool | None) -> bool | None:
    return before if now is None else now
