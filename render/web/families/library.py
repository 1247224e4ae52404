"""Catalogues of libraries: books with covers, who wrote them, shelf marks, whether they are in, facets to narrow."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, pager, pills, table, tick

STYLES = {
    **CHROME,
    "cover": "aspect-ratio:2/3;width:76px;flex:none;border-radius:$rs;padding:$s2;display:flex;flex-direction:column;"
    "justify-content:space-between;background:$photo;color:$on_photo;font-size:12px;line-height:1.35;"
    "overflow-wrap:anywhere",
    "cover-ink": "background:$ink;color:$on_ink",
    "cover-accent": "background:$accent;color:$on_accent",
    "cover-big": "width:100%;max-width:200px;font-size:$f3;padding:$s4",
    "cover-band": "height:6px;width:60%",
    "book": "display:flex;gap:$s4;align-items:flex-start;padding:$s3 0;border-bottom:1px solid $line",
    "shelf": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s4",
    "shelf-wide": "grid-template-columns:repeat(5,minmax(0,1fr))",
    "on-shelf": "display:flex;flex-direction:column;gap:$s1;min-width:0;align-items:flex-start",
    "mark": "font-family:'DejaVu Sans Mono',monospace;font-size:13px;direction:ltr;unicode-bidi:isolate",
    "record": "display:grid;grid-template-columns:220px minmax(0,1fr);gap:$s5;align-items:start",
    "facts": "display:grid;grid-template-columns:auto minmax(0,1fr);gap:$s1 $s4",
}
_TONES = ("cover", "cover.cover-ink", "cover.cover-accent")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    books = [
        {
            "title": title,
            "who": draws.pick(lists["people"]),
            "year": draws.integer(1948, 2026),
            "mark": f"{draws.pick('ABDGKMRT')}{draws.integer(100, 990)}.{draws.integer(1, 99)}",
            "tone": draws.integer(0, 3),
            "colour": draws.integer(1, 7),
            "in": draws.chance(0.65),
            "topic": draws.pick(lists["topics"]),
        }
        for title in draws.some(lists["books"], draws.integer(5, 10))
    ]
    return view, base | {
        "books": books,
        "query": draws.pick(lists["topics"]),
        "topics": [[text, draws.integer(2, 190), draws.chance(0.3)] for text in draws.some(lists["topics"], 5)],
        "places": draws.some(lists["cities"], 3),
        "text": draws.some(lists["sentences"], 3),
        "total": draws.integer(20, 900),
        "kind": draws.pick(("list", "shelf", "table", "record")),
        "has": flags(
            draws,
            {
                "search": 0.8,
                "facets": 0.6,
                "states": 0.8,
                "marks": 0.6,
                "years": 0.7,
                "buttons": 0.4,
                "pager": 0.45,
                "sort": 0.45,
                "count": 0.5,
                "pills": 0.35,
                "text": 0.35,
                "others": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    kind = params["kind"] if page.wide or params["kind"] != "table" else "list"
    listed = {"list": _list, "shelf": _shelf, "table": _table, "record": _record}[kind](page)
    facets = _facets(page) if page.has("facets") and kind != "record" else None
    title = el("h1.title#title@title", page.say("catalogue"))
    count = el("p.small.muted#count@count", f"{params['total']} {page.say('results')}") if page.has("count") else None
    orders = [el("option", page.say(key)) for key in ("title", "author", "year")]
    sort = el("select.input", {"aria-label": page.say("more"), "style": "width:auto"}, orders)
    bar = el("div.row.between.wrap", count, sort if page.has("sort") else None)
    main = el(
        "div.stack",
        bar if (count or page.has("sort")) and kind != "record" else None,
        listed,
        pager(6, 2) if page.has("pager") and kind != "record" else None,
    )
    body = el("div.side-main" if page.wide else "div.stack", facets, main) if facets else main
    keys = ("all", "new", "popular", "available")
    filters = pills([page.say(key) for key in keys], 0) if page.has("pills") else None
    matter = [title, _search(page) if page.has("search") else None, filters, body]
    return finished(page, page.say("catalogue"), site(page, matter, title=page.say("catalogue")), STYLES)


def _search(page: Page) -> Node:
    box = {"type": "search", "name": "q", "value": page.params["query"], "aria-label": page.say("search")}
    return el("form.row", {"role": "search"}, el("input.input", box), button(page.say("search"), "search"))


def _facets(page: Page) -> Node:
    topics = [
        el("li.row.between", tick(text, f"topic-{k}", on), el("span.small.muted", str(count)))
        for k, (text, count, on) in enumerate(page.params["topics"])
    ]
    places = [el("li", tick(text, f"place-{k}", k == 0)) for k, text in enumerate(page.params["places"])]
    return el(
        "aside.card.stack",
        el("h2.strong#topics@heading", page.say("categories")),
        el("ul.list", topics),
        el("h2.strong#places@heading", page.say("city")),
        el("ul.list", places),
    )


def _cover(page: Page, book: Mapping[str, Any], big: bool = False) -> Node:
    colour = page.tokens[f"c{book['colour']}"]
    band = el("span.cover-band", {"style": f"background:{colour}"})
    return el(f"div.{_TONES[book['tone']]}{'.cover-big' if big else ''}", el("span", book["title"]), band)


def _state(page: Page, book: Mapping[str, Any]) -> Node:
    return el(
        "span.badge.badge-ok" if book["in"] else "span.badge.badge-warn",
        page.say("available" if book["in"] else "on_loan"),
    )


def _by(page: Page, book: Mapping[str, Any]) -> str:
    return f"{book['who']}, {book['year']}" if page.has("years") else book["who"]


def _list(page: Page) -> Node:
    rows = [
        el(
            "li.book",
            _cover(page, book),
            el(
                "div.grow.stack.tight",
                el(f"h2.subheading#book-{k}@book", book["title"]),
                el(f"p.muted#by-{k}@author", _by(page, book)),
                el("p.small", page.params["text"][k % 3]) if page.has("text") else None,
                el("p.mark", book["mark"]) if page.has("marks") else None,
                el("p", _state(page, book)) if page.has("states") else None,
            ),
            button(page.say("choose"), f"choose-{k}", "" if book["in"] else "ghost")
            if page.has("buttons") and page.wide
            else None,
        )
        for k, book in enumerate(page.params["books"])
    ]
    return el("ol", rows)


def _shelf(page: Page) -> Node:
    cells = [
        el(
            "article.on-shelf",
            _cover(page, book),
            el(f"h2.strong.small#book-{k}@book", book["title"]),
            el("p.small.muted", _by(page, book)),
            _state(page, book) if page.has("states") else None,
        )
        for k, book in enumerate(page.params["books"])
    ]
    return el("section.shelf.shelf-wide" if page.wide else "section.shelf", cells)


def _table(page: Page) -> Node:
    p = page.params
    heads = [page.say("title"), page.say("author")]
    heads += [page.say("year")] if page.has("years") else []
    heads += [page.say("type")] if page.has("text") else []
    heads += ["№"] if page.has("marks") else []
    heads += [page.say("status")] if page.has("states") else []
    rows: list[list[Content]] = [
        [
            el(f"strong#book-{k}@book", book["title"]),
            book["who"],
            *([str(book["year"])] if page.has("years") else []),
            *([book["topic"]] if page.has("text") else []),
            *([el("span.mark", book["mark"])] if page.has("marks") else []),
            *([_state(page, book)] if page.has("states") else []),
        ]
        for k, book in enumerate(p["books"])
    ]
    return table(heads, rows, key="books")


def _record(page: Page) -> Node:
    p = page.params
    book = p["books"][0]
    pairs = [("author", book["who"]), ("year", str(book["year"])), ("categories", book["topic"])]
    facts = [[el("dt.muted", page.say(key)), el(f"dd#{key}@{key}", text)] for key, text in pairs]
    copies = [
        [place, el("span.mark", f"{book['mark']}-{k + 1}"), _state(page, p["books"][k])]
        for k, place in enumerate(p["places"])
    ]
    words_ = el(
        "div.stack",
        el("h2.heading#book@book", book["title"]),
        el("dl.facts", facts),
        el("p#about@description", f"{p['text'][0]} {p['text'][1]}"),
        el("div.row.wrap", button(page.say("choose"), "choose"), button(page.say("save"), "save", "ghost"))
        if page.has("buttons")
        else None,
        table([page.say("city"), "№", page.say("status")], copies, key="copies"),
    )
    top = el("section.record" if page.wide else "section.stack", _cover(page, book, True), words_)
    return el("div.stack", top, _others(page) if page.has("others") else None)


def _others(page: Page) -> Node:
    rows = [
        el(
            "li.row",
            icon("book", 16),
            el("a.link", {"href": "#"}, other["title"]),
            el("span.small.muted", other["who"]),
        )
        for other in page.params["books"][1:6]
    ]
    return el("section.card.stack", el("h2.subheading#others@heading", page.say("related")), el("ul.list", rows))
