"""How a reader says that a record was lost: one `Loss` with what could be read of it."""

from typing import BinaryIO, Literal

from blake3 import blake3

from gristmill.manifests.schema import ID_BYTES
from gristmill.pipeline.sources.protocol import RAW_EXCERPT_BYTES, REASONS, Loss

_READ_BYTES = 1 << 20
NAN = float("nan")

Raw = bytes | bytearray | memoryview


class LostBytes:
    """The bytes of a record that is being passed over: their number, hash and first bytes, never all of them."""

    def __init__(self, first: Raw = b"") -> None:
        self.size = 0
        self.excerpt = b""
        self._hasher = blake3()
        self.add(first)

    def add(self, data: Raw) -> None:
        """More bytes of the record."""
        if len(self.excerpt) < RAW_EXCERPT_BYTES:
            self.excerpt += bytes(data[: RAW_EXCERPT_BYTES - len(self.excerpt)])
        self.size += len(data)
        self._hasher.update(data)

    def hash(self) -> bytes:
        """BLAKE3-128 of the bytes so far."""
        return self._hasher.digest(ID_BYTES)


def verdict_of(reason: str) -> Literal["drop", "quarantine"]:
    """The verdict that REASONS gives for a reason."""
    return "drop" if REASONS[reason].startswith("drop") else "quarantine"


def lose(
    reason: str,
    raw: Raw | LostBytes,
    offset: int,
    detail: str = "",
    value: float = NAN,
    limit: float = NAN,
    url: str | None = None,
) -> Loss:
    """The loss of the record whose bytes are `raw` and begin at `offset`."""
    lost = raw if isinstance(raw, LostBytes) else LostBytes(raw)
    return Loss(verdict_of(reason), reason, offset, lost.hash(), detail, value, limit, lost.excerpt, url)


def lose_rest(reason: str, stream: BinaryIO, detail: str, value: float = NAN, limit: float = NAN) -> Loss:
    """The loss of a whole file as one record, read from where `stream` stands in bounded memory."""
    lost = LostBytes()
    while data := stream.read(_READ_BYTES):
        lost.add(data)
    return lose(reason, lost, 0, detail, value, limit)
