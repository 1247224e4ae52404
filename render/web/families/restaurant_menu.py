"""Menus of restaurants: courses, dishes with prices and dots, signs, opening times, a table to book."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock, money
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    choice,
    field,
    tabs,
)

STYLES = {
    **CHROME,
    "sheet": "display:flex;flex-direction:column;gap:$s5",
    "course-name": "font-size:$f4;font-weight:700;color:$accent_text;border-bottom:1px solid $line;padding-bottom:$s1",
    "dish": "display:flex;align-items:baseline;gap:$s2",
    "dots": "flex:1;border-bottom:2px dotted $line;min-width:16px",
    "dish-card": "display:flex;flex-direction:column;gap:$s1",
    "mast": "text-align:center;display:flex;flex-direction:column;gap:$s1;padding:$s3 0",
    "big": "font-size:$f6;font-weight:700;line-height:1.2",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    dishes = bank.lists["dishes"]
    groups = {"starters": [0, 6, 5], "mains": [1, 2, 3, 4, 7], "desserts": [8, 9, 10, 11]}
    courses = [
        {
            "key": key,
            "dishes": [
                [dishes[k], draws.integer(4, 30) * 100 + 50, draws.chance(0.3)]
                for k in draws.some(places, draws.integer(2, 5))
            ],
        }
        for key, places in groups.items()
    ]
    return view, base | {
        "courses": courses,
        "text": draws.some(bank.lists["food"], 8),
        "city": draws.pick(bank.lists["cities"]),
        "open": [draws.integer(9, 13), draws.integer(20, 24)],
        "people": draws.integer(2, 8),
        "picture": sample_picture(draws, ("leafy", "hills", "stripes")),
        "kind": draws.pick(("dots", "cards", "columns", "table")),
        "has": flags(
            draws,
            {
                "mast": 0.6,
                "what": 0.5,
                "signs": 0.5,
                "hours": 0.5,
                "book": 0.4,
                "picture": 0.4,
                "tabs": 0.4,
                "order": 0.3,
                "note": 0.4,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    mast = el(
        "header.mast", el("h1.big#house@title", params["chrome"]["brand"]), el("p.muted#city@city", params["city"])
    )
    courses = [_course(page, course) for course in params["courses"]]
    sheet = el(f"div{page.cols(3)}" if params["kind"] == "columns" else "div.sheet", courses)
    side = [_hours(page) if page.has("hours") else None, _book(page) if page.has("book") else None]
    body = [
        mast if page.has("mast") else el("h1.title#title@title", page.say("menu")),
        picture(params["picture"], page.tokens, params["city"], 4.0 if page.wide else 2.2)
        if page.has("picture")
        else None,
        tabs([page.say(course["key"]) for course in params["courses"]], 0) if page.has("tabs") else None,
        el("div.main-side" if page.wide else "div.stack", sheet, el("aside.stack", side)) if any(side) else sheet,
        el("p.small.muted.centre", " · ".join(params["text"][:3])) if page.has("note") else None,
    ]
    return finished(page, page.say("menu"), site(page, body), STYLES)


def _course(page: Page, course: Mapping[str, Any]) -> Node:
    key = course["key"]
    head = el(f"h2.course-name#{key}@course", page.say(key))
    if page.params["kind"] == "table":
        rows = [
            el("tr", el("td.cell", el(f"span#{key}-{k}@dish", name)), el("td.cell.num", money(page.lang, price)))
            for k, (name, price, _) in enumerate(course["dishes"])
        ]
        return el("section.stack", head, el("table.table", el("tbody", rows)))
    dishes = [_dish(page, f"{key}-{k}", k, *dish) for k, dish in enumerate(course["dishes"])]
    return el(
        "section.stack",
        head,
        el(f"div{page.cols(2)}", dishes) if page.params["kind"] == "cards" else el("ul.list", dishes),
    )


def _dish(page: Page, key: str, place: int, name: str, price: int, green: bool) -> Node:
    sign = el("span", icon("leaf", 16, page.say("new"))) if green and page.has("signs") else None
    what = el("p.small.muted", ", ".join(page.params["text"][place : place + 3])) if page.has("what") else None
    title, cost = el(f"span.strong#{key}@dish", name), el("span.strong.num", money(page.lang, price))
    if page.params["kind"] == "cards":
        order = el("button.btn.ghost", {"type": "button"}, page.say("choose")) if page.has("order") else None
        return el("article.card.dish-card", el("p.row.between", title, cost), what, sign, order)
    return el("li.dish-card", el("p.dish", title, sign, el("span.dots"), cost), what)


def _hours(page: Page) -> Node:
    start, end = page.params["open"]
    days = page.words.lists["weekdays"]
    rows = [el("li.row.between", el("span", days[k]), el("span.num", f"{start}:00–{end}:00")) for k in (1, 2, 3, 4, 5)]
    return el("section.card.stack", el("h2.subheading#hours@heading", page.say("open")), el("ul.list.small", rows))


def _book(page: Page) -> Node:
    return el(
        "form.card.stack",
        choice(page.say("members"), "guests", [str(k) for k in range(1, 9)], page.params["people"] - 1),
        field(page.say("time"), "time", value=clock(page.params["open"][1] * 60 - 120)),
        button(page.say("send"), "book", "block"),
    )
