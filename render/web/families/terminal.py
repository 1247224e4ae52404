"""Terminals in a page: a window with commands and what they print, tabs, a bar of states."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, code_lines, indented

STYLES = {
    **CHROME,
    "window": "background:$ink;color:$on_ink;border-radius:$r;overflow:hidden;"
    "font-family:'DejaVu Sans Mono',monospace;font-size:14px;line-height:1.6;direction:ltr;text-align:left;width:100%",
    "window-bar": "display:flex;gap:8px;align-items:center;padding:10px 14px;border-bottom:1px solid $muted",
    "light": "width:12px;height:12px;border-radius:50%;flex:none",
    "lines": "padding:14px;display:flex;flex-direction:column;gap:2px",
    "typed": "font-weight:700",
    "out": "white-space:pre-wrap;overflow-wrap:anywhere",
    "cursor": "display:inline-block;width:9px;height:18px;background:$on_ink;vertical-align:middle",
    "bare": "min-height:100vh;border-radius:0",
    "state": "display:flex;justify-content:space-between;gap:$s3;background:$accent;color:$on_accent;"
    "padding:4px 14px;font-size:13px",
    "cols": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s4;align-items:start",
}
_RUNS = (
    (
        "ls -l notes",
        "total 24\n-rw-r--r-- 1 ann ann  812 Mar  4 bread.txt\n-rw-r--r-- 1 ann ann 4096 Mar  9 salt.txt\n"
        "-rw-r--r-- 1 ann ann  120 Apr  1 todo.txt",
    ),
    ("git status --short", " M src/total.py\n?? notes/april.txt"),
    ("git log --oneline -3", "4f1c2aa Round prices up\n90b7e13 Fix the footer link\nc03d5e8 First draft"),
    ("df -h /", "Filesystem  Size  Used Avail Use%\n/dev/sda1    50G   21G   27G  44%"),
    ("python total.py --year 2026", "reading 12 files\ntotal: 4812.50"),
    ("ping -c 2 harbour", "64 bytes: icmp_seq=1 time=0.41 ms\n64 bytes: icmp_seq=2 time=0.39 ms"),
    ("wc -l notes/*.txt", "  18 notes/bread.txt\n  94 notes/salt.txt\n 112 total"),
    ("make test", "test_total ... ok\ntest_rounding ... ok\n2 passed in 0.31 s"),
    ("uptime", " 09:14:02 up 12 days, 3:40, 1 user, load 0.12"),
    ("cat todo.txt", "[x] call the printer\n[ ] order chairs\n[ ] translate help"),
)


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    return view, base | {
        "runs": draws.some(range(len(_RUNS)), draws.integer(5, 9)),
        "prompt": draws.pick(("$", "%", "ann@harbour:~$", ">", "~ ❯")),
        "title": draws.pick(bank.lists["headlines"]),
        "text": draws.some(bank.lists["sentences"], 2),
        "points": draws.some(bank.lists["tasks"], 4),
        "kind": draws.pick(("bare", "window", "site", "two")),
        "has": flags(
            draws,
            {
                "bar": 0.8,
                "lights": 0.5,
                "tabs": 0.6,
                "state": 0.6,
                "cursor": 0.6,
                "intro": 0.5,
                "list": 0.4,
                "buttons": 0.4,
                "second": 0.3,
                "pre": 0.4,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    window = _window(page, params["runs"], "a")
    intro = (
        el("header.stack", el("h1.title#title@title", params["title"]), el("p#text@text", params["text"][0]))
        if page.has("intro")
        else None
    )
    points = (
        el("ul.card.list", [el("li.row", icon("check", 16), el("span", text)) for text in params["points"]])
        if page.has("list")
        else None
    )
    buttons = (
        el("div.row.wrap", button(page.say("start"), "start"), button(page.say("close"), "stop", "ghost"))
        if page.has("buttons")
        else None
    )
    kind = params["kind"]
    if kind == "bare":
        window.names = (*window.names, "bare")
        body: Content = el("main", window)
    elif kind == "two" and page.wide:
        body = site(
            page,
            intro,
            el(
                "div.cols",
                window,
                el("div.stack", _window(page, [k for k in range(10) if k not in params["runs"]][:2], "b"), points),
            ),
            buttons,
        )
    elif kind == "site":
        body = site(page, intro, window, points, buttons)
    else:
        body = el("main.page.stack", intro, window, points, buttons)
    return finished(page, params["title"], body, STYLES)


def _window(page: Page, runs: list[int], key: str) -> Node:
    lights = [el("span.light", {"style": f"background:{page.tokens['c' + str(k)]}"}) for k in (1, 2, 3)]
    bar = el(
        "header.window-bar",
        lights if page.has("lights") else icon("menu"),
        el("span", "notes — 80×24"),
        [el("span", name) for name in ("build", "log", "tests", "docs")] if page.has("tabs") and page.wide else None,
    )
    rows: list[Content] = []
    for place, which in enumerate(runs):
        typed, out = _RUNS[which]
        rows.append(el(f"p.typed#typed-{key}{place}@command", f"{page.params['prompt']} {typed}"))
        rows.append(
            el("pre.out", {"style": "font:inherit"}, code_lines(out))
            if page.has("pre")
            else [indented(text, "p.out", "min-height:1em") for text in out.split("\n")]
        )
    last = (
        el("p", page.params["prompt"], " ", el("span.cursor", {"aria-hidden": "true"})) if page.has("cursor") else None
    )
    state = (
        el(
            "footer.state",
            [el("span", text) for text in ("main", "UTF-8", "LF", f"{len(runs)} ✓")],
        )
        if page.has("state")
        else None
    )
    return el(
        "section.window",
        {"role": "log", "aria-label": "terminal"},
        bar if page.has("bar") else None,
        el("div.lines", rows, last),
        state,
    )
