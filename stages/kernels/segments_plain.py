"""The plain-Python twins of `segments_lines` and `segments_tokens`: the test oracles."""

from gristmill.stages.kernels.char_table import ATTACHED
from gristmill.stages.kernels.segments import MAX_SINGLE_SYMBOLS, STICKY
from gristmill.stages.kernels.words_plain import (
    Token,
    chunks,
    flags_of,
    parts,
    parts_of,
    raw_lines,
    stripped,
    without_marks,
)


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
    for units in ([line for line in lines if line], _paragraphs(lines)):
        dups = _repeated(units)
        counts += [len(units), len(dups), sum(map(len, dups))]
    return tuple(counts)


def gram_tokens(text: str) -> list[Token]:
    """The tokens of `segments_tokens`; `kind` says nothing."""
    found: list[Token] = []
    for chunk in chunks(parts_of(text)):
        found += chunk if chunk[0].kind == "solo" else _of_chunk(chunk)
    return found


def _of_chunk(chunk: list[Token]) -> list[Token]:
    inside = [i for i, token in enumerate(chunk) if token.kind == "run" or token.text[0] in STICKY]
    if not any(token.kind == "run" for token in chunk) and any(
        len(without_marks(token.text)) > MAX_SINGLE_SYMBOLS for token in chunk
    ):
        return [Token("symbol", "".join(token.text for token in chunk), chunk[0].start)]
    if not inside:
        return _lone(chunk)
    first, behind = inside[0], inside[-1] + 1
    words: list[list[Token]] = [[]]
    alone: list[int] = []
    for i in range(first, behind):
        separates = parts(chunk, i)
        if separates or (i > first and chunk[i - 1].kind == chunk[i].kind == "run"):
            words.append([])
        words[-1].append(chunk[i])
        if separates:
            alone.append(len(words) - 1)
            words.append([])
    middle = [Token(part[0].kind, "".join(t.text for t in part), part[0].start) for part in words]
    apart = [_lone([token]) if i in alone else _without_underscores(token) for i, token in enumerate(middle)]
    return [*_lone(chunk[:first]), *(token for tokens in apart for token in tokens), *_lone(chunk[behind:])]


def _without_underscores(token: Token) -> list[Token]:
    """A word, and the underscores at its ends."""
    lead = len(token.text) - len(token.text.lstrip("_"))
    trail = len(token.text) - max(len(token.text.rstrip("_")), lead)
    cuts = [(0, lead), (lead, len(token.text) - trail), (len(token.text) - trail, len(token.text))]
    before, word, behind = [Token("symbol", token.text[i:j], token.start + i) for i, j in cuts]
    return [*_lone([before]), *([word] if word.text else []), *_lone([behind])]


def _lone(chunk: list[Token]) -> list[Token]:
    """Few equal symbols are as many tokens."""
    found: list[Token] = []
    for token in chunk:
        repeats = len(without_marks(token.text))
        if not token.text:
            continue
        if 1 < repeats <= MAX_SINGLE_SYMBOLS and token.text[0] not in (".", *STICKY):
            starts = [i for i, char in enumerate(token.text) if not flags_of(char) & ATTACHED]
            ends = [*starts[1:], len(token.text)]
            found += [Token("symbol", token.text[i:j], token.start + i) for i, j in zip(starts, ends, strict=True)]
        else:
            found.append(token)
    return found


def token_rows(text: str) -> tuple[list[int], list[int], list[int]]:
    """Ids, `spaced` and the characters of each id for one text."""
    found = gram_tokens(text)
    texts = list(dict.fromkeys(token.text for token in found))
    ids = [texts.index(token.text) for token in found]
    return ids, _gaps(found), [len(text) for text in texts]


def _gaps(found: list[Token]) -> list[int]:
    ends = [0, *(token.start + len(token.text) for token in found)]
    return [int(token.start > end) for token, end in zip(found, ends[:-1], strict=True)]
