"""Annotations that were made wrong on purpose: verification finds every one, and passes the right ones.

A fault is put into one annotation after another; what counts is that the note of that very annotation is there, as a
record falls with its first note.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from gristmill.render.protocol import Annotation, Box, Code, Shot
from gristmill.render.web.domain import WebDomain, client
from tests.extras.web_pages import code, pages, skip_without_browser

skip_without_browser()
pytestmark = pytest.mark.timeout(150)
DOMAIN = WebDomain()
SCALES = (1.0, 1.5, 2.0)
AT_LEAST = 50
Fault = Callable[[Annotation, Shot, float], Annotation | None]


def _moved(a: Annotation, shot: Shot, dx: float, dy: float) -> Annotation | None:
    """All of it moved, where it stays in the picture."""
    full, visible = (_shifted(box, dx, dy) for box in (a.bbox_full, a.bbox_visible))
    if full[0] < 0 or full[1] < 0 or full[2] > shot.width or full[3] > shot.height:
        return None
    return replace(a, bbox_full=full, bbox_visible=visible, point=(a.point[0] + dx, a.point[1] + dy))


def _shifted(box: Box, dx: float, dy: float) -> Box:
    return box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy


def right(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    return _moved(a, shot, 3, 0)


def left(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    return _moved(a, shot, -3, 0)


def down(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    return _moved(a, shot, 0, 3)


def ink_cut(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    """Ink said to end 4 pixels before it does, the box being right."""
    x0, y0, x1, y1 = a.bbox_visible
    return replace(a, bbox_visible=(x0, y0, x1 - 4, y1)) if a.role == "text line" and x1 - x0 > 12 else None


def ink_added(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    """Ink said to begin 4 pixels above where it does, the box being right."""
    x0, y0, x1, y1 = a.bbox_visible
    return replace(a, bbox_visible=(x0, y0 - 4, x1, y1)) if a.role == "text line" and y0 - 4 >= a.bbox_full[1] else None


def mirrored(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    full, visible = ((shot.width - b[2], b[1], shot.width - b[0], b[3]) for b in (a.bbox_full, a.bbox_visible))
    if abs(full[0] - a.bbox_full[0]) < 3:
        return None
    return replace(a, bbox_full=full, bbox_visible=visible, point=(shot.width - a.point[0], a.point[1]))


def off_by_scale(a: Annotation, shot: Shot, scale: float) -> Annotation | None:
    """CSS pixels for those of the picture; at scale 1 as if it had been 1.5."""
    by = 1 / scale if scale != 1 else 1 / 1.5
    full, visible = (tuple(v * by for v in b) for b in (a.bbox_full, a.bbox_visible))
    return replace(a, bbox_full=full, bbox_visible=visible, point=(a.point[0] * by, a.point[1] * by))


def wrong_text(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    """One letter is another."""
    return replace(a, text=("y" if a.text[0] != "y" else "z") + a.text[1:]) if a.text else None


def text_emptied(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    return replace(a, text="") if a.role == "text line" else None


def full_grown(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    x0, y0, x1, y1 = a.bbox_full
    return replace(a, bbox_full=(x0, y0, x1 + 3, y1)) if x1 + 3 <= shot.width else None


def visible_halved(a: Annotation, shot: Shot, scale: float) -> Annotation | None:
    """The half that its point lies in."""
    x0, y0, x1, y1 = a.bbox_visible
    middle = (x0 + x1) / 2
    if middle - x0 < 8 * scale:
        return None
    return replace(a, bbox_visible=(x0, y0, middle, y1) if a.point[0] < middle else (middle, y0, x1, y1))


def visible_lowered(a: Annotation, shot: Shot, scale: float) -> Annotation | None:
    """Without its upper 4 CSS pixels, or its lower ones where its point lies above."""
    x0, y0, x1, y1 = a.bbox_visible
    if y1 - y0 < 12 * scale or a.role == "text line":
        return None
    cut = 4 * scale
    return replace(a, bbox_visible=(x0, y0 + cut, x1, y1) if a.point[1] > y0 + cut else (x0, y0, x1, y1 - cut))


def point_moved(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    """Right below the visible box."""
    return replace(a, point=(a.point[0], a.bbox_visible[3] + 1)) if a.bbox_visible[3] + 1 < shot.height else None


def other_role(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    role, comma, states = a.role.partition(",")
    return replace(a, role=("link" if role == "button" else "button") + comma + states)


def another_state(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    """One too many, or one that is left out."""
    role, comma, states = a.role.rpartition(", ")
    return replace(a, role=role if comma else f"{states}, checked")


def turned_cut(a: Annotation, shot: Shot, scale: float) -> Annotation | None:
    """Told to be cut by the picture's edge, or not to; where its edge is that of the picture nobody knows."""
    x0, y0, x1, y1 = a.bbox_full
    if not a.truncated and (min(x0, y0) < 2 or x1 > shot.width - 2 or y1 > shot.height - 2):
        return None
    return replace(a, truncated=not a.truncated)


def less_seen(a: Annotation, shot: Shot, _: float) -> Annotation | None:
    return replace(a, visible_frac=a.visible_frac + (-0.35 if a.visible_frac > 0.4 else 0.35))


FAULTS: tuple[Fault, ...] = (
    *(right, left, down, mirrored, off_by_scale, wrong_text, ink_cut, ink_added),
    *(text_emptied, full_grown, visible_halved, visible_lowered, point_moved),
    *(other_role, another_state, turned_cut, less_seen),
)


def looked(page: Code) -> tuple[Shot, tuple[Annotation, ...]]:
    shot = DOMAIN.render(page)
    return shot, DOMAIN.annotate(page, shot)


def noted(page: Code, shot: Shot, annotations: Sequence[Annotation]) -> set[str]:
    """Ids of the annotations that the report names."""
    report = DOMAIN.verify(page, shot, annotations)
    return {note.partition(": ")[2].split(" ")[0] for note in report.notes}


def everything() -> list[tuple[float, Code, Shot, tuple[Annotation, ...]]]:
    found: list[tuple[float, Code, Shot, tuple[Annotation, ...]]] = []
    for html in pages().values():
        for scale in SCALES:
            page = code(html, scale)
            found.append((scale, page, *looked(page)))
    return found


@pytest.fixture(scope="module")
def samples() -> list[tuple[float, Code, Shot, tuple[Annotation, ...]]]:
    return everything()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_planted_faults_are_all_found(
    fault: Fault, samples: list[tuple[float, Code, Shot, tuple[Annotation, ...]]]
) -> None:
    planted, missed = 0, list[str]()
    for scale, page, shot, annotations in samples:
        faulty = [fault(a, shot, scale) for a in annotations]
        wrong = [a for a in faulty if a is not None]
        found = noted(page, shot, wrong)
        planted += len(wrong)
        missed += [f"{page.text[-20:]!r} x{scale} {a.id} {a.role} {a.bbox_full}" for a in wrong if a.id not in found]
    assert planted >= AT_LEAST
    assert missed == []


def test_ids_of_others_are_all_found(samples: list[tuple[float, Code, Shot, tuple[Annotation, ...]]]) -> None:
    planted, missed = 0, list[str]()
    for _, page, shot, annotations in samples:
        told = [a for a in annotations if a.role != "text line"]
        pairs = [(a, o) for a, o in pairwise(told) if a.bbox_full != o.bbox_full]
        found = noted(page, shot, [replace(a, id=o.id) for a, o in pairs])
        planted += len(pairs)
        missed += [o.id for _, o in pairs if o.id not in found]
    assert planted >= AT_LEAST
    assert missed == []


def test_a_changed_order_of_painting_is_found(samples: list[tuple[float, Code, Shot, tuple[Annotation, ...]]]) -> None:
    """What lies over the page is told to lie under it. (Within a layer the browser gives no order.)"""
    planted = 0
    for _, page, shot, annotations in samples:
        for over in (a for a in annotations if a.text in ("Undo", "Message was sent.", "Undo now")):
            changed = [replace(a, z=-1) if a is over else a for a in annotations]
            assert over.id in noted(page, shot, changed)
            planted += 1
    assert planted >= 9


def test_swapped_places_are_all_found(samples: list[tuple[float, Code, Shot, tuple[Annotation, ...]]]) -> None:
    planted, missed = 0, list[str]()
    for _, page, shot, annotations in samples:
        told = [a for a in annotations if a.role == "text line"]
        others = [*told[1:], told[0]]
        swapped = [
            replace(a, bbox_full=o.bbox_full, bbox_visible=o.bbox_visible, point=o.point)
            for a, o in zip(told, others, strict=True)
        ]
        found = noted(page, shot, swapped)
        planted += len(swapped)
        missed += [a.id for a in swapped if a.id not in found]
    assert planted >= AT_LEAST
    assert missed == []


def test_covered_elements_are_all_found(samples: list[tuple[float, Code, Shot, tuple[Annotation, ...]]]) -> None:
    """The page has a veil that the annotations do not know of: what lies wholly under it is found."""
    planted, missed = 0, list[str]()
    for scale, page, _, annotations in samples:
        veil = "<i style='position:fixed;left:200px;top:100px;width:420px;height:420px;background:#7a8;z-index:9'></i>"
        covered = replace(page, text=page.text.replace("</body>", f"{veil}</body>"))
        shot = DOMAIN.render(covered)
        box = tuple(v * scale for v in (200, 100, 620, 520))
        under = [a for a in annotations if _inside(a.bbox_full, box)]
        found = noted(covered, shot, under)
        planted += len(under)
        missed += [a.id for a in under if a.id not in found]
    assert planted >= AT_LEAST
    assert missed == []


def test_right_annotations_are_not_named(samples: list[tuple[float, Code, Shot, tuple[Annotation, ...]]]) -> None:
    assert all(not noted(page, shot, annotations) for _, page, shot, annotations in samples)


def _inside(box: Sequence[float], outer: Sequence[float]) -> bool:
    return box[0] >= outer[0] and box[1] >= outer[1] and box[2] <= outer[2] and box[3] <= outer[3]


def teardown_module() -> None:
    client().close()
