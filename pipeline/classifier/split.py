"""Train, calibration and test parts that share no source, no document and hardly a line.

Sources are split, not documents: all documents of a group (the first parts of `Document.key`) go to one part. Each side
takes the coarsest depth of key that gives at least MIN_GROUPS groups, none of them with more than MAX_GROUP_SHARE of
the side; where no depth does, documents are split by content hash, which the report says as a warning, since
documents of one source then stand on both sides of a split and scores look better than they are.

Duplicates (equal but for case and white space) are dropped before, texts that bear both labels altogether; afterwards a
calibration or test document goes, half of whose lines (by characters) stand in documents of an earlier part.
Order and draws come from content and the seed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.classifier.inputs import Document

PARTS = ("train", "calibrate", "test")
SHARES: Mapping[str, float] = {"train": 0.6, "calibrate": 0.2, "test": 0.2}
SIDES = ("negative", "positive")
MIN_GROUPS = 10
MAX_GROUP_SHARE = 0.3
MAX_DEPTH = 8
MIN_DOCS_A_PART = 5
MAX_SHARED_LINES = 0.5
SHORT_LINE_CHARS = 20
BALANCE = 3.0
"""In training the larger class is cut to this many times the smaller, by content hash; never in the other parts."""

BY_CONTENT = "content"


@dataclass(frozen=True)
class Labelled:
    """A document with its class."""

    document: Document
    positive: bool


@dataclass(frozen=True)
class Split:
    """The parts, each sorted by digest, and what was left out: counts by reason and by side's grouping."""

    parts: Mapping[str, tuple[Labelled, ...]]
    left_out: Mapping[str, int]
    grouping: Mapping[str, Mapping[str, int | str]]
    warnings: tuple[str, ...]


def split(negatives: Sequence[Document], positives: Sequence[Document], seed: int) -> Split:
    """Three parts of two classes. Raises InputError when a part gets too few documents of a class."""
    left_out: Counter[str] = Counter()
    sides = _without_duplicates((negatives, positives), left_out)
    depths = [_depth(side) for side in sides]
    groups = [[_group(one, depth) for one in side] for side, depth in zip(sides, depths, strict=True)]
    part_of = _assigned(groups, seed)
    parts: dict[str, list[Labelled]] = {part: [] for part in PARTS}
    for positive, (side, names) in enumerate(zip(sides, groups, strict=True)):
        for one, group in zip(side, names, strict=True):
            parts[part_of[group]].append(Labelled(one, bool(positive)))
    _drop_overlaps(parts, left_out)
    parts["train"] = _balanced(parts["train"], seed, left_out)
    _check(parts, left_out)
    grouping = {
        name: {"by": "source" if depth else BY_CONTENT, "depth": depth, "groups": len(set(names))}
        for name, depth, names in zip(SIDES, depths, groups, strict=True)
    }
    ordered = {part: tuple(sorted(rows, key=lambda row: row.document.digest)) for part, rows in parts.items()}
    return Split(ordered, dict(left_out), grouping, _warnings(depths))


def _without_duplicates(sides: Sequence[Sequence[Document]], left_out: "Counter[str]") -> list[list[Document]]:
    named = [[(_same_text(one), one) for one in side] for side in sides]
    both = {key for key, _ in named[0]} & {key for key, _ in named[1]}
    kept: list[list[Document]] = []
    for side in named:
        first: dict[bytes, Document] = {}
        for key, one in side:
            if key in both:
                left_out["in both classes"] += 1
            elif key in first:
                left_out["duplicate"] += 1
            else:
                first[key] = one
        kept.append(list(first.values()))
    return kept


def _same_text(document: Document) -> bytes:
    return blake3("\n".join(" ".join(window.split()) for window in document.windows).lower().encode()).digest(16)


def _depth(side: Sequence[Document]) -> int:
    """The coarsest depth of key that splits the side well; 0 for none."""
    for depth in range(1, MAX_DEPTH + 1):
        counts = Counter(one.key[:depth] for one in side)
        if len(counts) >= MIN_GROUPS and max(counts.values()) <= MAX_GROUP_SHARE * len(side):
            return depth
    return 0


def _group(document: Document, depth: int) -> tuple[str, ...]:
    return document.key[:depth] if depth else (BY_CONTENT, document.digest.hex())


def _assigned(groups: Sequence[Sequence[tuple[str, ...]]], seed: int) -> dict[tuple[str, ...], str]:
    """Group -> part: groups in an order drawn by the seed, each to the part that lacks most of what it brings."""
    sizes = [Counter(names) for names in groups]
    missing = {part: [share * sum(counts.values()) for counts in sizes] for part, share in SHARES.items()}
    part_of: dict[tuple[str, ...], str] = {}
    for group in sorted(set(sizes[0]) | set(sizes[1]), key=lambda name: _drawn(seed, "\0".join(name).encode())):
        brings = [counts[group] / max(sum(counts.values()), 1) for counts in sizes]

        def lack(part: str, brings: list[float] = brings) -> float:
            wanted = [w / SHARES[part] / max(sum(c.values()), 1) for w, c in zip(missing[part], sizes, strict=True)]
            return sum(b * w for b, w in zip(brings, wanted, strict=True))

        best = max(PARTS, key=lack)
        part_of[group] = best
        missing[best] = [w - counts[group] for w, counts in zip(missing[best], sizes, strict=True)]
    return part_of


def _drop_overlaps(parts: dict[str, list[Labelled]], left_out: "Counter[str]") -> None:
    seen: set[str] = set()
    for part in PARTS:
        kept = [row for row in parts[part] if _shared_lines(row.document, seen) <= MAX_SHARED_LINES]
        if part != "train":
            left_out[f"near duplicate in {part}"] += len(parts[part]) - len(kept)
            parts[part] = kept
        seen.update(line for row in kept for line in _lines(row.document))


def _lines(document: Document) -> Iterable[str]:
    stripped = (line.strip().lower() for window in document.windows for line in window.splitlines())
    return (line for line in stripped if len(line) >= SHORT_LINE_CHARS)


def _shared_lines(document: Document, seen: set[str]) -> float:
    """Share of the characters of long lines that stand in lines seen before; 0 without such lines."""
    total = shared = 0
    for line in _lines(document):
        total += len(line)
        shared += len(line) if line in seen else 0
    return shared / max(total, 1)


def _balanced(rows: Sequence[Labelled], seed: int, left_out: "Counter[str]") -> list[Labelled]:
    sides = [[row for row in rows if row.positive == positive] for positive in (False, True)]
    limit = int(BALANCE * min(map(len, sides)))
    kept: list[Labelled] = []
    for side in sides:
        drawn = sorted(side, key=lambda row: _drawn(seed, row.document.digest))[:limit]
        left_out["class balance"] += len(side) - len(drawn)
        kept += drawn
    return kept


def _check(parts: Mapping[str, Sequence[Labelled]], left_out: Mapping[str, int]) -> None:
    """The class that has the fewest documents is named: training takes of the other no more than goes with it."""
    counts = [
        (sum(row.positive == bool(positive) for row in rows), positive, part)
        for part, rows in parts.items()
        for positive in range(len(SIDES))
    ]
    count, positive, part = min(counts)
    if count < MIN_DOCS_A_PART:
        name = SIDES[positive]
        what = f"only {count} {name} documents left to {part} with (at least {MIN_DOCS_A_PART} are needed)"
        gone = ", ".join(f"{n} {reason}" for reason, n in left_out.items() if n) or None
        remedy = "name more sources of that class, and texts that are not in both"
        raise InputError(what, f"classifier, {name} documents", f"left out: {gone}" if gone else None, remedy)


def _warnings(depths: Sequence[int]) -> tuple[str, ...]:
    return tuple(
        f"the {name} documents come from fewer than {MIN_GROUPS} sources, or mostly from one: they are split by"
        " content, and documents of one source stand in training and test"
        for name, depth in zip(SIDES, depths, strict=True)
        if not depth
    )


def _drawn(seed: int, content: bytes) -> bytes:
    return blake3(f"split\0{seed}\0".encode() + content).digest(16)
