"""Invoices: from whom to whom, lines with amounts, sums and tax, dates, notes, a stamp when paid."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, brand, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date, money
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    table,
)

STYLES = {
    **CHROME,
    "paper": "background:$surface;border:1px solid $line;border-radius:$r;padding:$s5;display:flex;"
    "flex-direction:column;gap:$s5;box-shadow:$sh",
    "paper-small": "padding:$s4",
    "band": "background:$accent;color:$on_accent;border-radius:$rs;padding:$s3 $s4;display:flex;"
    "justify-content:space-between;gap:$s3;align-items:center",
    "sums": "display:flex;flex-direction:column;gap:$s2;width:100%;max-width:320px;margin-inline-start:auto",
    "all": "border-top:2px solid $text;padding-top:$s2;font-weight:700;font-size:$f3",
    "ended": "border-bottom:1px solid $line;padding-bottom:$s2",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    return view, base | {
        "lines": [
            [name, draws.integer(1, 9), draws.integer(10, 400) * 100]
            for name in draws.some([*lists["products"], *lists["tasks"]], draws.integer(2, 7))
        ],
        "people": draws.some(lists["people"], 2),
        "cities": draws.some(lists["cities"], 2),
        "number": draws.integer(1000, 99999),
        "day": [draws.integer(1, 15), draws.integer(1, 13), 2026],
        "rate": draws.pick((7, 19, 20, 23)),
        "state": draws.pick(("paid", "due", "pending")),
        "note": draws.pick(lists["sentences"]),
        "kind": draws.pick(("paper", "app", "site")),
        "has": flags(
            draws,
            {
                "band": 0.4,
                "facts": 0.6,
                "tax": 0.7,
                "discount": 0.3,
                "note": 0.5,
                "buttons": 0.5,
                "state": 0.6,
                "bank": 0.4,
                "numbers": 0.4,
                "sender": 0.7,
                "list": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    paper = el(
        "article.paper" if page.wide else "article.paper.paper-small",
        _head(page),
        _sides(page),
        _facts(page) if page.has("facts") else None,
        _list(page) if page.has("list") or not page.wide else _table(page),
        _sums(page),
        el("p.small.muted#note@note", params["note"]) if page.has("note") else None,
        el("p.small", f"IBAN DE00 {params['number']} 4400 21") if page.has("bank") else None,
    )
    buttons = (
        el("div.row.wrap", button(page.say("download"), "download"), button(page.say("send"), "send", "ghost"))
        if page.has("buttons")
        else None
    )
    kind = params["kind"]
    if kind == "app":
        body: Content = app(page, ("dashboard", "orders", "invoice", "users", "settings"), 2, buttons, paper)
    elif kind == "site":
        body = site(page, paper, buttons)
    else:
        body = el("main.page.narrow.stack", paper, buttons)
    return finished(page, page.say("invoice"), body, STYLES)


def _head(page: Page) -> Node:
    p = page.params
    title = f"{page.say('invoice')} {p['number']}"
    tone = {"paid": "ok", "due": "bad", "pending": "warn"}[p["state"]]
    state = el(f"span.badge.badge-{tone}#state@state", page.say(p["state"])) if page.has("state") else None
    if page.has("band"):
        return el("header.band", el("h1.heading#title@title", title), el("span", p["chrome"]["brand"]))
    return el(
        "header.row.between.wrap",
        el("h1.title#title@title", title),
        state,
        brand(page) if page.params["kind"] == "paper" else None,
    )


def _sides(page: Page) -> Node:
    p = page.params
    boxes = [
        el(
            "address",
            {"style": "font-style:normal"},
            el("p.small.muted", page.say(key)),
            el(f"p.strong#{key}@party", who),
            el("p", city),
        )
        for key, who, city in zip(("from", "to"), p["people"], p["cities"], strict=True)
    ]
    return el("section.cols2", boxes if page.has("sender") else boxes[1:])


def _facts(page: Page) -> Node:
    day, month, year = page.params["day"]
    pairs = (("date", date(page.lang, day, month, year)), ("due", date(page.lang, day + 14, month, year)))
    return el(
        "dl.row.wrap.loose",
        [el("div", el("dt.small.muted", page.say(key)), el(f"dd.strong#{key}@date", text)) for key, text in pairs],
    )


def _table(page: Page) -> Node:
    first = ["#"] if page.has("numbers") else []
    rows = [
        [
            *([str(k + 1)] if first else []),
            el(f"span#line-{k}@line", name),
            str(count),
            money(page.lang, price),
            money(page.lang, count * price),
        ]
        for k, (name, count, price) in enumerate(page.params["lines"])
    ]
    heads = [*first, *(page.say(key) for key in ("title", "quantity", "price", "total"))]
    return table(heads, rows, numeric=tuple(range(len(first) + 1, len(first) + 4)), key="lines")


def _list(page: Page) -> Node:
    rows = [
        el(
            "li.row.between.ended",
            el("div", el(f"p.strong#line-{k}@line", name), el("p.small.muted", f"{count} × {money(page.lang, price)}")),
            el("span.num", money(page.lang, count * price)),
        )
        for k, (name, count, price) in enumerate(page.params["lines"])
    ]
    return el("ul.list", rows)


def _sums(page: Page) -> Node:
    p = page.params
    total = sum(count * price for _, count, price in p["lines"])
    off = total // 10 if page.has("discount") else 0
    tax = (total - off) * p["rate"] // 100 if page.has("tax") else 0
    pairs = [("subtotal", money(page.lang, total))]
    pairs += [("discount", money(page.lang, -off))] if off else []
    pairs += [("tax", money(page.lang, tax))] if tax else []
    rows = [el("div.row.between", el("dt.muted", page.say(key)), el("dd.num", text)) for key, text in pairs]
    return el(
        "dl.sums",
        rows,
        el(
            "div.row.between.all",
            el("dt", page.say("total")),
            el("dd#total@total", money(page.lang, total - off + tax)),
        ),
    )
