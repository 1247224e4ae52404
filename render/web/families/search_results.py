"""Results of a search: hits with a path and a snippet, filters, a fact box, related searches."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import date, number
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    pager,
    tabs,
    tick,
)

STYLES = {
    **CHROME,
    "hit": "display:flex;flex-direction:column;gap:$s1;min-width:0",
    "hit-title": "font-size:$f3;color:$accent_text;line-height:1.35",
    "path": "font-size:$f0;color:$ok;overflow-wrap:anywhere",
    "mark": "background:$warn_soft;color:$on_warn",
    "field-bar": "display:flex;gap:$s2;align-items:center;max-width:680px",
    "hits": "display:flex;flex-direction:column;gap:$s5;min-width:0",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    hits = [
        {
            "title": t,
            "text": draws.pick(lists["sentences"]),
            "path": f"{draws.pick(('press', 'library', 'forum', 'shop'))}.example › {draws.integer(10, 9999)}",
            "day": [draws.integer(1, 29), draws.integer(1, 13), 2026],
            "picture": sample_picture(draws),
        }
        for t in draws.some(lists["headlines"], draws.integer(4, 8))
    ]
    return view, base | {
        "hits": hits,
        "query": draws.pick(lists["topics"]),
        "count": draws.integer(300, 900000),
        "seconds": draws.integer(11, 90),
        "related": draws.some([*lists["topics"], *lists["products"]], 6),
        "term": draws.pick(lists["terms"]),
        "tab": draws.integer(0, 4),
        "has": flags(
            draws,
            {
                "tabs": 0.6,
                "facts": 0.4,
                "related": 0.5,
                "filters": 0.4,
                "pager": 0.6,
                "dates": 0.4,
                "pictures": 0.3,
                "count": 0.7,
                "mark": 0.4,
                "mean": 0.3,
                "links": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    form = el(
        "form.field-bar",
        {"role": "search"},
        el("input.input", {"type": "search", "name": "q", "value": params["query"], "aria-label": page.say("search")}),
        button(page.say("search"), "search"),
    )
    kinds = (
        tabs([page.say(key) for key in ("all", "pictures", "news", "map")], params["tab"]) if page.has("tabs") else None
    )
    count = (
        el("p.small.muted#count@count", f"{number(page.lang, params['count'])} ({params['seconds'] / 100:.2f} s)")
        if page.has("count")
        else None
    )
    mean = el("p", el("a.link#mean@suggestion", {"href": "#"}, params["related"][0])) if page.has("mean") else None
    hits = el("section.hits", [_hit(page, k, hit) for k, hit in enumerate(params["hits"])])
    main = el(
        "div.stack",
        count,
        mean,
        hits,
        _related(page) if page.has("related") else None,
        pager(7, 1) if page.has("pager") else None,
    )
    side = _facts(page) if page.has("facts") else None
    body = el("div.main-side" if page.wide else "div.stack", main, side) if side else main
    if page.has("filters") and page.wide:
        body = el("div.side-main", {"style": "grid-template-columns:180px minmax(0,1fr)"}, _filters(page), body)
    return finished(page, params["query"], site(page, form, kinds, body), STYLES)


def _hit(page: Page, place: int, hit: Mapping[str, Any]) -> Node:
    snippet: Content = (
        el("p", el("mark.mark", page.params["query"]), f" – {hit['text']}")
        if page.has("mark")
        else el("p", hit["text"])
    )
    links = (
        el("p.row.wrap.small", [el("a.link", {"href": "#"}, page.say(key)) for key in ("about", "contact", "help")])
        if page.has("links") and place == 0
        else None
    )
    text = el(
        "div.hit",
        el("p.path", hit["path"]),
        el(f"h2.hit-title#hit-{place}@result", el("a", {"href": "#"}, hit["title"])),
        el("time.small.muted", date(page.lang, *hit["day"])) if page.has("dates") else None,
        snippet,
        links,
    )
    if page.has("pictures") and place % 2 == 0:
        return el(
            "article.row.align-top",
            el("div", {"style": "width:96px;flex:none"}, picture(hit["picture"], page.tokens, hit["title"], 1.2)),
            text,
        )
    return el("article", text)


def _facts(page: Page) -> Node:
    name, meaning = page.params["term"].split(" = ")
    return el(
        "aside.card.stack",
        picture(page.params["hits"][0]["picture"], page.tokens, name),
        el("h2.heading#fact@heading", name),
        el("p#fact-text@text", meaning),
        el(
            "dl.list.small",
            [
                el("div.row.between", el("dt.muted", page.say(key)), el("dd", text))
                for key, text in (("type", name), ("year", "1931"))
            ],
        ),
    )


def _related(page: Page) -> Node:
    return el(
        "section.stack",
        el("h2.subheading", page.say("related")),
        el(
            f"ul{page.cols(2)}",
            [el("li.row", icon("search", 16), el("a", {"href": "#"}, text)) for text in page.params["related"]],
        ),
    )


def _filters(page: Page) -> Node:
    return el(
        "aside.stack",
        el("h2.strong", page.say("time")),
        [
            tick(page.say(key), f"within-{key}", k == 1, "radio", "within")
            for k, key in enumerate(("day", "week", "month", "year"))
        ],
        el("h2.strong", page.say("type")),
        [tick(page.say(key), f"type-{key}", k == 0) for k, key in enumerate(("documents", "pictures", "music"))],
    )
