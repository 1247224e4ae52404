"""Surveys: scales, choices, open questions, how far one has come."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    meter,
    table,
    tick,
)

STYLES = {
    **CHROME,
    "block-q": "display:flex;flex-direction:column;gap:$s3",
    "scale": "display:flex;gap:$s2;flex-wrap:wrap",
    "scale-item": "display:flex;flex-direction:column;align-items:center;gap:$s1;flex:1;min-width:34px",
    "legend": "font-weight:600;padding:0 $s1",
    "form": "display:flex;flex-direction:column;gap:$s4",
}
_KINDS = ("scale", "one", "many", "open", "matrix", "pick")


_GROUPS = (
    ("topics", "categories"),
    ("cities", "city"),
    ("products", "shop"),
    ("dishes", "recipe"),
    ("weekdays", "day"),
    ("books", "title"),
)


def _asked(draws: Draws, lists: Mapping[str, Any], labels: Mapping[str, str], place: int) -> dict[str, Any]:
    """A question that fits the way it is answered: statements are rated or commented, groups are chosen from."""
    kind = draws.pick(_KINDS)
    chosen = kind in ("one", "many", "pick")
    source, label = _GROUPS[place % len(_GROUPS)]
    return {
        "text": labels[label] if chosen else lists["praise"][place % len(lists["praise"])],
        "kind": kind,
        "on": draws.integer(0, 4),
        "options": draws.some(lists[source if chosen else "topics"], 4),
    }


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    first = draws.integer(0, 8)
    asked = [_asked(draws, lists, bank.ui, first + place) for place in range(draws.integer(3, 7))]
    has = {"progress": 0.5, "lead": 0.5, "cards": 0.6, "numbers": 0.5, "optional": 0.4, "cancel": 0.4, "site": 0.5}
    return view, base | {
        "asked": asked,
        "percent": draws.integer(2, 9) * 10,
        "lead": draws.pick(lists["sentences"]),
        "title": draws.pick(lists["slogans"]),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    top = el(
        "header.stack",
        el("h1.title#title@title", params["title"]),
        el("p.muted#lead@introduction", params["lead"]) if page.has("lead") else None,
    )
    progress = el(
        "div.stack",
        el("span.small.muted#progress@progress", f"{params['percent']} %"),
        meter(params["percent"], page.say("step")),
    )
    form = el(
        "form.form",
        [_question(page, k, asked) for k, asked in enumerate(params["asked"])],
        el(
            "div.row",
            button(page.say("send"), "send"),
            button(page.say("cancel"), "cancel", "ghost") if page.has("cancel") else None,
        ),
    )
    matter = [top, progress if page.has("progress") else None, form]
    body = site(page, matter, narrow=True) if page.has("site") else el("main.page.narrow.stack", matter)
    return finished(page, params["title"], body, STYLES)


def _question(page: Page, place: int, asked: Mapping[str, Any]) -> Node:
    text = f"{place + 1}. {asked['text']}" if page.has("numbers") else asked["text"]
    more = el("span.small.muted", page.say("optional")) if page.has("optional") and place else None
    names = "block-q.card" if page.has("cards") else "block-q"
    return el(
        f"fieldset.{names}", el(f"legend.legend#question-{place}@question", text), more, _answers(page, place, asked)
    )


def _answers(page: Page, place: int, asked: Mapping[str, Any]) -> Content:
    kind, on, key = asked["kind"], asked["on"], f"q{place}"
    options = asked["options"]
    if kind == "scale":
        items = [
            el(
                "label.scale-item",
                {"for": f"{key}-{k}"},
                el(f"input.tick#{key}-{k}", {"type": "radio", "name": key}, {"checked": None} if k == on else None),
                el("span", str(k + 1)),
            )
            for k in range(5)
        ]
        return el("div.scale", items)
    if kind in ("one", "many"):
        sort = "radio" if kind == "one" else "checkbox"
        return el(
            "div.list",
            [
                tick(text, f"{key}-{k}", k == on or (kind == "many" and k == on - 1), sort, key)
                for k, text in enumerate(options)
            ],
        )
    if kind == "open":
        return el(f"textarea.input#{key}", {"name": key, "rows": "3", "aria-label": asked["text"]})
    if kind == "pick":
        return el(
            f"select.input#{key}", {"name": key, "aria-label": asked["text"]}, [el("option", text) for text in options]
        )
    heads: list[Content] = ["", page.say("low"), page.say("medium"), page.say("high")]
    rows = [
        [
            name,
            *(
                el(
                    "input.tick",
                    {"type": "radio", "name": f"{key}-{k}", "aria-label": name},
                    {"checked": None} if (k + on) % 3 == c else None,
                )
                for c in range(3)
            ),
        ]
        for k, name in enumerate(options[:3])
    ]
    return table(heads, rows)
