"""Single messages: who wrote, to whom, the text, what is attached, earlier ones, an answer being written."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock, date
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    icon_button,
)

STYLES = {
    **CHROME,
    "file": "display:flex;align-items:center;gap:$s2;border:1px solid $line;border-radius:$rs;"
    "padding:$s2 $s3;background:$surface",
    "earlier": "border-inline-start:3px solid $line;padding-inline-start:$s4;color:$muted",
    "sheet": "display:flex;flex-direction:column;gap:$s3;line-height:1.65",
    "facts": "display:grid;grid-template-columns:auto minmax(0,1fr);gap:$s1 $s3;font-size:$f1",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    has = {
        "facts": 0.6,
        "face": 0.6,
        "files": 0.6,
        "earlier": 0.4,
        "answer": 0.5,
        "tools": 0.8,
        "tags": 0.5,
        "list": 0.5,
        "card": 0.6,
        "nav": 0.5,
    }
    return view, base | {
        "subject": draws.pick(lists["mails"]),
        "people": draws.some(lists["people"], 3),
        "text": draws.some(lists["sentences"], 9),
        "files": draws.some(lists["songs"], 2),
        "points": draws.some(lists["tasks"], 3),
        "day": [draws.integer(1, 29), draws.integer(1, 13), 2026],
        "at": draws.integer(400, 1300),
        "tags": draws.some(lists["topics"], 2),
        "kind": draws.pick(("app", "site", "bare")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    text = params["text"]
    letter = el(
        "article.sheet.card" if page.has("card") else "article.sheet",
        el("h1.title#subject@subject", params["subject"]),
        el("ul.row", [el("li.badge", tag) for tag in params["tags"]]) if page.has("tags") else None,
        _facts(page),
        el("p", f"{text[0]} {text[1]}"),
        el(
            "ul",
            {"style": "list-style:disc;padding-inline-start:20px"},
            [el("li", point) for point in params["points"]],
        )
        if page.has("list")
        else None,
        el("p", f"{text[2]} {text[3]} {text[4]}"),
        el("p#sign@signature", params["people"][0]),
        _files(page) if page.has("files") else None,
    )
    earlier = el("blockquote.earlier.stack", el("p.small", params["people"][1]), el("p", text[5]), el("p", text[6]))
    tools = el(
        "div.row.wrap",
        [
            icon_button(name, page.say(key))
            for name, key in (
                ("trash", "delete"),
                ("folder", "folders"),
                ("star", "starred"),
                ("download", "download"),
                ("more", "more"),
            )
        ],
    )
    buttons = el("div.row.wrap", button(page.say("reply"), "reply"), button(page.say("share"), "forward", "ghost"))
    matter = [
        tools if page.has("tools") else None,
        letter,
        earlier if page.has("earlier") else None,
        _answer(page) if page.has("answer") else buttons,
    ]
    kind = params["kind"]
    if kind == "app":
        body: Content = app(page, ("inbox", "sent", "drafts", "spam", "trash"), 0, matter)
    else:
        body = site(page, matter, narrow=True) if kind == "site" else el("main.page.narrow.stack", matter)
    return finished(page, params["subject"], body, STYLES)


def _facts(page: Page) -> Node:
    p = page.params
    when = f"{date(page.lang, *p['day'])}, {clock(p['at'])}"
    if page.has("facts"):
        pairs = (("from", p["people"][0]), ("to", p["people"][1]), ("date", when))
        return el("dl.facts", [[el("dt.muted", page.say(key)), el(f"dd#{key}@{key}", text)] for key, text in pairs])
    return el(
        "div.row",
        face(p["people"][0]) if page.has("face") else None,
        el("div", el("p.strong#from@sender", p["people"][0]), el("time.small.muted", when)),
    )


def _files(page: Page) -> Node:
    items = [
        el(
            "li.file",
            icon("file"),
            el(f"span#file-{k}@attachment", f"{name}.pdf"),
            el("span.small.muted", f"{120 + 310 * k} KB"),
        )
        for k, name in enumerate(page.params["files"])
    ]
    return el("section.stack", el("h2.strong", page.say("attachments")), el("ul.row.wrap", items))


def _answer(page: Page) -> Node:
    box = {"name": "answer", "rows": "4", "aria-label": page.say("reply")}
    return el(
        "form.card.stack",
        el("p.small.muted", f"{page.say('to')}: {page.params['people'][0]}"),
        el("textarea.input", box, page.params["text"][7]),
        el("div.row", button(page.say("send"), "send"), button(page.say("cancel"), "cancel", "ghost")),
    )
