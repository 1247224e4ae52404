"""Planted wrong annotations: each must be caught, on each of many drawings. Sound ones must pass."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace

import pytest

from gristmill.render.draws import Draws
from gristmill.render.protocol import Annotation, Code, Shot
from gristmill.render.svg.domain import SvgDomain
from tests.render.svg.drawings import first_failure, scattered

DRAWINGS = 104
SIDE = 256
Fault = Callable[[Annotation, tuple[Annotation, ...]], Annotation | None]


def _moved(one: Annotation, dx: float, dy: float) -> Annotation:
    def box(b: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        return b[0] + dx, b[1] + dy, b[2] + dx, b[3] + dy

    point = one.point[0] + dx, one.point[1] + dy
    return replace(one, bbox_full=box(one.bbox_full), bbox_visible=box(one.bbox_visible), point=point)


def _scaled(one: Annotation, factor: float) -> Annotation:
    full, visible = (tuple(v * factor for v in box) for box in (one.bbox_full, one.bbox_visible))
    point = one.point[0] * factor, one.point[1] * factor
    return replace(one, bbox_full=full, bbox_visible=visible, point=point)  # type: ignore[arg-type]


def _mirrored(one: Annotation) -> Annotation | None:
    def box(b: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        return SIDE - b[2], b[1], SIDE - b[0], b[3]

    if abs(box(one.bbox_visible)[0] - one.bbox_visible[0]) < 3:
        return None
    point = SIDE - one.point[0], one.point[1]
    return replace(one, bbox_full=box(one.bbox_full), bbox_visible=box(one.bbox_visible), point=point)


def _swapped(one: Annotation, others: tuple[Annotation, ...]) -> Annotation | None:
    for other in others:
        if max(abs(a - b) for a, b in zip(one.bbox_visible, other.bbox_visible, strict=True)) > 3:
            return replace(other, id=one.id, role=one.role, text=one.text)
    return None


FAULTS: dict[str, Fault] = {
    "shifted right": lambda one, _: _moved(one, 3, 0),
    "shifted up": lambda one, _: _moved(one, 0, -3),
    "shifted by a diagonal": lambda one, _: _moved(one, -3, 3),
    "mirrored": lambda one, _: _mirrored(one),
    "swapped": _swapped,
    "twice the size": lambda one, _: _scaled(one, 2),
    "half the size": lambda one, _: _scaled(one, 0.5),
    "wrong text": lambda one, _: replace(one, text=one.text + "s"),
    "wrong role": lambda one, _: replace(one, role="legend"),
    "point beside": lambda one, _: replace(one, point=(one.bbox_visible[0] - 4, one.point[1])),
    "wrong id": lambda one, _: replace(one, id="999"),
    "not finite": lambda one, _: replace(one, point=(float("nan"), one.point[1])),
    "visible share over 1": lambda one, _: replace(one, visible_frac=1.5),
}

Field = Callable[[Annotation, Shot, int], Annotation]


def _full(one: Annotation, shot: Shot, sides: tuple[float, float, float, float]) -> Annotation:
    """The full box with its sides moved, within the picture."""
    x0, y0, x1, y1 = (a + b for a, b in zip(one.bbox_full, sides, strict=True))
    return replace(one, bbox_full=(max(x0, 0.0), max(y0, 0.0), min(x1, float(shot.width)), min(y1, float(shot.height))))


def _seen(one: Annotation, shot: Shot, sides: tuple[float, float, float, float]) -> Annotation:
    x0, y0, x1, y1 = (a + b for a, b in zip(one.bbox_visible, sides, strict=True))
    found = max(x0, 0.0), max(y0, 0.0), min(x1, float(shot.width)), min(y1, float(shot.height))
    return replace(one, bbox_visible=found)


def _side(place: int, by: float) -> tuple[float, float, float, float]:
    return tuple(by if place == each else 0.0 for each in range(4))  # type: ignore[return-value]


def _doubled(one: Annotation, shot: Shot) -> Annotation:
    wide = one.bbox_full[2] - one.bbox_full[0]
    return _full(one, shot, (-wide, 0, wide, 0))


def _thinned(one: Annotation, side: int) -> Annotation:
    box = list(one.bbox_visible)
    box[side] = (box[side % 2] + box[side % 2 + 2]) / 2
    return replace(one, bbox_visible=tuple(box))  # type: ignore[arg-type]


SIDES = ("left", "top", "right", "bottom")
ONE_FIELD: dict[str, Field] = {
    "full box doubled": lambda one, shot, _: _doubled(one, shot),
    "full box is the picture": lambda one, shot, _: replace(
        one, bbox_full=(0.0, 0.0, float(shot.width), float(shot.height))
    ),
    **{f"full box, {side} +3": lambda one, shot, _, n=n: _full(one, shot, _side(n, 3)) for n, side in enumerate(SIDES)},
    **{
        f"full box, {side} -3": lambda one, shot, _, n=n: _full(one, shot, _side(n, -3)) for n, side in enumerate(SIDES)
    },
    **{f"visible box, {s} +3": lambda one, shot, _, n=n: _seen(one, shot, _side(n, 3)) for n, s in enumerate(SIDES)},
    **{f"visible box, {s} -3": lambda one, shot, _, n=n: _seen(one, shot, _side(n, -3)) for n, s in enumerate(SIDES)},
    **{f"visible box, {s} at the middle": lambda one, _, __, n=n: _thinned(one, n) for n, s in enumerate(SIDES)},
    "visible share halved": lambda one, _, __: replace(one, visible_frac=one.visible_frac / 2),
    "visible share less by a tenth": lambda one, _, __: replace(one, visible_frac=one.visible_frac * 0.9),
    "visible share is more": lambda one, _, __: replace(one, visible_frac=min(one.visible_frac * 1.2, 1.0)),
    "visible share is 0": lambda one, _, __: replace(one, visible_frac=0.0),
    "truncated flipped": lambda one, _, __: replace(one, truncated=not one.truncated),
    "z is 0": lambda one, _, __: replace(one, z=0),
    "z one more": lambda one, _, __: replace(one, z=one.z + 1),
    "z one less": lambda one, _, __: replace(one, z=one.z - 1),
    "z is the last": lambda one, _, count: replace(one, z=count - 1),
}
_LEAST_SHARE_OFF = 0.06


def _is_fault(one: Annotation, wrong: Annotation) -> bool:
    """Whether a plant is one: at the picture's edge a box may stay what it is, and a share of 1 is no more than 1."""
    if wrong.visible_frac != one.visible_frac:
        return abs(wrong.visible_frac - one.visible_frac) > _LEAST_SHARE_OFF * one.visible_frac
    boxes = zip((*one.bbox_full, *one.bbox_visible), (*wrong.bbox_full, *wrong.bbox_visible), strict=True)
    off = max(abs(a - b) for a, b in boxes)
    return wrong != one and (off == 0 or off > 2.5)


@pytest.fixture(scope="module")
def drawings(svg: SvgDomain) -> list[tuple[Code, Shot, tuple[Annotation, ...]]]:
    """One of each family that is accepted, and scattered shapes."""
    codes = [svg.to_code(svg.sample_spec(name, Draws("planted", name))) for name in svg.families()]
    found: list[tuple[Code, Shot, tuple[Annotation, ...]]] = []
    for sample in [*codes, *(scattered(seed, 8) for seed in range(DRAWINGS, DRAWINGS + 12))]:
        shot = svg.render(sample)
        annotations = svg.annotate(sample, shot)
        if not first_failure(svg.rules(), svg.verify(sample, shot, annotations)):
            found.append((sample, shot, annotations))
    assert len(found) > 50
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE_FIELD)
def test_every_fault_of_one_field_is_caught(
    svg: SvgDomain, drawings: list[tuple[Code, Shot, tuple[Annotation, ...]]], name: str
) -> None:
    planted, missed = 0, list[tuple[int, Annotation, Annotation]]()
    for number, (sample, shot, annotations) in enumerate(drawings):
        wrongs = ((at, ONE_FIELD[name](one, shot, len(annotations))) for at, one in enumerate(annotations))
        faults = [(at, wrong) for at, wrong in wrongs if _is_fault(annotations[at], wrong)]
        if not faults:
            continue
        planted += 1
        at, wrong = faults[number * 7 % len(faults)]
        report = svg.verify(sample, shot, (*annotations[:at], wrong, *annotations[at + 1 :]))
        if not first_failure(svg.rules(), report):
            missed.append((number, annotations[at], wrong))
    assert planted >= 20
    assert missed == []


@pytest.mark.slow
def test_all_wrong_alike_are_caught(svg: SvgDomain, drawings: list[tuple[Code, Shot, tuple[Annotation, ...]]]) -> None:
    for name in ("full box is the picture", "visible share halved", "truncated flipped", "z is 0"):
        for sample, shot, annotations in drawings[::3]:
            wrong = tuple(ONE_FIELD[name](one, shot, len(annotations)) for one in annotations)
            assert first_failure(svg.rules(), svg.verify(sample, shot, wrong)), name


@pytest.fixture(scope="module")
def samples(svg: SvgDomain) -> list[tuple[Code, Shot, tuple[Annotation, ...]]]:
    """Drawings that are accepted as they are."""
    found: list[tuple[Code, Shot, tuple[Annotation, ...]]] = []
    for seed in range(DRAWINGS):
        sample = scattered(seed, 8)
        shot = svg.render(sample)
        found.append((sample, shot, svg.annotate(sample, shot)))
    return found


@pytest.mark.slow
def test_sound_annotations_pass(svg: SvgDomain, samples: list[tuple[Code, Shot, tuple[Annotation, ...]]]) -> None:
    verdicts = [first_failure(svg.rules(), svg.verify(*sample)) for sample in samples]
    assert sum(verdict == "" for verdict in verdicts) >= 0.9 * DRAWINGS, verdicts
    assert set(verdicts) <= {"", "low_contrast", "text_missing"}, "labels over dark shapes, and nothing else"


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_every_planted_fault_is_caught(
    svg: SvgDomain, samples: list[tuple[Code, Shot, tuple[Annotation, ...]]], name: str
) -> None:
    planted = 0
    for number, (sample, shot, annotations) in enumerate(samples):
        places = [at for at, one in enumerate(annotations) if one.role != "ground"]
        at = places[number % len(places)]
        wrong = FAULTS[name](annotations[at], tuple(annotations[place] for place in places if place != at))
        if wrong is None:
            continue
        planted += 1
        report = svg.verify(sample, shot, (*annotations[:at], wrong, *annotations[at + 1 :]))
        reason = first_failure(svg.rules(), report)
        assert reason not in ("", "low_contrast", "text_missing", "engines_differ"), (number, wrong, report)
    assert planted >= 0.9 * DRAWINGS


@pytest.mark.slow
def test_covered_elements_that_are_annotated_are_caught(svg: SvgDomain) -> None:
    for seed in range(100):
        plain = scattered(seed, 5)
        shot = svg.render(plain)
        annotations = svg.annotate(plain, shot)
        one = next(a for a in annotations if a.role != "ground")
        x0, y0, x1, y1 = one.bbox_full
        cover = f'<rect x="{x0 - 2}" y="{y0 - 2}" width="{x1 - x0 + 4}" height="{y1 - y0 + 4}" fill="#07f"/></svg>'
        covered = dataclasses.replace(plain, text=plain.text.replace("</svg>", cover))
        report = svg.verify(covered, svg.render(covered), annotations)
        assert first_failure(svg.rules(), report) in ("not_visible", "box_wrong", "point_wrong"), (seed, report)
        honest = svg.annotate(covered, svg.render(covered))
        assert one.id not in {other.id for other in honest}
