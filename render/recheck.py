"""Looking again at a record of render pairs that stands already: its code is drawn anew and compared with what is said.

In: a `Record` and its domain; it may come from anywhere, nothing in it is believed, and its picture is decoded in a
killable child. Out: why it does not hold, or nothing. In this order: the form of `meta.render`; pixels; annotations,
which must be those that the domain measures now; what `meta.render` says of picture and annotations; the domain's own
verification of the annotations that the record bears. Roles and texts are those of the spec; of a record of another
version of the domain, whose spec cannot be made again, they are not looked at.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gristmill.manifests.child import ChildFailure
from gristmill.manifests.coordinates import Size
from gristmill.manifests.effects import EXTERNAL
from gristmill.render.dataset import Record
from gristmill.render.draws import Draws
from gristmill.render.make import EXISTING, Refused, annotation_fault, first_failing, look, refuse_unknown, vocabulary
from gristmill.render.pixels import MAX_PIXELS, Decoded, decode_stored, differing, size_of
from gristmill.render.protocol import Annotation, Code, Domain, Rejected, View
from gristmill.render.record import coordinate_views
from gristmill.stages.protocol import Reason, Verdict

REASONS: tuple[Reason, ...] = (
    Reason("bad_meta", "drop", "meta.render, the code or the picture has not the form of render pairs"),
    Reason("other_pixels", "drop", "the code draws another picture; value counts the pixels that differ"),
    Reason("other_annotations", "drop", "the domain finds other elements; value counts those that differ"),
    Reason("other_meta", "drop", "a hash or the coordinates as text in meta.render are of something else"),
    Reason("other_code", "drop", "its seed, slot and attempt make other code: nobody knows what its elements are"),
    Reason("picture_lost", "quarantine", "the stored picture cost its decoder its life, its time or its memory"),
)
"""Beside those that an attempt of the domain can be rejected for."""


@dataclass(frozen=True)
class Finding:
    """Why a record does not hold; `measure` is "" and the numbers NaN where no rule decided."""

    verdict: Verdict
    reason: str
    measure: str = ""
    value: float = math.nan
    limit: float = math.nan
    detail: str = ""


def reasons_of(domain: Domain) -> tuple[Reason, ...]:
    """Every reason that `recheck` can give for records of a domain."""
    known = {word.reason: word for word in (*vocabulary(domain), *REASONS)}
    return tuple(known[name] for name in sorted(known))


def recheck(domain: Domain, record: Record) -> Finding | None:
    """Why a record does not hold; None where it does."""
    try:
        code, annotations, stored = _parsed(domain, record)
    except (KeyError, TypeError, ValueError, OSError, AttributeError, OverflowError) as error:
        return Finding("drop", "bad_meta", detail=f"{type(error).__name__}: {error}"[:200])
    if isinstance(stored, ChildFailure):
        return Finding("quarantine", "picture_lost", detail=f"{stored.kind}: {stored.detail}"[:200])
    try:
        return _compared(domain, record, code, annotations, stored)
    except Refused as refused:
        return Finding("drop", refused.reason, refused.measure, refused.value, refused.limit, refused.detail)
    except Rejected as rejected:
        refuse_unknown(domain, rejected)
        return Finding(rejected.verdict, rejected.reason, detail=rejected.detail)


def _compared(
    domain: Domain, record: Record, code: Code, annotations: Sequence[Annotation], stored: Decoded
) -> Finding | None:
    looked = look(domain, code)
    pixels = differing(looked.decoded, stored)
    if pixels:
        return Finding("drop", "other_pixels", "differing_pixels", float(pixels), 0.0)
    is_known = bool(code.parts) or code.family == EXISTING
    if not is_known and record.render["version"] == domain.version:
        return Finding("drop", "other_code")
    others = _differing_annotations(looked.annotations, annotations, has_words=is_known)
    if others:
        return Finding("drop", "other_annotations", "differing_annotations", float(len(others)), 0.0, others[0])
    meta = _differing_meta(record, annotations, stored)
    if meta:
        return Finding("drop", "other_meta", detail=meta)
    report = domain.verify(code, looked.shot, annotations)
    rule = first_failing(domain.rules(), report)
    if rule is None:
        return None
    return Finding("drop", rule.reason, rule.measure, report.measures[rule.measure], rule.limit)


def _differing_meta(record: Record, annotations: Sequence[Annotation], stored: Decoded) -> str:
    """The first field of `meta.render` that is made of picture and annotations, and is not of these; "" for none."""
    size = Size(record.medium["width"], record.medium["height"])
    made = {"pixels": stored.pixels, "dhash": stored.dhash, "views": coordinate_views(annotations, size)}
    return next((name for name, value in made.items() if record.render.get(name) != value), "")


def _parsed(domain: Domain, record: Record) -> tuple[Code, tuple[Annotation, ...], Decoded | ChildFailure]:
    """Raises ValueError and its like on what is no record of render pairs."""
    medium = record.medium
    code = code_of(domain, record)
    width, height = round(code.view.width_px * code.view.scale), round(code.view.height_px * code.view.scale)
    if not (width > 0 and height > 0 and width * height <= MAX_PIXELS):
        raise ValueError(f"a picture of {width}x{height}")
    if not (width, height) == (medium["width"], medium["height"]) == size_of(medium["bytes"]):
        raise ValueError(f"the picture is not {width}x{height}")
    annotations = tuple(_annotation(one) for one in medium["annotations"] or ())
    fault = annotation_fault(annotations, width, height)
    if fault:
        raise ValueError(fault)
    stored = decode_stored(medium["bytes"])
    if isinstance(stored, ChildFailure) and stored.kind not in EXTERNAL:
        raise ValueError(stored.detail)
    return code, annotations, stored


def code_of(domain: Domain, record: Record) -> Code:
    """The code of a record, with its parts where the spec can be made again. Raises ValueError and its like."""
    render = record.render
    text, view = record.code, _view(render["view"])
    family, version = render["family"], render["version"]
    if family != EXISTING and version == domain.version and family in domain.families():
        key = [render[name] for name in ("seed", "slot", "attempt")]
        if all(type(part) is int for part in key):
            made = domain.to_code(domain.sample_spec(family, Draws(domain.name, version, *key)))
            if (made.text, made.view) == (text, view):
                return made
    return Code(text, str(render["language"]), str(family), view)


def _view(told: Mapping[str, Any]) -> View:
    sizes, scale = (told["width_px"], told["height_px"]), float(told["scale"])
    if not all(type(size) is int for size in sizes) or not math.isfinite(scale):
        raise ValueError(f"no view: {told}")
    return View(*sizes, scale)


def _annotation(told: Mapping[str, Any]) -> Annotation:
    polygon = told["polygon"]
    return Annotation(
        told["id"],
        told["role"],
        told["text"],
        _box(told["bbox_full"]),
        _box(told["bbox_visible"]),
        _point(told["point"]),
        float(told["visible_frac"]),
        bool(told["truncated"]),
        int(told["z"]),
        None if polygon is None else tuple(map(float, polygon)),
    )


def _box(numbers: Sequence[float]) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = map(float, numbers)
    return x0, y0, x1, y1


def _point(numbers: Sequence[float]) -> tuple[float, float]:
    x, y = map(float, numbers)
    return x, y


def _differing_annotations(now: Sequence[Annotation], told: Sequence[Annotation], has_words: bool) -> list[str]:
    """Ids of the elements of which two lists of annotations say different things, sorted."""

    def facts(one: Annotation) -> tuple[object, ...]:
        words = (one.role, one.text) if has_words else ()
        shape = (one.bbox_full, one.bbox_visible, one.point, one.visible_frac, one.truncated, one.z, one.polygon)
        return (*words, *shape)

    first, second = ({one.id: facts(one) for one in given} for given in (now, told))
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
