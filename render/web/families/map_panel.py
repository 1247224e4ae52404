"""Maps with a panel: a drawn map, places with distances, a route in steps, a search field."""

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
    icon_button,
    pills,
    stars,
    tabs,
)

STYLES = {
    **CHROME,
    "map-frame": "display:grid;grid-template-columns:340px minmax(0,1fr);min-height:100vh",
    "map-turned": "grid-template-columns:minmax(0,1fr) 320px",
    "panel-side": "padding:$s4;display:flex;flex-direction:column;gap:$s3;background:$surface;"
    "min-width:0;border-inline-end:1px solid $line",
    "map": "width:100%;height:100%;min-height:260px;max-height:100vh",
    "map-box": "position:relative;min-height:260px;background:$raised;overflow:hidden",
    "place": "display:flex;gap:$s3;align-items:flex-start;padding:$s2 0;border-bottom:1px solid $line",
    "place-no": "width:26px;height:26px;border-radius:50%;background:$accent;color:$on_accent;"
    "display:flex;align-items:center;justify-content:center;font-size:12px;font-weight:700;flex:none",
    "zoom": "position:absolute;top:12px;inset-inline-end:12px;display:flex;flex-direction:column;gap:4px",
    "zoom-key": "width:34px;height:34px;border:1px solid $line;background:$surface;color:$text;"
    "border-radius:$rs;display:flex;align-items:center;justify-content:center",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.65)
    lists = bank.lists
    return view, base | {
        "places": [
            [name, draws.integer(2, 90) / 10, draws.integer(3, 6)]
            for name in draws.some([*lists["brands"], *lists["cities"]], draws.integer(3, 7))
        ],
        "steps": draws.some(lists["cities"], 4),
        "query": draws.pick(lists["topics"]),
        "streets": [draws.integer(20, 780) for _ in range(6)],
        "river": draws.integer(100, 400),
        "pins": [[draws.integer(80, 720), draws.integer(80, 520)] for _ in range(4)],
        "minutes": draws.integer(5, 90),
        "kind": draws.pick(("side", "turned", "site", "below")),
        "has": flags(
            draws,
            {
                "route": 0.5,
                "places": 0.8,
                "filters": 0.5,
                "stars": 0.4,
                "zoom": 0.6,
                "search": 0.7,
                "modes": 0.4,
                "pins": 0.7,
                "buttons": 0.4,
                "line": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    panel, drawn = el("section.panel-side", _panel(page)), _map(page)
    kind = params["kind"]
    if kind == "site" or (kind == "side" and not page.wide):
        body: Content = site(
            page,
            el("h1.heading#title@title", page.say("map")),
            el("div.cols2" if page.wide else "div.stack", drawn, el("div.card.stack", _panel(page))),
        )
    elif page.wide and kind == "turned":
        body = el("main.map-frame.map-turned", drawn, panel)
    elif page.wide:
        body = el("main.map-frame", panel, drawn)
    else:
        body = el("main", drawn, panel)
    return finished(page, page.say("map"), body, STYLES)


def _panel(page: Page) -> list[Content]:
    p = page.params
    search = el(
        "div.row",
        el("input.input", {"type": "search", "value": p["query"], "aria-label": page.say("search")}),
        icon_button("search", page.say("search")),
    )
    modes = tabs([page.say("train"), page.say("route"), page.say("directions")], 1) if page.has("modes") else None
    buttons = (
        el("div.row.wrap", button(page.say("directions"), "directions"), button(page.say("save"), "save", "ghost"))
        if page.has("buttons")
        else None
    )
    return [
        search if page.has("search") else None,
        pills([page.say("all"), *page.words.lists["topics"][:3]], 0) if page.has("filters") else None,
        modes,
        _route(page) if page.has("route") else None,
        _places(page) if page.has("places") or not page.has("route") else None,
        buttons,
    ]


def _route(page: Page) -> Node:
    p = page.params
    rows = [
        el("li.row", el("span.place-no", chr(65 + k)), el(f"span#stop-{k}@stop", name))
        for k, name in enumerate(p["steps"])
    ]
    return el(
        "section.stack",
        el(
            "p.row.between",
            el("strong#time@duration", f"{p['minutes']} {page.say('minutes')}"),
            el("span.muted", f"{p['minutes'] * 1.2:.0f} km"),
        ),
        el("ol.list", rows),
    )


def _places(page: Page) -> Node:
    rows = [
        el(
            "li.place",
            el("span.place-no", str(k + 1)),
            el(
                "div.grow",
                el(f"h2.strong#place-{k}@place", name),
                stars(score, page.say("reviews")) if page.has("stars") else None,
                el("p.small.muted", f"{page.say('distance')}: {far} km"),
            ),
        )
        for k, (name, far, score) in enumerate(page.params["places"])
    ]
    return el("ul", rows)


def _block(page: Page, x: int, y: int) -> Node:
    size = {"x": str(x), "y": str(y), "width": "96", "height": "70", "rx": "6"}
    return el("rect", size, {"fill": page.tokens["line"], "fill-opacity": "0.6"})


def _map(page: Page) -> Node:
    p, t = page.params, page.tokens
    streets = [
        el("path", {"d": f"M{x} 0 L{800 - x} 600", "stroke": t["surface"], "stroke-width": "10", "fill": "none"})
        for x in p["streets"][:3]
    ]
    streets += [
        el("path", {"d": f"M0 {y * 3 // 4} H800", "stroke": t["surface"], "stroke-width": "14", "fill": "none"})
        for y in p["streets"][3:]
    ]
    river = el(
        "path",
        {
            "d": f"M0 {p['river']} C200 {p['river'] + 120} 500 {p['river'] - 90} 800 {p['river'] + 60}",
            "stroke": t["c1"],
            "stroke-width": "34",
            "fill": "none",
        },
    )
    park = el("rect", {"x": str(p["river"]), "y": "60", "width": "190", "height": "120", "rx": "18", "fill": t["c3"]})
    blocks = [_block(page, x, y) for x in range(40, 800, 150) for y in range(30, 600, 130) if (x * y // 10) % 3]
    route = el(
        "polyline",
        {
            "points": " ".join(f"{x},{y}" for x, y in p["pins"]),
            "stroke": t["accent"],
            "stroke-width": "6",
            "fill": "none",
        },
    )
    pins = [
        el(
            "circle",
            {"cx": str(x), "cy": str(y), "r": "13", "fill": t["accent"], "stroke": t["surface"], "stroke-width": "4"},
        )
        for x, y in p["pins"]
    ]
    attrs = {
        "viewBox": "0 0 800 600",
        "preserveAspectRatio": "xMidYMid slice",
        "role": "img",
        "aria-label": page.say("map"),
    }
    drawn = el(
        "svg.map",
        attrs,
        el("rect", {"width": "800", "height": "600", "fill": t["raised"]}),
        blocks,
        river,
        park,
        streets,
        route if page.has("line") else None,
        pins if page.has("pins") else None,
    )
    zoom = (
        el("div.zoom", [el("button.zoom-key", {"type": "button", "aria-label": sign}, sign) for sign in ("+", "−")])
        if page.has("zoom")
        else None
    )
    return el("section.map-box", drawn, zoom)
