"""Comparisons of goods: columns with pictures, rows of traits, ticks and stars, the best one marked."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import money
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, product_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    meter,
    pills,
    stars,
    tick,
)

STYLES = {
    **CHROME,
    "sheet": "background:$surface;border:1px solid $line;border-radius:$r;overflow-x:auto",
    "best": "background:$soft;color:$text",
    "win": "border:2px solid $accent",
    "trait": "display:flex;justify-content:space-between;gap:$s3;border-bottom:1px solid $line;padding:$s2 0",
}

_TRAITS = ("in_stock", "shipping", "discount", "support", "download", "size", "security", "newsletter", "languages")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    goods = [
        {
            "name": name,
            "price": draws.integer(9, 300) * 100,
            "stars": draws.integer(2, 6),
            "traits": [draws.integer(0, 3) for _ in range(6)],
            "picture": product_picture(draws, bank.lists["products"], name),
        }
        for name in draws.some(bank.lists["products"], draws.integer(2, 5))
    ]
    return view, base | {
        "goods": goods,
        "traits": [bank.ui[key] for key in draws.some(_TRAITS, draws.integer(3, 7))],
        "best": draws.integer(0, 2),
        "text": draws.some(bank.lists["praise"], 4),
        "lead": draws.pick(bank.lists["sentences"]),
        "kind": draws.pick(("table", "cards", "pair", "bars")),
        "has": flags(
            draws,
            {
                "pictures": 0.6,
                "stars": 0.6,
                "buttons": 0.5,
                "lead": 0.5,
                "words": 0.4,
                "verdict": 0.5,
                "filter": 0.35,
                "badge": 0.5,
                "differ": 0.3,
                "groups": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    goods = params["goods"]
    head = el(
        "header.stack",
        el("h1.title#title@title", " · ".join(good["name"] for good in goods[:2])),
        el("p.muted#lead@introduction", params["lead"]) if page.has("lead") else None,
        tick(page.say("details"), "differ", True) if page.has("differ") else None,
    )
    if params["kind"] == "table" and page.wide:
        listed: Content = el("div.sheet", _table(page))
    else:
        count = 2 if params["kind"] == "pair" else min(len(goods), 4)
        listed = el(f"div{page.cols(max(count, 2))}", [_card(page, k, good) for k, good in enumerate(goods)])
    verdict = el(
        "section.panel.stack",
        el("h2.heading#verdict@heading", page.say("results")),
        el("p#winner@winner", goods[params["best"]]["name"]),
        el("p", params["text"][0]),
    )
    body = [
        head,
        pills([page.say(key) for key in ("all", "price", "reviews")], 0) if page.has("filter") else None,
        listed,
        verdict if page.has("verdict") else None,
    ]
    return finished(page, page.say("details"), site(page, body), STYLES)


def _mark(page: Page, value: int) -> Content:
    return (
        icon("check", 18, page.say("yes"))
        if value == 2
        else icon("cross", 18, page.say("no"))
        if value == 0
        else page.say("medium")
    )


def _heads(page: Page) -> list[Node]:
    best = page.params["best"]
    return [
        el(
            "th.cell.best" if k == best else "th.cell",
            {"scope": "col"},
            picture(good["picture"], page.tokens, good["name"], 1.5) if page.has("pictures") else None,
            el(f"p.strong#good-{k}@product", good["name"]),
            el("span.badge.badge-ok", page.say("popular")) if k == best and page.has("badge") else None,
        )
        for k, good in enumerate(page.params["goods"])
    ]


def _table(page: Page) -> Node:
    p = page.params
    best = p["best"]
    cell = "td.cell"

    def row(name: str, cells: list[Content]) -> Node:
        return el(
            "tr",
            el("th.cell", {"scope": "row"}, name),
            [el(f"{cell}.best" if k == best else cell, item) for k, item in enumerate(cells)],
        )

    rows = [row(page.say("price"), [el("strong", money(page.lang, good["price"])) for good in p["goods"]])]
    rows += (
        [row(page.say("reviews"), [stars(good["stars"], page.say("reviews")) for good in p["goods"]])]
        if page.has("stars")
        else []
    )
    rows += (
        [el("tr", el("th.cell.cell-head", {"colspan": str(len(p["goods"]) + 1)}, page.say("features")))]
        if page.has("groups")
        else []
    )
    rows += [row(name, [_mark(page, good["traits"][k]) for good in p["goods"]]) for k, name in enumerate(p["traits"])]
    rows += (
        [
            row(
                page.say("choose"),
                [
                    button(page.say("choose"), f"choose-{k}", "" if k == best else "ghost")
                    for k in range(len(p["goods"]))
                ],
            )
        ]
        if page.has("buttons")
        else []
    )
    return el(
        "table.table",
        el("thead", el("tr", el("th.cell", {"scope": "col"}, page.say("title")), _heads(page))),
        el("tbody", rows),
    )


def _card(page: Page, place: int, good: Mapping[str, Any]) -> Node:
    p = page.params
    traits: Content = [
        el("li.trait", el("span", name), el("span", _mark(page, good["traits"][k])))
        for k, name in enumerate(p["traits"])
    ]
    if p["kind"] == "bars":
        traits = [
            el("li.stack.tight", el("span.small", name), meter(30 + 30 * good["traits"][k], name))
            for k, name in enumerate(p["traits"])
        ]
    best = place == p["best"]
    return el(
        "article.card.stack.win" if best else "article.card.stack",
        picture(good["picture"], page.tokens, good["name"], 1.6) if page.has("pictures") else None,
        el("p", el("span.badge.badge-ok", page.say("popular"))) if best and page.has("badge") else None,
        el(f"h2.subheading#good-{place}@product", good["name"]),
        stars(good["stars"], page.say("reviews")) if page.has("stars") else None,
        el(f"p.strong#price-{place}@price", money(page.lang, good["price"])),
        el("p.small.muted", p["text"][place % 4]) if page.has("words") else None,
        el("ul.list" if p["kind"] == "bars" else "ul", traits),
        button(page.say("choose"), f"choose-{place}", "" if best else "ghost") if page.has("buttons") else None,
    )
