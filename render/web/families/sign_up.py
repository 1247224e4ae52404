"""Sign-up forms: a card alone, a split page with a promise beside, or a form in sections."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, brand, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    choice,
    field,
    tick,
)

STYLES = {
    **CHROME,
    "middle": "min-height:100vh;display:flex;flex-direction:column;gap:$s4;align-items:center;"
    "justify-content:center;padding:$s4",
    "pair": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s2 $s4",
    "foot-links": "display:flex;flex-wrap:wrap;gap:$s2 $s4;justify-content:center;font-size:$f0;color:$muted",
    "box": "width:100%;max-width:440px;display:flex;flex-direction:column;gap:$s3",
    "split": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));min-height:100vh",
    "promise": "background:$accent;color:$on_accent;padding:$s7;display:flex;flex-direction:column;gap:$s4;"
    "justify-content:center",
    "form-side": "padding:$s6 $s4;display:flex;align-items:center;justify-content:center;background:$bg",
    "or": "text-align:center;color:$muted;font-size:$f0",
    "form": "display:flex;flex-direction:column;gap:$s3",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.55)
    person = draws.pick(bank.lists["people"])
    has = {
        "lead": 0.5,
        "phone": 0.3,
        "country": 0.4,
        "others": 0.5,
        "agree": 0.7,
        "news": 0.4,
        "login": 0.7,
        "two": 0.3,
        "error": 0.2,
        "list": 0.6,
        "quote": 0.4,
        "steps": 0.4,
        "topics": 0.45,
        "foot": 0.6,
        "langs": 0.4,
        "brand": 0.5,
    }
    return view, base | {
        "kind": draws.pick(("card", "split", "site", "flat")),
        "person": person if draws.chance(0.5) else "",
        "cities": draws.some(bank.lists["cities"], 4),
        "slogan": draws.pick(bank.lists["slogans"]),
        "praise": draws.pick(bank.lists["praise"]),
        "points": draws.some(bank.lists["tasks"], 3),
        "agreed": draws.chance(0.5),
        "topics": [[text, draws.chance(0.4)] for text in draws.some(bank.lists["topics"], 6)],
        "langs": draws.some(("English", "Deutsch", "Français", "Español", "Polski"), 4),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    kind, title = params["kind"], page.say("sign_up")
    if kind == "split" and page.wide:
        body: Content = el("div.split", _promise(page), el("main.form-side", el("div.box", _form(page), _foot(page))))
    elif kind == "site":
        body = site(page, el("section.card.box", {"style": "margin:0 auto"}, _form(page)), _foot(page))
    elif kind == "flat":
        body = el("main.page.narrow.stack", brand(page), _form(page), _foot(page))
    else:
        body = el(
            "main.middle", brand(page) if page.has("brand") else None, el("div.box.card", _form(page)), _foot(page)
        )
    return finished(page, title, body, STYLES)


def _form(page: Page) -> list[Content]:
    p = page.params
    names = [field(page.say("name"), "name", value=p["person"], required=True)]
    names += [field(page.say("phone"), "phone", "tel")] if page.has("phone") else []
    first = el("div.cols2", names) if page.has("two") and len(names) > 1 and page.wide else names
    problem = el("p.bad.small#problem@error", {"role": "alert"}, f"{page.say('email')}: {page.say('required')}")
    fields: list[Content] = [
        first,
        field(page.say("email"), "email", "email", required=True),
        problem if page.has("error") else None,
        field(page.say("password"), "password", "password", "••••••••", required=True),
        choice(page.say("city"), "city", p["cities"], 1) if page.has("country") else None,
        _topics(page) if page.has("topics") else None,
        tick(page.say("agree"), "agree", p["agreed"]) if page.has("agree") else None,
        tick(page.say("newsletter"), "news", not p["agreed"]) if page.has("news") else None,
        button(page.say("sign_up"), "submit", "block"),
    ]
    others = [
        el("p.or", "·"),
        [button(name, f"with-{name.lower()}", "ghost.block") for name in ("Mail", "Cloud", "Phone")],
    ]
    return [
        el(
            "header.stack",
            el("h1.title#title@title", page.say("sign_up")),
            el("p.muted#lead@introduction", p["slogan"]) if page.has("lead") else None,
        ),
        _steps(page) if page.has("steps") else None,
        el("form.form", fields),
        others if page.has("others") else None,
        el("p.centre.small", el("a.link#login@link", {"href": "#"}, page.say("log_in"))) if page.has("login") else None,
    ]


def _steps(page: Page) -> Node:
    rows = [
        el("li.row", el("span.step-no.step-on" if k == 0 else "span.step-no", str(k + 1)), el("span", page.say(key)))
        for k, key in enumerate(("account", "profile", "settings"))
    ]
    return el("ol.steps.small", rows)


def _topics(page: Page) -> Node:
    ticks = [tick(text, f"topic-{k}", on) for k, (text, on) in enumerate(page.params["topics"])]
    return el("fieldset.stack", el("legend.label", page.say("categories")), el("div.pair", ticks))


def _foot(page: Page) -> list[Content]:
    links = [el("a", {"href": "#"}, page.say(key)) for key in ("privacy", "security", "contact", "help")]
    langs = [el("a.link", {"href": "#"}, text) for text in page.params["langs"]]
    return [
        el("nav.foot-links", langs) if page.has("langs") else None,
        el("nav.foot-links", links) if page.has("foot") else None,
    ]


def _promise(page: Page) -> Node:
    p = page.params
    points = [el("li.row", icon("check"), el("span", text)) for text in p["points"]]
    return el(
        "aside.promise",
        el("h2.title#promise@slogan", p["slogan"]),
        el("ul.list", points) if page.has("list") else None,
        el("blockquote", f"“{p['praise']}”") if page.has("quote") else None,
    )
