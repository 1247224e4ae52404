"""Job boards: offers with places and pay, filters, one offer opened beside the list, a search bar."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import money
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    field,
    pager,
    pills,
    table,
    tick,
)

STYLES = {
    **CHROME,
    "two": "display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:$s4;align-items:start",
    "offer": "display:flex;flex-direction:column;gap:$s2;min-width:0",
    "offer-on": "border:2px solid $accent",
    "seek": "display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr) auto;gap:$s3;align-items:end",
}
_WORK = ("team", "projects", "support", "reports", "security", "languages")
_TYPES = ("full_time", "part_time", "remote")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    offers = [
        {
            "title": f"{topic} · {bank.ui[draws.pick(_WORK)]}",
            "firm": draws.pick(lists["brands"]),
            "city": draws.pick(lists["cities"]),
            "pay": draws.integer(24, 90) * 100000,
            "type": draws.pick(_TYPES),
            "text": draws.pick(lists["sentences"]),
        }
        for topic in draws.some(lists["topics"], draws.integer(4, 8))
    ]
    return view, base | {
        "offers": offers,
        "text": draws.some(lists["sentences"], 4),
        "points": draws.some(lists["tasks"], 4),
        "ticks": [draws.chance(0.5) for _ in range(3)],
        "kind": draws.pick(("list", "two", "cards", "table")),
        "has": flags(
            draws,
            {
                "seek": 0.6,
                "filters": 0.4,
                "pay": 0.6,
                "mark": 0.4,
                "tags": 0.5,
                "text": 0.4,
                "apply": 0.5,
                "count": 0.4,
                "pager": 0.3,
                "pills": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    seek = el(
        "form.seek.card" if page.wide else "form.stack.card",
        field(page.say("search"), "query", value=params["offers"][0]["title"][:-5]),
        field(page.say("city"), "city", value=params["offers"][0]["city"]),
        button(page.say("search"), "find"),
    )
    kind = params["kind"] if page.wide else "list"
    offers = [_offer(page, k, offer) for k, offer in enumerate(params["offers"])]
    if kind == "two":
        listed: Content = el("div.two", el("div.stack", offers), _open(page))
    elif kind == "cards":
        listed = el("div.cols2", offers)
    elif kind == "table":
        rows = [
            [
                el(f"span.strong#job-{k}@job", o["title"]),
                o["firm"],
                o["city"],
                page.say(o["type"]),
                money(page.lang, o["pay"]),
            ]
            for k, o in enumerate(params["offers"])
        ]
        listed = table([page.say(key) for key in ("title", "name", "city", "type", "salary")], rows, numeric=(4,))
    else:
        listed = el("ul.stack", [el("li", offer) for offer in offers])
    if page.has("filters") and page.wide and kind != "two":
        listed = el("div.side-main", _filters(page), listed)
    head = el(
        "div.row.between",
        el("h1.title#title@title", page.say("jobs")),
        el("span.muted#count@count", str(len(offers) * 13)) if page.has("count") else None,
    )
    body = [
        head,
        seek if page.has("seek") else None,
        pills([page.say("all"), *(page.say(key) for key in _TYPES)], 0) if page.has("pills") else None,
        listed,
        pager(4, 1) if page.has("pager") else None,
    ]
    return finished(page, page.say("jobs"), site(page, body), STYLES)


def _offer(page: Page, place: int, offer: Mapping[str, Any]) -> Node:
    on = place == 0 and page.params["kind"] == "two" and page.wide
    names = el(
        "div.grow",
        el(f"h2.subheading#job-{place}@job", offer["title"]),
        el("p.muted", f"{offer['firm']} · {offer['city']}"),
    )
    return el(
        "article.card.offer.offer-on" if on else "article.card.offer",
        el("div.row", face(offer["firm"]), names) if page.has("mark") else names,
        el(
            "p.row.wrap",
            el("span.badge", page.say(offer["type"])),
            el("span.badge", page.say("new")) if place < 2 else None,
        )
        if page.has("tags")
        else None,
        el("p", offer["text"]) if page.has("text") else None,
        el("p.strong", money(page.lang, offer["pay"])) if page.has("pay") else None,
        button(page.say("apply"), f"apply-{place}", "ghost") if page.has("apply") else None,
    )


def _filters(page: Page) -> Node:
    p = page.params
    return el(
        "aside.card.stack",
        el("h2.subheading#filters@heading", page.say("type")),
        [tick(page.say(key), key.replace("_", "-"), p["ticks"][k]) for k, key in enumerate(_TYPES)],
        el("h2.subheading", page.say("salary")),
        el("input", {"type": "range", "aria-label": page.say("salary"), "style": "width:100%"}),
    )


def _open(page: Page) -> Node:
    p, offer = page.params, page.params["offers"][0]
    return el(
        "article.card.stack",
        el("h2.title#open@open job", offer["title"]),
        el("p.muted", f"{offer['firm']}, {offer['city']}"),
        el("p", " ".join(p["text"])),
        el("ul", {"style": "list-style:disc;padding-inline-start:22px"}, [el("li", text) for text in p["points"]]),
        el("div.row", button(page.say("apply"), "apply"), button(page.say("save"), "save", "ghost")),
    )
