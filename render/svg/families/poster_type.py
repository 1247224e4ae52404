"""Posters of large words: stacked, boxed, slanted or repeated lines with bars, shapes and small print."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import fitting
from gristmill.render.svg.metrics import text_width_px
from gristmill.render.svg.nodes import Node, circle, fill, group, line, linear, path, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, contrast, ink_on, mix, theme_of
from gristmill.render.svg.paths import slice_of, star
from gristmill.render.svg.scene import sample_scene
from gristmill.render.svg.words import BIG, MONTH_NAMES, PHRASES
from gristmill.render.svg.writer import document

SIZES = ((400, 560), (420, 600), (480, 640), (512, 512), (640, 420), (360, 540))
FACES = ("sans-bold", "serif-bold", "mono-bold", "serif-bold")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Poster", 0.4)
    return view, params | {
        "words": draws.some(BIG, draws.integer(2, 4)),
        "phrase": draws.pick(PHRASES),
        "date": f"{draws.integer(1, 29)} {draws.pick(MONTH_NAMES)} {draws.integer(2019, 2030)}",
        "face": draws.pick(FACES),
        "ground": draws.pick(("hue", "hue", "paper", "fade", "halves")),
        "align": draws.pick(("start", "middle")),
        "shape": draws.pick(("disc", "star", "bars", "quarter", "none", "arch")),
        "boxed": draws.chance(0.25),
        "rules": draws.pick(("none", "thin", "thick", "double")),
        "slant": draws.pick((0, 0, 0, -6, -10)),
        "echo": draws.chance(0.2),
        "frame": draws.pick(("none", "none", "line", "corners")),
        "foot": draws.pick(("date", "date", "split", "none")),
        "spaced": draws.chance(0.4),
        "stamp": draws.pick(("", "", "NEW", "FREE", "LIVE")),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    ground = theme.paper if params["ground"] in ("paper", "halves") else theme.hues[0]
    if params["ground"] == "fade":
        ground = mix(theme.hues[0], "#000000", 0.45)
    ink = ink_on(ground)
    body = [rect(0, 0, w, h, fill("url(#sheet)" if params["ground"] == "fade" else ground)).named("background")]
    defs = [linear("sheet", ((0, ground), (1, mix(ground, "#000000", 0.35))))] if params["ground"] == "fade" else []
    if params["ground"] == "halves":
        body.append(rect(0, h * 0.62, w, h * 0.38, fill(mix(ground, theme.hues[0], 0.18))).named("lower half"))
    body += _shape(params, theme, (w, h), ground)
    body += _frame(params, (w, h), ink)
    lines, foot = _words(params, (w, h), ground, ink)
    words = group(lines).noted("words")
    if params["slant"]:
        words.moved(("translate", 0, h * 0.03), ("skewY", params["slant"]))
        words.attrs["transform"] = [("translate", 0, round(w * 0.08)), ("skewY", params["slant"])]
        foot += w * 0.08
    body += [words, *_print(params, theme, (w, h, foot), ink)]
    body += _stamp(params, theme, (w, h))
    return document(body, defs, params, view)


def _shape(params: Mapping[str, Any], theme: Theme, size: tuple[float, float], ground: str) -> list[Node]:
    w, h = size
    hue = mix(ground, theme.hues[1], 0.24)
    kind = params["shape"]
    if kind == "disc":
        return [circle(w * 0.68, h * 0.66, min(w, h) * 0.27, fill(hue)).named("disc")]
    if kind == "star":
        return [polygon(star((w * 0.66, h * 0.7), min(w, h) * 0.25, min(w, h) * 0.12, 9), fill(hue)).named("star")]
    if kind == "bars":
        return [
            group(
                [
                    rect(w * 0.1 + w * 0.16 * n, h * (0.86 - 0.05 * (n * 3 % 5)), w * 0.1, h, fill(hue)).named("bar")
                    for n in range(5)
                ]
            ).noted("bars")
        ]
    if kind == "quarter":
        return [path(slice_of((w, h), min(w, h) * 0.62, 0, 180, 270), fill(hue)).named("quarter disc")]
    if kind == "arch":
        rings = [
            path(
                [
                    ("M", w * 0.5 - r, h),
                    ("L", w * 0.5 - r, h * 0.78),
                    ("A", r, r, 0, 0, 1, w * 0.5 + r, h * 0.78),
                    ("L", w * 0.5 + r, h),
                ],
                pen(hue, w * 0.035),
            ).named("arch")
            for r in (w * 0.34, w * 0.25, w * 0.16)
        ]
        return [group(rings).noted("arches")]
    return []


def _words(params: Mapping[str, Any], size: tuple[float, float], ground: str, ink: str) -> tuple[list[Node], float]:
    w, h = size
    inner, face = w * 0.82, params["face"]
    nodes: list[Node] = []
    y = h * 0.1
    x = w / 2 if params["align"] == "middle" else w * 0.09
    for place, word in enumerate(params["words"]):
        big = fitting(word, inner, min(h * 0.2, w * 0.3), face)
        y += big * 0.86
        if params["boxed"] and place == len(params["words"]) - 1:
            wide = text_width_px(word, big, face) + 16
            left = (w - wide) / 2 if params["align"] == "middle" else x - 8
            nodes.append(rect(left, y - big * 0.83, wide, big * 0.98, fill(ink)).named("word box"))
            nodes.append(
                text(
                    x,
                    y,
                    word,
                    big,
                    ink_on(ink, ground if contrast(ground, ink) > 3 else "#1a1a1a"),
                    face,
                    params["align"],
                ).named("headline")
            )
        else:
            nodes.append(text(x, y, word, big, ink, face, params["align"]).named("headline"))
        if params["echo"] and place == 0 and len(params["words"]) < 3:
            shade = group([text(x, y + big * 0.9, word, big, ink, face, params["align"])])
            nodes.append(shade.with_("opacity", 0.35))
            y += big * 0.9
        y += big * 0.2
    return nodes, y


def _print(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float], ink: str) -> list[Node]:
    w, h, y = at
    nodes: list[Node] = []
    left, right = w * 0.09, w * 0.91
    y = min(y + 8, h * 0.8)
    if params["rules"] != "none":
        nodes.append(line(left, y, right, y, pen(ink, 8 if params["rules"] == "thick" else 2)).named("rule"))
        y += 10
    if params["rules"] == "double":
        nodes.append(line(left, y - 5, right, y - 5, pen(ink, 2)))
    size = fitting(params["phrase"], w * 0.8, 17)
    if y + size + 8 < h * 0.88:
        nodes.append(text(left, y + size + 6, params["phrase"], size, ink).named("phrase"))
    foot = h - h * 0.055
    if params["foot"] == "date":
        words = text(left, foot, params["date"], 15, ink, "sans-bold")
        if params["spaced"]:
            words.attrs["letter-spacing"] = 1
        nodes.append(words.named("date"))
    elif params["foot"] == "split":
        day, rest = params["date"].split(" ", 1)
        nodes += [
            text(left, foot, day, 30, ink, "serif-bold").named("day"),
            text(right, foot, rest, 13, ink, "sans", "end").named("month"),
        ]
    return [group(nodes).noted("print")] if nodes else []


def _frame(params: Mapping[str, Any], size: tuple[float, float], ink: str) -> list[Node]:
    w, h = size
    if params["frame"] == "line":
        return [rect(10, 10, w - 20, h - 20, pen(ink, 2)).named("frame")]
    if params["frame"] == "corners":
        d = [
            ("M", 12, 34),
            ("L", 12, 12),
            ("L", 34, 12),
            ("M", w - 34, h - 12),
            ("L", w - 12, h - 12),
            ("L", w - 12, h - 34),
        ]
        return [path(d, pen(ink, 3)).named("corner marks")]
    return []


def _stamp(params: Mapping[str, Any], theme: Theme, size: tuple[float, float]) -> list[Node]:
    w, h = size
    if not params["stamp"]:
        return []
    hue, r = theme.hues[2], min(w, h) * 0.085
    x, y = w * 0.86, h * 0.86
    words = text(
        0,
        r * 0.16,
        params["stamp"],
        fitting(params["stamp"], r * 1.5, r * 0.6, "sans-bold"),
        ink_on(hue),
        "sans-bold",
        "middle",
    )
    return [
        group(
            [circle(0, 0, r, fill(hue)).named("stamp"), words.named("stamp text")], ("translate", x, y), ("rotate", -12)
        ).noted("stamp")
    ]
