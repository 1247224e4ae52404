"""Comments under a story: nested answers, likes, sorting, a field with letters left, hidden ones."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    field,
)

STYLES = {
    **CHROME,
    "note": "display:flex;gap:$s3;align-items:flex-start",
    "note-text": "flex:1;min-width:0;display:flex;flex-direction:column;gap:$s1",
    "answers": "border-inline-start:2px solid $line;padding-inline-start:$s4;margin-inline-start:$s4;"
    "display:flex;flex-direction:column;gap:$s3",
    "bubble": "background:$raised;border-radius:$r;padding:$s2 $s3",
    "pinned": "background:$soft;border-radius:$r;padding:$s3",
    "story": "border-bottom:1px solid $line;padding-bottom:$s4",
    "linky": "border:0;background:none;color:$muted;font-size:$f0;font-weight:600;padding:2px",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    texts = draws.some([*lists["praise"], *lists["posts"][1:]], 9)
    notes = [
        {
            "text": t,
            "who": draws.pick(lists["people"]),
            "likes": draws.integer(0, 300),
            "hours": draws.integer(1, 23),
            "under": draws.chance(0.4),
        }
        for t in texts
    ]
    return view, base | {
        "notes": notes[: draws.integer(5, 10)],
        "title": draws.pick(lists["headlines"]),
        "text": draws.some(lists["sentences"], 3),
        "me": draws.pick(lists["people"]),
        "picture": sample_picture(draws),
        "kind": draws.pick(("flat", "nested", "bubbles", "cards")),
        "has": flags(
            draws,
            {
                "story": 0.6,
                "picture": 0.3,
                "form": 0.7,
                "sort": 0.5,
                "likes": 0.6,
                "faces": 0.6,
                "pinned": 0.3,
                "more": 0.5,
                "left": 0.4,
                "hidden": 0.3,
                "mail": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    story = el(
        "article.story.stack",
        el("h1.title#title@title", params["title"]),
        picture(params["picture"], page.tokens, "", 3.0) if page.has("picture") else None,
        el("p", " ".join(params["text"])),
    )
    head = el(
        "div.row.between.wrap",
        el("h2.heading#comments@heading", f"{page.say('comments')} ({len(params['notes'])})"),
        el(
            "select.input",
            {"aria-label": page.say("latest"), "style": "width:auto"},
            [el("option", page.say(key)) for key in ("latest", "popular")],
        )
        if page.has("sort")
        else None,
    )
    more = el("button.btn.ghost#more@button", {"type": "button"}, page.say("show_all"))
    body = [
        story if page.has("story") else None,
        el(
            "section.stack",
            head,
            _form(page) if page.has("form") else None,
            _notes(page),
            more if page.has("more") else None,
        ),
    ]
    return finished(page, params["title"], site(page, body, narrow=True), STYLES)


def _form(page: Page) -> Node:
    mail = field(page.say("email"), "email", "email") if page.has("mail") else None
    left = el("span.small.muted#left@letters left", "0 / 500") if page.has("left") else None
    box = el(
        "textarea.input",
        {"rows": "3", "name": "note", "aria-label": page.say("message"), "placeholder": page.say("message")},
    )
    return el(
        "form.card.stack",
        el("div.row.align-top", face(page.params["me"]) if page.has("faces") else None, el("div.grow", box)),
        mail,
        el("div.row.between", left or el("span", ""), button(page.say("send"), "send")),
    )


def _notes(page: Page) -> Node:
    rows: list[Node] = []
    for place, note in enumerate(page.params["notes"]):
        drawn = _note(page, place, note)
        if page.params["kind"] == "nested" and note["under"] and rows:
            last = rows[-1]
            if "answers" not in last.names:
                rows.append(el("ul.answers", el("li", drawn)))
            else:
                last.children.append(el("li", drawn))
        else:
            rows.append(drawn)
    return el("div.stack.loose", rows)


def _note(page: Page, place: int, note: Mapping[str, Any]) -> Node:
    kind = page.params["kind"]
    if page.has("hidden") and place == 3:
        return el("p.panel.small.muted", f"{page.say('close')} – {note['who']}")
    likes = el("span.row.small.muted", icon("heart", 14), el("span", str(note["likes"]))) if page.has("likes") else None
    foot = el("div.row", likes, [el("button.linky", {"type": "button"}, page.say(key)) for key in ("reply", "share")])
    words_ = el(
        "div.note-text",
        el(
            "p.row.wrap.small",
            el("strong", note["who"]),
            el("span.muted", f"{note['hours']} {page.say('hours')}"),
            el("span.badge", page.say("new")) if place == 0 and page.has("pinned") else None,
        ),
        el("div.bubble", el(f"p#note-{place}@comment", note["text"]))
        if kind == "bubbles"
        else el(f"p#note-{place}@comment", note["text"]),
        foot,
    )
    names = (
        "article.card.note"
        if kind == "cards"
        else "article.note.pinned"
        if place == 0 and page.has("pinned")
        else "article.note"
    )
    return el(names, face(note["who"]) if page.has("faces") else None, words_)
