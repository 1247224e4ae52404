"""Music players: a cover, title, progress, controls, a list of tracks, bars of sound; tall, wide or small."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.controls import slider
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.layout import baseline, fitting
from gristmill.render.svg.nodes import Node, circle, clip, fill, group, line, linear, path, pen, polygon, rect, text
from gristmill.render.svg.palettes import Theme, ink_on, mix, seen, theme_of
from gristmill.render.svg.paths import Point, closed, regular, star
from gristmill.render.svg.scene import backdrop, sample_scene
from gristmill.render.svg.words import BANDS, TRACKS
from gristmill.render.svg.writer import document

SIZES = ((360, 560), (400, 600), (320, 520), (640, 360), (720, 400), (600, 300))


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_scene(draws, SIZES, "Player", 0.5)
    return view, params | {
        "tracks": draws.some(TRACKS, 5),
        "band": draws.pick(BANDS),
        "cover": draws.pick(("rings", "stripes", "sun", "polygons", "star", "disc")),
        "round": draws.pick((0, 8, 20)),
        "circle": draws.chance(0.2),
        "share": round(draws.real(0.15, 0.85), 2),
        "minutes": draws.integer(2, 6),
        "progress": draws.pick(("slider", "bar", "wave")),
        "wave": [round(draws.real(0.15, 1), 2) for _ in range(30)],
        "playing": draws.chance(0.5),
        "button": draws.pick(("disc", "ring", "bare")),
        "side": draws.pick(("skip", "skip", "full")),
        "list": draws.chance(0.55),
        "heart": draws.chance(0.4),
        "volume": draws.chance(0.3),
        "fade": draws.chance(0.35),
        "centred": draws.chance(0.6),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    w, h = float(view.width_px), float(view.height_px)
    wide = w > h
    ground = mix(theme.paper, theme.hues[0], 0.12)
    body = [backdrop(view, ground)]
    defs: list[Node] = []
    if params["fade"]:
        defs.append(linear("glow", ((0, mix(theme.paper, theme.hues[0], 0.3)), (1, theme.paper))))
        body = [rect(0, 0, w, h, fill("url(#glow)")).named("background")]
    side = min(h - 48, w * 0.4) if wide else min(w - 80, h * 0.44)
    x, y = (24.0, (h - side) / 2) if wide else ((w - side) / 2, 28.0)
    cover, frame = _cover(params, theme, (x, y), side)
    defs.append(frame)
    body.append(cover)
    area = (
        (x + side + 28, 30.0, w - x - side - 52, h - 50) if wide else (28.0, y + side + 18, w - 56, h - y - side - 34)
    )
    body += _panel(params, theme, area, ground)
    return document(body, defs, params, view)


def _cover(params: Mapping[str, Any], theme: Theme, at: Point, side: float) -> tuple[Node, Node]:
    x, y = at
    hues = theme.hues
    middle = (x + side / 2, y + side / 2)
    shape = circle(*middle, side / 2, {}) if params["circle"] else rect(x, y, side, side, {}, params["round"])
    nodes = [rect(x, y, side, side, fill(hues[1]))]
    nodes += _art(params["cover"], theme, (x, y), side)
    return group(nodes).with_("clip-path", "url(#cover)").named("cover").noted("cover"), clip("cover", shape)


def _art(kind: str, theme: Theme, at: Point, side: float) -> list[Node]:
    x, y = at
    hues = theme.hues
    middle = (x + side / 2, y + side / 2)
    nodes: list[Node] = []
    if kind == "rings":
        nodes += [circle(*middle, side * r, fill(hues[2 + n])) for n, r in enumerate((0.46, 0.33, 0.2, 0.08))]
    elif kind == "stripes":
        nodes += [
            polygon(
                [
                    (x + side * n / 5, y),
                    (x + side * (n + 0.5) / 5, y),
                    (x + side * (n - 1.5) / 5, y + side),
                    (x + side * (n - 2) / 5, y + side),
                ],
                fill(hues[2 + n % 3]),
            )
            for n in range(1, 7)
        ]
    elif kind == "sun":
        nodes.append(circle(*middle, side * 0.24, fill(hues[2])))
        nodes += [rect(x, y + side * (0.56 + 0.1 * n), side, side * 0.05, fill(hues[1])) for n in range(2)]
        nodes.append(
            path(
                closed(
                    [
                        (x, y + side),
                        (x + side * 0.3, y + side * 0.62),
                        (x + side * 0.55, y + side * 0.9),
                        (x + side * 0.8, y + side * 0.7),
                        (x + side, y + side),
                    ]
                ),
                fill(hues[3]),
            )
        )
    else:
        nodes += _round_art(kind, theme, middle, side)
    return nodes


def _round_art(kind: str, theme: Theme, middle: Point, side: float) -> list[Node]:
    hues = theme.hues
    nodes: list[Node] = []
    if kind == "polygons":
        nodes += [
            polygon(regular(*middle, side * r, n + 3), fill(hues[2 + n])) for n, r in enumerate((0.48, 0.32, 0.18))
        ]
    elif kind == "star":
        nodes.append(polygon(star(middle, side * 0.42, side * 0.2, 8), fill(hues[2])))
        nodes.append(circle(*middle, side * 0.12, fill(hues[3])))
    else:
        nodes += [
            circle(*middle, side * 0.44, fill("#15151a")),
            circle(*middle, side * 0.36, pen("#34343c", 1.5)),
            circle(*middle, side * 0.28, pen("#34343c", 1.5)),
            circle(*middle, side * 0.15, fill(hues[2])),
            circle(*middle, side * 0.03, fill(theme.paper)),
        ]
    return nodes


def _panel(params: Mapping[str, Any], theme: Theme, area: tuple[float, float, float, float], ground: str) -> list[Node]:
    x, y, w, h = area
    title = params["tracks"][0]
    size = fitting(title, w - 40, 22, "sans-bold")
    anchor = "middle" if params["centred"] else "start"
    at = x + w / 2 if params["centred"] else x
    nodes = [
        text(at, y + size, title, size, theme.ink, "sans-bold", anchor).named("track title"),
        text(at, y + size + 21, params["band"], 13, theme.muted, "sans", anchor).named("band"),
    ]
    if params["heart"] and not params["centred"]:
        hx, hy = x + w - 12, y + size - 6
        heart = [
            ("M", hx, hy + 9),
            ("C", hx - 16, hy - 2, hx - 8, hy - 14, hx, hy - 5),
            ("C", hx + 8, hy - 14, hx + 16, hy - 2, hx, hy + 9),
            ("Z",),
        ]
        nodes.append(path(heart, fill("#e11d48")).named("heart"))
    top = y + size + 40
    nodes += _progress(params, theme, (x, top, w))
    middle = top + 66
    nodes.append(group(_buttons(params, theme, (x + w / 2, middle), w)).noted("controls"))
    top = middle + 40
    if params["volume"] and y + h - top > 20:
        nodes.append(slider(x + w * 0.25, top + 4, w * 0.5, 0.6, theme.muted, theme.rule).noted("volume"))
        top += 24
    if params["list"]:
        nodes += _list(params, theme, (x, top, w, y + h - top), ground)
    return nodes


def _progress(params: Mapping[str, Any], theme: Theme, at: tuple[float, float, float]) -> list[Node]:
    x, y, w = at
    hue, share = theme.hues[0], params["share"]
    seconds = params["minutes"] * 60 * share
    nodes: list[Node] = []
    if params["progress"] == "slider":
        nodes.append(slider(x, y, w, share, hue, theme.rule))
    elif params["progress"] == "bar":
        nodes += [
            rect(x, y - 3, w, 6, fill(theme.rule), 3).named("track"),
            rect(x, y - 3, w * share, 6, fill(hue), 3).named("progress"),
        ]
    else:
        step = w / 30
        bars = [
            rect(x + step * n, y - 13 * value, step * 0.6, 26 * value, fill(hue if n / 30 < share else theme.rule), 1.5)
            for n, value in enumerate(params["wave"])
        ]
        nodes.append(group(bars).named("sound wave"))
    nodes.append(text(x, y + 26, f"{int(seconds // 60)}:{int(seconds % 60):02d}", 11, theme.muted).named("elapsed"))
    nodes.append(text(x + w, y + 26, f"{params['minutes']}:00", 11, theme.muted, "sans", "end").named("length"))
    return nodes


def _buttons(params: Mapping[str, Any], theme: Theme, at: Point, w: float) -> list[Node]:
    x, y = at
    hue = theme.hues[0]
    nodes: list[Node] = []
    ink = ink_on(hue) if params["button"] == "disc" else theme.ink
    if params["button"] != "bare":
        nodes.append(
            circle(x, y, 24, fill(hue) if params["button"] == "disc" else pen(theme.ink, 2)).named("play button")
        )
    if params["playing"]:
        nodes.append(group([rect(x - 8, y - 9, 5, 18, fill(ink)), rect(x + 3, y - 9, 5, 18, fill(ink))]).named("pause"))
    else:
        nodes.append(polygon([(x - 6, y - 10), (x + 11, y), (x - 6, y + 10)], fill(ink)).named("play"))
    for way, name in ((-1, "previous"), (1, "next")):
        cx = x + way * min(w * 0.22, 60)
        triangle = polygon([(cx - way * 9, y - 8), (cx + way * 5, y), (cx - way * 9, y + 8)], fill(theme.ink))
        nodes.append(group([triangle, rect(cx + way * 7 - 1.5, y - 8, 3, 16, fill(theme.ink))]).named(name))
    if params["side"] == "full" and w > 230:
        left, right = x - w * 0.42, x + w * 0.42
        nodes.append(
            path(
                [
                    ("M", left - 8, y - 6),
                    ("L", left - 2, y - 6),
                    ("L", left + 6, y + 6),
                    ("L", left + 12, y + 6),
                    ("M", left - 8, y + 6),
                    ("L", left - 2, y + 6),
                    ("L", left + 6, y - 6),
                    ("L", left + 12, y - 6),
                ],
                pen(theme.muted, 2),
            ).named("shuffle")
        )
        nodes.append(
            path(
                [
                    ("M", right - 9, y + 2),
                    ("L", right - 9, y - 6),
                    ("L", right + 9, y - 6),
                    ("M", right + 9, y - 1),
                    ("L", right + 9, y + 7),
                    ("L", right - 9, y + 7),
                ],
                pen(theme.muted, 2),
            ).named("repeat")
        )
    return nodes


def _list(params: Mapping[str, Any], theme: Theme, box: tuple[float, float, float, float], ground: str) -> list[Node]:
    x, y, w, h = box
    rows = min(int(h // 26), 4)
    nodes: list[Node] = []
    for place in range(rows):
        middle = y + 26 * place + 13
        nodes.append(line(x, middle - 13, x + w, middle - 13, pen(theme.rule, 1)))
        nodes.append(
            text(x + 4, baseline(middle, 11), str(place + 2), 11, seen(theme.hues[0], ground, 4.5), "sans-bold").named(
                "track number"
            )
        )
        nodes.append(text(x + 26, baseline(middle, 12), params["tracks"][place + 1], 12, theme.ink).named("list title"))
        nodes.append(
            text(x + w, baseline(middle, 11), f"{2 + place}:{17 + 9 * place}", 11, theme.muted, "sans", "end").named(
                "list length"
            )
        )
    return [group(nodes).noted("tracks")] if nodes else []
