"""Forum threads: posts with their writers, votes, quotations, tags, an answer marked as right, a field to reply."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    icon_button,
    pager,
)

STYLES = {
    **CHROME,
    "post": "display:grid;grid-template-columns:130px minmax(0,1fr);border:1px solid $line;"
    "border-radius:$r;background:$surface;overflow:hidden",
    "post-side": "background:$raised;padding:$s3;display:flex;flex-direction:column;gap:$s1;"
    "align-items:center;text-align:center;min-width:0",
    "post-main": "padding:$s3 $s4;display:flex;flex-direction:column;gap:$s2;min-width:0",
    "vote": "display:flex;flex-direction:column;align-items:center;gap:$s1;width:44px;flex:none",
    "quoted": "border-inline-start:3px solid $line;padding-inline-start:$s3;color:$muted",
    "right": "border:2px solid $ok",
    "inner": "margin-inline-start:$s6",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    texts = [lists["posts"][0], *draws.some(lists["posts"][1:], draws.integer(3, 7))]
    first, month = draws.integer(1, 20), draws.integer(1, 13)
    posts = [
        {
            "text": t,
            "who": draws.pick(lists["people"]),
            "votes": draws.integer(0, 90),
            "day": [first + k + draws.integer(0, 2), month, 2025],
            "count": draws.integer(4, 4000),
            "deep": draws.chance(0.3),
        }
        for k, t in enumerate(texts)
    ]
    return view, base | {
        "posts": posts,
        "more": draws.some(lists["sentences"], 8),
        "tags": draws.some(lists["topics"], 3),
        "related": draws.some(lists["headlines"], 4),
        "right": draws.integer(1, 3),
        "kind": draws.pick(("board", "votes", "plain")),
        "has": flags(
            draws,
            {
                "tags": 0.5,
                "right": 0.5,
                "quote": 0.4,
                "reply": 0.6,
                "buttons": 0.5,
                "side": 0.35,
                "pager": 0.4,
                "counts": 0.5,
                "nested": 0.4,
                "crumbs": 0.3,
                "longer": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "header.stack",
        el("h1.title#thread@title", params["posts"][0]["text"]),
        el("ul.row.wrap", [el("li.badge", text) for text in params["tags"]]) if page.has("tags") else None,
        el(
            "p.small.muted.row.wrap",
            el("span#replies@count", f"{page.say('comments')}: {len(params['posts']) - 1}"),
            el("span", f"{page.say('visitors')}: 1204"),
        )
        if page.has("counts")
        else None,
    )
    posts = [_post(page, k, post) for k, post in enumerate(params["posts"])]
    form = el(
        "form.card.stack",
        el("label.label", {"for": "reply"}, page.say("reply")),
        el("textarea.input#reply", {"rows": "3", "name": "reply"}),
        el("div.row", button(page.say("send"), "send")),
    )
    related = el(
        "aside.card.stack",
        el("h2.subheading#related@heading", page.say("related")),
        el("ul.list", [el("li", el("a.link", {"href": "#"}, text)) for text in params["related"]]),
    )
    main = el("div.stack", posts, pager(4, 1) if page.has("pager") else None, form if page.has("reply") else None)
    body = el("div.main-side" if page.wide else "div.stack", main, related) if page.has("side") else main
    return finished(page, params["posts"][0]["text"], site(page, head, body, title=params["tags"][0]), STYLES)


def _words(page: Page, place: int, post: Mapping[str, Any]) -> list[Content]:
    quote = el("blockquote.quoted", page.params["posts"][0]["text"]) if page.has("quote") and place == 2 else None
    more = el("p", f"{page.params['more'][place]} {page.params['more'][place - 1]}") if page.has("longer") else None
    buttons = (
        el(
            "div.row.small",
            [el("button.btn.quiet", {"type": "button"}, page.say(key)) for key in ("reply", "like", "share")],
        )
        if page.has("buttons")
        else None
    )
    return [quote, el(f"p#post-{place}@post", post["text"]), more, buttons]


def _post(page: Page, place: int, post: Mapping[str, Any]) -> Node:
    right = page.has("right") and place == page.params["right"]
    deep = ".inner" if page.has("nested") and post["deep"] and place else ""
    mark = el("p.ok.row.strong", icon("check", 16), el("span", page.say("answer"))) if right else None
    when = date(page.lang, *post["day"])
    kind = page.params["kind"]
    tail = f"{'.right' if right else ''}{deep}"
    if kind == "board" and page.wide:
        side = el(
            "div.post-side",
            face(post["who"]),
            el("strong", post["who"]),
            el("span.small.muted", f"{page.say('posts')}: {post['count']}"),
        )
        return el(
            f"article.post{tail}",
            side,
            el("div.post-main", el("time.small.muted", when), mark, _words(page, place, post)),
        )
    head = el("header.row.wrap.small", el("strong", post["who"]), el("time.muted", when))
    if kind == "votes":
        vote = el(
            "div.vote",
            icon_button("up", page.say("vote")),
            el("strong", str(post["votes"])),
            icon_button("down", page.say("vote")),
        )
        return el(
            f"article.card.row.align-top{tail}", vote, el("div.stack.grow", head, mark, _words(page, place, post))
        )
    return el(f"article.card.stack{tail}", el("div.row", face(post["who"]), head), mark, _words(page, place, post))
