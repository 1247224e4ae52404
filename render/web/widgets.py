"""Pieces that many pages have: fields, badges, people, tables, tabs, steps. Their style names stand in `styles.BASE`
and in `WIDGETS`, which `page.finished` wants in the family's sheet where they are used (`{**WIDGETS, ...}`).
"""

from collections.abc import Sequence

from gristmill.render.web.formats import initials
from gristmill.render.web.icons import icon
from gristmill.render.web.tree import Content, Node, el

WIDGETS: dict[str, str] = {
    "tabs": "display:flex;flex-wrap:wrap;gap:$s1;border-bottom:1px solid $line",
    "tab": "padding:$s2 $s3;color:$muted;border-bottom:2px solid transparent;background:none;border-width:0 0 2px",
    "tab-on": "color:$accent_text;border-bottom:2px solid $accent;font-weight:600",
    "pills": "display:flex;flex-wrap:wrap;gap:$s2",
    "pill": "padding:$s1 $s3;border-radius:$rp;border:1px solid $line;background:$surface;color:$text;font-size:$f1",
    "pill-on": "background:$accent;color:$on_accent;border-color:$accent",
    "bar": "height:8px;border-radius:$rp;background:$line;overflow:hidden;width:100%",
    "bar-fill": "height:8px;background:$accent",
    "stars": "color:$warn;letter-spacing:1px;white-space:nowrap",
    "crumbs": "display:flex;flex-wrap:wrap;gap:$s2;font-size:$f1;color:$muted",
    "pager": "display:flex;gap:$s1;justify-content:center",
    "page-no": "min-width:34px;padding:$s1 $s2;text-align:center;border:1px solid $line;"
    "border-radius:$rs;background:$surface",
    "page-on": "background:$accent;color:$on_accent;border-color:$accent",
    "steps": "display:flex;flex-wrap:wrap;gap:$s4",
    "step-no": "width:28px;height:28px;flex:none;border-radius:50%;display:flex;align-items:center;"
    "justify-content:center;background:$raised;color:$text;font-weight:700;font-size:$f1",
    "step-on": "background:$accent;color:$on_accent",
}


def field(label: str, key: str, kind: str = "text", value: str = "", required: bool = False) -> Node:
    """A label over an input; the label is `KEY-label`."""
    attrs: dict[str, str | None] = {"type": kind, "name": key}
    if value:
        attrs["value" if kind != "password" else "placeholder"] = value
    if required:
        attrs["required"] = None
    star = el("span.bad", {"aria-hidden": "true"}, " *") if required else None
    return el(
        "div.field",
        el(f"label.label#{key}-label", {"for": key}, label, star),
        el(f"input.input#{key}", attrs),
    )


def area(label: str, key: str, rows: int = 3, text: str = "") -> Node:
    """A label over a text area."""
    box = el(f"textarea.input#{key}", {"name": key, "rows": str(rows)}, text or None)
    return el("div.field", el("label.label", {"for": key}, label), box)


def choice(label: str, key: str, options: Sequence[str], chosen: int = 0) -> Node:
    """A label over a drop-down."""
    items = [el("option", {"selected": None} if k == chosen else None, text) for k, text in enumerate(options)]
    return el("div.field", el("label.label", {"for": key}, label), el(f"select.input#{key}", {"name": key}, items))


def tick(label: str, key: str, on: bool, kind: str = "checkbox", name: str = "") -> Node:
    """A check box or radio button with its label beside it."""
    attrs: dict[str, str | None] = {"type": kind, "name": name or key}
    box = el(f"input.tick#{key}", attrs, {"checked": None} if on else None)
    return el("div.check", box, el("label", {"for": key}, label))


def button(text: str, key: str, names: str = "", disabled: bool = False) -> Node:
    """A button that is a named part; `names` are further style names, parted by dots."""
    spec = f"button.btn{'.' + names if names else ''}#{key}@button"
    return el(spec, {"type": "button"}, {"disabled": None} if disabled else None, text)


def face(name: str) -> Node:
    """A person's initials on a disc."""
    return el("span.avatar", {"aria-hidden": "true"}, initials(name))


def stars(count: int, label: str) -> Node:
    """Five stars, some of them full."""
    return el("span.stars", {"role": "img", "aria-label": f"{label}: {count}/5"}, "★" * count + "☆" * (5 - count))


def tabs(labels: Sequence[str], chosen: int) -> Node:
    """A row of tabs, one selected."""
    return el("div.tabs", {"role": "tablist"}, [_tab(text, place == chosen) for place, text in enumerate(labels)])


def _tab(text: str, on: bool) -> Node:
    attrs: dict[str, str | None] = {"type": "button", "role": "tab", "aria-selected": "true" if on else "false"}
    return el("button.tab.tab-on" if on else "button.tab", attrs, text)


def pills(labels: Sequence[str], chosen: int) -> Node:
    """A row of filters, one pressed."""
    items = [
        el(
            "button.pill.pill-on" if k == chosen else "button.pill",
            {"type": "button", "aria-pressed": str(k == chosen).lower()},
            text,
        )
        for k, text in enumerate(labels)
    ]
    return el("div.pills", items)


def table(
    heads: Sequence[Content], rows: Sequence[Sequence[Content]], numeric: Sequence[int] = (), key: str = ""
) -> Node:
    """A table with a head; columns of `numeric` end at the same edge."""
    top = [
        el("th.cell.cell-head.num" if k in numeric else "th.cell.cell-head", {"scope": "col"}, text)
        for k, text in enumerate(heads)
    ]
    body = [
        el("tr", [el("td.cell.num" if k in numeric else "td.cell", cell) for k, cell in enumerate(row)]) for row in rows
    ]
    return el(f"table.table#{key}" if key else "table.table", el("thead", el("tr", top)), el("tbody", body))


def crumbs(labels: Sequence[str]) -> Node:
    """The way to this page."""
    items: list[Content] = []
    for place, text in enumerate(labels):
        last = place == len(labels) - 1
        items.append(el("li", {"aria-current": "page"}, text) if last else el("li", el("a", {"href": "#"}, text)))
        if not last:
            items.append(el("li", {"aria-hidden": "true"}, "/"))
    return el("nav", {"aria-label": "breadcrumb"}, el("ol.crumbs", items))


def pager(count: int, current: int) -> Node:
    """Numbers of pages, one of them current."""
    items = [
        el(
            "li",
            el(
                "a.page-no.page-on" if k == current else "a.page-no",
                {"href": f"#{k}"},
                {"aria-current": "page"} if k == current else None,
                str(k),
            ),
        )
        for k in range(1, count + 1)
    ]
    return el("nav", {"aria-label": "pages"}, el("ul.pager", items))


def meter(percent: int, label: str) -> Node:
    """A bar that is filled in part."""
    attrs: dict[str, str | None] = {"role": "progressbar", "aria-valuenow": str(percent), "aria-label": label}
    return el("div.bar", attrs, el("div.bar-fill", {"style": f"width:{percent}%"}))


def icon_button(name: str, label: str, key: str = "") -> Node:
    """A button that shows an icon alone."""
    spec = f"button.btn.quiet#{key}" if key else "button.btn.quiet"
    return el(spec, {"type": "button", "aria-label": label}, icon(name))


def code_lines(text: str) -> list[Node]:
    """Lines of code as blocks, moved in by padding: leading blanks have no box that everyone agrees on."""
    return [indented(line, "span", "display:block") for line in text.replace("\t", "    ").split("\n")]


def indented(line: str, spec: str, style: str) -> Node:
    """A line with its leading blanks as padding."""
    bare = line.lstrip(" ")
    moved = f"{style};padding-left:{len(line) - len(bare)}ch" if len(bare) < len(line) else style
    return el(spec, {"style": moved}, bare)
