"""Analytics: several charts, ranked pages with bars, sources as a ring, a period to choose, figures above."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import bars, line, ring, sample_shares
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import number
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    choice,
    meter,
    table,
)

STYLES = {
    **CHROME,
    "figures": "display:flex;flex-wrap:wrap;gap:$s5;border-bottom:1px solid $line;padding-bottom:$s4",
    "value": "font-size:$f5;font-weight:700;line-height:1.2",
    "rank": "display:grid;grid-template-columns:minmax(0,1fr) 90px 64px;gap:$s3;align-items:center",
    "key": "width:12px;height:12px;border-radius:3px;flex:none",
    "heat": "display:grid;grid-template-columns:repeat(12,minmax(0,1fr));gap:3px",
    "heat-cell": "height:20px;border-radius:3px;background:$accent",
    "columns": "display:flex;gap:$s2;align-items:flex-end;height:140px",
    "column": "flex:1;background:$accent;min-width:8px",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    order = draws.shuffled(("line", "ranks", "ring", "bars", "heat", "columns", "table"))
    return view, base | {
        "blocks": order[: draws.integer(3, 6)],
        "values": [draws.integer(10, 100) for _ in range(12)],
        "counts": [draws.integer(200, 90000) for _ in range(4)],
        "pages": draws.some(lists["headlines"], 5),
        "topics": draws.some(lists["topics"], 4),
        "shares": sample_shares(draws),
        "heat": [draws.integer(1, 10) for _ in range(48)],
        "cities": draws.some(lists["cities"], 5),
        "kind": draws.pick(("app", "site", "wide")),
        "has": flags(draws, {"figures": 0.7, "period": 0.6, "filter": 0.4, "export": 0.5, "change": 0.5}),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    drawn = {
        "line": _line,
        "ranks": _ranks,
        "ring": _ring,
        "bars": _bars,
        "heat": _heat,
        "columns": _columns,
        "table": _table,
    }
    period = el(
        "div.row",
        [
            el("button.pill.pill-on" if k == 1 else "button.pill", {"type": "button"}, page.say(key))
            for k, key in enumerate(("day", "week", "month"))
        ],
    )
    head = el(
        "div.row.between.wrap",
        el("h1.title#title@title", page.say("reports")),
        period if page.has("period") else None,
        button(page.say("download"), "export", "ghost") if page.has("export") else None,
    )
    cards = [el("section.card.stack", drawn[name](page)) for name in params["blocks"]]
    grid = el("div.cols2" if page.wide and len(cards) > 2 else "div.stack", cards)
    matter = [
        head,
        choice(page.say("projects"), "project", params["topics"]) if page.has("filter") else None,
        _figures(page) if page.has("figures") else None,
        grid,
    ]
    keys = ("dashboard", "reports", "visitors", "orders", "settings")
    kind = params["kind"]
    body: Content = (
        app(page, keys, 1, matter)
        if kind == "app"
        else site(page, matter)
        if kind == "site"
        else el("main.work-main", matter)
    )
    return finished(page, page.say("reports"), body, STYLES)


def _figures(page: Page) -> Node:
    keys = ("visitors", "users", "orders", "revenue")
    cells = [
        el(
            "div",
            el("p.small.muted", page.say(key)),
            el(f"p.value#{key}@figure", number(page.lang, value)),
            el("p.small.ok", f"+{value % 17} %") if page.has("change") else None,
        )
        for key, value in zip(keys, page.params["counts"], strict=True)
    ]
    return el("section.figures", cells)


def _head(page: Page, key: str, name: str) -> Node:
    return el(f"h2.subheading#{key}@chart title", page.say(name))


def _line(page: Page) -> list[Content]:
    return [
        _head(page, "chart-line", "visitors"),
        line(page.params["values"], page.tokens, page.say("visitors"), filled=True),
    ]


def _bars(page: Page) -> list[Content]:
    return [_head(page, "chart-bars", "orders"), bars(page.params["values"][:8], page.tokens, page.say("orders"))]


def _ring(page: Page) -> list[Content]:
    p = page.params
    keys = [
        el(
            "li.row",
            el("span.key", {"style": f"background:{page.tokens['c' + str(k + 1)]}"}),
            el("span", name),
            el("span.push", f"{p['shares'][k]} %"),
        )
        for k, name in enumerate(p["topics"])
    ]
    return [
        _head(page, "chart-ring", "categories"),
        el("div", {"style": "max-width:160px;width:100%"}, ring(p["shares"], page.tokens, page.say("categories"))),
        el("ul.list.small", keys),
    ]


def _ranks(page: Page) -> list[Content]:
    rows = [
        el(
            "li.rank",
            el(f"span#page-{k}@page", name),
            meter(90 - 16 * k, name),
            el("span.num", number(page.lang, 9000 // (k + 1))),
        )
        for k, name in enumerate(page.params["pages"])
    ]
    return [_head(page, "chart-ranks", "popular"), el("ol.list", rows)]


def _heat(page: Page) -> list[Content]:
    cells = [el("span.heat-cell", {"style": f"opacity:{value / 10}"}) for value in page.params["heat"]]
    return [
        _head(page, "chart-heat", "visitors"),
        el("div.heat", {"role": "img", "aria-label": page.say("visitors")}, cells),
    ]


def _columns(page: Page) -> list[Content]:
    cells = [el("div.column", {"style": f"height:{value}%"}) for value in page.params["values"]]
    return [
        _head(page, "chart-columns", "revenue"),
        el("div.columns", {"role": "img", "aria-label": page.say("revenue")}, cells),
    ]


def _table(page: Page) -> list[Content]:
    rows = [
        [el(f"span#city-{k}@city", name), number(page.lang, 40000 // (k + 2)), f"{40 - 7 * k} %"]
        for k, name in enumerate(page.params["cities"])
    ]
    return [
        _head(page, "chart-table", "city"),
        table([page.say("city"), page.say("visitors"), "%"], rows, numeric=(1, 2)),
    ]
