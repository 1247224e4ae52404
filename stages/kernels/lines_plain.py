"""The plain-Python twin of `lines`, `lines_sentences` and `lines_fineweb`: one readable step after another.

The kernels' test oracle.
"""

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED, SOLO, SPACE, UPPER, WORD
from gristmill.stages.kernels.lines_chars import CLOSER, TERMINAL, end_classes
from gristmill.stages.kernels.lines_sentences import ABBREVIATIONS
from gristmill.stages.kernels.words_plain import flags_of, tokens

_MIN_FENCE = 3


def raw_lines(text: str) -> list[tuple[str, str]]:
    """Each line without its end, and with it."""
    return [(whole.splitlines()[0], whole) for whole in text.splitlines(keepends=True)]


def is_space(char: str) -> bool:
    """White space, the mark of a medium too."""
    return bool(flags_of(char) & SPACE)


def stripped(line: str) -> str:
    """Without the white space around it."""
    inside = [i for i, char in enumerate(line) if not is_space(char)]
    return line[inside[0] : inside[-1] + 1] if inside else ""


def last_char(line: str) -> str:
    """The last character that is no mark or format character, "" without one."""
    return next((char for char in reversed(line) if not flags_of(char) & ATTACHED), "")


def ends_of(char: str) -> int:
    """Classes of `lines_chars`; 0 past the end of a text."""
    return int(end_classes()[ord(char)]) if char else 0


def chunk_list(line: str) -> list[str]:
    """The sequences without white space."""
    return "".join(" " if is_space(char) else char for char in line).split(" ") if stripped(line) else []


def count_chunks(line: str) -> int:
    """Chunks; one with several solos counts each."""
    return sum(max(1, sum(bool(flags_of(char) & SOLO) for char in chunk)) for chunk in chunk_list(line) if chunk)


def longest_chunk(line: str) -> int:
    """Characters of the longest chunk, in which a solo ends what stands before it."""
    spaced = "".join(f" {char}" if flags_of(char) & SOLO else char for char in line)
    return max(map(len, chunk_list(spaced)), default=0)


def count_words(line: str) -> int:
    """Runs and solos."""
    return sum(token.kind in ("run", "solo") for token in tokens(line))


def sentences(text: str) -> list[str]:
    """The pieces that begin where a sentence does; all of them together are the text."""
    starts = [0]
    mark: int | None = None
    for at, char in enumerate(text):
        if flags_of(char) & (ALPHA | WORD):
            if mark is not None:
                starts.append(mark)
                mark = None
        else:
            ends = ends_of(char) & TERMINAL and _ends_sentence(text, starts[-1], at)
            mark = at + 1 if ends or (mark == at and ends_of(char) & CLOSER) else mark
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)] if text else []


def _ends_sentence(text: str, start: int, at: int) -> bool:
    char, after = text[at], text[at + 1 : at + 2]
    if not char.isascii():
        return True
    before = last_char(text[start:at])
    if after and not is_space(after) and not ends_of(after) & (CLOSER | TERMINAL):
        capital = flags_of(after) & UPPER
        return char == "." and bool(capital and flags_of(before) & ALPHA and not flags_of(before) & UPPER)
    if char != ".":
        return True
    return after != "." and text[start:at][-1:] != "." and not _abbreviates(text[start:at])


def _abbreviates(before: str) -> bool:
    last = last_char(before)
    if not flags_of(last) & ALPHA:
        return False
    if flags_of(last) & UPPER:
        return not flags_of(last_char(before[: before.rindex(last)])) & ALPHA
    word = ""
    for char in reversed(before):
        if char.isascii() and not char.isalpha() and char != ".":
            break
        word = char + word
    return word.isascii() and word.lower() in ABBREVIATIONS


def columns(line: str) -> int:
    """Characters; a solo counts two."""
    return sum(2 if flags_of(char) & SOLO else 1 for char in line)


def count_lines(text: str, short_columns: int) -> dict[str, int]:
    """The counts of `lines_fineweb.COUNTS` by name."""
    pairs = [(raw, line) for raw, _ in raw_lines(text) if (line := stripped(raw))]
    found = [line for _, line in pairs]
    return {
        "lines": len(found),
        "terminal_lines": sum(bool(ends_of(last_char(line)) & TERMINAL) for line in found),
        "short_lines": sum(columns(line) <= short_columns for line in found),
        "line_chars": sum(raw.rindex(line) + len(line) for raw, line in pairs),
        "line_ends": sum(len(whole) > len(raw) for raw, whole in raw_lines(text)),
    }


def fence_after(line: str, fence: int) -> int:
    """The backticks of the fence that is open behind a line, 0 for none; `fence` are those of the one before it."""
    rest = line.lstrip("`")
    ticks = len(line) - len(rest)
    if fence:
        return 0 if not rest and ticks >= fence else fence
    return ticks if ticks >= _MIN_FENCE and "`" not in rest else 0
