"""The domain `svg`: see `render.protocol.Domain`. cairosvg draws and names, resvg judges."""

import math
import zlib
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar

import xxhash

from gristmill.render.draws import Draws
from gristmill.render.protocol import Annotation, Code, EngineState, Part, Rejected, Report, Shot, Spec, View
from gristmill.render.svg import engines, fonts, probes
from gristmill.render.svg.rules import MEASURES, RULES
from gristmill.render.svg.skeleton import skeleton
from gristmill.render.svg.vocabulary import MAX_SIDE_PX, REFUSALS
from gristmill.render.svg.wire import Message
from gristmill.stages.protocol import Reason, Rule

EXISTING = "existing"
AUDIT_ONE_IN = 20
_PACKAGES = ("cairosvg", "cairocffi", "resvg", "pillow", "lxml")


class SvgDomain:
    """SVG drawings."""

    name: ClassVar[str] = "svg"
    version: ClassVar[int] = 4

    def families(self) -> tuple[str, ...]:
        """Names of the template families, sorted."""
        from gristmill.render.svg.catalogue import FAMILIES

        return FAMILIES

    def sample_spec(self, family: str, draws: Draws) -> Spec:
        """A spec of a family."""
        from gristmill.render.svg.catalogue import load

        view, params = load(family).sample(draws)
        return Spec(family, view, params)

    def to_code(self, spec: Spec) -> Code:
        """The code of a spec."""
        from gristmill.render.svg.catalogue import load

        text, parts = load(spec.family).write(spec.params, spec.view)
        return Code(text, "svg", spec.family, spec.view, parts)

    def existing(self, body: bytes) -> Code:
        """A file as code: repaired where that is harmless, its longer side 512 pixels. Raises Rejected."""
        head = engines.ask(engines.DRAW, Message({"what": "existing"}, body)).head
        return Code(head["text"], "svg", EXISTING, View(head["width"], head["height"]))

    def render(self, code: Code) -> Shot:
        """The picture by cairosvg; `evidence` has the places of the named elements. Raises Rejected."""
        width, height = size_px(code.view)
        answer = engines.ask(engines.DRAW, Message(_request(code) | {"what": "draw"}))
        if not answer.head["rows"]:
            raise Rejected("nothing_named")
        engine = f"cairosvg {metadata.version('cairosvg')}"
        return Shot(answer.blob, width, height, engine, {"rows": answer.head["rows"]})

    def annotate(self, code: Code, shot: Shot) -> tuple[Annotation, ...]:
        """The named elements that can be seen, in order of drawing. Raises Rejected."""
        rows = shot.evidence.get("rows")
        return tuple(_annotation(row) for row in (self.render(code).evidence["rows"] if rows is None else rows))

    def verify(self, code: Code, shot: Shot, annotations: Sequence[Annotation]) -> Report:
        """What resvg's picture and id map say to the picture and the annotations. Raises Rejected."""
        rows, audited = [_row(one) for one in annotations], is_audited(code.text)
        answer = engines.ask(engines.JUDGE, Message(_request(code) | {"rows": rows, "audit": audited}, shot.png))
        if audited:
            answer.head["measures"]["redraw_differs"] = float(self.render(code).png != shot.png)
        measures = {name: answer.head["measures"].get(name) for name in MEASURES}
        values = {name: math.nan if value is None else float(value) for name, value in measures.items()}
        return Report(values, f"resvg {metadata.version('resvg')}", tuple(answer.head["notes"]))

    def skeleton(self, code: Code) -> str:
        """What a template leaves of the code."""
        return skeleton(code.text)

    def code_forms(self, code: Code) -> dict[str, str]:
        """Other texts of the same drawing, each seen to look the same: `minified`, `pretty`, `simplified`."""
        width, height = size_px(code.view)
        request = {"what": "forms", "text": code.text, "width": width, "height": height}
        return dict(engines.ask(engines.DRAW, Message(request)).head["forms"])

    def rules(self) -> tuple[Rule, ...]:
        """Limits on the measures."""
        return RULES

    def reasons(self) -> tuple[Reason, ...]:
        """Reasons of `Rejected`, and of the rules."""
        return (*REFUSALS, *(Reason(rule.reason, "drop", rule.source) for rule in RULES))

    def engines(self) -> tuple[EngineState, ...]:
        """cairosvg and resvg, tried on a probe."""
        return probes.states()

    def fingerprint(self) -> Mapping[str, str]:
        """Versions of engines and encoder, libcairo's, and the fonts' digest."""
        found = {name: metadata.version(name) for name in _PACKAGES}
        libraries = {"libcairo": probes.libcairo_version(), "zlib": zlib.ZLIB_RUNTIME_VERSION}
        return found | libraries | {"fonts": fonts.fonts_digest()}


def size_px(view: View) -> tuple[int, int]:
    """Width and height of the picture. Raises Rejected."""
    width, height = round(view.width_px * view.scale), round(view.height_px * view.scale)
    if not (0 < width <= MAX_SIDE_PX and 0 < height <= MAX_SIDE_PX):
        raise Rejected("too_large" if max(width, height) > MAX_SIDE_PX else "bad_size", f"{width}x{height}")
    return width, height


def is_audited(text: str) -> bool:
    """Whether a sample is one of the 1 in 20 that are audited by removal: by its content."""
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass")) % AUDIT_ONE_IN == 0


def _request(code: Code) -> dict[str, Any]:
    width, height = size_px(code.view)
    return {"text": code.text, "width": width, "height": height, "parts": [_triple(part) for part in code.parts]}


def _triple(part: Part) -> list[str]:
    return [part.key, part.role, part.text]


def _annotation(row: Mapping[str, Any]) -> Annotation:
    full, visible, point = tuple(row["bbox_full"]), tuple(row["bbox_visible"]), tuple(row["point"])
    return Annotation(
        row["id"], row["role"], row["text"], full, visible, point, row["visible_frac"], row["truncated"], row["z"]
    )


def _row(one: Annotation) -> dict[str, Any]:
    # A number that is not finite has no JSON; far outside says the same to the judge.
    def finite(values: Sequence[float]) -> list[float]:
        return [value if math.isfinite(value) else -1e9 for value in values]

    return {
        "id": one.id,
        "role": one.role,
        "text": one.text,
        "bbox_full": finite(one.bbox_full),
        "bbox_visible": finite(one.bbox_visible),
        "point": finite(one.point),
        "visible_frac": one.visible_frac if math.isfinite(one.visible_frac) else -1,
        "truncated": bool(one.truncated),
        "z": one.z,
    }
