"""Tickets for concerts: the event, when and where, seat and row, a square code, prices, terms."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock, date, money
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    tabs,
)

STYLES = {
    **CHROME,
    "ticket": "background:$surface;border:1px solid $line;border-radius:$r;display:grid;"
    "grid-template-columns:minmax(0,1fr) 220px;box-shadow:$sh;overflow:hidden",
    "ticket-small": "grid-template-columns:minmax(0,1fr)",
    "stub": "border-inline-start:2px dashed $line;padding:$s4;display:flex;flex-direction:column;gap:$s3;"
    "align-items:center;background:$raised;min-width:0",
    "main": "padding:$s5;display:flex;flex-direction:column;gap:$s4;min-width:0",
    "band": "background:$accent;color:$on_accent;padding:$s3 $s5;display:flex;"
    "justify-content:space-between;gap:$s3;grid-column:1 / -1",
    "facts": "display:grid;grid-template-columns:repeat(auto-fit,minmax(124px,1fr));gap:$s3",
    "value": "font-size:$f3;font-weight:700",
    "seat": "width:26px;height:26px;border-radius:6px;background:$line;border:0",
    "seat-on": "background:$accent",
    "seats": "display:grid;grid-template-columns:repeat(10,26px);gap:6px;justify-content:center",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.55)
    return view, base | {
        "event": draws.pick(bank.lists["songs"]),
        "artist": draws.pick(bank.lists["people"]),
        "city": draws.pick(bank.lists["cities"]),
        "day": [draws.integer(1, 29), draws.integer(1, 13), 2027],
        "at": draws.integer(34, 44) * 30,
        "seat": draws.integer(1, 40),
        "row": draws.integer(1, 20),
        "gate": draws.pick("ABCD"),
        "price": draws.integer(15, 120) * 100,
        "code": [draws.integer(0, 2) for _ in range(121)],
        "number": draws.integer(100000, 999999),
        "name": draws.pick(bank.lists["people"]),
        "text": draws.some(bank.lists["sentences"], 2),
        "chosen": draws.some(range(50), 3),
        "picture": sample_picture(draws),
        "kind": draws.pick(("ticket", "site", "list")),
        "has": flags(
            draws,
            {
                "band": 0.5,
                "code": 0.7,
                "price": 0.6,
                "terms": 0.5,
                "picture": 0.4,
                "seats": 0.4,
                "buttons": 0.6,
                "name": 0.5,
                "other": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    ticket = el(
        "article.ticket" if page.wide else "article.ticket.ticket-small",
        _band(page) if page.has("band") else None,
        _main(page),
        _stub(page),
    )
    seats = el(
        "section.card.stack",
        el("h2.subheading#plan@heading", page.say("seat")),
        el(
            "div.seats",
            [
                el(
                    "button.seat.seat-on" if k in params["chosen"] else "button.seat",
                    {"type": "button", "aria-label": str(k + 1), "aria-pressed": str(k in params["chosen"]).lower()},
                )
                for k in range(50)
            ],
        ),
    )
    terms = el("section.small.muted.stack", [el("p", text) for text in params["text"]])
    buttons = el("div.row.wrap", button(page.say("download"), "download"), button(page.say("share"), "share", "ghost"))
    other = el(
        "article.card.row.between",
        el("div", el("p.strong", params["artist"]), el("p.small.muted", params["city"])),
        el("button.btn.ghost", {"type": "button"}, page.say("details")),
    )
    matter = [
        ticket,
        seats if page.has("seats") else None,
        buttons if page.has("buttons") else None,
        terms if page.has("terms") else None,
        other if page.has("other") else None,
    ]
    if params["kind"] == "ticket":
        body: Content = el("main.page.narrow.stack", matter)
    elif params["kind"] == "list":
        body = site(
            page,
            el("h1.title#title@title", page.say("ticket")),
            tabs([page.say("active"), page.say("done")], 0),
            matter,
        )
    else:
        body = site(page, matter)
    return finished(page, params["event"], body, STYLES)


def _band(page: Page) -> Node:
    return el(
        "header.band",
        el("strong", page.params["chrome"]["brand"]),
        el("span#number@number", f"№ {page.params['number']}"),
    )


def _main(page: Page) -> Node:
    p = page.params
    facts = [
        ("date", date(page.lang, *p["day"])),
        ("time", clock(p["at"])),
        ("city", p["city"]),
        ("gate", p["gate"]),
        ("seat", f"{p['row']} / {p['seat']}"),
    ]
    facts += [("price", money(page.lang, p["price"]))] if page.has("price") else []
    facts += [("name", p["name"])] if page.has("name") else []
    return el(
        "section.main",
        picture(p["picture"], page.tokens, p["event"], 3.4) if page.has("picture") else None,
        el("div", el("h2.title#event@event", p["event"]), el("p.muted#artist@artist", p["artist"])),
        el(
            "dl.facts",
            [el("div", el("dt.small.muted", page.say(key)), el(f"dd.value#{key}@fact", text)) for key, text in facts],
        ),
    )


def _stub(page: Page) -> Node:
    p = page.params
    cells = [
        el("rect", {"x": str(k % 11), "y": str(k // 11), "width": "1", "height": "1", "fill": "#000000"})
        for k, on in enumerate(p["code"])
        if on
    ]
    attrs = {"viewBox": "-1 -1 13 13", "width": "150", "height": "150", "role": "img", "aria-label": page.say("ticket")}
    code = el("svg", attrs, el("rect", {"x": "-1", "y": "-1", "width": "13", "height": "13", "fill": "#ffffff"}), cells)
    return el(
        "section.stub",
        code if page.has("code") else icon("tag", 60),
        el("p.strong#code@code", f"{p['gate']}{p['row']}-{p['seat']}-{p['number']}"),
    )
