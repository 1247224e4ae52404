"""CVs: who, what done where and when, skills as bars or words, languages, how to reach the person."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import initials
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    meter,
    stars,
)

STYLES = {
    **CHROME,
    "sheet": "display:grid;grid-template-columns:250px minmax(0,1fr);background:$surface;"
    "border:1px solid $line;border-radius:$r;overflow:hidden",
    "sheet-turned": "grid-template-columns:minmax(0,1fr) 250px",
    "edge": "background:$raised;padding:$s5 $s4;display:flex;flex-direction:column;gap:$s4;min-width:0",
    "edge-ink": "background:$ink;color:$on_ink",
    "core": "padding:$s5;display:flex;flex-direction:column;gap:$s5;min-width:0",
    "big-face": "width:84px;height:84px;font-size:$f5",
    "band": "border-bottom:2px solid $accent;padding-bottom:$s1;font-size:$f3;font-weight:700",
    "when": "color:$accent_text;font-weight:600;font-size:$f1",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    year = draws.integer(2018, 2025)
    jobs = []
    for name in draws.some(lists["brands"], draws.integer(2, 5)):
        years = draws.integer(1, 5)
        jobs.append([name, draws.pick(lists["topics"]), year - years, year, draws.some(lists["tasks"], 2)])
        year -= years
    return view, base | {
        "person": draws.pick(lists["people"]),
        "city": draws.pick(lists["cities"]),
        "text": draws.pick(lists["sentences"]),
        "jobs": jobs,
        "schools": [[city, year - 4 * k] for k, city in enumerate(draws.some(lists["cities"], 2))],
        "skills": [[name, draws.integer(4, 10) * 10] for name in draws.some(lists["topics"], 5)],
        "langs": draws.some(("English", "Deutsch", "Français", "Español", "Polski"), 3),
        "kind": draws.pick(("left", "right", "single", "site")),
        "has": flags(
            draws,
            {
                "face": 0.6,
                "about": 0.6,
                "bars": 0.5,
                "langs": 0.5,
                "schools": 0.75,
                "points": 0.5,
                "ink": 0.3,
                "buttons": 0.3,
                "tags": 0.4,
                "icons": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    edge = [_who(page), _reach(page), _skills(page), _langs(page) if page.has("langs") else None]
    core = [
        el("p#about@summary", params["text"]) if page.has("about") else None,
        el(
            "section.stack",
            el("h2.band#jobs@heading", page.say("experience")),
            [_job(page, k, *job) for k, job in enumerate(params["jobs"])],
        ),
        _schools(page) if page.has("schools") else None,
        el("div.row", button(page.say("download"), "download"), button(page.say("contact"), "contact", "ghost"))
        if page.has("buttons")
        else None,
    ]
    kind = params["kind"]
    tone = ".edge-ink" if page.has("ink") else ""
    if kind in ("left", "right") and page.wide:
        sides = [el(f"aside.edge{tone}", edge), el("main.core", core)]
        body: Content = el(
            "div.page",
            el("div.sheet" if kind == "left" else "div.sheet.sheet-turned", sides if kind == "left" else sides[::-1]),
        )
    elif kind == "site":
        body = site(
            page, el("div.main-side" if page.wide else "div.stack", el("div.stack", core), el("div.card.stack", edge))
        )
    else:
        body = el("main.page.narrow.stack", edge[0], edge[1], core, edge[2:])
    return finished(page, params["person"], body, STYLES)


def _who(page: Page) -> Node:
    p = page.params
    drawn = el("span.avatar.big-face", {"aria-hidden": "true"}, initials(p["person"])) if page.has("face") else None
    return el("header.stack", drawn, el("h1.title#person@name", p["person"]), el("p#work@profession", p["jobs"][0][1]))


def _reach(page: Page) -> Node:
    rows = (("mail", "user@mail.example"), ("phone", "020 555 0142"), ("pin", page.params["city"]))
    return el(
        "ul.list.small",
        [el("li.row", icon(name, 16) if page.has("icons") else None, el("span", text)) for name, text in rows],
    )


def _skills(page: Page) -> Node:
    if page.has("bars"):
        rows: Content = el(
            "ul.list",
            [
                el("li.stack.tight", el(f"span.small#skill-{k}@skill", name), meter(value, name))
                for k, (name, value) in enumerate(page.params["skills"])
            ],
        )
    else:
        rows = el(
            "ul.row.wrap",
            [
                el(f"li.badge#skill-{k}@skill" if page.has("tags") else f"li#skill-{k}@skill", name)
                for k, (name, _) in enumerate(page.params["skills"])
            ],
        )
    return el("section.stack", el("h2.strong", page.say("skills")), rows)


def _langs(page: Page) -> Node:
    return el(
        "section.stack",
        el("h2.strong", page.say("languages")),
        el(
            "ul.list.small",
            [
                el(
                    "li.row.between",
                    el("span", name),
                    stars(5 - k, name) if not page.has("ink") else el("span", "ABC"[k]),
                )
                for k, name in enumerate(page.params["langs"])
            ],
        ),
    )


def _job(page: Page, place: int, firm: str, work: str, start: int, end: int, points: list[str]) -> Node:
    listed = (
        el("ul", {"style": "list-style:disc;padding-inline-start:20px"}, [el("li", text) for text in points])
        if page.has("points")
        else None
    )
    return el(
        "article",
        el("p.when", f"{start} – {end}"),
        el(f"h3.strong#job-{place}@employer", firm),
        el("p.muted", work),
        listed,
    )


def _schools(page: Page) -> Node:
    rows = [
        el(
            "li.row.between",
            el(f"span#school-{k}@school", f"{page.say('education')}, {city}"),
            el("span.muted", str(year)),
        )
        for k, (city, year) in enumerate(page.params["schools"])
    ]
    return el("section.stack", el("h2.band", page.say("education")), el("ul.list", rows))
