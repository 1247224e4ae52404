"""Picture to code: the picture, and the code that draws it."""

from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked
from gristmill.stages.vision.scene import Scene, fenced

_ASKS = (
    "Write {language} that draws this picture.",
    "Which {language} code gives this picture?",
    "Reproduce the picture as {language}.",
    "Give the {language} source of this {width}x{height} picture.",
)
_NAMES = {"": "code", "svg": "SVG", "html": "HTML", "css": "CSS", "jsx": "JSX", "javascript": "JavaScript"}


def language_name(language: str) -> str:
    """What people call it."""
    return _NAMES.get(language, language)


def to_code(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """The whole code."""
    ask = choice.pick(_ASKS).format(
        language=language_name(scene.language), width=scene.size.width, height=scene.size.height
    )
    return asked(MEDIUM_CHAR, [(ask, fenced(scene.code, scene.language))])
