"""What a domain of render pairs is: code with the picture that it makes, and what is where in it.

    family, draws -> Spec -> Code -> Shot -> annotations -> Report

The picture is always that of the code's text, never of the spec. A domain is an object with the methods of `Domain`;
all are pure but for the engines behind them, which are loaded when first asked for and run in killable children.
Reports are measured and judged apart: `verify` measures, `rules` decides, so a rejection has a reason, a value and a
limit as any filter's has. What cannot be rendered at all raises `Rejected`.

Lengths are in pixels of the emitted picture, coordinates as in `manifests.coordinates` (coord_spec 1): origin top
left, boxes (x0, y0, x1, y1) half open, float64.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from gristmill.render.draws import Draws
from gristmill.stages.protocol import Reason, Rule, Verdict

Box = tuple[float, float, float, float]
Point = tuple[float, float]


@dataclass(frozen=True)
class View:
    """How code is looked at: the viewport in the code's own pixels, and how many emitted pixels one of them takes.

    The picture is round(width_px * scale) by round(height_px * scale).
    """

    width_px: int
    height_px: int
    scale: float = 1.0


@dataclass(frozen=True)
class Spec:
    """What a sample shows, decided before code is written; `params` is plain JSON data."""

    family: str
    view: View
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """An element of the code that is worth naming.

    `key` finds it there, in the domain's own way (SVG: its place in document order, from 0 at the root); `role` is
    what a person would call it (`bar`, `legend label`), `text` what it says, "" where it says nothing.
    """

    key: str
    role: str
    text: str = ""


@dataclass(frozen=True)
class Code:
    """The text that a model learns, and how to look at it.

    `family` is that of the spec; for code that somebody else wrote it is `existing`, and `parts` is empty: the domain
    names elements by what they are.
    """

    text: str
    language: str
    family: str
    view: View
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Shot:
    """A picture, as PNG, and what the engine told while it stood still.

    `evidence` is the domain's own (boxes of a page's elements, an id map); nobody else looks into it. `engine` names
    what drew it, with its version.
    """

    png: bytes
    width: int
    height: int
    engine: str
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Annotation:
    """An element and where it is: the columns of `manifests.schema.ANNOTATION` but for those of time.

    `bbox_full` is the element's layout or geometry, which others may cover, clipped to the picture; `bbox_visible`
    bounds the pixels that are seen to be its own, `point` lies on one of them, `visible_frac` is visible pixels of
    those that it would have alone. `truncated`: the picture's edge cuts it. `z` counts upwards in order of drawing.
    """

    id: str
    role: str
    text: str
    bbox_full: Box
    bbox_visible: Box
    point: Point
    visible_frac: float
    truncated: bool
    z: int
    polygon: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Report:
    """What verification measured of a sample, by name of measure, and who judged (`judge` with its version).

    Every measure that `Domain.rules` names is there; NaN where it does not apply. `notes` are words for people.
    """

    measures: Mapping[str, float]
    judge: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class EngineState:
    """Whether an engine works here, tried on a probe picture: `version` "" and a `remedy` where it does not."""

    name: str
    version: str
    works: bool
    detail: str = ""
    remedy: str = ""


class Rejected(Exception):
    """Code that gives no sample: `reason` is one of the domain's, `detail` a value, `verdict` whether it was worked on.

    Quarantined is what cost an engine its life or its time, dropped what was refused or found wrong.
    """

    def __init__(self, reason: str, detail: str = "", verdict: Verdict = "drop") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail
        self.verdict: Verdict = verdict


class Domain(Protocol):
    """A kind of code and its engines. `version` is raised whenever any output changes."""

    name: ClassVar[str]
    version: ClassVar[int]

    def families(self) -> tuple[str, ...]:
        """Names of its template families, sorted."""
        ...

    def sample_spec(self, family: str, draws: Draws) -> Spec:
        """A spec of a family; all that is random comes from `draws`."""
        ...

    def to_code(self, spec: Spec) -> Code:
        """The code of a spec. Pure."""
        ...

    def existing(self, body: bytes) -> Code:
        """Code that somebody else wrote, made safe. Raises Rejected."""
        ...

    def render(self, code: Code) -> Shot:
        """The picture of the code's text. Raises Rejected."""
        ...

    def annotate(self, code: Code, shot: Shot) -> tuple[Annotation, ...]:
        """The elements that can be seen, in order of drawing. Raises Rejected."""
        ...

    def verify(self, code: Code, shot: Shot, annotations: Sequence[Annotation]) -> Report:
        """What a second look finds, by a way that does not share the first one's mistakes. Raises Rejected."""
        ...

    def skeleton(self, code: Code) -> str:
        """The code without its words, numbers, names and colours: what a template leaves, for counting variety."""
        ...

    def rules(self) -> tuple[Rule, ...]:
        """Limits on the measures of a report, in the order in which they are tried."""
        ...

    def reasons(self) -> tuple[Reason, ...]:
        """Every reason of `Rejected`; those of `rules` stand there."""
        ...

    def engines(self) -> tuple[EngineState, ...]:
        """Each engine that the domain needs, tried on a probe. Never raises."""
        ...

    def fingerprint(self) -> Mapping[str, str]:
        """Versions of what decides a sample's bytes and is not this code: engines, fonts."""
        ...


@runtime_checkable
class HasForms(Protocol):
    """A domain that can write the same drawing in other ways."""

    def code_forms(self, code: Code) -> dict[str, str]:
        """Other texts of the same picture by what was done, each seen to look the same. Raises Rejected."""
        ...
