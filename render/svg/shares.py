"""Shares of a whole: sampled, as angles, and keyed in a column."""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.render.svg.layout import baseline
from gristmill.render.svg.nodes import Node, circle, fill, group, rect, text
from gristmill.render.svg.palettes import Theme


def sample_shares(draws: Draws, count: int, least: int = 5) -> list[int]:
    """Whole percents of at least `least` that sum to 100, mostly falling."""
    raw = [draws.real(0.3, 1) ** 2 for _ in range(count)]
    if draws.chance(0.7):
        raw.sort(reverse=True)
    free = 100 - least * count
    shares = [least + int(free * value / sum(raw)) for value in raw]
    shares[0] += 100 - sum(shares)
    return shares


def turns(shares: Sequence[float], start: float, whole: float) -> list[tuple[float, float]]:
    """Start and end angle of each share, degrees clockwise."""
    out: list[tuple[float, float]] = []
    total = sum(shares)
    for share in shares:
        end = start + whole * share / total
        out.append((round(start, 3), round(end, 3)))
        start = end
    return out


def side_legend(
    names: Sequence[str], theme: Theme, box: tuple[float, float], size: float, round_keys: bool = False
) -> Node:
    """Keys in a column from `box`, left top."""
    x, y = box
    nodes: list[Node] = []
    for name, colour in zip(names, theme.hues, strict=False):
        if round_keys:
            key = circle(x + size / 2, y + size / 2, size / 2, fill(colour))
        else:
            key = rect(x, y, size, size, fill(colour))
        nodes += [
            key.named("legend key"),
            text(x + size * 1.6, baseline(y + size / 2, size), name, size, theme.ink).named("legend label"),
        ]
        y += size * 1.75
    return group(nodes).noted("legend")
