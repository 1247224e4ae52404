"""Weather pages: now, the next hours, the next days, wind and rain, a curve of temperatures."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import line
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import (
    tabs,
)

STYLES = {
    **CHROME,
    "now": "display:flex;gap:$s5;align-items:center;flex-wrap:wrap",
    "degrees": "font-size:64px;line-height:1;font-weight:700",
    "hours": "display:grid;grid-template-columns:repeat(8,minmax(0,1fr));gap:$s2",
    "hours-small": "grid-template-columns:repeat(4,minmax(0,1fr))",
    "hour": "display:flex;flex-direction:column;align-items:center;gap:$s1;padding:$s2;border-radius:$rs;"
    "background:$raised;min-width:0",
    "hour-on": "background:$accent;color:$on_accent",
    "day": "display:grid;grid-template-columns:minmax(0,1fr) 30px 110px;gap:$s3;align-items:center;"
    "padding:$s2 0;border-bottom:1px solid $line",
    "fact": "display:flex;flex-direction:column;gap:$s1",
    "tint": "background:$soft;color:$text",
}
_SKIES = (("sun", "sunny"), ("cloud", "cloudy"), ("rain", "rain"))


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.5)
    warm = draws.integer(-4, 30)
    return view, base | {
        "city": draws.pick(bank.lists["cities"]),
        "others": draws.some(bank.lists["cities"], 4),
        "warm": warm,
        "hours": [[warm + draws.integer(-3, 4), draws.integer(0, 3)] for _ in range(8)],
        "days": [
            [warm + draws.integer(-4, 2), warm + draws.integer(2, 7), draws.integer(0, 3)]
            for _ in range(draws.integer(4, 8))
        ],
        "first": draws.integer(0, 7),
        "facts": [draws.integer(2, 60), draws.integer(30, 95), draws.integer(0, 100)],
        "at": draws.integer(5, 14),
        "warning": draws.pick(bank.lists["sentences"]),
        "kind": draws.pick(("stack", "side", "cards")),
        "has": flags(
            draws,
            {
                "hours": 0.75,
                "days": 0.75,
                "facts": 0.7,
                "curve": 0.45,
                "others": 0.4,
                "warning": 0.3,
                "search": 0.4,
                "tabs": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    search = el("input.input", {"type": "search", "placeholder": page.say("city"), "aria-label": page.say("city")})
    low = min(value for value, _ in params["hours"])
    curve = el(
        "section.card.stack",
        el("h2.subheading", page.say("today")),
        line([value - low + 2 for value, _ in params["hours"]], page.tokens, page.say("weather"), True),
    )
    blocks = [
        _hours(page) if page.has("hours") else None,
        curve if page.has("curve") else None,
        _days(page) if page.has("days") or not page.has("hours") else None,
        _facts(page) if page.has("facts") else None,
        _others(page) if page.has("others") else None,
    ]
    warning = (
        el("p.card.badge-warn#warning@warning", {"role": "alert"}, params["warning"]) if page.has("warning") else None
    )
    top = [search if page.has("search") else None, warning]
    kind = params["kind"] if page.wide else "stack"
    views = tabs([page.say(key) for key in ("today", "week", "month")], 0) if page.has("tabs") else None
    if kind == "side":
        body = [
            top,
            el(
                "div.side-main",
                {"style": "grid-template-columns:320px minmax(0,1fr)"},
                _now(page),
                el("div.stack", views, blocks),
            ),
        ]
    elif kind == "cards":
        body = [top, _now(page), views, el("div.cols2", blocks)]
    else:
        body = [top, _now(page), views, blocks]
    return finished(page, page.say("weather"), site(page, body), STYLES)


def _now(page: Page) -> Node:
    name, label = _SKIES[page.params["hours"][0][1]]
    words_ = el("div", el("h1.heading#city@city", page.params["city"]), el("p.muted#sky@sky", page.say(label)))
    return el(
        "section.card.now.tint",
        icon(name, 72, page.say(label)),
        el("p.degrees#now@temperature", f"{page.params['warm']}°"),
        words_,
    )


def _hours(page: Page) -> Node:
    at = page.params["at"]
    cells = [
        el(
            "li.hour.hour-on" if k == 0 else "li.hour",
            el("span.small", f"{at + k:02d}:00"),
            icon(_SKIES[sky][0], 22, page.say(_SKIES[sky][1])),
            el(f"strong#hour-{k}@temperature", f"{value}°"),
        )
        for k, (value, sky) in enumerate(page.params["hours"])
    ]
    return el(
        "section.card.stack",
        el("h2.subheading", page.say("today")),
        el("ol.hours" if page.wide and page.params["kind"] == "stack" else "ol.hours.hours-small", cells),
    )


def _days(page: Page) -> Node:
    names = page.words.lists["weekdays"]
    rows = [
        el(
            "li.day",
            el(f"span#day-{k}@day", names[(page.params["first"] + k) % 7]),
            icon(_SKIES[sky][0], 22, page.say(_SKIES[sky][1])),
            el("span.num", f"{low}° / {high}°"),
        )
        for k, (low, high, sky) in enumerate(page.params["days"])
    ]
    return el("section.card.stack", el("h2.subheading", page.say("week")), el("ol", rows))


def _facts(page: Page) -> Node:
    wind, damp, wet = page.params["facts"]
    cells = [
        el(
            "div.fact.panel",
            el("dt.small.muted", page.say(key)),
            el(f"dd.{'heading' if page.wide else 'strong'}#{key}@figure", text),
        )
        for key, text in (("wind", f"{wind} km/h"), ("humidity", f"{damp} %"), ("rain", f"{wet} %"))
    ]
    return el("dl.cols3", cells)


def _others(page: Page) -> Node:
    rows = [
        el("li.row.between", el("a.link", {"href": "#"}, name), el("span.strong", f"{page.params['hours'][k][0]}°"))
        for k, name in enumerate(page.params["others"])
    ]
    return el("section.card.stack", el("h2.subheading", page.say("weather")), el("ul.list", rows))
