"""Code to a description of its picture: some of what can be seen and where, from back to front, as annotations have it.

The picture itself is not shown: the answer follows from the code. Elements too small for the view are left out; of more
than MAX_ELEMENTS the largest are described. A picture may show more than its annotations tell (a family names so many
parts of a drawing at most), so the question asks for some of it, and no answer says how much there is.
"""

from gristmill.manifests.coordinates import area
from gristmill.manifests.coordinates_text import TextView, box_text, too_small, view_sentence
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.form import Form, asked, view_of
from gristmill.stages.vision.scene import Element, Scene, fenced
from gristmill.stages.vision.to_code import language_name

MAX_ELEMENTS = 40
_HIDDEN_BELOW = 0.9
"""A visible fraction from which an element is said to be partly hidden."""
_ASKS = (
    "Name some of what can be seen in the {width}x{height} picture that this {language} draws, and where.",
    "What are some of the things that this {language} shows at {width}x{height} pixels, and where are they?",
    "List some of what can be seen when this {language} is drawn at {width}x{height} pixels, from back to front.",
)


def to_words(scene: Scene, choice: Choice, questions: int) -> Form | None:
    """A list of elements."""
    view = view_of(choice)
    able = [e for e in scene.elements if not too_small(e.visible, view, scene.size)]
    if not able:
        return None
    largest = sorted(able, key=lambda e: -area(e.visible))[:MAX_ELEMENTS]
    chosen = [e for e in able if any(e is other for other in largest)]
    lines = [f"- {_line(e, view, scene)}" for e in chosen]
    width, height = scene.size
    ask = choice.pick(_ASKS).format(language=language_name(scene.language), width=width, height=height)
    question = f"{ask} {view_sentence(view, scene.size)}"
    return asked(fenced(scene.code, scene.language), [(question, "\n".join(lines))], view, chosen)


def _line(element: Element, view: TextView, scene: Scene) -> str:
    said = f' "{element.text}"' if element.text else ""
    more = ", partly hidden" if element.visible_frac < _HIDDEN_BELOW else ""
    more += ", cut by the edge" if element.truncated else ""
    return f"{element.role}{said}: {box_text(element.visible, view, scene.size)}{more}"
