"""Planted wrong annotations: each must be caught, on each of many drawings. Sound ones must pass."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace

import pytest

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
