"""The tokenizer's side of a killable child (`manifests.child`): groups of documents in, their ids out.

`init` is JSON of `EngineSpec`. A request of `group` is `<q` number of documents n, `<q` offsets [n + 1] into the UTF-8
that follows; the answer `<q` number of ids of each, then all ids as little-endian uint32. A request of `single`
is the UTF-8 of one document and the answer its ids, without a copy of either.

gigatoken keeps every distinct word that it has met: the engine is built anew when the process has grown by
RECYCLE_BYTES since it was built, which changes no id.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import InputError
from gristmill.manifests.token_engines import (
    Engine,
    EngineName,
    Ids,
    fault_of_oracle,
    load_engine,
    misread_by_gigatoken,
    oracle_name,
    unicode_17_pattern,
)
from gristmill.manifests.vocabulary import read_vocabulary

RECYCLE_BYTES = 256 << 20
RECYCLE_CHECK_BYTES = 4 << 20
MAX_ORACLE_BYTES = 8 << 20
"""A longer document goes to the fast engine whatever it holds: an oracle needs some 100 bytes of memory a token."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class EngineSpec:
    """All that a process needs to build the engine that another one chose."""

    engine: EngineName
    path: str | None
    digest: str

    def to_bytes(self) -> bytes:
        """As `init` of a child."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(init: bytes) -> "EngineSpec":
        """Inverse of `to_bytes`."""
        return EngineSpec(**json.loads(init))


class Encoder:
    """The engine of a spec, kept small. Raises InputError when the vocabulary's file has changed meanwhile."""

    def __init__(self, spec: EngineSpec) -> None:
        self.vocabulary = read_vocabulary(None if spec.path is None else Path(spec.path))
        if self.vocabulary.digest != spec.digest:
            raise InputError(
                "vocabulary changed while it was in use", str(spec.path), remedy="run again with a file that stays"
            )
        self._name: EngineName = spec.engine
        self._oracle: Engine | None = None
        self._unicode_17 = unicode_17_pattern()
        self._build()

    def encode(self, documents: Sequence[bytes]) -> list[Ids]:
        """Ids of each document, given as UTF-8."""
        self._recycle(sum(map(len, documents)))
        for_oracle = self._for_oracle(documents)
        if not for_oracle:
            return [self.engine.encode(utf8) for utf8 in documents]
        oracle = self._load_oracle()
        return [(oracle if i in for_oracle else self.engine).encode(utf8) for i, utf8 in enumerate(documents)]

    def decode(self, ids: Ids) -> str:
        """Text of ids, special tokens as their text; U+FFFD for bytes that are no UTF-8."""
        v = self.vocabulary
        names = {v.eos_id: "<eos>", v.pad_id: "<pad>"} | {i: text for text, i in v.specials.items()}
        special = np.isin(ids, np.fromiter(names, np.uint32, len(names)))
        runs = np.split(ids, np.flatnonzero(special[1:] | special[:-1]) + 1)
        parts = [
            names[int(run[0])].encode("utf-8", "replace")
            if len(run) and int(run[0]) in names
            else self.engine.decode(run)
            for run in runs
        ]
        return b"".join(parts).decode("utf-8", "replace")

    def _for_oracle(self, documents: Sequence[bytes]) -> set[int]:
        """Documents with a character of UNICODE_17; ASCII, the commonest case, is ruled out by a fast scan."""
        if self._name != "gigatoken":
            return set()
        asked = [i for i, d in enumerate(documents) if not d.isascii() and len(d) <= MAX_ORACLE_BYTES]
        if not asked:
            return set()
        texts = pa.array([documents[i] for i in asked], pa.large_binary()).view(pa.large_string())
        found = pc.match_substring_regex(texts, self._unicode_17).to_numpy(zero_copy_only=False)
        return {i for i, yes in zip(asked, found.tolist(), strict=True) if yes}

    def _load_oracle(self) -> Engine:
        if self._oracle is None:
            self._oracle = load_engine(oracle_name(self.vocabulary), self.vocabulary)
        return self._oracle

    def _build(self) -> None:
        self.engine = load_engine(self._name, self.vocabulary)
        self._unchecked_bytes = 0
        self._built_rss_bytes = _rss_bytes()

    def _recycle(self, next_bytes: int) -> None:
        self._unchecked_bytes += next_bytes
        if self._unchecked_bytes < RECYCLE_CHECK_BYTES:
            return
        self._unchecked_bytes = 0
        if _rss_bytes() - self._built_rss_bytes > RECYCLE_BYTES:
            del self.engine
            self._build()


def trial(init: bytes) -> Callable[[bytes], bytes]:
    """Factory of the child that tries engines on a vocabulary: libraries may abort on a file that is new to them.

    `init` is JSON of the path. The request `oracle` is answered with `fault_of_oracle`, the request `gigatoken` with
    `misread_by_gigatoken`, both UTF-8.
    """
    path = json.loads(init)
    vocabulary = read_vocabulary(None if path is None else Path(path))
    questions = {b"oracle": fault_of_oracle, b"gigatoken": misread_by_gigatoken}
    return lambda request: questions[request](vocabulary).encode("utf-8", "replace")


def pack_group(data: memoryview, offsets: np.ndarray) -> bytes:
    """A request of `group`: documents i at data[offsets[i] : offsets[i + 1]], offsets int64[n + 1]."""
    head = np.concatenate(([len(offsets) - 1], offsets - offsets[0])).astype("<i8")
    return b"".join((head.tobytes(), data[int(offsets[0]) : int(offsets[-1])]))


def unpack_group(answer: bytes, documents: int) -> tuple[np.ndarray, Ids]:
    """Counts (int64[documents]) and all ids of an answer of `group`."""
    counts = np.frombuffer(answer, dtype="<i8", count=documents)
    return counts, np.frombuffer(answer, dtype="<u4", offset=counts.nbytes)


def group(init: bytes) -> Callable[[bytes], bytes]:
    """Factory of the child that works on groups of documents."""
    encoder = Encoder(EngineSpec.from_bytes(init))

    def function(request: bytes) -> bytes:
        (documents,) = np.frombuffer(request, dtype="<i8", count=1).tolist()
        offsets = np.frombuffer(request, dtype="<i8", count=documents + 1, offset=8)
        bounds = (offsets + 8 + offsets.nbytes).tolist()
        ids = encoder.encode([request[bounds[i] : bounds[i + 1]] for i in range(documents)])
        counts = np.array([len(x) for x in ids], dtype="<i8")
        return b"".join((counts.data, *(x.data for x in ids)))

    return function


def single(init: bytes) -> Callable[[bytes], bytes]:
    """Factory of the child that works on one document of any length."""
    encoder = Encoder(EngineSpec.from_bytes(init))
    # A view serves wherever the child's loop wants bytes, and spares a copy of what may be gigabytes.
    return lambda request: cast(bytes, encoder.encode([request])[0].data.cast("B"))


def _rss_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * _PAGE_BYTES
