"""How similar two documents are, as deduplication measures it, and whether `minhash_dedup` would merge them.

In: two files of one document each, read by their suffix as `stage judge` reads them; pages are extracted first. Out: a
`PairReport`. `jaccard` = shared shingles / those of both, `containment` = shared / those of the smaller side, over sets
of distinct shingles (`stages.dedup.shingles`), both in [0, 1]. A pair merges when the measured similarity is at least
the threshold and at least one band met (`stages.dedup.sketch`): what no band brings together is never compared.

A document too short for a shingle is compared as a whole (`exact_only`): 1.0 when the normalised texts are equal, else
0.0. Normalised is, in prose, NFC, lower case and one blank for any white space; in code and mathematics the last alone.
Files of hundreds of MB pass: a set takes 8 bytes for each distinct shingle. Examples come from the first
`EXAMPLE_CHARS` characters.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3

from gristmill.manifests.errors import InputError, UsageError
from gristmill.pipeline.judge import KINDS, as_input, kind_of_file
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.protocol import Loss, ReadOptions
from gristmill.stages import catalogue
from gristmill.stages.chain import count_chars, run_chain
from gristmill.stages.dedup.lsh_curve import probability
from gristmill.stages.dedup.shingles import EXACT_DOMAINS, Hashes, shingle_sets
from gristmill.stages.dedup.sketch import SketchSpec, sketch

THRESHOLD = 0.7
EXTRACTED_KINDS = ("html", "warc")
EXAMPLE_CHARS = 2_000_000
PASSAGE_CHARS = 160
EXAMPLES = 3
NORMALISED_CHARS = 1 << 20
BLOCK = 1 << 20
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class PairOptions:
    """`threshold` in (0, 1] is for containment with `by_containment`, else for Jaccard."""

    sketch: SketchSpec = field(default_factory=SketchSpec)
    threshold: float = THRESHOLD
    by_containment: bool = False

    def check(self) -> None:
        """Raises UsageError on what no run would take."""
        self.sketch.check("pair similar")
        if not 0.0 < self.threshold <= 1.0:
            raise UsageError("not a threshold", "--threshold", self.threshold, "give a number above 0, at most 1")


@dataclass(frozen=True)
class Document:
    """One document: `text` (large_string) and `domain` of one row each; `kind` is a key of `judge.KINDS`."""

    file: str
    kind: str
    text: pa.Array
    domain: pa.Array

    @property
    def domain_name(self) -> str | None:
        """The domain; None where it is not known."""
        return self.domain[0].as_py()


@dataclass(frozen=True)
class Side:
    """What was compared of one file: `form` (prose or exact), `chars` of the text, `shingles` that are distinct."""

    file: str
    kind: str
    domain: str | None
    form: str
    chars: int
    shingles: int


@dataclass(frozen=True)
class PairReport:
    """See the module. `chance` in [0, 1]: how likely any pair of this Jaccard shares a band, over all seeds.

    `bands_met` are the numbers of the bands that met, from 0; `equal`: the normalised texts are; `note` says in words
    what the figures do not. `examples`: passages of which all shingles (`shared`) or none are in the other document.
    """

    a: Side
    b: Side
    jaccard: float
    containment: float
    shared_shingles: int
    bands_shared: int
    bands_met: list[int]
    chance: float
    would_merge: bool
    equal: bool
    exact_only: bool
    note: str
    examples: Mapping[str, list[str]]


def read_document(path: Path) -> Document:
    """The document of a file. Raises InputError when there is none that can be read, UsageError when there are more."""
    kind = kind_of_file(path)
    source = sources.load(KINDS[kind].source)
    options = ReadOptions("pair", KINDS[kind].domain, extra=dict(source.OPTIONS))
    found: pa.RecordBatch | None = None
    lost: list[Loss] = []
    for read in source.read_file(as_input(path), options):
        lost += read.losses[:1]
        if (found.num_rows if found is not None else 0) + read.batch.num_rows > 1:
            raise UsageError("holds more than one document", str(path), None, "name a file of one document")
        found = read.batch if read.batch.num_rows else found
    if found is None:
        why = f"{lost[0].reason} {lost[0].detail}".strip() if lost else "it is empty"
        raise InputError("holds no document that can be read", str(path), why, "name another file")
    batch = _extracted(found, path) if kind in EXTRACTED_KINDS else found
    return Document(str(path), kind, batch.column("text"), batch.column("domain"))


def _extracted(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    stage: Any = catalogue.load("extract_html", {}, Path())
    catalogue.prepare([stage])
    result = run_chain([stage], batch)
    if result.fates:
        raise InputError("no text can be extracted", str(path), result.fates[0].reason, "name another file")
    return result.kept


def compare(a: Document, b: Document, options: PairOptions) -> PairReport:
    """Measure a pair. Raises UsageError on impossible options."""
    options.check()
    spec = options.sketch
    mine, theirs = _shingles(a, spec), _shingles(b, spec)
    forms = (_form(a, spec), _form(b, spec))
    exact_only = not len(mine) or not len(theirs)
    shared = sum(int(_is_in(mine[at : at + BLOCK], theirs).sum()) for at in range(0, len(mine), BLOCK))
    # Equal texts have equal shingles, so most pairs need no look at the texts.
    equal = (exact_only or shared == len(mine) == len(theirs)) and _digest(a, forms[0]) == _digest(b, forms[1])
    if exact_only:
        jaccard = containment = float(equal)
    else:
        jaccard = shared / (len(mine) + len(theirs) - shared)
        containment = shared / min(len(mine), len(theirs))
    met = [] if exact_only else _bands_met(a, b, spec)
    similar = (containment if options.by_containment else jaccard) >= options.threshold
    return PairReport(
        a=Side(a.file, a.kind, a.domain_name, forms[0], _chars(a), len(mine)),
        b=Side(b.file, b.kind, b.domain_name, forms[1], _chars(b), len(theirs)),
        jaccard=jaccard,
        containment=containment,
        shared_shingles=shared,
        bands_shared=len(met),
        bands_met=met,
        chance=probability(jaccard, spec.bands, spec.rows),
        would_merge=equal if exact_only else similar and bool(met),
        equal=equal,
        exact_only=exact_only,
        note=_note(exact_only, similar and not met, forms),
        examples=_examples(a, b, mine, theirs, spec),
    )


def _note(exact_only: bool, missed: bool, forms: tuple[str, str]) -> str:
    notes: list[str] = []
    if exact_only:
        notes.append("too short for a shingle: compared as a whole, and found by exact deduplication alone")
    if missed:
        notes.append("similar enough, but no band met: a run with these bands and this seed does not find the pair")
    if forms[0] != forms[1]:
        notes.append("one is compared as prose, the other untouched but for white space: they share little that way")
    return "; ".join(notes)


def _shingles(document: Document, spec: SketchSpec) -> Hashes:
    return shingle_sets(document.text, document.domain, spec.shingles, spec.seed).row(0)


def _form(document: Document, spec: SketchSpec) -> str:
    if spec.shingles.normalise != "auto":
        return spec.shingles.normalise
    return "exact" if document.domain_name in EXACT_DOMAINS else "prose"


def _chars(document: Document) -> int:
    batch = pa.RecordBatch.from_arrays([document.text], ["text"])
    return int(count_chars(batch)[0])


def _digest(document: Document, form: str) -> bytes:
    """BLAKE3 of the normalised text."""
    digest = blake3()
    for piece in _pieces(document.text[0].as_py() or "", NORMALISED_CHARS):
        prose = unicodedata.normalize("NFC", piece).lower() if form == "prose" else piece
        words = " ".join(prose.split())
        digest.update(f"{words} ".encode() if words else b"")
    return digest.digest()


def _is_in(hashes: Hashes, ascending: Hashes) -> npt.NDArray[np.bool_]:
    """Whether each hash is one of a set; numpy's own would sort the set again, in three times its room."""
    if not len(ascending):
        return np.zeros(len(hashes), np.bool_)
    at = np.searchsorted(ascending, hashes)
    return ascending[np.minimum(at, len(ascending) - 1)] == hashes


def _bands_met(a: Document, b: Document, spec: SketchSpec) -> list[int]:
    keys = [sketch(document.text, document.domain, spec).band_keys[0] for document in (a, b)]
    return np.flatnonzero(keys[0] == keys[1]).tolist()


def _examples(a: Document, b: Document, mine: Hashes, theirs: Hashes, spec: SketchSpec) -> dict[str, list[str]]:
    shared, only_a = _sorted_passages(a, theirs, spec)
    _, only_b = _sorted_passages(b, mine, spec)
    return {"shared": _spread(shared), "only_a": _spread(only_a), "only_b": _spread(only_b)}


def _sorted_passages(document: Document, other: Hashes, spec: SketchSpec) -> tuple[list[str], list[str]]:
    """Passages of which all shingles are in `other`, and those of which none is; in order of the text."""
    head = pc.utf8_slice_codeunits(document.text, 0, EXAMPLE_CHARS)[0].as_py() or ""
    passages = _passages(head)
    if not passages:
        return [], []
    domains = pa.array([document.domain_name] * len(passages), pa.string())
    sets = shingle_sets(pa.array(passages, pa.large_string()), domains, spec.shingles, spec.seed)
    counts = np.diff(sets.offsets)
    found = np.concatenate([[0], np.cumsum(_is_in(sets.hashes, other))])
    hits = found[sets.offsets[1:]] - found[sets.offsets[:-1]]
    shared = np.flatnonzero((counts > 0) & (hits == counts)).tolist()
    alone = np.flatnonzero((counts > 0) & (hits == 0)).tolist()
    return [passages[i] for i in shared], [passages[i] for i in alone]


def _pieces(text: str, chars: int) -> Iterator[str]:
    """The text cut behind the first white space from every `chars` characters on."""
    start = 0
    while start < len(text):
        found = _SPACE.search(text, start + chars)
        stop = found.end() if found else len(text)
        yield text[start:stop]
        start = stop


def _passages(text: str) -> list[str]:
    """The text in pieces of `PASSAGE_CHARS` characters at most, cut at white space where there is some."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        stop = min(start + PASSAGE_CHARS, len(text))
        if stop < len(text):
            blank = max(text.rfind(" ", start, stop), text.rfind("\n", start, stop))
            stop = blank + 1 if blank > start else stop
        pieces.append(" ".join(text[start:stop].split()))
        start = stop
    return pieces


def _spread(passages: Sequence[str]) -> list[str]:
    """The first, the last and those evenly between."""
    if len(passages) <= EXAMPLES:
        return list(passages)
    return [passages[i * (len(passages) - 1) // (EXAMPLES - 1)] for i in range(EXAMPLES)]
