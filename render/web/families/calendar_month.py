"""Months of a calendar: a grid of days with events, today marked, arrows, perhaps a list of what comes next."""

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    icon_button,
    tabs,
)

STYLES = {
    **CHROME,
    "grid": "display:grid;grid-template-columns:repeat(7,minmax(0,1fr));border:1px solid $line;"
    "border-radius:$r;overflow:hidden;background:$surface",
    "weekday": "padding:$s2 $s1;text-align:center;font-size:$f0;color:$muted;font-weight:600;"
    "background:$raised;overflow:hidden",
    "day": "padding:$s1;border-top:1px solid $line;display:flex;flex-direction:column;gap:$s1;"
    "min-width:0;min-height:46px",
    "day-wide": "min-height:84px",
    "day-off": "background:$raised;color:$muted",
    "day-no": "font-size:$f0;width:24px;height:24px;line-height:24px;text-align:center;display:block",
    "day-now": "background:$accent;color:$on_accent;border-radius:50%;font-weight:700",
    "event": "font-size:12px;background:$soft;color:$text;border-radius:$rs;padding:1px $s1;line-height:1.35",
    "dot": "width:8px;height:8px;border-radius:50%;background:$accent;margin:0 auto",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    has = {"views": 0.5, "next": 0.5, "new": 0.6, "legend": 0.4, "weeks": 0.3, "today": 0.5}
    return view, base | {
        "month": draws.integer(1, 13),
        "year": draws.integer(2020, 2030),
        "now": draws.integer(1, 29),
        "events": [[draws.integer(1, 29), text] for text in draws.some(bank.lists["events"], draws.integer(4, 8))],
        "kind": draws.pick(("grid", "table", "app")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    title = f"{page.words.lists['months'][params['month'] - 1]} {params['year']}"
    arrows = el("div.row", icon_button("rewind", page.say("back")), icon_button("skip", page.say("next")))
    bar = el(
        "div.row.between.wrap",
        el("h1.heading#month@month", title),
        el(
            "div.row.wrap",
            button(page.say("today"), "today", "ghost") if page.has("today") else None,
            arrows,
            button(page.say("new"), "new") if page.has("new") else None,
        ),
    )
    views = tabs([page.say(key) for key in ("month", "week", "day")], 0) if page.has("views") else None
    sheet = _table(page) if params["kind"] == "table" else _grid(page)
    side = _next(page) if page.has("next") else None
    matter = [
        bar,
        views,
        el("div.main-side" if page.wide and side else "div.stack", sheet, side),
        _legend(page) if page.has("legend") else None,
    ]
    keys = ("dashboard", "calendar", "tasks", "team", "settings")
    body = app(page, keys, 1, matter) if params["kind"] == "app" else site(page, matter)
    return finished(page, title, body, STYLES)


def _cells(page: Page) -> list[tuple[str, int]]:
    p = page.params
    first, days = monthrange(p["year"], p["month"])
    last = monthrange(p["year"], p["month"] - 1)[1] if p["month"] > 1 else 31
    before = [("off", last - first + k + 1) for k in range(first)]
    own = [("now" if d == p["now"] else "day", d) for d in range(1, days + 1)]
    rest = -(len(before) + len(own)) % 7
    return [*before, *own, *(("off", d + 1) for d in range(rest))]


def _day(page: Page, kind: str, day: int) -> list[Content]:
    events = [text for at, text in page.params["events"] if at == day and kind != "off"][:2]
    shown: Content = (
        [el("span.event", text) for text in events]
        if page.wide
        else [el("span.dot", {"title": text}) for text in events[:1]]
    )
    mark = {"aria-current": "date"} if kind == "now" else None
    return [el("time.day-no.day-now" if kind == "now" else "time.day-no", mark, str(day)), shown]


def _names(page: Page) -> list[str]:
    full = page.words.lists["weekdays"]
    if page.lang == "zh":
        return [name[-1:] for name in full]
    if page.lang in ("ja", "ko", "ar", "he") and page.wide:
        return list(full)
    return [name.split()[-1].removeprefix("ال")[: 3 if page.wide else 1] for name in full]


def _grid(page: Page) -> Node:
    heads = [el("div.weekday", name) for name in _names(page)]
    wide = ".day-wide" if page.wide else ""
    days = [
        el(f"div.day{wide}{'.day-off' if kind == 'off' else ''}", _day(page, kind, day)) for kind, day in _cells(page)
    ]
    return el("section.grid", heads, days)


def _table(page: Page) -> Node:
    cells = _cells(page)
    first = date(page.params["year"], page.params["month"], 1)
    thursday = first + timedelta(days=3 - first.weekday())
    week = el("th.weekday", "#") if page.has("weeks") else None
    numbers = [str((thursday + timedelta(days=k)).isocalendar().week) for k in range(0, len(cells), 7)]
    rows = [
        el(
            "tr",
            el("th.weekday", {"scope": "row"}, numbers[k // 7]) if page.has("weeks") else None,
            [el("td.cell", {"style": "height:64px"}, _day(page, kind, day)) for kind, day in cells[k : k + 7]],
        )
        for k in range(0, len(cells), 7)
    ]
    fixed = {"style": "table-layout:fixed"}
    return el(
        "table.table",
        fixed,
        el("thead", el("tr", week, [el("th.weekday", name) for name in _names(page)])),
        el("tbody", rows),
    )


def _next(page: Page) -> Node:
    rows = [
        el("li.row", el("span.badge", str(day)), el(f"span#next-{k}@event", text))
        for k, (day, text) in enumerate(sorted(page.params["events"]))
    ]
    return el("aside.card.stack", el("h2.subheading", page.say("latest")), el("ul.list", rows))


def _legend(page: Page) -> Node:
    return el(
        "ul.row.wrap.small.muted",
        [
            el("li.row", el("span.dot", {"style": f"background:{page.tokens[f'c{k + 1}']}"}), el("span", text))
            for k, text in enumerate(page.words.lists["topics"][:3])
        ],
    )
