"""The plain-Python twins of `segments_lines` and `segments_tokens`: the test oracles."""

from gristmill.stages.kernels.char_table import SPACE, UPPER, WORD
from gristmill.stages.kernels.words_plain import Token, flags_of, raw_lines, stripped, tokens


def line_rows(text: str) -> tuple[list[tuple[int, ...]], list[bool]]:
    """The rows of `segments.LineTable.table` and `opens` for one text."""
    found: list[tuple[int, ...]] = []
    opens: list[bool] = []
    at, blank = 0, True
    for raw, end in raw_lines(text):
        line = stripped(raw)
        if line:
            first = at + len(raw) - len(raw.lstrip(_spaces(raw)))
            words = [token for token in tokens(line) if token.kind != "symbol"]
            runs = [len(token.text) for token in words if token.kind == "run"]
            start = len(text[:first].encode())
            upper = sum(1 for c in line if flags_of(c) & UPPER)
            digits = sum(1 for c in line if flags_of(c) & WORD and c != "_")
            places = start, start + len(line.encode()), len(line)
            found.append((*places, len(words), ord(line[-1]), max(runs, default=0), upper, digits))
            opens.append(blank)
        blank = not line
        at += len(raw) + len(end)
    return found, opens


def _spaces(raw: str) -> str:
    return "".join(c for c in raw if flags_of(c) & SPACE)


def _paragraphs(lines: list[str]) -> list[str]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return ["\n".join(part) for part in found if part]


def _repeated(parts: list[str]) -> list[str]:
    return [part for i, part in enumerate(parts) if part in parts[:i]]


def repeat_counts(text: str) -> tuple[int, ...]:
    """The row of `segments.Repeats.table` for one text."""
    # The white space before a line stays, that behind it goes.
    lines = [
        raw[: raw.rindex(stripped(raw)) + len(stripped(raw))] if stripped(raw) else "" for raw, _ in raw_lines(text)
    ]
    counts: list[int] = []
    for parts in ([line for line in lines if line], _paragraphs(lines)):
        dups = _repeated(parts)
        counts += [len(parts), len(dups), sum(map(len, dups))]
    return tuple(counts)


def token_rows(text: str) -> tuple[list[int], list[int], list[int]]:
    """Ids, `spaced` and the characters of each id for one text."""
    found = tokens(text)
    texts = list(dict.fromkeys(token.text for token in found))
    ids = [texts.index(token.text) for token in found]
    return ids, _gaps(found), [len(text) for text in texts]


def _gaps(found: list[Token]) -> list[int]:
    ends = [0, *(token.start + len(token.text) for token in found)]
    return [int(token.start > end) for token, end in zip(found, ends[:-1], strict=True)]
