"""Quizzes: a question with answers, right and wrong marked, points, time, the next ones."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    face,
    meter,
    pager,
    tick,
)

STYLES = {
    **CHROME,
    "choice": "display:flex;gap:$s3;align-items:center;padding:$s3 $s4;border:1px solid $line;"
    "border-radius:$r;background:$surface;color:$text;width:100%;text-align:start",
    "choice-on": "border:2px solid $accent;background:$soft",
    "choice-ok": "background:$ok_soft;color:$on_ok;border-color:$ok_soft",
    "choice-bad": "background:$bad_soft;color:$on_bad;border-color:$bad_soft",
    "letter": "width:28px;height:28px;border-radius:50%;display:flex;align-items:center;"
    "justify-content:center;font-weight:700;flex:none;background:$raised;color:$text",
    "board": "display:flex;justify-content:space-between;gap:$s3;align-items:center;flex-wrap:wrap",
    "big": "font-size:$f6;font-weight:700;color:$accent_text;line-height:1.1",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.5)
    asked = []
    for text in draws.shuffled(bank.lists["quiz"]):
        ask, right, *wrong = text.split(" = ")
        answers = draws.shuffled([right, *wrong])
        asked.append({"ask": ask, "answers": answers, "right": answers.index(right), "on": draws.integer(0, 4)})
    return view, base | {
        "asked": asked,
        "state": draws.pick(("asked", "picked", "shown")),
        "score": draws.integer(0, 20),
        "seconds": draws.integer(3, 60),
        "players": [[name, draws.integer(1, 20)] for name in draws.some(bank.lists["people"], 5)],
        "why": draws.pick(bank.lists["sentences"]),
        "topic": draws.pick(bank.lists["topics"]),
        "picture": sample_picture(draws),
        "kind": draws.pick(("one", "all", "grid", "radio")),
        "has": flags(
            draws,
            {
                "board": 0.6,
                "meter": 0.5,
                "letters": 0.6,
                "way": 0.5,
                "players": 0.6,
                "why": 0.4,
                "picture": 0.35,
                "card": 0.5,
                "hint": 0.3,
                "title": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    board = el(
        "div.board",
        el("span.badge#topic@topic", params["topic"]),
        el("span", f"{page.say('score')}: {params['score']}"),
        el("span.row", icon("clock", 18), el("span#seconds@time", f"0:{params['seconds']:02d}")),
    )
    count = 4 if params["kind"] == "all" else 1
    questions = [_question(page, k, asked) for k, asked in enumerate(params["asked"][:count])]
    why = (
        el("p.panel#why@explanation", {"role": "status"}, params["why"])
        if page.has("why") and params["state"] == "shown"
        else None
    )
    buttons = el("div.row.between", button(page.say("back"), "back", "ghost"), button(page.say("next"), "next"))
    main = el(
        "div.stack",
        meter(params["score"] * 5, page.say("score")) if page.has("meter") else None,
        questions,
        why,
        buttons,
        pager(8, 1) if page.has("way") else None,
    )
    body = el("div.main-side" if page.wide else "div.stack", main, _players(page)) if page.has("players") else main
    head = (
        el("h1.title#title@title", f"{page.say('question')} 1 / {len(params['asked'])}") if page.has("title") else None
    )
    return finished(
        page,
        params["topic"],
        site(page, head, board if page.has("board") else None, body, narrow=not page.has("players")),
        STYLES,
    )


def _players(page: Page) -> Node:
    return el(
        "aside.card.stack",
        el("h2.subheading#players@heading", page.say("results")),
        el(
            "ol.list",
            [
                el(
                    "li.row",
                    el("span.strong", str(k + 1)),
                    face(name),
                    el("span.grow", name),
                    el("span.num", str(points)),
                )
                for k, (name, points) in enumerate(sorted(page.params["players"], key=lambda pair: -pair[1]))
            ],
        ),
    )


def _question(page: Page, place: int, asked: Mapping[str, Any]) -> Node:
    drawn = picture(page.params["picture"], page.tokens, "", 3.0) if page.has("picture") and place == 0 else None
    hint = el("p.small.muted", page.say("optional")) if page.has("hint") else None
    if page.params["kind"] == "radio":
        answers: Content = el(
            "div.stack",
            {"role": "radiogroup"},
            [
                tick(text, f"q{place}-{k}", k == asked["on"], "radio", f"q{place}")
                for k, text in enumerate(asked["answers"])
            ],
        )
    else:
        rows = [_answer(page, place, k, text, asked) for k, text in enumerate(asked["answers"])]
        answers = el(f"div{page.cols(2)}", rows) if page.params["kind"] == "grid" else el("div.list", rows)
    return el(
        "section.card.stack" if page.has("card") else "section.stack",
        drawn,
        el(f"h2.heading#ask-{place}@question", asked["ask"]),
        hint,
        answers,
    )


def _answer(page: Page, place: int, number_: int, text: str, asked: Mapping[str, Any]) -> Node:
    state, names = page.params["state"], "choice"
    if state == "shown" and number_ == asked["right"]:
        names = "choice.choice-ok"
    elif number_ == asked["on"] and state != "asked":
        names = "choice.choice-bad" if state == "shown" else "choice.choice-on"
    letter = el("span.letter", "ABCD"[number_]) if page.has("letters") else None
    attrs = {"type": "button", "aria-pressed": str(number_ == asked["on"] and state != "asked").lower()}
    return el(
        f"button.{names}",
        attrs,
        {"disabled": None} if state == "shown" else None,
        letter,
        el(f"span#answer-{place}-{number_}@answer", text),
    )
