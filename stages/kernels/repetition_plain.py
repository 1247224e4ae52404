"""The plain-Python twin of `repetition`: n-grams as tuples of texts. The test oracle."""

from collections import Counter

from gristmill.stages.kernels.segments_plain import gram_tokens


def n_gram_chars(text: str, top: tuple[int, ...], duplicated: tuple[int, ...]) -> list[int]:
    """The row of `repetition.n_gram_chars` for one text."""
    found = gram_tokens(text)
    texts = [token.text for token in found]
    gaps = [i > 0 and found[i].start > found[i - 1].start + len(texts[i - 1]) for i in range(len(found))]
    return [*(_top(texts, gaps, n) for n in top), *(_duplicated(texts, n) for n in duplicated)]


def _grams(texts: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(texts[i : i + n]) for i in range(len(texts) - n + 1)]


def _top(texts: list[str], gaps: list[bool], n: int) -> int:
    grams = _grams(texts, n)
    best = Counter(grams).most_common(1)
    if not best or best[0][1] < 2:
        return 0
    starts = [i for i, gram in enumerate(grams) if gram == best[0][0]]
    covered = {at for i in starts for at in range(i, i + n)}
    inner = {at for i in starts for at in range(i + 1, i + n)}
    return sum(len(texts[at]) for at in covered) + sum(gaps[at] for at in inner)


def _duplicated(texts: list[str], n: int) -> int:
    seen: set[tuple[str, ...]] = set()
    chars, at = 0, 0
    while at + n <= len(texts):
        gram = tuple(texts[at : at + n])
        if gram in seen:
            chars += sum(map(len, gram))
            at += n
        else:
            seen.add(gram)
            at += 1
    return chars
