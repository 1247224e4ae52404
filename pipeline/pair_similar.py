"""How similar two documents are, as deduplication measures it, and whether `minhash_dedup` would merge them.

In: two files of one document each, read by their suffix as `stage judge` reads them; pages are extracted first. Out: a
`PairReport`. `jaccard` = shared shingles / those of both, `containment` = shared / those of the smaller side, over sets
of distinct shingles (`stages.dedup.shingles`), both in [0, 1]. A pair merges when the measured similarity is at least
the threshold and at least one band met (`stages.dedup.sketch`): what no band brings together is never compared. Texts
(and media) that are the same byte for byte merge in any case.

A pair of which one is too short for a shingle is compared as a whole (`exact_only`): 1.0 when the bytes are the same,
else 0.0; so does `minhash_dedup`. Whether `exact_dedup`, whose normal form forgives more, takes the two for equal is
told by itself (`equal`). Files of hundreds of MB pass: a set takes 8 bytes for each distinct shingle. Examples come
from the first `EXAMPLE_CHARS` characters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.schema import document_batch
from gristmill.pipeline.judge import KINDS, as_input, kind_of_file
from gristmill.pipeline.sources import catalogue as sources
from gristmill.pipeline.sources.protocol import Loss, ReadOptions
from gristmill.stages import catalogue
from gristmill.stages.chain import count_chars, run_chain
from gristmill.stages.dedup.exact import ExactDedup
from gristmill.stages.dedup.lsh_curve import probability
from gristmill.stages.dedup.minhash import MinhashDedup
from gristmill.stages.dedup.shingles import EXACT_DOMAINS, Hashes, ShingleSets
from gristmill.stages.dedup.sketch import SketchSpec
from gristmill.stages.dedup.tokens import tokenizer_of
from gristmill.stages.protocol import DROP

THRESHOLD = 0.7
EXTRACTED_KINDS = ("html", "warc")
EXAMPLE_CHARS = 2_000_000
PASSAGE_CHARS = 160
EXAMPLES = 3
BLOCK = 1 << 20


@dataclass(frozen=True)
class PairOptions:
    """`threshold` in (0, 1] is for containment with `by_containment`, else for Jaccard; `tokenizer` (a packaged name or
    a file, "": the default) counts for shingles of tokens."""

    sketch: SketchSpec = field(default_factory=SketchSpec)
    threshold: float = THRESHOLD
    by_containment: bool = False
    tokenizer: str = ""

    def check(self) -> None:
        """Raises UsageError on what no run would take, InputError on a file that is no tokenizer."""
        self.sketch.check("pair similar")
        if not 0.0 < self.threshold <= 1.0:
            raise UsageError("not a threshold", "--threshold", self.threshold, "give a number above 0, at most 1")
        if self.sketch.shingles.unit == "token":
            tokenizer_of(self.tokenizer)
        elif self.tokenizer:
            raise UsageError("no tokens are compared", "--tokenizer", self.tokenizer, "give --unit token, too")

    def stage(self) -> MinhashDedup:
        """The step that has these parameters."""
        spec, shingles = self.sketch, self.sketch.shingles
        return MinhashDedup(
            bands=spec.bands,
            rows=spec.rows,
            threshold=self.threshold,
            shingle=shingles.n,
            unit=shingles.unit,
            normalise=shingles.normalise,
            similarity="containment" if self.by_containment else "jaccard",
            seed=spec.seed,
            tokenizer=self.tokenizer,
        )


@dataclass(frozen=True)
class Document:
    """One document: `batch` has the columns of DOCUMENT and one row; `kind` is a key of `judge.KINDS`."""

    file: str
    kind: str
    batch: pa.RecordBatch

    @property
    def domain(self) -> str | None:
        """The domain; None where it is not known."""
        return self.batch.column("domain")[0].as_py()

    @property
    def content(self) -> bytes:
        """The hash of the bytes of text and media."""
        return self.batch.column("content_hash")[0].as_py()


@dataclass(frozen=True)
class Side:
    """What was compared of one file: `form` (prose, exact, or tokens), `chars` of the text, `shingles` that are
    distinct."""

    file: str
    kind: str
    domain: str | None
    form: str
    chars: int
    shingles: int


@dataclass(frozen=True)
class PairReport:
    """See the module. `chance` in [0, 1]: how likely any pair of this Jaccard shares a band, over all seeds.

    `bands_met` are the numbers of the bands that met, from 0. `would_merge` is what `minhash_dedup` does, `equal` what
    `exact_dedup` does: text and media are equal in its normal form. `note` says in words what the figures do not.
    `examples`: passages of which all shingles (`shared`) or none are in the other document.
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
    return Document(str(path), kind, batch)


def _extracted(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    stage: Any = catalogue.load("extract_html", {}, Path())
    catalogue.prepare([stage])
    result = run_chain([stage], batch)
    if result.fates:
        raise InputError("no text can be extracted", str(path), result.fates[0].reason, "name another file")
    return result.kept


def compare(a: Document, b: Document, options: PairOptions) -> PairReport:
    """Measure a pair. Raises UsageError on impossible options, InputError on a file that is no tokenizer."""
    options.check()
    spec, stage = options.sketch, options.stage()
    mine, theirs = (stage.sets(document.batch).row(0) for document in (a, b))
    forms = _form(a, stage), _form(b, stage)
    same = a.content == b.content
    equal = _is_dropped(a, b, ExactDedup(spec.shingles.normalise))
    exact_only = not len(mine) or not len(theirs)
    shared = sum(int(_is_in(mine[at : at + BLOCK], theirs).sum()) for at in range(0, len(mine), BLOCK))
    if exact_only:
        jaccard = containment = float(same)
    else:
        jaccard = shared / (len(mine) + len(theirs) - shared)
        containment = shared / min(len(mine), len(theirs))
    met = [] if exact_only else _bands_met(a, b, stage)
    similar = not exact_only and (containment if options.by_containment else jaccard) >= options.threshold
    merges = same or (similar and bool(met))
    return PairReport(
        a=Side(a.file, a.kind, a.domain, forms[0], _chars(a), len(mine)),
        b=Side(b.file, b.kind, b.domain, forms[1], _chars(b), len(theirs)),
        jaccard=jaccard,
        containment=containment,
        shared_shingles=shared,
        bands_shared=len(met),
        bands_met=met,
        chance=probability(jaccard, spec.bands, spec.rows),
        would_merge=merges,
        equal=equal,
        exact_only=exact_only,
        note="; ".join(_notes(exact_only, similar, merges, (same, equal), forms)),
        examples=_examples(a, b, mine, theirs, stage),
    )


def _notes(
    exact_only: bool, similar: bool, merges: bool, copies: tuple[bool, bool], forms: tuple[str, str]
) -> Iterator[str]:
    same, equal = copies
    if exact_only:
        yield "too short for a shingle: minhash_dedup merges such documents only when they are equal byte for byte"
    if similar and not merges:
        yield "similar enough, but no band met: a run with these bands and this seed does not find the pair"
    if same and not exact_only and not similar:
        yield "they are equal byte for byte, and copies go whatever their forms"
    if equal and not merges:
        yield "exact_dedup would merge them: they are equal in its normal form"
    if forms[0] != forms[1]:
        yield "one is compared as prose, the other untouched but for white space: they share little that way"


def _form(document: Document, stage: MinhashDedup) -> str:
    if stage.tokenizes:
        return "tokens"
    if stage.normalise != "auto":
        return stage.normalise
    return "exact" if document.domain in EXACT_DOMAINS else "prose"


def _chars(document: Document) -> int:
    return int(count_chars(document.batch)[0])


def _is_dropped(a: Document, b: Document, stage: ExactDedup) -> bool:
    """Whether the stage drops one of the two for the other."""
    emitted = [stage.emit(document.batch, np.array([at], np.uint64)) for at, document in enumerate((a, b))]
    emitted.sort(key=lambda rows: (rows.column("key")[0].as_py(), rows.column("order")[0].as_py()))
    return any(DROP in verdicts.column("kind").to_pylist() for verdicts in stage.reduce(iter(emitted)))


def _is_in(hashes: Hashes, ascending: Hashes) -> npt.NDArray[np.bool_]:
    """Whether each hash is one of a set; numpy's own would sort the set again, in three times its room."""
    if not len(ascending):
        return np.zeros(len(hashes), np.bool_)
    at = np.searchsorted(ascending, hashes)
    return ascending[np.minimum(at, len(ascending) - 1)] == hashes


def _bands_met(a: Document, b: Document, stage: MinhashDedup) -> list[int]:
    one, other = (stage.keys().sketches(document.batch).band_keys[0] for document in (a, b))
    return np.flatnonzero(one == other).tolist()


def _examples(a: Document, b: Document, mine: Hashes, theirs: Hashes, stage: MinhashDedup) -> dict[str, list[str]]:
    shared, only_a = _sorted_passages(a, theirs, stage)
    _, only_b = _sorted_passages(b, mine, stage)
    return {"shared": _spread(shared), "only_a": _spread(only_a), "only_b": _spread(only_b)}


def _sorted_passages(document: Document, other: Hashes, stage: MinhashDedup) -> tuple[list[str], list[str]]:
    """Passages of which all shingles are in `other`, and those of which none is; in order of the text."""
    head = pc.utf8_slice_codeunits(document.batch.column("text"), 0, EXAMPLE_CHARS)[0].as_py() or ""
    passages = _passages(head)
    if not passages:
        return [], []
    sets = _sets_of(passages, document.domain, stage)
    counts = np.diff(sets.offsets)
    found = np.concatenate([[0], np.cumsum(_is_in(sets.hashes, other))])
    hits = found[sets.offsets[1:]] - found[sets.offsets[:-1]]
    shared = np.flatnonzero((counts > 0) & (hits == counts)).tolist()
    alone = np.flatnonzero((counts > 0) & (hits == 0)).tolist()
    return [_one_line(passages[i]) for i in shared], [_one_line(passages[i]) for i in alone]


def _sets_of(texts: Sequence[str], domain: str | None, stage: MinhashDedup) -> ShingleSets:
    domains = pa.array([domain] * len(texts), pa.string())
    return stage.sets(document_batch({"text": pa.array(texts, pa.large_string()), "domain": domains}))


def _passages(text: str) -> list[str]:
    """The text in pieces of `PASSAGE_CHARS` characters at most, cut in front of white space where there is some: the
    tokens of a piece are mostly those that it has in the text."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        stop = min(start + PASSAGE_CHARS, len(text))
        if stop < len(text):
            blank = max(text.rfind(" ", start, stop), text.rfind("\n", start, stop))
            stop = blank if blank > start else stop
        pieces.append(text[start:stop])
        start = stop
    return pieces


def _one_line(passage: str) -> str:
    return " ".join(passage.split())


def _spread(passages: Sequence[str]) -> list[str]:
    """The first, the last and those evenly between."""
    if len(passages) <= EXAMPLES:
        return list(passages)
    return [passages[i * (len(passages) - 1) // (EXAMPLES - 1)] for i in range(EXAMPLES)]
