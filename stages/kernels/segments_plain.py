"""The plain-Python twins of `segments_lines` and `segments_tokens`: the test oracles."""

from gristmill.stages.kernels.char_table import ALPHA, ATTACHED
from gristmill.stages.kernels.segments import MAX_SINGLE_SYMBOLS, SAME_KIND, SEPARATORS, STICKY
from gristmill.stages.kernels.words_plain import Token, flags_of, raw_lines, stripped, tokens


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


def gram_tokens(text: str) -> list[Token]:
    """The tokens of `segments_tokens`; `kind` says nothing."""
    found: list[Token] = []
    chunk: list[Token] = []
    for token in tokens(text):
        if token.kind == "solo" or (chunk and token.start > chunk[-1].start + len(chunk[-1].text)):
            found += _of_chunk(chunk)
            chunk = []
        if token.kind == "solo":
            found.append(token)
        else:
            chunk.append(token)
    return found + _of_chunk(chunk)


def _of_chunk(chunk: list[Token]) -> list[Token]:
    inside = [i for i, token in enumerate(chunk) if token.kind == "run" or token.text[0] in STICKY]
    if not inside:
        return _lone(chunk)
    first, behind = inside[0], inside[-1] + 1
    parts: list[list[Token]] = [[]]
    address = False
    for i in range(first, behind):
        between = [chunk[j] for j in (i - 1, i, i + 1) if first <= j < behind]
        separates = not address and _separates(between)
        if separates or (i > first and between[0].kind == between[1].kind == "run"):
            parts.append([])
        parts[-1].append(chunk[i])
        if separates:
            parts.append([])
        address = address or (i > first and _symbols(chunk[i].text) == "//")
    middle = [Token(part[0].kind, "".join(t.text for t in part), part[0].start) for part in parts]
    lone = [i for i in range(len(middle)) if parts[i][0].kind == "symbol" and parts[i][0].text[0] not in STICKY]
    apart = [_lone([token]) if i in lone else [token] for i, token in enumerate(middle)]
    return [*_lone(chunk[:first]), *(token for tokens in apart for token in tokens), *_lone(chunk[behind:])]


def _symbols(text: str) -> str:
    """A symbol's repetitions without the marks on them."""
    return "".join(char for char in text if not flags_of(char) & ATTACHED)


def _separates(between: list[Token]) -> bool:
    if [token.kind for token in between] != ["run", "symbol", "run"]:
        return False
    point, repeats = between[1].text[0], len(_symbols(between[1].text))
    if point not in SEPARATORS or (repeats > 1 and not (point == "-" and repeats <= MAX_SINGLE_SYMBOLS)):
        return False
    before, after = (_is_letter(char) for char in (between[0].text[-1], between[2].text[0]))
    return before == after if point in SAME_KIND else after


def _is_letter(char: str) -> bool:
    return not char.isascii() or bool(flags_of(char) & ALPHA)


def _lone(chunk: list[Token]) -> list[Token]:
    """Few equal symbols are as many tokens."""
    found: list[Token] = []
    for token in chunk:
        repeats = len(_symbols(token.text))
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
