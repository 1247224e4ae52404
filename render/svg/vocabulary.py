"""What an SVG may hold, and every reason for which one is refused.

Allowed is what both engines draw alike. Left out on purpose, since one of them misses it or both do: vector-effect, CSS
transforms and geometry, :nth-child and other pseudo-classes, paint-order, mix-blend-mode, masks, filters, hsl(),
textLength, word-spacing, baseline-shift, text-decoration, nested `a` and `switch`.
"""

from gristmill.stages.protocol import Reason


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


SVG_NS = "http://www.w3.org/2000/svg"
XLINK_NS = "http://www.w3.org/1999/xlink"
XML_NS = "http://www.w3.org/XML/1998/namespace"
XLINK_HREF = f"{{{XLINK_NS}}}href"

MAX_BYTES = 256 << 10
MAX_ELEMENTS = 2_000
MAX_DEPTH = 64
MAX_EXPANDED = 5_000
MAX_ABS_NUMBER = 1e6
MAX_MAGNIFICATION = 1e6
MAX_IMAGE_CHARS = 64 << 10
MAX_IMAGE_PIXELS = 1 << 20
MAX_SIDE_PX = 4_096

SHAPES = frozenset(["rect", "circle", "ellipse", "line", "polyline", "polygon", "path"])
TEXTS = frozenset(["text", "tspan", "textPath"])
DRAWN = SHAPES | TEXTS | {"use", "image"}
GROUPS = frozenset(["svg", "g", "symbol"])
NEVER_DRAWN = _set("defs symbol clipPath marker pattern linearGradient radialGradient style title desc stop")
ELEMENTS = DRAWN | GROUPS | NEVER_DRAWN
SCRIPTED = frozenset(["script", "foreignObject", "handler", "listener", "iframe", "audio", "video", "canvas"])
ANIMATED = frozenset(["animate", "animateTransform", "animateMotion", "animateColor", "set", "mpath", "discard"])

NUMBER_ATTRIBUTES = _set(
    "x y width height cx cy r rx ry x1 y1 x2 y2 fx fy dx dy rotate offset markerWidth markerHeight refX refY "
    "startOffset viewBox points"
)
WORD_ATTRIBUTES = _set(
    "id class type version lang role gradientUnits spreadMethod clipPathUnits patternUnits patternContentUnits "
    "markerUnits orient preserveAspectRatio xml:space xml:lang image-rendering"
)
OTHER_ATTRIBUTES = _set("d transform gradientTransform patternTransform style href xlink:href")

COLOURS = frozenset(["fill", "stroke", "stop-color", "color"])
OPACITIES = frozenset(["opacity", "fill-opacity", "stroke-opacity", "stop-opacity"])
LENGTHS = frozenset(["stroke-width", "stroke-dashoffset", "stroke-miterlimit", "font-size", "letter-spacing"])
REFERENCES = frozenset(["clip-path", "marker-start", "marker-mid", "marker-end"])
KEYWORDS = {
    "fill-rule": ("nonzero", "evenodd"),
    "clip-rule": ("nonzero", "evenodd"),
    "stroke-linecap": ("butt", "round", "square"),
    "stroke-linejoin": ("miter", "round", "bevel"),
    "font-style": ("normal", "italic", "oblique"),
    "font-weight": ("normal", "bold", *(str(weight) for weight in range(100, 1000, 100))),
    "text-anchor": ("start", "middle", "end"),
    "dominant-baseline": ("auto", "alphabetic", "middle", "central", "hanging"),
    "alignment-baseline": ("auto", "baseline", "alphabetic"),
    "display": ("inline", "block", "none"),
    "visibility": ("visible", "hidden"),
    "overflow": ("visible", "hidden"),
    "shape-rendering": ("auto", "geometricPrecision", "crispEdges", "optimizeSpeed"),
    "text-rendering": ("auto", "geometricPrecision", "optimizeLegibility"),
    "font-kerning": ("none",),
    "white-space": ("normal",),
    "font-variant": ("normal",),
    "font-stretch": ("normal",),
    "text-decoration": ("none",),
    "word-spacing": ("normal", "0"),
    "letter-spacing": ("normal",),
    "writing-mode": ("lr-tb", "lr", "horizontal-tb"),
    "baseline-shift": ("baseline",),
    "filter": ("none",),
    "mask": ("none",),
    "vector-effect": ("none",),
    "paint-order": ("normal",),
    "mix-blend-mode": ("normal",),
    "color-interpolation": ("sRGB", "auto"),
}
PROPERTIES = COLOURS | OPACITIES | LENGTHS | REFERENCES | set(KEYWORDS) | {"font-family", "stroke-dasharray"}
ATTRIBUTE_NAMES = NUMBER_ATTRIBUTES | WORD_ATTRIBUTES | OTHER_ATTRIBUTES | PROPERTIES
NOT_BY_BOTH = _set(
    "vector-effect paint-order mix-blend-mode filter mask textLength lengthAdjust word-spacing baseline-shift "
    "text-decoration font-variant font-stretch writing-mode transform-origin isolation color-interpolation "
    "transform transform-box clip font fr pathLength glyph-orientation-vertical"
)

_DROPPED = (
    ("too_large", "over 256 KiB, 2,000 elements, 5,000 elements once `use` is expanded, or a side over 4,096 px"),
    ("too_deep", "elements nested over 64 deep"),
    ("not_xml", "not well-formed XML, or not UTF-8"),
    ("not_svg", "the root is no `svg` in the namespace of SVG"),
    ("doctype", "a document type declaration, entities with it"),
    ("script", "a script, an event's handler, foreign content or a javascript: address"),
    ("animation", "an element that moves"),
    ("outside_reference", "an address that is neither #local nor a small data: picture, or an import"),
    ("dangling_reference", "a #local address of an element that is not there or of the wrong kind"),
    ("reference_cycle", "an element that refers to itself, perhaps by others"),
    ("element_not_allowed", "an element outside the vocabulary"),
    ("attribute_not_allowed", "an attribute or property outside the vocabulary"),
    ("not_by_both", "a feature that one of the engines does not draw: filters, masks, vector-effect, ..."),
    ("bad_number", "a number that is not finite or over a million, or a list of numbers that is none"),
    ("bad_path", "path data that break the grammar"),
    ("bad_value", "a colour, keyword, length or transform that breaks the grammar or the vocabulary"),
    ("bad_css", "a style sheet with at-rules, or selectors beyond type, class, id, descendant and child"),
    ("bad_size", "no viewBox and no width and height, or one that is not positive"),
    ("bad_parts", "a named part that the code does not have"),
    ("no_glyph", "a text with a character that the fonts lack, or that draws nothing"),
    ("nothing_named", "no element is large enough and seen enough to be named"),
)
_LOST = (
    ("engine_timeout", "an engine took too long"),
    ("engine_memory", "an engine took too much memory"),
    ("engine_died", "an engine crashed"),
    ("engine_error", "an engine refused what the rules allow"),
)
REFUSALS: tuple[Reason, ...] = (
    *(Reason(name, "drop", doc) for name, doc in _DROPPED),
    *(Reason(name, "quarantine", doc) for name, doc in _LOST),
)


class Refused(Exception):
    """An SVG outside the vocabulary: `reason` is one of REFUSALS, `detail` what was found."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail[:120]


AREA_PX = 256 * 256
MAX_UNMATCHED_PX = 60
"""Pictures agree with at most this many unmatched pixels (see `compare`) per AREA_PX: 600 icons had at most 32."""

OPAQUE = 0.95
UNSEEN = 0.03
"""Paints at least as opaque as OPAQUE hide what is below them; those under UNSEEN are taken for none."""
