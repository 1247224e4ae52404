"""Forms to sign in, sign up or pay: fields, tick boxes, buttons, on a card, a split or a plain page."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.controls import avatar, button, field, glyph, tick_box
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, line, linear, outlined, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, seen, theme_of
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import BRANDS, PHRASES
from gristmill.render.svg.writer import document

SIZES = ((360, 520), (400, 560), (480, 520), (640, 480), (720, 500), (800, 560))
FORMS = {
    "in": ("Sign in", ("Email", "Password")),
    "up": ("Create account", ("Name", "Email", "Password")),
    "pay": ("Payment", ("Card number", "Valid until", "Code")),
    "book": ("Book a table", ("Date", "Guests")),
    "send": ("Contact us", ("Subject", "Your message")),
}


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Form", 0.3)
    return view, params | {
        "form": draws.pick(sorted(FORMS)),
        "brand": draws.pick(BRANDS),
        "phrase": draws.pick(PHRASES),
        "ground": draws.pick(("card", "card", "plain", "split" if view.width_px > 600 else "card")),
        "shadow": draws.chance(0.4),
        "logo": draws.pick(("letter", "shape", "icon", "none")),
        "field": draws.pick(("boxed", "filled", "ruled")),
        "labels": draws.pick(("above", "inside")),
        "icons": draws.chance(0.3),
        "tick": draws.pick(("on", "off", "none")),
        "forgot": draws.chance(0.5),
        "other": draws.pick(("none", "buttons", "divider", "none")),
        "wide": draws.chance(0.6),
        "rx": draws.pick((0, 6, 18)),
        "error": draws.chance(0.2),
        "fade": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    body = [backdrop(view, theme.surface if params["ground"] == "card" else theme.paper)]
    defs: list[Node] = []
    hue = theme.hues[0]
    wide = min(w - 48, 340)
    x, y, high = (w - wide) / 2, 20.0, h - 40
    if params["ground"] == "split":
        if params["fade"]:
            defs = [linear("side", ((0, hue), (1, mix(hue, "#000000", 0.3))))]
        body.append(rect(0, 0, w * 0.42, h, fill("url(#side)" if defs else hue)).named("side panel"))
        ink = ink_on(mix(hue, "#000000", 0.15) if defs else hue)
        body.append(text(28, h * 0.46, params["brand"], 30, ink, "serif-bold").named("brand"))
        body.append(circle(w * 0.34, h * 0.86, 70, fill(ink, 0.12)))
        wide = min(w * 0.58 - 60, 340)
        x = w * 0.42 + (w * 0.58 - wide) / 2
    if params["ground"] == "card":
        if params["shadow"]:
            body.append(rect(x - 10, y + 6, wide + 28, high, fill(theme.rule), 12))
        body.append(rect(x - 14, y, wide + 28, high, outlined(theme.paper, theme.rule, 1.2), 10).named("card"))
    body.append(group(_form(params, theme, (x, y + 14, wide, high - 28))).noted("form"))
    return document(body, defs, params, view)


def _logo(params: Mapping[str, Any], theme: Theme, at: tuple[float, float]) -> list[Node]:
    x, y = at
    hue = theme.hues[0]
    if params["logo"] == "letter":
        return [avatar(at, 20, params["brand"][0], hue)]
    if params["logo"] == "icon":
        return [glyph("lock", at, 18, seen(hue, theme.paper, 3))]
    if params["logo"] == "shape":
        return [
            group(
                [
                    polygon([(x, y - 20), (x + 18, y + 12), (x - 18, y + 12)], fill(hue)),
                    circle(x, y + 2, 6, fill(theme.paper)),
                ]
            ).named("logo")
        ]
    return []


def _form(params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float]) -> list[Node]:
    x, y, w, h = box
    title, fields = FORMS[params["form"]]
    nodes = _logo(params, theme, (x + w / 2, y + 20))
    top = y + (54 if nodes else 10)
    nodes.append(text(x + w / 2, top + 16, title, 20, theme.ink, "sans-bold", "middle").named("form title"))
    top += 36
    below = (
        50
        + (30 if params["tick"] != "none" else 0)
        + (24 if params["forgot"] else 0)
        + (66 if params["other"] != "none" else 0)
    )
    step = min((y + h - top - below) / len(fields), 72)
    for place, name in enumerate(fields):
        nodes += _field(params, theme, (x, top + step * place, w, step), name, place)
    top += step * len(fields) + 8
    if params["tick"] != "none":
        nodes.append(tick_box((x, top), params["tick"] == "on", theme.hues[0], theme))
        nodes.append(
            text(
                x + 26,
                baseline(top + 8, 12),
                "Keep me signed in" if params["form"] == "in" else "I agree to the terms",
                12,
                theme.ink,
            ).named("tick label")
        )
        top += 30
    wide = w if params["wide"] else w * 0.5
    nodes += button((x + (w - wide) / 2, top, wide, 38), title, 14, (theme.hues[0], theme.paper), params["rx"])
    top += 50
    if params["forgot"]:
        nodes.append(
            text(x + w / 2, top + 10, "Need help?", 12, seen(theme.hues[0], theme.paper, 4.5), "sans", "middle").named(
                "link"
            )
        )
        top += 24
    return nodes + _other(params, theme, (x, top, w))


def _field(
    params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], name: str, place: int
) -> list[Node]:
    x, y, w, step = box
    nodes: list[Node] = []
    above = params["labels"] == "above" and step > 54
    if above:
        nodes.append(text(x, y + 11, name, 12, theme.ink, "sans-bold").named("field label"))
    top = y + (17 if above else 4)
    high = min(step - (26 if above else 12), 40)
    inner = {"Password": "********", "Email": "name@example.org"}.get(name, "Type here") if above else name
    nodes += field((x, top, w, high), inner, 13, theme, params["field"])
    if params["icons"]:
        kind = {"Password": "key", "Email": "mail", "Name": "user", "Date": "calendar", "Card number": "lock"}.get(
            name, "book"
        )
        nodes.append(glyph(kind, (x + w - 18, top + high / 2), 9, theme.muted))
    if params["error"] and place == 0:
        nodes.append(rect(x - 2, top - 2, w + 4, high + 4, pen("#d92d20", 2), 7).named("error frame"))
    return nodes


def _other(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float]) -> list[Node]:
    x, y, w = at
    if params["other"] == "none":
        return []
    middle = y + 10
    nodes = [
        line(x, middle, x + w * 0.42, middle, pen(theme.rule, 1.2)),
        line(x + w * 0.58, middle, x + w, middle, pen(theme.rule, 1.2)),
    ]
    nodes.append(text(x + w / 2, middle + 4, "or", 12, theme.muted, "sans", "middle").named("divider"))
    if params["other"] == "buttons":
        half = (w - 12) / 2
        for place, words in enumerate(("Guest", "New here")):
            nodes += button(
                (x + (half + 12) * place, y + 24, half, 32), words, 12, (theme.muted, theme.paper), params["rx"], True
            )
    return nodes
