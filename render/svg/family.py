"""What a template family of SVG is.

    sample(draws) -> (View, params)     params is plain JSON data; all that is random is decided here
    write(params, view) -> (SVG text, parts)    pure

A family works in pixels of its view, width_px by height_px; what coordinates the text has is the writer's affair.
`Part.key` is the place of the element among all elements in document order, the root being "0".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import Part, View

Params = dict[str, Any]
Written = tuple[str, tuple[Part, ...]]
Sampler = Callable[[Draws], tuple[View, Params]]
Writer = Callable[[Mapping[str, Any], View], Written]


@dataclass(frozen=True)
class SvgFamily:
    """A family by name, with its first words as `doc`."""

    name: str
    doc: str
    sample: Sampler
    write: Writer
