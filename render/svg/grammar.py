"""Grammars of attribute values, in linear time over hostile text. Each check raises Refused."""

import math
import re

import re2

from gristmill.render.svg.vocabulary import MAX_ABS_NUMBER, Refused

_NUM = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WSP = r"[ \t\r\n]*"
_SEP = r"(?:[ \t\r\n]+,?[ \t\r\n]*|,[ \t\r\n]*)?"
_UNIT = r"(?:px|pt|pc|mm|cm|in|em|ex|%)?"
_NAME = r"[A-Za-z_][\w.:-]*"


def _many(args: int) -> str:
    one = _SEP.join([_NUM] * args)
    return f"{_WSP}{one}(?:{_SEP}{one})*{_WSP}"


_ARC = _SEP.join([_NUM, _NUM, _NUM, "[01]", "[01]", _NUM, _NUM])
_PATH = re2.compile(
    f"{_WSP}(?:[Mm]{_many(2)}(?:[LlTt]{_many(2)}|[HhVv]{_many(1)}|[Cc]{_many(6)}|[SsQq]{_many(4)}"
    f"|[Aa]{_WSP}{_ARC}(?:{_SEP}{_ARC})*{_WSP}|[Zz]{_WSP})*)*"
)
_POINTS = re2.compile(f"(?:{_many(2)})?")
_LENGTHS = re2.compile(f"{_WSP}(?:{_NUM}{_UNIT}{_SEP})*{_WSP}")
_LENGTH = re2.compile(f"{_WSP}{_NUM}{_UNIT}{_WSP}")
_CALL = {"matrix": "6", "translate": "1,2", "scale": "1,2", "rotate": "1,3", "skewX": "1", "skewY": "1"}
_TRANSFORM = re2.compile(
    f"{_WSP}(?:(?:"
    + "|".join(
        f"{name}{_WSP}\\((?:{'|'.join(_many(int(n)) for n in counts.split(','))})\\)" for name, counts in _CALL.items()
    )
    + f"){_SEP})*"
)
_NUMBERS = re.compile(_NUM)
# Most values are one of these. re2 is safe over any text, and takes ten times as long over short ones.
_PLAIN = re.compile(r"-?[0-9]{1,5}(?:\.[0-9]{1,9})?", re.ASCII)
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")
_BYTE = r"[ ]*[0-9]{1,3}(?:\.[0-9]+)?%?[ ]*"
_COLOUR = re2.compile(
    f"none|inherit|currentColor|[a-zA-Z]+|#[0-9a-fA-F]{{3}}|#[0-9a-fA-F]{{6}}|rgb\\({_BYTE},{_BYTE},{_BYTE}\\)"
    f"|rgba\\({_BYTE},{_BYTE},{_BYTE},[ ]*[0-9.]+[ ]*\\)"
)
_URL = re.compile(rf"""url\(\s*["']?#({_NAME})["']?\s*\)\s*(.*)""", re.S)
_OPACITY = re2.compile(r"(?:0|1|0?\.[0-9]+|[01]\.[0-9]*)")
_FAMILY = re2.compile(r"[\w ,'\"-]{1,200}")
_CALLS = re.compile(r"(\w+)\s*\(([^)]*)\)")

NAME = re2.compile(_NAME)
WORDS = re2.compile(r"[\w .,:;#/()+-]{0,300}")
_NAMES = (
    "aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood "
    "cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson currentcolor cyan darkblue darkcyan "
    "darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred "
    "darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink "
    "deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold "
    "goldenrod gray green greenyellow grey honeydew hotpink indianred indigo inherit ivory khaki lavender "
    "lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen "
    "lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue "
    "lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple "
    "mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream "
    "mistyrose moccasin navajowhite navy none oldlace olive olivedrab orange orangered orchid palegoldenrod "
    "palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple red rosybrown "
    "royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey "
    "snow springgreen steelblue tan teal thistle tomato transparent turquoise violet wheat white whitesmoke yellow "
    "yellowgreen "
)
COLOUR_NAMES = frozenset(_NAMES.split())


def numbers(text: str) -> list[float]:
    """The numbers in a text. Raises Refused (bad_number) for one that is not finite or too large."""
    found = [float(word) for word in _NUMBERS.findall(text)]
    if any(not abs(value) <= MAX_ABS_NUMBER for value in found):
        raise Refused("bad_number", text)
    return found


def check_lengths(text: str) -> None:
    """A list of lengths, perhaps with units."""
    if _PLAIN.fullmatch(text):
        return
    if not _LENGTHS.fullmatch(text):
        raise Refused("bad_number", text)
    numbers(text)


def check_length(text: str) -> None:
    """One length."""
    if _PLAIN.fullmatch(text):
        return
    if not _LENGTH.fullmatch(text):
        raise Refused("bad_number", text)
    numbers(text)


def check_points(text: str) -> None:
    """Pairs of numbers."""
    if not _POINTS.fullmatch(text):
        raise Refused("bad_number", text)
    numbers(text)


def check_path(text: str) -> None:
    """Path data: the grammar of SVG 1.1, whole."""
    if text.strip() != "none" and not _PATH.fullmatch(text):
        raise Refused("bad_path", text)
    numbers(text)


def check_transform(text: str) -> None:
    """A list of transforms that can be undone."""
    if not _TRANSFORM.fullmatch(text):
        raise Refused("bad_value", text)
    numbers(text)


def check_colour(text: str) -> None:
    """A colour that both engines read alike, without url()."""
    if _HEX.fullmatch(text):
        return
    if not _COLOUR.fullmatch(text) or (text.isalpha() and text.lower() not in COLOUR_NAMES):
        raise Refused("bad_value", text)


def check_opacity(text: str) -> None:
    """A number in [0, 1]."""
    if not _OPACITY.fullmatch(text) or float(text) > 1:
        raise Refused("bad_value", text)


def check_family(text: str) -> None:
    """Names of fonts."""
    if not _FAMILY.fullmatch(text):
        raise Refused("bad_value", text)


def local_url(text: str) -> tuple[str, str] | None:
    """Id and fallback of `url(#id) fallback`; None where there is no url(). Raises Refused for another address."""
    if "url" not in text.lower():
        return None
    found = _URL.fullmatch(text)
    if found is None:
        raise Refused("outside_reference", text)
    return found.group(1), found.group(2).strip()


def magnification(text: str) -> float:
    """Upper bound of how much longer a transform makes a vector. Raises Refused where it cannot be undone."""
    total = 1.0
    for name, inside in _CALLS.findall(text):
        values = numbers(inside)
        if name == "scale":
            factors = [abs(value) for value in values]
            total *= max(factors)
            regular = min(factors) > 1e-9
        elif name == "matrix":
            a, b, c, d = values[:4]
            total *= math.hypot(a, b, c, d)
            regular = abs(a * d - b * c) > 1e-12
        elif name in ("skewX", "skewY"):
            slope = abs(math.tan(math.radians(values[0])))
            total *= 1 + slope
            regular = slope < 1e6
        else:
            regular = True
        if not regular:
            raise Refused("bad_value", text)
    return total
