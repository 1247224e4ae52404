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
    "map-name": "position:absolute;background:$surface;color:$text;border-radius:$rs;padding:1px 6px;font-size:12px;"
    "max-width:24%;white-space:nowrap;line-height:1.5",
    "map-scale": "position:absolute;bottom:12px;inset-inline-start:12px;background:$surface;color:$text;"
    "padding:0 $s2;font-size:12px;direction:ltr;border-bottom:2px solid $text;line-height:1.5",
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
            for name in draws.some([*lists["brands"], *lists["cities"]], draws.integer(4, 8))
        ],
        "steps": draws.some(lists["cities"], 4),
        "query": draws.pick(lists["topics"]),
        "streets": [draws.integer(20, 780) for _ in range(6)],
        "river": draws.integer(100, 400),
        "pins": [[draws.integer(80, 720), draws.integer(80, 520)] for _ in range(4)],
        "labels": [[name, draws.integer(0, 8), draws.integer(0, 30)] for name in draws.some(lists["topics"], 6)],
        "far": draws.pick((50, 100, 200, 500)),
        "minutes": draws.integer(5, 90),
        "kind": draws.pick(("side", "turned", "site", "below")),
        "has": flags(
            draws,
            {
                "route": 0.5,
                "places": 0.8,
                "filters": 0.6,
                "stars": 0.5,
                "zoom": 0.7,
                "labels": 0.65,
                "scale": 0.4,
                "search": 0.7,
                "modes": 0.5,
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
            el("span.muted.ltr", f"{p['minutes'] * 1.2:.0f} km"),
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


def _streets(page: Page) -> list[Node]:
    at, colour = page.params["streets"], page.tokens["surface"]
    down = [
        el("path", {"d": f"M{x} 0 L{800 - x} 600", "stroke": colour, "stroke-width": "10", "fill": "none"})
        for x in at[:3]
    ]
    across = [
        el("path", {"d": f"M0 {y * 3 // 4} H800", "stroke": colour, "stroke-width": "14", "fill": "none"})
        for y in at[3:]
    ]
    return down + across


def _land(page: Page) -> list[Node]:
    """Houses, a river, a park."""
    t, y = page.tokens, page.params["river"]
    blocks = [_block(page, x, y) for x in range(40, 800, 150) for y in range(30, 600, 130) if (x * y // 10) % 3]
    bend = f"M0 {y} C200 {y + 120} 500 {y - 90} 800 {y + 60}"
    river = el("path", {"d": bend, "stroke": t["c1"], "stroke-width": "34", "fill": "none"})
    park = el("rect", {"x": str(y), "y": "60", "width": "190", "height": "120", "rx": "18", "fill": t["c3"]})
    return [*blocks, river, park]


def _route_line(page: Page) -> list[Node | None]:
    t, pins = page.tokens, page.params["pins"]
    points = " ".join(f"{x},{y}" for x, y in pins)
    line = el("polyline", {"points": points, "stroke": t["accent"], "stroke-width": "6", "fill": "none"})
    mark: dict[str, str | None] = {"r": "13", "fill": t["accent"], "stroke": t["surface"], "stroke-width": "4"}
    discs = [el("circle", {"cx": str(x), "cy": str(y)}, mark) for x, y in pins]
    return [line if page.has("line") else None, *(discs if page.has("pins") else [])]


def _labels(page: Page) -> list[Node]:
    """Names on the map, one in each of six fields, so that none covers another."""
    return [
        el(
            f"span.map-name#label-{k}@place on the map",
            {"style": f"left:{5 + 32 * (k % 3) + dx}%;top:{8 + 46 * (k // 3) + dy}%"},
            name,
        )
        for k, (name, dx, dy) in enumerate(page.params["labels"])
    ]


def _map(page: Page) -> Node:
    attrs = {"viewBox": "0 0 800 600", "preserveAspectRatio": "xMidYMid slice", "role": "img"}
    ground = el("rect", {"width": "800", "height": "600", "fill": page.tokens["raised"]})
    layers = [ground, _land(page), _streets(page), _route_line(page)]
    zoom = el("div.zoom", [el("button.zoom-key", {"type": "button", "aria-label": sign}, sign) for sign in ("+", "−")])
    scale = el("span.map-scale#scale@scale", f"{page.params['far']} m")
    return el(
        "section.map-box",
        el("svg.map", attrs, {"aria-label": page.say("map")}, layers),
        _labels(page) if page.has("labels") and page.wide else None,
        zoom if page.has("zoom") else None,
        scale if page.has("scale") else None,
    )
