"""What a family of web pages is: two pure functions.

`sample` decides all that is random and gives the view and plain JSON params; `write` makes the page's text and its
named parts of them. A part's `key` is the `id` attribute of an element, and its `text` what that element says.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import Part, View

Sampled = tuple[View, dict[str, Any]]
Written = tuple[str, tuple[Part, ...]]


@dataclass(frozen=True)
class WebFamily:
    """A family: `doc` is the first line of its module."""

    name: str
    doc: str
    sample: Callable[[Draws], Sampled]
    write: Callable[[Mapping[str, Any], View], Written]


def needs_script(text: str) -> bool:
    """Whether a page of these families is built by script: such a page wants a fresh one in the browser."""
    return "<script" in text
