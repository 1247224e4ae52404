"""Picture galleries: grids, a large one with small ones, captions, filters, who made them."""

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
    pager,
    pills,
    tabs,
)

STYLES = {
    **CHROME,
    "tiles": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s2",
    "tiles-3": "grid-template-columns:repeat(3,minmax(0,1fr));gap:$s3",
    "tiles-4": "grid-template-columns:repeat(4,minmax(0,1fr));gap:$s3",
    "shot": "display:flex;flex-direction:column;gap:$s1;min-width:0",
    "shot-big": "grid-column:span 2;grid-row:span 2",
    "under": "background:$photo;color:$on_photo;padding:$s2 $s3;font-size:$f1;border-radius:$rs",
    "strip": "display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:$s2",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    shots = [
        {
            "name": name,
            "who": draws.pick(lists["people"]),
            "likes": draws.integer(1, 900),
            "picture": sample_picture(draws),
        }
        for name in draws.some(lists["headlines"], draws.integer(6, 13))
    ]
    return view, base | {
        "shots": shots,
        "topics": draws.some(lists["topics"], 5),
        "text": draws.pick(lists["sentences"]),
        "columns": draws.integer(3, 5),
        "view": draws.integer(0, 4),
        "kind": draws.pick(("grid", "large", "mixed", "cards")),
        "has": flags(
            draws,
            {
                "filter": 0.65,
                "names": 0.75,
                "likes": 0.5,
                "who": 0.5,
                "pager": 0.4,
                "lead": 0.5,
                "upload": 0.4,
                "count": 0.4,
                "tools": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    head = el(
        "header.row.between.wrap",
        el(
            "div",
            el("h1.title#title@title", page.say("pictures")),
            el("p.muted#lead@introduction", params["text"]) if page.has("lead") else None,
        ),
        button(page.say("upload"), "upload") if page.has("upload") else None,
    )
    width = f".tiles-{min(params['columns'], 4)}" if page.wide else ""
    shots = [_shot(page, k, shot) for k, shot in enumerate(params["shots"])]
    grid: Content = el(f"section.tiles{width}", shots)
    if params["kind"] == "large":
        small = [picture(shot["picture"], page.tokens, shot["name"], 1.2) for shot in params["shots"][:6]]
        grid = [
            el(
                "figure.stack",
                picture(params["shots"][0]["picture"], page.tokens, params["shots"][0]["name"], 2.0),
                el("figcaption.under#caption@caption", params["shots"][0]["name"]),
            ),
            el("div.strip", small),
            el(f"section.tiles{width}", shots[1:5]),
        ]
    matter = [
        head,
        pills([page.say("all"), *params["topics"]], 1) if page.has("filter") else None,
        el("p.small.muted#count@count", f"{len(shots)} / {len(shots) * 12}") if page.has("count") else None,
        tabs([page.say(key) for key in ("latest", "popular", "like", "all")], params["view"])
        if page.has("tools")
        else None,
        grid,
        pager(6, 3) if page.has("pager") else None,
    ]
    return finished(page, page.say("pictures"), site(page, matter), STYLES)


def _shot(page: Page, place: int, shot: Mapping[str, Any]) -> Node:
    caption = el(
        "figcaption.small",
        el(f"p.strong#shot-{place}@caption", shot["name"]),
        el("p.muted", shot["who"]) if page.has("who") else None,
        el("p.row.muted", icon("heart", 14), el("span", str(shot["likes"]))) if page.has("likes") else None,
    )
    big = ".shot-big" if page.params["kind"] == "mixed" and place == 0 and page.wide else ""
    card = ".card" if page.params["kind"] == "cards" else ""
    return el(
        f"figure.shot{big}{card}",
        picture(shot["picture"], page.tokens, shot["name"], 1.4),
        caption if page.has("names") else None,
    )
