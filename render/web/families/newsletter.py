"""Newsletters as they come by mail: a column with a head, a lead story, short ones, offers, dates, a way to leave."""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, brand
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date, money
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, product_picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, face

STYLES = {
    **CHROME,
    "mail": "max-width:640px;width:100%;margin:0 auto;border-collapse:collapse;background:$surface;color:$text",
    "mail-wide": "max-width:860px",
    "band": "padding:$s4 $s5;text-align:start",
    "band-head": "background:$ink;color:$on_ink",
    "band-soft": "background:$soft;color:$text",
    "band-line": "border-bottom:1px solid $line",
    "two": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s4;align-items:start",
    "three": "display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:$s3;align-items:start",
    "brief": "display:grid;grid-template-columns:120px minmax(0,1fr);gap:$s3;align-items:start",
    "pre": "text-align:center;font-size:$f0;color:$muted;padding:$s2",
    "date-row": "display:grid;grid-template-columns:110px minmax(0,1fr);gap:$s3;padding:$s1 0",
    "last": "text-align:center;font-size:$f0;color:$muted;display:flex;flex-direction:column;gap:$s2",
    "last-links": "display:flex;gap:$s3;justify-content:center;flex-wrap:wrap",
}


Bands = Sequence[tuple[str, Sequence[Content]]]


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.6)
    lists = bank.lists
    goods = draws.some(lists["products"], 3)
    order = draws.shuffled(("briefs", "pair", "offers", "dates", "quote", "list"))
    return view, base | {
        "no": draws.integer(3, 240),
        "day": [draws.integer(1, 29), draws.integer(1, 13), draws.integer(2022, 2027)],
        "who": draws.pick(lists["people"]),
        "heads": draws.some(lists["headlines"], 9),
        "text": draws.some(lists["sentences"], 12),
        "goods": [
            [name, draws.integer(9, 120) * 100, product_picture(draws, lists["products"], name)] for name in goods
        ],
        "events": [[draws.integer(1, 29), text] for text in draws.some(lists["events"], 3)],
        "topics": draws.some(lists["topics"], 5),
        "praise": draws.pick(lists["praise"]),
        "pictures": [sample_picture(draws) for _ in range(6)],
        "order": order[: draws.integer(2, 6)],
        "made": draws.pick(("table", "table", "blocks")),
        "has": flags(
            draws,
            {
                "pre": 0.5,
                "hello": 0.5,
                "picture": 0.6,
                "more": 0.6,
                "wide": 0.35,
                "line": 0.6,
                "contents": 0.35,
                "nav": 0.6,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    make = {
        "briefs": _briefs,
        "pair": _pair,
        "offers": _offers,
        "dates": _dates,
        "quote": _quote,
        "list": _list,
    }
    bands: list[tuple[str, Sequence[Content]]] = [("band-head", _head(page)), ("", _lead(page))]
    bands += [("band-soft", [_contents(page)])] if page.has("contents") else []
    bands += [("band-soft" if name == "quote" else "", [make[name](page)]) for name in params["order"]]
    bands += [("", [_last(page)])]
    pre = el("p.pre", el("a.link#online@link", {"href": "#"}, page.say("read_more"))) if page.has("pre") else None
    title = f"{params['chrome']['brand']} · {page.say('newsletter')}"
    return finished(page, title, [pre, _mail(page, bands)], STYLES)


def _mail(page: Page, bands: Bands) -> Node:
    """The bands in a table, as mail programs want them, or in blocks."""
    line = ".band-line" if page.has("line") else ""
    wide = ".mail-wide" if page.has("wide") else ""
    names = [f"band{line}{'.' + tone if tone else ''}" for tone, _ in bands]
    if page.params["made"] == "blocks":
        return el(
            f"main.mail{wide}",
            [el(f"section.{name}", content) for name, (_, content) in zip(names, bands, strict=True)],
        )
    rows = [el("tr", el(f"td.{name}", content)) for name, (_, content) in zip(names, bands, strict=True)]
    return el(f"table.mail{wide}", {"role": "presentation"}, el("tbody", rows))


def _head(page: Page) -> list[Content]:
    p = page.params
    return [
        el("div.row.between", brand(page), el("span.small#issue@issue", f"№ {p['no']}")),
        el("p.small#date@date", date(page.lang, *p["day"])),
        el("nav.last-links.small", [el("a", {"href": "#"}, text) for text in p["topics"]]) if page.has("nav") else None,
    ]


def _lead(page: Page) -> list[Content]:
    p = page.params
    hello = el("p.row", face(p["who"]), el("span#editor@editor", p["who"])) if page.has("hello") else None
    return [
        el(
            "div.stack",
            hello,
            picture(p["pictures"][0], page.tokens, p["heads"][0], 3.0) if page.has("picture") else None,
            el("h1.title#headline@headline", p["heads"][0]),
            el("p#lead@introduction", f"{p['text'][0]} {p['text'][1]}"),
            el("p", button(page.say("read_more"), "read")),
        )
    ]


def _contents(page: Page) -> Node:
    items = [el("li", el("a.link", {"href": "#"}, text)) for text in page.params["heads"][1:5]]
    return el("nav.stack", el("h2.strong#contents@heading", page.say("overview")), el("ul.list.small", items))


def _more(page: Page) -> Node | None:
    return el("p.small", el("a.link", {"href": "#"}, page.say("read_more"))) if page.has("more") else None


def _briefs(page: Page) -> Node:
    p = page.params
    rows = [
        el(
            "article.brief",
            picture(p["pictures"][k + 1], page.tokens, "", 1.3),
            el(
                "div",
                el(f"h3.strong#brief-{k}@headline", p["heads"][k + 1]),
                el("p.small", p["text"][k + 2]),
                _more(page),
            ),
        )
        for k in range(3)
    ]
    return el("div.stack", el("h2.heading#latest@heading", page.say("latest")), rows)


def _pair(page: Page) -> Node:
    p = page.params
    cells = [
        el(
            "article.stack",
            picture(p["pictures"][k + 4], page.tokens, "", 1.8) if page.has("picture") else None,
            el(f"h3.subheading#pair-{k}@headline", p["heads"][k + 4]),
            el("p.small", p["text"][k + 5]),
            _more(page),
        )
        for k in range(2)
    ]
    return el("div.two", cells)


def _offers(page: Page) -> Node:
    cells = [
        el(
            "article.stack.tight",
            picture(data, page.tokens, name, 1.2),
            el(f"h3.strong.small#offer-{k}@product", name),
            el("p.plain.strong", money(page.lang, price)),
        )
        for k, (name, price, data) in enumerate(page.params["goods"])
    ]
    return el("div.stack", el("h2.heading#shop@heading", page.say("shop")), el("div.three", cells))


def _dates(page: Page) -> Node:
    p = page.params
    rows = [
        el("li.date-row", el("time.plain.strong", date(page.lang, day, p["day"][1])), el(f"span#event-{k}@event", text))
        for k, (day, text) in enumerate(sorted(p["events"]))
    ]
    return el("div.stack", el("h2.heading#dates@heading", page.say("calendar")), el("ul", rows))


def _quote(page: Page) -> Node:
    p = page.params
    return el(
        "figure.stack",
        el("blockquote.subheading#quote@quotation", f"“{p['praise']}”"),
        el("figcaption.small", p["who"]),
    )


def _list(page: Page) -> Node:
    rows = [el("li", el("a.link", {"href": "#"}, text)) for text in page.params["heads"][5:9]]
    return el(
        "div.stack",
        el("h2.heading#popular@heading", page.say("popular")),
        el("ol", {"style": "list-style:decimal;padding-inline-start:22px"}, rows),
    )


def _last(page: Page) -> Node:
    chrome = page.params["chrome"]
    links = [el("a.link", {"href": "#"}, page.say(key)) for key in ("privacy", "contact", "settings", "cancel")]
    return el(
        "div.last", el("p", f"© {chrome['year']} {chrome['brand']} · {page.say('rights')}"), el("nav.last-links", links)
    )
