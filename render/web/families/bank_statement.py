"""Bank statements: balances, movements in and out, months, a curve, filters, a form to send money."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import line
from gristmill.render.web.chrome import CHROME, app, begin, brand, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date, money
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    field,
    pills,
    table,
)

STYLES = {
    **CHROME,
    "purse": "background:$accent;color:$on_accent;border-radius:$r;padding:$s5;display:flex;"
    "flex-direction:column;gap:$s2",
    "sum": "font-size:$f6;font-weight:700;line-height:1.15",
    "move": "display:grid;grid-template-columns:36px minmax(0,1fr) auto;gap:$s3;align-items:center;"
    "padding:$s3 0;border-bottom:1px solid $line",
    "paper": "background:$surface;border:1px solid $line;padding:$s5;display:flex;flex-direction:column;gap:$s4",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    moves: list[dict[str, Any]] = [
        {
            "what": draws.pick([*lists["brands"], *lists["people"]]),
            "sum": draws.integer(300, 90000) * draws.weighted((-1, 1), (3, 1)),
            "day": draws.integer(1, 29),
            "topic": draws.pick(lists["topics"]),
        }
        for _ in range(draws.integer(5, 11))
    ]
    return view, base | {
        "moves": sorted(moves, key=lambda move: -move["day"]),
        "balance": draws.integer(20000, 9000000),
        "month": draws.integer(1, 13),
        "person": draws.pick(lists["people"]),
        "number": f"{draws.integer(10, 99)} {draws.integer(1000, 9999)} {draws.integer(1000, 9999)}",
        "values": [draws.integer(20, 100) for _ in range(8)],
        "kind": draws.pick(("app", "site", "paper")),
        "has": flags(
            draws,
            {
                "curve": 0.45,
                "filter": 0.45,
                "send": 0.4,
                "table": 0.5,
                "topic": 0.4,
                "icons": 0.6,
                "split": 0.5,
                "buttons": 0.5,
                "facts": 0.4,
                "search": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    purse, buttons, kind = _purse(page), _buttons(page) if page.has("buttons") else None, params["kind"]
    if kind == "paper":
        body: Content = el("main.page.narrow", _paper(page, purse, buttons))
    elif kind == "app":
        keys = ("home", "account", "transactions", "reports", "settings")
        body = app(page, keys, 2, purse, buttons, _lower(page))
    else:
        title = el("h1.title#title@title", page.say("account"))
        top = el("div.cols2" if page.wide and buttons else "div.stack", purse, buttons)
        body = site(page, title, top, _lower(page))
    return finished(page, page.say("account"), body, STYLES)


def _purse(page: Page) -> Node:
    return el(
        "section.purse",
        el("p", page.say("balance")),
        el("p.sum#balance@balance", money(page.lang, page.params["balance"])),
        el("p.small#number@account", f"№ {page.params['number']}"),
    )


def _buttons(page: Page) -> Node:
    send, load = button(page.say("send"), "send-money"), button(page.say("download"), "download", "ghost")
    return el("div.row.wrap", send, load)


def _paper(page: Page, purse: Node, buttons: Node | None) -> Node:
    p = page.params
    owner = el("h1.title#owner@name", p["person"])
    month = el("p.muted", page.words.lists["months"][p["month"] - 1])
    head = el("header.row.between.wrap", el("div", owner, month), brand(page))
    return el("div.paper", head, purse, _facts(page) if page.has("facts") else None, _table(page), buttons)


def _lower(page: Page) -> Node:
    side = [
        _curve(page) if page.has("curve") else None,
        _send(page) if page.has("send") else None,
        _facts(page) if page.has("facts") else None,
    ]
    main = el("div.stack", _moves(page))
    if not any(side):
        return main
    return el("div.main-side" if page.wide and page.has("split") else "div.stack", main, el("div.stack", side))


def _curve(page: Page) -> Node:
    drawn = line(page.params["values"], page.tokens, page.say("balance"), True)
    return el("section.card.stack", el("h2.subheading#curve@chart title", page.say("balance")), drawn)


def _moves(page: Page) -> Node:
    months, label = page.words.lists["months"], page.say("search")
    search = el("input.input", {"type": "search", "placeholder": label, "aria-label": label})
    return el(
        "section.card.stack",
        el("h2.heading#moves@heading", page.say("transactions")),
        pills([months[(page.params["month"] - 1 - k) % 12] for k in range(3)], 0) if page.has("filter") else None,
        search if page.has("search") else None,
        _table(page) if page.has("table") else _list(page),
    )


def _sum(page: Page, cents: int) -> Node:
    return el(
        "span.num.strong.ok" if cents > 0 else "span.num.strong", ("+" if cents > 0 else "") + money(page.lang, cents)
    )


def _table(page: Page) -> Node:
    rows = [
        [
            date(page.lang, m["day"], page.params["month"]),
            el(f"span#move-{k}@payee", m["what"]),
            *([m["topic"]] if page.wide and page.has("topic") else []),
            _sum(page, m["sum"]),
        ]
        for k, m in enumerate(page.params["moves"])
    ]
    keys = ["date", "name", *(["categories"] if page.wide and page.has("topic") else []), "amount"]
    return table([page.say(key) for key in keys], rows, numeric=(len(keys) - 1,))


def _list(page: Page) -> Node:
    rows = [
        el(
            "li.move",
            face(m["what"]) if page.has("icons") else icon("up" if m["sum"] > 0 else "down"),
            el(
                "div",
                el(f"p.strong#move-{k}@payee", m["what"]),
                el("p.small.muted", date(page.lang, m["day"], page.params["month"])),
                el("p", el("span.badge", m["topic"])) if page.has("topic") else None,
            ),
            _sum(page, m["sum"]),
        )
        for k, m in enumerate(page.params["moves"])
    ]
    return el("ul", rows)


def _send(page: Page) -> Node:
    return el(
        "form.card.stack",
        el("h2.subheading#send-heading@heading", page.say("send")),
        field(page.say("to"), "payee", value=page.params["moves"][0]["what"]),
        field(page.say("amount"), "amount", value="50"),
        button(page.say("continue"), "go", "block"),
    )


def _facts(page: Page) -> Node:
    gained, spent = (sum(m["sum"] for m in page.params["moves"] if (m["sum"] > 0) == up) for up in (True, False))
    return el(
        "dl.card.list",
        [
            el("div.row.between", el("dt.muted", text), el(f"dd.strong#{key}@sum", money(page.lang, value)))
            for key, text, value in (("gained", "+", gained), ("spent", "−", spent))
        ],
    )
