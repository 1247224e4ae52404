"""Boards of departures: trains or flights with times, platforms, states, a clock, filters, notes."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    table,
    tabs,
)

STYLES = {
    **CHROME,
    "board": "background:$ink;color:$on_ink;border-radius:$r;padding:$s3 $s4;display:flex;"
    "flex-direction:column;min-width:0",
    "board-line": "display:grid;"
    "grid-template-columns:64px minmax(0,2fr) minmax(0,1fr) 54px minmax(0,1fr);"
    "gap:$s3;align-items:center;padding:$s2 0;border-bottom:1px solid $muted",
    "board-small": "grid-template-columns:56px minmax(0,1fr) 40px",
    "big-clock": "font-size:$f6;font-weight:700;line-height:1.1;font-variant-numeric:tabular-nums",
    "track": "border:2px solid $accent;border-radius:$rs;padding:0 $s2;text-align:center;font-weight:700",
    "train-card": "display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:$s4;align-items:center",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    at = draws.integer(360, 1200)
    city, *others = draws.shuffled(bank.lists["cities"])
    lines = [
        {
            "to": draws.pick(others[3:]),
            "at": at + 7 * k + draws.integer(0, 5),
            "no": f"{draws.pick(('IC', 'RE', 'S', 'EX'))} {draws.integer(1, 990)}",
            "track": draws.integer(1, 20),
            "state": draws.weighted(("on_time", "delayed", "cancelled"), (6, 2, 1)),
        }
        for k in range(draws.integer(5, 11))
    ]
    return view, base | {
        "lines": lines,
        "at": at - 2,
        "city": city,
        "note": draws.pick(bank.lists["sentences"]),
        "via": others[:3],
        "kind": draws.pick(("board", "table", "cards")),
        "has": flags(
            draws,
            {
                "clock": 0.6,
                "note": 0.4,
                "tabs": 0.4,
                "search": 0.4,
                "track": 0.8,
                "state": 0.8,
                "via": 0.3,
                "bare": 0.3,
                "legend": 0.3,
                "head": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "header.row.between.wrap",
        el("div", el("h1.title#title@title", page.say("departures")), el("p.muted#city@city", params["city"])),
        el("time.big-clock#clock@clock", clock(params["at"])) if page.has("clock") else None,
    )
    search = el(
        "div.row",
        el("input.input", {"type": "search", "placeholder": page.say("city"), "aria-label": page.say("city")}),
        button(page.say("search"), "search"),
    )
    note = el("p.card.badge-warn#note@note", {"role": "status"}, params["note"])
    kind = params["kind"]
    listed = _table(page) if kind == "table" and page.wide else _cards(page) if kind == "cards" else _board(page)
    legend = el("ul.row.wrap.small", [el("li", _state(page, key)) for key in ("on_time", "delayed", "cancelled")])
    matter = [
        head,
        tabs([page.say(key) for key in ("departures", "train", "ticket")], 0) if page.has("tabs") else None,
        search if page.has("search") else None,
        note if page.has("note") else None,
        listed,
        legend if page.has("legend") else None,
    ]
    return finished(
        page, page.say("departures"), el("main.page.stack", matter) if page.has("bare") else site(page, matter), STYLES
    )


def _state(page: Page, state: str) -> Node:
    tone = {"on_time": "ok", "delayed": "warn", "cancelled": "bad"}[state]
    return el(f"span.badge.badge-{tone}", page.say(state))


def _cells(page: Page, place: int, item: Mapping[str, Any]) -> list[Content]:
    via = el("p.small", " · ".join(page.params["via"])) if page.has("via") and page.wide else None
    cells: list[Content] = [
        el("time.strong", clock(item["at"])),
        el("div", el(f"p.strong#line-{place}@destination", item["to"]), via),
    ]
    if page.wide:
        cells += [el("span", item["no"])]
    cells += [el("span.track" if page.has("track") else "span.strong", str(item["track"]))]
    if page.wide:
        cells += [el("p", _state(page, item["state"])) if page.has("state") else el("span", page.say(item["state"]))]
    return cells


def _board(page: Page) -> Node:
    names = "board-line" if page.wide else "board-line.board-small"
    keys = ("time", "city", "train", "platform", "status") if page.wide else ("time", "city", "gate")
    head = el(f"div.{names}", [el("span.small", page.say(key)) for key in keys]) if page.has("head") else None
    return el(
        "section.board",
        head,
        [el(f"div.{names}", _cells(page, k, item)) for k, item in enumerate(page.params["lines"])],
    )


def _table(page: Page) -> Node:
    rows = [_cells(page, k, item) for k, item in enumerate(page.params["lines"])]
    return table([page.say(key) for key in ("time", "city", "train", "platform", "status")], rows, key="board")


def _cards(page: Page) -> Node:
    cards = [
        el(
            "li.card.train-card",
            el("time.heading", clock(item["at"])),
            el(
                "div",
                el(f"h2.strong#line-{k}@destination", item["to"]),
                el("p.small.muted", f"{item['no']} · {page.say('platform')} {item['track']}"),
            ),
            _state(page, item["state"]) if page.has("state") else el("span.track", str(item["track"])),
        )
        for k, item in enumerate(page.params["lines"])
    ]
    return el("ul.list", cards)
