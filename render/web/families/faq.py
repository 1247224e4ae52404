"""Questions and answers: open and closed ones, groups, a search field, a way to ask more."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    pills,
)

STYLES = {
    **CHROME,
    "item": "border-bottom:1px solid $line;padding:$s3 0",
    "item-card": "border:1px solid $line;border-radius:$r;background:$surface;padding:$s3 $s4",
    "ask": "display:flex;justify-content:space-between;gap:$s3;font-weight:600;width:100%;border:0;"
    "background:none;color:$text;text-align:start;align-items:center",
    "answer": "color:$muted;padding-top:$s2",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    pairs = draws.some(bank.lists["faq"], draws.integer(5, 8))
    return view, base | {
        "pairs": [text.split(" = ") for text in pairs],
        "open": sorted(draws.some(range(len(pairs)), draws.integer(1, 4))),
        "topics": draws.some(bank.lists["topics"], 4),
        "text": draws.some(bank.lists["sentences"], 2),
        "kind": draws.pick(("details", "buttons", "columns", "list")),
        "has": flags(
            draws,
            {
                "search": 0.5,
                "groups": 0.4,
                "contact": 0.6,
                "lead": 0.5,
                "side": 0.4,
                "cards": 0.5,
                "useful": 0.3,
                "pills": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    search = el(
        "input.input",
        {"type": "search", "name": "q", "placeholder": page.say("search"), "aria-label": page.say("search")},
    )
    head = el(
        "header.stack",
        el("h1.title#title@title", page.say("faq")),
        el("p.muted#lead@introduction", params["text"][0]) if page.has("lead") else None,
        search if page.has("search") else None,
    )
    items = [_item(page, k, *pair) for k, pair in enumerate(params["pairs"])]
    listed: Content = (
        el(f"div{page.cols(2)}", items)
        if params["kind"] == "columns"
        else el("dl.stack" if params["kind"] == "list" else "div.stack", items)
    )
    if page.has("groups"):
        half = len(items) // 2
        tag = "dl.stack" if params["kind"] == "list" else "div.stack"
        listed = [
            el("section.stack", el(f"h2.heading#group-{k}@heading", params["topics"][k]), el(tag, part))
            for k, part in enumerate((items[:half], items[half:]))
        ]
    contact = el("section.panel.row.between.wrap", el("p", params["text"][1]), button(page.say("contact"), "contact"))
    side = el(
        "nav.card.stack",
        el("h2.subheading", page.say("categories")),
        el("ul.list", [el("li", el("a.link", {"href": "#"}, text)) for text in params["topics"]]),
    )
    main = el("div.stack", listed, contact if page.has("contact") else None)
    body = el("div.main-side" if page.wide else "div.stack", main, side) if page.has("side") else main
    return finished(
        page,
        page.say("faq"),
        site(page, head, pills(params["topics"], 0) if page.has("pills") else None, body, title=page.say("faq")),
        STYLES,
    )


def _item(page: Page, place: int, ask: str, answer: str) -> Node:
    shown = place in page.params["open"]
    kind = page.params["kind"]
    names = "item-card" if page.has("cards") else "item"
    useful = (
        el(
            "p.row.small",
            el("button.btn.quiet", {"type": "button"}, page.say("yes")),
            el("button.btn.quiet", {"type": "button"}, page.say("no")),
        )
        if page.has("useful")
        else None
    )
    if kind == "details":
        return el(
            f"details.{names}",
            {"open": None} if shown else None,
            el(f"summary.strong#ask-{place}@question", ask),
            el("p.answer", answer),
            useful,
        )
    if kind == "buttons":
        mark = el(
            "button.ask",
            {"type": "button", "aria-expanded": str(shown).lower()},
            el(f"span#ask-{place}@question", ask),
            icon("up" if shown else "down"),
        )
        return el(f"div.{names}", el("h3", mark), el("p.answer", answer) if shown else None, useful if shown else None)
    if kind == "list":
        return el(f"div.{names}", el(f"dt.strong#ask-{place}@question", ask), el("dd.answer", answer))
    return el(f"article.{names}", el(f"h3.strong#ask-{place}@question", ask), el("p.answer", answer), useful)
