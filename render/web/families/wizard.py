"""Steps of a set-up: a row of steps, the form of the present one, help beside, back and next."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    area,
    button,
    choice,
    field,
    meter,
    table,
    tick,
)

STYLES = {
    **CHROME,
    "way": "display:flex;gap:$s2;align-items:center;flex-wrap:wrap",
    "way-line": "flex:1;height:2px;background:$line;min-width:12px",
    "stage": "display:flex;align-items:center;gap:$s2",
    "option": "border:1px solid $line;border-radius:$r;padding:$s4;display:flex;flex-direction:column;"
    "gap:$s2;background:$surface",
    "option-on": "border:2px solid $accent;background:$soft;color:$text",
    "form": "display:flex;flex-direction:column;gap:$s4",
    "vertical": "display:flex;flex-direction:column;gap:$s4",
}
_STEPS = ("account", "profile", "address", "checkout")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    return view, base | {
        "step": draws.integer(0, 4),
        "person": draws.pick(lists["people"]),
        "city": draws.some(lists["cities"], 3),
        "text": draws.some(lists["sentences"], 3),
        "topics": draws.some(lists["topics"], 4),
        "on": draws.integer(0, 3),
        "ticks": [draws.chance(0.5) for _ in range(4)],
        "kind": draws.pick(("top", "side", "card", "bar")),
        "form": draws.pick(("fields", "options", "ticks", "check", "mixed")),
        "has": flags(
            draws, {"lead": 0.6, "help": 0.4, "skip": 0.4, "names": 0.7, "save": 0.3, "note": 0.4, "done": 0.4}
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    title = page.say(_STEPS[params["step"]])
    head = el(
        "header.stack",
        el("h1.title#title@title", title),
        el("p.muted#lead@introduction", params["text"][0]) if page.has("lead") else None,
    )
    form = el(
        "form.form",
        _form(page),
        el("p.panel.small#note@note", params["text"][1]) if page.has("note") else None,
        _buttons(page),
    )
    help_ = (
        el(
            "aside.card.stack",
            el("h2.subheading#help@heading", page.say("help")),
            el("p", params["text"][2]),
            el("a.link", {"href": "#"}, page.say("contact")),
        )
        if page.has("help")
        else None
    )
    kind = params["kind"]
    if kind == "side" and page.wide:
        body: Content = el("div.side-main", el("nav.card", _way(page, True)), el("div.stack", head, form, help_))
    elif kind == "bar":
        body = [
            el(
                "div.stack",
                el("span.small.muted#progress@progress", f"{page.say('step')} {params['step'] + 1} {page.say('of')} 4"),
                meter(25 * (params["step"] + 1), page.say("step")),
            ),
            head,
            el("div.main-side" if help_ and page.wide else "div.stack", form, help_),
        ]
    elif kind == "card":
        body = el("section.card.stack", _way(page, False), head, form, help_)
    else:
        body = [_way(page, False), head, form, help_]
    return finished(page, title, site(page, body, narrow=kind == "card"), STYLES)


def _buttons(page: Page) -> Node:
    return el(
        "div.row.between.wrap",
        button(page.say("back"), "back", "ghost") if page.params["step"] else el("span", ""),
        el(
            "div.row",
            button(page.say("cancel"), "skip", "quiet") if page.has("skip") else None,
            button(page.say("next"), "next"),
        ),
    )


def _way(page: Page, upright: bool) -> Node:
    step = page.params["step"]
    rows: list[Node] = []
    for k, key in enumerate(_STEPS):
        mark = icon("check", 16) if page.has("done") and k < step else str(k + 1)
        name = el(f"span#step-{k}@step", page.say(key)) if page.has("names") and (page.wide or k == step) else None
        rows.append(
            el(
                "li.stage",
                {"aria-current": "step"} if k == step else None,
                el("span.step-no.step-on" if k <= step else "span.step-no", mark),
                name,
            )
        )
        if not upright and k < 3 and page.wide:
            rows.append(el("li.way-line", {"aria-hidden": "true"}))
    return el("ol.vertical" if upright else "ol.way", rows)


def _form(page: Page) -> Content:
    p, kind = page.params, page.params["form"]
    pair = "div.cols2" if page.wide else "div.stack"
    fields = el(
        pair,
        field(page.say("name"), "name", value=p["person"], required=True),
        field(page.say("email"), "email", "email", required=True),
        field(page.say("phone"), "phone", "tel"),
        choice(page.say("city"), "city", p["city"], 1),
    )
    options = [
        el(
            "label.option.option-on" if k == p["on"] else "label.option",
            {"for": f"plan-{k}"},
            el(
                "div.row",
                el(
                    f"input.tick#plan-{k}",
                    {"type": "radio", "name": "plan"},
                    {"checked": None} if k == p["on"] else None,
                ),
                el("strong", page.say(key)),
            ),
            el("span.small.muted" if k != p["on"] else "span.small", p["text"][k]),
        )
        for k, key in enumerate(("basic", "pro", "business"))
    ]
    ticks = el("div.list", [tick(text, f"topic-{k}", p["ticks"][k]) for k, text in enumerate(p["topics"])])
    facts = [
        [page.say(key), text]
        for key, text in (
            ("name", p["person"]),
            ("city", p["city"][0]),
            ("email", "user@mail.example"),
            ("type", page.say("pro")),
        )
    ]
    if kind == "fields":
        return [fields, area(page.say("message"), "message")]
    if kind == "options":
        return el(f"div{page.cols(3)}", options)
    if kind == "ticks":
        return [el("p.label", page.say("categories")), ticks]
    if kind == "check":
        return [
            table([page.say("title"), page.say("details")], facts, key="facts"),
            tick(page.say("agree"), "agree", True),
        ]
    return [fields, ticks]
