"""Spreadsheets: lettered columns and numbered rows, a chosen cell with its formula, sums, tabs of sheets, tools."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.charts import bars
from gristmill.render.web.chrome import CHROME, app, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.formats import number
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, face, icon_button

STYLES = {
    **CHROME,
    "grid": "border-collapse:collapse;background:$surface;color:$text;width:100%;font-size:13px;table-layout:fixed",
    "box": "border:1px solid $line;padding:3px 6px;line-height:1.5;text-align:start;overflow-wrap:anywhere",
    "edge": "background:$raised;color:$muted;text-align:center;font-weight:400",
    "edge-on": "background:$soft;color:$text;font-weight:700",
    "box-num": "text-align:end;font-variant-numeric:tabular-nums",
    "box-head": "font-weight:700;background:$raised",
    "box-sum": "font-weight:700;border-top:2px solid $muted",
    "box-on": "outline:2px solid $accent;outline-offset:-2px",
    "box-odd": "background:$raised",
    "low": "color:$bad",
    "formula": "display:flex;gap:$s2;align-items:center;border:1px solid $line;background:$surface;padding:$s1 $s2;"
    "font-size:13px;direction:ltr;text-align:left",
    "name-box": "min-width:52px;border-right:1px solid $line;padding-right:$s2;font-weight:600",
    "mono": "font-family:'DejaVu Sans Mono',monospace",
    "tool-row": "display:flex;flex-wrap:wrap;gap:$s1;align-items:center;padding:$s1;background:$raised;"
    "border-radius:$rs",
    "tool": "min-width:30px;padding:2px $s2;border:1px solid $line;border-radius:$rs;background:$surface;color:$text;"
    "font-size:13px;text-align:center",
    "tool-on": "background:$accent;color:$on_accent;border-color:$accent",
    "sheets": "display:flex;gap:2px;flex-wrap:wrap;font-size:13px",
    "sheet-tab": "padding:$s1 $s3;border:1px solid $line;background:$raised;color:$text",
    "sheet-on": "background:$surface;font-weight:700;color:$accent_text",
    "count-row": "display:flex;gap:$s4;font-size:12px;color:$muted;justify-content:flex-end;flex-wrap:wrap",
}
_SOURCES = (("topics", "categories"), ("brands", "projects"), ("people", "team"), ("products", "shop"))


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.75)
    source, title = draws.pick(_SOURCES)
    count = draws.integer(3, 7) if view.width_px >= 700 else 2
    rows = draws.integer(6, 13)
    names = draws.some(bank.lists[source], rows)
    low = draws.weighted((0, -400), (3, 1))
    return view, base | {
        "title": title,
        "names": names,
        "cells": [[draws.integer(low, 2000) for _ in range(count)] for _ in names],
        "month": draws.integer(0, 12),
        "row": draws.integer(0, len(names)),
        "col": draws.integer(0, count),
        "sheets": draws.some(bank.lists["months"], draws.integer(2, 5)),
        "people": draws.some(bank.lists["people"], 3),
        "kind": draws.pick(("bare", "site", "app")),
        "has": flags(
            draws,
            {
                "tools": 0.7,
                "formula": 0.8,
                "letters": 0.85,
                "total": 0.6,
                "sums": 0.7,
                "odd": 0.35,
                "sheets": 0.65,
                "people": 0.3,
                "chart": 0.25,
                "state": 0.4,
                "share": 0.5,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    title = el("h1.subheading#title@title", f"{page.say(params['title'])} 2026")
    people = [face(name) for name in params["people"]] if page.has("people") else None
    share = button(page.say("share"), "share", "ghost") if page.has("share") else None
    head = el("header.row.between.wrap", title, el("div.row", people, share) if people or share else None)
    matter: list[Content] = [
        head,
        _tools(page) if page.has("tools") else None,
        _formula(page) if page.has("formula") else None,
        _grid(page),
        _sheets(page) if page.has("sheets") else None,
        _state(page) if page.has("state") else None,
        _chart(page) if page.has("chart") else None,
    ]
    kind = params["kind"]
    if kind == "app":
        body: Content = app(page, ("home", "files", "reports", "team", "settings"), 1, matter)
    else:
        body = site(page, matter) if kind == "site" else el("main.work-main", matter)
    return finished(page, page.say(params["title"]), body, STYLES)


def _tools(page: Page) -> Node:
    marks = [
        el("button.tool.tool-on" if k == 0 else "button.tool", {"type": "button"}, text)
        for k, text in enumerate(("B", "I", "%", ".00", "Σ"))
    ]
    return el(
        "div.tool-row",
        {"role": "toolbar", "aria-label": page.say("edit")},
        [icon_button(name, page.say(key)) for name, key in (("rewind", "back"), ("download", "download"))],
        marks,
        el("span.small.muted.push", "100 %") if page.wide else None,
    )


def _chosen(page: Page) -> tuple[str, str]:
    """The name of the chosen cell, and its formula."""
    p = page.params
    cell = f"{chr(66 + p['col'])}{p['row'] + 2}"
    return cell, f"={p['cells'][p['row']][p['col']]}"


def _formula(page: Page) -> Node:
    cell, text = _chosen(page)
    return el(
        "div.formula",
        el("span.name-box#cell@chosen cell", cell),
        el("span.muted", "fx"),
        el("span.mono#formula@formula", text),
    )


def _grid(page: Page) -> Node:
    p = page.params
    count, months = len(p["cells"][0]), page.words.lists["months"]
    heads = [page.say("title"), *(months[(p["month"] + k) % 12] for k in range(count))]
    heads += [page.say("total")] if page.has("total") else []
    edge = page.has("letters")
    letters = [
        el("th.box.edge.edge-on" if k == p["col"] + 1 else "th.box.edge", {"scope": "col"}, chr(65 + k))
        for k in range(len(heads))
    ]
    corner = el("th.box.edge", {"style": "width:38px"}, "") if edge else None
    top = el("thead", el("tr", corner, letters)) if edge else None
    first = el("tr", _edge(page, 0), [el("td.box.box-head", text) for text in heads])
    rows = [_row(page, k) for k in range(len(p["names"]))]
    last = _sums(page) if page.has("sums") else None
    return el("table.grid#sheet", top, el("tbody", first, rows, last))


def _edge(page: Page, row: int) -> Node | None:
    if not page.has("letters"):
        return None
    return el("th.box.edge.edge-on" if row == page.params["row"] + 1 else "th.box.edge", {"scope": "row"}, str(row + 1))


def _row(page: Page, row: int) -> Node:
    p = page.params
    tone = ".box-odd" if page.has("odd") and row % 2 else ""
    cells = [_cell(page, row, col, tone) for col in range(len(p["cells"][row]))]
    total = el(f"td.box.box-num{tone}", number(page.lang, sum(p["cells"][row]))) if page.has("total") else None
    return el("tr", _edge(page, row + 1), el(f"td.box{tone}#row-{row}@row name", p["names"][row]), cells, total)


def _cell(page: Page, row: int, col: int, tone: str) -> Node:
    p = page.params
    value = p["cells"][row][col]
    names = f"td.box.box-num{tone}" + (".low" if value < 0 and not tone else "")
    if (row, col) == (p["row"], p["col"]):
        return el(f"{names}.box-on#chosen@chosen value", {"aria-selected": "true"}, number(page.lang, value))
    return el(names, number(page.lang, value))


def _sums(page: Page) -> Node:
    cells = page.params["cells"]
    sums = [sum(row[col] for row in cells) for col in range(len(cells[0]))]
    sums += [sum(sums)] if page.has("total") else []
    row = len(cells) + 1
    return el(
        "tr",
        _edge(page, row),
        el("td.box.box-sum", page.say("total")),
        [el(f"td.box.box-sum.box-num#sum-{k}@sum", number(page.lang, value)) for k, value in enumerate(sums)],
    )


def _sheets(page: Page) -> Node:
    tabs = [
        el("button.sheet-tab.sheet-on" if k == 0 else "button.sheet-tab", {"type": "button", "role": "tab"}, text)
        for k, text in enumerate(page.params["sheets"])
    ]
    return el("div.sheets", {"role": "tablist"}, tabs, el("button.sheet-tab", {"type": "button"}, "+"))


def _state(page: Page) -> Node:
    values = page.params["cells"][page.params["row"]]
    pairs = (("Σ", sum(values)), ("Ø", round(sum(values) / len(values))), ("n", len(values)))
    return el("p.count-row", [el("span", f"{sign} {number(page.lang, value)}") for sign, value in pairs])


def _chart(page: Page) -> Node:
    p = page.params
    drawn = bars([max(sum(row), 0) for row in p["cells"]], page.tokens, page.say("results"))
    return el(
        "figure.card.stack",
        {"style": "max-width:520px"},
        el("figcaption.strong#chart@chart title", page.say("results")),
        drawn,
    )
