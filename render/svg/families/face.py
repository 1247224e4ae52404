"""Faces as emoji: round or square heads, eyes, brows, mouths, cheeks, hats, glasses, tears; one to four of them."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import SQUARE
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
    radial,
    rect,
)
from gristmill.render.svg.palettes import mix, theme_of
from gristmill.render.svg.paths import star
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.writer import document

SKINS = ("#ffcc4d", "#ffd76a", "#f4b266", "#9ad0c2", "#c9a7eb", "#f7a8b8", "#8fd694")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, (*SQUARE, (512, 288), (360, 520)), "Faces", 0.2)
    count = draws.pick((1, 1, 2, 4)) if view.width_px == view.height_px else 2
    faces = [
        {
            "skin": draws.pick(SKINS),
            "head": draws.pick(("round", "round", "square", "egg")),
            "eyes": draws.pick(("dots", "ovals", "wide", "closed", "wink", "stars", "hearts")),
            "brows": draws.pick(("none", "flat", "angry", "raised")),
            "mouth": draws.pick(("smile", "grin", "open", "flat", "sad", "tongue", "crooked")),
            "cheeks": draws.chance(0.35),
            "extra": draws.pick(("none", "glasses", "hat", "tear", "bow", "crown", "sweat")),
            "nose": draws.chance(0.2),
        }
        for _ in range(count)
    ]
    return view, params | {
        "faces": faces,
        "shaded": draws.chance(0.35),
        "outline": draws.chance(0.35),
        "tilt": draws.pick((0, 0, -10, 12)),
        "ground": draws.pick(("paper", "hue", "disc")),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    ground = theme.paper if params["ground"] != "hue" else mix(theme.hues[0], theme.paper, 0.6)
    body = [backdrop(view, ground)]
    count = len(params["faces"])
    columns = 2 if count > 2 or (count == 2 and view.width_px >= view.height_px) else 1
    rows = -(-count // columns)
    w, h = view.width_px / columns, view.height_px / rows
    defs: list[Node] = []
    for place, face in enumerate(params["faces"]):
        r = min(w, h) * 0.36
        x, y = w * (place % columns + 0.5), h * (place // columns + 0.53)
        if params["ground"] == "disc":
            body.append(circle(x, y, r * 1.22, fill(mix(theme.hues[place], theme.paper, 0.7))).named("disc"))
        skin = face["skin"]
        if params["shaded"]:
            defs.append(radial(f"skin-{place + 1}", ((0, mix(skin, "#ffffff", 0.35)), (1, skin)), ("40%", "35%")))
        steps: list[tuple[Any, ...]] = [("translate", round(x), round(y))] + (
            [("rotate", params["tilt"])] if params["tilt"] else []
        )
        body.append(
            group(_face(params, face, r, f"url(#skin-{place + 1})" if params["shaded"] else skin), *steps)
            .named("face")
            .noted("face")
        )
    return document(body, defs, params, view)


def _face(params: Mapping[str, Any], face: Mapping[str, Any], r: float, skin: str) -> list[Node]:
    dark = mix(face["skin"], "#2b1a0e", 0.85)
    paint = outlined(skin, mix(face["skin"], "#2b1a0e", 0.55), r * 0.05) if params["outline"] else fill(skin)
    head = {
        "round": circle(0, 0, r, paint),
        "square": rect(-r * 0.9, -r * 0.9, r * 1.8, r * 1.8, paint, r * 0.4),
        "egg": ellipse(0, 0, r * 0.88, r, paint),
    }[face["head"]]
    nodes = [head.named("head"), *_eyes(face["eyes"], r, dark), *_brows(face["brows"], r, dark)]
    if face["cheeks"]:
        nodes += [
            ellipse(way * r * 0.58, r * 0.2, r * 0.16, r * 0.1, fill("#f4717f", 0.7)).named("cheek") for way in (-1, 1)
        ]
    if face["nose"]:
        nodes.append(
            path(
                [("M", 0, -r * 0.02), ("Q", r * 0.12, r * 0.14, -r * 0.04, r * 0.15)], pen(dark, r * 0.05, (), "round")
            ).named("nose")
        )
    return [*nodes, *_mouth(face["mouth"], r, dark), *_extra(face["extra"], r, dark)]


def _eyes(kind: str, r: float, dark: str) -> list[Node]:
    nodes: list[Node] = []
    for way, name in ((-1, "left eye"), (1, "right eye")):
        x, y = way * r * 0.36, -r * 0.2
        if kind == "closed" or (kind == "wink" and way == 1):
            eye = path(
                [("M", x - r * 0.14, y), ("Q", x, y - r * 0.16, x + r * 0.14, y)], pen(dark, r * 0.07, (), "round")
            )
        elif kind == "ovals":
            eye = ellipse(x, y, r * 0.1, r * 0.18, fill(dark))
        elif kind == "wide":
            eye = group(
                [circle(x, y, r * 0.2, fill("#ffffff")), circle(x + r * 0.03, y + r * 0.02, r * 0.1, fill(dark))]
            )
        elif kind == "stars":
            eye = polygon(star((x, y), r * 0.24, r * 0.1, 5), fill("#e8590c"))
        elif kind == "hearts":
            s = r * 0.2
            eye = path(
                [
                    ("M", x, y + s),
                    ("C", x - s * 1.8, y - s * 0.2, x - s, y - s * 1.5, x, y - s * 0.5),
                    ("C", x + s, y - s * 1.5, x + s * 1.8, y - s * 0.2, x, y + s),
                    ("Z",),
                ],
                fill("#e03131"),
            )
        else:
            eye = circle(x, y, r * 0.11, fill(dark))
        nodes.append(eye.named(name))
    return nodes


def _brows(kind: str, r: float, dark: str) -> list[Node]:
    if kind == "none":
        return []
    inner, outer = {"flat": (-0.5, -0.5), "angry": (-0.42, -0.56), "raised": (-0.62, -0.52)}[kind]
    return [
        line(
            way * r * 0.2, r * inner, way * r * 0.54, r * outer, pen(dark, r * 0.07) | {"stroke-linecap": "round"}
        ).named("eyebrow")
        for way in (-1, 1)
    ]


def _mouth(kind: str, r: float, dark: str) -> list[Node]:
    y, w = r * 0.38, r * 0.4
    ink = pen(dark, r * 0.07, (), "round")
    if kind == "smile":
        return [path([("M", -w, y - r * 0.04), ("Q", 0, y + r * 0.36, w, y - r * 0.04)], ink).named("mouth")]
    if kind == "sad":
        return [path([("M", -w * 0.8, y + r * 0.18), ("Q", 0, y - r * 0.2, w * 0.8, y + r * 0.18)], ink).named("mouth")]
    if kind == "flat":
        return [line(-w * 0.7, y + r * 0.05, w * 0.7, y + r * 0.05, ink).named("mouth")]
    if kind == "open":
        return [ellipse(0, y + r * 0.1, r * 0.16, r * 0.2, fill(dark)).named("mouth")]
    if kind == "crooked":
        return [
            path(
                [("M", -w * 0.7, y), ("C", -w * 0.2, y + r * 0.2, w * 0.2, y - r * 0.1, w * 0.8, y + r * 0.06)], ink
            ).named("mouth")
        ]
    jaw = path([("M", -w, y - r * 0.06), ("A", w, w, 0, 0, 0, w, y - r * 0.06), ("Z",)], fill(dark)).named("mouth")
    if kind == "tongue":
        return [jaw, ellipse(0, y + r * 0.22, r * 0.17, r * 0.11, fill("#f06572")).named("tongue")]
    return [jaw, rect(-w * 0.72, y - r * 0.06, w * 1.44, r * 0.1, fill("#ffffff")).named("teeth")]


def _extra(kind: str, r: float, dark: str) -> list[Node]:
    if kind == "glasses":
        rims = [circle(way * r * 0.36, -r * 0.2, r * 0.27, pen("#22223b", r * 0.06)) for way in (-1, 1)]
        return [
            group([*rims, line(-r * 0.09, -r * 0.2, r * 0.09, -r * 0.2, pen("#22223b", r * 0.06))]).named("glasses")
        ]
    if kind == "hat":
        return [
            group(
                [
                    rect(-r * 0.5, -r * 1.32, r, r * 0.56, fill("#343a40"), r * 0.06),
                    rect(-r * 0.5, -r * 0.92, r, r * 0.1, fill("#c92a2a")),
                    rect(-r * 0.8, -r * 0.83, r * 1.6, r * 0.13, fill("#343a40"), r * 0.06),
                ]
            ).named("hat")
        ]
    if kind == "bow":
        y = -r * 0.9
        return [
            group(
                [
                    polygon([(0, y), (-r * 0.34, y - r * 0.2), (-r * 0.34, y + r * 0.2)], fill("#d6336c")),
                    polygon([(0, y), (r * 0.34, y - r * 0.2), (r * 0.34, y + r * 0.2)], fill("#d6336c")),
                    circle(0, y, r * 0.1, fill("#a61e4d")),
                ]
            ).named("bow")
        ]
    if kind == "crown":
        y = -r * 0.78
        points = [
            (-r * 0.5, y),
            (-r * 0.56, y - r * 0.42),
            (-r * 0.25, y - r * 0.2),
            (0, y - r * 0.5),
            (r * 0.25, y - r * 0.2),
            (r * 0.56, y - r * 0.42),
            (r * 0.5, y),
        ]
        return [
            group(
                [
                    polygon(points, outlined("#f59f00", "#b36b00", r * 0.03)),
                    circle(0, y - r * 0.14, r * 0.06, fill("#c92a2a")),
                ]
            ).named("crown")
        ]
    return _drop(kind, r)


def _drop(kind: str, r: float) -> list[Node]:
    if kind == "tear":
        x, y = r * 0.42, r * 0.02
        return [
            path(
                [
                    ("M", x, y),
                    ("Q", x + r * 0.14, y + r * 0.2, x, y + r * 0.26),
                    ("Q", x - r * 0.14, y + r * 0.2, x, y),
                    ("Z",),
                ],
                fill("#4dabf7"),
            ).named("tear")
        ]
    if kind == "sweat":
        return [
            path(
                [
                    ("M", -r * 0.7, -r * 0.62),
                    ("Q", -r * 0.56, -r * 0.4, -r * 0.7, -r * 0.34),
                    ("Q", -r * 0.84, -r * 0.4, -r * 0.7, -r * 0.62),
                    ("Z",),
                ],
                fill("#4dabf7"),
            ).named("drop of sweat")
        ]
    return []
