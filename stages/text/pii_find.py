"""Finders of personal data in UTF-8 bytes: e-mail addresses, public IP addresses, phone numbers, IBANs, card numbers.

Each finder is a pattern of re2 that proposes and a check that decides; what a check leaves alone is named there. They
would rather miss than spoil: source code is full of things that look like addresses.
"""

import functools
import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Any

from gristmill.stages.text.pii_numbers import is_card, is_iban
from gristmill.stages.text.pii_spans import byte_pattern

MAX_LOCAL_BYTES = 64
"""RFC 5321, 4.5.3.1.1."""
MAX_DOMAIN_BYTES = 255
"""RFC 5321, 4.5.3.1.2."""

Bounds = tuple[int, int]
Check = Callable[[bytes, int, int], Bounds | None]

# A local part may hold Latin letters with diacritics (two bytes from C3 to C9), but no other script: Chinese and
# Japanese stand right beside an address, without a space.
_EMAIL = r"(?:[A-Za-z0-9._%+\-]|[\xc3-\xc9][\x80-\xbf])+@(?:[A-Za-z0-9\-\x80-\xff]+\.)+[A-Za-z]{2,}"
_IPV4 = r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}"
# Global unicast is 2000::/3 (RFC 4291): so `a::b` of C++ and `fe80::1` are never looked at.
_IPV6 = r"[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{3,}"
_PHONE = r"\+\(?[1-9][0-9 ().\-/]{6,24}[0-9]"
_NATIONAL = r"\(?[0-9]{2,5}\)?(?:[ .\-/] ?\(?[0-9]{2,5}\)?){1,4}"
_IBAN = r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"
_CARD = r"[0-9](?:[ \-]?[0-9]){12,18}"

PATTERNS = {
    "email": _EMAIL,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "phone": _PHONE,
    "national": _NATIONAL,
    "iban": _IBAN,
    "card": _CARD,
}
"""By what is found; `phone` has a country code, `national` none."""

HINTS = {
    "email": r"[A-Za-z0-9._%+\-\x80-\xbf]@[A-Za-z0-9\x80-\xff]",
    "ipv4": r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
    "ipv6": r"[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{3}",
    "phone": r"\+\(?[1-9][0-9 ().\-/]{7}",
    "iban": r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}",
    "national": r"[0-9]\)?[ .\-/] ?\(?[0-9]{2}",
    "card": r"[0-9](?:[ \-]?[0-9]){12}",
}
"""What must match somewhere in a text that has one."""

_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset(b"0123456789")

_RESERVED_DOMAIN = re.compile(rb"(?:^|\.)(?:example(?:\.(?:com|org|net|edu))?|invalid|test|localhost)$", re.IGNORECASE)
# `icon@2x.png` is a picture; the list holds no top-level domain that is in use for mail.
_FILE_NAME = re.compile(
    rb"\.(?:png|jpe?g|gif|svg|webp|css|s[ac]ss|less|js|mjs|jsx|tsx|json|html?|xml|ya?ml|ico|pdf|mp[34]|woff2?|ttf|php|"
    rb"py|rb|cpp|hpp|java|txt|exe|dll|zip|gz|service|socket|timer|target|mount)$",
    re.IGNORECASE,
)
_SERVICE_ACCOUNTS = (b"git", b"hg", b"svn")
_IN_URL = re.compile(rb"://[^\s/@\"'<>]*\Z")
_VERSION_WORD = re.compile(
    rb"(?:\b|_|[a-z])(?:v|ver|version|versions|release|build|rev|revision|section|sect|sec|chapter|clause|oid)"
    rb"[\"'\])]?\s{0,3}[:=.(\[#>]{0,2}\s{0,3}[\"'(]?\Z|\xc2\xa7\s{0,2}\Z|\b[vV]\Z",
    re.IGNORECASE,
)
_ADDRESS_WORD = re.compile(
    rb"\b(?:ip|ipv4|address|addr|host|dns|dns server|nameserver|resolver|gateway|ping)[\"'\])]?\s{0,3}"
    rb"(?:[:=@(\[]|is |to |at )?\s{0,3}[\"'(\[]?\Z",
    re.IGNORECASE,
)
_PUBLIC_RESOLVERS = (b"8.8.8.8", b"8.8.4.4")
"""Written often, as an address alone."""
_CONTEXT_BYTES = 80


def matches(kind: str, check: Check) -> Callable[[bytes], Iterator[Bounds]]:
    """A finder of bounds: each match of the pattern of `kind` that `check` accepts, perhaps narrowed."""
    pattern = compiled(kind)

    def find(text: bytes) -> Iterator[Bounds]:
        for match in pattern.finditer(text):
            bounds = check(text, *match.span())
            if bounds is not None:
                yield bounds

    return find


@functools.lru_cache(maxsize=16)
def compiled(kind: str) -> Any:
    """The pattern of a kind."""
    return byte_pattern(PATTERNS[kind])


def email_bounds(text: bytes, start: int, end: int) -> Bounds | None:
    """Leaves alone: reserved domains (RFC 2606), names of files, service accounts (`git@`), user parts of URLs,
    format strings, domains that are no host names or go on behind the match."""
    stripped = text[start:end].lstrip(b"._%+-")
    if b"%" in text[start : end - len(stripped)]:
        return None
    start = end - len(stripped)
    local, _, domain = text[start:end].partition(b"@")
    if not local or len(local) > MAX_LOCAL_BYTES or len(domain) > MAX_DOMAIN_BYTES:
        return None
    if any(not 0 < len(part) < 64 or part[0] == 45 or part[-1] == 45 for part in domain.split(b".")):
        return None
    top = domain.rpartition(b".")[2]
    if not (top.islower() or top.isupper()) or _goes_on(text, end):
        return None
    if _RESERVED_DOMAIN.search(domain) or _FILE_NAME.search(domain) or local in _SERVICE_ACCOUNTS:
        return None
    if local[-1] in b".%" or b"%" in local or _IN_URL.search(_before(text, start)):
        return None
    return start, end


def _goes_on(text: bytes, end: int) -> bool:
    """Whether what stands behind a name belongs to it: a letter, a digit, or a hyphen before one."""
    behind = text[end : end + 2]
    return bool(behind) and (behind[0] in _WORD or (behind[0] == 45 and len(behind) == 2 and behind[1] in _WORD))


def _before(text: bytes, start: int) -> bytes:
    return text[max(0, start - _CONTEXT_BYTES) : start]


def ipv4_bounds(text: bytes, start: int, end: int) -> Bounds | None:
    """Leaves alone what is not global (ipaddress), and what is a version or a section: part of a longer sequence,
    behind such a word, a folder of a path, n.0.0.0, or with one digit in the first two numbers or in three (sections,
    object identifiers such as 2.5.29.21; of all addresses one in 450 is such), unless a word such as `IP` or `host`
    stands before it, or it is a resolver that everybody knows."""
    octets = text[start:end].split(b".")
    if octets[1:] == [b"0"] * 3 or (_may_be_a_section(octets) and not _is_called_address(text, start, end)):
        return None
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (before[-1] in _WORD or before[-1] in b".-"):
        return None
    if behind and (behind[0] in _WORD or (behind[0] in b".-" and len(behind) == 2 and behind[1] in _WORD)):
        return None
    if before[-1:] == b"/" and before != b"//" and behind[:1] == b"/":
        return None
    if _VERSION_WORD.search(text[max(0, start - 24) : start]):
        return None
    return (start, end) if _is_global(text[start:end]) else None


def _may_be_a_section(octets: list[bytes]) -> bool:
    short = [len(octet) == 1 for octet in octets]
    return (short[0] and short[1]) or sum(short) >= 3


def _is_called_address(text: bytes, start: int, end: int) -> bool:
    before = text[max(0, start - 32) : start]
    return text[start:end] in _PUBLIC_RESOLVERS or _ADDRESS_WORD.search(before) is not None


def ipv6_bounds(text: bytes, start: int, end: int) -> Bounds | None:
    """Only global addresses of three groups or more, with nothing around them that belongs to a name."""
    while end > start and text[end - 1] == 58 and text[end - 2] != 58:
        end -= 1
    if start and (text[start - 1] in _WORD or text[start - 1] in b":."):
        return None
    if end < len(text) and (text[end] in _WORD or text[end] in b":."[:1]):
        return None
    if end - start > 39 or sum(1 for group in text[start:end].split(b":") if group) < 3:
        return None
    return (start, end) if _is_global(text[start:end]) else None


def _is_global(address: bytes) -> bool:
    try:
        return ipaddress.ip_address(address.decode("ascii")).is_global
    except ValueError:
        return False


def iban_bounds(text: bytes, start: int, end: int) -> Bounds | None:
    """A whole word whose length is its country's and whose check digits are right (ISO 13616)."""
    return (start, end) if _stands_alone(text, start, end) and is_iban(text[start:end]) else None


def card_bounds(text: bytes, start: int, end: int) -> Bounds | None:
    """A whole number of an issuer's length and prefix whose check digit is right (ISO/IEC 7812)."""
    return (start, end) if _stands_alone(text, start, end) and is_card(text[start:end]) else None


def _stands_alone(text: bytes, start: int, end: int) -> bool:
    before, behind = text[max(0, start - 1) : start], text[end : end + 2]
    if before and (before[0] in _WORD or before[0] in b".-+"):
        return False
    if behind[:1] and behind[0] in _WORD:
        return False
    return not (len(behind) == 2 and behind[0] in b".-" and behind[1] in _DIGITS)
