"""The plain-Python twins of `segments_lines` and `segments_tokens`: the test oracles."""

from gristmill.stages.kernels.segments import SEPARATORS, STICKY
from gristmill.stages.kernels.words_plain import Token, raw_lines, stripped, tokens


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
        return chunk
    first, behind = inside[0], inside[-1] + 1
    parts: list[list[Token]] = [[]]
    for i in range(first, behind):
        kinds = [chunk[j].kind for j in (i - 1, i, i + 1) if first <= j < behind]
        separates = kinds == ["run", "symbol", "run"] and chunk[i].text[0] in SEPARATORS
        if separates or (i > first and kinds[:2] == ["run", "run"]):
            parts.append([])
        parts[-1].append(chunk[i])
        if separates:
            parts.append([])
    middle = [Token("run", "".join(t.text for t in part), part[0].start) for part in parts]
    return [*chunk[:first], *middle, *chunk[behind:]]


def token_rows(text: str) -> tuple[list[int], list[int], list[int]]:
    """Ids, `spaced` and the characters of each id for one text."""
    found = gram_tokens(text)
    texts = list(dict.fromkeys(token.text for token in found))
    ids = [texts.index(token.text) for token in found]
    return ids, _gaps(found), [len(text) for text in texts]


def _gaps(found: list[Token]) -> list[int]:
    ends = [0, *(token.start + len(token.text) for token in found)]
    return [int(token.start > end) for token, end in zip(found, ends[:-1], strict=True)]
