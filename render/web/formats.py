"""Numbers, money, dates and times as each language writes them."""

from gristmill.render.web.bank import words

_SIGNS = {"en": "£", "pl": "zł", "ru": "₽", "tr": "₺", "he": "₪", "ja": "¥", "zh": "¥", "ko": "₩", "ar": "$"}
_POINT = frozenset({"en", "ja", "ko", "zh", "he", "ar"})
_WHOLE = {"ja": 100, "ko": 1000}


def number(lang: str, value: int) -> str:
    """A whole number with its thousands parted."""
    mark = "," if lang in _POINT else "\u00a0" if lang in ("fr", "pl", "ru") else "."
    return f"{value:,}".replace(",", mark)


def money(lang: str, cents: int) -> str:
    """An amount, given in hundredths; yen and won have none and are made larger."""
    sign, minus = _SIGNS.get(lang, "€"), "-" if cents < 0 else ""
    cents = abs(cents)
    if lang in _WHOLE:
        return f"{minus}{sign}{number(lang, cents * _WHOLE[lang] // 100)}"
    whole = number(lang, cents // 100)
    text = f"{whole}{'.' if lang in _POINT else ','}{cents % 100:02d}"
    return f"{minus}{sign}{text}" if lang in ("en", "zh", "he", "ar") else f"{minus}{text}\u00a0{sign}"


def date(lang: str, day: int, month: int, year: int | None = None) -> str:
    """A date; `month` is from 1 to 12."""
    if lang in ("ja", "zh"):
        return (f"{year}年" if year else "") + f"{month}月{day}日"
    if lang == "ko":
        return (f"{year}년 " if year else "") + f"{month}월 {day}일"
    name = words(lang).lists["months"][month - 1]
    stop = "." if lang == "de" else ""
    of = " de" if lang == "es" else ""
    return f"{day}{stop}{of} {name}" + (f"{of} {year}" if year else "")


def clock(minutes: int) -> str:
    """A time of day, given in minutes from midnight."""
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def initials(name: str) -> str:
    """One or two letters that stand for a person."""
    return "".join(piece[0] for piece in name.split()[:2]).upper()
