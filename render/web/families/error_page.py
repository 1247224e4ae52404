"""Error pages: what went wrong, a drawing or a number, ways back, a search field, a code for support."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, brand, footer, header, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    area,
    button,
    field,
)

STYLES = {
    **CHROME,
    "middle": "min-height:80vh;display:flex;flex-direction:column;align-items:center;"
    "justify-content:center;text-align:center;gap:$s4;padding:$s4",
    "code": "font-size:96px;line-height:1;font-weight:700;color:$accent_text",
    "halves": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s6;align-items:center",
    "drawn": "width:100%;max-width:420px",
    "mono": "font-family:'DejaVu Sans Mono',monospace;font-size:13px;background:$raised;padding:$s2 $s3;"
    "border-radius:$rs;direction:ltr",
    "way": "display:flex;gap:$s3;align-items:flex-start",
    "plain-text": "font-size:$f3",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.55)
    return view, base | {
        "code": draws.pick(("404", "500", "503", "403")),
        "text": draws.pick(bank.lists["sentences"]),
        "request": f"{draws.integer(10**7, 10**8)}-{draws.integer(100, 999)}",
        "links": draws.some(bank.lists["topics"], 5),
        "news": draws.some(bank.lists["headlines"], 3),
        "hints": draws.some(bank.lists["sentences"], 3),
        "picture": sample_picture(draws),
        "kind": draws.pick(("middle", "halves", "site", "card", "plain")),
        "has": flags(
            draws,
            {
                "number": 0.7,
                "picture": 0.5,
                "search": 0.45,
                "links": 0.7,
                "ways": 0.55,
                "request": 0.4,
                "second": 0.6,
                "news": 0.45,
                "text": 0.7,
                "status": 0.3,
                "form": 0.25,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    words_ = _words(page)
    drawn = el("div.drawn", picture(params["picture"], page.tokens, "", 1.6)) if page.has("picture") else None
    below = [
        _ways(page) if page.has("ways") else None,
        _links(page) if page.has("links") else None,
        _news(page) if page.has("news") else None,
        _form(page) if page.has("form") else None,
    ]
    kind = params["kind"]
    if kind == "halves" and page.wide:
        body: Content = site(page, el("section.halves", drawn or icon("cloud", 180), el("div.stack", words_)), below)
    elif kind == "site":
        body = site(page, drawn, words_, below)
    elif kind == "card":
        body = [el("main.middle", el("section.card.stack", drawn, words_), below), footer(page)]
    elif kind == "plain":
        body = [el("main.page.narrow.stack", brand(page), words_, below), footer(page)]
    else:
        body = [header(page), el("main.middle", drawn, words_, below), footer(page)]
    return finished(page, page.say("not_found"), body, STYLES)


def _words(page: Page) -> list[Content]:
    p = page.params
    search = el(
        "form.row",
        {"role": "search", "style": "width:100%;max-width:440px"},
        el("input.input", {"type": "search", "aria-label": page.say("search"), "placeholder": page.say("search")}),
        button(page.say("search"), "search"),
    )
    states = el(
        "ul.row.wrap.small",
        [
            el("li.badge.badge-ok", page.say("shop")),
            el("li.badge.badge-bad", page.say("search")),
            el("li.badge.badge-warn", page.say("account")),
        ],
    )
    return [
        el("p.code#code@code", p["code"]) if page.has("number") else icon("bolt", 64),
        el("h1.title#what@title", page.say("not_found" if p["code"] in ("404", "403") else "server_error")),
        el("p.muted.plain-text#text@text", p["text"]) if page.has("text") else None,
        states if page.has("status") else None,
        search if page.has("search") else None,
        el(
            "div.row.wrap",
            button(page.say("go_home"), "home"),
            button(page.say("try_again"), "again", "ghost") if page.has("second") else None,
        ),
        el("p.mono#request@request number", f"ID {p['request']}") if page.has("request") else None,
    ]


def _ways(page: Page) -> Node:
    icons, keys = ("home", "search", "mail"), ("home", "search", "contact")
    cards = [
        el(
            "article.card.way",
            icon(icons[k], 22),
            el(
                "div.grow",
                el(f"h2.strong#way-{k}@heading", page.say(key)),
                el("p.small.muted", page.params["hints"][k]),
            ),
        )
        for k, key in enumerate(keys)
    ]
    return el(f"section{page.cols(3)}", {"style": "width:100%;max-width:960px;text-align:start"}, cards)


def _links(page: Page) -> Node:
    return el("nav", el("ul.row.wrap", [el("li", el("a.link", {"href": "#"}, text)) for text in page.params["links"]]))


def _news(page: Page) -> Node:
    cards = [el("a.card.strong", {"href": "#"}, text) for text in page.params["news"]]
    return el("section.stack", el("h2.subheading#news@heading", page.say("popular")), el(f"div{page.cols(3)}", cards))


def _form(page: Page) -> Node:
    return el(
        "form.card.stack",
        {"style": "width:100%;max-width:440px;text-align:start"},
        field(page.say("email"), "email", "email"),
        area(page.say("message"), "message", 2),
        button(page.say("send"), "send"),
    )
