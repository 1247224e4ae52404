"""Whether an element's text is set in letters, or is only what it stands for.

A station's dot on a map bears the station's name, an icon what it shows: neither can be read where it is. In SVG of
`render` an element's id is its place in document order, and what is set in letters is a `text` there. Where ids are
others, and in other languages, a text is taken for what it is said to be.
"""

import re
from functools import lru_cache

from gristmill.stages.vision.scene import Element, Scene

_PLACES = re.compile(r"[0-9]{1,9}", re.ASCII)
_PASSED = re.compile(r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>", re.S)
_TAG = re.compile(r"<([A-Za-z_][^\s/>]*)")
_TEXTS = frozenset(["text", "tspan", "textPath"])


def is_printed(element: Element, scene: Scene) -> bool:
    """Whether what it says can be read in the picture."""
    if scene.language != "svg" or not _PLACES.fullmatch(element.id):
        return True
    tags, place = _tags(scene.code), int(element.id)
    return place < len(tags) and tags[place].rpartition(":")[2] in _TEXTS


@lru_cache(maxsize=4)
def _tags(code: str) -> tuple[str, ...]:
    """The tags of a document in order; in XML no attribute holds a `<`."""
    return tuple(_TAG.findall(_PASSED.sub("", code)))
