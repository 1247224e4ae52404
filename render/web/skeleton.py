"""What a template leaves of a page: its tree of tags, without classes, words, numbers, colours, lengths of lists.

Siblings that look the same and follow each other count once, and so does a run of two that alternate; shapes inside
an `svg` are left out, so that another icon or another chart of the same kind is no other skeleton. `style`, `script`
and the head are left out; the type of an `input` and a `role` stay.
"""

from html.parser import HTMLParser

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "col", "area", "source", "wbr"})
_SILENT = frozenset({"script", "style", "head", "svg", "template"})
_KEPT = ("type", "role")


class _Reader(HTMLParser):
    """Collects, for each open element, the skeletons of its children."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, str, list[str]]] = [("", "", [])]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = "".join(f"[{value}]" for name, value in attrs if name in _KEPT and value)
        label = tag + (kept if tag != "svg" else "")
        if tag in _VOID:
            self.open[-1][2].append(label)
        else:
            self.open.append((tag, label, []))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not any(name == tag for name, _, _ in self.open[1:]):
            return
        while self.end() != tag:
            pass

    def end(self) -> str:
        """Ends the innermost element."""
        tag, label, children = self.open.pop()
        inner = "" if tag in _SILENT else ",".join(folded(children))
        if tag not in ("head", "script", "style", "template"):
            self.open[-1][2].append(f"{label}({inner})" if inner else label)
        return tag


def folded(items: list[str]) -> list[str]:
    """A list without repeats of the last one or the last two."""
    kept: list[str] = []
    for item in items:
        if kept and kept[-1] == item:
            continue
        kept.append(item)
        if len(kept) >= 4 and kept[-2:] == kept[-4:-2]:
            del kept[-2:]
    return kept


def skeleton(text: str) -> str:
    """The skeleton of a page's text. Total: any text has one."""
    reader = _Reader()
    reader.feed(text)
    while len(reader.open) > 1:
        reader.end()
    return ",".join(folded(reader.open[0][2]))
