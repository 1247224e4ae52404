"""Landscapes: skies, suns, clouds, ranges of mountains, hills, water, trees, houses, birds, boats."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import Node, circle, ellipse, fill, group, line, linear, path, pen, polygon, rect
from gristmill.render.svg.palettes import mix
from gristmill.render.svg.paths import Path, Point, smooth
from gristmill.render.svg.scene import sample_scene
from gristmill.render.svg.writer import document

SIZES = ((480, 320), (640, 400), (720, 400), (512, 512), (400, 560), (800, 450))
SKIES = (
    ("#4aa3df", "#cdeafc"),
    ("#f7a072", "#fde2c4"),
    ("#1b2a4a", "#51608f"),
    ("#8ec5d6", "#fdf6e3"),
    ("#7b4b94", "#f2a6a0"),
)
LANDS = (("#2f5d50", "#8fbf7f"), ("#3d405b", "#a5a58d"), ("#22333b", "#5e8c61"), ("#8a5a44", "#ddb892"))


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Landscape", 0.2)
    ranges = draws.integer(2, 5)
    return view, params | {
        "sky": draws.integer(0, len(SKIES)),
        "fade": draws.chance(0.7),
        "land": draws.integer(0, len(LANDS)),
        "sun": draws.pick(("sun", "moon", "rays", "none", "half")),
        "sun_at": round(draws.real(0.15, 0.85), 2),
        "clouds": [
            [round(draws.real(0.1, 0.85), 2), round(draws.real(0.08, 0.28), 2), round(draws.real(0.7, 1.3), 2)]
            for _ in range(draws.integer(1, 4))
        ],
        "cloud": draws.pick(("puffs", "path", "bars")),
        "ranges": [
            [
                draws.pick(("peaks", "hills", "hills")),
                [round(draws.real(0.2, 1), 2) for _ in range(draws.integer(4, 8))],
            ]
            for _ in range(ranges)
        ],
        "snow": draws.chance(0.4),
        "water": draws.pick(("none", "lake", "sea", "river")),
        "trees": [
            [round(draws.real(0.04, 0.96), 2), round(draws.real(0.8, 1.4), 2)] for _ in range(draws.integer(0, 8))
        ],
        "tree": draws.pick(("fir", "round", "poplar")),
        "house": draws.chance(0.4),
        "birds": draws.integer(0, 5),
        "boat": draws.chance(0.5),
        "fence": draws.chance(0.2),
        "stars": draws.chance(0.4),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    w, h = float(view.width_px), float(view.height_px)
    high, low = SKIES[params["sky"]]
    near, far = LANDS[params["land"]]
    body = [rect(0, 0, w, h, fill("url(#sky)" if params["fade"] else low)).named("sky")]
    if params["stars"] and params["sky"] == 2:
        spots = [(w * ((0.13 + 0.37 * n) % 1), h * ((0.05 + 0.11 * n) % 0.4)) for n in range(12)]
        body.append(group([circle(*spot, 1.8, fill("#fff8d6")) for spot in spots]).named("stars"))
    body += _sun(params, (w, h))
    body += [_cloud(params["cloud"], w * x, h * y, min(w, h) * 0.07 * s).named("cloud") for x, y, s in params["clouds"]]
    count = len(params["ranges"])
    for place, (kind, heights) in enumerate(params["ranges"]):
        hue = mix(far, near, (place + 1) / count)
        base = h * (0.5 + 0.32 * place / max(count, 1))
        body += _range(params, kind, heights, (w, h, base), hue, place)
    body += _water(params, (w, h), high)
    ground = h * 0.84
    body += _things(params, (w, h, ground), near)
    defs = [linear("sky", ((0, high), (1, low)))] if params["fade"] else []
    return document(body, defs, params, view)


def _sun(params: Mapping[str, Any], size: tuple[float, float]) -> list[Node]:
    w, h = size
    x, y, r = w * params["sun_at"], h * 0.22, min(w, h) * 0.085
    kind = params["sun"]
    if kind == "none":
        return []
    if kind == "moon":
        return [
            path(
                [("M", x, y - r), ("A", r, r, 0, 1, 0, x + r, y), ("A", r * 0.8, r * 0.8, 0, 0, 1, x, y - r), ("Z",)],
                fill("#fff3c4"),
            ).named("moon")
        ]
    if kind == "half":
        return [circle(x, h * 0.5, r * 2, fill("#ffd166")).named("setting sun")]
    disc = circle(x, y, r, fill("#ffd43b")).named("sun")
    if kind == "rays":
        rays = [
            line(x, y - r * 1.25, x, y - r * 1.7, pen("#ffd43b", r * 0.14)).moved(("rotate", 45 * n, x, y))
            for n in range(8)
        ]
        return [group([disc, *rays]).noted("sun")]
    return [circle(x, y, r * 1.5, fill("#fff3bf", 0.5)).named("glow"), disc]


def _cloud(kind: str, x: float, y: float, s: float) -> Node:
    white = fill("#ffffff")
    if kind == "puffs":
        return group(
            [
                ellipse(x, y, s * 1.5, s * 0.55, white),
                circle(x - s * 0.5, y - s * 0.35, s * 0.6, white),
                circle(x + s * 0.5, y - s * 0.25, s * 0.5, white),
            ]
        )
    if kind == "bars":
        return group(
            [
                rect(x - s * 1.4, y - s * 0.5, s * 2.2, s * 0.4, white, s * 0.2),
                rect(x - s * 0.9, y, s * 2.4, s * 0.4, white, s * 0.2),
            ]
        )
    d: Path = [
        ("M", x - s * 1.4, y + s * 0.5),
        ("A", s * 0.6, s * 0.6, 0, 0, 1, x - s * 0.9, y - s * 0.4),
        ("A", s * 0.8, s * 0.8, 0, 0, 1, x + s * 0.6, y - s * 0.5),
        ("A", s * 0.6, s * 0.6, 0, 0, 1, x + s * 1.3, y + s * 0.5),
        ("Z",),
    ]
    return path(d, white)


def _range(
    params: Mapping[str, Any], kind: str, heights: list[float], at: tuple[float, float, float], hue: str, place: int
) -> list[Node]:
    w, h, base = at
    count = len(heights)
    tall = h * (0.26 if kind == "peaks" else 0.12)
    points: list[Point] = [(w * (n / (count - 1) * 1.2 - 0.1), base - tall * value) for n, value in enumerate(heights)]
    if kind == "hills":
        d: Path = [*smooth(points, 1), ("L", w * 1.1, h), ("L", -w * 0.1, h), ("Z",)]
        return [path(d, fill(hue)).named("hills")]
    valleys: list[Point] = [(-w * 0.1, h)]
    for n, (x, y) in enumerate(points):
        valleys.append((x, y))
        if n + 1 < count:
            valleys.append(((x + points[n + 1][0]) / 2, base - tall * 0.1 * (n % 3)))
    nodes = [polygon([*valleys, (w * 1.1, h)], fill(hue)).named("mountains")]
    if params["snow"] and place == 0:
        half = w * 0.6 / (count - 1)
        for n, (x, y) in enumerate(points[1:-1], start=1):
            left, right = (base - tall * 0.1 * ((n - 1) % 3) - y), (base - tall * 0.1 * (n % 3) - y)
            share = 0.28
            nodes.append(
                polygon(
                    [
                        (x - half * share, y + left * share),
                        (x, y),
                        (x + half * share, y + right * share),
                        (x, y + min(left, right) * share * 0.7),
                    ],
                    fill("#ffffff"),
                ).named("snow")
            )
    return nodes


def _water(params: Mapping[str, Any], size: tuple[float, float], sky: str) -> list[Node]:
    w, h = size
    hue = mix(sky, "#1d5c86", 0.45)
    kind = params["water"]
    if kind == "sea":
        waves = [
            path(
                [("M", w * x, h * y), ("Q", w * x + 10, h * y - 6, w * x + 20, h * y), ("T", w * x + 40, h * y)],
                pen(mix(hue, "#ffffff", 0.55), 2),
            )
            for x, y in ((0.2, 0.9), (0.55, 0.94), (0.78, 0.89))
        ]
        return [rect(0, h * 0.84, w, h * 0.16, fill(hue)).named("sea"), group(waves).named("waves")]
    if kind == "lake":
        return [ellipse(w * 0.62, h * 0.92, w * 0.24, h * 0.05, fill(hue)).named("lake")]
    if kind == "river":
        d: Path = [
            ("M", w * 0.5, h * 0.74),
            ("C", w * 0.6, h * 0.8, w * 0.35, h * 0.86, w * 0.42, h),
            ("L", w * 0.62, h),
            ("C", w * 0.5, h * 0.86, w * 0.66, h * 0.8, w * 0.5, h * 0.74),
            ("Z",),
        ]
        return [path(d, fill(hue)).named("river")]
    return []


def _things(params: Mapping[str, Any], at: tuple[float, float, float], near: str) -> list[Node]:
    w, h, ground = at
    nodes: list[Node] = []
    if params["birds"]:
        spots = [(w * (0.2 + 0.1 * n), h * (0.3 + 0.03 * (n % 2))) for n in range(params["birds"])]
        birds = [_bird(*spot).named("bird") for spot in spots]
        nodes.append(group(birds).noted("birds"))
    if params["house"] and params["water"] != "sea":
        nodes.append(_house(w * 0.2, ground, min(w, h) * 0.1))
    if params["boat"] and params["water"] == "sea":
        x, y, s = w * 0.65, h * 0.88, min(w, h) * 0.06
        nodes.append(
            group(
                [
                    polygon(
                        [(x - s, y), (x + s, y), (x + s * 0.7, y + s * 0.45), (x - s * 0.7, y + s * 0.45)],
                        fill("#6b3e26"),
                    ),
                    line(x, y, x, y - s * 1.7, pen("#3d2517", 2)),
                    polygon([(x + 2, y - s * 1.7), (x + s * 0.9, y - 4), (x + 2, y - 4)], fill("#ffffff")),
                ]
            ).named("boat")
        )
    trees = [
        _tree(params["tree"], w * x, ground + (place % 3) * 4, min(w, h) * 0.085 * s, near).named("tree")
        for place, (x, s) in enumerate(params["trees"])
        if params["water"] != "sea"
    ]
    nodes += [group(trees).noted("trees")] if trees else []
    if params["fence"] and params["water"] == "none":
        posts = [rect(12 + 28 * n, h - 34, 6, 28, fill("#e9dcc0")) for n in range(int(w // 28))]
        nodes.append(group([*posts, rect(0, h - 26, w, 4, fill("#e9dcc0"))]).named("fence"))
    return nodes


def _bird(x: float, y: float) -> Node:
    wings: Path = [("M", x - 8, y - 3), ("Q", x - 4, y - 7, x, y), ("Q", x + 4, y - 7, x + 8, y - 3)]
    return path(wings, pen("#222222", 2, (), "round"))


def _house(x: float, ground: float, s: float) -> Node:
    house = [
        rect(x, ground - s * 0.8, s * 1.4, s, fill("#f4e3c1")).named("house wall"),
        polygon(
            [(x - s * 0.15, ground - s * 0.8), (x + s * 0.7, ground - s * 1.5), (x + s * 1.55, ground - s * 0.8)],
            fill("#b23a48"),
        ).named("roof"),
        rect(x + s * 0.2, ground - s * 0.35, s * 0.3, s * 0.55, fill("#6b4226")).named("door"),
        rect(x + s * 0.8, ground - s * 0.45, s * 0.32, s * 0.3, fill("#8ecae6")).named("window"),
    ]
    return group(house).noted("house")


def _tree(kind: str, x: float, y: float, s: float, near: str) -> Node:
    leaf = mix(near, "#0b2e13", 0.45)
    trunk = rect(x - s * 0.08, y - s * 0.3, s * 0.16, s * 0.45, fill("#5b3a1e"))
    if kind == "fir":
        return group(
            [
                trunk,
                *(
                    polygon(
                        [
                            (x - s * (0.5 - 0.12 * n), y - s * (0.2 + 0.4 * n)),
                            (x, y - s * (0.9 + 0.4 * n)),
                            (x + s * (0.5 - 0.12 * n), y - s * (0.2 + 0.4 * n)),
                        ],
                        fill(leaf),
                    )
                    for n in range(3)
                ),
            ]
        )
    if kind == "poplar":
        return group([trunk, ellipse(x, y - s * 0.95, s * 0.26, s * 0.8, fill(leaf))])
    return group(
        [
            trunk,
            circle(x, y - s * 0.75, s * 0.5, fill(leaf)),
            circle(x - s * 0.3, y - s * 0.5, s * 0.32, fill(leaf)),
            circle(x + s * 0.3, y - s * 0.5, s * 0.32, fill(leaf)),
        ]
    )
