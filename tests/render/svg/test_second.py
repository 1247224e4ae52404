"""The judge's reduced picture: where it lies, and that no fault which the full pictures show passes by it.

The probes are features that one of the engines draws wrongly (bare, the strict reader refuses most of them), and
drawings of the template families of which one element is changed for the judge alone.
"""

import random
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pytest

pytest.importorskip("lxml")

from lxml import etree

from gristmill.render.draws import Draws
from gristmill.render.svg.domain import SvgDomain, size_px
from tests.render.svg.drawings import HEAD

SIDE = 640
RECTS = '<rect x="20" y="20" width="70" height="160" fill="#c33"/><rect x="110" y="20" width="70" height="160"/>'
DRAWN_APART = {
    "nth-child": f"{HEAD}<style>rect:nth-child(2){{fill:#fff}}</style>{RECTS}</svg>",
    "geometry by style": f'{HEAD}{RECTS}<rect width="20" height="20" style="width:150px;height:60px"/></svg>',
    "hsl with spaces": f'{HEAD}<circle cx="100" cy="100" r="60" fill="hsl(200 80% 60%)"/></svg>',
    "mix-blend-mode": f"{HEAD}{RECTS}"
    '<rect width="200" height="90" fill="#ff0" style="mix-blend-mode:difference"/></svg>',
    "paint-order": f'{HEAD}<circle cx="100" cy="100" r="50" fill="#fc0" stroke="#006" stroke-width="40"'
    ' paint-order="stroke"/></svg>',
    "mask": f'{HEAD}<mask id="m"><rect width="200" height="200" fill="#fff"/><circle cx="90" cy="90" r="50"/></mask>'
    '<rect width="200" height="200" fill="#06c" mask="url(#m)"/></svg>',
    "blur": f'{HEAD}<filter id="f"><feGaussianBlur stdDeviation="12"/></filter>'
    '<rect x="40" y="40" width="120" height="120" filter="url(#f)"/></svg>',
    "drop shadow": f'{HEAD}<filter id="f"><feDropShadow dx="14" dy="14" stdDeviation="1"/></filter>'
    '<rect x="40" y="40" width="90" height="90" fill="#c33" filter="url(#f)"/></svg>',
}
Change = Callable[[etree._Element], bool]


@pytest.fixture(scope="module")
def engines(svg: SvgDomain) -> object:
    """Both engines in this process, with the fonts of SVG alone."""
    from gristmill.render.svg import draw_child

    draw_child.set_up_cairo()
    return draw_child


def _pictures(drawn: str, judged: str, size: tuple[int, int]) -> tuple[np.ndarray, object]:
    from gristmill.render.svg import cairo_paint
    from gristmill.render.svg.draw_child import keyed, set_size
    from gristmill.render.svg.second import Second

    pixels, _, _ = cairo_paint.draw(keyed(etree.fromstring(drawn.encode()), *size), *size)
    mine = pixels.view(np.uint8).reshape(*pixels.shape, 4)[..., [2, 1, 0, 3]].copy()
    mine[..., 3] = 255
    root = etree.fromstring(judged.encode())
    set_size(root, *size)
    root.set("style", "font-kerning:none")
    return mine, Second(etree.tostring(root, encoding="unicode"), size, True)


def _is_refused(mine: np.ndarray, second: object) -> tuple[bool, bool]:
    """Whether the rule for engines refuses a pair by the full pictures alone, and as the judge goes about it."""
    from gristmill.render.svg import compare, judge_child
    from gristmill.render.svg.rules import RULES

    limits = {rule.measure: rule.limit for rule in RULES if rule.reason == "engines_differ"}
    unmatched, mean = limits["unmatched_px_per_65536"], limits["mean_abs_diff"]
    full = second.full  # type: ignore[attr-defined]
    px = compare.unmatched_px(mine, full) * 65536 / (mine.shape[0] * mine.shape[1])
    plain = px > unmatched or compare.mean_abs_diff(mine, full) > mean
    judged = judge_child.engines_differ(mine, second)  # type: ignore[arg-type]
    return plain, judged[0] > unmatched or judged[1] > mean


@pytest.mark.parametrize("name", DRAWN_APART)
def test_what_engines_draw_apart_is_refused(engines: object, name: str) -> None:
    assert _is_refused(*_pictures(DRAWN_APART[name], DRAWN_APART[name], (SIDE, SIDE))) == (True, True)


@pytest.mark.parametrize("size", [(640, 640), (641, 499), (963, 500)])
def test_the_reduced_picture_lies_where_the_full_one_does(engines: object, size: tuple[int, int]) -> None:
    from gristmill.render.svg.resvg_paint import reduced

    (width, height), line = size, "".join(f"M{10 * n} 0l9 9" for n in range(60))
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><path d="{line}" stroke="#00f"/>'
        f'<rect x="{width - 40}" y="{height - 40}" width="30" height="30"/><circle cx="90" cy="80" r="33"/></svg>'
    )
    _, second = _pictures(text, text, size)
    assert second.factor >= 2  # type: ignore[attr-defined]
    assert second.reduced_off_px == 0  # type: ignore[attr-defined]
    means = reduced(second.full, second.factor)  # type: ignore[attr-defined]
    away = np.abs(second.reduced[40:].astype(int) - means[40:])  # type: ignore[attr-defined]
    assert away.max() <= 40, "edges are where they are in the full picture, to a sixth of a reduced pixel"


def _set(name: str, value: str, has: str) -> Change:
    def change(element: etree._Element) -> bool:
        if element.get(has, "none") == "none":
            return False
        element.set(name, value)
        return True

    return change


def _remove(element: etree._Element) -> bool:
    parent = element.getparent()
    if parent is None:
        return False
    parent.remove(element)
    return True


CHANGES: dict[str, Change] = {
    "removed": _remove,
    "another fill": _set("fill", "#f0f", "fill"),
    "no stroke": _set("stroke", "none", "stroke"),
    "wide stroke": _set("stroke-width", "7", "stroke"),
    "dashed": _set("stroke-dasharray", "8 8", "stroke"),
    "scaled": lambda element: _set("transform", f"{element.get('transform') or ''} scale(1.15)", "fill")(element),
    "anchored elsewhere": _set("text-anchor", "end", "font-size"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_what_the_full_pictures_show_is_not_screened_away(svg: SvgDomain, engines: object, name: str) -> None:
    refused = 0
    for number, family in enumerate(svg.families()):
        code = svg.to_code(svg.sample_spec(family, Draws("svg", "second", name, number)))
        root = etree.fromstring(code.text.encode())
        shapes = [one for one in root.iter(etree.Element) if one.getparent() is not None and not len(one)]
        random.Random(number).shuffle(shapes)
        keys = {one: at for at, one in enumerate(root.iter(etree.Element))}
        for shape in shapes:
            changed = deepcopy(root)
            if CHANGES[name](list(changed.iter(etree.Element))[keys[shape]]):
                plain, judged = _is_refused(
                    *_pictures(code.text, etree.tostring(changed, encoding="unicode"), size_px(code.view))
                )
                assert judged or not plain, (family, shape.attrib)
                refused += plain
                break
    assert refused >= 3, "the change is one that shows"
