"""Locate: where elements are, each named by its role and its text, as the box of what can be seen of it.

Asked is for elements whose name stands for no other of the picture and that are not too small for the view.
"""

from gristmill.manifests.coordinates_text import box_text, too_small, view_sentence
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked, view_of
from gristmill.stages.vision.scene import Scene

_ASKS = ("Where is {name}?", "Give the box of {name}.", "Find {name}.", "Which box holds {name}?")


def locate(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """Up to so many boxes."""
    view = view_of(choice)
    able = [e for e in scene.unique if not too_small(e.visible, view, scene.size)]
    if not able:
        return None
    chosen = choice.shuffled(able)[:questions]
    pairs = [(choice.pick(_ASKS).format(name=e.name), box_text(e.visible, view, scene.size)) for e in chosen]
    sentence = f"{view_sentence(view, scene.size)} Boxes hold what can be seen."
    return asked(f"{MEDIUM_CHAR}\n\n{sentence}", pairs, view, chosen)
