"""The domain `web`: pages of templates and of a corpus, rendered by Chromium.

One browser lives in a worker of each process that renders; see `client`, `worker` and `browser` for what holds it.
"""

import functools
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from blake3 import blake3

from gristmill.manifests.errors import GristmillError
from gristmill.render.draws import Draws
from gristmill.render.protocol import Annotation, Code, EngineState, Rejected, Report, Shot, Spec
from gristmill.render.web import fonts
from gristmill.render.web.annotate import annotations_of
from gristmill.render.web.browser import find
from gristmill.render.web.client import Client
from gristmill.render.web.rules import REASONS, RULES, page_measures
from gristmill.stages.protocol import Reason, Rule

EXISTING = "existing"
_CATALOGUE = "gristmill.render.web.catalogue"
WHOLE_ONE_IN = 4
"""Share of the records whose second shot is compared whole and whose leaves are hidden."""
MAX_NOTES = 200


@functools.cache
def client() -> Client:
    """This process's browser."""
    return Client()


class WebDomain:
    """Web pages."""

    name: ClassVar[str] = "web"
    version: ClassVar[int] = 1

    def families(self) -> tuple[str, ...]:
        """Names of the page families, sorted."""
        return tuple(_catalogue().FAMILIES)

    def sample_spec(self, family: str, draws: Draws) -> Spec:
        """A spec of a family."""
        view, params = _catalogue().load(family).sample(draws)
        return Spec(family, view, params)

    def to_code(self, spec: Spec) -> Code:
        """The page's text. A family that writes components writes the script that builds them into it."""
        text, parts = _catalogue().load(spec.family).write(spec.params, spec.view)
        return Code(text, "html", spec.family, spec.view, tuple(parts))

    def existing(self, body: bytes) -> Code:
        """Somebody else's page, made safe. Raises Rejected."""
        from gristmill.render.web.existing import safe_code

        return safe_code(body)

    def render(self, code: Code) -> Shot:
        """The page's picture and all that the browser told while it stood still. Raises Rejected."""
        trusted = code.family != EXISTING
        head = {"job": "take", "ids": [part.key for part in code.parts], **_page(code)}
        taken, png = client().ask(head, trusted=trusted)
        width, height = round(code.view.width_px * code.view.scale), round(code.view.height_px * code.view.scale)
        evidence = {"things": taken["things"], "page": taken["page"]}
        return Shot(png, width, height, f"chromium {taken['version']}", evidence)

    def annotate(self, code: Code, shot: Shot) -> tuple[Annotation, ...]:
        """The elements and text lines that can be seen, in order of painting."""
        return annotations_of(code, shot.evidence["things"])

    def verify(self, code: Code, shot: Shot, annotations: Sequence[Annotation]) -> Report:
        """What a second load finds; see `judge`. Raises Rejected."""
        whole = _digest(code)[0] % WHOLE_ONE_IN == 0
        roles = {f"#{part.key}": part.role for part in code.parts}
        told = [_told(annotation, roles.get(annotation.id)) for annotation in annotations]
        head = {"job": "judge", "whole": whole, "annotations": told, **_page(code)}
        found, _ = client().ask(head, shot.png, trusted=code.family != EXISTING)
        measures = page_measures(shot.evidence["page"], annotations) | found["measures"]
        judge = f"chromium {found['version']} (layout tree, hit tests, hidden text)"
        return Report(measures, judge, tuple(found["notes"][:MAX_NOTES]))

    def skeleton(self, code: Code) -> str:
        """The page's tree of tags, without words, numbers and names."""
        from gristmill.render.web.skeleton import skeleton

        return skeleton(code.text)

    def rules(self) -> tuple[Rule, ...]:
        """Limits on the measures of a report."""
        return RULES

    def reasons(self) -> tuple[Reason, ...]:
        """Every reason of Rejected."""
        return REASONS

    def engines(self) -> tuple[EngineState, ...]:
        """Chromium, tried on a page. Never raises."""
        try:
            return (_probe(),)
        except Rejected as rejected:
            return (EngineState("chromium", "", False, rejected.detail, find().remedy or "try again"),)
        except GristmillError as error:
            return (EngineState("chromium", "", False, str(error), error.remedy),)

    def fingerprint(self) -> Mapping[str, str]:
        """The browser's version and a digest of the fonts."""
        state = self.engines()[0]
        return {"chromium": state.version, "fonts": fonts.digest()}


def _catalogue() -> Any:
    return importlib.import_module(_CATALOGUE)


def _digest(code: Code) -> bytes:
    return blake3(code.text.encode("utf-8", "surrogatepass")).digest()


def _page(code: Code) -> dict[str, Any]:
    view = [code.view.width_px, code.view.height_px, code.view.scale]
    seed = int.from_bytes(_digest(code)[1:5], "big")
    return {"html": code.text, "view": view, "seed": seed, "scripts": code.family != EXISTING}


def _told(annotation: Annotation, part_role: str | None) -> dict[str, Any]:
    return {
        "id": annotation.id,
        "role": annotation.role,
        "text": annotation.text,
        "full": annotation.bbox_full,
        "visible": annotation.bbox_visible,
        "point": annotation.point,
        "frac": annotation.visible_frac,
        "truncated": annotation.truncated,
        "z": annotation.z,
        "part_role": part_role,
    }


def _probe() -> EngineState:
    from gristmill.render.web.probe import run_probe

    return run_probe(client())
