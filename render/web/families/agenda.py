"""Agendas: events under their days, with times, places, who comes, filters and a small month."""

from calendar import monthrange
from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock, date
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    pills,
)

STYLES = {
    **CHROME,
    "entry": "display:grid;grid-template-columns:64px minmax(0,1fr) auto;gap:$s3;align-items:center;"
    "padding:$s3;border-inline-start:4px solid $accent;background:$surface;border-radius:$rs",
    "day-head": "display:flex;gap:$s3;align-items:baseline;border-bottom:1px solid $line;padding-bottom:$s1",
    "day-no": "font-size:$f5;font-weight:700;color:$accent_text;line-height:1.2",
    "mini": "display:grid;grid-template-columns:repeat(7,1fr);gap:2px;text-align:center;font-size:12px",
    "mini-on": "background:$accent;color:$on_accent;border-radius:50%",
}

_YEAR = 2026


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    month = draws.integer(1, 13)
    days = [
        {
            "day": 3 + 2 * d,
            "weekday": (monthrange(_YEAR, month)[0] + 2 + 2 * d) % 7,
            "events": [
                {
                    "text": text,
                    "at": draws.integer(16, 40) * 30,
                    "where": draws.pick(lists["cities"]),
                    "who": draws.pick(lists["people"]),
                    "sure": draws.chance(0.6),
                }
                for text in draws.some(lists["events"], draws.integer(1, 4))
            ],
        }
        for d in range(draws.integer(3, 5))
    ]
    has = {"mini": 0.5, "where": 0.6, "who": 0.5, "answer": 0.4, "filter": 0.4, "new": 0.6, "state": 0.5, "cards": 0.4}
    return view, base | {
        "days": days,
        "month": month,
        "kind": draws.pick(("app", "site", "timeline")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "div.row.between",
        el("h1.title#title@title", page.say("calendar")),
        button(page.say("new"), "new") if page.has("new") else None,
    )
    days = [_day(page, k, day) for k, day in enumerate(params["days"])]
    main: Content = (
        el("ol.stack", [el("li", day) for day in days]) if params["kind"] == "timeline" else el("div.stack.loose", days)
    )
    if page.has("mini"):
        main = el("div.main-side" if page.wide else "div.stack", main, _mini(page))
    matter = [head, pills([page.say(k) for k in ("all", "today", "week")], 0) if page.has("filter") else None, main]
    body = (
        app(page, ("home", "calendar", "tasks", "team"), 1, matter) if params["kind"] == "app" else site(page, matter)
    )
    return finished(page, page.say("calendar"), body, STYLES)


def _day(page: Page, place: int, day: Mapping[str, Any]) -> Node:
    name = page.words.lists["weekdays"][day["weekday"]]
    head = el(
        "header.day-head",
        el("span.day-no", str(day["day"])),
        el(f"h2.subheading#day-{place}@day", f"{name}"),
        el("span.muted.small", date(page.lang, day["day"], page.params["month"])),
    )
    return el(
        "section.card.stack" if page.has("cards") else "section.stack",
        head,
        el("ul.list", [_entry(page, place, k, e) for k, e in enumerate(sorted(day["events"], key=lambda e: e["at"]))]),
    )


def _entry(page: Page, place: int, number_: int, event: Mapping[str, Any]) -> Node:
    state = el(
        "span.badge.badge-ok" if event["sure"] else "span.badge.badge-warn",
        page.say("done" if event["sure"] else "pending"),
    )
    answer = el(
        "div.row",
        el("button.btn.ghost", {"type": "button"}, page.say("yes")),
        el("button.btn.ghost", {"type": "button"}, page.say("no")),
    )
    middle = el(
        "div",
        el(f"p.strong#event-{place}-{number_}@event", event["text"]),
        el("p.small.muted.row", icon("pin", 14), el("span", event["where"])) if page.has("where") else None,
        el("p.small.muted", event["who"]) if page.has("who") else None,
    )
    end = answer if page.has("answer") and page.wide else state if page.has("state") else icon("more")
    return el("li.entry", el("time.strong", clock(event["at"])), middle, end)


def _mini(page: Page) -> Node:
    busy = {day["day"] for day in page.params["days"]}
    first, days = monthrange(_YEAR, page.params["month"])
    cells = [el("span.mini-on" if d in busy else "span", str(d)) for d in range(1, days + 1)]
    cells[0].attrs["style"] = f"grid-column-start:{first + 1}"
    return el(
        "aside.card.stack",
        el("h2.strong#month@month", page.words.lists["months"][page.params["month"] - 1]),
        el("div.mini", cells),
    )
