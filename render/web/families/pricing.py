"""Price lists of plans: cards side by side, one recommended, what each has, monthly or yearly, a table to compare."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import money
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    table,
)

STYLES = {
    **CHROME,
    "plan": "background:$surface;border:1px solid $line;border-radius:$r;padding:$s5;display:flex;"
    "flex-direction:column;gap:$s3;box-shadow:$sh",
    "plan-on": "border:2px solid $accent",
    "cost": "font-size:$f6;font-weight:700;line-height:1.1",
    "point": "display:flex;gap:$s2;align-items:flex-start",
    "toggle": "display:inline-flex;border:1px solid $line;border-radius:$rp;padding:3px;background:$raised",
    "toggle-item": "padding:$s1 $s4;border-radius:$rp;border:0;background:none;color:$text",
    "toggle-on": "background:$accent;color:$on_accent",
}
_PLANS = ("free", "basic", "pro", "business")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    count = draws.integer(3, 5)
    return view, base | {
        "plans": list(_PLANS[4 - count :]),
        "prices": [0, 900, 2900, 7900][4 - count :],
        "on": draws.integer(0, count),
        "points": draws.some(bank.lists["topics"], 6),
        "text": draws.some(bank.lists["sentences"], 4),
        "questions": draws.some(bank.lists["faq"], 2),
        "yearly": draws.chance(0.5),
        "kind": draws.pick(("cards", "table", "rows")),
        "has": flags(
            draws,
            {
                "toggle": 0.5,
                "lead": 0.6,
                "badge": 0.6,
                "text": 0.4,
                "faq": 0.4,
                "missing": 0.5,
                "trial": 0.3,
                "centre": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    items = [
        el(
            "button.toggle-item.toggle-on" if on else "button.toggle-item",
            {"type": "button", "aria-pressed": str(on).lower()},
            page.say(key),
        )
        for key, on in (("month", not params["yearly"]), ("year", params["yearly"]))
    ]
    head = el(
        "header.stack.centre" if page.has("centre") else "header.stack",
        el("h1.title#title@title", page.say("pricing")),
        el("p.muted#lead@introduction", params["text"][0]) if page.has("lead") else None,
        el("div", el("div.toggle", {"role": "group"}, items)) if page.has("toggle") else None,
    )
    kind = params["kind"] if page.wide else "cards"
    plans: Content = _table(page) if kind == "table" else [_row(page, k) for k in range(len(params["plans"]))]
    if kind == "cards":
        plans = el(f"div{page.cols(len(params['plans']))}", [_plan(page, k) for k in range(len(params["plans"]))])
    pairs = [text.split(" = ") for text in params["questions"]]
    faq = el(
        "section.stack",
        el("h2.heading#faq@heading", page.say("faq")),
        [el("div", el("h3.strong", q), el("p.muted", a)) for q, a in pairs],
    )
    return finished(page, page.say("pricing"), site(page, head, plans, faq if page.has("faq") else None), STYLES)


def _cost(page: Page, place: int) -> Node:
    price = page.params["prices"][place] * (10 if page.params["yearly"] else 1)
    text = money(page.lang, price) if price else page.say("free")
    return el(
        "p.row.wrap",
        el(f"span.cost#price-{place}@price", text),
        el("span.small.muted", page.say("per_month")) if price and not page.params["yearly"] else None,
    )


def _plan(page: Page, place: int) -> Node:
    p = page.params
    on = place == p["on"]
    points = [
        el(
            "li.point.muted" if k > place + 2 else "li.point",
            icon("cross" if k > place + 2 else "check", 16),
            el("span", text),
        )
        for k, text in enumerate(p["points"])
        if page.has("missing") or k <= place + 2
    ]
    return el(
        "article.plan.plan-on" if on else "article.plan",
        el("p", el("span.badge", page.say("popular"))) if on and page.has("badge") else None,
        el(f"h2.subheading#plan-{place}@plan", page.say(p["plans"][place])),
        _cost(page, place),
        el("p.small.muted", p["text"][place % 4]) if page.has("text") else None,
        button(page.say("choose"), f"choose-{place}", "" if on else "ghost"),
        el("ul.list", points),
        el("p.small.centre", page.say("try_again")) if page.has("trial") and on else None,
    )


def _row(page: Page, place: int) -> Node:
    on = place == page.params["on"]
    text = el(
        "div.grow",
        el(f"h2.subheading#plan-{place}@plan", page.say(page.params["plans"][place])),
        el("p.muted", page.params["text"][place % 4]),
        el("ul.row.wrap.small", [el("li.badge", text) for text in page.params["points"][: place + 3]])
        if page.has("missing") or page.has("trial")
        else None,
    )
    return el(
        "article.card.row.plan-on" if on else "article.card.row",
        text,
        _cost(page, place),
        button(page.say("choose"), f"choose-{place}", "" if on else "ghost"),
    )


def _table(page: Page) -> Node:
    p = page.params
    count = len(p["plans"])
    heads = ["", *(page.say(key) for key in p["plans"])]
    rows: list[list[Content]] = [[page.say("price"), *(_cost(page, k) for k in range(count))]]
    rows += [
        [text, *(icon("check", 16, page.say("yes")) if k + 2 >= place else "–" for k in range(count))]
        for place, text in enumerate(p["points"])
    ]
    rows.append(
        [
            page.say("choose"),
            *(button(page.say("choose"), f"choose-{k}", "" if k == p["on"] else "ghost") for k in range(count)),
        ]
    )
    return table(heads, rows, key="plans")
