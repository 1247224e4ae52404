"""Polls: choices with bars of votes, one chosen, how many voted, time left, comments."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import ring
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import number
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    table,
)

STYLES = {
    **CHROME,
    "option": "display:flex;flex-direction:column;gap:$s1",
    "track": "height:12px;border-radius:$rp;background:$line;overflow:hidden",
    "fill": "height:12px;background:$accent",
    "own": "font-weight:700;color:$accent_text",
    "big": "display:flex;align-items:center;gap:$s3;border:1px solid $line;border-radius:$r;padding:$s3;"
    "background:$surface",
    "box": "max-width:560px;width:100%;margin:0 auto",
    "column": "display:flex;flex-direction:column;justify-content:flex-end;gap:$s1;align-items:center;min-width:0",
}


_SOURCES = (
    ("topics", "categories"),
    ("cities", "city"),
    ("dishes", "recipe"),
    ("books", "catalogue"),
    ("brands", "team"),
)


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.5)
    source, label = draws.pick(_SOURCES)
    return view, base | {
        "ask": f"{bank.ui['vote']}: {bank.ui[label]}",
        "options": [[name, draws.integer(3, 60)] for name in draws.some(bank.lists[source], draws.integer(3, 6))],
        "own": draws.integer(0, 3),
        "total": draws.integer(40, 90000),
        "who": draws.pick(bank.lists["people"]),
        "notes": draws.some(bank.lists["praise"], 3),
        "people": draws.some(bank.lists["people"], 3),
        "days": draws.integer(1, 9),
        "others": draws.some([bank.ui[key] for _, key in _SOURCES if key != label], 4),
        "counts": [draws.integer(20, 900) for _ in range(4)],
        "kind": draws.pick(("bars", "vote", "columns", "ring", "table")),
        "place": draws.pick(("card", "site", "post")),
        "has": flags(
            draws,
            {
                "who": 0.5,
                "total": 0.7,
                "more_polls": 0.55,
                "left": 0.4,
                "notes": 0.6,
                "share": 0.5,
                "lead": 0.4,
                "tags": 0.5,
                "more": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    draw = {"bars": _bars, "vote": _vote, "columns": _columns, "ring": _ring, "table": _table}[params["kind"]]
    foot = [
        el("span#total@count", f"{number(page.lang, params['total'])} {page.say('votes')}")
        if page.has("total")
        else None,
        el("span#left@time left", f"{params['days']} {page.say('day')}") if page.has("left") else None,
    ]
    poll = el(
        "section.card.stack",
        el("header.row", face(params["who"]), el("strong#who@author", params["who"])) if page.has("who") else None,
        el("h1.heading#ask@question", params["ask"]),
        el("p.muted", params["notes"][0]) if page.has("lead") else None,
        draw(page),
        el("p.row.between.small.muted", foot) if any(foot) else None,
        el("div.row.wrap", button(page.say("share"), "share", "ghost"), button(page.say("comments"), "talk", "ghost"))
        if page.has("share")
        else None,
    )
    notes = el(
        "section.stack",
        el("h2.subheading#notes@heading", page.say("comments")),
        [
            el("article.row.align-top", face(who), el("div", el("strong", who), el("p", text)))
            for who, text in zip(params["people"], params["notes"], strict=True)
        ],
    )
    matter = [
        poll,
        _others(page) if page.has("more_polls") else None,
        notes if page.has("notes") else None,
        el("ul.row.wrap", [el("li.badge", text) for text in page.words.lists["topics"][:4]])
        if page.has("tags")
        else None,
    ]
    if params["place"] == "card":
        body: Content = el("main.page.narrow.stack", el("div.box.stack", matter))
    elif params["place"] == "post":
        body = site(page, el("h2.title#section@heading", page.say("votes")), el("div.box.stack", matter))
    else:
        body = site(page, matter, narrow=True)
    return finished(page, params["ask"], body, STYLES)


def _others(page: Page) -> Node:
    p = page.params
    rows = [
        el(
            "li.row.between",
            el("a.link", {"href": "#"}, f"{page.say('vote')}: {name}"),
            el("span.small.muted.num", f"{p['counts'][k]} {page.say('votes')}"),
        )
        for k, name in enumerate(p["others"])
    ]
    return el("section.card.stack", el("h2.subheading#latest@heading", page.say("latest")), el("ul.list", rows))


def _share(page: Page, votes: int) -> int:
    return round(100 * votes / sum(count for _, count in page.params["options"]))


def _bars(page: Page) -> Node:
    rows = [
        el(
            "li.option",
            el(
                "p.row.between",
                el(f"span.own#option-{k}@option" if k == page.params["own"] else f"span#option-{k}@option", name),
                el("span.num", f"{_share(page, votes)} %"),
            ),
            el(
                "div.track",
                {"role": "meter", "aria-label": name, "aria-valuenow": str(_share(page, votes))},
                el("div.fill", {"style": f"width:{_share(page, votes)}%"}),
            ),
        )
        for k, (name, votes) in enumerate(page.params["options"])
    ]
    return el("ul.stack", rows)


def _vote(page: Page) -> Node:
    rows = [
        el(
            "label.big",
            {"for": f"option-{k}"},
            el(
                f"input.tick#option-{k}",
                {"type": "radio", "name": "vote"},
                {"checked": None} if k == page.params["own"] else None,
            ),
            el(f"span#name-{k}@option", name),
        )
        for k, (name, _) in enumerate(page.params["options"])
    ]
    return el(
        "form.stack",
        rows,
        el("div.row", button(page.say("vote"), "vote"), button(page.say("results"), "results", "quiet")),
    )


def _columns(page: Page) -> Node:
    top = max(votes for _, votes in page.params["options"])
    cells = [
        el(
            "div.column",
            el("strong", f"{_share(page, votes)} %"),
            el(
                "div",
                {"style": f"height:{round(130 * votes / top)}px;width:44px;background:{page.tokens['c' + str(k + 1)]}"},
            ),
            el(f"span.small.centre#option-{k}@option", name),
        )
        for k, (name, votes) in enumerate(page.params["options"])
    ]
    return el("div", {"style": f"display:grid;grid-template-columns:repeat({len(cells)},minmax(0,1fr));gap:8px"}, cells)


def _ring(page: Page) -> list[Content]:
    shares = [votes for _, votes in page.params["options"]]
    keys = [
        el(
            "li.row",
            el("span", {"style": f"width:14px;height:14px;flex:none;background:{page.tokens['c' + str(k + 1)]}"}),
            el(f"span#option-{k}@option", name),
            el("span.push.num", f"{_share(page, votes)} %"),
        )
        for k, (name, votes) in enumerate(page.params["options"])
    ]
    return [
        el(
            "div", {"style": "max-width:200px;margin:0 auto;width:100%"}, ring(shares, page.tokens, page.say("results"))
        ),
        el("ul.list", keys),
    ]


def _table(page: Page) -> Node:
    rows = [
        [el(f"span#option-{k}@option", name), str(votes), f"{_share(page, votes)} %"]
        for k, (name, votes) in enumerate(page.params["options"])
    ]
    return table([page.say("answer"), page.say("votes"), "%"], rows, numeric=(1, 2))
