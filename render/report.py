"""How varied render pairs are: per family and for the whole of a domain.

In: the folder of a finished dataset. Out: plain data, one entry a source (`render/svg`) with `whole` and `families`:

* `attempts`, `accepted` and `accept_frac` of the origin, `reasons` of what was rejected (null where the dataset was
  not rendered itself but made from others), `records` that stand in the dataset now;
* `skeletons`: distinct code without words, numbers, names and colours; `skeletons_per_200` and `skeletons_per_1000`:
  distinct ones among the first 200 and 1,000 records, null where there are fewer; `dhashes` and `dhashes_per_1000` the
  same for the difference hash of the picture;
* `shared_frac`: share of a family's skeletons that stand in another family, too; `nearest` and `nearest_frac`: the
  family that shares most of its own, and which share;
* `same_pixels`: records whose picture stands before, pixel by pixel;
* `annotations_mean` of a record, `visible_frac_median` over all annotations, `code_chars_median`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from gristmill.manifests.manifest import Manifest
from gristmill.render.dataset import ORIGIN, accepted, records, rejected

REPORT_FORMAT = 1


@dataclass(frozen=True)
class _Attempts:
    """By (source, family): samples, and how many others for which reason."""

    accepted: Mapping[tuple[str, str], int]
    rejected: Mapping[tuple[str, str], Mapping[str, int]]


@dataclass
class _Seen:
    """What is kept of the records of a family, in order."""

    skeletons: list[str] = field(default_factory=list[str])
    dhashes: list[str] = field(default_factory=list[str])
    pixels: list[str] = field(default_factory=list[str])
    annotations: list[int] = field(default_factory=list[int])
    visible: list[float] = field(default_factory=list[float])
    chars: list[int] = field(default_factory=list[int])

    def add(self, other: "_Seen") -> None:
        """Take the records of another family, too."""
        for name in ("skeletons", "dhashes", "pixels", "annotations", "visible", "chars"):
            getattr(self, name).extend(getattr(other, name))


def diversity(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """The report of one dataset."""
    rendered = manifest["steps"][0]["step"] == ORIGIN
    seen: dict[str, dict[str, _Seen]] = {}
    for record in records(folder, manifest, with_pictures=False):
        of_family = seen.setdefault(record.source, {}).setdefault(record.render["family"], _Seen())
        of_family.skeletons.append(record.render["skeleton"])
        of_family.dhashes.append(record.render["dhash"])
        of_family.pixels.append(record.render["pixels"])
        of_family.annotations.append(len(record.medium["annotations"]))
        of_family.visible.extend(a["visible_frac"] for a in record.medium["annotations"])
        start, stop = record.render["code_chars"]
        of_family.chars.append(stop - start)
    lost = _Attempts(accepted(manifest), rejected(folder, manifest)) if rendered else None
    for source, family in (*lost.accepted, *lost.rejected) if lost else ():
        seen.setdefault(source, {}).setdefault(family, _Seen())
    sources = {source: _source(source, families, lost) for source, families in sorted(seen.items())}
    return {"format": REPORT_FORMAT, "dataset": manifest["name"], "digest": manifest["digest"], "sources": sources}


def _source(source: str, families: Mapping[str, _Seen], lost: _Attempts | None) -> dict[str, Any]:
    whole = _Seen()
    for name in sorted(families):
        whole.add(families[name])
    told = {name: _numbers(families[name]) | _books(source, [name], lost) for name in sorted(families)}
    for name in told:
        told[name] |= _shared(name, {other: set(one.skeletons) for other, one in families.items()})
    return {"whole": _numbers(whole) | _books(source, sorted(families), lost), "families": told}


def _numbers(seen: _Seen) -> dict[str, Any]:
    return {
        "records": len(seen.pixels),
        "skeletons": len(set(seen.skeletons)),
        "skeletons_per_200": distinct(seen.skeletons, 200),
        "skeletons_per_1000": distinct(seen.skeletons, 1000),
        "dhashes": len(set(seen.dhashes)),
        "dhashes_per_1000": distinct(seen.dhashes, 1000),
        "same_pixels": len(seen.pixels) - len(set(seen.pixels)),
        "annotations_mean": round(sum(seen.annotations) / len(seen.annotations), 2) if seen.annotations else None,
        "visible_frac_median": round(median(seen.visible), 4) if seen.visible else None,
        "code_chars_median": median(seen.chars) if seen.chars else None,
    }


def distinct(values: Sequence[str], of: int) -> int | None:
    """How many of the first `of` values differ; None where there are fewer."""
    return len(set(values[:of])) if len(values) >= of else None


def _books(source: str, names: Sequence[str], lost: _Attempts | None) -> dict[str, Any]:
    if lost is None:
        return {"attempts": None, "accepted": None, "accept_frac": None, "reasons": None}
    reasons: dict[str, int] = {}
    let_through = 0
    for name in names:
        let_through += lost.accepted.get((source, name), 0)
        for reason, count in lost.rejected.get((source, name), {}).items():
            reasons[reason] = reasons.get(reason, 0) + count
    attempts = let_through + sum(reasons.values())
    return {
        "attempts": attempts,
        "accepted": let_through,
        "accept_frac": round(let_through / attempts, 4) if attempts else None,
        "reasons": dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    }


def _shared(name: str, skeletons: Mapping[str, set[str]]) -> dict[str, Any]:
    own = skeletons[name]
    others = {other: len(own & theirs) for other, theirs in sorted(skeletons.items()) if other != name}
    if not own or not others:
        return {"shared_frac": None, "nearest": None, "nearest_frac": None}
    elsewhere = set[str]().union(*(theirs for other, theirs in skeletons.items() if other != name))
    nearest = max(others, key=lambda other: others[other])
    found = others[nearest] / len(own)
    return {
        "shared_frac": round(len(own & elsewhere) / len(own), 4),
        "nearest": nearest if found else None,
        "nearest_frac": round(found, 4),
    }


HEADERS = (
    "source",
    "family",
    "accepted",
    "attempts",
    "accept %",
    "skeletons",
    "per 200",
    "per 1000",
    "shared %",
    "dhashes",
    "per 1000",
    "same pixels",
    "annotations",
    "visible",
    "rejected",
)


def table_rows(report: Mapping[str, Any]) -> list[tuple[object, ...]]:
    """The report as rows of a table with HEADERS: each family, then the whole of its source."""
    rows: list[tuple[object, ...]] = []
    for source, told in report["sources"].items():
        rows += [_row(source, name, one) for name, one in told["families"].items()]
        rows.append(_row(source, "(all)", told["whole"]))
    return rows


def _row(source: str, family: str, one: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        source,
        family,
        one["records"] if one["accepted"] is None else one["accepted"],
        one["attempts"],
        _percent(one["accept_frac"]),
        one["skeletons"],
        one["skeletons_per_200"],
        one["skeletons_per_1000"],
        _percent(one.get("shared_frac")),
        one["dhashes"],
        one["dhashes_per_1000"],
        one["same_pixels"],
        one["annotations_mean"],
        one["visible_frac_median"],
        ", ".join(f"{reason} {count}" for reason, count in (one["reasons"] or {}).items()),
    )


def _percent(frac: float | None) -> str | None:
    return None if frac is None else f"{100 * frac:.1f}"
