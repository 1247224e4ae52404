"""Documentation: a tree of chapters, text with code, notes, a table of contents, the next chapter."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import code_lines, table

STYLES = {
    **CHROME,
    "three": "display:grid;grid-template-columns:210px minmax(0,1fr) 190px;gap:$s5;align-items:start",
    "two": "display:grid;grid-template-columns:210px minmax(0,1fr);gap:$s5;align-items:start",
    "tree": "display:flex;flex-direction:column;gap:$s1;font-size:$f1",
    "tree-on": "color:$accent_text;font-weight:600;border-inline-start:3px solid $accent;padding-inline-start:$s2",
    "code": "font-family:'DejaVu Sans Mono',monospace;font-size:13px;background:$ink;"
    "color:$on_ink;padding:$s3 $s4;border-radius:$r;"
    "white-space:pre-wrap;line-height:1.6;direction:ltr;text-align:left",
    "tip": "background:$soft;border-inline-start:4px solid $accent;padding:$s3 $s4;border-radius:$rs",
    "hint": "background:$warn_soft;color:$on_warn;padding:$s3 $s4;border-radius:$rs",
    "doc": "display:flex;flex-direction:column;gap:$s3;line-height:1.65;min-width:0",
    "kbd": "font-family:'DejaVu Sans Mono',monospace;border:1px solid $line;border-radius:4px;"
    "padding:0 $s2;background:$raised;font-size:12px",
}
_CODES = (
    "pip install fieldnote\nfieldnote init garden\nfieldnote serve --port 8080",
    "import fieldnote\n\nbook = fieldnote.open('garden')\nfor page in book.pages():\n    print(page.title)",
    '[server]\nport = 8080\nroot = "public"\n\n[cache]\nminutes = 15',
    "const book = open('garden');\nconst pages = await book.pages();\nconsole.log(pages.length);",
    "SELECT title, author\nFROM books\nWHERE year > 1990\nORDER BY title;",
)


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    lists = bank.lists
    has = {
        "tree": 0.7,
        "toc": 0.5,
        "tip": 0.5,
        "hint": 0.4,
        "list": 0.5,
        "table": 0.4,
        "turn": 0.6,
        "second": 0.5,
        "keys": 0.3,
        "edit": 0.4,
    }
    return view, base | {
        "title": draws.pick(lists["topics"]),
        "chapters": draws.some(lists["headlines"], 4),
        "topics": draws.some(lists["topics"], 6),
        "text": draws.some(lists["sentences"], 10),
        "codes": draws.some(_CODES, 2),
        "points": draws.some(lists["tasks"], 3),
        "terms": draws.some(lists["terms"], 3),
        "on": draws.integer(0, 5),
        "ordered": draws.chance(0.5),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    tree = _tree(page) if page.has("tree") and page.wide else None
    toc = _toc(page) if page.has("toc") and page.wide else None
    doc = el("article.doc", _intro(page), _usage(page), _turn(page) if page.has("turn") else None)
    frame = "three" if tree and toc else "two" if tree else "main-side" if toc else "stack"
    return finished(
        page, params["title"], site(page, el(f"div.{frame}", tree, doc, toc), title=params["title"]), STYLES
    )


def _tree(page: Page) -> Node:
    on = page.params["on"]
    items = [
        el("li", el("a.tree-on" if k == on else "a", {"href": "#"}, text))
        for k, text in enumerate(page.params["topics"])
    ]
    return el(
        "nav.tree",
        {"aria-label": page.say("menu")},
        el("h2.strong", page.say("overview")),
        el("ul.list", items[:3]),
        el("h2.strong", page.say("examples")),
        el("ul.list", items[3:]),
    )


def _toc(page: Page) -> Node:
    items = [el("li", el("a.muted", {"href": f"#part-{k}"}, text)) for k, text in enumerate(page.params["chapters"])]
    return el("aside.tree", el("h2.strong#toc@heading", page.say("overview")), el("ol.list", items))


def _code(text: str) -> Node:
    return el("pre.code", el("code", code_lines(text)))


def _intro(page: Page) -> list[Content]:
    p = page.params
    keys = el("p", el("kbd.kbd", "Ctrl"), " + ", el("kbd.kbd", "K"), f" {p['text'][9]}")
    tag = "ol" if p["ordered"] else "ul"
    mark = "decimal" if p["ordered"] else "disc"
    points = el(
        tag, {"style": f"list-style:{mark};padding-inline-start:24px"}, [el("li", text) for text in p["points"]]
    )
    return [
        el("h1.title#title@title", p["title"]),
        el("p", f"{p['text'][0]} {p['text'][1]}"),
        el("p.tip#tip@note", p["text"][2]) if page.has("tip") else None,
        el("h2.heading#part-0@heading", p["chapters"][0]),
        el("p", p["text"][3]),
        _code(p["codes"][0]),
        points if page.has("list") else None,
        keys if page.has("keys") else None,
    ]


def _usage(page: Page) -> list[Content]:
    p = page.params
    terms = [text.split(" = ") for text in p["terms"]]
    rows = [[el("code", name.lower()), meaning] for name, meaning in terms]
    return [
        el("p.hint#hint@warning", {"role": "note"}, p["text"][4]) if page.has("hint") else None,
        el("h2.heading#part-1@heading", p["chapters"][1]),
        el("p", f"{p['text'][5]} {p['text'][6]}"),
        table([page.say("name"), page.say("details")], rows) if page.has("table") else None,
        [el("h3.subheading#part-2@heading", p["chapters"][2]), _code(p["codes"][1]), el("p", p["text"][7])]
        if page.has("second")
        else None,
        el("p.small", el("a.link", {"href": "#"}, page.say("edit"))) if page.has("edit") else None,
    ]


def _turn(page: Page) -> Node:
    return el(
        "nav.row.between",
        el("a.btn.ghost#before@link", {"href": "#"}, page.say("back")),
        el("a.btn.ghost#after@link", {"href": "#"}, page.say("next")),
    )
