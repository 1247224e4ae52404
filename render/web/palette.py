"""Colours of a page, light or dark, with text that can be read.

A palette maps names to `#rrggbb`. Each text colour keeps `MIN_CONTRAST` (WCAG 2 contrast ratio) to each ground that
`GROUNDS` lists for it; colours `c1` to `c6` are for shapes, never for text.
"""

import colorsys

from gristmill.render.draws import Draws

MIN_CONTRAST = 4.6
_STEPS = 60

GROUNDS = {
    "text": ("bg", "surface", "raised", "soft"),
    "muted": ("bg", "surface", "raised", "soft"),
    "accent_text": ("bg", "surface", "raised", "soft"),
    "ok": ("bg", "surface", "raised"),
    "warn": ("bg", "surface", "raised"),
    "bad": ("bg", "surface", "raised"),
    "on_accent": ("accent",),
    "on_ok": ("ok_soft",),
    "on_warn": ("warn_soft",),
    "on_bad": ("bad_soft",),
    "on_ink": ("ink",),
    "on_photo": ("photo",),
}
_HUES = {"ok": 0.38, "warn": 0.09, "bad": 0.99}


def channels(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of `#rrggbb`, in [0, 1]."""
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def hls(hue: float, light: float, saturation: float) -> str:
    """`#rrggbb` of hue, lightness and saturation, each in [0, 1]."""
    rgb = colorsys.hls_to_rgb(hue % 1, min(max(light, 0), 1), min(max(saturation, 0), 1))
    return "#" + "".join(f"{round(c * 255):02x}" for c in rgb)


def readable(hue: float, light: float, saturation: float, grounds: list[str]) -> str:
    """The colour nearest in lightness that can be read on all grounds, which must be of one kind, dark or light."""
    up = max(luminance(ground) for ground in grounds) < 0.18
    for step in range(_STEPS + 1):
        moved = light + (1 - light) * step / _STEPS if up else light * (1 - step / _STEPS)
        colour = hls(hue, moved, saturation)
        if min(contrast(colour, ground) for ground in grounds) >= MIN_CONTRAST:
            return colour
    return "#ffffff" if up else "#000000"


def palette(draws: Draws, dark: bool) -> dict[str, str]:
    """A palette of one hue for the accent and one, often another, for the greys."""
    hue, grey = draws.frac(), draws.frac()
    tint = draws.weighted((0.0, 0.12, 0.35, 0.6), (3, 4, 3, 1))
    strong = draws.real(0.5, 0.95)
    colours = _dark(draws, grey, tint) if dark else _light(draws, grey, tint)
    colours["soft"] = hls(hue, 0.2 if dark else draws.real(0.91, 0.95), 0.35 if dark else 0.6)
    colours["accent"] = hls(hue, draws.real(0.32, 0.46), strong)
    white = contrast("#ffffff", colours["accent"]) >= MIN_CONTRAST
    colours["on_accent"] = "#ffffff" if white else readable(hue, 0.08, 0.4, [colours["accent"]])
    if contrast(colours["on_accent"], colours["accent"]) < MIN_CONTRAST:
        colours["accent"] = readable(hue, 0.4, strong, ["#ffffff"])
        colours["on_accent"] = "#ffffff"
    colours["ink"] = hls(grey, draws.real(0.1, 0.17), min(tint + 0.1, 0.5))
    colours["on_ink"] = hls(grey, 0.94, 0.2)
    colours["photo"], colours["on_photo"] = hls(grey, 0.12, 0.2), "#ffffff"
    for name, its_hue in _HUES.items():
        colours[f"{name}_soft"] = hls(its_hue, 0.17 if dark else 0.92, 0.5 if dark else 0.7)
        colours[f"on_{name}"] = readable(its_hue, 0.7 if dark else 0.3, 0.6, [colours[f"{name}_soft"]])
    _texts(colours, hue, grey, dark)
    for place in range(6):
        turned = hue + draws.pick((0.0, 0.08, 0.13)) * place if place < 3 else hue + 0.5 + 0.11 * place
        colours[f"c{place + 1}"] = hls(turned, draws.real(0.5, 0.68) if dark else draws.real(0.42, 0.62), strong * 0.8)
    return dict(sorted(colours.items()))


def _light(draws: Draws, grey: float, tint: float) -> dict[str, str]:
    bg = draws.weighted((1.0, 0.975, 0.955), (3, 4, 3))
    return {
        "bg": hls(grey, bg, tint),
        "surface": "#ffffff" if draws.chance(0.8) else hls(grey, 0.985, tint),
        "raised": hls(grey, draws.real(0.935, 0.965), tint),
        "line": hls(grey, draws.real(0.82, 0.9), tint * 0.6),
    }


def _dark(draws: Draws, grey: float, tint: float) -> dict[str, str]:
    bg = draws.real(0.04, 0.1)
    return {
        "bg": hls(grey, bg, tint * 0.7),
        "surface": hls(grey, bg + 0.05, tint * 0.6),
        "raised": hls(grey, bg + 0.1, tint * 0.5),
        "line": hls(grey, bg + 0.18, tint * 0.4),
    }


def _texts(colours: dict[str, str], hue: float, grey: float, dark: bool) -> None:
    starts = {
        "text": (grey, 0.92 if dark else 0.12, 0.15),
        "muted": (grey, 0.62 if dark else 0.45, 0.1),
        "accent_text": (hue, 0.65 if dark else 0.4, 0.75),
        **{name: (its_hue, 0.6 if dark else 0.35, 0.65) for name, its_hue in _HUES.items()},
    }
    for name, (its_hue, light, saturation) in starts.items():
        colours[name] = readable(its_hue, light, saturation, [colours[ground] for ground in GROUNDS[name]])
