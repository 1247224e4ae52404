"""Profiles: a face, a name, figures, what the person says, posts or pictures, buttons."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import initials, number
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    meter,
    tabs,
)

STYLES = {
    **CHROME,
    "cover": "border-radius:$r;overflow:hidden",
    "big-face": "width:88px;height:88px;font-size:$f5",
    "who": "display:flex;gap:$s4;align-items:center;flex-wrap:wrap",
    "who-mid": "display:flex;flex-direction:column;align-items:center;text-align:center;gap:$s3",
    "figures": "display:flex;gap:$s5;flex-wrap:wrap",
    "grid": "display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:$s2",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    return view, base | {
        "name": draws.pick(lists["people"]),
        "city": draws.pick(lists["cities"]),
        "bio": draws.pick(lists["sentences"]),
        "figures": [draws.integer(10, 4000) for _ in range(2)],
        "posts": draws.some(lists["sentences"], 4),
        "topics": draws.some(lists["topics"], 5),
        "friends": draws.some(lists["people"], 4),
        "pictures": [sample_picture(draws) for _ in range(7)],
        "kind": draws.pick(("row", "middle", "side")),
        "tab": draws.integer(0, 3),
        "has": flags(
            draws,
            {
                "cover": 0.5,
                "figures": 0.8,
                "topics": 0.6,
                "friends": 0.5,
                "tabs": 0.6,
                "pictures": 0.5,
                "posts": 0.7,
                "facts": 0.5,
                "meter": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    cover = (
        el("div.cover", picture(params["pictures"][6], page.tokens, "", 9.0 if page.wide else 3.0))
        if page.has("cover")
        else None
    )
    posts, grid = (
        _posts(page),
        el("section.grid", [picture(data, page.tokens, page.say("pictures"), 1.2) for data in params["pictures"][:6]]),
    )
    matter = [
        tabs([page.say(key) for key in ("posts", "pictures", "about")], params["tab"]) if page.has("tabs") else None,
        posts if page.has("posts") or not page.has("pictures") else None,
        grid if page.has("pictures") else None,
        _friends(page) if page.has("friends") else None,
    ]
    if params["kind"] == "side" and page.wide:
        body: Content = el(
            "div.side-main",
            {"style": "grid-template-columns:290px minmax(0,1fr)"},
            el("aside.card", _who(page)),
            el("div.stack", cover, matter),
        )
    else:
        body = [cover, _who(page), matter]
    return finished(page, params["name"], site(page, body), STYLES)


def _who(page: Page) -> Node:
    p = page.params
    figures = [
        el("div", el(f"strong.subheading#{key}@figure", number(page.lang, value)), el("p.small.muted", page.say(key)))
        for key, value in zip(("posts", "followers"), p["figures"], strict=True)
    ]
    names = el(
        "div", el("h1.title#name@name", p["name"]), el("p.muted.row", icon("pin", 16), el("span#city@city", p["city"]))
    )
    facts = el(
        "dl.small.list",
        [
            el("div.row", el("dt.muted", page.say(key)), el("dd", text))
            for key, text in (("email", "mail@post.example"), ("languages", page.lang.upper()), ("city", p["city"]))
        ],
    )
    return el(
        "section.who-mid" if p["kind"] != "row" else "section.stack",
        el("div.who-mid" if p["kind"] != "row" else "div.who", el("span.avatar.big-face", initials(p["name"])), names),
        el("p#bio@description", p["bio"]),
        el("div.figures", figures) if page.has("figures") else None,
        el("ul.row.wrap", [el("li.badge", text) for text in p["topics"]]) if page.has("topics") else None,
        facts if page.has("facts") else None,
        el(
            "div.stack",
            {"style": "width:100%;max-width:320px"},
            el("span.small", page.say("profile")),
            meter(70, page.say("profile")),
        )
        if page.has("meter")
        else None,
        el("div.row.wrap", button(page.say("follow"), "follow"), button(page.say("message"), "message", "ghost")),
    )


def _posts(page: Page) -> Node:
    rows = [
        el(
            "article.card.stack",
            el(f"p#post-{k}@post", text),
            el(
                "p.row.small.muted",
                icon("heart", 16),
                el("span", str(3 + 7 * k)),
                icon("chat", 16),
                el("span", str(1 + k)),
            ),
        )
        for k, text in enumerate(page.params["posts"])
    ]
    return el("section.stack", rows)


def _friends(page: Page) -> Node:
    rows = [
        el("li.row", face(name), el("span.grow", name), el("button.btn.ghost", {"type": "button"}, page.say("follow")))
        for name in page.params["friends"]
    ]
    return el("section.card.stack", el("h2.subheading#friends@heading", page.say("members")), el("ul.list", rows))
