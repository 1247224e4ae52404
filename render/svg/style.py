"""The cascade of a document, resolved without any engine: each element's properties, and how opaque its paints are.

The judge's own reading of styles; the drawing engine has another, so that a mistake in one shows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lxml import etree

from gristmill.render.svg.css import Sheet, declarations, matches, read_sheet, specificity
from gristmill.render.svg.grammar import local_url
from gristmill.render.svg.sanitise import local
from gristmill.render.svg.vocabulary import PROPERTIES, XLINK_HREF

_ALPHA = re.compile(r"rgba\(.*,\s*([0-9.]+)\s*\)")
_MAX_HREFS = 16

Properties = dict[str, str]


@dataclass(frozen=True)
class Paints:
    """What is inherited, and the product of the opacities above."""

    fill: str = "black"
    stroke: str = "none"
    fill_opacity: float = 1.0
    stroke_opacity: float = 1.0
    stroke_width: str = "1"
    colour: str = "black"
    markers: tuple[str, str, str] = ("none", "none", "none")
    alpha: float = 1.0


def cascade(root: etree._Element) -> dict[etree._Element, Properties]:
    """The properties that each element declares: attributes, then style sheets, then `style`."""
    sheet: Sheet = []
    for element in root.iter():
        if local(element) == "style":
            sheet += read_sheet(element.text or "")
    sheet.sort(key=lambda rule: specificity(rule[0]))
    found: dict[etree._Element, Properties] = {}
    for element in root.iter():
        own = {str(k): str(v).strip() for k, v in element.attrib.items() if k in PROPERTIES}
        for selector, body in sheet:
            if matches(selector, element):
                own.update(body)
        if element.get("style"):
            own.update(declarations(element.get("style") or ""))
        found[element] = own
    return found


def inherit(above: Paints, own: Mapping[str, str]) -> Paints:
    """What an element with these properties paints with, and hands down."""
    names = {"fill": "fill", "stroke": "stroke", "stroke-width": "stroke_width", "color": "colour"}
    changes: dict[str, object] = {
        field: own[name] for name, field in names.items() if name in own and own[name] != "inherit"
    }
    for name, field in (("fill-opacity", "fill_opacity"), ("stroke-opacity", "stroke_opacity")):
        if own.get(name, "inherit") != "inherit":
            changes[field] = float(own[name])
    markers = [own.get(f"marker-{where}", "inherit") for where in ("start", "mid", "end")]
    changes["markers"] = tuple(
        old if new == "inherit" else new for new, old in zip(markers, above.markers, strict=True)
    )
    if own.get("opacity", "inherit") != "inherit":
        changes["alpha"] = above.alpha * float(own["opacity"])
    return replace(above, **changes)  # pyright: ignore[reportArgumentType]


def fill_alphas(
    paints: Paints, ids: Mapping[str, etree._Element], styles: Mapping[etree._Element, Properties]
) -> tuple[float, float]:
    """How opaque the fill is where it is least and most so, zeros where there is none."""
    least, most = _alphas(paints.fill, paints, ids, styles)
    return paints.alpha * paints.fill_opacity * least, paints.alpha * paints.fill_opacity * most


def stroke_alphas(
    paints: Paints, ids: Mapping[str, etree._Element], styles: Mapping[etree._Element, Properties]
) -> tuple[float, float]:
    """How opaque the stroke is where it is least and most so, zeros where there is none."""
    if re.fullmatch(r"[+]?0*\.?0*(px)?", paints.stroke_width):
        return 0.0, 0.0
    least, most = _alphas(paints.stroke, paints, ids, styles)
    return paints.alpha * paints.stroke_opacity * least, paints.alpha * paints.stroke_opacity * most


def _alphas(
    paint: str, paints: Paints, ids: Mapping[str, etree._Element], styles: Mapping[etree._Element, Properties]
) -> tuple[float, float]:
    target = local_url(paint)
    if target is not None:
        server = ids.get(target[0])
        if server is None:
            return 0.0, 0.0
        return (0.0, 1.0) if local(server) == "pattern" else _gradient_alphas(server, ids, styles)
    if paint == "currentColor":
        paint = paints.colour
    if paint in ("none", "transparent"):
        return 0.0, 0.0
    found = _ALPHA.fullmatch(paint)
    alpha = float(found.group(1)) if found else 1.0
    return alpha, alpha


def _gradient_alphas(
    server: etree._Element, ids: Mapping[str, etree._Element], styles: Mapping[etree._Element, Properties]
) -> tuple[float, float]:
    """The least and the greatest opacity of the stops."""
    node: etree._Element | None = server
    for _ in range(_MAX_HREFS):
        if node is None:
            break
        alphas = [_stop_alpha(styles[child]) for child in node if local(child) == "stop"]
        if alphas:
            return min(alphas), max(alphas)
        node = ids.get((node.get("href") or node.get(XLINK_HREF) or "").lstrip("#"))
    return 0.0, 0.0


def _stop_alpha(own: Mapping[str, str]) -> float:
    found = _ALPHA.fullmatch(own.get("stop-color", "black"))
    opacity = own.get("stop-opacity", "1")
    return (float(found.group(1)) if found else 1.0) * (1.0 if opacity == "inherit" else float(opacity))
