"""Secrets in text replaced by placeholders: private keys, tokens of known issuers, passwords in URLs and assignments.

Columns in: `text`. Columns out: `text`. Cut: `secret` (characters of what was found), `secret_placeholder` (those
written, negative). Drop, off by default: `too_many_secrets`. Measures: `secrets`, and `secret_KIND` for each kind of
`secrets_patterns` (`secret_aws_key`, `secret_jwt`, ...), counts of what was replaced.

A secret of kind `aws_key` becomes `<SECRET_AWS_KEY>`; what stands around it (name, quotes, user and host of a URL)
stays, so that code still parses. A private key goes with its BEGIN and END lines. Placeholders, hashes, UUIDs, paths
and identifiers are left alone, and private keys without a body: the words `BEGIN PRIVATE KEY` are part of many
programs. Running the stage twice changes nothing.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.params import param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict
from gristmill.stages.text.pii_spans import Finder, FinderSet, Span, byte_pattern, rewrite_batch
from gristmill.stages.text.secrets_patterns import PATTERNS, SecretPattern, entropy_bits, kinds

MAX_KEY_BYTES = 32 << 10
"""Of a private key with its lines; an RSA key of 16,384 bits has 12,500."""
MIN_KEY_CHARS = 64
MIN_KEY_ENTROPY_BITS = 4.0

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
_END = re.compile(rb"-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_BEGIN_AGAIN = b"-----BEGIN "
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{16,}")
# A key that is cut off goes as far as its lines do, in quotes and with escaped line ends, too.
_OPEN_BODY = re.compile(
    rb"(?:\s|\\[nr]|[\"'+,.#*;]|[A-Za-z0-9+/=]{24,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]*)*"
)


@dataclass(frozen=True)
class Secrets:
    """Replace private keys, tokens and passwords by typed placeholders."""

    name: ClassVar[str] = "secrets"
    version: ClassVar[int] = 1

    max_secrets: int | None = param(None, "drop a text in which more were found; null keeps all, with placeholders")
    skip: tuple[str, ...] = param((), "kinds that are left alone, such as password")

    def __post_init__(self) -> None:
        for kind in self.skip:
            if kind not in kinds():
                raise UsageError("unknown kind", "stage secrets.skip", kind, f"it knows {', '.join(kinds())}")
        if self.max_secrets is not None and self.max_secrets < 0:
            raise UsageError("must not be negative", "stage secrets.max_secrets", self.max_secrets)

    def reasons(self) -> tuple[Reason, ...]:
        """The two cuts, the drop."""
        return (
            Reason("secret", "drop", "characters of secrets taken out"),
            Reason("secret_placeholder", "drop", "characters written for them (negative)"),
            Reason("too_many_secrets", "drop", "more than max_secrets were found"),
        )

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with placeholders; counts by kind; drops above `max_secrets`."""
        wanted = tuple(kind for kind in kinds() if kind not in self.skip)
        found = rewrite_batch(batch, _finders(wanted), wanted)
        total = np.sum([found.counts[kind] for kind in wanted], axis=0) if wanted else np.zeros(batch.num_rows)
        measures = {"secrets": total, **{f"secret_{kind}": found.counts[kind] for kind in wanted}}
        cuts = {"secret": found.cut, "secret_placeholder": -found.written}
        limit = self.max_secrets
        if limit is None:
            return Mapped(found.batch, (), cuts, measures)
        many = np.flatnonzero(total > limit).tolist()
        drops = [RowVerdict(row, "drop", "too_many_secrets", "secrets", float(total[row]), limit) for row in many]
        return Mapped(found.batch, tuple(drops), cuts, measures)


def placeholder(kind: str) -> bytes:
    """What is written for a secret of this kind."""
    return b"<SECRET_%s>" % kind.upper().encode("ascii")


@functools.lru_cache(maxsize=16)
def _finders(wanted: tuple[str, ...]) -> FinderSet:
    hinted = [("PRIVATE KEY", _private_keys)] if "private_key" in wanted else []
    return FinderSet([*hinted, *((p.hint, _finder(p)) for p in PATTERNS if p.kind in wanted)])


def _finder(secret: SecretPattern) -> Finder:
    pattern, new = byte_pattern(secret.pattern), placeholder(secret.kind)

    def find(text: bytes) -> Iterator[Span]:
        match = pattern.search(text)
        while match is not None:
            start, end = match.span(secret.group)
            if secret.check(text[start:end]):
                yield Span(start, end, secret.kind, new)
            # From the value's end, not the match's: the character behind may stand before the next one.
            match = pattern.search(text, end)

    return find


@functools.lru_cache(maxsize=1)
def _begin() -> Any:
    return byte_pattern(_BEGIN)


def _private_keys(text: bytes) -> Iterator[Span]:
    behind = 0
    for match in _begin().finditer(text):
        start, body = match.span()
        if start < behind:
            continue
        end = _key_end(text, body)
        if end is not None:
            yield Span(start, end, "private_key", placeholder("private_key"))
            behind = end


def _key_end(text: bytes, body: int) -> int | None:
    """Where the key ends whose body begins at `body`; None when that is none."""
    window = text[body : body + MAX_KEY_BYTES]
    again = window.find(_BEGIN_AGAIN)
    if again >= 0:
        window = window[:again]
    closing = _END.search(window)
    inner = window[: closing.start()] if closing else window[: _open_end(window)]
    key = b"".join(_BASE64.findall(inner))
    if len(key) < MIN_KEY_CHARS or entropy_bits(key) < MIN_KEY_ENTROPY_BITS:
        return None
    return body + (closing.end() if closing else len(inner.rstrip()))


def _open_end(window: bytes) -> int:
    found = _OPEN_BODY.match(window)
    return found.end() if found else 0
