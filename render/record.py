"""A sample as a document of `manifests.schema.DOCUMENT`.

`id` is made of the sample's key, `domain` is `vision`, `source` `render/<kind>`; `text` has the code as a fenced block
and U+FFFC for the picture, which of the two stands first being decided by the code's hash. `media[0]` is the picture:
PNG bytes, sha256, size, annotations (`manifests.coordinates`, coord_spec 1).

`meta` is JSON, `{"render": {...}}`:
`kind`, `version` (of the domain), `family`, `split` (train, validation, test: of the family, so that none stands on two
sides; of the content for existing code), `seed`, `slot`, `attempt` and `file` (null where they do not apply),
`language`, `code_chars` ([start, stop) of the code in `text`, in characters), `view` (width_px, height_px, scale),
`skeleton` (32 hex digits), `dhash`, `pixels`, `engine`, `judge`, `fonts` (digest), `twice`, `verify` (measures),
`notes`, `coord_spec`, `views` (of each annotation in order: box, visible box and point as text in both views), and
`code_forms` where the domain writes the code in other ways (minified, pretty, simplified) that it has seen to look the
same: text by name, of FORMS_FRAC of the records, chosen by their code, null for the others.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.coordinates import COORD_SPEC, Size
from gristmill.manifests.coordinates_text import VIEWS, box_text, point_text
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR, content_hash
from gristmill.render.domains import fonts_digest
from gristmill.render.make import EXISTING, Sample
from gristmill.render.protocol import Annotation, Code, Domain, HasForms, Rejected
from gristmill.stages.vision.scene import META, fenced

SOURCE = "render"
SPLITS: Mapping[str, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
FORMS_FRAC = 0.25
"""Share of the records that get their code's other forms: each form costs a drawing."""
_HASH_BYTES = 16


def source_of(kind: str) -> str:
    """The `source` of records of a domain."""
    return f"{SOURCE}/{kind}"


def record_batch(samples: Sequence[Sample], domain: Domain, license_: str | None) -> pa.RecordBatch:
    """Samples as documents, in order."""
    fonts = fonts_digest(domain.fingerprint())
    rows = [_record(sample, domain, license_, fonts) for sample in samples]
    return pa.RecordBatch.from_pylist(rows, schema=DOCUMENT)


def _record(sample: Sample, domain: Domain, license_: str | None, fonts: str) -> dict[str, Any]:
    text, code_start = text_of(sample.code)
    medium = _medium(sample)
    meta = _meta(sample, domain, code_start, fonts)
    return {
        "id": sample.place.id,
        "content_hash": content_hash(text.encode(), [medium["sha256"]]),
        "domain": "vision",
        "source": source_of(domain.name),
        "license": license_,
        "text": text,
        "media": [medium],
        "meta": json.dumps({META: meta}, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False),
    }


def text_of(code: Code) -> tuple[str, int]:
    """The text of a record, and where in it the code starts (characters). The fence is longer than any in the code."""
    block = fenced(code.text, code.language)
    start = block.index("\n") + 1
    if _hash(code.text)[0] & 1:
        return f"{MEDIUM_CHAR}\n\n{block}", 3 + start
    return f"{block}\n\n{MEDIUM_CHAR}", start


def _medium(sample: Sample) -> dict[str, Any]:
    shot = sample.looked.shot
    return {
        "kind": "image",
        "sha256": sha256(shot.png).digest(),
        "mime": "image/png",
        "bytes": shot.png,
        "width": shot.width,
        "height": shot.height,
        "annotations": [_annotation(one) for one in sample.looked.annotations],
    }


def _annotation(one: Annotation) -> dict[str, Any]:
    boxes = {name: list(map(float, getattr(one, name))) for name in ("bbox_full", "bbox_visible", "point")}
    polygon = None if one.polygon is None else list(map(float, one.polygon))
    return {**asdict(one), **boxes, "polygon": polygon}


def _meta(sample: Sample, domain: Domain, code_start: int, fonts: str) -> dict[str, Any]:
    place, code, looked = sample.place, sample.code, sample.looked
    return {
        "kind": domain.name,
        "version": domain.version,
        "family": place.family,
        "split": split_of(domain.name, place.family, code.text),
        "seed": place.seed,
        "slot": place.slot,
        "attempt": place.attempt,
        "file": place.file or None,
        "language": code.language,
        "code_chars": [code_start, code_start + len(code.text)],
        "view": asdict(code.view),
        "skeleton": _hash(sample.skeleton).hex(),
        "dhash": looked.decoded.dhash,
        "pixels": looked.decoded.pixels,
        "engine": looked.shot.engine,
        "judge": sample.report.judge,
        "fonts": fonts,
        "twice": sample.twice,
        "verify": {name: value if math.isfinite(value) else None for name, value in sample.report.measures.items()},
        "notes": list(sample.report.notes),
        "coord_spec": COORD_SPEC,
        "views": coordinate_views(looked.annotations, Size(looked.shot.width, looked.shot.height)),
        "code_forms": forms_of(domain, code),
    }


def forms_of(domain: Domain, code: Code) -> dict[str, str] | None:
    """Other texts of the same picture, by name; None for a domain that has none and for code that gets none.

    A form that costs an engine its life is no fault of the sample, which was verified without it.
    """
    if not isinstance(domain, HasForms) or not gets_forms(code):
        return None
    try:
        found = domain.code_forms(code)
    except Rejected:
        return None
    return {name: text for name, text in sorted(found.items()) if MEDIUM_CHAR not in text}


def gets_forms(code: Code) -> bool:
    """Whether code is of the share whose other forms are kept: by its content."""
    return _share(f"forms\0{code.text}") < FORMS_FRAC


def coordinate_views(annotations: Sequence[Annotation], size: Size) -> list[dict[str, Any]]:
    """Of each annotation in order: `id`, and under the name of each view its boxes and point as text."""
    return [
        {
            "id": one.id,
            **{
                view: {
                    "bbox_full": box_text(one.bbox_full, view, size),
                    "bbox_visible": box_text(one.bbox_visible, view, size),
                    "point": point_text(one.point, view, size),
                }
                for view in VIEWS
            },
        }
        for one in annotations
    ]


def split_of(kind: str, family: str, code: str) -> str:
    """train, validation or test: of the family, whatever the seed; of the code itself where somebody else wrote it."""
    key = f"split\0{kind}\0{family}" + (f"\0{code}" if family == EXISTING else "")
    share = _share(key)
    for name, frac in SPLITS.items():
        share -= frac
        if share < 0:
            return name
    return next(iter(SPLITS))


def _share(key: str) -> float:
    """A number of [0, 1) that a text decides."""
    return int.from_bytes(_hash(key)[:8], "big") / 2.0**64


def _hash(text: str) -> bytes:
    return blake3(text.encode("utf-8", "surrogatepass")).digest(_HASH_BYTES)
