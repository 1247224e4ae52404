"""Music players: a cover, what plays now, a bar of progress, buttons, a list of songs."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    meter,
    table,
    tabs,
)

STYLES = {
    **CHROME,
    "deck": "display:flex;flex-direction:column;gap:$s4;align-items:center;text-align:center",
    "cover": "width:100%;max-width:320px;border-radius:$r;overflow:hidden",
    "keys": "display:flex;gap:$s4;align-items:center;justify-content:center",
    "key": "width:46px;height:46px;border-radius:50%;border:1px solid $line;background:$surface;"
    "color:$text;display:flex;align-items:center;justify-content:center",
    "key-on": "background:$accent;color:$on_accent;border-color:$accent;width:58px;height:58px",
    "song": "display:grid;grid-template-columns:30px minmax(0,1fr) auto;gap:$s3;align-items:center;"
    "padding:$s2 $s3;border-radius:$rs",
    "song-on": "background:$soft;color:$text;font-weight:600",
    "dock-bar": "display:flex;gap:$s4;align-items:center;padding:$s3 $s4;background:$surface;"
    "border-bottom:1px solid $line",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.5)
    songs = draws.some(bank.lists["songs"], draws.integer(5, 10))
    return view, base | {
        "songs": [[name, draws.pick(bank.lists["people"]), draws.integer(130, 330)] for name in songs],
        "on": draws.integer(0, 4),
        "percent": draws.integer(10, 90),
        "album": draws.pick(bank.lists["books"]),
        "albums": draws.some(bank.lists["books"], 4),
        "pictures": [sample_picture(draws) for _ in range(5)],
        "kind": draws.pick(("deck", "list", "bar", "app")),
        "has": flags(
            draws,
            {
                "artist": 0.7,
                "heart": 0.5,
                "queue": 0.75,
                "volume": 0.4,
                "albums": 0.4,
                "extra": 0.4,
                "table": 0.3,
                "tabs": 0.3,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    queue = _queue(page) if page.has("queue") else None
    albums = _albums(page) if page.has("albums") else None
    kind = params["kind"]
    if kind == "bar":
        body: Content = el("main.page.stack", _bar(page), queue or _queue(page), albums)
    elif kind == "app":
        body = app(
            page,
            ("home", "music", "search", "starred", "settings"),
            1,
            el("div.main-side" if page.wide else "div.stack", el("div.stack", queue, albums), _deck(page)),
        )
    elif kind == "list":
        body = site(
            page,
            el(
                "div.side-main" if page.wide else "div.stack",
                {"style": "grid-template-columns:320px minmax(0,1fr)"} if page.wide else None,
                _deck(page),
                el("div.stack", queue, albums),
            ),
        )
    else:
        body = el("main.page.narrow.stack", _deck(page), queue, albums)
    return finished(page, params["songs"][0][0], body, STYLES)


def _now(page: Page) -> list[Any]:
    return page.params["songs"][page.params["on"]]


def _keys(page: Page) -> Node:
    names = [("rewind", "back"), ("pause", "close"), ("skip", "next")]
    if page.has("extra"):
        names = [("heart", "like"), *names, ("list", "queue")]
    return el(
        "div.keys",
        [
            el(
                "button.key.key-on" if name == "pause" else "button.key",
                {"type": "button", "aria-label": page.say(label)},
                icon(name, 20),
            )
            for name, label in names
        ],
    )


def _progress(page: Page) -> Node:
    seconds = _now(page)[2]
    at = seconds * page.params["percent"] // 100
    return el(
        "div.stack",
        {"style": "width:100%"},
        meter(page.params["percent"], page.say("time")),
        el("div.row.between.small.muted", el("span#at@time", clock(at)), el("span", clock(seconds))),
    )


def _deck(page: Page) -> Node:
    name, who, _ = _now(page)
    volume = el("input", {"type": "range", "value": "60", "aria-label": page.say("music"), "style": "width:160px"})
    return el(
        "section.deck.card",
        el("div.cover", picture(page.params["pictures"][0], page.tokens, page.params["album"], 1.25)),
        el("div", el("h1.heading#song@song", name), el("p.muted#artist@artist", who) if page.has("artist") else None),
        _progress(page),
        _keys(page),
        volume if page.has("volume") else None,
    )


def _bar(page: Page) -> Node:
    name, who, _ = _now(page)
    names = el("div.grow", el("p.strong#song@song", name), el("p.small.muted", who))
    cover = el("div.fixed", {"style": "width:72px"}, picture(page.params["pictures"][0], page.tokens, name, 1.0))
    if page.wide:
        return el("section.card.stack", el("div.row", cover, names, _keys(page)), _progress(page))
    return el("section.card.stack", el("div.row", cover, names), _keys(page), _progress(page))


def _queue(page: Page) -> Node:
    on = page.params["on"]
    head = el("h2.subheading#queue@heading", page.say("queue"))
    switch = tabs([page.say(key) for key in ("queue", "album", "artist")], 0) if page.has("tabs") else None
    if page.has("table") and page.wide:
        rows = [[str(k + 1), name, who, clock(length)] for k, (name, who, length) in enumerate(page.params["songs"])]
        return el(
            "section.stack",
            head,
            switch,
            table(["#", page.say("title"), page.say("artist"), page.say("time")], rows, numeric=(3,), key="songs"),
        )
    rows_ = [
        el(
            "li.song.song-on" if k == on else "li.song",
            {"aria-current": "true"} if k == on else None,
            icon("play", 16) if k == on else el("span.muted", str(k + 1)),
            el("div", el(f"p#song-{k}@song", name), el("p.small.muted", who) if page.has("artist") else None),
            el("span.row", icon("heart", 16) if page.has("heart") else None, el("span.small.muted", clock(length))),
        )
        for k, (name, who, length) in enumerate(page.params["songs"])
    ]
    return el("section.stack", head, switch, el("ol", rows_))


def _albums(page: Page) -> Node:
    cards = [
        el(
            "article.stack",
            picture(page.params["pictures"][k + 1], page.tokens, name, 1.0),
            el(f"h3.small.strong#album-{k}@album", name),
        )
        for k, name in enumerate(page.params["albums"])
    ]
    return el(
        "section.stack", el("h2.subheading", page.say("album")), el("div.cols4" if page.wide else "div.cols2", cards)
    )
