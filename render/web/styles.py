"""Style sheets of pages: declarations by name, with tokens for colours, spaces, sizes.

A sheet maps a name to declarations (`"display:flex;gap:$s2"`); a token `$name` is resolved by the theme, either to its
value or to a CSS variable. One sheet is written in one of five ways: classes, BEM classes, hashed module classes,
one class a declaration (utility), or `style` attributes.
"""

import re
from collections.abc import Mapping
from typing import Any

from blake3 import blake3

from gristmill.render.draws import Draws
from gristmill.render.web.palette import palette
from gristmill.render.web.tree import Node, walk

Sheet = Mapping[str, str]
MODES = ("classes", "bem", "modules", "utility", "inline")
_TOKEN = re.compile(r"\$(\w+)")
_SPACES = (0, 4, 8, 12, 16, 24, 32, 48)
_SHORT = {
    "padding": "p",
    "margin": "m",
    "font-size": "text",
    "font-weight": "font",
    "background": "bg",
    "color": "text",
    "border-radius": "rounded",
    "display": "",
    "align-items": "items",
    "justify-content": "justify",
    "grid-template-columns": "cols",
    "flex-direction": "flex",
    "box-shadow": "shadow",
    "line-height": "leading",
}
_LONG = {"s": "space", "f": "text", "r": "radius", "rs": "radius-small", "rp": "radius-pill", "sh": "shadow"}


def theme(draws: Draws, stacks: tuple[str, ...], dark: bool) -> dict[str, str]:
    """Tokens of a design system: colours, spaces `s1`-`s7`, sizes `f0`-`f6`, radii `r`, `rs`, `rp`, shadow `sh`."""
    density = draws.weighted((0.85, 1.0, 1.15), (2, 5, 2))
    base = draws.weighted((14, 15, 16), (3, 3, 4))
    radius = draws.weighted((0, 4, 8, 12, 18), (2, 3, 4, 2, 1))
    ratio = draws.pick((1.15, 1.2, 1.25))
    tokens = {f"s{place}": f"{round(size * density)}px" for place, size in enumerate(_SPACES) if place}
    tokens |= {f"f{place}": f"{max(12, round(base * ratio ** (place - 2)))}px" for place in range(7)}
    tokens |= {"r": f"{radius}px", "rs": f"{radius // 2}px", "rp": "999px" if radius else "0"}
    shade = "rgba(0,0,0,0.45)" if dark else draws.pick(("rgba(0,0,0,0.08)", "rgba(15,23,42,0.12)"))
    tokens["sh"] = draws.pick(("none", f"0 1px 3px {shade}", f"0 2px 8px {shade}", f"0 6px 18px {shade}"))
    tokens["font"] = draws.pick(stacks)
    return tokens | palette(draws.child("palette"), dark)


def declarations(names: tuple[str, ...], sheet: Sheet) -> dict[str, str]:
    """Property to value, later names of the sheet winning over earlier ones."""
    order = [name for name in sheet if name in names]
    found: dict[str, str] = {}
    for name in order:
        for line in filter(None, sheet[name].split(";")):
            prop, _, value = line.partition(":")
            found[prop.strip()] = value.strip()
    return found


def variable(token: str) -> str:
    """The name of a token's CSS variable: `--space-4` of `s4`."""
    letters, digits = token.rstrip("0123456789"), token[len(token.rstrip("0123456789")) :]
    long = _LONG.get(letters, letters).replace("_", "-")
    return f"--{long}-{digits}" if digits else f"--{long}"


def resolved(value: str, tokens: Mapping[str, str], variables: bool) -> str:
    """A value with its tokens put in, as variables or as what they stand for."""
    return _TOKEN.sub(lambda m: f"var({variable(m[1])})" if variables else tokens[m[1]], value)


def dressed(root: Node, sheet: Sheet, markup: Mapping[str, Any], tokens: Mapping[str, str]) -> list[tuple[str, str]]:
    """Puts `class` or `style` attributes on a tree; gives the rules (selector, declarations) that they need."""
    missing = {name for node in walk(root) for name in node.names} - set(sheet)
    if missing:
        raise KeyError(f"style names without a rule: {sorted(missing)}")
    mode, variables = str(markup["mode"]), bool(markup["vars"])
    if mode == "inline":
        _inline(root, sheet, tokens, variables)
        return []
    if mode == "utility":
        return _utility(root, sheet, tokens, variables)
    classes = {name: class_name(name, mode, str(markup["block"])) for name in sheet}
    used = {name for node in walk(root) for name in node.names if sheet[name]}
    for node in walk(root):
        _set(node, "class", " ".join(classes[name] for name in node.names if name in used))
    return [(f".{classes[name]}", resolved(sheet[name], tokens, variables)) for name in sheet if name in used]


def class_name(name: str, mode: str, block: str) -> str:
    """How a style name is spelt as a class."""
    if mode == "bem":
        first, _, rest = name.partition("-")
        return f"{first}__{rest}" if rest else f"{block}__{first}"
    if mode == "modules":
        head, *tail = name.split("-")
        return f"{head}{''.join(map(str.capitalize, tail))}_{blake3(f'{block}/{name}'.encode()).hexdigest()[:5]}"
    return name


def _set(node: Node, attr: str, value: str) -> None:
    if value:
        rest = dict(node.attrs)
        node.attrs.clear()
        node.attrs.update({attr: value} | {k: v for k, v in rest.items() if k != attr})


def _inline(root: Node, sheet: Sheet, tokens: Mapping[str, str], variables: bool) -> None:
    for node in walk(root):
        found = declarations(node.names, sheet)
        text = "; ".join(f"{prop}: {resolved(value, tokens, variables)}" for prop, value in found.items())
        own = node.attrs.get("style")
        _set(node, "style", "; ".join(filter(None, (text, own))))


def _utility(root: Node, sheet: Sheet, tokens: Mapping[str, str], variables: bool) -> list[tuple[str, str]]:
    names: dict[tuple[str, str], str] = {}
    for node in walk(root):
        found = declarations(node.names, sheet)
        for pair in found.items():
            if pair not in names:
                names[pair] = _utility_name(pair, set(names.values()))
        _set(node, "class", " ".join(names[pair] for pair in found.items()))
    # Sorted, so that a shorthand comes before what refines it.
    return [(f".{names[pair]}", f"{pair[0]}:{resolved(pair[1], tokens, variables)}") for pair in sorted(names)]


def _utility_name(pair: tuple[str, str], taken: set[str]) -> str:
    prop, value = pair
    slug = re.sub(r"[^a-z0-9]+", "-", value.replace("$", "").lower()).strip("-")[:28].strip("-")
    short = _SHORT.get(prop, prop)
    name = "-".join(filter(None, (short, slug))) or prop
    while name in taken or name[0].isdigit():
        name = f"u-{name}"
    return name


BASE: dict[str, str] = {
    "row": "display:flex;align-items:center;gap:$s2",
    "stack": "display:flex;flex-direction:column;gap:$s3",
    "between": "justify-content:space-between",
    "wrap": "flex-wrap:wrap",
    "tight": "gap:$s1",
    "loose": "gap:$s5",
    "align-top": "align-items:flex-start",
    "grow": "flex:1;min-width:0",
    "fixed": "flex:none",
    "page": "max-width:1120px;margin:0 auto;padding:$s5 $s4;width:100%",
    "narrow": "max-width:720px",
    "card": "background:$surface;border:1px solid $line;border-radius:$r;box-shadow:$sh;padding:$s4",
    "panel": "background:$raised;border-radius:$r;padding:$s4",
    "title": "font-size:$f5;line-height:1.25;font-weight:700",
    "heading": "font-size:$f4;line-height:1.3;font-weight:700",
    "subheading": "font-size:$f3;line-height:1.35;font-weight:600",
    "small": "font-size:$f0",
    "muted": "color:$muted",
    "strong": "font-weight:600",
    "link": "color:$accent_text;text-decoration:underline",
    "plain": "color:$accent_text",
    "end": "text-align:end",
    "ltr": "direction:ltr;unicode-bidi:isolate",
    "centre": "text-align:center",
    "btn": "display:inline-flex;align-items:center;justify-content:center;gap:$s2;padding:$s2 $s4;border-radius:$r;"
    "border:1px solid $accent;background:$accent;color:$on_accent;font-weight:600;line-height:1.4;flex:none;"
    "max-width:100%",
    "ghost": "background:$surface;color:$text;border-color:$line",
    "quiet": "background:transparent;border-color:transparent;color:$accent_text;padding:$s1 $s2",
    "block": "display:flex;width:100%",
    "badge": "display:inline-block;padding:2px $s2;border-radius:$rp;font-size:$f0;background:$soft;color:$text;"
    "white-space:nowrap;line-height:1.5",
    "badge-ok": "background:$ok_soft;color:$on_ok",
    "badge-warn": "background:$warn_soft;color:$on_warn",
    "badge-bad": "background:$bad_soft;color:$on_bad",
    "ok": "color:$ok",
    "warn": "color:$warn",
    "bad": "color:$bad",
    "field": "display:flex;flex-direction:column;gap:$s1;min-width:0",
    "label": "font-size:$f1;font-weight:600",
    "input": "width:100%;min-width:0;padding:$s2 $s3;border:1px solid $line;border-radius:$rs;background:$surface;"
    "color:$text;line-height:1.4",
    "check": "display:flex;align-items:center;gap:$s2",
    "tick": "width:16px;height:16px;flex:none;accent-color:$accent",
    "avatar": "display:inline-flex;align-items:center;justify-content:center;flex:none;width:36px;height:36px;"
    "border-radius:50%;background:$accent;color:$on_accent;font-weight:700;font-size:$f1;line-height:1",
    "icon": "flex:none",
    "rule": "border:0;border-top:1px solid $line;height:0;width:100%",
    "cell": "padding:$s2 $s3;text-align:start;border-bottom:1px solid $line;vertical-align:top",
    "cell-head": "font-size:$f1;font-weight:600;color:$muted;background:$raised",
    "num": "text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap",
    "table": "width:100%;border-collapse:collapse;background:$surface;color:$text",
    "list": "display:flex;flex-direction:column;gap:$s2",
    "cols2": "display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:$s4",
    "cols3": "display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:$s4",
    "cols4": "display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:$s4",
    "main-side": "display:grid;grid-template-columns:minmax(0,1fr) 280px;gap:$s5;align-items:start",
    "side-main": "display:grid;grid-template-columns:230px minmax(0,1fr);gap:$s5;align-items:start",
    "picture": "display:block;width:100%;height:auto;border-radius:$rs",
}
