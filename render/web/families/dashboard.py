"""Dashboards: tiles with figures, charts, a table of the last orders, a list of tasks."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import bars, line, ring, sample_shares, spark
from gristmill.render.web.chrome import CHROME, app, begin
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import money, number
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    table,
    tabs,
    tick,
)

STYLES = {
    **CHROME,
    "tile": "background:$surface;border:1px solid $line;border-radius:$r;padding:$s4;display:flex;"
    "flex-direction:column;gap:$s1;box-shadow:$sh;min-width:0",
    "tile-value": "font-size:$f5;font-weight:700;line-height:1.2",
    "tiles": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s3",
    "tiles-wide": "grid-template-columns:repeat(4,minmax(0,1fr));gap:$s4",
    "two": "display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr);gap:$s4",
    "scroll": "overflow-x:auto",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    keys = draws.some(("users", "orders", "revenue", "visitors", "tasks", "projects"), 4)
    tiles = [
        {
            "key": k,
            "value": draws.integer(120, 98000),
            "change": draws.integer(-12, 30),
            "days": [draws.integer(20, 100) for _ in range(7)],
        }
        for k in keys
    ]
    orders = [
        {
            "no": draws.integer(10000, 99999),
            "who": draws.pick(lists["people"]),
            "sum": draws.integer(900, 90000),
            "state": draws.pick(("done", "pending", "failed")),
        }
        for _ in range(draws.integer(4, 8))
    ]
    has = {
        "change": 0.7,
        "spark": 0.3,
        "ring": 0.6,
        "orders": 0.75,
        "tasks": 0.5,
        "tabs": 0.4,
        "button": 0.5,
        "names": 0.5,
    }
    return view, base | {
        "tiles": tiles,
        "orders": orders,
        "tasks": [[text, draws.chance(0.4)] for text in draws.some(lists["tasks"], 5)],
        "values": [draws.integer(20, 100) for _ in range(draws.integer(7, 13))],
        "shares": sample_shares(draws),
        "chart": draws.pick(("bars", "line", "area")),
        "labels": draws.some(lists["topics"], 4),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "div.row.between.wrap",
        el("h1.title#title@title", page.say("dashboard")),
        button(page.say("download"), "export", "ghost") if page.has("button") else None,
    )
    tiles = el(
        "section.tiles.tiles-wide" if page.wide else "section.tiles", [_tile(page, tile) for tile in params["tiles"]]
    )
    periods = tabs([page.say(key) for key in ("day", "week", "month", "year")], 1) if page.has("tabs") else None
    chart = el("section.card.stack", el("h2.subheading#chart@chart title", page.say("revenue")), periods, _chart(page))
    pair = [chart, _ring(page)] if page.has("ring") else [chart, _tasks(page)] if page.has("tasks") else [chart]
    charts = el("div.two" if page.wide and len(pair) > 1 else "div.stack", pair)
    keys = ("dashboard", "reports", "users", "orders", "calendar", "settings")
    matter = [head, tiles, charts, _orders(page) if page.has("orders") else None]
    return finished(page, page.say("dashboard"), app(page, keys, 0, matter), STYLES)


def _tile(page: Page, tile: Mapping[str, Any]) -> Node:
    change = tile["change"]
    text = f"{'▲' if change >= 0 else '▼'} {abs(change)} %"
    return el(
        "article.tile",
        el("span.muted.small", page.say(tile["key"])),
        el(f"strong.tile-value#{tile['key']}@figure", number(page.lang, tile["value"])),
        el("span.small.ok" if change >= 0 else "span.small.bad", text) if page.has("change") else None,
        spark(tile["days"], page.tokens) if page.has("spark") else None,
    )


def _chart(page: Page) -> Node:
    kind, values, label = page.params["chart"], page.params["values"], page.say("revenue")
    if kind == "bars":
        return bars(values, page.tokens, label)
    return line(values, page.tokens, label, filled=kind == "area")


def _ring(page: Page) -> Node:
    p = page.params
    rows = [
        el(
            "li.row",
            el("span", {"style": f"width:12px;height:12px;background:{page.tokens[f'c{k + 1}']}"}),
            el("span", name),
            el("span.push.strong", f"{p['shares'][k]} %"),
        )
        for k, name in enumerate(p["labels"])
    ]
    drawn = el(
        "div",
        {"style": "max-width:170px;margin:0 auto;width:100%"},
        ring(p["shares"], page.tokens, page.say("categories")),
    )
    return el("section.card.stack", el("h2.subheading", page.say("categories")), drawn, el("ul.list.small", rows))


def _tasks(page: Page) -> Node:
    rows = [el("li", tick(text, f"task-{k}", on)) for k, (text, on) in enumerate(page.params["tasks"])]
    return el("section.card.stack", el("h2.subheading", page.say("tasks")), el("ul.list", rows))


def _orders(page: Page) -> Node:
    tone = {"done": "ok", "pending": "warn", "failed": "bad"}
    rows = [
        [
            f"#{o['no']}",
            *([o["who"]] if page.has("names") else []),
            el(f"span.badge.badge-{tone[o['state']]}", page.say(o["state"])),
            money(page.lang, o["sum"]),
        ]
        for o in page.params["orders"]
    ]
    heads = ["#", *([page.say("name")] if page.has("names") else []), page.say("status"), page.say("amount")]
    drawn = table(heads, rows, numeric=(len(heads) - 1,), key="orders-table")
    return el("section.card.stack", el("h2.subheading#last@heading", page.say("orders")), el("div.scroll", drawn))
