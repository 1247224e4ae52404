"""Shop lists: goods as cards or rows, filters beside or above, sorting, prices with discounts."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import money
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, product_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    pager,
    pills,
    stars,
    tick,
)

STYLES = {
    **CHROME,
    "goods": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s3",
    "goods-wide": "grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:$s4",
    "good": "display:flex;flex-direction:column;gap:$s2;min-width:0",
    "good-row": "display:grid;grid-template-columns:130px minmax(0,1fr) auto;gap:$s4;align-items:center",
    "price": "font-weight:700;font-size:$f3",
    "old": "color:$muted;text-decoration:line-through;font-size:$f1",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    goods = [
        {
            "name": name,
            "price": draws.integer(5, 140) * 100 - 10,
            "stars": draws.integer(2, 6),
            "off": draws.chance(0.3),
            "out": draws.chance(0.15),
            "picture": product_picture(draws, bank.lists["products"], name),
        }
        for name in draws.some(bank.lists["products"], draws.integer(6, 12))
    ]
    has = {
        "filters": 0.6,
        "sort": 0.6,
        "stars": 0.5,
        "button": 0.6,
        "pager": 0.4,
        "count": 0.5,
        "badge": 0.5,
        "cards": 0.6,
        "lead": 0.3,
    }
    return view, base | {
        "goods": goods,
        "kind": draws.pick(("grid", "rows", "grid")),
        "topics": draws.some(bank.lists["topics"], 5),
        "ticks": [draws.chance(0.4) for _ in range(5)],
        "slogan": draws.pick(bank.lists["slogans"]),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    rows = params["kind"] == "rows" and page.wide
    goods = [_row(page, k, good) if rows else _card(page, k, good) for k, good in enumerate(params["goods"])]
    shelf = el("div.list" if rows else "div.goods.goods-wide" if page.wide else "div.goods", goods)
    sort = el(
        "select.input",
        {"name": "sort", "aria-label": page.say("popular"), "style": "width:auto"},
        [el("option", page.say(key)) for key in ("popular", "latest", "price")],
    )
    bar = el(
        "div.row.between.wrap",
        el("p.muted#count@count", f"{len(goods)} / {len(goods) * 7}") if page.has("count") else None,
        sort if page.has("sort") else None,
    )
    head = el(
        "header.stack",
        el("h1.title#title@title", params["topics"][0]),
        el("p.muted", params["slogan"]) if page.has("lead") else None,
    )
    main = el("div.stack", bar if bar.children else None, shelf, pager(5, 2) if page.has("pager") else None)
    if page.has("filters") and page.wide:
        main = el("div.side-main", _filters(page), main)
    elif page.has("filters"):
        main = el("div.stack", pills(params["topics"], 0), main)
    return finished(page, params["topics"][0], site(page, head, main, title=params["topics"][0]), STYLES)


def _price(page: Page, good: Mapping[str, Any]) -> Content:
    now = el("span.price", money(page.lang, good["price"]))
    return [now, el("s.old", money(page.lang, good["price"] * 5 // 4))] if good["off"] else now


def _buy(page: Page, place: int, good: Mapping[str, Any]) -> Content:
    if not page.has("button"):
        return None
    return (
        button(page.say("sold_out" if good["out"] else "add_to_cart"), f"buy-{place}", "", good["out"])
        if not good["out"]
        else el("p.muted.small", page.say("sold_out"))
    )


def _card(page: Page, place: int, good: Mapping[str, Any]) -> Node:
    sale = el("p", el("span.badge.badge-bad", page.say("discount"))) if good["off"] and page.has("badge") else None
    return el(
        "article.good.card" if page.has("cards") else "article.good",
        picture(good["picture"], page.tokens, good["name"], 1.3),
        el(f"h3.strong#good-{place}@product", good["name"]),
        stars(good["stars"], page.say("reviews")) if page.has("stars") else None,
        el("p.row.wrap", _price(page, good)),
        sale,
        _buy(page, place, good),
    )


def _row(page: Page, place: int, good: Mapping[str, Any]) -> Node:
    text = el(
        "div.good",
        el(f"h3.subheading#good-{place}@product", good["name"]),
        stars(good["stars"], page.say("reviews")) if page.has("stars") else None,
        el("p.small.ok", page.say("in_stock")) if page.has("badge") and not good["out"] else None,
    )
    side = el("div.good.end", el("p.row", _price(page, good)), _buy(page, place, good))
    return el("article.card.good-row", picture(good["picture"], page.tokens, good["name"], 1.3), text, side)


def _filters(page: Page) -> Node:
    p = page.params
    ticks = [el("li", tick(text, f"topic-{k}", p["ticks"][k])) for k, text in enumerate(p["topics"])]
    slider = el("input", {"type": "range", "name": "price", "aria-label": page.say("price"), "style": "width:100%"})
    return el(
        "aside.card.stack",
        el("h2.subheading", page.say("categories")),
        el("ul.list", ticks),
        el("h3.strong", page.say("price")),
        slider,
        el("p.row.between.small.muted", el("span", money(page.lang, 0)), el("span", money(page.lang, 20000))),
    )
