"""Carts: what was chosen, how many, what it costs, a sum and the way to pay."""

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
    table,
    tick,
)

STYLES = {
    **CHROME,
    "item": "display:grid;grid-template-columns:96px minmax(0,1fr) auto;gap:$s3;align-items:center;"
    "border-bottom:1px solid $line;padding:$s3 0",
    "item-bare": "grid-template-columns:minmax(0,1fr) auto",
    "what": "display:flex;flex-direction:column;gap:$s2;align-items:flex-start;min-width:0",
    "paid": "display:flex;flex-direction:column;gap:$s2;align-items:flex-end",
    "count": "display:inline-flex;align-items:center;border:1px solid $line;border-radius:$rs;background:$surface",
    "count-btn": "padding:$s1 $s3;border:0;background:none;color:$text",
    "line": "display:flex;justify-content:space-between;gap:$s3",
    "sum": "border-top:1px solid $line;padding-top:$s3;font-weight:700;font-size:$f3",
    "note": "background:$ok_soft;color:$on_ok;padding:$s2 $s3;border-radius:$rs",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    items = [
        {
            "name": name,
            "count": draws.integer(1, 5),
            "price": draws.integer(5, 99) * 100 - 1,
            "picture": product_picture(draws, bank.lists["products"], name),
        }
        for name in draws.some(bank.lists["products"], draws.integer(2, 6))
    ]
    has = {
        "note": 0.4,
        "remove": 0.6,
        "stock": 0.5,
        "coupon": 0.5,
        "tax": 0.5,
        "back": 0.5,
        "more": 0.4,
        "gift": 0.4,
        "picture": 0.7,
    }
    return view, base | {
        "items": items,
        "kind": draws.pick(("rows", "table", "cards")),
        "more": draws.some(bank.lists["brands"], 3),
        "text": draws.pick(bank.lists["sentences"]),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    items = params["items"]
    kind = params["kind"] if page.wide else "rows"
    if kind == "table":
        heads = [page.say(key) for key in ("title", "price", "quantity", "total")]
        rows = [
            [
                item["name"],
                money(page.lang, item["price"]),
                _count(item),
                money(page.lang, item["price"] * item["count"]),
            ]
            for item in items
        ]
        goods: Content = table(heads, rows, numeric=(1, 3), key="goods")
    elif kind == "cards":
        goods = el("div.cols2", [el("article.card.stack", _item(page, k, item)) for k, item in enumerate(items)])
    else:
        goods = el(
            "ul",
            [
                el("li.item" if page.has("picture") else "li.item.item-bare", _item(page, k, item))
                for k, item in enumerate(items)
            ],
        )
    main = el(
        "section.stack",
        el("p.note#note@notice", {"role": "status"}, params["text"]) if page.has("note") else None,
        goods,
        el(
            "div.row.between.wrap",
            button(page.say("back"), "back", "ghost"),
            button(page.say("delete"), "empty", "ghost"),
        )
        if page.has("back")
        else None,
    )
    count = sum(item["count"] for item in items)
    head = el("h1.title#title@title", f"{page.say('cart')} ({count})")
    body = el("div.main-side" if page.wide else "div.stack", main, _bill(page))
    return finished(page, page.say("cart"), site(page, head, body, title=page.say("cart")), STYLES)


def _count(item: Mapping[str, Any]) -> Node:
    return el(
        "div.count",
        el(
            "button.count-btn",
            {"type": "button", "aria-label": "-"},
            {"disabled": None} if item["count"] == 1 else None,
            "−",
        ),
        el("span", str(item["count"])),
        el("button.count-btn", {"type": "button", "aria-label": "+"}, "+"),
    )


def _item(page: Page, place: int, item: Mapping[str, Any]) -> list[Content]:
    remove = (
        el("button.btn.quiet", {"type": "button", "aria-label": page.say("delete")}, icon("trash", 16))
        if page.has("remove")
        else None
    )
    return [
        picture(item["picture"], page.tokens, item["name"], 1.2) if page.has("picture") else None,
        el(
            "div.what",
            el(f"h2.strong#item-{place}@product", item["name"]),
            el("p.small.ok", page.say("in_stock")) if page.has("stock") else None,
            _count(item),
        ),
        el("div.paid", el("span.strong.num", money(page.lang, item["price"] * item["count"])), remove),
    ]


def _bill(page: Page) -> Node:
    total = sum(item["price"] * item["count"] for item in page.params["items"])
    coupon = {"type": "text", "name": "coupon", "placeholder": page.say("discount"), "aria-label": page.say("discount")}
    return el(
        "aside.card.stack",
        el("p.line", el("span", page.say("subtotal")), el("span#subtotal@subtotal", money(page.lang, total))),
        el("p.line", el("span", page.say("shipping")), el("span", page.say("free"))),
        el("p.line.muted", el("span", page.say("tax")), el("span", money(page.lang, total // 6)))
        if page.has("tax")
        else None,
        el("div.row", el("input.input", coupon), button("OK", "use", "ghost")) if page.has("coupon") else None,
        tick(page.say("message"), "gift", True) if page.has("gift") else None,
        el("p.line.sum", el("span", page.say("total")), el("span#total@total", money(page.lang, total))),
        button(page.say("checkout"), "checkout", "block"),
        el("ul.row.wrap.small", [el("li.badge", text) for text in page.params["more"]]) if page.has("more") else None,
    )
