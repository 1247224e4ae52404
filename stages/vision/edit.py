"""Edit: the picture with its code, what is to be changed, and the changed code."""

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.changes import colour_change, text_change
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked
from gristmill.stages.vision.scene import Scene, fenced

_TEXT_ASKS = ('Change the text of {name} to "{new}".', 'Let {name} say "{new}" instead.')
_COLOUR_ASKS = ("Use {new} wherever the colour is {old}.", "Replace the colour {old} by {new} everywhere.")


def edit(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """One change, of a text or a colour."""
    makers = choice.shuffled((text_change, colour_change))
    change = makers[0](scene, choice) or makers[1](scene, choice)
    if change is None:
        return None
    if change.element is None:
        ask = choice.pick(_COLOUR_ASKS).format(old=change.old, new=change.new)
    else:
        ask = choice.pick(_TEXT_ASKS).format(name=change.element.name, new=change.new)
    opening = f"{MEDIUM_CHAR}\n\n{fenced(scene.code, scene.language)}"
    targets = [change.element] if change.element else []
    return asked(opening, [(ask, fenced(change.code, scene.language))], None, targets)
