"""Tables of records: sorted columns, check boxes, states, a search field, actions, numbers of pages."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date, money
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    icon_button,
    pager,
    pills,
)

STYLES = {
    **CHROME,
    "sheet": "background:$surface;border:1px solid $line;border-radius:$r;overflow-x:auto",
    "sort": "display:inline-flex;align-items:center;gap:$s1;border:0;background:none;font-weight:600;"
    "color:$muted;padding:0",
    "chosen": "background:$soft",
    "count": "direction:ltr;align-self:flex-start",
    "record": "display:flex;flex-direction:column;gap:$s1",
}
_COLUMNS = ("city", "status", "date", "amount", "email")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    rows = [
        {
            "name": name,
            "city": draws.pick(lists["cities"]),
            "status": draws.pick(("active", "pending", "closed")),
            "date": [draws.integer(1, 29), draws.integer(1, 13)],
            "amount": draws.integer(1000, 990000),
            "email": f"user{draws.integer(10, 99)}@mail.example",
            "on": draws.chance(0.2),
        }
        for name in draws.some(lists["people"], draws.integer(6, 13))
    ]
    has = {
        "ticks": 0.5,
        "search": 0.6,
        "pager": 0.6,
        "actions": 0.5,
        "filters": 0.4,
        "export": 0.5,
        "foot": 0.35,
        "badges": 0.7,
        "count": 0.5,
    }
    return view, base | {
        "rows": rows,
        "columns": draws.some(_COLUMNS, draws.integer(3, 5)),
        "sorted": draws.integer(0, 3),
        "up": draws.chance(0.5),
        "kind": draws.pick(("app", "site", "bare")),
        "title": draws.pick(("users", "orders", "members", "projects")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    title = page.say(params["title"])
    search = el(
        "input.input",
        {
            "type": "search",
            "name": "q",
            "placeholder": page.say("search"),
            "aria-label": page.say("search"),
            "style": "width:220px;flex:none",
        },
    )
    bar = el(
        "div.row.wrap",
        search if page.has("search") else None,
        button(page.say("new"), "new"),
        button(page.say("download"), "export", "ghost") if page.has("export") else None,
    )
    head = el("div.row.between.wrap", el("h1.heading#title@title", title), bar)
    filters = pills([page.say(key) for key in ("all", "active", "pending", "closed")], 0)
    records: Content = (
        el("div.sheet", _table(page)) if page.wide else [_record(page, k, row) for k, row in enumerate(params["rows"])]
    )
    matter = [
        head,
        filters if page.has("filters") else None,
        records,
        el("p.small.muted.count#count@count", f"1–{len(params['rows'])} / {len(params['rows']) * 9}")
        if page.has("count")
        else None,
        pager(5, 2) if page.has("pager") else None,
    ]
    keys = ("dashboard", "users", "orders", "reports", "settings")
    kind = params["kind"]
    body: Content = (
        app(page, keys, 1, matter)
        if kind == "app"
        else site(page, matter)
        if kind == "site"
        else el("main.page.stack", matter)
    )
    return finished(page, title, body, STYLES)


def _value(page: Page, row: Mapping[str, Any], column: str) -> Content:
    if column == "status":
        tone = {"active": "ok", "pending": "warn", "closed": "bad"}[row["status"]]
        return (
            el(f"span.badge.badge-{tone}", page.say(row["status"])) if page.has("badges") else page.say(row["status"])
        )
    if column == "date":
        return date(page.lang, *row["date"])
    if column == "amount":
        return money(page.lang, row["amount"])
    return str(row[column])


def _head(page: Page, column: str, place: int) -> Node:
    p = page.params
    mark = {"aria-sort": "ascending" if p["up"] else "descending"} if place == p["sorted"] else None
    arrow = icon("up" if p["up"] else "down", 14) if mark else None
    names = "th.cell.cell-head.num" if column == "amount" else "th.cell.cell-head"
    return el(names, {"scope": "col"}, mark, el("button.sort", {"type": "button"}, el("span", page.say(column)), arrow))


def _table(page: Page) -> Node:
    p = page.params
    columns = ["name", *p["columns"]]
    box = (
        el("th.cell.cell-head", el("input.tick", {"type": "checkbox", "aria-label": page.say("all")}))
        if page.has("ticks")
        else None
    )
    heads = el(
        "tr",
        box,
        [_head(page, column, k) for k, column in enumerate(columns)],
        el("th.cell.cell-head", "") if page.has("actions") else None,
    )
    rows = [_row(page, k, row, columns) for k, row in enumerate(p["rows"])]
    total = sum(row["amount"] for row in p["rows"])
    foot = el(
        "tfoot",
        el(
            "tr",
            el(
                "td.cell.strong.end",
                {"colspan": str(len(columns) + page.has("ticks") + page.has("actions"))},
                f"{page.say('total')}: {money(page.lang, total)}",
            ),
        ),
    )
    return el("table.table#records", el("thead", heads), el("tbody", rows), foot if page.has("foot") else None)


def _row(page: Page, place: int, row: Mapping[str, Any], columns: list[str]) -> Node:
    box = el(
        "td.cell",
        el("input.tick", {"type": "checkbox", "aria-label": row["name"]}, {"checked": None} if row["on"] else None),
    )
    cells = [
        el(
            "td.cell.num" if column == "amount" else "td.cell",
            {"id": f"row-{place}"} if column == "name" else None,
            _value(page, row, column),
        )
        for column in columns
    ]
    cells[0].role = "name"
    more = el("td.cell.end", icon_button("more", page.say("more")))
    picked = row["on"] and page.has("ticks")
    return el(
        "tr.chosen" if picked else "tr",
        {"aria-selected": "true"} if picked else None,
        box if page.has("ticks") else None,
        cells,
        more if page.has("actions") else None,
    )


def _record(page: Page, place: int, row: Mapping[str, Any]) -> Node:
    facts = [
        el("p.row.between.small", el("span.muted", page.say(column)), el("span", _value(page, row, column)))
        for column in page.params["columns"]
    ]
    return el("article.card.record", el(f"h2.strong#row-{place}@name", row["name"]), facts)
