"""Read text: what an element says, which is given by the box of what can be seen of it.

Asked is for texts that are set in letters (`printed`), seen nearly whole and not cut by the picture's edge, and for
boxes that hold the whole of no other element with another text.
"""

from gristmill.manifests.coordinates import area, overlap
from gristmill.manifests.coordinates_text import box_text, too_small, view_sentence
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked, view_of
from gristmill.stages.vision.printed import is_printed
from gristmill.stages.vision.scene import Element, Scene

MIN_VISIBLE_FRAC = 0.95
_ASKS = (
    "What does the {role} in {box} say?",
    "Read the text in {box}.",
    "Which text stands in {box}?",
)


def read_text(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """Up to so many texts."""
    view = view_of(choice)
    able = [e for e in scene.elements if _can_be_read(e, scene) and not too_small(e.visible, view, scene.size)]
    if not able:
        return None
    chosen = choice.shuffled(able)[:questions]
    pairs = [
        (choice.pick(_ASKS).format(role=e.role, box=box_text(e.visible, view, scene.size)), e.text) for e in chosen
    ]
    return asked(f"{MEDIUM_CHAR}\n\n{view_sentence(view, scene.size)}", pairs, view, chosen)


def _can_be_read(element: Element, scene: Scene) -> bool:
    if not element.text or not is_printed(element, scene):
        return False
    if element.truncated or element.visible_frac < MIN_VISIBLE_FRAC:
        return False
    others = (o for o in scene.elements if o.text and o.text != element.text)
    return not any(overlap(o.visible, element.visible) > 0.5 * area(o.visible) for o in others)
