"""Lists of notices: read and unread, grouped by day, with faces, actions, tabs, settings beside."""

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
    face,
    tabs,
    tick,
)

STYLES = {
    **CHROME,
    "notice": "display:flex;gap:$s3;align-items:flex-start;padding:$s3;border-bottom:1px solid $line",
    "notice-new": "background:$soft;color:$text",
    "dot": "width:9px;height:9px;border-radius:50%;background:$accent;flex:none;margin-top:7px",
    "box": "background:$surface;border:1px solid $line;border-radius:$r;overflow:hidden",
    "toast": "background:$ink;color:$on_ink;border-radius:$r;padding:$s3 $s4;display:flex;gap:$s3;align-items:center",
    "pop": "max-width:420px;margin-inline-start:auto;width:100%",
}
_MARKS = ("bell", "heart", "chat", "star", "cart", "calendar")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.55)
    lists = bank.lists
    notices = [
        {
            "who": draws.pick(lists["people"]),
            "text": t,
            "hours": draws.integer(1, 23),
            "new": draws.chance(0.4),
            "mark": draws.pick(_MARKS),
        }
        for t in draws.some([*lists["mails"], *lists["tasks"]], draws.integer(5, 10))
    ]
    return view, base | {
        "notices": notices,
        "on": [draws.chance(0.5) for _ in range(4)],
        "kind": draws.pick(("app", "site", "pop", "groups")),
        "has": flags(
            draws,
            {
                "faces": 0.5,
                "marks": 0.4,
                "actions": 0.35,
                "tabs": 0.5,
                "prefs": 0.4,
                "toast": 0.35,
                "clear": 0.5,
                "times": 0.7,
                "who": 0.6,
                "more": 0.4,
                "dot": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    news = sum(notice["new"] for notice in params["notices"])
    head = el(
        "div.row.between.wrap",
        el("h1.heading#title@title", page.say("notifications")),
        el("span.badge#new@count", f"{page.say('new')}: {news}"),
        button(page.say("delete"), "clear", "quiet") if page.has("clear") else None,
    )
    rows = [_notice(page, k, notice) for k, notice in enumerate(params["notices"])]
    half = len(rows) // 2
    kind = params["kind"]
    if kind == "groups":
        listed: Content = [
            el("section.stack", el(f"h2.subheading#day-{k}@day", page.say(key)), el("ul.box", part))
            for k, (key, part) in enumerate((("today", rows[:half]), ("yesterday", rows[half:])))
        ]
    else:
        listed = el("ul.box", rows)
    toast = el("div.toast", {"role": "status"}, icon("check"), el("span#toast@message", params["notices"][0]["text"]))
    prefs = el(
        "aside.card.stack",
        el("h2.subheading#prefs@heading", page.say("settings")),
        [
            tick(page.say(key), f"pref-{key}", params["on"][k])
            for k, key in enumerate(("email", "message", "comments", "newsletter"))
        ],
    )
    main = el(
        "div.stack",
        tabs([page.say(key) for key in ("all", "new", "starred")], 0) if page.has("tabs") else None,
        listed,
        el("button.btn.ghost", {"type": "button"}, page.say("show_all")) if page.has("more") else None,
    )
    body: Content = [
        toast if page.has("toast") else None,
        head,
        el("div.main-side" if page.wide else "div.stack", main, prefs) if page.has("prefs") else main,
    ]
    if kind == "app":
        body = app(page, ("home", "tasks", "notifications", "team", "settings"), 2, body)
    elif kind == "pop":
        body = site(page, el("div.pop.stack", body) if not page.has("prefs") else body)
    else:
        body = site(page, body, narrow=not page.has("prefs"))
    return finished(page, page.say("notifications"), body, STYLES)


def _notice(page: Page, place: int, notice: Mapping[str, Any]) -> Node:
    actions = (
        el(
            "div.row",
            el("button.btn", {"type": "button"}, page.say("yes")),
            el("button.btn.ghost", {"type": "button"}, page.say("no")),
        )
        if page.has("actions") and place % 3 == 0
        else None
    )
    words_ = el(
        "div.grow",
        el("p.strong", notice["who"]) if page.has("who") else None,
        el(f"p#notice-{place}@notice", notice["text"]),
        el("time.small.muted", f"{notice['hours']} {page.say('hours')}") if page.has("times") else None,
        actions,
    )
    first = face(notice["who"]) if page.has("faces") else icon(notice["mark"], 22) if page.has("marks") else None
    return el(
        "li.notice.notice-new" if notice["new"] else "li.notice",
        first,
        words_,
        el("span.dot", {"aria-label": page.say("new")}) if page.has("dot") and notice["new"] else None,
    )
