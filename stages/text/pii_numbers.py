"""Numbers with an inner check: phone numbers (phonenumbers, a port of libphonenumber), IBANs, card numbers.

All take ASCII bytes as a pattern proposed them and say whether they are such a number.
"""

import functools
import re

import phonenumbers

IBAN_CHARS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21,
    "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18,
    "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23,
    "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27,
    "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29,
    "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26,
    "UA": 29, "VG": 24, "XK": 20,
}  # fmt: skip
"""Length of an IBAN by country (SWIFT IBAN registry, release 97)."""

_CARDS = (
    (re.compile(rb"4"), (16,)),  # Visa; those of 13 digits are no longer issued
    (re.compile(rb"5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)"), (16,)),  # Mastercard
    (re.compile(rb"3[47]"), (15,)),  # American Express
    (re.compile(rb"6(?:011|4[4-9]|5)"), (16,)),  # Discover
    (re.compile(rb"35(?:2[89]|[3-8])"), (16,)),  # JCB
    (re.compile(rb"3(?:0[0-5]|[68])"), (14,)),  # Diners Club
    (re.compile(rb"62"), (16, 19)),  # UnionPay
)
_CARD_GROUPS = re.compile(
    rb"[0-9]+|[0-9]{4}(?P<gap>[ -])[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{4}(?:(?P=gap)[0-9]{3})?"
    rb"|[0-9]{4}(?P<wide>[ -])[0-9]{6}(?P=wide)[0-9]{4,5}"
)
_NOT_DIGITS = re.compile(rb"[^0-9]")


def is_iban(found: bytes) -> bool:
    """Length of its country, and 1 modulo 97 (ISO 7064)."""
    text = found.replace(b" ", b"").decode("ascii")
    if len(text) != IBAN_CHARS.get(text[:2], 0):
        return False
    return int("".join(str(int(char, 36)) for char in text[4:] + text[:4])) % 97 == 1


def is_card(found: bytes) -> bool:
    """Grouped as on a card or not at all, an issuer's prefix and length, Luhn's digit; more than one digit used."""
    digits = _NOT_DIGITS.sub(b"", found)
    if not _CARD_GROUPS.fullmatch(found) or len(set(digits)) < 3:
        return False
    return luhn(digits) and any(len(digits) in sizes and prefix.match(digits) for prefix, sizes in _CARDS)


def luhn(digits: bytes) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, byte in enumerate(reversed(digits)):
        value = byte - 48
        total += value if place % 2 == 0 else value * 2 - 9 * (value > 4)
    return total % 10 == 0


@functools.lru_cache(maxsize=1 << 14)  # 0.1 ms a call, and pages repeat their numbers
def is_phone(found: bytes, region: str | None) -> bool:
    """A valid number of its country, or of `region` where it has no country code; not one kept free for fiction
    (North America's 555-0100 to 555-0199)."""
    try:
        number = phonenumbers.parse(found.decode("ascii"), region)
    except phonenumbers.NumberParseException:
        return False
    if region is None:
        valid = phonenumbers.is_valid_number(number)
    else:
        valid = phonenumbers.is_valid_number_for_region(number, region)
    return valid and not is_fictional(number.country_code or 0, number.national_number or 0)


def is_fictional(country_code: int, national_number: int) -> bool:
    """Whether a number is one of those that nobody has (NANPA: NXX-555-01XX)."""
    return country_code == 1 and national_number // 100 % 100000 == 55501
