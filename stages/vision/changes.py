"""Changes of code whose result is known without drawing it.

* text: what an element says, where the code has these words exactly once between two tags, is replaced by other words:
  those of another element, or a number by another of as many digits;
* colour: each use of a colour `#rrggbb` becomes another one.
"""

import re
from dataclasses import dataclass
from html import escape

from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.scene import Element, Scene

MIN_VISIBLE_FRAC = 0.5
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}(?![0-9a-zA-Z_-])")
_WORD = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
_COLOURS = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#17becf",
    "#222222",
    "#f4d03f",
)


@dataclass(frozen=True)
class Change:
    """`code` anew, where `old` became `new`; `element` is what shows it, None for a colour."""

    code: str
    old: str
    new: str
    element: Element | None = None


def text_change(scene: Scene, choice: Choice) -> Change | None:
    """Another text for an element that is seen at least by half; None where there is none to change."""
    texts = sorted({e.text for e in scene.elements if e.text})
    for element in choice.shuffled([e for e in scene.unique if e.text and e.visible_frac >= MIN_VISIBLE_FRAC]):
        written = escape(element.text, quote=False)
        places = [m.start() for m in re.finditer(rf"(?<=>){re.escape(written)}(?=<)", scene.code)]
        others = [t for t in texts if t != element.text and element.text not in t and t not in element.text]
        if len(places) != 1 or scene.code.count(written) != 1:
            continue
        new = _other_number(element.text, choice) or (choice.pick(others) if others else None)
        if new is None or (new in texts and _WORD.fullmatch(new)):
            continue
        at = places[0]
        code = scene.code[:at] + escape(new, quote=False) + scene.code[at + len(written) :]
        return Change(code, element.text, new, element)
    return None


def colour_change(scene: Scene, choice: Choice) -> Change | None:
    """Another colour, which the code does not have yet, for one that it has."""
    found = sorted({m[0] for m in _COLOUR.finditer(scene.code)})
    others = [c for c in _COLOURS if c not in scene.code.lower()]
    if not found or not others:
        return None
    old, new = choice.pick(found), choice.pick(others)
    code = re.sub(rf"{old}(?![0-9a-zA-Z_-])", new, scene.code)
    return Change(code, old, new)


def _other_number(text: str, choice: Choice) -> str | None:
    """A text with one of its numbers changed; None where it has none."""
    numbers = list(_WORD.finditer(text))
    if not numbers:
        return None
    chosen = choice.pick(numbers)
    digits = len(chosen[0])
    low = 10 ** (digits - 1) if digits > 1 else 0
    number = low + choice.below(10**digits - low)
    if number == int(chosen[0]):
        number = low + (number - low + 1) % (10**digits - low)
    return text[: chosen.start()] + str(number) + text[chosen.end() :]
