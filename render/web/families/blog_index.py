"""Blog indexes: posts as a list, as cards or with one on top, filters, a side column, numbered pages."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    pager,
    pills,
)

STYLES = {
    **CHROME,
    "post": "display:flex;flex-direction:column;gap:$s2;min-width:0",
    "post-row": "display:grid;grid-template-columns:180px minmax(0,1fr);gap:$s4;align-items:start",
    "post-line": "border-bottom:1px solid $line;padding-bottom:$s4",
    "meta": "color:$muted;font-size:$f0;display:flex;gap:$s3;flex-wrap:wrap",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    posts = [
        {
            "title": title,
            "text": draws.pick(lists["sentences"]),
            "who": draws.pick(lists["people"]),
            "day": [draws.integer(1, 29), draws.integer(1, 13), 2026],
            "topic": draws.pick(lists["topics"]),
            "picture": sample_picture(draws),
        }
        for title in draws.some(lists["headlines"], draws.integer(4, 8))
    ]
    has = {
        "pills": 0.5,
        "aside": 0.5,
        "pager": 0.5,
        "excerpt": 0.7,
        "meta": 0.8,
        "intro": 0.4,
        "picture": 0.6,
        "topic": 0.4,
    }
    return view, base | {
        "posts": posts,
        "kind": draws.pick(("list", "cards", "lead")),
        "slogan": draws.pick(lists["slogans"]),
        "tags": draws.some(lists["topics"], 6),
        "pages": draws.integer(3, 7),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    posts = [_post(page, k, post) for k, post in enumerate(params["posts"])]
    kind = params["kind"]
    if kind == "cards":
        matter: Content = el(f"div{page.cols(2 if page.has('aside') else 3)}", posts)
    elif kind == "lead":
        matter = el("div.stack", el("div.panel", posts[0]), el(f"div{page.cols(2)}", posts[1:]))
    else:
        matter = el("div.stack", posts)
    top = el(
        "header.stack",
        el("h1.title#blog@title", page.say("blog")),
        el("p.muted#slogan@introduction", params["slogan"]) if page.has("intro") else None,
    )
    main = el("div.stack", matter, pager(params["pages"], 1) if page.has("pager") else None)
    aside = _aside(page) if page.has("aside") else None
    body = el("div.main-side" if page.wide else "div.stack", main, aside) if aside else main
    filters = pills([page.say("all"), *params["tags"][:5]], 0) if page.has("pills") else None
    return finished(page, page.say("blog"), site(page, top, filters, body), STYLES)


def _post(page: Page, place: int, post: Mapping[str, Any]) -> Node:
    listed = page.params["kind"] == "list"
    text = el(
        "div.post",
        el("p.plain.small.strong", post["topic"]) if page.has("topic") else None,
        el(f"h2.subheading#post-{place}@post title", el("a", {"href": "#"}, post["title"])),
        el("p", post["text"]) if page.has("excerpt") else None,
        el("p.meta", el("span", post["who"]), el("time", date(page.lang, *post["day"]))) if page.has("meta") else None,
    )
    drawn = picture(post["picture"], page.tokens, post["topic"], 1.8) if page.has("picture") else None
    if drawn and listed and page.wide:
        return el("article.post-row.post-line", el("a", {"href": "#"}, drawn), text)
    return el("article.post.post-line" if listed else "article.post.card", drawn, text)


def _aside(page: Page) -> Node:
    tags = [el("li.badge", el("a", {"href": "#"}, text)) for text in page.params["tags"]]
    box = el("section.card.stack", el("h2.subheading", page.say("tags")), el("ul.row.wrap", tags))
    mail = {"type": "email", "name": "email", "placeholder": page.say("email"), "aria-label": page.say("email")}
    form = el(
        "form.card.stack",
        el("h2.subheading", page.say("newsletter")),
        el("input.input", mail),
        button(page.say("subscribe"), "subscribe"),
    )
    return el("aside.stack", box, form)
