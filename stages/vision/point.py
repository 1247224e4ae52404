"""Point: a pixel of an element, which is named by its role and its text.

The point of an annotation lies on a pixel that is seen to be the element's own, which the middle of its box may not.
"""

from gristmill.manifests.coordinates_text import point_text, too_small, view_sentence
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked, view_of
from gristmill.stages.vision.scene import Scene

_ASKS = ("Point to {name}.", "Where would you click on {name}?", "Give a point on {name}.")


def point(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """Up to so many points."""
    view = view_of(choice)
    able = [(e, e.point) for e in scene.unique if e.point and not too_small(e.visible, view, scene.size)]
    if not able:
        return None
    chosen = choice.shuffled(able)[:questions]
    pairs = [(choice.pick(_ASKS).format(name=e.name), point_text(at, view, scene.size)) for e, at in chosen]
    opening = f"{MEDIUM_CHAR}\n\n{view_sentence(view, scene.size, 'point')}"
    return asked(opening, pairs, view, [e for e, _ in chosen])
