"""Landing pages: a promise with buttons, features, figures, voices of customers, questions, a last call."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    stars,
)

STYLES = {
    **CHROME,
    "hero": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s6;align-items:center;padding:$s5 0",
    "hero-mid": "display:flex;flex-direction:column;gap:$s4;align-items:center;text-align:center;padding:$s5 0",
    "hero-text": "display:flex;flex-direction:column;gap:$s4;align-items:flex-start",
    "slogan": "font-size:$f6;line-height:1.15;font-weight:700",
    "band": "background:$accent;color:$on_accent;border-radius:$r;padding:$s5;display:flex;gap:$s4;"
    "align-items:center;justify-content:space-between;flex-wrap:wrap",
    "mark": "width:44px;height:44px;border-radius:$r;background:$soft;color:$text;display:flex;"
    "align-items:center;justify-content:center",
    "big": "font-size:$f5;font-weight:700;color:$accent_text",
    "logos": "display:flex;flex-wrap:wrap;gap:$s5;justify-content:center;color:$muted;font-weight:700",
}
_MARKS = ("bolt", "shield", "globe", "leaf", "clock", "chat")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    order = draws.shuffled(("features", "figures", "voices", "logos", "steps", "faq"))
    return view, base | {
        "slogan": draws.pick(lists["slogans"]),
        "text": draws.some(lists["sentences"], 7),
        "topics": draws.some(lists["topics"], 6),
        "voices": [[draws.pick(lists["people"]), text] for text in draws.some(lists["praise"], 3)],
        "brands": draws.some(lists["brands"], 5),
        "figures": [draws.integer(3, 99) for _ in range(3)],
        "questions": draws.some(lists["faq"], 3),
        "picture": sample_picture(draws),
        "kind": draws.pick(("split", "middle", "turned")),
        "order": order[: draws.integer(3, 6)],
        "has": flags(
            draws, {"second": 0.6, "badge": 0.4, "band": 0.6, "cards": 0.6, "mail": 0.3, "points": 0.6, "proof": 0.5}
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    blocks = {
        "features": _features,
        "figures": _figures,
        "voices": _voices,
        "logos": _logos,
        "steps": _steps,
        "faq": _questions,
    }
    call = el(
        "section.band",
        el("h2.heading#call@call", params["slogan"]),
        button(page.say("subscribe"), "subscribe", "ghost"),
    )
    body = [_hero(page), [blocks[name](page) for name in params["order"]], call if page.has("band") else None]
    return finished(page, params["chrome"]["brand"], site(page, body), STYLES)


def _hero(page: Page) -> Node:
    p = page.params
    mail = {
        "type": "email",
        "placeholder": page.say("email"),
        "aria-label": page.say("email"),
        "style": "max-width:240px",
    }
    text = [
        el("span.badge#badge@badge", page.say("new")) if page.has("badge") else None,
        el("h1.slogan#slogan@slogan", p["slogan"]),
        el("p.muted#promise@introduction", p["text"][0]),
        el(
            "div.row.wrap",
            el("input.input", mail) if page.has("mail") else None,
            button(page.say("start"), "start"),
            button(page.say("read_more"), "more", "ghost") if page.has("second") else None,
        ),
        _points(page) if page.has("points") else None,
        _proof(page) if page.has("proof") else None,
    ]
    drawn = picture(p["picture"], page.tokens, p["topics"][0], 1.5)
    if p["kind"] == "middle":
        return el("section.hero-mid", text)
    if not page.wide:
        return el("section.stack", text, drawn)
    sides = [el("div.hero-text", text), drawn]
    return el("section.hero", sides if p["kind"] == "split" else sides[::-1])


def _points(page: Page) -> Node:
    return el(
        "ul.row.wrap.small",
        [el("li.row.tight", icon("check", 16), el("span", text)) for text in page.params["topics"][3:6]],
    )


def _proof(page: Page) -> Node:
    p = page.params
    return el(
        "div.row.wrap.small",
        [face(who) for who, _ in p["voices"]],
        stars(5, page.say("score")),
        el("span.muted#proof@count", f"{p['figures'][0] * 12} {page.say('reviews')}"),
    )


def _features(page: Page) -> Node:
    p = page.params
    cards = [
        el(
            "article.card.stack" if page.has("cards") else "article.stack",
            el("span.mark", icon(_MARKS[k], 22)),
            el(f"h3.strong#feature-{k}@feature", text),
            el("p.muted", p["text"][k + 1]),
        )
        for k, text in enumerate(p["topics"][:3])
    ]
    return el("section.stack", el("h2.heading", page.say("features")), el(f"div{page.cols(3)}", cards))


def _figures(page: Page) -> Node:
    names = ("users", "projects", "reviews")
    return el(
        "section.cols3.centre",
        [
            el("div", el(f"p.big#figure-{k}@figure", f"{value}k"), el("p.small.muted", page.say(names[k])))
            for k, value in enumerate(page.params["figures"])
        ],
    )


def _voices(page: Page) -> Node:
    cards = [
        el(
            "figure.card.stack",
            stars(5 - k % 2, page.say("score")),
            el("blockquote", text),
            el("figcaption.row.small", face(who), el("span.strong", who)),
        )
        for k, (who, text) in enumerate(page.params["voices"])
    ]
    return el(f"section{page.cols(3)}", cards)


def _logos(page: Page) -> Node:
    return el("section.logos", [el("span", name) for name in page.params["brands"]])


def _steps(page: Page) -> Node:
    rows = [
        el("li.row.align-top", el("span.step-no.step-on", str(k + 1)), el("p", page.params["text"][k + 4]))
        for k in range(3)
    ]
    return el("section.panel.stack", el("h2.heading#steps@heading", page.say("overview")), el("ol.list", rows))


def _questions(page: Page) -> Node:
    pairs = [text.split(" = ") for text in page.params["questions"]]
    return el(
        "section.stack",
        el("h2.heading", page.say("faq")),
        [
            el("details.card", {"open": None} if k == 0 else None, el("summary.strong", q), el("p", a))
            for k, (q, a) in enumerate(pairs)
        ],
    )
