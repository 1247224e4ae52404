"""Chats: bubbles of two sides, names and times, a list of talks beside, a field to write in."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    icon_button,
)

STYLES = {
    **CHROME,
    "chat-frame": "display:grid;grid-template-columns:250px minmax(0,1fr);min-height:100vh",
    "talks": "background:$raised;border-inline-end:1px solid $line;padding:$s3;display:flex;"
    "flex-direction:column;gap:$s2",
    "talk": "display:flex;gap:$s2;align-items:center;padding:$s2;border-radius:$rs;min-width:0",
    "talk-on": "background:$surface",
    "room": "display:flex;flex-direction:column;min-width:0;min-height:100vh",
    "room-head": "display:flex;align-items:center;gap:$s3;padding:$s3 $s4;border-bottom:1px solid $line;"
    "background:$surface",
    "lines": "flex:1;display:flex;flex-direction:column;gap:$s2;padding:$s4",
    "line": "display:flex;gap:$s2;align-items:flex-end;max-width:80%",
    "mine": "align-self:flex-end;flex-direction:row-reverse",
    "bubble": "background:$surface;border:1px solid $line;border-radius:$r;padding:$s2 $s3;min-width:0",
    "bubble-mine": "background:$accent;color:$on_accent;border-color:$accent",
    "when": "font-size:12px;color:$muted",
    "day": "align-self:center",
    "write": "display:flex;gap:$s2;padding:$s3 $s4;border-top:1px solid $line;background:$surface;align-items:center",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    start = draws.integer(0, 4)
    lines = [
        {"text": t, "mine": (k + start) % 2 == 0 if draws.chance(0.85) else k % 2 == 0}
        for k, t in enumerate(bank.lists["chat"][start:])
    ]
    has = {
        "faces": 0.5,
        "times": 0.6,
        "names": 0.3,
        "day": 0.5,
        "picture": 0.3,
        "tools": 0.5,
        "typing": 0.3,
        "unread": 0.4,
        "attach": 0.5,
        "quick": 0.3,
    }
    return view, base | {
        "lines": lines[: draws.integer(5, 9)],
        "people": draws.some(bank.lists["people"], 6),
        "subjects": draws.some(bank.lists["chat"], 6),
        "at": draws.integer(480, 1200),
        "picture": sample_picture(draws),
        "kind": draws.pick(("frame", "room", "card")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    room = el("main.room", _head(page), _lines(page), _quick(page) if page.has("quick") else None, _write(page))
    kind = params["kind"]
    if kind == "frame" and page.wide:
        body: Content = el("div.chat-frame", _talks(page), room)
    elif kind == "card" and page.wide:
        body = site(
            page,
            el(
                "div.card",
                {"style": "max-width:640px;margin:0 auto;padding:0"},
                _head(page),
                _lines(page),
                _write(page),
            ),
        )
    else:
        body = room
    return finished(page, params["people"][0], body, STYLES)


def _head(page: Page) -> Node:
    tools = (
        el("div.push.row", icon_button("phone", page.say("phone")), icon_button("more", page.say("more")))
        if page.has("tools")
        else None
    )
    state = el("p.when", page.say("active"))
    return el(
        "header.room-head",
        face(page.params["people"][0]),
        el("div", el("h1.strong#partner@partner", page.params["people"][0]), state),
        tools,
    )


def _lines(page: Page) -> Node:
    p = page.params
    rows: list[Content] = [el("p.badge.day", page.say("today")) if page.has("day") else None]
    for place, said in enumerate(p["lines"]):
        mine = said["mine"]
        bubble = el(
            "div.bubble.bubble-mine" if mine else "div.bubble",
            el("p.small.strong", p["people"][0]) if page.has("names") and not mine else None,
            el(f"p#line-{place}@message", said["text"]),
        )
        when = el("time.when", clock(p["at"] + 2 * place)) if page.has("times") else None
        rows.append(
            el(
                "div.line.mine" if mine else "div.line",
                face(p["people"][0]) if page.has("faces") and not mine else None,
                bubble,
                when,
            )
        )
        if place == 2 and page.has("picture"):
            rows.append(
                el(
                    "div.line",
                    el(
                        "div.bubble", {"style": "width:220px"}, picture(p["picture"], page.tokens, page.say("pictures"))
                    ),
                )
            )
    if page.has("typing"):
        rows.append(el("p.when", f"{p['people'][0]} …"))
    return el("section.lines", {"role": "log"}, rows)


def _quick(page: Page) -> Node:
    return el(
        "div.row.wrap",
        {"style": "padding:0 16px 8px"},
        [el("button.pill", {"type": "button"}, page.say(key)) for key in ("yes", "no", "today")],
    )


def _write(page: Page) -> Node:
    attrs = {"type": "text", "name": "text", "placeholder": page.say("message"), "aria-label": page.say("message")}
    return el(
        "form.write",
        icon_button("plus", page.say("attachments")) if page.has("attach") else None,
        el("input.input", attrs),
        button(page.say("send"), "send"),
    )


def _talks(page: Page) -> Node:
    rows = [
        el(
            "li",
            el(
                "a.talk.talk-on" if k == 0 else "a.talk",
                {"href": "#"},
                face(name),
                el("div.grow", el("p.strong", name), el("p.small.muted", page.params["subjects"][k])),
                el("span.badge", str(k)) if page.has("unread") and k in (2, 3) else None,
            ),
        )
        for k, name in enumerate(page.params["people"])
    ]
    return el("aside.talks", el("h2.heading#talks@heading", page.say("inbox")), el("ul.list", rows))
