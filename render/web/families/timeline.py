"""Timelines: years and what happened, on one side or both, with pictures, tags, a way to filter."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    pills,
    table,
)

STYLES = {
    **CHROME,
    "time-line": "display:flex;flex-direction:column;gap:$s5;border-inline-start:3px solid $line;"
    "padding-inline-start:$s5;margin-inline-start:$s3",
    "event": "display:flex;flex-direction:column;gap:$s2;position:relative",
    "knob": "position:absolute;inset-inline-start:-34px;top:4px;width:16px;height:16px;border-radius:50%;"
    "background:$accent;border:3px solid $bg",
    "year": "font-size:$f4;font-weight:700;color:$accent_text;line-height:1.2",
    "both": "display:grid;grid-template-columns:minmax(0,1fr) 90px minmax(0,1fr);gap:$s3;align-items:center",
    "across": "display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:$s4;"
    "border-top:3px solid $accent;padding-top:$s4",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    year = draws.integer(1850, 1990)
    events = []
    for title in draws.some(lists["headlines"], draws.integer(4, 8)):
        year += draws.integer(1, 9)
        events.append(
            {
                "year": year,
                "title": title,
                "text": draws.pick(lists["sentences"]),
                "topic": draws.pick(lists["topics"]),
                "picture": sample_picture(draws),
            }
        )
    return view, base | {
        "events": events,
        "title": draws.pick(lists["books"]),
        "lead": draws.pick(lists["sentences"]),
        "kind": draws.pick(("line", "both", "across", "table", "cards")),
        "has": flags(
            draws,
            {
                "lead": 0.5,
                "text": 0.75,
                "picture": 0.35,
                "tags": 0.4,
                "filter": 0.4,
                "more": 0.4,
                "side": 0.3,
                "links": 0.4,
                "knob": 0.6,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "header.stack",
        el("h1.title#title@title", params["title"]),
        el("p.muted#lead@introduction", params["lead"]) if page.has("lead") else None,
    )
    events = params["events"]
    listed = _listed(page)
    years = el(
        "nav.card.stack",
        el("h2.subheading#years@heading", page.say("year")),
        el("ul.list", [el("li", el("a.link", {"href": "#"}, str(event["year"]))) for event in events]),
    )
    body = el("div.main-side" if page.wide else "div.stack", listed, years) if page.has("side") else listed
    more = el("p.centre", button(page.say("show_all"), "more", "ghost")) if page.has("more") else None
    return finished(
        page,
        params["title"],
        site(
            page,
            head,
            pills([page.say("all"), *page.words.lists["topics"][:4]], 0) if page.has("filter") else None,
            body,
            more,
        ),
        STYLES,
    )


def _listed(page: Page) -> Node:
    events, kind = page.params["events"], page.params["kind"] if page.wide else "line"
    if kind == "both":
        return el("ol.stack.loose", [_both(page, k, event) for k, event in enumerate(events)])
    if kind == "across":
        return el("ol.across", [el("li.stack", _matter(page, k, event)) for k, event in enumerate(events)])
    if kind == "table":
        return table(
            [page.say("year"), page.say("title"), page.say("details")],
            [
                [el("strong", str(e["year"])), el(f"span#event-{k}@event", e["title"]), e["text"]]
                for k, e in enumerate(events)
            ],
        )
    if kind == "cards":
        return el("div.cols2", [el("article.card.stack", _matter(page, k, event)) for k, event in enumerate(events)])
    return el(
        "ol.time-line",
        [
            el(
                "li.event",
                el("span.knob", {"aria-hidden": "true"}) if page.has("knob") else None,
                _matter(page, k, event),
            )
            for k, event in enumerate(events)
        ],
    )


def _matter(page: Page, place: int, event: Mapping[str, Any]) -> list[Content]:
    return [
        el("time.year", str(event["year"])),
        el(f"h2.strong#event-{place}@event", event["title"]),
        el("p", event["text"]) if page.has("text") else None,
        el("div", {"style": "max-width:320px"}, picture(event["picture"], page.tokens, event["title"], 1.8))
        if page.has("picture") and place % 2 == 0
        else None,
        el("p", el("span.badge", event["topic"])) if page.has("tags") else None,
        el("p", el("a.link.small", {"href": "#"}, page.say("read_more"))) if page.has("links") else None,
    ]


def _both(page: Page, place: int, event: Mapping[str, Any]) -> Node:
    card = el("div.card.stack", _matter(page, place, event)[1:])
    year = el("time.year.centre", str(event["year"]))
    sides = (card, year, el("span", "")) if place % 2 == 0 else (el("span", ""), year, card)
    return el("li.both", sides)
