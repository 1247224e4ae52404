"""Inboxes: folders, a list of messages read and unread, and beside it perhaps the one that is open."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    icon_button,
    table,
    tabs,
)

STYLES = {
    **CHROME,
    "mail": "display:grid;grid-template-columns:24px minmax(0,1fr) auto;gap:$s3;padding:$s3;"
    "border-bottom:1px solid $line;align-items:start",
    "mail-new": "font-weight:700;background:$soft",
    "mail-line": "overflow:hidden;text-overflow:ellipsis;white-space:nowrap",
    "split": "display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:$s4;align-items:start",
    "box": "background:$surface;border:1px solid $line;border-radius:$r;overflow:hidden",
    "count": "margin-inline-start:auto;font-size:$f0",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    mails = [
        {
            "who": draws.pick(lists["people"]),
            "subject": s,
            "text": draws.pick(lists["sentences"]),
            "at": draws.integer(400, 1300),
            "new": draws.chance(0.35),
            "clip": draws.chance(0.2),
        }
        for s in draws.some(lists["mails"], draws.integer(6, 11))
    ]
    has = {"ticks": 0.5, "faces": 0.4, "search": 0.6, "tabs": 0.4, "text": 0.5, "pager": 0.4, "tools": 0.5, "tags": 0.3}
    return view, base | {
        "mails": mails,
        "kind": draws.pick(("list", "split", "table")),
        "body": draws.some(lists["sentences"], 4),
        "tag": draws.pick(lists["topics"]),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    keys = ("inbox", "starred", "sent", "drafts", "spam", "trash")
    search = el(
        "input.input",
        {"type": "search", "name": "q", "placeholder": page.say("search"), "aria-label": page.say("search")},
    )
    head = el(
        "div.row.between.wrap",
        el("h1.heading#folder@folder", page.say("inbox")),
        button(page.say("compose"), "compose"),
    )
    tools = el(
        "div.row.wrap",
        [
            icon_button(name, page.say(key))
            for name, key in (("trash", "delete"), ("mail", "reply"), ("folder", "folders"))
        ],
    )
    kind = params["kind"]
    if kind == "table" and page.wide:
        rows = [
            [
                el("input.tick", {"type": "checkbox", "aria-label": m["subject"]}),
                m["who"],
                el("span.strong", m["subject"]) if m["new"] else m["subject"],
                clock(m["at"]),
            ]
            for m in params["mails"]
        ]
        mails: Node = el(
            "div.box",
            table(["", page.say("from"), page.say("subject"), page.say("time")], rows, numeric=(3,), key="mails"),
        )
    else:
        mails = el("div.box", el("ul", [_mail(page, k, m) for k, m in enumerate(params["mails"])]))
    body: Content = mails
    if kind == "split" and page.wide:
        body = el("div.split", mails, _open(page))
    matter = [
        head,
        search if page.has("search") else None,
        tabs([page.say(key) for key in ("all", "new", "starred")], 0) if page.has("tabs") else None,
        tools if page.has("tools") else None,
        body,
        el("p.small.muted#range@range", f"1–{len(params['mails'])} / 128") if page.has("pager") else None,
    ]
    return finished(page, page.say("inbox"), app(page, keys, 0, matter), STYLES)


def _mail(page: Page, place: int, mail: Mapping[str, Any]) -> Node:
    first = icon("star", 16)
    if page.has("ticks"):
        first = el("input.tick", {"type": "checkbox", "aria-label": mail["subject"]})
    elif page.has("faces"):
        first = icon("user", 20)
    end = el(
        "div.stack.end.small",
        el("time.muted", clock(mail["at"])),
        el("span", icon("file", 14, page.say("attachments"))) if mail["clip"] else None,
    )
    middle = el(
        "div",
        el("p.mail-line", mail["who"]),
        el(f"p#mail-{place}@subject", mail["subject"]),
        el("p.small.muted.mail-line", {"style": "white-space:normal"}, mail["text"])
        if page.has("text") and page.params["kind"] != "split"
        else None,
        el("span.badge", page.params["tag"]) if page.has("tags") and place % 3 == 0 else None,
    )
    return el("li.mail.mail-new" if mail["new"] else "li.mail", first, middle, end)


def _open(page: Page) -> Node:
    mail = page.params["mails"][0]
    return el(
        "article.card.stack",
        el("h2.heading#open@open subject", mail["subject"]),
        el(
            "div.row", face(mail["who"]), el("div", el("p.strong", mail["who"]), el("p.small.muted", clock(mail["at"])))
        ),
        [el("p", text) for text in page.params["body"]],
        el("div.row.wrap", button(page.say("reply"), "reply"), button(page.say("delete"), "delete", "ghost")),
    )
