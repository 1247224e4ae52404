"""What stands around the matter of a page: headers and footers of sites, bars and side menus of applications.

`sample_chrome` draws which (plain JSON); `site` and `app` put a page's matter between them. Style names: `CHROME`.
"""

from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.bank import Words, words
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, setting
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import WIDGETS, crumbs

CHROME: dict[str, str] = {
    **WIDGETS,
    "top": "background:$surface;border-bottom:1px solid $line;color:$text",
    "top-ink": "background:$ink;color:$on_ink;border-color:$ink",
    "top-inner": "display:flex;align-items:center;gap:$s4;max-width:1120px;margin:0 auto;padding:$s3 $s4;width:100%",
    "top-strip": "background:$soft;color:$text;font-size:$f0;text-align:center;padding:$s1 $s4",
    "top-centre": "flex-direction:column;gap:$s2",
    "brand": "font-weight:700;font-size:$f3;white-space:nowrap;display:flex;align-items:center;gap:$s2",
    "links": "display:flex;gap:$s4;flex-wrap:wrap;align-items:center",
    "links-on": "font-weight:600;text-decoration:underline;text-underline-offset:2px",
    "push": "margin-inline-start:auto",
    "sub-nav": "background:$raised;color:$text;border-bottom:1px solid $line;font-size:$f1",
    "sub-inner": "display:flex;flex-wrap:wrap;gap:$s1 $s4;max-width:1120px;margin:0 auto;padding:$s2 $s4;width:100%",
    "find": "flex:1;min-width:0;max-width:420px",
    "foot": "border-top:1px solid $line;margin-top:$s5;color:$muted;font-size:$f1;background:$bg",
    "foot-inner": "display:flex;flex-wrap:wrap;gap:$s4;justify-content:space-between;max-width:1120px;margin:0 auto;"
    "padding:$s4;width:100%",
    "foot-col": "display:flex;flex-direction:column;gap:$s1;min-width:110px",
    "frame": "display:flex;min-height:100vh;align-items:stretch",
    "side": "width:208px;flex:none;background:$surface;border-inline-end:1px solid $line;padding:$s4 $s3;display:flex;"
    "flex-direction:column;gap:$s4;color:$text",
    "side-ink": "background:$ink;color:$on_ink;border-color:$ink",
    "side-list": "display:flex;flex-direction:column;gap:$s1",
    "side-link": "display:flex;align-items:center;gap:$s2;padding:$s2 $s3;border-radius:$rs",
    "side-on": "background:$accent;color:$on_accent;font-weight:600",
    "work": "flex:1;min-width:0;display:flex;flex-direction:column",
    "work-bar": "display:flex;align-items:center;gap:$s3;padding:$s2 $s4;border-bottom:1px solid $line;"
    "background:$surface;min-height:52px",
    "work-main": "padding:$s4;display:flex;flex-direction:column;gap:$s4;min-width:0;width:100%",
    "dock": "display:flex;justify-content:space-around;border-bottom:1px solid $line;background:$surface;padding:$s2",
    "dock-item": "display:flex;flex-direction:column;align-items:center;font-size:12px;gap:2px;"
    "color:$muted;min-width:0",
    "dock-on": "color:$accent_text;font-weight:600",
}
_ICONS = ("home", "grid", "user", "file", "calendar", "gear", "chat", "folder")
_TOOLS = ("log_in", "sign_up", "cart", "language", "account")
_NAV = ("home", "shop", "news", "blog", "about", "contact", "help", "support")


def sample_chrome(draws: Draws, words: Words, bare: float = 0.08) -> dict[str, Any]:
    """Which header, footer, bars; `bare` of the pages have no header."""
    kinds = ("bar", "search", "centred", "strip", "action", "slim")
    return {
        "header": "none" if draws.chance(bare) else draws.pick(kinds),
        "footer": draws.weighted(("none", "line", "links", "columns"), (3, 3, 3, 2)),
        "app": draws.pick(("side", "side_ink", "top", "dock")),
        "ink": draws.chance(0.25),
        "nav": draws.some(_NAV, draws.integer(4, 7)),
        "sub": draws.some(words.lists["topics"], draws.integer(4, 8)) if draws.chance(0.4) else [],
        "tools": draws.some(_TOOLS, draws.integer(1, 4)) if draws.chance(0.6) else [],
        "on": 0,
        "brand": draws.pick(words.lists["brands"]),
        "mark": draws.pick(("", "leaf", "bolt", "book", "globe", "star")),
        "crumbs": draws.chance(0.3),
        "year": draws.integer(2019, 2027),
        "person": draws.pick(words.lists["people"]),
    }


def begin(draws: Draws, desk_share: float = 0.62) -> tuple[View, dict[str, Any], Words]:
    """What most families start with: the view, the shared params with their `chrome`, the words."""
    view, base = setting(draws, desk_share)
    bank = words(str(base["lang"]))
    return view, base | {"chrome": sample_chrome(draws.child("chrome"), bank)}, bank


def site(page: Page, *main: Content, narrow: bool = False, title: str = "") -> list[Content]:
    """A page of a site: header, matter, footer."""
    chrome = page.params["chrome"]
    way = crumbs([page.say("home"), page.say(chrome["nav"][-1]), title]) if chrome["crumbs"] and title else None
    matter = el("main.page.narrow.stack" if narrow else "main.page.stack", way, main)
    return [header(page), matter, footer(page)]


def header(page: Page) -> Content:
    """The header of a site, in one of seven kinds; a small screen gets a menu button for its links."""
    chrome = page.params["chrome"]
    kind, tone = str(chrome["header"]), ".top-ink" if chrome["ink"] else ""
    if kind == "none":
        return None
    if not page.wide:
        menu = el(
            "button.btn.quiet.push",
            {"type": "button", "aria-label": page.say("menu"), "aria-expanded": "false"},
            {"style": "color:inherit"},
            icon("menu", 22),
        )
        extra = el("p.top-strip", page.words.lists["slogans"][0]) if kind == "strip" else None
        return el(f"header.top{tone}", extra, el("div.top-inner", brand(page), menu))
    return [_wide_header(page, kind, tone), _sub_nav(page)]


def _wide_header(page: Page, kind: str, tone: str) -> Node:
    chrome = page.params["chrome"]
    links = el("nav", el("ul.links", [_link(page, key, k == chrome["on"]) for k, key in enumerate(chrome["nav"])]))
    if kind == "centred":
        return el(f"header.top{tone}", el("div.top-inner.top-centre", brand(page), links))
    extra: Content = None
    if kind == "search":
        extra = el("form.find", {"role": "search"}, _find(page))
    elif kind == "action":
        extra = el("a.btn.push", {"href": "#"}, page.say("sign_up"))
    elif kind == "slim":
        extra = el("span.row.push", icon("search"), icon("user"))
    elif chrome["tools"]:
        extra = el("div.links.push.small", [el("a", {"href": "#"}, page.say(key)) for key in chrome["tools"]])
    bar = el("div.top-inner", brand(page), links, extra)
    return el(f"header.top{tone}", el("p.top-strip", page.words.lists["slogans"][0]) if kind == "strip" else None, bar)


def _sub_nav(page: Page) -> Content:
    items = [el("li", el("a", {"href": "#"}, text)) for text in page.params["chrome"]["sub"]]
    return el("nav.sub-nav", {"aria-label": page.say("categories")}, el("ul.sub-inner", items)) if items else None


def brand(page: Page) -> Node:
    """The name of the site, with a mark or without."""
    chrome = page.params["chrome"]
    return el(
        "a.brand",
        {"href": "#"},
        icon(chrome["mark"], 22) if chrome["mark"] else None,
        el("span#brand@brand", chrome["brand"]),
    )


def _link(page: Page, key: str, on: bool) -> Node:
    attrs = {"aria-current": "page"} if on else None
    return el("li", el("a.links-on" if on else "a", {"href": "#"}, attrs, page.say(key)))


def _find(page: Page) -> Node:
    label = page.say("search")
    return el("input.input", {"type": "search", "name": "q", "placeholder": label, "aria-label": label})


def footer(page: Page) -> Content:
    """The footer of a site."""
    chrome = page.params["chrome"]
    line = el("p", f"© {chrome['year']} {chrome['brand']} · {page.say('rights')}")
    links = [el("a", {"href": "#"}, page.say(key)) for key in ("privacy", "contact", "help")]
    if chrome["footer"] == "none":
        return None
    if chrome["footer"] == "line":
        return el("footer.foot", el("div.foot-inner", line))
    if chrome["footer"] == "links":
        return el("footer.foot", el("div.foot-inner", line, el("nav.links", links)))
    groups = (
        ("shop", ("new", "popular", "latest")),
        ("help", ("contact", "faq", "support")),
        ("about", ("team", "jobs", "blog")),
    )
    columns = [
        el(
            "div.foot-col",
            el("h4.strong", page.say(head)),
            el("ul.foot-col", [el("li", page.say(key)) for key in keys]),
        )
        for head, keys in groups
    ]
    return el("footer.foot", el("div.foot-inner", columns), el("div.foot-inner", line))


def app(page: Page, keys: tuple[str, ...], on: int, *main: Content, tools: Content = None) -> list[Content]:
    """A page of an application: a side menu, a row of links or a dock with `keys`, and the matter beside or below."""
    chrome = page.params["chrome"]
    kind = str(chrome["app"])
    if not page.wide:
        kind = "dock" if kind in ("dock", "side") else "small"
    matter = el("main.work-main", main)
    if kind in ("side", "side_ink"):
        tone = ".side-ink" if kind == "side_ink" else ""
        menu = [_side(page, key, k, k == on) for k, key in enumerate(keys)]
        side = el(f"aside.side{tone}", brand(page), el("nav", el("ul.side-list", menu)))
        bar = el("div.work-bar", tools, el("span.muted.push", chrome["person"])) if tools or chrome["crumbs"] else None
        return [el("div.frame", side, el("div.work", bar, matter))]
    if kind == "top":
        items = [
            el("li", el("a.links-on" if k == on else "a", {"href": "#"}, page.say(key))) for k, key in enumerate(keys)
        ]
        bar = el("header.work-bar", brand(page), el("nav", el("ul.links", items)), el("div.push.row", tools))
        return [bar, matter]
    bar = el("header.work-bar", brand(page), el("div.push.row", tools or icon("bell")))
    if kind == "small":
        return [bar, matter]
    dock = [
        el(
            "a.dock-item.dock-on" if k == on else "a.dock-item",
            {"href": "#"},
            icon(_ICONS[k], 20),
            el("span", page.say(key)),
        )
        for k, key in enumerate(keys[:4])
    ]
    return [bar, el("nav.dock", dock), matter]


def _side(page: Page, key: str, place: int, on: bool) -> Node:
    attrs = {"aria-current": "page"} if on else None
    link = el(
        "a.side-link.side-on" if on else "a.side-link",
        {"href": "#"},
        attrs,
        icon(_ICONS[place % 8]),
        el("span", page.say(key)),
    )
    return el("li", link)
