"""Slides: a title with points, two columns, a figure, a quotation, a number, with page and source below."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import bars
from gristmill.render.web.chrome import CHROME, begin, brand
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.pictures import picture, sample_picture
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    table,
)

STYLES = {
    **CHROME,
    "slide": "min-height:100vh;display:flex;flex-direction:column;padding:$s6;gap:$s5;background:$surface",
    "slide-ink": "background:$ink;color:$on_ink",
    "slide-small": "padding:$s5 $s4",
    "big": "font-size:44px;line-height:1.15;font-weight:700",
    "big-small": "font-size:30px;line-height:1.2;font-weight:700",
    "middle": "flex:1;display:flex;flex-direction:column;justify-content:center;gap:$s4",
    "points": "display:flex;flex-direction:column;gap:$s3;font-size:$f4",
    "point": "display:flex;gap:$s3;align-items:flex-start",
    "mark": "width:12px;height:12px;background:$accent;flex:none;margin-top:10px",
    "huge": "font-size:88px;line-height:1;font-weight:700;color:$accent_text",
    "quote": "font-size:$f5;line-height:1.4;font-style:italic",
    "slide-foot": "display:flex;justify-content:space-between;gap:$s3;font-size:$f0;color:$muted",
    "line": "height:4px;width:90px;background:$accent",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.85)
    lists = bank.lists
    return view, base | {
        "kind": draws.pick(("points", "columns", "picture", "quote", "figure", "title", "chart", "table", "cards")),
        "title": draws.pick(lists["headlines"]),
        "points": draws.some(lists["tasks"], draws.integer(3, 6)),
        "text": draws.some(lists["sentences"], 4),
        "who": draws.pick(lists["people"]),
        "topics": draws.some(lists["topics"], 4),
        "values": [draws.integer(10, 100) for _ in range(6)],
        "picture": sample_picture(draws),
        "no": draws.integer(2, 40),
        "has": flags(
            draws, {"kicker": 0.5, "line": 0.5, "foot": 0.7, "brand": 0.4, "ordered": 0.4, "lead": 0.4, "steps": 0.3}
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    p = params
    head = el(
        "header.stack",
        el("p.plain.strong#kicker@kicker", p["topics"][0]) if page.has("kicker") else None,
        el("h1.big#title@title" if page.wide else "h1.big-small#title@title", p["title"]),
        el("div.line") if page.has("line") else None,
        el("p.muted#lead@introduction", p["text"][3]) if page.has("lead") else None,
    )
    foot = (
        el("footer.slide-foot", el("span", p["chrome"]["brand"]), el("span#page-no@page number", f"{p['no']} / 42"))
        if page.has("foot")
        else None
    )
    top = (
        el("div.row.between", brand(page), el("span.muted.small", page.words.lists["months"][p["no"] % 12]))
        if page.has("brand")
        else None
    )
    dots = (
        el("ol.row", [el("li.badge", {"aria-current": "step"} if k == 1 else None, str(k + 1)) for k in range(4)])
        if page.has("steps")
        else None
    )
    body = el(
        "section.slide" if page.wide else "section.slide.slide-small",
        top,
        head,
        el("div.middle", _matter(page)),
        dots,
        foot,
    )
    return finished(page, p["title"], body, STYLES)


def _points(page: Page, items: list[str]) -> Node:
    if page.has("ordered"):
        return el(
            "ol.points",
            [
                el("li.point", el("span.plain.strong", f"{k + 1}."), el(f"span#point-{k}@point", text))
                for k, text in enumerate(items)
            ],
        )
    return el(
        "ul.points",
        [el("li.point", el("span.mark"), el(f"span#point-{k}@point", text)) for k, text in enumerate(items)],
    )


def _matter(page: Page) -> Content:
    p, kind = page.params, page.params["kind"]
    if kind == "points":
        return _points(page, p["points"])
    if kind == "columns":
        return el(
            f"div{page.cols(2)}",
            _points(page, p["points"][:3]),
            el("div.panel.stack", [el("p", text) for text in p["text"][:3]]),
        )
    if kind == "picture":
        return el(
            f"div{page.cols(2)}", picture(p["picture"], page.tokens, p["topics"][1]), _points(page, p["points"][:3])
        )
    if kind == "quote":
        return [el("blockquote.quote#quote@quotation", p["text"][0]), el("p.muted#who@author", f"— {p['who']}")]
    if kind == "figure":
        return [el("p.huge#figure@figure", f"{p['values'][0]} %"), el("p.heading", p["text"][1])]
    if kind == "chart":
        return el(
            "figure.stack",
            el("div", {"style": "max-width:720px"}, bars(p["values"], page.tokens, p["topics"][0])),
            el("figcaption.muted#caption@caption", p["text"][2]),
        )
    if kind == "table":
        rows = [[name, str(p["values"][k]), f"{p['values'][-k - 1]} %"] for k, name in enumerate(p["topics"])]
        return table([page.say("title"), page.say("amount"), "%"], rows, numeric=(1, 2), key="facts")
    if kind == "cards":
        return el(
            f"div{page.cols(4)}",
            [
                el("article.card.stack", icon(n, 28), el("h2.strong", t))
                for n, t in zip(("leaf", "bolt", "globe", "shield"), p["topics"], strict=True)
            ],
        )
    return [el("p.heading", p["text"][0]), el("p.muted", p["who"])]
