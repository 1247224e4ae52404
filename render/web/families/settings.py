"""Settings: groups of switches, choices and fields, a menu of sections beside or tabs above."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import (
    button,
    choice,
    face,
    field,
    tabs,
    tick,
)

STYLES = {
    **CHROME,
    "item": "display:flex;align-items:center;gap:$s4;justify-content:space-between;padding:$s3 0;"
    "border-bottom:1px solid $line",
    "switch": "width:40px;height:22px;border-radius:11px;background:$line;display:flex;padding:3px;flex:none;border:0",
    "switch-on": "background:$accent;justify-content:flex-end",
    "knob": "width:16px;height:16px;border-radius:50%;background:$surface",
    "menu": "display:flex;flex-direction:column;gap:$s1",
    "menu-item": "padding:$s2 $s3;border-radius:$rs;display:flex;gap:$s2;align-items:center",
    "menu-on": "background:$soft;color:$text;font-weight:600",
    "danger": "background:$bad_soft;color:$on_bad;border-color:$bad_soft",
}
_SECTIONS = ("account", "notifications", "privacy", "security", "language")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    has = {
        "hints": 0.5,
        "profile": 0.7,
        "prefs": 0.7,
        "switches": 0.85,
        "danger": 0.4,
        "save": 0.7,
        "face": 0.4,
        "radio": 0.4,
        "cards": 0.6,
    }
    return view, base | {
        "kind": draws.pick(("menu", "tabs", "app", "plain")),
        "person": draws.pick(bank.lists["people"]),
        "on": [draws.chance(0.5) for _ in range(6)],
        "section": draws.integer(0, 5),
        "hints": draws.some(bank.lists["sentences"], 6),
        "cities": draws.some(bank.lists["cities"], 3),
        "count": draws.integer(3, 7),
        "off": draws.integer(0, 6),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    groups = [
        _profile(page) if page.has("profile") else None,
        _prefs(page) if page.has("prefs") else None,
        _switches(page) if page.has("switches") or not (page.has("prefs") and page.has("profile")) else None,
        _danger(page) if page.has("danger") else None,
        el("div.row", button(page.say("save"), "save"), button(page.say("cancel"), "cancel", "ghost"))
        if page.has("save")
        else None,
    ]
    title = el("h1.title#title@title", page.say("settings"))
    kind, section = params["kind"], params["section"]
    if kind == "app":
        body: Content = app(page, ("home", *_SECTIONS), 1 + section, title, groups)
    elif kind == "menu" and page.wide:
        body = site(page, title, el("div.side-main", _menu(page), el("div.stack", groups)))
    elif kind == "tabs":
        body = site(page, title, tabs([page.say(key) for key in _SECTIONS[:4]], min(section, 3)), groups, narrow=True)
    else:
        body = site(page, title, groups, narrow=True)
    return finished(page, page.say("settings"), body, STYLES)


def _menu(page: Page) -> Node:
    icons = ("user", "bell", "shield", "lock", "globe")
    on = page.params["section"]
    items = [
        el(
            "li",
            el(
                "a.menu-item.menu-on" if k == on else "a.menu-item",
                {"href": "#"},
                icon(icons[k]),
                el("span", page.say(key)),
            ),
        )
        for k, key in enumerate(_SECTIONS)
    ]
    return el("nav.card", el("ul.menu", items))


def _group(page: Page, key: str, *content: Content) -> Node:
    return el(
        "section.card.stack" if page.has("cards") else "section.stack",
        el(f"h2.subheading#{key}-heading@heading", page.say(key)),
        content,
    )


def _profile(page: Page) -> Node:
    name = page.params["person"]
    top = (
        el("div.row", face(name), el("span.strong#person@person", name), button(page.say("edit"), "edit", "quiet"))
        if page.has("face")
        else None
    )
    pair = "div.cols2" if page.wide else "div.stack"
    fields = el(pair, field(page.say("name"), "name", value=name), field(page.say("email"), "email", "email"))
    return _group(page, "profile", top, fields)


def _prefs(page: Page) -> Node:
    dark = bool(page.params["dark"])
    radios = el(
        "div.row.wrap",
        tick(page.say("dark"), "dark", dark, "radio", "theme"),
        tick(page.say("light"), "light", not dark, "radio", "theme"),
    )
    look = (
        radios
        if page.has("radio")
        else choice(page.say("theme"), "theme", [page.say("dark"), page.say("light")], 0 if dark else 1)
    )
    return _group(page, "theme", look, choice(page.say("city"), "city", page.params["cities"]))


def _switches(page: Page) -> Node:
    keys = ("newsletter", "message", "comments", "reports", "calendar", "search")[: page.params["count"]]
    return _group(page, "notifications", el("ul", [_switch(page, k, key) for k, key in enumerate(keys)]))


def _switch(page: Page, place: int, key: str) -> Node:
    on = page.params["on"][place]
    attrs: dict[str, str | None] = {
        "type": "button",
        "role": "switch",
        "aria-checked": str(on).lower(),
        "aria-label": page.say(key),
    }
    knob = el(
        "button.switch.switch-on" if on else "button.switch",
        attrs,
        {"disabled": None} if place == page.params["off"] else None,
        el("span.knob"),
    )
    hint = el("p.small.muted", page.params["hints"][place]) if page.has("hints") else None
    return el("li.item", el("div", el("p.strong", page.say(key)), hint), knob)


def _danger(page: Page) -> Node:
    return el(
        "section.card.danger.row.between.wrap",
        el("p.strong", page.say("account")),
        button(page.say("delete"), "delete", "ghost"),
    )
