"""Weeks of a calendar: columns of days, hours at the side, events as blocks of their length."""

from calendar import monthrange
from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    icon_button,
    pills,
    tabs,
    tick,
)

STYLES = {
    **CHROME,
    "week": "display:grid;grid-template-columns:52px repeat(5,minmax(0,1fr));background:$surface;"
    "border:1px solid $line;border-radius:$r",
    "week-3": "grid-template-columns:52px repeat(3,minmax(0,1fr))",
    "head": "padding:$s2;text-align:center;font-weight:600;border-bottom:1px solid $line;min-width:0;font-size:$f1",
    "head-on": "color:$accent_text",
    "hours": "position:relative;border-inline-end:1px solid $line",
    "hour": "height:54px;font-size:12px;color:$muted;padding:$s1;text-align:end",
    "lane": "position:relative;border-inline-end:1px solid $line;min-width:0",
    "slot": "height:54px;border-bottom:1px solid $line",
    "event": "position:absolute;inset-inline:3px;border-radius:$rs;background:$soft;color:$text;"
    "padding:$s1;font-size:12px;line-height:1.3;"
    "overflow:hidden;border-inline-start:3px solid $accent",
    "event-on": "background:$accent;color:$on_accent",
}
_FROM = 8
_YEAR = 2026


def _first_monday(month: int) -> int:
    return 1 + -monthrange(_YEAR, month)[0] % 7


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    events = [
        {
            "day": day,
            "at": start,
            "hours": draws.integer(1, 3),
            "text": draws.pick(bank.lists["events"]),
            "on": draws.chance(0.25),
        }
        for day in range(5)
        for start in draws.some((0, 3, 6), draws.integer(1, 4))
    ]
    month = draws.integer(1, 13)
    has = {"views": 0.6, "new": 0.6, "people": 0.4, "tasks": 0.4, "filter": 0.4, "times": 0.5}
    return view, base | {
        "events": events,
        "monday": _first_monday(month) + 7 * draws.integer(0, 3),
        "month": month,
        "today": draws.integer(0, 5),
        "people": draws.some(bank.lists["people"], 4),
        "tasks": draws.some(bank.lists["tasks"], 4),
        "hours": draws.integer(8, 11),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    first, month = params["monday"], params["month"]
    title = f"{date(page.lang, first, month)} – {date(page.lang, first + 4, month)}"
    bar = el(
        "div.row.between.wrap",
        el("h1.heading#week@week", title),
        el(
            "div.row",
            icon_button("rewind", page.say("back")),
            button(page.say("today"), "today", "ghost"),
            icon_button("skip", page.say("next")),
        ),
    )
    matter = [
        bar,
        tabs([page.say(key) for key in ("day", "week", "month")], 1) if page.has("views") else None,
        pills([page.say("all"), *page.words.lists["topics"][:3]], 0) if page.has("filter") else None,
        el("div.row.wrap", [el("span.row.small", face(name), el("span", name)) for name in params["people"]])
        if page.has("people")
        else None,
        el(
            "div.main-side" if page.wide and page.has("tasks") else "div.stack",
            _week(page),
            _tasks(page) if page.has("tasks") else None,
        ),
        el("div.row", button(page.say("new"), "new")) if page.has("new") else None,
    ]
    return finished(page, title, app(page, ("dashboard", "calendar", "tasks", "team", "settings"), 1, matter), STYLES)


def _week(page: Page) -> Node:
    p = page.params
    first = 0 if page.wide else min(p["today"], 2)
    days = range(first, first + (5 if page.wide else 3))
    heads = [
        el(
            "div.head.head-on" if d == p["today"] else "div.head",
            el("div", _short(page, d)),
            el("div", str(p["monday"] + d)),
        )
        for d in days
    ]
    hours = el("div.hours", [el("div.hour", f"{_FROM + h}:00") for h in range(p["hours"])])
    return el(
        "section.week" if page.wide else "section.week.week-3",
        el("div.head"),
        heads,
        hours,
        [_lane(page, d) for d in days],
    )


def _short(page: Page, day: int) -> str:
    name = page.words.lists["weekdays"][day]
    return name if page.lang in ("ar", "he", "ja", "ko", "zh") else name[:3]


def _lane(page: Page, day: int) -> Node:
    p = page.params
    blocks = [
        el(
            "div.event.event-on" if e["on"] else "div.event",
            {"style": f"top:{e['at'] * 54 + 2}px;height:{e['hours'] * 54 + 46}px"},
            el(f"p.strong#event-{day}-{e['at']}@event", e["text"]),
            el("time", f"{_FROM + e['at']}:00") if page.has("times") else None,
        )
        for e in p["events"]
        if e["day"] == day
    ]
    return el("div.lane", [el("div.slot") for _ in range(p["hours"])], blocks)


def _tasks(page: Page) -> Node:
    rows = [el("li", tick(text, f"task-{k}", k == 0)) for k, text in enumerate(page.params["tasks"])]
    return el("aside.card.stack", el("h2.subheading#tasks@heading", page.say("tasks")), el("ul.list", rows))
