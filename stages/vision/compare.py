"""Compare two versions: the code and a changed one, in either order; which draws the picture, and what differs.

What differs is a text that can be seen, so that the picture decides.
"""

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.changes import text_change
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked
from gristmill.stages.vision.scene import Scene, fenced

_ASK = "Which version draws the picture, A or B, and what is different in the other one?"


def compare(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """One changed text."""
    change = text_change(scene, choice)
    if change is None or change.element is None:
        return None
    codes, names = [scene.code, change.code], ("A", "B")
    own = choice.below(2)
    if own:
        codes.reverse()
    blocks = "\n\n".join(f"{n}:\n\n{fenced(c, scene.language)}" for n, c in zip(names, codes, strict=True))
    answer = f'{names[own]}. In {names[1 - own]} {change.element.name} says "{change.new}".'
    return asked(f"{MEDIUM_CHAR}\n\n{blocks}", [(_ASK, answer)], None, [change.element])
