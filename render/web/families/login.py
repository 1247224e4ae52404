"""Log-in pages: a card, a half picture, a bar across, with help, errors, other ways in."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, brand, header, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    field,
    tabs,
    tick,
)

STYLES = {
    **CHROME,
    "middle": "min-height:100vh;display:flex;flex-direction:column;align-items:center;"
    "justify-content:center;padding:$s4;gap:$s4",
    "box": "width:100%;max-width:400px;display:flex;flex-direction:column;gap:$s3",
    "halves": "display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);min-height:100vh",
    "half": "display:flex;flex-direction:column;justify-content:center;padding:$s6;gap:$s3;background:$surface",
    "drawn": "background:$soft;display:flex;flex-direction:column;justify-content:center;padding:$s5;"
    "gap:$s4;color:$text",
    "alert": "background:$bad_soft;color:$on_bad;padding:$s2 $s3;border-radius:$rs",
    "bar": "display:flex;gap:$s3;align-items:flex-end;flex-wrap:wrap",
    "foot-links": "display:flex;flex-wrap:wrap;gap:$s2 $s4;justify-content:center;font-size:$f0;color:$muted",
    "form": "display:flex;flex-direction:column;gap:$s3",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.5)
    return view, base | {
        "kind": draws.pick(("card", "halves", "turned", "site", "open")),
        "slogan": draws.pick(bank.lists["slogans"]),
        "text": draws.pick(bank.lists["sentences"]),
        "points": draws.some(bank.lists["topics"], 5),
        "news": draws.some(bank.lists["headlines"], 3),
        "on": draws.chance(0.5),
        "picture": sample_picture(draws),
        "langs": draws.some(("English", "Deutsch", "Français", "Español", "Polski"), 4),
        "has": flags(
            draws,
            {
                "error": 0.3,
                "remember": 0.7,
                "forgot": 0.7,
                "others": 0.55,
                "sign": 0.6,
                "langs": 0.5,
                "mark": 0.6,
                "lead": 0.4,
                "code": 0.2,
                "news": 0.5,
                "foot": 0.6,
                "tabs": 0.35,
                "top": 0.4,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    kind = params["kind"]
    side = el(
        "aside.drawn",
        picture(params["picture"], page.tokens, "", 1.5),
        el("h2.heading#slogan@slogan", params["slogan"]),
        el("ul.row.wrap", [el("li.badge.badge-ok", text) for text in params["points"]]),
    )
    langs = (
        el("nav.row.wrap.small", [el("a.link", {"href": "#"}, text) for text in params["langs"]])
        if page.has("langs")
        else None
    )
    foot = (
        el(
            "footer.foot-links",
            el("span", f"© {params['chrome']['year']} {params['chrome']['brand']}"),
            [el("a", {"href": "#"}, page.say(key)) for key in ("privacy", "security", "contact", "help")],
        )
        if page.has("foot")
        else None
    )
    top = header(page) if page.has("top") else None
    form = el("div.half", _form(page), langs, foot)
    if kind in ("halves", "turned") and page.wide:
        body: Content = el("div.halves", [side, form] if kind == "halves" else [form, side])
    elif kind == "site":
        body = site(
            page, el("div.main-side" if page.wide else "div.stack", el("section.card", _form(page)), _news(page))
        )
    elif kind == "open":
        body = [top, el("main.middle", el("div.box", _form(page)), langs, foot)]
    else:
        main = el(
            "main.middle",
            None if top else brand(page),
            el("div.box.card", _form(page)),
            _news(page) if page.has("news") else None,
            langs,
            foot,
        )
        body = [top, main]
    return finished(page, page.say("log_in"), body, STYLES)


def _form(page: Page) -> Node:
    p = page.params
    row = [
        tick(page.say("remember"), "remember", p["on"]) if page.has("remember") else None,
        el("a.link.small#forgot@link", {"href": "#"}, page.say("forgot")) if page.has("forgot") else None,
    ]
    code = el(
        "div.row",
        [
            el(
                "input.input",
                {"type": "text", "value": text, "aria-label": f"{k + 1}", "style": "width:46px;text-align:center"},
            )
            for k, text in enumerate("4071")
        ],
    )
    return el(
        "form.form",
        el("div", icon("lock", 36)) if page.has("mark") else None,
        tabs([page.say("log_in"), page.say("sign_up")], 0) if page.has("tabs") else None,
        el("h1.title#title@title", page.say("log_in")),
        el("p.muted#lead@introduction", p["text"]) if page.has("lead") else None,
        el("p.alert#error@error", {"role": "alert"}, f"{page.say('password')}: {page.say('try_again')}")
        if page.has("error")
        else None,
        field(page.say("email"), "email", "email", "user@mail.example", required=True),
        field(page.say("password"), "password", "password", "••••••••", required=True),
        code if page.has("code") else None,
        el("div.row.between.wrap", row) if any(row) else None,
        button(page.say("log_in"), "submit", "block"),
        [el("hr.rule"), [button(name, name.lower(), "ghost.block") for name in ("Mail", "Cloud", "Phone")]]
        if page.has("others")
        else None,
        el("p.small.centre", el("a.link#sign@link", {"href": "#"}, page.say("sign_up"))) if page.has("sign") else None,
    )


def _news(page: Page) -> Node:
    return el(
        "aside.card.stack.box",
        el("h2.subheading#news@heading", page.say("news")),
        el("ul.list", [el("li", el("a.link", {"href": "#"}, text)) for text in page.params["news"]]),
    )
