"""File browsers: folders and files as a table or tiles, a tree beside, the way here, what is selected."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date, number
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    crumbs,
    icon_button,
    meter,
)

STYLES = {
    **CHROME,
    "file": "display:flex;align-items:center;gap:$s2",
    "tiles": "display:grid;grid-template-columns:repeat(auto-fill,minmax(128px,1fr));gap:$s3",
    "tile": "display:flex;flex-direction:column;gap:$s2;align-items:center;text-align:center;padding:$s3;"
    "border:1px solid $line;border-radius:$r;background:$surface;min-width:0",
    "tile-on": "border:2px solid $accent;background:$soft;color:$text",
    "picked": "background:$soft",
    "box": "background:$surface;border:1px solid $line;border-radius:$r;overflow:hidden",
    "tree": "display:flex;flex-direction:column;gap:$s1",
    "inner": "padding-inline-start:$s4",
}
_ENDS = ("pdf", "txt", "png", "csv", "mp3", "zip")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    names = draws.some([*bank.lists["songs"], *bank.lists["books"]], draws.integer(5, 9))
    files = [
        {
            "name": f"{name}.{draws.pick(_ENDS)}",
            "size": draws.integer(3, 9000),
            "day": [draws.integer(1, 29), draws.integer(1, 13), 2026],
            "on": draws.chance(0.2),
        }
        for name in names
    ]
    return view, base | {
        "files": files,
        "folders": draws.some(
            ("documents", "pictures", "music", "projects", "reports", "examples"), draws.integer(2, 5)
        ),
        "used": draws.integer(10, 95),
        "kind": draws.pick(("table", "tiles", "list")),
        "has": flags(
            draws,
            {
                "tree": 0.5,
                "way": 0.6,
                "upload": 0.6,
                "used": 0.4,
                "ticks": 0.4,
                "search": 0.4,
                "detail": 0.35,
                "folders": 0.7,
                "views": 0.4,
                "status": 0.4,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    views = el("div.row", icon_button("grid", page.say("all")), icon_button("list", page.say("files")))
    bar = el(
        "div.row.between.wrap",
        el("h1.heading#title@title", page.say("files")),
        el(
            "div.row.wrap",
            views if page.has("views") else None,
            button(page.say("new"), "new", "ghost"),
            button(page.say("upload"), "upload") if page.has("upload") else None,
        ),
    )
    search = el("input.input", {"type": "search", "placeholder": page.say("search"), "aria-label": page.say("search")})
    listed = (
        _table(page)
        if params["kind"] == "table" and page.wide
        else _tiles(page)
        if params["kind"] == "tiles"
        else _list(page)
    )
    detail = _detail(page) if page.has("detail") else None
    used = el(
        "div.stack.small",
        el("span.muted#used@usage", f"{params['used']} % / 100 GB"),
        meter(params["used"], page.say("size")),
    )
    status = el("p.small.muted#count@count", f"{len(params['files'])} {page.say('files')}")
    main = el(
        "div.stack",
        crumbs([page.say("home"), page.say("documents"), page.say(params["folders"][0])]) if page.has("way") else None,
        search if page.has("search") else None,
        listed,
        status if page.has("status") else None,
    )
    body = el("div.main-side" if page.wide else "div.stack", main, detail) if detail else main
    if page.has("tree") and page.wide:
        body = el("div.side-main", el("div.stack", _tree(page), used if page.has("used") else None), body)
    return finished(
        page, page.say("files"), app(page, ("home", "files", "starred", "trash", "settings"), 1, bar, body), STYLES
    )


def _folder(page: Page, key: str) -> Node:
    return el("span.file", icon("folder", 20), el("span", page.say(key)))


def _size(page: Page, size: int) -> str:
    return f"{number(page.lang, size)} KB"


def _table(page: Page) -> Node:
    p = page.params
    tick_ = [el("th.cell.cell-head", "")] if page.has("ticks") else []
    heads = [
        el("th.cell.cell-head.num" if key == "size" else "th.cell.cell-head", {"scope": "col"}, page.say(key))
        for key in ("name", "modified", "size")
    ]
    rows: list[Content] = [
        el(
            "tr",
            [el("td.cell")] if page.has("ticks") else None,
            el("td.cell", _folder(page, key)),
            el("td.cell.muted", "–"),
            el("td.cell.num.muted", "–"),
        )
        for key in (p["folders"] if page.has("folders") else [])
    ]
    for k, f in enumerate(p["files"]):
        box = (
            el(
                "td.cell",
                el("input.tick", {"type": "checkbox", "aria-label": f["name"]}, {"checked": None} if f["on"] else None),
            )
            if page.has("ticks")
            else None
        )
        rows.append(
            el(
                "tr.picked" if f["on"] else "tr",
                {"aria-selected": "true"} if f["on"] else None,
                box,
                el("td.cell", el("span.file", icon("file", 20), el(f"span#file-{k}@file", f["name"]))),
                el("td.cell", date(page.lang, *f["day"])),
                el("td.cell.num", _size(page, f["size"])),
            )
        )
    return el("div.box", el("table.table", el("thead", el("tr", tick_, heads)), el("tbody", rows)))


def _tiles(page: Page) -> Node:
    folders = (
        [el("div.tile", icon("folder", 40), el("p", page.say(key))) for key in page.params["folders"]]
        if page.has("folders")
        else None
    )
    files = [
        el(
            "div.tile.tile-on" if f["on"] else "div.tile",
            {"role": "option", "aria-selected": str(f["on"]).lower()},
            icon("file", 40),
            el(f"p.small#file-{k}@file", f["name"]),
        )
        for k, f in enumerate(page.params["files"])
    ]
    return el("section.tiles", {"role": "listbox", "aria-label": page.say("files")}, folders, files)


def _list(page: Page) -> Node:
    folders = [el("li.row", _folder(page, key)) for key in page.params["folders"]] if page.has("folders") else None
    files = [
        el(
            "li.row",
            icon("file", 20),
            el(
                "div.grow",
                el(f"p#file-{k}@file", f["name"]),
                el("p.small.muted", f"{date(page.lang, *f['day'])} · {_size(page, f['size'])}"),
            ),
            icon_button("more", page.say("more")),
        )
        for k, f in enumerate(page.params["files"])
    ]
    return el("ul.card.list", folders, files)


def _tree(page: Page) -> Node:
    rows = [
        el(
            "li",
            _folder(page, key),
            el("ul.inner.small", [el("li.muted", f["name"]) for f in page.params["files"][k : k + 2]])
            if k == 0
            else None,
        )
        for k, key in enumerate(page.params["folders"])
    ]
    return el("nav", {"aria-label": page.say("folders")}, el("ul.tree", {"role": "tree"}, rows))


def _detail(page: Page) -> Node:
    f = page.params["files"][0]
    facts = [
        el("div.row.between", el("dt.muted", page.say(key)), el("dd", text))
        for key, text in (
            ("size", _size(page, f["size"])),
            ("modified", date(page.lang, *f["day"])),
            ("type", f["name"][-3:].upper()),
        )
    ]
    return el(
        "aside.card.stack",
        icon("file", 48),
        el("h2.strong#chosen@selected file", f["name"]),
        el("dl.list.small", facts),
        button(page.say("download"), "download", "block"),
    )
