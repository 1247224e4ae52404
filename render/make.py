"""The loop that makes samples: spec -> code -> shot -> annotations -> report -> verdict.

A slot is one place of a domain's samples, filled by the first of up to MAX_ATTEMPTS attempts that verification lets
through; an existing file is a slot of one attempt. Every attempt is told: a `Sample` or a `Rejection`.

Invariants: what an attempt gives depends on the domain's name, version and engines, its families, the seed, the slot
and the attempt, and on nothing else: not on the number of slots, the worker or what came before. A share of the
attempts, chosen by the hash of the code, is rendered and annotated twice; what differs is rejected.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from blake3 import blake3

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.schema import MEDIUM_CHAR, record_id
from gristmill.render.draws import Draws
from gristmill.render.pixels import Decoded, decode, differing, size_of
from gristmill.render.protocol import Annotation, Code, Domain, Rejected, Report, Shot
from gristmill.stages.protocol import Reason, Rule, Verdict

MAX_ATTEMPTS = 5
TWICE_ONE_IN = 16
"""Share of the attempts that are rendered twice, by the hash of their code."""
EXISTING = "existing"
"""The family of code that somebody else wrote."""
MAX_FILE_BYTES = 4 << 20
"""Of an existing file; domains set narrower limits on what they parse."""

REASONS: tuple[Reason, ...] = (
    Reason("too_large", "quarantine", f"a file of more than {MAX_FILE_BYTES} bytes; value is its size"),
    Reason("medium_char", "drop", "the code holds U+FFFC, which marks the place of a picture in a text"),
    Reason("wrong_size", "drop", "the picture is not as large as the view says; detail is its size"),
    Reason("bad_annotation", "drop", "an annotation lies outside the picture, is empty, no number, or has no own id"),
    Reason("not_deterministic", "drop", "a second render gave other pixels (value counts them) or annotations"),
)
"""What the loop itself rejects for, beside a domain's own reasons and rules."""


@dataclass(frozen=True)
class Ask:
    """What samples are made of: the seed of all draws, the families (sorted), and whether all is rendered twice."""

    seed: int
    families: tuple[str, ...]
    all_twice: bool = False


@dataclass(frozen=True)
class Place:
    """Where a sample comes from; `seed`, `slot` and `attempt` are None for a file, `file` is "" for generated code."""

    id: str
    family: str
    seed: int | None = None
    slot: int | None = None
    attempt: int | None = None
    file: str = ""


@dataclass(frozen=True)
class Looked:
    """A picture of code, its pixels, and what is seen in it."""

    shot: Shot
    decoded: Decoded
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class Sample:
    """An attempt that verification let through. `twice` says that it was rendered twice."""

    place: Place
    code: Code
    looked: Looked
    report: Report
    skeleton: str
    twice: bool


@dataclass(frozen=True)
class Rejection:
    """An attempt that gave no sample. `measure` is "" and the numbers NaN where no rule decided; `code` is what there
    was of it."""

    place: Place
    verdict: Verdict
    reason: str
    measure: str = ""
    value: float = math.nan
    limit: float = math.nan
    detail: str = ""
    code: str = ""


class Refused(Exception):
    """The loop's own rejection, or that of a rule, with numbers."""

    def __init__(self, reason: str, measure: str, value: float, limit: float = math.nan, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.measure = measure
        self.value = value
        self.limit = limit
        self.detail = detail


def family_of_slot(domain: Domain, ask: Ask, slot: int) -> str:
    """Families take turns, in an order that the seed decides."""
    order = Draws(domain.name, "families", ask.seed).shuffled(ask.families)
    return order[slot % len(order)]


def make_slot(domain: Domain, ask: Ask, slot: int) -> Iterator[Sample | Rejection]:
    """The attempts at a slot, the sample last; no sample where none of them was let through."""
    family = family_of_slot(domain, ask, slot)
    for attempt in range(MAX_ATTEMPTS):
        key = "\0".join(map(str, (domain.version, family, ask.seed, slot, attempt)))
        place = Place(record_id("render", domain.name, key), family, ask.seed, slot, attempt)
        draws = Draws(domain.name, domain.version, ask.seed, slot, attempt)
        outcome = _told(domain, place, ask, lambda draws=draws: domain.to_code(domain.sample_spec(family, draws)))
        yield outcome
        if isinstance(outcome, Sample):
            return


def make_existing(domain: Domain, record: str, name: str, body: bytes, ask: Ask) -> Sample | Rejection:
    """The attempt at a file's bytes; `record` is its id, `name` what it is called where it lies."""
    place = Place(record, EXISTING, file=name)
    if len(body) > MAX_FILE_BYTES:
        return Rejection(place, "quarantine", "too_large", "bytes", float(len(body)), float(MAX_FILE_BYTES))
    return _told(domain, place, ask, lambda: domain.existing(body))


def _told(domain: Domain, place: Place, ask: Ask, write: Callable[[], Code]) -> Sample | Rejection:
    """One attempt; what is no rejection is a bug of the domain, told with its place."""
    written: list[str] = []
    try:
        code = write()
        written.append(code.text)
        return _sample(domain, place, ask, code)
    except Rejected as rejected:
        refuse_unknown(domain, rejected)
        return Rejection(place, rejected.verdict, rejected.reason, detail=rejected.detail, code="".join(written))
    except Refused as refused:
        numbers = (refused.measure, refused.value, refused.limit)
        return Rejection(place, "drop", refused.reason, *numbers, refused.detail, "".join(written))
    except Exception as error:
        at = place.file or f"family {place.family}, seed {place.seed}, slot {place.slot}, attempt {place.attempt}"
        error.add_note(f"render/{domain.name}: {at}")
        raise


def _sample(domain: Domain, place: Place, ask: Ask, code: Code) -> Sample:
    """Render, annotate and verify code. Raises Rejected and Refused."""
    if MEDIUM_CHAR in code.text:
        raise Refused("medium_char", "count", code.text.count(MEDIUM_CHAR), 0.0)
    looked = look(domain, code)
    report = domain.verify(code, looked.shot, looked.annotations)
    failed = first_failing(domain.rules(), report)
    if failed is not None:
        value = report.measures[failed.measure]
        raise Refused(failed.reason, failed.measure, value, failed.limit, "; ".join(report.notes))
    twice = ask.all_twice or is_looked_at_twice(code)
    if twice:
        refuse_difference(looked, look(domain, code))
    return Sample(place, code, looked, report, domain.skeleton(code), twice)


def look(domain: Domain, code: Code) -> Looked:
    """Render and annotate code, and check what holds for every domain. Raises Rejected and Refused."""
    shot = domain.render(code)
    _check_size(code, shot)
    annotations = domain.annotate(code, shot)
    fault = annotation_fault(annotations, shot.width, shot.height)
    if fault:
        raise Refused("bad_annotation", "", math.nan, detail=fault)
    return Looked(shot, decode(shot.png), annotations)


def _check_size(code: Code, shot: Shot) -> None:
    view = code.view
    wanted = (round(view.width_px * view.scale), round(view.height_px * view.scale))
    told, found = (shot.width, shot.height), size_of(shot.png)
    if not wanted == told == found:
        detail = f"{found[0]}x{found[1]}, told as {told[0]}x{told[1]}, asked for as {wanted[0]}x{wanted[1]}"
        raise Refused("wrong_size", "width", float(found[0]), float(wanted[0]), detail)


def annotation_fault(annotations: Sequence[Annotation], width: int, height: int) -> str:
    """What is wrong with the form of annotations in a picture of that size; "" when nothing is."""
    seen: set[str] = set()
    for one in annotations:
        if not one.id or one.id in seen:
            return f"{one.id or 'an annotation'}: no id of its own"
        seen.add(one.id)
        for name, (x0, y0, x1, y1) in (("bbox_full", one.bbox_full), ("bbox_visible", one.bbox_visible)):
            if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
                return f"{one.id}: {name} {x0:g}, {y0:g}, {x1:g}, {y1:g} is no box in {width}x{height}"
        x, y = one.point
        if not (0 <= x < width and 0 <= y < height):
            return f"{one.id}: point {x:g}, {y:g} is not in {width}x{height}"
        if not 0 < one.visible_frac <= 1:
            return f"{one.id}: visible_frac is {one.visible_frac:g}"
    return ""


def first_failing(rules: Sequence[Rule], report: Report) -> Rule | None:
    """The first rule that a report fails; NaN fails none. Raises KeyError where a measure is missing."""
    for rule in rules:
        value = report.measures[rule.measure]
        if value > rule.limit if rule.direction == "above" else value < rule.limit:
            return rule
    return None


def is_looked_at_twice(code: Code) -> bool:
    """Whether code is of the share that is always rendered twice."""
    return int.from_bytes(blake3(code.text.encode("utf-8", "surrogatepass")).digest(4), "big") % TWICE_ONE_IN == 0


def refuse_difference(first: Looked, second: Looked) -> None:
    """Raise Refused (`not_deterministic`) where two looks at one code differ."""
    pixels = differing(first.decoded, second.decoded)
    if pixels or first.annotations != second.annotations:
        detail = "" if pixels else "the annotations differ"
        raise Refused("not_deterministic", "differing_pixels", float(pixels), 0.0, detail)


def vocabulary(domain: Domain) -> tuple[Reason, ...]:
    """Every reason that an attempt of a domain can be rejected for, each once, rules first."""
    rules = [Reason(r.reason, "drop", f"{r.measure} is {r.direction} {r.limit:g}") for r in domain.rules()]
    known = {reason.reason: reason for reason in (*REASONS, *rules, *domain.reasons())}
    return tuple(known[name] for name in sorted(known))


def refuse_unknown(domain: Domain, rejected: Rejected) -> None:
    """Raise VerifyError where a domain rejects for a reason that it does not declare: nobody could read the ledger."""
    if rejected.reason not in {reason.reason for reason in vocabulary(domain)}:
        raise VerifyError(
            f"the domain {domain.name} gives a reason that it does not declare",
            value=rejected.reason,
            remedy="add it to its reasons()",
        )
