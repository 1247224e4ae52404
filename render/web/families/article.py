"""Articles: a headline, who wrote it, a picture, paragraphs, a quotation, related stories beside or below."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, face, field

STYLES = {
    **CHROME,
    "columns": "display:grid;grid-template-columns:minmax(0,1fr) 280px;gap:$s6;align-items:start",
    "prose": "display:flex;flex-direction:column;gap:$s3;font-size:$f2;line-height:1.7",
    "lead": "font-size:$f3;line-height:1.55;color:$muted",
    "kicker": "color:$accent_text;font-weight:700;font-size:$f1",
    "quote": "border-inline-start:4px solid $accent;padding:$s2 $s4;font-size:$f3;background:$soft",
    "byline": "display:flex;align-items:center;gap:$s3;flex-wrap:wrap;color:$muted;font-size:$f1",
    "caption": "color:$muted;font-size:$f0;padding-top:$s1",
    "side-box": "display:flex;flex-direction:column;gap:$s3",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    heads = draws.some(lists["headlines"], 5)
    return view, base | {
        "title": heads[0],
        "related": heads[1:],
        "topic": draws.pick(lists["topics"]),
        "author": draws.pick(lists["people"]),
        "day": [draws.integer(1, 29), draws.integer(1, 13), draws.integer(2018, 2027)],
        "minutes": draws.integer(2, 15),
        "popular": draws.some(lists["headlines"], 5),
        "sentences": draws.shuffled(lists["sentences"]),
        "picture": sample_picture(draws),
        "has": {
            key: draws.chance(p)
            for key, p in {
                "kicker": 0.6,
                "lead": 0.6,
                "face": 0.4,
                "figure": 0.75,
                "caption": 0.5,
                "quote": 0.5,
                "subheads": 0.5,
                "tags": 0.5,
                "share": 0.5,
                "aside": 0.75,
                "popular": 0.6,
                "letter": 0.4,
                "drop": 0.3,
            }.items()
        },
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    has = params["has"]
    matter = el("article.stack", _head(page), _figure(page) if has["figure"] else None, _prose(page), _end(page))
    related = _related(page) if has["aside"] else None
    body: Content = [matter, related]
    if page.wide and related:
        body = el("div.columns", matter, related)
    return finished(page, params["title"], site(page, body, narrow=not related, title=params["topic"]), STYLES)


def _head(page: Page) -> Node:
    p, has = page.params, page.params["has"]
    day = date(page.lang, *p["day"])
    byline = el(
        "div.byline",
        face(p["author"]) if has["face"] else None,
        el("span.strong#author@author", p["author"]),
        el("time", {"datetime": f"{p['day'][2]}-{p['day'][1]:02d}-{p['day'][0]:02d}"}, day),
        el("span", f"{p['minutes']} {page.say('minutes')}"),
    )
    return el(
        "header.stack",
        el("p.kicker#topic@topic", p["topic"]) if has["kicker"] else None,
        el("h1.title#headline@headline", p["title"]),
        el("p.lead#lead@introduction", p["sentences"][0]) if has["lead"] else None,
        byline,
        _share(page) if has["share"] else None,
    )


def _figure(page: Page) -> Node:
    p = page.params
    drawn = picture(p["picture"], page.tokens, p["topic"], 2.2 if page.wide else 1.6)
    caption = el("figcaption.caption#caption@caption", p["sentences"][1]) if p["has"]["caption"] else None
    return el("figure", drawn, caption)


def _prose(page: Page) -> Node:
    p, has = page.params, page.params["has"]
    lines = p["sentences"][2:]
    blocks: list[Content] = []
    for place in range(5):
        if place in (2, 4) and has["subheads"]:
            blocks.append(el(f"h2.heading#part-{place}@heading", p["related"][place // 2]))
        blocks.append(el("p", " ".join(lines[place * 4 : place * 4 + 4])))
        if place == 1 and has["quote"]:
            blocks.append(el("blockquote.quote#quotation@quotation", lines[-1]))
    return el("div.prose", blocks)


def _end(page: Page) -> list[Content]:
    has = page.params["has"]
    tags = page.words.lists["topics"][:4]
    return [
        el("ul.row.wrap", [el("li.badge", text) for text in tags]) if has["tags"] else None,
    ]


def _share(page: Page) -> Node:
    keys = (("share", "send"), ("like", "heart"), ("save", "book"))
    return el(
        "div.row.wrap",
        [
            el("button.btn.ghost.small", {"type": "button"}, icon(name, 16), el("span", page.say(key)))
            for key, name in keys
        ],
    )


def _related(page: Page) -> Node:
    items = [
        el(f"li#related-{k}@related story", el("a.link", {"href": "#"}, text))
        for k, text in enumerate(page.params["related"])
    ]
    has = page.params["has"]
    return el(
        "aside.side-box.card",
        el("h2.subheading", page.say("related")),
        el("ul.list", items),
        _popular(page) if has["popular"] else None,
        _letter(page) if has["letter"] else None,
    )


def _popular(page: Page) -> Node:
    rows = [
        el("li.row.align-top", el("span.plain.strong", str(k + 1)), el("a.grow", {"href": "#"}, text))
        for k, text in enumerate(page.params["popular"])
    ]
    return el("section.side-box", el("h2.subheading#popular@heading", page.say("popular")), el("ol.list", rows))


def _letter(page: Page) -> Node:
    return el(
        "form.side-box",
        el("h2.subheading", page.say("newsletter")),
        field(page.say("email"), "mail", "email"),
        button(page.say("subscribe"), "subscribe", "block"),
    )
