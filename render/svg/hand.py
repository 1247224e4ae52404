"""How a person writes SVG: habits that are drawn once a picture and kept through it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gristmill.render.draws import Draws


@dataclass(frozen=True)
class Hand:
    """Habits. `unit` is how many of the picture's user units a pixel is; `styling` attributes, style or class."""

    indent: str
    decimals: int
    unit: float
    styling: str
    gather: bool
    wrap: bool
    close: str
    separator: str
    relative: bool
    shortcuts: bool
    colours: str
    comments: bool
    root: str
    header: bool
    title: bool
    paint_first: bool
    quote: str
    xlink: bool


def sample_hand(draws: Draws, units: tuple[float, ...] = (1, 1, 1, 1, 1, 0.5, 2)) -> dict[str, Any]:
    """Habits as JSON; `units` are the sizes of a user unit that suit the drawing."""
    own = draws.child("hand")
    unit = own.pick(units)
    hand = Hand(
        indent=own.weighted(("  ", "    ", "\t", ""), (6, 3, 2, 1)),
        decimals=own.weighted((0, 1, 2, 3), (2, 4, 4, 1)) + (0 if unit >= 0.5 else 1),
        unit=unit,
        styling=own.weighted(("attributes", "style", "class"), (6, 2, 3)),
        gather=own.chance(0.6),
        wrap=own.chance(0.4),
        close=own.weighted(("/>", " />"), (2, 1)),
        separator=own.weighted((" ", ",", "tight"), (3, 3, 2)),
        relative=own.chance(0.45),
        shortcuts=own.chance(0.7),
        colours=own.weighted(("hex", "upper", "short", "rgb"), (5, 2, 4, 1)),
        comments=own.chance(0.35),
        root=own.weighted(("both", "viewBox", "size"), (6, 3, 1 if unit == 1 else 0)),
        header=own.chance(0.15),
        title=own.chance(0.3),
        paint_first=own.chance(0.2),
        quote=own.weighted(('"', "'"), (9, 1)),
        xlink=own.chance(0.2),
    )
    return asdict(hand)


def hand_of(params: Mapping[str, Any]) -> Hand:
    """The habits that a family's params hold under `hand`."""
    return Hand(**params["hand"])
