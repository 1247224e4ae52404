"""Product pages: a large picture with small ones, price, choices, a buy button, details, opinions."""

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
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    stars,
    tabs,
)

STYLES = {
    **CHROME,
    "show": "display:grid;grid-template-columns:minmax(0,6fr) minmax(0,5fr);gap:$s6;align-items:start",
    "thumbs": "display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:$s2",
    "price": "font-size:$f5;font-weight:700",
    "swatch": "width:30px;height:30px;border-radius:50%;border:2px solid $line;flex:none",
    "swatch-on": "border:3px solid $text",
    "size": "min-width:42px;padding:$s1 $s2;border:1px solid $line;border-radius:$rs;text-align:center;"
    "background:$surface;color:$text",
    "size-on": "background:$accent;color:$on_accent;border-color:$accent",
    "spec": "display:grid;grid-template-columns:180px minmax(0,1fr);gap:$s3;padding:$s2 0;"
    "border-bottom:1px solid $line",
    "opinion": "display:flex;flex-direction:column;gap:$s1;border-top:1px solid $line;padding-top:$s3",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    names = draws.some(lists["products"], 5)
    reviews = [
        {"who": draws.pick(lists["people"]), "stars": draws.integer(2, 6), "text": t}
        for t in draws.some(lists["praise"], 3)
    ]
    has = {
        "thumbs": 0.6,
        "stars": 0.7,
        "old": 0.4,
        "colours": 0.5,
        "sizes": 0.5,
        "count": 0.5,
        "wish": 0.4,
        "details": 0.5,
        "opinions": 0.6,
        "tabs": 0.3,
        "stock": 0.6,
        "more": 0.4,
    }
    return view, base | {
        "names": names,
        "text": draws.some(lists["sentences"], 2),
        "price": draws.integer(9, 240) * 100 - 10,
        "pictures": [product_picture(draws, lists["products"], name) for name in [names[0]] * 5 + names[1:4]],
        "stars": draws.integer(3, 6),
        "on": draws.integer(0, 4),
        "reviews": reviews,
        "kind": draws.pick(("left", "right", "stacked")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    shown, info = _shown(page), _info(page)
    if params["kind"] == "right" and page.wide:
        top = el("div.show", info, shown)
    else:
        top = el("div.show" if page.wide else "div.stack", shown, info)
    body = [
        top,
        tabs([page.say(key) for key in ("details", "reviews", "shipping")], 0) if page.has("tabs") else None,
        _details(page) if page.has("details") or page.has("tabs") else None,
        _opinions(page) if page.has("opinions") else None,
        _more(page) if page.has("more") else None,
    ]
    return finished(page, params["names"][0], site(page, body, title=params["names"][0]), STYLES)


def _shown(page: Page) -> Node:
    drawn = [picture(data, page.tokens, page.params["names"][0], 1.25) for data in page.params["pictures"][:5]]
    small = [
        el("button", {"type": "button", "style": "border:0;background:none", "aria-label": f"{k + 1}"}, node)
        for k, node in enumerate(drawn[1:])
    ]
    return el("section.stack", drawn[0], el("div.thumbs", small) if page.has("thumbs") else None)


def _info(page: Page) -> Node:
    p = page.params
    price = [el("span.price#price@price", money(page.lang, p["price"]))]
    if page.has("old"):
        price += [el("s.muted", money(page.lang, p["price"] * 4 // 3)), el("span.badge.badge-bad", "-25 %")]
    count = el(
        "input.input#count",
        {"type": "number", "value": "1", "min": "1", "aria-label": page.say("quantity"), "style": "width:80px"},
    )
    colours = [
        el(
            "span.swatch.swatch-on" if k == p["on"] else "span.swatch",
            {
                "role": "radio",
                "aria-checked": str(k == p["on"]).lower(),
                "aria-label": str(k + 1),
                "style": f"background:{page.tokens[f'c{k + 1}']}",
            },
        )
        for k in range(4)
    ]
    sizes = [
        el(
            "button.size.size-on" if k == p["on"] else "button.size",
            {"type": "button"},
            {"disabled": None} if k == 3 and p["on"] != 3 else None,
            text,
        )
        for k, text in enumerate(("S", "M", "L", "XL"))
    ]
    return el(
        "section.stack",
        el("h1.title#name@product", p["names"][0]),
        stars(p["stars"], page.say("reviews")) if page.has("stars") else None,
        el("p.row.wrap", price),
        el("p#text@description", p["text"][0]),
        el("div.row", {"role": "radiogroup", "aria-label": page.say("theme")}, colours)
        if page.has("colours")
        else None,
        el("div.row.wrap", sizes) if page.has("sizes") else None,
        el("p.ok.row", icon("check"), el("span#stock@stock", page.say("in_stock"))) if page.has("stock") else None,
        el(
            "div.row.wrap",
            count if page.has("count") else None,
            button(page.say("add_to_cart"), "add"),
            button(page.say("like"), "wish", "ghost") if page.has("wish") else None,
        ),
    )


def _details(page: Page) -> Node:
    p = page.params
    rows = [
        el("div.spec", el("dt.muted", page.say(key)), el("dd", text))
        for key, text in (("size", "24 × 18 cm"), ("type", p["names"][0]), ("price", money(page.lang, p["price"])))
    ]
    return el(
        "section.stack",
        el("h2.heading#details@heading", page.say("details")),
        el("p", p["text"][1]),
        el("dl", rows),
    )


def _opinions(page: Page) -> Node:
    rows = [
        el(
            "article.opinion",
            el("div.row", face(r["who"]), el("strong", r["who"]), stars(r["stars"], page.say("score"))),
            el("p", r["text"]),
        )
        for r in page.params["reviews"]
    ]
    return el("section.stack", el("h2.heading#opinions@heading", page.say("reviews")), rows)


def _more(page: Page) -> Node:
    cards = [
        el(
            "article.card.stack",
            picture(page.params["pictures"][5 + k], page.tokens, name, 1.5),
            el(f"h3.strong#more-{k}@product", name),
        )
        for k, name in enumerate(page.params["names"][1:4])
    ]
    return el("section.stack", el("h2.heading", page.say("related")), el(f"div{page.cols(3)}", cards))
