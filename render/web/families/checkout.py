"""Checkouts: address, delivery, payment, and a summary of the order."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import money
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    area,
    button,
    choice,
    field,
    tick,
)

STYLES = {
    **CHROME,
    "line": "display:flex;justify-content:space-between;gap:$s3",
    "sum": "border-top:1px solid $line;padding-top:$s3;font-weight:700;font-size:$f3",
    "option": "border:1px solid $line;border-radius:$r;padding:$s3;display:flex;"
    "align-items:center;gap:$s3;background:$surface",
    "option-on": "border:2px solid $accent;background:$soft;color:$text",
    "form": "display:flex;flex-direction:column;gap:$s4",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    items = [
        [name, draws.integer(1, 4), draws.integer(900, 12000)]
        for name in draws.some(lists["products"], draws.integer(2, 5))
    ]
    has = {
        "steps": 0.5,
        "phone": 0.4,
        "ways": 0.6,
        "card": 0.6,
        "coupon": 0.4,
        "note": 0.3,
        "save": 0.5,
        "tax": 0.5,
        "back": 0.4,
    }
    return view, base | {
        "items": items,
        "person": draws.pick(lists["people"]),
        "city": draws.pick(lists["cities"]),
        "post": f"{draws.integer(10000, 99999)}",
        "cities": draws.some(lists["cities"], 3),
        "way": draws.integer(0, 2),
        "step": draws.integer(1, 4),
        "fee": draws.pick((0, 390, 590)),
        "kind": draws.pick(("side", "first", "stacked")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    form, bill = _form(page), _bill(page)
    kind = params["kind"]
    if kind == "stacked" or not page.wide:
        body = el("div.stack", form, bill)
    elif kind == "side":
        body = el("div.main-side", form, bill)
    else:
        body = el("div.side-main", {"style": "grid-template-columns:300px minmax(0,1fr)"}, bill, form)
    steps = None
    if page.has("steps"):
        names = ("cart", "address", "checkout")
        steps = el(
            "ol.steps",
            [
                el(
                    "li.row",
                    {"aria-current": "step"} if k + 1 == params["step"] else None,
                    el("span.step-no.step-on" if k + 1 == params["step"] else "span.step-no", str(k + 1)),
                    el("span", page.say(key)),
                )
                for k, key in enumerate(names)
            ],
        )
    return finished(
        page, page.say("checkout"), site(page, el("h1.title#title@title", page.say("checkout")), steps, body), STYLES
    )


def _form(page: Page) -> Node:
    p = page.params
    pair = "div.cols2" if page.wide else "div.stack"
    address = el(
        "section.card.stack",
        el("h2.subheading", page.say("address")),
        el(
            pair,
            field(page.say("name"), "name", value=p["person"], required=True),
            field(page.say("email"), "email", "email", required=True),
        ),
        field(page.say("address"), "street", required=True),
        el(
            pair,
            field(page.say("postcode"), "postcode", value=p["post"]),
            choice(page.say("city"), "city", [p["city"], *p["cities"]]),
        ),
        field(page.say("phone"), "phone", "tel") if page.has("phone") else None,
        tick(page.say("save"), "keep", True) if page.has("save") else None,
    )
    card = el(
        "section.card.stack",
        el("h2.subheading#payment@heading", page.say("checkout")),
        field("IBAN", "iban", value="DE00 1234 5678"),
        el("div.cols2", field("MM / YY", "until", value="08 / 29"), field("CVC", "cvc", value="123")),
    )
    note = area(page.say("message"), "note", 2) if page.has("note") else None
    back = button(page.say("back"), "back", "ghost") if page.has("back") else None
    buttons = el("div.row.between", back, button(page.say("continue"), "continue"))
    return el(
        "form.form",
        address,
        _ways(page) if page.has("ways") else None,
        card if page.has("card") else None,
        note,
        buttons,
    )


def _ways(page: Page) -> Node:
    p = page.params
    prices = ((page.say("free"), 0), (money(page.lang, 590), 590))
    rows = [
        el(
            "label.option.option-on" if k == p["way"] else "label.option",
            {"for": f"way-{k}"},
            el(f"input.tick#way-{k}", {"type": "radio", "name": "way"}, {"checked": None} if k == p["way"] else None),
            el("span", f"{page.say('shipping')} {k + 1}"),
            el("span.push.strong", text),
        )
        for k, (text, _) in enumerate(prices)
    ]
    return el("fieldset.stack", el("legend.subheading", page.say("shipping")), rows)


def _bill(page: Page) -> Node:
    p = page.params
    total = sum(count * price for _, count, price in p["items"])
    rows = [
        el("li.line", el("span", f"{count} × {name}"), el("span.num", money(page.lang, count * price)))
        for name, count, price in p["items"]
    ]
    coupon = {"type": "text", "name": "coupon", "placeholder": page.say("discount"), "aria-label": page.say("discount")}
    return el(
        "aside.card.stack",
        el("h2.subheading#summary@heading", page.say("cart")),
        el("ul.list", rows),
        el("div.row", el("input.input", coupon), button("OK", "use", "ghost")) if page.has("coupon") else None,
        el("p.line", el("span", page.say("shipping")), el("span", money(page.lang, p["fee"]))),
        el("p.line.muted", el("span", page.say("tax")), el("span", money(page.lang, total // 5)))
        if page.has("tax")
        else None,
        el("p.line.sum", el("span", page.say("total")), el("span#total@total", money(page.lang, total + p["fee"]))),
    )
