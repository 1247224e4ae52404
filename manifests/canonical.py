"""Canonical JSON and digests: equal values give equal bytes, and so equal keys.

JSON here has sorted keys, no spaces, UTF-8; floats in Python's shortest form; NaN and infinities are refused.
A digest is "blake3:" and 64 hex digits; a key is 32 hex digits.
"""

import json
from collections.abc import Mapping
from typing import Any

from blake3 import blake3

DIGEST_PREFIX = "blake3:"
VOLATILE = "volatile"


def canonical_json(value: object) -> bytes:
    """Canonical JSON bytes of plain data; raises ValueError on NaN, TypeError on other types."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest_bytes(data: bytes | memoryview) -> str:
    """Digest of bytes."""
    return DIGEST_PREFIX + blake3(data).hexdigest()


def key_of(description: object) -> str:
    """The key of a piece of work: 128 bits of the digest of its canonical description."""
    return blake3(canonical_json(description)).hexdigest(16)


def document_digest(document: Mapping[str, Any]) -> str:
    """Digest of a JSON document without its `digest` and `volatile` parts."""
    return digest_bytes(canonical_json({k: v for k, v in document.items() if k not in ("digest", VOLATILE)}))


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its `digest` set, and one of its own in `volatile` where there is that part.

    So every byte is covered, while `digest` stays the same for the same work.
    """
    out = {**document, "digest": document_digest(document)}
    if VOLATILE in document:
        volatile = {k: v for k, v in document[VOLATILE].items() if k != "digest"}
        out[VOLATILE] = {**volatile, "digest": digest_bytes(canonical_json(volatile))}
    return out


def is_sealed(document: Mapping[str, Any]) -> bool:
    """Whether `digest` is there and right; that of `volatile` is the matter of `verify`."""
    return document.get("digest") == document_digest(document)
