"""Code reviews: files that changed, lines taken away and put in, remarks between them, a verdict."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.icons import icon
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Node, el
from gristmill.render.web.widgets import button, face, indented, tabs

STYLES = {
    **CHROME,
    "diff": "border:1px solid $line;border-radius:$r;background:$surface;overflow:hidden",
    "diff-head": "display:flex;gap:$s3;align-items:center;padding:$s2 $s3;background:$raised;"
    "border-bottom:1px solid $line;font-family:'DejaVu Sans Mono',monospace;font-size:13px;direction:ltr",
    "code": "font-family:'DejaVu Sans Mono',monospace;font-size:12px;line-height:1.6;width:100%;"
    "border-collapse:collapse;direction:ltr;text-align:left",
    "no": "width:40px;padding:0 $s2;text-align:right;color:$muted;background:$raised;vertical-align:top",
    "src": "padding:0 $s3;overflow-wrap:anywhere;vertical-align:top",
    "src-line": "display:flex;align-items:flex-start;min-height:1.6em",
    "src-text": "flex:1;min-width:0",
    "added": "background:$ok_soft;color:$on_ok",
    "gone": "background:$bad_soft;color:$on_bad",
    "remark": "border:1px solid $line;border-radius:$rs;padding:$s3;margin:$s2 $s3;background:$surface;"
    "display:flex;flex-direction:column;gap:$s2;font-family:'DejaVu Sans',sans-serif",
    "files": "display:flex;flex-direction:column;gap:$s1;font-size:13px;direction:ltr;text-align:left",
}
_HUNKS = (
    (
        " ",
        "def total(items):",
        "-",
        "    sum = 0",
        "+",
        "    total = 0",
        " ",
        "    for item in items:",
        "-",
        "        sum += item.price",
        "+",
        "        total += item.price * item.count",
        "+",
        "    return total",
    ),
    (
        " ",
        "const open = (name) => {",
        "-",
        "  const file = read(name);",
        "+",
        "  const file = read(name, { limit: 4096 });",
        "+",
        "  if (!file) return null;",
        " ",
        "  return parse(file);",
        " ",
        "};",
    ),
    (" ", "[cache]", "-", "minutes = 5", "+", "minutes = 15", "+", "max_bytes = 1048576", " ", 'path = "var/cache"'),
    (
        " ",
        "func Close(b *Book) error {",
        "-",
        "\treturn b.file.Close()",
        "+",
        "\tif err := b.Flush(); err != nil {",
        "+",
        "\t\treturn err",
        "+",
        "\t}",
        "+",
        "\treturn b.file.Close()",
        " ",
        "}",
    ),
    (" ", ".card {", "-", "  padding: 10px;", "+", "  padding: 12px 16px;", "+", "  border-radius: 8px;", " ", "}"),
)
_FILES = ("src/total.py", "web/open.js", "config/cache.toml", "book/close.go", "css/card.css")


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws, 0.8)
    chosen = draws.some(range(5), draws.integer(1, 4))
    return view, base | {
        "files": chosen,
        "title": draws.pick(bank.lists["tasks"]),
        "people": draws.some(bank.lists["people"], 3),
        "remarks": draws.some(bank.lists["posts"], 2),
        "number": draws.integer(12, 4000),
        "first": draws.integer(1, 200),
        "state": draws.pick(("open", "done", "closed")),
        "after": draws.integer(2, 5),
        "kind": draws.pick(("unified", "split", "list")),
        "has": flags(
            draws,
            {
                "tree": 0.5,
                "tabs": 0.6,
                "remark": 0.6,
                "verdict": 0.6,
                "people": 0.5,
                "counts": 0.5,
                "checks": 0.4,
                "branch": 0.4,
                "nos": 0.7,
            },
        ),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    tone = {"open": "ok", "done": "warn", "closed": "bad"}[params["state"]]
    head = el(
        "header.stack",
        el("h1.title#title@title", params["title"]),
        el(
            "p.row.wrap",
            el(f"span.badge.badge-{tone}#state@state", page.say(params["state"])),
            el("span.muted", f"#{params['number']}"),
            el("span", params["people"][0]),
        ),
        el("p.small.muted", el("code", "main"), " ← ", el("code", "fix-total")) if page.has("branch") else None,
    )
    diffs = [_diff(page, k, which) for k, which in enumerate(params["files"])]
    tree = el(
        "nav.card.files", [el("span.row", icon("file", 16), el("span", _FILES[which])) for which in params["files"]]
    )
    people = el(
        "aside.card.stack",
        el("h2.subheading#reviewers@heading", page.say("review")),
        el(
            "ul.list",
            [
                el("li.row", face(name), el("span.grow", name), icon("check", 16, page.say("done")))
                for name in params["people"][1:]
            ],
        ),
    )
    checks = el(
        "ul.card.list",
        [
            el("li.row.small", icon("check" if k else "cross", 16), el("span", name))
            for k, name in enumerate(("lint", "tests", "build"))
        ],
    )
    main = el(
        "div.stack", diffs, checks if page.has("checks") else None, _verdict(page) if page.has("verdict") else None
    )
    side = el("div.stack", people) if page.has("people") else None
    body = el("div.main-side" if page.wide and side else "div.stack", main, side) if side else main
    if page.has("tree") and page.wide:
        body = el("div.side-main", tree, body)
    names = [page.say(key) for key in ("overview", "comments", "files")]
    return finished(page, params["title"], site(page, head, tabs(names, 2) if page.has("tabs") else None, body), STYLES)


def _pairs(which: int) -> list[tuple[str, str]]:
    flat = _HUNKS[which]
    return list(zip(flat[::2], flat[1::2], strict=True))


def _diff(page: Page, place: int, which: int) -> Node:
    pairs = _pairs(which)
    counts = [
        el("span.ok", f"+{sum(sign == '+' for sign, _ in pairs)}"),
        el("span.bad", f"−{sum(sign == '-' for sign, _ in pairs)}"),
    ]
    head = el("header.diff-head", el(f"span#file-{place}@file", _FILES[which]), counts if page.has("counts") else None)
    rows = _split(page, pairs) if page.params["kind"] == "split" and page.wide else _unified(page, pairs, place)
    return el("section.diff", head, el("table.code", el("tbody", rows)))


def _line(sign: str, text: str) -> Node:
    mark = el("span", sign) if sign.strip() else None
    blanks = " " if mark else "  " if sign else ""
    return el("div.src-line", mark, indented(blanks + text, "span.src-text", "display:block"))


def _unified(page: Page, pairs: list[tuple[str, str]], place: int) -> list[Node]:
    rows: list[Node] = []
    for k, (sign, text) in enumerate(pairs):
        tone = {"+": ".added", "-": ".gone", " ": ""}[sign]
        rows.append(
            el(
                "tr",
                el("td.no", str(page.params["first"] + k)) if page.has("nos") else None,
                el(f"td.src{tone}", _line(sign, text)),
            )
        )
        if page.has("remark") and place == 0 and k == page.params["after"]:
            rows.append(el("tr", el("td", {"colspan": "2"}, _remark(page))))
    return rows


def _split(page: Page, pairs: list[tuple[str, str]]) -> list[Node]:
    rows: list[Node] = []
    for k, (sign, text) in enumerate(pairs):
        no = el("td.no", str(page.params["first"] + k))
        left = el(
            "td.src.gone" if sign == "-" else "td.src", {"style": "width:46%"}, _line("", text) if sign != "+" else None
        )
        right = el(
            "td.src.added" if sign == "+" else "td.src",
            {"style": "width:46%"},
            _line("", text) if sign != "-" else None,
        )
        rows.append(el("tr", no, left, right))
    return rows


def _remark(page: Page) -> Node:
    return el(
        "div.remark",
        el("p.row", face(page.params["people"][1]), el("strong", page.params["people"][1])),
        el("p#remark@remark", page.params["remarks"][0]),
        el("p", el("button.btn.ghost", {"type": "button"}, page.say("reply"))),
    )


def _verdict(page: Page) -> Node:
    box = el(
        "textarea.input",
        {"rows": "3", "aria-label": page.say("comments"), "name": "verdict"},
        page.params["remarks"][1],
    )
    return el(
        "form.card.stack",
        el("h2.subheading#verdict@heading", page.say("review")),
        box,
        el("div.row.wrap", button(page.say("send"), "send"), button(page.say("close"), "close", "ghost")),
    )
