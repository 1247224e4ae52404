"""Kanban boards: columns of cards with labels, people, dates, ticked lists."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    meter,
)

STYLES = {
    **CHROME,
    "board": "display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:$s3;align-items:start",
    "board-3": "grid-template-columns:repeat(3,minmax(0,1fr))",
    "lane": "background:$raised;border-radius:$r;padding:$s3;display:flex;flex-direction:column;gap:$s3;min-width:0",
    "note": "background:$surface;border:1px solid $line;border-radius:$rs;padding:$s3;display:flex;"
    "flex-direction:column;gap:$s2;box-shadow:$sh",
    "stripe": "height:6px;border-radius:3px;width:48px",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.75)
    lists = bank.lists
    tasks = draws.shuffled(lists["tasks"])
    lanes, taken = [], 0
    for key in ("todo", "doing", "review", "done")[: draws.integer(3, 5)]:
        count = draws.integer(1, 4)
        lanes.append(
            {
                "key": key,
                "notes": [
                    {
                        "text": t,
                        "who": draws.pick(lists["people"]),
                        "topic": draws.pick(lists["topics"]),
                        "day": draws.integer(1, 29),
                        "colour": draws.integer(1, 7),
                        "level": draws.pick(("high", "medium", "low")),
                    }
                    for t in tasks[taken : taken + count]
                ],
            }
        )
        taken += count
    return view, base | {
        "lanes": lanes,
        "month": draws.integer(1, 13),
        "people": draws.some(lists["people"], 4),
        "title": draws.pick(lists["slogans"]),
        "kind": draws.pick(("app", "site", "bare")),
        "has": flags(
            draws,
            {
                "stripe": 0.4,
                "topic": 0.5,
                "who": 0.6,
                "day": 0.5,
                "level": 0.4,
                "count": 0.6,
                "add": 0.5,
                "people": 0.4,
                "search": 0.4,
                "meter": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    search = el(
        "input.input",
        {
            "type": "search",
            "placeholder": page.say("search"),
            "aria-label": page.say("search"),
            "style": "max-width:240px",
        },
    )
    head = el(
        "div.row.between.wrap",
        el("h1.heading#board@title", params["title"]),
        search if page.has("search") else None,
        button(page.say("new"), "new"),
    )
    people = el(
        "div.row",
        [face(name) for name in params["people"]],
        el("button.btn.ghost", {"type": "button"}, page.say("share")),
    )
    names = "div.board" if len(params["lanes"]) == 4 else "div.board.board-3"
    board = el(names if page.wide else "div.stack", [_lane(page, lane) for lane in params["lanes"]])
    matter = [head, people if page.has("people") else None, board]
    kind = params["kind"]
    body: Content = (
        app(page, ("dashboard", "projects", "tasks", "team", "reports"), 2, matter)
        if kind == "app"
        else site(page, matter)
        if kind == "site"
        else el("main.work-main", matter)
    )
    return finished(page, params["title"], body, STYLES)


def _lane(page: Page, lane: Mapping[str, Any]) -> Node:
    head = el(
        "header.row.between",
        el(f"h2.strong#lane-{lane['key']}@column", page.say(lane["key"])),
        el("span.badge", str(len(lane["notes"]))) if page.has("count") else None,
    )
    add = el("button.btn.quiet", {"type": "button"}, icon("plus", 16), page.say("new")) if page.has("add") else None
    return el(
        "section.lane", head, [_note(page, f"{lane['key']}-{k}", note) for k, note in enumerate(lane["notes"])], add
    )


def _note(page: Page, key: str, note: Mapping[str, Any]) -> Node:
    tone = {"high": "bad", "medium": "warn", "low": "ok"}[note["level"]]
    feet = [
        face(note["who"]) if page.has("who") else None,
        el("time.small.muted.push", date(page.lang, note["day"], page.params["month"])) if page.has("day") else None,
    ]
    return el(
        "article.note",
        el("div.stripe", {"style": f"background:{page.tokens['c' + str(note['colour'])]}"})
        if page.has("stripe")
        else None,
        el(f"h3.strong#note-{key}@card", note["text"]),
        el("p.row.wrap", el("span.badge", note["topic"])) if page.has("topic") else None,
        el("p.small", el(f"span.badge.badge-{tone}", page.say(note["level"]))) if page.has("level") else None,
        meter(note["day"] * 3, page.say("status")) if page.has("meter") else None,
        el("div.row", feet) if any(feet) else None,
    )
