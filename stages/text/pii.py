"""Personal data replaced: e-mail addresses, public IP addresses, phone numbers; IBANs and card numbers on request.

Columns in: `text`, `meta`. Columns out: `text`, and in `meta` the places of a repository's files, which move. Cut:
`pii` (characters of what was found), `pii_replacement` (those written, negative). Measures: `emails`, `ips`,
`phones`, `ibans`, `cards`, counts of what was replaced. No drops.

`replace: mask` writes `<EMAIL>`, `<IP_ADDRESS>`, `<PHONE>`, `<IBAN>`, `<CARD>`. `replace: fake` writes something of
the same kind that nobody has: an address at example.com (RFC 2606), in a documentation network (RFC 5737, RFC 3849),
a number kept for fiction (555-01XX); IBANs and cards get wrong check digits. It is chosen by BLAKE3 of seed, kind and
the thing in its plain form, so that one address has one replacement wherever it stands, and none can be told from it
without trying addresses out. Running the stage twice changes nothing.

Unlike datatrove's formatter, which takes its replacements in turn, versions and sections (`v1.2.3.4`) stay, and so do
file names (`icon@2x.png`), `git@` and reserved addresses; see `pii_find` for what else is left alone.
"""

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import phonenumbers
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.errors import UsageError
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason
from gristmill.stages.text.pii_find import (
    HINTS,
    Bounds,
    card_bounds,
    compiled,
    email_bounds,
    iban_bounds,
    ipv4_bounds,
    ipv6_bounds,
    matches,
)
from gristmill.stages.text.pii_numbers import is_phone
from gristmill.stages.text.pii_spans import Finder, FinderSet, Span, rewrite_batch

Kind = Literal["email", "ip", "phone", "iban", "card"]

MASKS = {"email": b"<EMAIL>", "ip": b"<IP_ADDRESS>", "phone": b"<PHONE>", "iban": b"<IBAN>", "card": b"<CARD>"}
MEASURES = {"email": "emails", "ip": "ips", "phone": "phones", "iban": "ibans", "card": "cards"}

_DOCUMENTATION_NETS = (b"192.0.2.", b"198.51.100.", b"203.0.113.")
_CHECKS = {
    "email": [("email", email_bounds)],
    "ip": [("ipv4", ipv4_bounds), ("ipv6", ipv6_bounds)],
    "iban": [("iban", iban_bounds)],
    "card": [("card", card_bounds)],
}
# `+35236450.6` is also a number of Luxembourg, and most dates are numbers of Germany.
_NO_PHONE = re.compile(rb"\+?[0-9]+\.[0-9]+\Z|(?:19|20)?[0-9]{2}([-./])[0-9]{2}\1(?:19|20)?[0-9]{2}\b")
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 7, 15
"""ITU-T E.164: at most 15; fewer than 7 are service numbers."""


@dataclass(frozen=True)
class Pii:
    """Replace e-mail addresses, public IP addresses and phone numbers."""

    name: ClassVar[str] = "pii"
    version: ClassVar[int] = 2

    kinds: tuple[Kind, ...] = param(("email", "ip", "phone"), "what is replaced: email, ip, phone, iban, card")
    replace: Literal["mask", "fake"] = param("mask", "mask: a placeholder such as <EMAIL>; fake: one that nobody has")
    phone_regions: tuple[str, ...] = param((), "countries (ISO 3166, US) whose numbers count without a +code, too")
    seed: int = param(0, "chooses the fakes, together with what they replace")

    def __post_init__(self) -> None:
        for region in self.phone_regions:
            if region not in phonenumbers.SUPPORTED_REGIONS:
                remedy = "use a code of ISO 3166 in capitals, such as US"
                raise UsageError("unknown region", "stage pii.phone_regions", region, remedy)

    def reasons(self) -> tuple[Reason, ...]:
        """The two cuts."""
        return (
            Reason("pii", "drop", "characters of personal data taken out"),
            Reason("pii_replacement", "drop", "characters written for them (negative)"),
        )

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with replacements; counts by kind."""
        found = rewrite_batch(batch, _finders(self), self.kinds)
        measures = {MEASURES[kind]: found.counts[kind] for kind in self.kinds}
        return Mapped(found.batch, (), {"pii": found.cut, "pii_replacement": -found.written}, measures)


@functools.lru_cache(maxsize=16)
def _finders(stage: Pii) -> FinderSet:
    found: list[tuple[str, Finder]] = []
    for kind in dict.fromkeys(stage.kinds):
        found += [(hint, _spans(kind, find, stage)) for hint, find in _bounds(kind, stage.phone_regions)]
    return FinderSet(found)


def _bounds(kind: Kind, regions: tuple[str, ...]) -> list[tuple[str, Callable[[bytes], Iterator[Bounds]]]]:
    """Hints and finders of a kind, in order of precedence."""
    if kind == "phone":
        return [(HINTS["phone"], _phones(None)), *((HINTS["national"], _phones(region)) for region in regions)]
    return [(HINTS[name], matches(name, check)) for name, check in _CHECKS[kind]]


def _spans(kind: str, find: Callable[[bytes], Iterator[Bounds]], stage: Pii) -> Finder:
    def finder(text: bytes) -> Iterator[Span]:
        for start, end in find(text):
            new = MASKS[kind] if stage.replace == "mask" else fake(kind, text[start:end], stage.seed)
            yield Span(start, end, kind, new)

    return finder


def _phones(region: str | None) -> Callable[[bytes], Iterator[Bounds]]:
    """Numbers with a country code, or grouped ones of a region; narrowed at its gaps until one is valid."""
    pattern = compiled("phone" if region is None else "national")

    def find(text: bytes) -> Iterator[Bounds]:
        match = pattern.search(text)
        while match is not None:
            start, end = match.span()
            bounds = _phone_bounds(text, start, end, region)
            if bounds is not None:
                yield bounds
            # Several numbers in a row are one match, which is narrowed to the first.
            match = pattern.search(text, bounds[1] if bounds else end)

    return find


def _phone_bounds(text: bytes, start: int, end: int, region: str | None) -> Bounds | None:
    """Leaves alone what is part of a longer word, number or formula (`x+1234567`), decimals, dates."""
    if start and (text[start - 1 : start].isalnum() or text[start - 1] in b"_+)]}.-/=&"):
        return None
    behind = text[end : end + 1]
    if behind.isalnum() or behind in (b"_", b"*", b"=", b"^", b"%") or _NO_PHONE.match(text[start:end]):
        return None
    for _ in range(3):
        found = text[start:end]
        digits = sum(48 <= byte < 58 for byte in found)
        if digits < _MIN_PHONE_DIGITS:
            return None
        if digits <= _MAX_PHONE_DIGITS and found.count(b"(") == found.count(b")") and is_phone(found, region):
            return start, end
        gap = max(found.rfind(b" "), found.rfind(b"/"))
        if gap < 0:
            return None
        end = start + len(found[:gap].rstrip(b" ().-/"))
    return None


def fake(kind: str, found: bytes, seed: int) -> bytes:
    """A replacement of the same kind that nobody has, the same for the same thing (case and grouping aside)."""
    plain = found.lower() if kind in ("email", "ip") else bytes(byte for byte in found if chr(byte).isalnum())
    draw = blake3(b"%s\0%d\0%s" % (kind.encode(), seed, plain)).digest(8)
    number = int.from_bytes(draw, "big")
    if kind == "email":
        return b"user%s@example.com" % draw[:4].hex().encode()
    if kind == "ip" and b":" in found:
        return b"2001:db8::%x:%x" % (number >> 16 & 0xFFFF, number & 0xFFFF)
    if kind == "ip":
        return b"%s%d" % (_DOCUMENTATION_NETS[number % 3], 1 + number // 3 % 254)
    if kind == "phone":
        return b"+1 %d%02d 555 01%02d" % (2 + number % 8, number // 8 % 100, number // 800 % 100)
    if kind == "iban":
        return b"XX00%020d" % (number % 10**20)
    return b"0000 0000 0000 %04d" % (number % 10000)
