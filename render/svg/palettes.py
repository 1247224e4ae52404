"""Colours that go together, and colours that can be read on others."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gristmill.render.draws import Draws


@dataclass(frozen=True)
class Theme:
    """A ground, a surface on it, ink and muted ink that can be read on both, hairlines, and colours for things."""

    paper: str
    surface: str
    ink: str
    muted: str
    rule: str
    hues: tuple[str, ...]


_LIGHT = (
    ("#ffffff", "#f3f4f6", "#1f2937", "#4b5563", "#d1d5db"),
    ("#fafaf7", "#efece3", "#2b2a26", "#5d5a50", "#d6d1c4"),
    ("#f6f8fb", "#e6edf5", "#14213d", "#475569", "#c5d0de"),
    ("#fffaf0", "#fdebd0", "#3b2417", "#6b4f3a", "#e5cfae"),
    ("#f4fbf7", "#dff3e8", "#12372a", "#3f5f52", "#bcdccb"),
    ("#fdf6f9", "#f8e3ec", "#3a1730", "#6d4460", "#e6c3d4"),
    ("#ffffff", "#eeeeee", "#111111", "#555555", "#cccccc"),
    ("#fcfcff", "#e9e8fb", "#232046", "#55517a", "#cbc8ec"),
)
_DARK = (
    ("#0f172a", "#1e293b", "#f1f5f9", "#94a3b8", "#334155"),
    ("#18181b", "#27272a", "#fafafa", "#a1a1aa", "#3f3f46"),
    ("#1b2430", "#263445", "#eef2f6", "#9fb0c3", "#3b4d63"),
    ("#102a26", "#1c3c36", "#ecfdf5", "#99c4b8", "#2f574f"),
    ("#241a2e", "#352644", "#f7f0ff", "#b9a6cc", "#4c3a5e"),
)
_HUES = (
    ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f"),
    ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf"),
    ("#e76f51", "#2a9d8f", "#e9c46a", "#264653", "#f4a261", "#457b9d", "#a8577e", "#6a994e"),
    ("#ef476f", "#ffd166", "#06d6a0", "#118ab2", "#073b4c", "#8338ec", "#fb5607", "#3a86ff"),
    ("#606c38", "#bc6c25", "#283618", "#dda15e", "#9c6644", "#7f5539", "#588157", "#a44a3f"),
    ("#5b8def", "#f2647f", "#3ebd93", "#f7b955", "#8d6bd9", "#41b8d5", "#e8845a", "#7b8794"),
    ("#003f5c", "#58508d", "#bc5090", "#ff6361", "#ffa600", "#2f8f9d", "#6b9080", "#7a5195"),
    ("#d00000", "#ffba08", "#3f88c5", "#032b43", "#136f63", "#e36414", "#6a4c93", "#52796f"),
    ("#0077b6", "#00b4d8", "#90be6d", "#f9844a", "#f94144", "#577590", "#43aa8b", "#f8961e"),
    ("#6d597a", "#b56576", "#e56b6f", "#eaac8b", "#355070", "#84a59d", "#f28482", "#5f6f94"),
)
_PART_OF_MIX = 0.08


def sample_theme(draws: Draws, dark_chance: float = 0.25) -> dict[str, Any]:
    """A theme as JSON."""
    own = draws.child("theme")
    ground = own.pick(_DARK if own.chance(dark_chance) else _LIGHT)
    hues = tuple(seen(hue, ground[0], 2.1) for hue in own.shuffled(own.pick(_HUES)))
    return asdict(Theme(*ground, hues=hues))


def theme_of(params: Mapping[str, Any]) -> Theme:
    """The theme that a family's params hold under `theme`."""
    held = params["theme"]
    return Theme(held["paper"], held["surface"], held["ink"], held["muted"], held["rule"], tuple(held["hues"]))


def parts_of(colour: str) -> tuple[int, int, int]:
    """Red, green, blue of #rrggbb."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(one: str, two: str, share: float) -> str:
    """`share` of two in one."""
    pairs = zip(parts_of(one), parts_of(two), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2), 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (p / 255 for p in parts_of(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """Contrast of two colours (WCAG 2), 1 to 21."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, ground: str, at_least: float = 3.6) -> str:
    """The colour, darker or lighter until it stands out from its ground this much."""
    goal = "#000000" if luminance(ground) > 0.18 else "#ffffff"
    share = 0.0
    found = colour
    while contrast(found, ground) < at_least and share < 1:
        share += _PART_OF_MIX
        found = mix(colour, goal, min(share, 1))
    return found


def ink_on(ground: str, dark: str = "#1a1a1a", light: str = "#ffffff") -> str:
    """Whichever of two inks reads better on a ground."""
    return light if contrast(light, ground) >= contrast(dark, ground) else dark


def ramp(low: str, high: str, count: int) -> list[str]:
    """Colours from low to high."""
    return [mix(low, high, place / max(count - 1, 1)) for place in range(count)]
