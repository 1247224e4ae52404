"""Text to ids and back: one adapter for every vocabulary, whichever engine serves it.

Special tokens inside text are text: no id of an end-of-sequence or other special token ever comes out of
`encode_batch`, which adds none either. Ids depend on the document and the vocabulary alone, not on its batch.

Engines are native code fed with hostile input, so they run in a killable child (`manifests.child`), many
documents to a request. A request that fails is tried again one document at a time, each with the time and
memory of its own; a document that fails then is a failure of that row. Documents above BIG_DOC_BYTES get a
child of their own with limits in proportion to their length.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.child import ChildFailure, ChildLimits, KillableChild, Payload
from gristmill.manifests.effects import patient, settled
from gristmill.manifests.errors import InputError
from gristmill.manifests.token_bytes import ByteLengths, byte_lengths
from gristmill.manifests.token_child import (
    Encoder,
    EngineSpec,
    group,
    pack_group,
    single,
    trial,
    unpack_group,
)
from gristmill.manifests.token_engines import EngineName, Ids, engine_version, oracle_name
from gristmill.manifests.trainer_schema import TokenizerIdentity
from gristmill.manifests.vocabulary import DEFAULT_NAME, Vocabulary, find_vocabulary, read_vocabulary

RULES_VERSION = 1
"""Raised when the same vocabulary and engine give other ids than before."""

GROUP_BYTES = 1 << 20
GROUP_DOCS = 1024
BIG_DOC_BYTES = 16 << 20
GROUP_LIMITS = ChildLimits(max_seconds_per_record=120.0, max_rss_bytes=2 << 30)
BIG_SECONDS_PER_BYTE = 8 / (1 << 20)
"""Eight times what gigatoken took for 16 MiB of random letters without a space, its worst case (1 s a MiB)."""
BIG_MEMORY_PER_BYTE = 12
"""A document, its ids at worst one a byte, and the engine's own copy."""

FAILED = "tokenizer_failed"
"""The reason (quarantine) of a document that no engine could encode within its limits."""


class EncodeFailure(NamedTuple):
    """Document `row` has no ids: kind as of ChildFailure."""

    row: int
    kind: str
    detail: str


class Encoded(NamedTuple):
    """Ids of n documents: document i has ids[offsets[i] : offsets[i + 1]], none where it failed."""

    ids: Ids
    offsets: npt.NDArray[np.int64]
    failures: list[EncodeFailure]


Ints = npt.NDArray[np.int64]
_UNREAD = object()
_Run = tuple[int, int]
_Coded = tuple[Ints, Ids]
"""Number of ids of each document of a run, and all its ids."""


class Tokenizer:
    """A vocabulary with the engine chosen for it. Costs nothing before it is used.

    `note` says why the engine is not the fast one and what was assumed of the file, "" when there is nothing to
    say. `isolated=False` runs the engine in this process, where a hang or crash is not survived: for benches.
    `limits` are those of a request, which is a group of documents or one that failed in its group.
    """

    def __init__(
        self,
        identity: TokenizerIdentity,
        spec: EngineSpec,
        note: str = "",
        isolated: bool = True,
        limits: ChildLimits = GROUP_LIMITS,
    ) -> None:
        self.identity = identity
        self.spec = spec
        self.note = note
        self.isolated = isolated
        self.limits = limits
        self._child: KillableChild | None = None
        self._patience = 1
        self._function: Callable[[bytes], bytes] | None = None
        self._decoder: Encoder | None = None
        self._byte_lengths: object = _UNREAD

    def to_data(self) -> dict[str, Any]:
        """Plain data for another process (`from_data`). Holds a path: keys take `identity.fingerprint`."""
        return {"identity": asdict(self.identity), "spec": asdict(self.spec), "note": self.note}

    @staticmethod
    def from_data(data: Mapping[str, Any], isolated: bool = True) -> "Tokenizer":
        """The tokenizer that another process has loaded, without comparing engines again."""
        identity, spec = TokenizerIdentity(**data["identity"]), EngineSpec(**data["spec"])
        return Tokenizer(identity, spec, data["note"], isolated)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def child_pid(self) -> int | None:
        """Process id of the running child, None while there is none."""
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """End the child; a later call starts another."""
        if self._child is not None:
            self._child.close()
        self._child = self._function = self._decoder = None

    def encode_batch(self, texts: pa.LargeStringArray) -> Encoded:
        """Ids of each document; a null is an empty one."""
        data, offsets = _utf8(texts)
        counts = np.zeros(len(texts), dtype=np.int64)
        parts: list[Ids] = []
        failures: list[EncodeFailure] = []
        for (first, stop), coded in self._coded(data, offsets):
            if isinstance(coded, ChildFailure):
                failures.append(EncodeFailure(first, coded.kind, coded.detail))
            else:
                counts[first:stop] = coded[0]
                parts.append(coded[1])
        bounds = np.concatenate(([0], np.cumsum(counts)))
        ids = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint32), *parts])
        return Encoded(ids, bounds, failures)

    def byte_lengths(self) -> ByteLengths | None:
        """Bytes of text that each id stands for (`manifests.token_bytes`); None where ids do not spell bytes."""
        if self._byte_lengths is _UNREAD:
            path = self.spec.path
            self._byte_lengths = byte_lengths(None if path is None else Path(path), self.identity.vocab_size)
        return cast("ByteLengths | None", self._byte_lengths)

    def decode(self, ids: Ids) -> str:
        """Text of ids, special tokens as their text; U+FFFD for bytes that are no UTF-8."""
        if self._decoder is None:
            self._decoder = Encoder(self.spec)
        return self._decoder.decode(ids)

    def _coded(self, data: memoryview, offsets: Ints) -> Iterator[tuple[_Run, _Coded | ChildFailure]]:
        """What became of runs of documents, in order; a failure is that of a run of one."""
        runs = list(_runs(offsets))
        small = [run for run in runs if not _is_big(run, offsets)]
        answers = dict(zip(small, self._call(data, offsets, small), strict=True))
        for run in runs:
            first, stop = run
            coded = answers[run] if run in answers else self._call_big(data[offsets[first] : offsets[stop]])
            if isinstance(coded, ChildFailure) and stop - first > 1:
                alone = [(i, i + 1) for i in range(first, stop)]
                yield from zip(alone, self._call(data, offsets, alone), strict=True)
            else:
                yield run, coded

    def _call(self, data: memoryview, offsets: Ints, runs: list[_Run]) -> list[_Coded | ChildFailure]:
        """One request a run."""
        if not runs:
            return []
        requests = [pack_group(data, offsets[first : stop + 1]) for first, stop in runs]
        answers = self._call_child(requests) if self.isolated else [self._call_here(r) for r in requests]
        return [
            a if isinstance(a, ChildFailure) else unpack_group(a, stop - first)
            for a, (first, stop) in zip(answers, runs, strict=True)
        ]

    def _call_child(self, requests: list[bytes]) -> list[bytes | ChildFailure]:
        return settled(f"{self.identity.fingerprint} group", requests, self._ask)

    def _ask(self, requests: Sequence[Payload], patience: int) -> list[bytes | ChildFailure]:
        if self._child is None or self._patience != patience:
            self.close()
            self._patience = patience
            limits = patient(self.limits, patience)
            self._child = KillableChild(_target(group), self.spec.to_bytes(), limits, _CHILD_ENV)
        return self._child.call_many(requests)

    def _call_here(self, request: bytes) -> bytes | ChildFailure:
        if self._function is None:
            self._function = group(self.spec.to_bytes())
        try:
            return self._function(request)
        except Exception as error:
            return ChildFailure("error", f"{type(error).__name__}: {error}")

    def _call_big(self, utf8: memoryview) -> _Coded | ChildFailure:
        """One document above BIG_DOC_BYTES, in a child made for it."""
        limits = ChildLimits(
            max_seconds_per_record=self.limits.max_seconds_per_record + BIG_SECONDS_PER_BYTE * len(utf8),
            max_rss_bytes=self.limits.max_rss_bytes + BIG_MEMORY_PER_BYTE * len(utf8),
            max_output_bytes=4 * len(utf8),
        )
        if not self.isolated:
            answer = self._call_here(pack_group(utf8, np.array([0, len(utf8)], dtype=np.int64)))
            return answer if isinstance(answer, ChildFailure) else unpack_group(answer, 1)

        def ask(payloads: Sequence[Payload], patience: int) -> list[bytes | ChildFailure]:
            longer = patient(limits, patience)
            with KillableChild(_target(single), self.spec.to_bytes(), longer, _CHILD_ENV) as child:
                return child.call_many(payloads)

        (answer,) = settled(f"{self.identity.fingerprint} single", [utf8], ask)
        if isinstance(answer, ChildFailure):
            return answer
        ids = np.frombuffer(answer, dtype="<u4")
        return np.array([len(ids)], dtype=np.int64), ids


# An oracle would start a thread for each core; a worker has one.
_CHILD_ENV = {"TOKENIZERS_PARALLELISM": "false"}


def load_tokenizer(spec: str = DEFAULT_NAME, base_dir: Path | None = None, isolated: bool = True) -> Tokenizer:
    """The tokenizer that a recipe names: `deepseek`, `bytes`, `qwen`, or a file relative to `base_dir`.

    Compares the fast engine with the oracle, in a child, which takes a second or two. Raises UsageError when there
    is no such tokenizer, InputError when its file is of no use.
    """
    name, path = find_vocabulary(spec, base_dir)
    vocabulary = read_vocabulary(path)
    engine, why = _choose_engine(vocabulary)
    identity = TokenizerIdentity(
        name=name,
        digest=vocabulary.digest,
        fingerprint=_fingerprint(vocabulary, engine),
        vocab_size=vocabulary.vocab_size,
        eos_id=vocabulary.eos_id,
        pad_id=vocabulary.pad_id,
    )
    engine_spec = EngineSpec(engine, None if path is None else str(path.resolve()), vocabulary.digest)
    return Tokenizer(identity, engine_spec, "; ".join(n for n in (vocabulary.note, why) if n), isolated)


def _choose_engine(vocabulary: Vocabulary) -> tuple[EngineName, str]:
    """gigatoken where it serves a vocabulary as its oracle does, else the oracle and why ("" for `bytes`)."""
    oracle = oracle_name(vocabulary)
    if vocabulary.path is None:
        return oracle, ""
    where = str(vocabulary.path)
    with KillableChild(_target(trial), json.dumps(where).encode(), GROUP_LIMITS, _CHILD_ENV) as child:
        fault = child.call(b"oracle")
        if isinstance(fault, ChildFailure):
            raise InputError(f"{oracle} cannot load this vocabulary", where, fault.detail, "check the file")
        if fault:
            raise InputError(fault.decode(), where, remedy="name another tokenizer")
        misread = child.call(b"gigatoken")
    if isinstance(misread, ChildFailure):
        return oracle, f"served by {oracle}: gigatoken cannot load this vocabulary ({misread.detail})"
    if misread:
        return oracle, f"served by {oracle}: gigatoken reads {misread.decode()[:40]!r} differently"
    return "gigatoken", ""


def _fingerprint(vocabulary: Vocabulary, engine: EngineName) -> str:
    scheme = "" if vocabulary.scheme is None else vocabulary.scheme.name
    facts = (vocabulary.digest, engine, engine_version(engine), scheme, vocabulary.eos_id, vocabulary.pad_id)
    return blake3("\0".join(map(str, (RULES_VERSION, *facts))).encode()).hexdigest(16)


def _utf8(texts: pa.LargeStringArray) -> tuple[memoryview, Ints]:
    """All text bytes, and int64[n + 1] offsets into them."""
    texts = texts.fill_null("") if texts.null_count else texts
    _, raw_offsets, raw_data = texts.buffers()
    if raw_offsets is None or not len(texts):
        return memoryview(b""), np.zeros(len(texts) + 1, dtype=np.int64)
    offsets = np.frombuffer(raw_offsets, dtype=np.int64, count=len(texts) + 1, offset=8 * texts.offset)
    return memoryview(raw_data or b"").cast("B"), offsets


def _runs(offsets: Ints) -> Iterator[_Run]:
    """Documents [first, stop) to send together: at most GROUP_DOCS, and GROUP_BYTES unless one is longer."""
    bounds = offsets.tolist()
    first = 0
    for i in range(1, len(bounds)):
        full = bounds[i] - bounds[first] > GROUP_BYTES or i - first > GROUP_DOCS
        if full and i - first > 1:
            yield first, i - 1
            first = i - 1
    if len(bounds) - 1 > first:
        yield first, len(bounds) - 1


def _is_big(run: _Run, offsets: Ints) -> bool:
    return bool(offsets[run[1]] - offsets[run[0]] > BIG_DOC_BYTES)


def _target(factory: Callable[[bytes], Callable[[bytes], bytes]]) -> str:
    return f"{factory.__module__}:{factory.__qualname__}"
