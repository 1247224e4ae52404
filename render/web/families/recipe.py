"""Recipes: a picture, what goes in, steps, times, portions, opinions."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    stars,
    tick,
)

STYLES = {
    **CHROME,
    "two": "display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:$s5;align-items:start",
    "step": "display:flex;gap:$s3;align-items:flex-start",
    "facts": "display:flex;flex-wrap:wrap;gap:$s5;border-top:1px solid $line;"
    "border-bottom:1px solid $line;padding:$s3 0",
    "amount": "display:flex;align-items:center;gap:$s2;padding:$s1 0;border-bottom:1px dashed $line",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    dish = draws.pick(lists["dishes"])
    return view, base | {
        "dish": dish,
        "food": draws.some(lists["food"], draws.integer(5, 10)),
        "steps": list(lists["cooking"])[: draws.integer(4, 7)],
        "who": draws.pick(lists["people"]),
        "text": draws.some(lists["praise"], 3),
        "minutes": draws.integer(2, 12) * 10,
        "people": draws.integer(2, 9),
        "picture": sample_picture(draws, ("leafy", "rings", "sunrise", "stripes")),
        "others": draws.some([name for name in lists["dishes"] if name != dish], 4),
        "ticks": [draws.chance(0.3) for _ in range(10)],
        "kind": draws.pick(("two", "stack", "turned")),
        "has": flags(
            draws,
            {
                "picture": 0.6,
                "facts": 0.8,
                "stars": 0.5,
                "ticks": 0.6,
                "opinion": 0.4,
                "others": 0.4,
                "who": 0.5,
                "buttons": 0.6,
                "numbers": 0.5,
                "note": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "header.stack",
        el("h1.title#dish@title", params["dish"]),
        el("p.row.muted", face(params["who"]), el("span#cook@author", params["who"])) if page.has("who") else None,
        stars(4, page.say("reviews")) if page.has("stars") else None,
    )
    drawn = (
        picture(params["picture"], page.tokens, params["dish"], 3.2 if page.wide else 1.6)
        if page.has("picture")
        else None
    )
    parts = [_food(page), _steps(page)]
    if params["kind"] == "turned":
        parts.reverse()
    matter = el("div.two" if page.wide and params["kind"] != "stack" else "div.stack", parts)
    note = el("p.panel#note@note", params["text"][2]) if page.has("note") else None
    buttons = (
        el("div.row.wrap", button(page.say("save"), "save"), button(page.say("share"), "share", "ghost"))
        if page.has("buttons")
        else None
    )
    body = [
        head,
        drawn,
        _facts(page) if page.has("facts") else None,
        matter,
        note,
        buttons,
        _opinions(page) if page.has("opinion") else None,
        _others(page) if page.has("others") else None,
    ]
    return finished(page, params["dish"], site(page, body, title=params["dish"]), STYLES)


def _facts(page: Page) -> Node:
    p = page.params
    pairs = (
        ("time", f"{p['minutes']} {page.say('minutes')}"),
        ("servings", str(p["people"])),
        ("priority", page.say("low")),
    )
    return el(
        "dl.facts",
        [
            el("div", el("dt.small.muted", page.say(key)), el(f"dd.strong#{key}@fact", text))
            for key, text in pairs[: 3 if page.has("stars") else 2]
        ],
    )


def _food(page: Page) -> Node:
    p = page.params
    rows = [
        el("li.amount", tick(text, f"food-{k}", p["ticks"][k]) if page.has("ticks") else el("span", text))
        for k, text in enumerate(p["food"])
    ]
    return el("section.card.stack", el("h2.heading#food@heading", page.say("ingredients")), el("ul", rows))


def _steps(page: Page) -> Node:
    rows = [
        el(
            "li.step",
            el("span.step-no.step-on", str(k + 1)) if page.has("numbers") else None,
            el(f"p#step-{k}@step", text),
        )
        for k, text in enumerate(page.params["steps"])
    ]
    return el("section.stack", el("h2.heading#method@heading", page.say("method")), el("ol.stack", rows))


def _opinions(page: Page) -> Node:
    rows = [
        el("blockquote.card", el("p", text), el("footer.small.muted", page.params["who"]))
        for text in page.params["text"][:2]
    ]
    return el("section.stack", el("h2.heading", page.say("comments")), rows)


def _others(page: Page) -> Node:
    return el(
        "section.stack",
        el("h2.heading", page.say("related")),
        el(f"div{page.cols(4)}", [el("a.card.strong", {"href": "#"}, name) for name in page.params["others"]]),
    )
