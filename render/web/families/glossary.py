"""Glossaries: terms and what they mean, letters to jump to, groups, cards or a table, a search field."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, el
from gristmill.render.web.widgets import (
    pager,
    table,
    tick,
)

STYLES = {
    **CHROME,
    "letters": "display:flex;flex-wrap:wrap;gap:$s1",
    "letter": "min-width:32px;text-align:center;padding:$s1;border:1px solid $line;border-radius:$rs;"
    "background:$surface;font-weight:600",
    "letter-on": "background:$accent;color:$on_accent;border-color:$accent",
    "term": "display:grid;grid-template-columns:180px minmax(0,1fr);gap:$s4;padding:$s3 0;"
    "border-bottom:1px solid $line",
    "initial": "font-size:$f5;font-weight:700;color:$accent_text;line-height:1.2",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    terms = sorted(draws.some(bank.lists["terms"], draws.integer(5, 10)))
    return view, base | {
        "terms": [text.split(" = ") for text in terms],
        "text": draws.pick(bank.lists["sentences"]),
        "topics": draws.some(bank.lists["topics"], 4),
        "on": draws.integer(0, 4),
        "kind": draws.pick(("list", "groups", "cards", "table", "columns")),
        "has": flags(
            draws,
            {
                "letters": 0.6,
                "search": 0.5,
                "lead": 0.5,
                "tags": 0.35,
                "see": 0.4,
                "side": 0.35,
                "count": 0.3,
                "marks": 0.3,
                "pager": 0.25,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    first = sorted({name[0].upper() for name, _ in params["terms"]})
    letters = el(
        "nav",
        {"aria-label": page.say("glossary")},
        el(
            "ul.letters",
            [
                el(
                    "li",
                    el(
                        "a.letter.letter-on" if k == params["on"] else "a.letter",
                        {"href": "#", "style": "display:block"},
                        text,
                    ),
                )
                for k, text in enumerate(first)
            ],
        ),
    )
    search = el("input.input", {"type": "search", "aria-label": page.say("search"), "placeholder": page.say("search")})
    head = el(
        "header.stack",
        el("h1.title#title@title", page.say("glossary")),
        el("p.muted#lead@introduction", params["text"]) if page.has("lead") else None,
        el("p.small.muted#count@count", str(len(params["terms"]) * 9)) if page.has("count") else None,
    )
    side = el(
        "aside.card.stack",
        el("h2.subheading#groups@heading", page.say("categories")),
        el("ul.list", [el("li", tick(text, f"group-{k}", k == 1)) for k, text in enumerate(params["topics"])]),
    )
    main = el(
        "div.stack", search if page.has("search") else None, _terms(page), pager(4, 1) if page.has("pager") else None
    )
    body = el("div.main-side" if page.wide else "div.stack", main, side) if page.has("side") else main
    return finished(
        page,
        page.say("glossary"),
        site(page, head, letters if page.has("letters") else None, body, title=page.say("glossary")),
        STYLES,
    )


def _extra(page: Page, place: int) -> list[Content]:
    return [
        el("p", el("span.badge", page.params["topics"][place % 4])) if page.has("tags") else None,
        el("p.small", el("a.link", {"href": "#"}, page.params["terms"][place - 1][0])) if page.has("see") else None,
    ]


def _terms(page: Page) -> Content:
    terms, kind = page.params["terms"], page.params["kind"]
    if kind == "table":
        return table(
            [page.say("title"), page.say("details")],
            [[el(f"strong#term-{k}@term", name), meaning] for k, (name, meaning) in enumerate(terms)],
            key="terms",
        )
    if kind in ("cards", "columns"):
        tag = "article.card.stack" if kind == "cards" else "section"
        mark = icon("book", 20) if page.has("marks") else None
        return el(
            f"div{page.cols(3 if kind == 'cards' else 2)}",
            [
                el(tag, mark, el(f"h2.subheading#term-{k}@term", name), el("p", meaning), _extra(page, k))
                for k, (name, meaning) in enumerate(terms)
            ],
        )
    if kind == "groups":
        return [
            el(
                "section.stack",
                el("h2.initial", name[0].upper()),
                el(
                    "dl",
                    el(f"dt.strong#term-{k}@term", name),
                    el(
                        "dd",
                        meaning,
                    ),
                    el("dd", _extra(page, k)) if any(_extra(page, k)) else None,
                ),
            )
            for k, (name, meaning) in enumerate(terms)
        ]
    names = "div.term" if page.wide else "div.stack"
    return el(
        "dl",
        [
            el(names, el(f"dt.strong#term-{k}@term", name), el("dd.stack", el("p", meaning), _extra(page, k)))
            for k, (name, meaning) in enumerate(terms)
        ],
    )
