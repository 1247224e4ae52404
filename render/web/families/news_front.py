"""News front pages: a lead story, columns of stories, a ticker, opinions, the most read."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock, date
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el

STYLES = {
    **CHROME,
    "mast": "text-align:center;border-bottom:3px double $line;padding-bottom:$s3",
    "mast-name": "font-size:$f6;font-weight:700;line-height:1.2",
    "ticker": "background:$bad_soft;color:$on_bad;padding:$s2 $s3;border-radius:$rs;display:flex;gap:$s3",
    "lead-grid": "display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:$s5",
    "story": "display:flex;flex-direction:column;gap:$s1;border-top:1px solid $line;padding-top:$s3;min-width:0",
    "section-head": "border-bottom:2px solid $accent;font-size:$f3;font-weight:700;padding-bottom:$s1",
    "rank": "font-size:$f4;font-weight:700;color:$accent_text;width:32px;flex:none",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    stories = [
        {
            "title": t,
            "text": draws.pick(lists["sentences"]),
            "topic": draws.pick(lists["topics"]),
            "at": draws.integer(360, 1380),
        }
        for t in draws.some(lists["headlines"], 13)
    ]
    has = {
        "mast": 0.5,
        "ticker": 0.4,
        "ranks": 0.5,
        "figure": 0.75,
        "topics": 0.5,
        "times": 0.5,
        "sections": 0.5,
        "text": 0.6,
    }
    return view, base | {
        "stories": stories,
        "sections": draws.some(lists["topics"], 3),
        "picture": sample_picture(draws),
        "day": [draws.integer(1, 29), draws.integer(1, 13), 2026],
        "kind": draws.pick(("lead", "thirds", "river")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    stories = params["stories"]
    mast = el(
        "header.mast",
        el("p.mast-name#paper@title", params["chrome"]["brand"]),
        el("time.muted.small", date(page.lang, *params["day"])),
    )
    flash = el(
        "p.ticker",
        {"role": "status"},
        el("strong", page.say("latest")),
        el("span#flash@breaking news", stories[12]["title"]),
    )
    body = [
        mast if page.has("mast") else None,
        flash if page.has("ticker") else None,
        _top(page),
        _sections(page) if page.has("sections") else el(f"div{page.cols(3)}", [_story(page, k) for k in range(4, 10)]),
    ]
    return finished(page, params["chrome"]["brand"], site(page, body), STYLES)


def _story(page: Page, place: int, tag: str = "h3.strong") -> Node:
    story = page.params["stories"][place]
    meta = [story["topic"]] if page.has("topics") else []
    meta += [clock(story["at"])] if page.has("times") else []
    return el(
        "article.story",
        el(f"{tag}#story-{place}@headline", el("a", {"href": "#"}, story["title"])),
        el("p.small.muted", " · ".join(meta)) if meta else None,
        el("p", story["text"]) if page.has("text") else None,
    )


def _top(page: Page) -> Content:
    drawn = picture(page.params["picture"], page.tokens, page.params["stories"][0]["topic"], 2.0)
    lead = el("section.stack", drawn if page.has("figure") else None, _story(page, 0, "h2.title"))
    side = [_story(page, k) for k in range(1, 4)]
    kind = page.params["kind"]
    if kind == "lead":
        ranked = _ranks(page) if page.has("ranks") else el("section.stack", side)
        return el("div.lead-grid" if page.wide else "div.stack", lead, ranked)
    if kind == "thirds":
        return [lead, el(f"div{page.cols(3)}", side)]
    return el("div.main-side" if page.wide else "div.stack", el("section.stack", lead, side), _ranks(page))


def _ranks(page: Page) -> Node:
    rows = [
        el("li.row", el("span.rank", str(k + 1)), el("a", {"href": "#"}, page.params["stories"][k + 6]["title"]))
        for k in range(5)
    ]
    return el("aside.card.stack", el("h2.section-head", page.say("popular")), el("ol.list", rows))


def _sections(page: Page) -> Node:
    columns = [
        el(
            "section.stack",
            el(f"h2.section-head#section-{k}@section", name),
            _story(page, 4 + 2 * k),
            _story(page, 5 + 2 * k),
        )
        for k, name in enumerate(page.params["sections"])
    ]
    return el(f"div{page.cols(3)}", columns)
