"""Hand-written SVG with what generators and people use, and small drawings by seed for tests that need many."""

import random
from collections.abc import Sequence

from gristmill.render.make import first_failing
from gristmill.render.protocol import Annotation, Code, Part, Report, View
from gristmill.stages.protocol import Rule

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">'

HAND_WRITTEN = {
    "gradients": (
        f'{HEAD}<defs><linearGradient id="g">'
        '<stop offset="0" stop-color="#fff"/>'
        '<stop offset="1" stop-color="#e33"/>'
        '</linearGradient><radialGradient id="r"><stop offset="0" stop-color="blue" stop-opacity=".2"/>'
        '<stop offset="1" stop-color="blue"/></radialGradient></defs><rect x="10" y="10" width="90" height="90"'
        ' fill="url(#g)"/><circle cx="140" cy="140" r="50" fill="url(#r)"/></svg>'
    ),
    "clip": (
        f'{HEAD}<clipPath id="c"><circle cx="100" cy="100" r="60"/></clipPath><g clip-path="url(#c)">'
        '<rect width="200" height="100" fill="#248"/><rect y="100" width="200" height="100" fill="#8c4"/></g></svg>'
    ),
    "use": (
        f'{HEAD}<defs><g id="leaf"><ellipse cy="-30" rx="12" ry="30" fill="green"/><circle r="8" fill="red"/></g>'
        '</defs><use href="#leaf" x="50" y="80"/><use href="#leaf" transform="translate(140 90) rotate(40)"/></svg>'
    ),
    "markers": (
        f'{HEAD}<defs><marker id="a" markerWidth="8" markerHeight="8" refX="4" refY="4" orient="auto">'
        '<path d="M0 0L8 4L0 8Z" fill="#a00"/></marker></defs><path d="M20 100H170" stroke="#222" stroke-width="3"'
        ' marker-end="url(#a)"/></svg>'
    ),
    "sheet": (
        f"{HEAD}<style>.b {{ fill: #c33; stroke: #111; stroke-width: 4 }}"
        "g > text { font-size: 20px; fill: navy }</style>"
        '<g><rect class="b" x="30" y="40" width="100" height="60"/><text x="40" y="160" font-family="DejaVu Sans">Some'
        " words</text></g></svg>"
    ),
    "soft": (
        f'{HEAD}<circle cx="80" cy="100" r="60" fill="red" opacity=".5"/><circle cx="120" cy="100" r="60" fill="blue"'
        ' opacity=".5"/><rect x="90" y="90" width="20" height="20" fill="#000"/></svg>'
    ),
    "nested": (
        f'{HEAD}<g transform="translate(20 20) scale(.8)"><svg x="10" y="10" width="120"'
        ' height="120"'
        ' viewBox="0 0 60 60">'
        '<path d="M5 5h50v50h-50z M20 20v20h20v-20z" fill="#555" fill-rule="evenodd"/></svg><g transform="rotate(10)">'
        '<polygon points="140,20 180,90 100,90" fill="orange" stroke="#640" stroke-width="5"/></g></g></svg>'
    ),
    "a gradient over curves": (
        f'{HEAD}<radialGradient id="r"><stop offset="0" stop-color="#f00"/><stop offset="1" stop-color="#fd8"/>'
        '</radialGradient><path d="M90.6 53.1C51.3 40.6 2.5 111.9 58.8 136.3C135.6 169.4 175.6 81.9 90.6 53.1z"'
        ' fill="url(#r)"/></svg>'
    ),
    "gradients that take from others": (
        f'{HEAD}<defs><linearGradient id="s"><stop offset="0" stop-color="#fff"/><stop offset="1" stop-color="#061"/>'
        '</linearGradient><linearGradient id="t" href="#s" x1="0" y1="0" x2="1" y2="1"/></defs>'
        '<rect x="10" y="10" width="80" height="80" fill="url(#t)"/>'
        '<rect x="110" y="10" width="80" height="80" fill="url(#t)"/>'
        '<rect x="10" y="110" width="80" height="80" fill="url(#t)"/>'
        '<path d="M120 180c0-120 60-120 60 0z" fill="url(#t)"/></svg>'
    ),
    "words": (
        f'{HEAD}<text x="100" y="60" font-family="DejaVu Serif" font-size="24" text-anchor="middle">Middle</text>'
        '<text x="190" y="100" font-family="DejaVu Sans Mono" font-size="14" text-anchor="end" fill="#060">at the end'
        '</text><text x="10" y="140" font-family="DejaVu Sans" font-size="16">one <tspan font-weight="bold">two</tspan>'
        "</text></svg>"
    ),
}


def code(text: str, side_px: int = 200, parts: Sequence[Part] = ()) -> Code:
    """A text as code."""
    return Code(text, "svg", "hand", View(side_px, side_px), tuple(parts))


def scattered(seed: int, shapes: int = 10) -> Code:
    """Labelled shapes at random places of 256 by 256, some over others, with parts for all."""
    draw = random.Random(seed)
    lines, parts = ['<rect width="256" height="256" fill="#f4f4f0"/>'], [Part("1", "ground")]
    key = 2
    for number in range(shapes):
        x, y, size = draw.randrange(10, 190), draw.randrange(10, 190), draw.randrange(20, 60)
        colour = f"#{draw.randrange(200):02x}{draw.randrange(200):02x}{draw.randrange(200):02x}"
        shape = draw.choice(
            [
                f'<rect x="{x}" y="{y}" width="{size}" height="{size // 2 + 8}" fill="{colour}"/>',
                f'<circle cx="{x + 20}" cy="{y + 20}" r="{size // 2}" fill="{colour}"/>',
                f'<path d="M{x} {y}l{size} 10l-20 {size}z" fill="{colour}"/>',
            ]
        )
        lines.append(shape)
        parts.append(Part(str(key), f"shape {number}"))
        key += 1
        if number % 3 == 0:
            word = f"word {draw.randrange(100)}"
            lines.append(
                f'<text x="{x}" y="{y + 64}" font-family="DejaVu Sans" font-size="13" fill="#111">{word}</text>'
            )
            parts.append(Part(str(key), "label", word))
            key += 1
    body = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256">{"".join(lines)}</svg>'
    return Code(body, "svg", "scattered", View(256, 256), tuple(parts))


def first_failure(rules: Sequence[Rule], report: Report) -> str:
    """The reason that the first failing rule gives, "" when all hold."""
    rule = first_failing(rules, report)
    return rule.reason if rule is not None else ""


def by_id(annotations: Sequence[Annotation]) -> dict[str, Annotation]:
    """Annotations by id."""
    return {one.id: one for one in annotations}
