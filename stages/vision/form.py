"""What a form of a render pair is: a question about it, and its true answer.

A form is a function `(Scene, Choice, questions) -> Form | None`, None where the record has nothing to ask of that kind.
It is pure: all that is random comes from the choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gristmill.manifests.coordinates_text import VIEWS, TextView
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.scene import Element, Scene


@dataclass(frozen=True)
class Form:
    """`text`, where `answers` ([start, stop) in characters) are what a model is to say; `picture`: whether the record's
    picture stands in it (as U+FFFC), and `view`, `targets` (ids of annotations) what it asks in and for."""

    text: str
    answers: tuple[tuple[int, int], ...]
    picture: bool
    view: TextView | None = None
    targets: tuple[str, ...] = field(default=())


Maker = Callable[[Scene, Choice, int], Form | None]


def asked(
    opening: str, pairs: Sequence[tuple[str, str]], view: TextView | None = None, targets: Sequence[Element] = ()
) -> Form:
    """A form of an opening and questions with their answers, a blank line between any two."""
    parts, answers = [opening], list[tuple[int, int]]()
    at = len(opening)
    for question, answer in pairs:
        parts += [question, answer]
        start = at + 2 + len(question) + 2
        answers.append((start, start + len(answer)))
        at = start + len(answer)
    text = "\n\n".join(parts)
    return Form(text, tuple(answers), MEDIUM_CHAR in text, view, tuple(e.id for e in targets))


def view_of(choice: Choice) -> TextView:
    """Either view as often as the other."""
    return choice.pick(VIEWS)
