"""Heads of animals: ears, muzzles, eyes, whiskers, marks, horns; plain shapes on a coloured ground."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import SQUARE, baseline
from gristmill.render.svg.nodes import (
    Node,
    circle,
    ellipse,
    fill,
    group,
    line,
    outlined,
    path,
    pen,
    polygon,
    rect,
    text,
)
from gristmill.render.svg.palettes import ink_on, mix, theme_of
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import BRANDS
from gristmill.render.svg.writer import document

COATS = ("#e07a3f", "#8d6e63", "#f2c14e", "#9e9e9e", "#5d4037", "#f5b7b1", "#7cb342", "#eceff1", "#546e7a")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, (*SQUARE, (400, 520), (520, 400)), "Animal", 0.2)
    return view, params | {
        "name": draws.pick(BRANDS),
        "coat": draws.pick(COATS),
        "ears": draws.pick(("pointed", "round", "long", "flop", "small")),
        "inner": draws.chance(0.7),
        "head": draws.pick(("round", "wide", "pear", "shield")),
        "muzzle": draws.pick(("oval", "none", "snout", "beak", "mask")),
        "eyes": draws.pick(("dots", "shine", "rings", "sleepy")),
        "nose": draws.pick(("triangle", "oval", "heart")),
        "mouth": draws.pick(("curve", "double", "none")),
        "whiskers": draws.chance(0.4),
        "marks": draws.pick(("none", "patch", "stripes", "spots", "blaze")),
        "extra": draws.pick(("none", "none", "horns", "collar", "cheeks", "tuft")),
        "ground": draws.pick(("plain", "disc", "round", "body")),
        "outline": draws.chance(0.3),
        "named": draws.chance(0.3),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = view.width_px, view.height_px
    r = min(w, h) * 0.3
    ground = mix(theme.hues[2], theme.paper, 0.75)
    body = [backdrop(view, ground)]
    if params["ground"] == "disc":
        body.append(circle(w / 2, h / 2, r * 1.5, fill(mix(theme.hues[2], theme.paper, 0.3))).named("disc"))
    if params["ground"] == "round":
        body.append(
            rect(
                w / 2 - r * 1.45,
                h / 2 - r * 1.45,
                r * 2.9,
                r * 2.9,
                fill(mix(theme.hues[2], theme.paper, 0.3)),
                r * 0.5,
            ).named("tile")
        )
    coat = params["coat"]
    dark = mix(coat, "#1a1410", 0.55)
    if params["ground"] == "body":
        body.append(ellipse(w / 2, h + r * 0.1, r * 1.15, r * 1.1, fill(mix(coat, "#000000", 0.12))).named("body"))
    parts = [
        *_ears(params, r, coat, dark),
        _head(params, r, coat, dark),
        *_marks(params, r, dark),
        *_muzzle(params, r, coat),
        *_eyes(params, r),
        *_nose(params, r),
        *_extra(params, r, theme.hues[0]),
    ]
    body.append(group(parts, ("translate", w / 2, round(h / 2 + r * 0.12))).named("animal").noted("head"))
    if params["named"]:
        size = round(r * 0.26)
        body.append(
            text(w / 2, baseline(h - size, size), params["name"], size, ink_on(ground), "sans-bold", "middle").named(
                "name"
            )
        )
        if params["ground"] == "body":
            body[-1].attrs["fill"] = ink_on(mix(coat, "#000000", 0.12))
    return document(body, [], params, view)


def _paint(params: Mapping[str, Any], colour: str, dark: str, r: float) -> dict[str, Any]:
    return outlined(colour, dark, r * 0.05) if params["outline"] else fill(colour)


def _ears(params: Mapping[str, Any], r: float, coat: str, dark: str) -> list[Node]:
    nodes: list[Node] = []
    pink = "#f3a6a0"
    for way, name in ((-1, "left ear"), (1, "right ear")):
        kind = params["ears"]
        paint = _paint(params, coat if kind != "round" else dark, dark, r)
        if kind == "pointed":
            ear = polygon([(way * r * 0.9, -r * 1.15), (way * r * 0.95, -r * 0.2), (way * r * 0.2, -r * 0.75)], paint)
            inner = polygon(
                [(way * r * 0.82, -r * 0.95), (way * r * 0.82, -r * 0.45), (way * r * 0.42, -r * 0.7)], fill(pink)
            )
        elif kind == "long":
            ear = ellipse(way * r * 0.42, -r * 1.15, r * 0.2, r * 0.5, paint)
            inner = ellipse(way * r * 0.42, -r * 1.12, r * 0.1, r * 0.36, fill(pink))
        elif kind == "flop":
            ear = path(
                [
                    ("M", way * r * 0.5, -r * 0.8),
                    ("C", way * r * 1.3, -r * 1.0, way * r * 1.35, r * 0.1, way * r * 1.0, r * 0.3),
                    ("C", way * r * 0.8, r * 0.1, way * r * 0.9, -r * 0.4, way * r * 0.5, -r * 0.8),
                    ("Z",),
                ],
                _paint(params, mix(coat, dark, 0.4), dark, r),
            )
            inner = ellipse(way * r * 1.05, -r * 0.1, r * 0.08, r * 0.2, fill(pink))
        else:
            size = 0.34 if kind == "round" else 0.22
            ear = circle(way * r * 0.72, -r * 0.72, r * size, paint)
            inner = circle(way * r * 0.72, -r * 0.72, r * size * 0.55, fill(pink))
        nodes.append(group([ear, inner] if params["inner"] else [ear]).named(name))
    return nodes


def _head(params: Mapping[str, Any], r: float, coat: str, dark: str) -> Node:
    paint = _paint(params, coat, dark, r)
    kind = params["head"]
    if kind == "round":
        return circle(0, 0, r, paint).named("head")
    if kind == "wide":
        return ellipse(0, 0, r * 1.12, r * 0.92, paint).named("head")
    if kind == "pear":
        return path(
            [
                ("M", 0, -r * 0.95),
                ("C", r * 0.9, -r * 0.95, r * 1.2, r * 0.95, 0, r * 0.95),
                ("C", -r * 1.2, r * 0.95, -r * 0.9, -r * 0.95, 0, -r * 0.95),
                ("Z",),
            ],
            paint,
        ).named("head")
    return path(
        [
            ("M", -r * 0.95, -r * 0.6),
            ("Q", 0, -r * 1.2, r * 0.95, -r * 0.6),
            ("Q", r * 1.1, r * 0.3, 0, r),
            ("Q", -r * 1.1, r * 0.3, -r * 0.95, -r * 0.6),
            ("Z",),
        ],
        paint,
    ).named("head")


def _marks(params: Mapping[str, Any], r: float, dark: str) -> list[Node]:
    kind = params["marks"]
    if kind == "patch":
        return [ellipse(-r * 0.36, -r * 0.12, r * 0.27, r * 0.3, fill(dark)).named("patch")]
    if kind == "stripes":
        return [
            group(
                [
                    line(r * x, -r * 0.86, r * x * 0.8, -r * 0.55, pen(dark, r * 0.08) | {"stroke-linecap": "round"})
                    for x in (-0.25, 0, 0.25)
                ]
            ).named("stripes")
        ]
    if kind == "spots":
        return [
            group(
                [
                    circle(r * x, r * y, r * 0.08, fill(dark))
                    for x, y in ((-0.65, 0.2), (-0.5, 0.42), (0.65, 0.2), (0.5, 0.42), (0, -0.7))
                ]
            ).named("spots")
        ]
    if kind == "blaze":
        return [
            path(
                [
                    ("M", 0, -r * 0.9),
                    ("Q", r * 0.25, -r * 0.2, 0, r * 0.2),
                    ("Q", -r * 0.25, -r * 0.2, 0, -r * 0.9),
                    ("Z",),
                ],
                fill("#fbf7f0"),
            ).named("blaze")
        ]
    return []


def _muzzle(params: Mapping[str, Any], r: float, coat: str) -> list[Node]:
    pale = mix(coat, "#ffffff", 0.65)
    kind = params["muzzle"]
    if kind == "oval":
        return [ellipse(0, r * 0.42, r * 0.46, r * 0.34, fill(pale)).named("muzzle")]
    if kind == "snout":
        holes = [
            ellipse(way * r * 0.12, r * 0.36, r * 0.05, r * 0.09, fill(mix(coat, "#000000", 0.6))) for way in (-1, 1)
        ]
        return [group([ellipse(0, r * 0.36, r * 0.36, r * 0.26, fill(pale)), *holes]).named("snout")]
    if kind == "beak":
        return [polygon([(-r * 0.24, r * 0.14), (r * 0.24, r * 0.14), (0, r * 0.56)], fill("#f2a516")).named("beak")]
    if kind == "mask":
        return [
            path(
                [
                    ("M", -r * 0.75, r * 0.1),
                    ("Q", 0, -r * 0.1, r * 0.75, r * 0.1),
                    ("Q", r * 0.6, r * 0.85, 0, r * 0.88),
                    ("Q", -r * 0.6, r * 0.85, -r * 0.75, r * 0.1),
                    ("Z",),
                ],
                fill(pale),
            ).named("mask")
        ]
    return []


def _eyes(params: Mapping[str, Any], r: float) -> list[Node]:
    nodes: list[Node] = []
    for way, name in ((-1, "left eye"), (1, "right eye")):
        x, y = way * r * 0.36, -r * 0.14
        if params["eyes"] == "sleepy":
            eye = group(
                [
                    circle(x, y, r * 0.15, fill("#ffffff")),
                    path(
                        [("M", x - r * 0.12, y), ("Q", x, y + r * 0.13, x + r * 0.12, y)],
                        pen("#201a17", r * 0.06, (), "round"),
                    ),
                ]
            )
        elif params["eyes"] == "rings":
            eye = group(
                [
                    circle(x, y, r * 0.22, fill("#ffffff")),
                    circle(x, y, r * 0.15, fill("#2f6f4f")),
                    circle(x, y, r * 0.08, fill("#111111")),
                ]
            )
        elif params["eyes"] == "shine":
            eye = group(
                [
                    circle(x, y, r * 0.15, outlined("#201a17", "#ffffff", r * 0.03)),
                    circle(x + r * 0.05, y - r * 0.05, r * 0.05, fill("#ffffff")),
                ]
            )
        else:
            eye = circle(x, y, r * 0.12, outlined("#201a17", "#ffffff", r * 0.04))
        nodes.append(eye.named(name))
    return nodes


def _nose(params: Mapping[str, Any], r: float) -> list[Node]:
    nodes: list[Node] = []
    y, dark = r * 0.24, "#2b2320"
    if params["muzzle"] not in ("snout", "beak"):
        shapes = {
            "triangle": polygon([(-r * 0.12, y), (r * 0.12, y), (0, y + r * 0.14)], fill(dark)),
            "oval": ellipse(0, y + r * 0.05, r * 0.14, r * 0.09, fill(dark)),
            "heart": path(
                [
                    ("M", 0, y + r * 0.17),
                    ("C", -r * 0.28, y, -r * 0.12, y - r * 0.12, 0, y),
                    ("C", r * 0.12, y - r * 0.12, r * 0.28, y, 0, y + r * 0.17),
                    ("Z",),
                ],
                fill("#d8647a"),
            ),
        }
        nodes.append(shapes[params["nose"]].named("nose"))
    ink = pen(dark, r * 0.045, (), "round")
    foot = r * 0.66
    if params["mouth"] == "curve":
        nodes.append(
            path([("M", -r * 0.2, foot - r * 0.04), ("Q", 0, foot + r * 0.14, r * 0.2, foot - r * 0.04)], ink).named(
                "mouth"
            )
        )
    elif params["mouth"] == "double" and params["muzzle"] not in ("snout", "beak"):
        nodes.append(
            path(
                [
                    ("M", 0, r * 0.36),
                    ("L", 0, r * 0.48),
                    ("Q", -r * 0.12, r * 0.62, -r * 0.26, r * 0.52),
                    ("M", 0, r * 0.48),
                    ("Q", r * 0.12, r * 0.62, r * 0.26, r * 0.52),
                ],
                ink,
            ).named("mouth")
        )
    if params["whiskers"]:
        whiskers = [
            line(way * r * 0.5, r * (0.38 + drop * 0.4), way * r * 1.05, r * (0.34 + drop), pen("#3b3430", r * 0.03))
            for way in (-1, 1)
            for drop in (0, 0.16)
        ]
        nodes.append(group(whiskers).named("whiskers"))
    return nodes


def _extra(params: Mapping[str, Any], r: float, hue: str) -> list[Node]:
    kind = params["extra"]
    if kind == "horns":
        return [
            path(
                [
                    ("M", way * r * 0.3, -r * 0.85),
                    ("Q", way * r * 0.35, -r * 1.25, way * r * 0.65, -r * 1.35),
                    ("Q", way * r * 0.6, -r * 1.0, way * r * 0.52, -r * 0.75),
                    ("Z",),
                ],
                fill("#e9dcc0"),
            ).named("horn")
            for way in (-1, 1)
        ]
    if kind == "collar":
        return [
            group(
                [
                    rect(-r * 0.6, r * 0.9, r * 1.2, r * 0.16, fill(hue), r * 0.08),
                    circle(0, r * 1.1, r * 0.11, fill("#f2c14e")),
                ]
            ).named("collar")
        ]
    if kind == "cheeks":
        return [circle(way * r * 0.62, r * 0.26, r * 0.12, fill("#f28b82", 0.8)).named("cheek") for way in (-1, 1)]
    if kind == "tuft":
        return [
            path(
                [
                    ("M", -r * 0.2, -r * 0.85),
                    ("Q", -r * 0.25, -r * 1.15, -r * 0.05, -r * 1.2),
                    ("Q", 0, -r * 1.05, r * 0.15, -r * 1.22),
                    ("Q", r * 0.28, -r * 1.0, r * 0.18, -r * 0.85),
                    ("Z",),
                ],
                fill(mix(params["coat"], "#000000", 0.35)),
            ).named("tuft")
        ]
    return []
