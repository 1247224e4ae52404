"""Reads a page of inline styles: which text stands in which colour on which ground."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "col", "area", "source", "wbr"})
_COLOUR = re.compile(r"#[0-9a-f]{6}")


@dataclass
class Shades(HTMLParser):
    """Texts with their colour and ground, ids with their texts, tags with their attributes."""

    shades: set[tuple[str, str]] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, str, str, str | None]] = []
        self.base = ("#000000", "#ffffff")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        ink, ground = (self.open[-1][1], self.open[-1][2]) if self.open else self.base
        for line in (found.get("style") or "").split(";"):
            prop, _, value = line.partition(":")
            colour = _COLOUR.search(value)
            if prop.strip() == "color" and colour:
                ink = colour[0]
            elif prop.strip() == "background" and colour:
                ground = colour[0]
        key = found.get("id")
        if key:
            if key in self.texts:
                self.faults.append(f"id twice: {key}")
            self.texts[key] = ""
        if tag not in VOID:
            self.open.append((tag, ink, ground, key))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1][0] if self.open else 'nothing'}")
            return
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for _, _, _, key in self.open:
            if key:
                self.texts[key] += data
        hidden = any(tag in ("head", "style", "script", "title") for tag, _, _, _ in self.open)
        if data.strip() and not hidden and self.open:
            self.shades.add((self.open[-1][1], self.open[-1][2]))


def read(text: str) -> Shades:
    """A page read to its end."""
    found = Shades()
    body = re.search(r"body\s*{([^}]*)}", text)
    if body:
        ink = re.search(r"(?<![-\w])color:\s*(#[0-9a-f]{6})", body[1])
        ground = re.search(r"background:\s*(#[0-9a-f]{6})", body[1])
        if ink and ground:
            found.base = (ink[1], ground[1])
    found.feed(text)
    found.close()
    return found
