"""The judge's id map as a document: every element in a flat colour that is its number, and nothing soft.

Made from the code's tree by the judge's own reading of it (`style`). `use` and markers get copies of what they show,
so that these have the colour of the element that shows them. An element is drawn with its opaque paints always, with
its others where it is asked for: what is not opaque hides nothing.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from gristmill.render.svg.sanitise import by_id, local
from gristmill.render.svg.style import Paints, cascade, fill_alphas, inherit, stroke_alphas
from gristmill.render.svg.vocabulary import OPAQUE, PROPERTIES, SHAPES, SVG_NS, TEXTS, UNSEEN, XLINK_HREF

SOFT = "data-gristmill-soft"
"""The attribute of the flat document that names an element's paints that are not opaque."""
_DROPPED = {"fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "color", "stop-color", "stop-opacity"}
_MARKS = {"marker-start", "marker-mid", "marker-end", "shape-rendering", "text-rendering"}
_LEFT_OUT = _DROPPED | _MARKS
_STYLE_ONLY = frozenset(["font-kerning"])
_SERVERS = frozenset(["linearGradient", "radialGradient", "clipPath", "pattern", "style", "stop", "svg"])
_UNDRAWN = (_SERVERS - {"svg"}) | {"marker", "symbol", "title", "desc", "defs"}
_MAX_COPIES = 5_000


@dataclass
class Painted:
    """An element of the flat document, whose it is, and which of its paints are opaque and which are not."""

    element: etree._Element
    key: int
    opaque: tuple[str, ...]
    soft: tuple[str, ...]


class Flat:
    """The flat document of a tree, which is changed. `soft_keys` are elements that have paints that are not opaque."""

    def __init__(self, root: etree._Element) -> None:
        self.root = root
        self.ids = by_id(root)
        self.styles = cascade(root)
        self.painted: list[Painted] = []
        self._keys = {element: key for key, element in enumerate(root.iter(etree.Element))}
        self._copies = etree.Element(f"{{{SVG_NS}}}defs")
        self._write_styles()
        shown = (name for name, element in self.ids.items() if local(element) not in _SERVERS)
        self._pristine = {name: deepcopy(self.ids[name]) for name in shown}
        self._walk(root, Paints(), None)
        root.append(self._copies)
        self.soft_keys = frozenset(one.key for one in self.painted if one.soft)

    def document(self, shows: Callable[[int], bool], colour: Callable[[int], str]) -> str:
        """The document with the soft paints of those elements whose key `shows` picks; `colour` writes numbers."""
        for one in self.painted:
            number = colour(one.key + 1)
            kinds = (*one.opaque, *one.soft) if shows(one.key) else one.opaque
            for kind in ("fill", "stroke"):
                one.element.set(kind, number if kind in kinds else "none")
            one.element.set(SOFT, " ".join(one.soft))
        return etree.tostring(self.root, encoding="unicode")

    def _write_styles(self) -> None:
        """Properties that are kept become each element's attributes; all others go, style sheets too.

        A `style` would say the same, and cost cairosvg a parser of CSS for each element; but resvg heeds `font-kerning`
        there alone.
        """
        for element in list(self.root.iter(etree.Element)):
            own = self.styles[element]
            for name in (*PROPERTIES, "class", "style"):
                element.attrib.pop(name, None)
            for name, value in own.items():
                if name in _STYLE_ONLY:
                    element.set("style", f"{element.get('style') or ''};{name}:{value}".lstrip(";"))
                elif name not in _LEFT_OUT:
                    element.set(name, value)
            if local(element) == "style":
                element.text = ""

    def _walk(self, element: etree._Element, above: Paints, owner: int | None) -> None:
        name = local(element)
        paints = inherit(above, self.styles[element])
        key = owner if owner is not None else self._keys.get(element, -1)
        if name in SHAPES or name in TEXTS:
            self._paint(element, paints, key)
        elif name == "image":
            self._paint_image(element, key)
        elif name == "use":
            self._use(element, paints, key)
        if name in SHAPES:
            self._markers(element, paints, key)
        for child in list(element):
            if local(child) not in _UNDRAWN:
                self._walk(child, paints, owner)

    def _paint(self, element: etree._Element, paints: Paints, key: int) -> None:
        alphas = {
            "fill": fill_alphas(paints, self.ids, self.styles),
            "stroke": stroke_alphas(paints, self.ids, self.styles),
        }
        opaque = tuple(kind for kind, (least, _) in alphas.items() if least >= OPAQUE)
        soft = tuple(kind for kind, (least, most) in alphas.items() if least < OPAQUE and most > UNSEEN)
        self.painted.append(Painted(element, key, opaque, soft))

    def _paint_image(self, element: etree._Element, key: int) -> None:
        element.tag = f"{{{SVG_NS}}}rect"
        for name in ("href", XLINK_HREF, "preserveAspectRatio"):
            element.attrib.pop(name, None)
        self.painted.append(Painted(element, key, (), ("fill",)))

    def _use(self, element: etree._Element, paints: Paints, key: int) -> None:
        name = (element.get("href") or element.get(XLINK_HREF) or "").lstrip("#")
        element.attrib.pop(XLINK_HREF, None)
        copied = self._copy(name)
        if copied is not None:
            element.set("href", f"#{copied.get('id')}")
            self._walk(copied, paints, key)

    def _markers(self, element: etree._Element, paints: Paints, key: int) -> None:
        for where, value in zip(("start", "mid", "end"), paints.markers, strict=True):
            copied = self._copy(value.partition("#")[2].rstrip(")\"' ")) if "#" in value else None
            if copied is not None:
                element.set(f"marker-{where}", f"url(#{copied.get('id')})")
                self._walk(copied, Paints(alpha=paints.alpha), key)

    def _copy(self, name: str) -> etree._Element | None:
        """A copy of an element, under a new id, among the definitions."""
        original, pristine = self.ids.get(name), self._pristine.get(name)
        if original is None or pristine is None or len(self._copies) >= _MAX_COPIES:
            return None
        copied = deepcopy(pristine)
        for old, new in zip(original.iter(etree.Element), copied.iter(etree.Element), strict=True):
            self.styles[new] = self.styles[old]
            new.attrib.pop("id", None)
        copied.set("id", f"gristmill-copy-{len(self._copies)}")
        self._copies.append(copied)
        return copied
