"""What a record of a render pair says: its code, the size of its picture, and what is where in it.

In: `meta` (JSON with `render`), `text` (the code in a fence, and U+FFFC), `media[0]` (`width`, `height`,
`annotations`). All of it is read as data that may be anything: what is missing or of another type makes no Scene, or
leaves an element out. Texts with a line break, a control character or U+FFFC name nothing and are left out.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gristmill.manifests.coordinates import Box, Point, Size, is_box, is_point
from gristmill.manifests.image_tokens import is_size
from gristmill.manifests.schema import MEDIUM_CHAR

META = "render"
MAX_NAME_CHARS = 80
_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w.+-]{0,40})\n(?P<code>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffc\ufffd]")


@dataclass(frozen=True)
class Element:
    """An annotation. `point` is None where none is known."""

    id: str
    role: str
    text: str
    full: Box
    visible: Box
    point: Point | None
    visible_frac: float
    truncated: bool

    @property
    def name(self) -> str:
        """What a person would call it."""
        return f'the {self.role} "{self.text}"' if self.text else f"the {self.role}"


@dataclass(frozen=True)
class Scene:
    """A record. `elements` come in order of drawing; `unique` are those whose name stands for no other."""

    id: str
    code: str
    language: str
    size: Size
    elements: tuple[Element, ...]
    meta: Mapping[str, Any]

    @property
    def unique(self) -> list[Element]:
        """Elements that can be asked for by name."""
        names = Counter(element.name for element in self.elements)
        return [e for e in self.elements if names[e.name] == 1 and len(e.text) <= MAX_NAME_CHARS]


def scene_of(record_id: str, meta: str, text: str, medium: Mapping[str, Any] | None) -> Scene | None:
    """The scene of a record; None for one that is no render pair."""
    known = render_meta(meta)
    if known is None or medium is None or not is_size(medium.get("width"), medium.get("height")):
        return None
    found = _code(known, text)
    if found is None:
        return None
    size = Size(int(medium["width"]), int(medium["height"]))
    elements = (_element(annotation, size) for annotation in medium.get("annotations") or ())
    return Scene(record_id, *found, size, tuple(e for e in elements if e is not None), known)


def render_meta(meta: str) -> dict[str, Any] | None:
    """What `meta` says under `render`; None where it says nothing."""
    try:
        found: Any = json.loads(meta)
    except (ValueError, RecursionError):
        return None
    known: Any = cast(dict[str, Any], found).get(META) if isinstance(found, dict) else None
    return cast(dict[str, Any], known) if isinstance(known, dict) and _can_be_written(known) else None


def _can_be_written(known: Any) -> bool:
    """Whether it is JSON in UTF-8: half of a surrogate pair and numbers that are none can be read, and not written."""
    try:
        json.dumps(known, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def fenced(code: str, language: str) -> str:
    """The code in a fence that is longer than any in it."""
    runs = [len(run) for run in re.findall("`+", code)]
    fence = "`" * max(3, 1 + max(runs, default=0))
    return f"{fence}{language}\n{code}{'' if code.endswith(chr(10)) else chr(10)}{fence}"


def _code(known: Mapping[str, Any], text: str) -> tuple[str, str] | None:
    """Code and language: where the record says that they are, else the first fenced block."""
    block = _FENCE.search(text)
    language = known.get("language")
    if not isinstance(language, str) or not re.fullmatch(r"[\w.+-]{1,40}", language):
        language = block["language"] if block else ""
    code = _between(known.get("code_chars"), text)
    if code is None and block is not None:
        code = block["code"]
    return (code, language) if code and MEDIUM_CHAR not in code else None


def _between(places: Any, text: str) -> str | None:
    if not isinstance(places, list) or len(cast(list[Any], places)) != 2:
        return None
    start, stop = cast(list[Any], places)
    if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start < stop <= len(text)):
        return None
    return text[start:stop]


def _element(annotation: Mapping[str, Any] | None, size: Size) -> Element | None:
    if annotation is None:
        return None
    full, visible = (_numbers(annotation.get(name)) for name in ("bbox_full", "bbox_visible"))
    role, text = annotation.get("role") or "", annotation.get("text") or ""
    if not (is_box(full, size) and is_box(visible, size)) or not role or _CONTROL.search(role) or _CONTROL.search(text):
        return None
    point, frac = _numbers(annotation.get("point")), annotation.get("visible_frac")
    return Element(
        annotation.get("id") or "",
        role,
        text.strip(),
        (full[0], full[1], full[2], full[3]),
        (visible[0], visible[1], visible[2], visible[3]),
        (point[0], point[1]) if is_point(point, size) else None,
        float(frac) if frac is not None else 1.0,
        bool(annotation.get("truncated")),
    )


def _numbers(values: Any) -> Sequence[float]:
    if not isinstance(values, list) or any(value is None for value in cast(list[Any], values)):
        return ()
    return [float(value) for value in cast(list[Any], values)]
