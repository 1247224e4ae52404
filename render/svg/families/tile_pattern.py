"""Tiles in rows: squares, quarter discs, leaves, crosses, cubes, hexagons, triangles, turned by a rule."""

from collections.abc import Mapping
from typing import Any

from gristmill.render.draws import Draws
from gristmill.render.protocol import View
from gristmill.render.svg.family import Params, Written
from gristmill.render.svg.nodes import (
    Node,
    Paint,
    circle,
    defined,
    fill,
    group,
    outlined,
    path,
    pen,
    polygon,
    rect,
    use,
)
from gristmill.render.svg.palettes import Theme, mix, theme_of
from gristmill.render.svg.paths import Point, regular, slice_of
from gristmill.render.svg.patterns import edge, ground_of, sample_pattern
from gristmill.render.svg.scene import backdrop
from gristmill.render.svg.writer import document

MOTIFS = ("quarter", "leaf", "cross", "rings", "triangle", "diamond", "cube", "hexagon", "weave", "arc")


def sample(draws: Draws) -> tuple[View, Params]:
    view, params = sample_pattern(draws, "Tiles")
    step = draws.pick((64, 72, 80, 96))
    columns, rows = view.width_px // step + 1, view.height_px // step + 1
    return view, params | {
        "step": step,
        "first": draws.pick(MOTIFS),
        "second": draws.pick(MOTIFS),
        "rule": draws.pick(("same", "chess", "rows", "turns", "random")),
        "turns": [draws.integer(0, 4) for _ in range(columns * rows)],
        "ground": draws.pick(("none", "chess", "each")),
        "how": draws.pick(("use", "drawn", "drawn")),
        "gap": draws.pick((0, 0, 4, 8)),
        "lines": draws.chance(0.25),
    }


def write(params: Mapping[str, Any], view: View) -> Written:
    theme = theme_of(params)
    step = params["step"]
    columns, rows = view.width_px // step + 1, view.height_px // step + 1
    left, top = (view.width_px - columns * step) / 2, (view.height_px - rows * step) / 2
    body = [backdrop(view, ground_of(params, theme))]
    uses = params["how"] == "use"
    defs = (
        [
            defined(f"tile-{n + 1}", group(_motif(params, theme, kind)))
            for n, kind in enumerate((params["first"], params["second"]))
        ]
        if uses
        else []
    )
    for row in range(rows):
        tiles: list[Node] = []
        for column in range(columns):
            order = row * columns + column
            at = (round(left + step * (column + 0.5)), round(top + step * (row + 0.5)))
            other = {"chess": (row + column) % 2, "rows": row % 2}.get(
                params["rule"], params["turns"][order] % 2 if params["rule"] == "random" else 0
            )
            turn = 90 * params["turns"][order] if params["rule"] in ("turns", "random") else 0
            steps: list[tuple[Any, ...]] = [("translate", *at)] + ([("rotate", turn)] if turn else [])
            kind = params["second"] if other else params["first"]
            nodes = [use(f"tile-{other + 1}")] if uses else _motif(params, theme, kind)
            tile = group([*_base(params, theme, row + column, order), *nodes], *steps)
            tiles.append(tile.named("tile", kind))
        body.append(group(tiles).noted(f"row {row + 1}"))
    return document([*body, *edge(params, theme, view)], defs, params, view)


def _base(params: Mapping[str, Any], theme: Theme, parity: int, order: int) -> list[Node]:
    if params["ground"] == "none" or (params["ground"] == "chess" and parity % 2):
        return []
    half = params["step"] / 2 - params["gap"] / 2
    hue = mix(theme.hues[4 if params["ground"] == "chess" else order % 3 + 3], theme.paper, 0.6)
    return [rect(-half, -half, 2 * half, 2 * half, fill(hue))]


def _motif(params: Mapping[str, Any], theme: Theme, kind: str) -> list[Node]:
    half = params["step"] / 2 - params["gap"] / 2
    one, two = theme.hues[0], theme.hues[1 + params["colours"] % 3]
    paint = outlined(one, theme.ink, 1.5) if params["lines"] else fill(one)
    corner: Point = (-half, -half)
    if kind == "quarter":
        return [
            path(slice_of(corner, half * 1.6, 0, 0, 90), paint),
            path(slice_of(corner, half * 0.8, 0, 0, 90), fill(two)),
        ]
    if kind == "leaf":
        d = [
            ("M", -half, -half),
            ("Q", half * 0.7, -half * 0.7, half, half),
            ("Q", -half * 0.7, half * 0.7, -half, -half),
            ("Z",),
        ]
        return [path(d, paint)]
    if kind == "cross":
        t = half * 0.3
        return [
            path(
                [
                    ("M", -t, -half),
                    ("L", t, -half),
                    ("L", t, -t),
                    ("L", half, -t),
                    ("L", half, t),
                    ("L", t, t),
                    ("L", t, half),
                    ("L", -t, half),
                    ("L", -t, t),
                    ("L", -half, t),
                    ("L", -half, -t),
                    ("L", -t, -t),
                    ("Z",),
                ],
                paint,
            )
        ]
    if kind == "rings":
        return [
            circle(0, 0, half * 0.9, paint),
            circle(0, 0, half * 0.6, fill(two)),
            circle(0, 0, half * 0.3, fill(one)),
        ]
    return _more(kind, half, paint, (one, two))


def _more(kind: str, half: float, paint: Paint, hues: tuple[str, str]) -> list[Node]:
    one, two = hues
    if kind == "triangle":
        return [polygon([(-half, half), (half, half), (half, -half)], paint)]
    if kind == "diamond":
        return [polygon(regular(0, 0, half, 4), paint), polygon(regular(0, 0, half * 0.5, 4), fill(two))]
    if kind == "cube":
        w, h = half * 0.87, half * 0.5
        return [
            polygon([(0, -half), (w, -h), (0, 0), (-w, -h)], fill(mix(one, "#ffffff", 0.4))),
            polygon([(-w, -h), (0, 0), (0, half), (-w, h)], fill(one)),
            polygon([(w, -h), (0, 0), (0, half), (w, h)], fill(mix(one, "#000000", 0.35))),
        ]
    if kind == "hexagon":
        return [polygon(regular(0, 0, half, 6), paint), circle(0, 0, half * 0.35, fill(two))]
    if kind == "weave":
        t = half * 0.45
        return [
            rect(-half, -t, 2 * half, 2 * t, paint),
            rect(-t, -half, 2 * t, half - t, fill(two)),
            rect(-t, t, 2 * t, half - t, fill(two)),
        ]
    d = [("M", -half, 0), ("A", half, half, 0, 0, 1, 0, half), ("M", 0, -half), ("A", half, half, 0, 0, 0, half, 0)]
    return [path(d, pen(one, half * 0.3))]
