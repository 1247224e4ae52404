"""Timetables: lessons of a week in a grid or under their days, or trains by station and time."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import clock
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, pills, tabs

STYLES = {
    **CHROME,
    "sheet": "background:$surface;border:1px solid $line;border-radius:$r;overflow:hidden",
    "plan": "width:100%;border-collapse:collapse;table-layout:fixed;color:$text;font-size:$f1",
    "slot": "border:1px solid $line;padding:$s2;vertical-align:top;text-align:start",
    "slot-head": "background:$raised;font-weight:600;text-align:center",
    "slot-now": "background:$soft;color:$text",
    "pause": "background:$raised;color:$muted;text-align:center",
    "lesson": "display:flex;flex-direction:column;gap:2px;border-inline-start:4px solid $accent;"
    "padding-inline-start:$s2;line-height:1.4",
    "when": "font-variant-numeric:tabular-nums;font-weight:600;white-space:nowrap",
    "entry": "display:grid;grid-template-columns:60px minmax(0,1fr) auto;gap:$s3;padding:$s2 0;align-items:center;"
    "border-bottom:1px solid $line",
    "day-head": "background:$ink;color:$on_ink;padding:$s2 $s3;border-radius:$rs;font-weight:600",
    "stop": "border-bottom:1px solid $line;padding:$s2;text-align:start;font-weight:500",
    "stop-time": "text-align:center;font-variant-numeric:tabular-nums",
    "stop-odd": "background:$raised",
    "line-no": "background:$accent;color:$on_accent;padding:1px $s2;border-radius:$rs;font-weight:700",
}


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.7)
    topics = draws.some(bank.lists["topics"], 7)
    count = draws.integer(4, 7)
    lessons = [
        [
            [draws.integer(0, 7), draws.integer(1, 40), draws.integer(0, 4)] if draws.chance(0.82) else []
            for _ in range(5)
        ]
        for _ in range(count)
    ]
    start, ride = draws.integer(14, 19) * 30, [draws.integer(3, 25) for _ in range(9)]
    return view, base | {
        "topics": topics,
        "lessons": lessons,
        "people": draws.some(bank.lists["people"], 4),
        "start": start,
        "length": draws.pick((45, 50, 60, 90)),
        "now": draws.integer(0, 5),
        "stops": draws.some(bank.lists["cities"], draws.integer(5, 10)),
        "ride": ride,
        "every": draws.pick((15, 20, 30, 60)),
        "runs": draws.integer(4, 8),
        "lines": [f"{draws.pick(('IC', 'RE', 'S'))}{draws.integer(1, 99)}" for _ in range(8)],
        "note": draws.pick(bank.lists["sentences"]),
        "kind": draws.pick(("grid", "grid", "days", "trains")),
        "place": draws.pick(("site", "app", "bare")),
        "has": flags(
            draws,
            {
                "rooms": 0.6,
                "teachers": 0.4,
                "tabs": 0.5,
                "filter": 0.35,
                "note": 0.35,
                "print": 0.5,
                "pause": 0.5,
                "odd": 0.5,
                "ends": 0.4,
                "numbers": 0.5,
                "now": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    kind = params["kind"] if page.wide or params["kind"] == "trains" else "days"
    name = page.say("train") if kind == "trains" else page.say("week")
    sub = f"{params['stops'][0]} – {params['stops'][-1]}" if kind == "trains" else params["chrome"]["brand"]
    head = el(
        "header.row.between.wrap",
        el("div", el("h1.title#title@title", name), el("p.muted#for@subtitle", sub)),
        button(page.say("download"), "download", "ghost") if page.has("print") else None,
    )
    plan = {"grid": _grid, "days": _days, "trains": _trains}[kind](page)
    matter: list[Content] = [
        head,
        tabs([page.say(key) for key in ("week", "day", "month")], 0) if page.has("tabs") else None,
        pills([page.say("all"), *params["topics"][:4]], 0) if page.has("filter") else None,
        plan,
        el("p.panel.small#note@note", params["note"]) if page.has("note") else None,
    ]
    if params["place"] == "app":
        body: Content = app(page, ("home", "calendar", "tasks", "team"), 1, matter)
    else:
        body = site(page, matter) if params["place"] == "site" else el("main.page.stack", matter)
    return finished(page, name, body, STYLES)


def _times(page: Page, row: int) -> str:
    p = page.params
    at = p["start"] + row * (p["length"] + 10)
    return f"{clock(at)} – {clock(at + p['length'])}" if page.has("ends") else clock(at)


def _lesson(page: Page, row: int, day: int) -> Node | None:
    p = page.params
    if not p["lessons"][row][day]:
        return None
    topic, room, who = p["lessons"][row][day]
    return el(
        "div.lesson",
        {"style": f"border-color:{page.tokens[f'c{topic % 6 + 1}']}"},
        el(f"strong#lesson-{row}-{day}@lesson", p["topics"][topic]),
        el("span.small.muted" if not _is_now(page, day) else "span.small", f"№ {room}") if page.has("rooms") else None,
        el("span.small", p["people"][who]) if page.has("teachers") else None,
    )


def _is_now(page: Page, day: int) -> bool:
    return page.has("now") and day == page.params["now"]


def _grid(page: Page) -> Node:
    days = page.words.lists["weekdays"][:5]
    heads = [
        el("th.slot.slot-head", {"scope": "col"}, {"aria-current": "date"} if _is_now(page, k) else None, name)
        for k, name in enumerate(days)
    ]
    rows: list[Node] = []
    for row in range(len(page.params["lessons"])):
        mark = el("p.small.muted", f"{row + 1}.") if page.has("numbers") else None
        when = el("th.slot", {"scope": "row"}, mark, el("p.when", _times(page, row)))
        cells = [
            el("td.slot.slot-now" if _is_now(page, day) else "td.slot", _lesson(page, row, day) or "–")
            for day in range(5)
        ]
        rows.append(el("tr", when, cells))
        if page.has("pause") and row == 1:
            rows.append(el("tr", el("td.slot.pause", {"colspan": "6"}, "· · ·")))
    corner = el("th.slot.slot-head", {"style": "width:130px" if page.has("ends") else "width:84px"}, page.say("time"))
    return el("div.sheet", el("table.plan#plan", el("thead", el("tr", corner, heads)), el("tbody", rows)))


def _days(page: Page) -> Node:
    p = page.params
    sections: list[Node] = []
    for day, name in enumerate(page.words.lists["weekdays"][:5]):
        rows = [
            el(
                "li.entry",
                el("time.when", clock(p["start"] + row * (p["length"] + 10))),
                el(f"span.strong#lesson-{row}-{day}@lesson", p["topics"][slot[day][0]]),
                el("span.badge", f"№ {slot[day][1]}") if page.has("rooms") else icon("clock", 16),
            )
            for row, slot in enumerate(p["lessons"][:5])
            if slot[day]
        ]
        head = el(f"h2.day-head#day-{day}@day", name)
        sections.append(el("section", head, el("ol", rows) if rows else None))
    return el(f"div{page.cols(2)}", sections)


def _trains(page: Page) -> Node:
    p = page.params
    runs = p["runs"] if page.wide else 3
    heads = [el("th.stop.stop-time", {"scope": "col"}, el("span.line-no", p["lines"][k])) for k in range(runs)]
    rows: list[Node] = []
    late = 0
    for k, stop in enumerate(p["stops"]):
        late += p["ride"][k - 1] if k else 0
        tone = ".stop-odd" if page.has("odd") and k % 2 else ""
        times = [
            el(f"td.stop.stop-time{tone}", el("time", clock(p["start"] + late + run * p["every"])))
            for run in range(runs)
        ]
        rows.append(el("tr", el(f"th.stop{tone}#stop-{k}@station", {"scope": "row"}, stop), times))
    top = el("thead", el("tr", el("th.stop", {"scope": "col"}, page.say("city")), heads))
    return el("div.sheet", el("table.plan#trains", {"style": "table-layout:auto"}, top, el("tbody", rows)))
