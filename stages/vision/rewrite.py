"""Code to code: the same picture's code minified, indented, or with simpler paths.

The answers stand in the record (`meta.render.code_forms`): whoever rendered the pair wrote each from the code, and saw
that it looks the same.
"""

from collections.abc import Mapping
from typing import Any, cast

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked
from gristmill.stages.vision.scene import Scene, fenced

CODE_FORMS = "code_forms"
_ASKS: Mapping[str, tuple[str, ...]] = {
    "minified": (
        "Minify this code: the picture must stay the same.",
        "Write the same drawing without needless white space, digits or letters.",
    ),
    "pretty": (
        "Format this code: an element a line, indented by two spaces.",
        "Indent this code so that its structure can be seen.",
    ),
    "simplified": (
        "Write the paths of this code as short as they can be without a change that can be seen.",
        "Simplify the path data of this code: the picture must stay the same.",
    ),
}


def rewrite(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """One of the forms that the record has."""
    forms = _forms(scene)
    if not forms:
        return None
    name = choice.pick(sorted(forms))
    ask = choice.pick(_ASKS[name])
    return asked(fenced(scene.code, scene.language), [(ask, fenced(forms[name], scene.language))])


def _forms(scene: Scene) -> dict[str, str]:
    """The record's forms that have a name and a text: meta may say anything."""
    told: Any = scene.meta.get(CODE_FORMS)
    if not isinstance(told, dict) or MEDIUM_CHAR in scene.code:
        return {}
    found = cast(dict[Any, Any], told)
    return {
        name: text
        for name, text in found.items()
        if name in _ASKS and isinstance(text, str) and text not in ("", scene.code) and MEDIUM_CHAR not in text
    }
