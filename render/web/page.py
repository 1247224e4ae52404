"""A page as a whole: how it is set (view, language, theme, markup), and how its tree becomes text.

`setting` draws what every family shares, as plain JSON: `lang`, `tokens` (the theme), `markup`, `dark`, `script`.
`finished` writes the document of a body's children and their style sheet.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.web.bank import LANGUAGES, RTL, Words, words
from gristmill.render.web.components import scripted
from gristmill.render.web.family import Written
from gristmill.render.web.markup import css_text, flattened, sample_markup, written
from gristmill.render.web.styles import BASE, Sheet, dressed, resolved, theme, variable
from gristmill.render.web.tree import Content, Node, el, parts_of, text_of, walk

PHONES = ((360, 640), (360, 740), (375, 667), (390, 844), (393, 786), (412, 824), (414, 736), (430, 860))
DESKS = ((1024, 768), (1024, 720), (1152, 864), (1280, 720), (1280, 800), (1366, 768), (1440, 900))
_LATIN = (
    "system-ui, sans-serif",
    "'Helvetica Neue', Arial, sans-serif",
    "Georgia, 'Times New Roman', serif",
    "'DejaVu Sans Condensed', 'DejaVu Sans', sans-serif",
)
_CJK_LATIN = ("'Noto Sans CJK JP', sans-serif", "'Noto Serif CJK JP', Georgia, serif")
_HAN = {"ja": "JP", "ko": "KR", "zh": "SC"}
_WIDE_FROM_PX = 700
_TIGHT = re.compile(r"line-height:1(\.[0-3]\d?)?(?=;|$)")
RESETS = (
    (("*, *::before, *::after", "box-sizing:border-box;margin:0;padding:0"),),
    (("*", "margin:0;padding:0;box-sizing:border-box"),),
)
ELEMENTS = (
    ("ul, ol", "list-style:none"),
    ("a", "color:inherit;text-decoration:none"),
    ("button, input, select, textarea", "font:inherit;color:inherit"),
    ("fieldset", "border:0;min-width:0"),
    ("svg", "display:block"),
    ("h1, h2, h3, h4", "font-size:inherit"),
)


def stacks(lang: str) -> tuple[str, ...]:
    """Font stacks in which a language can be written with the fonts DejaVu and Noto CJK."""
    if lang in _HAN:
        return (f"'Noto Sans CJK {_HAN[lang]}', sans-serif", f"'Noto Serif CJK {_HAN[lang]}', serif")
    if lang in RTL:
        return _LATIN[:2]
    return (*_LATIN, *_CJK_LATIN) if lang in ("en", "fr", "de", "es", "ru") else _LATIN


def setting(draws: Draws, desk_share: float = 0.62) -> tuple[View, dict[str, Any]]:
    """The view, and what all families' params share."""
    lang = "en" if draws.chance(0.4) else draws.pick(LANGUAGES)
    dark = draws.chance(0.33)
    if draws.chance(desk_share):
        size, scale = draws.pick(DESKS), draws.weighted((1.0, 1.5, 2.0), (8, 1, 1))
    else:
        size, scale = draws.pick(PHONES), draws.weighted((1.0, 1.5, 2.0), (4, 3, 3))
    if scale == 1.5 and any(side_px % 2 for side_px in size):
        scale = 2.0
    return View(*size, scale), {
        "lang": lang,
        "dark": dark,
        "tokens": theme(draws.child("theme"), stacks(lang), dark),
        "markup": sample_markup(draws.child("markup")),
        "script": draws.chance(0.12),
    }


def flags(draws: Draws, chances: Mapping[str, float]) -> dict[str, bool]:
    """Which optional sections a page has, each as likely as asked."""
    return {name: draws.chance(probability) for name, probability in chances.items()}


@dataclass(frozen=True)
class Page:
    """What `write` has at hand: params, view, the language's words."""

    params: Mapping[str, Any]
    view: View

    @cached_property
    def words(self) -> Words:
        return words(self.lang)

    @property
    def lang(self) -> str:
        return str(self.params["lang"])

    @property
    def tokens(self) -> Mapping[str, str]:
        return self.params["tokens"]

    @property
    def wide(self) -> bool:
        return self.view.width_px >= _WIDE_FROM_PX

    def has(self, name: str) -> bool:
        """Whether the page has an optional section."""
        return bool(self.params["has"][name])

    def cols(self, count: int) -> str:
        """Style names of a grid: `count` columns on a wide screen, a stack on a small one."""
        return f".cols{count}" if self.wide else ".stack"

    def say(self, key: str) -> str:
        """A label in the page's language."""
        return self.words.ui[key]


def finished(page: Page, title: str, body: Content, styles: Sheet) -> Written:
    """The document, and its named parts in document order."""
    markup, tokens = page.params["markup"], page.tokens
    root = el("body", body)
    parts = parts_of(root)
    _check_ids(root)
    if not markup["semantic"]:
        flattened(root, bool(markup["landmark_roles"]))
    sheet = roomy({**BASE, **styles}, str(tokens["font"]))
    rules = dressed(root, sheet, markup, tokens)
    if page.params["script"]:
        root.children += scripted(root)
    shared = resolved("font:$f2/1.5 $font;background:$bg;color:$text;overflow-wrap:break-word", tokens, markup["vars"])
    rules = [*RESETS[markup["reset"]], ("body", shared), *ELEMENTS, *rules]
    if markup["vars"]:
        rules = [_root_rule(root, rules, tokens), *rules]
    attrs: dict[str, str | None] = {"lang": page.lang}
    if page.lang in RTL:
        attrs["dir"] = "rtl"
    head = _head(title, css_text(rules, markup), markup)
    html = el("html", attrs)
    newline = "\n" if markup["indent"] else ""
    inner = newline.join([*head, *written(root, markup)])
    text = f"{markup['doctype']}\n<html{_plain(html)}>{newline or chr(10)}{inner}{newline}</html>\n"
    return text, parts


def roomy(sheet: Sheet, stack: str) -> Sheet:
    """The sheet with lines as high as the letters of Noto CJK are (1.448 em), so that no line reaches into the next."""
    if "CJK" not in stack:
        return sheet
    return {name: _TIGHT.sub("line-height:1.46", body) for name, body in sheet.items()}


def _plain(html: Node) -> str:
    return "".join(f' {name}="{value}"' for name, value in html.attrs.items())


def _head(title: str, css: list[str], markup: Mapping[str, Any]) -> list[str]:
    step, end = str(markup["indent"]), " />" if markup["slash"] else ">"
    return [
        "<head>",
        f'{step}<meta charset="utf-8"{end}',
        f'{step}<meta name="viewport" content="width=device-width, initial-scale=1"{end}',
        f"{step}<title>{title.replace('&', '&amp;').replace('<', '&lt;')}</title>",
        f"{step}<style>",
        *(step * 2 + line for line in css),
        f"{step}</style>",
        "</head>",
    ]


def _root_rule(root: Node, rules: list[tuple[str, str]], tokens: Mapping[str, str]) -> tuple[str, str]:
    """Variables that the rules or `style` attributes use, with their values."""
    used = " ".join([*(body for _, body in rules), *(str(node.attrs.get("style", "")) for node in walk(root))])
    lines = [f"{variable(name)}:{value}" for name, value in tokens.items() if f"var({variable(name)})" in used]
    return ":root", ";".join(lines)


def _check_ids(root: Node) -> None:
    ids = [node.attrs["id"] for node in walk(root) if "id" in node.attrs]
    twice = sorted({str(key) for key in ids if ids.count(key) > 1})
    if twice:
        raise ValueError(f"ids given twice: {', '.join(twice)}")
    silent = [str(n.attrs.get("id")) for n in walk(root) if n.role and not ("id" in n.attrs and text_of(n))]
    if silent:
        raise ValueError(f"named parts without an id or a text: {', '.join(silent)}")
