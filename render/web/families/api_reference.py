"""API references: endpoints with methods, parameters in a table, a request and its answer, status codes."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.chrome import CHROME, begin, site
from gristmill.render.web.family import Sampled, Written
from gristmill.render.web.page import Page, finished, flags
from gristmill.render.web.tree import Content, Node, el
from gristmill.render.web.widgets import button, code_lines, table, tabs

STYLES = {
    **CHROME,
    "mono": "font-family:'DejaVu Sans Mono',monospace;font-size:13px;direction:ltr",
    "verb": "font-family:'DejaVu Sans Mono',monospace;font-size:12px;font-weight:700;padding:2px $s2;"
    "border-radius:$rs;flex:none",
    "verb-get": "background:$ok_soft;color:$on_ok",
    "verb-post": "background:$warn_soft;color:$on_warn",
    "verb-delete": "background:$bad_soft;color:$on_bad",
    "code": "font-family:'DejaVu Sans Mono',monospace;font-size:12px;background:$ink;"
    "color:$on_ink;padding:$s3;border-radius:$r;"
    "white-space:pre-wrap;overflow-wrap:anywhere;direction:ltr;text-align:left;line-height:1.6",
    "two": "display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:$s5;align-items:start",
    "end-point": "display:flex;gap:$s3;align-items:center;border:1px solid $line;border-radius:$rs;"
    "padding:$s2 $s3;"
    "background:$surface;direction:ltr",
}
_THINGS = ("books", "orders", "users", "rooms", "trains", "photos")
_FIELDS = (
    ("id", "integer"),
    ("title", "string"),
    ("created_at", "date"),
    ("limit", "integer"),
    ("sort", "string"),
    ("active", "boolean"),
)


def sample(draws: Draws) -> Sampled:
    view, base, bank = begin(draws)
    has = {
        "side": 0.6,
        "codes": 0.5,
        "token": 0.4,
        "answer": 0.75,
        "tabs": 0.4,
        "others": 0.5,
        "required": 0.5,
        "lead": 0.6,
        "try": 0.4,
    }
    return view, base | {
        "thing": draws.pick(_THINGS),
        "verb": draws.pick(("GET", "POST", "DELETE")),
        "fields": [[*field, draws.chance(0.4)] for field in draws.some(_FIELDS, draws.integer(3, 6))],
        "text": draws.some(bank.lists["sentences"], 7),
        "id": draws.integer(100, 9999),
        "name": draws.pick(bank.lists["books"]),
        "kind": draws.pick(("two", "one", "cards")),
        "has": flags(draws, has),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    page = Page(params, view)
    path = f"/v1/{params['thing']}"
    head = el(
        "header.stack",
        el("h1.title#title@title", f"API · {params['thing']}"),
        el("p.muted#lead@introduction", params["text"][0]) if page.has("lead") else None,
        _endpoint(params["verb"], f"{path}/{{id}}", "endpoint"),
    )
    left = el(
        "section.stack",
        _fields(page),
        _codes(page) if page.has("codes") else None,
        _token(page) if page.has("token") else None,
    )
    right = el("section.stack", _request(page, path), _answer(page) if page.has("answer") else None)
    if params["kind"] == "two" and page.wide:
        matter: Content = el("div.two", left, right)
    elif params["kind"] == "cards":
        matter = [el("div.card", left), el("div.card", right)]
    else:
        matter = el("div.stack", left, right)
    body: Content = [head, matter]
    if page.has("side") and page.wide:
        body = el("div.side-main", _side(page), el("div.stack", head, matter))
    return finished(page, f"API {params['thing']}", site(page, body), STYLES)


def _endpoint(verb: str, path: str, key: str) -> Node:
    return el("div.end-point", el(f"span.verb.verb-{verb.lower()}", verb), el(f"code.mono#{key}@endpoint", path))


def _fields(page: Page) -> list[Content]:
    rows = [
        [
            el(f"code.mono#field-{name.replace('_', '-')}@parameter", name),
            el("span.muted", kind),
            *(
                [el("span.badge.badge-warn", page.say("required")) if must else page.say("optional")]
                if page.has("required")
                else []
            ),
            *([page.params["text"][1 + k % 5]] if page.wide else []),
        ]
        for k, (name, kind, must) in enumerate(page.params["fields"])
    ]
    heads = ["name", "type", *(["status"] if page.has("required") else []), *(["details"] if page.wide else [])]
    return [el("h2.heading", page.say("details")), table([page.say(key) for key in heads], rows)]


def _codes(page: Page) -> list[Content]:
    rows = [
        el("li.row", el(f"span.badge.badge-{tone}", code), el("span", page.say(key)))
        for code, tone, key in (("200", "ok", "done"), ("404", "warn", "not_found"), ("500", "bad", "server_error"))
    ]
    return [el("h2.heading#codes@heading", page.say("status")), el("ul.list", rows)]


def _token(page: Page) -> Node:
    return el(
        "section.panel.stack",
        el("h2.subheading", page.say("security")),
        el("p", page.params["text"][6]),
        el("code.mono#token@code", "Authorization: Bearer 5f1e"),
    )


def _request(page: Page, path: str) -> list[Content]:
    p = page.params
    text = f"curl -X {p['verb']} \\\n  api.example{path}/{p['id']} \\\n  -H 'Accept: application/json'"
    return [
        tabs(["curl", "Python", "Go"], 0)
        if page.has("tabs")
        else el("h2.subheading#request@heading", page.say("examples")),
        el("pre.code", code_lines(text)),
        button(page.say("try_again"), "try", "ghost") if page.has("try") else None,
    ]


def _answer(page: Page) -> list[Content]:
    p = page.params
    text = f'{{\n  "id": {p["id"]},\n  "title": "{p["name"]}",\n  "active": true,\n  "pages": [1, 2, 3]\n}}'
    return [
        el("p.row", el("span.badge.badge-ok", "200 OK"), el("span.small.muted", "42 ms")),
        el("pre.code", code_lines(text)),
    ]


def _side(page: Page) -> Node:
    items = [
        el("li.row", el(f"span.verb.verb-{verb.lower()}", verb), el("a", {"href": "#"}, f"/{thing}"))
        for verb, thing in zip(("GET", "POST", "GET", "DELETE", "GET", "POST"), _THINGS, strict=True)
    ]
    return el("nav.card.stack", el("h2.strong", "API"), el("ul.list.mono", items if page.has("others") else items[:4]))
