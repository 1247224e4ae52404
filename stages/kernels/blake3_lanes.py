"""BLAKE3-128 of many short byte strings at once, LANES chunks in lockstep.

A library hashes one input after the other and gets the vector units going only above some 16 KiB; the texts of a corpus
are shorter. Chunks (1 KiB) do not depend on one another, so here those of all rows fill the lanes: 2.4 times as fast at
4 KB, 8 times at 40 bytes. Constants and structure are those of the BLAKE3 paper (O'Connor, Aumasson, Neves,
Wilcox-O'Hearn 2020, sections 2.1 to 2.4); the package `blake3` is the oracle in the tests.

In: uint8 data and the starts and sizes of the rows in it. Out: uint8 of shape (rows, 16). Little-endian machines only.
"""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gristmill.stages.kernels.jit import BYTES, OFFSETS, helper, kernel

assert sys.byteorder == "little"

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

DIGEST_BYTES = 16
LANES = 16
_CHUNK_BYTES = 1024
_BLOCK_BYTES = 64
_WORDS = 8
_CHUNK_START, _CHUNK_END, _PARENT, _ROOT = 1, 2, 4, 8
_IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
_IV_WORDS = np.array(_IV, np.uint32)
_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
_COLUMNS_THEN_DIAGONALS = (
    (0, 4, 8, 12),
    (1, 5, 9, 13),
    (2, 6, 10, 14),
    (3, 7, 11, 15),
    (0, 5, 10, 15),
    (1, 6, 11, 12),
    (2, 7, 8, 13),
    (3, 4, 9, 14),
)
_ROTATIONS = ((16, 12), (8, 7))
_ROUNDS = 7
# Rows of the parameters of one compression: chunk counter, bytes of the block, flags, whether the lane takes part.
_COUNTER, _SIZE, _FLAGS, _ACTIVE = range(4)

_intrinsic: Any = intrinsic  # a caller gives one argument less than the function has
_WORD = ir.IntType(32)
_VECTOR = ir.VectorType(_WORD, LANES)


def _splat(value: int) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * LANES)


def _rotate_right(builder: Any, value: Any, bits: int) -> Any:
    return builder.or_(builder.lshr(value, _splat(bits)), builder.shl(value, _splat(32 - bits)))


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """LANES vectors of LANES words with rows and columns exchanged, by log2(LANES) perfect shuffles."""
    half = LANES // 2
    for _ in range(LANES.bit_length() - 1):
        shuffled: list[Any] = []
        for low, high in zip(rows[:half], rows[half:], strict=True):
            for first in (0, half):
                order = [first + i // 2 + (LANES if i % 2 else 0) for i in range(LANES)]
                shuffled.append(builder.shuffle_vector(low, high, ir.Constant(_VECTOR, order)))
        rows = shuffled
    return rows


def _message(builder: Any, blocks: Any, offset: Any) -> list[Any]:
    """The 16 words of each lane's block, one vector a word."""
    lanes: list[list[Any]] = []
    for lane in range(LANES):
        address = builder.load(builder.gep(blocks, [ir.Constant(_WORD, lane)]))
        start = builder.inttoptr(builder.add(address, offset), _VECTOR.as_pointer())
        parts = [builder.load(builder.gep(start, [ir.Constant(_WORD, part)])) for part in range(16 // LANES)]
        for part in parts:
            part.align = 1
        lanes.append(parts)
    return [word for part in range(16 // LANES) for word in _transposed(builder, [lane[part] for lane in lanes])]


def _compressed(builder: Any, chain: list[Any], message: list[Any], params: list[Any]) -> list[Any]:
    """The new chaining value: seven rounds over 16 vectors."""
    state = [*chain, *map(_splat, _IV[:4]), params[_COUNTER], _splat(0), params[_SIZE], params[_FLAGS]]
    for _ in range(_ROUNDS):
        for step, (a, b, c, d) in enumerate(_COLUMNS_THEN_DIAGONALS):
            for half, (first, second) in enumerate(_ROTATIONS):
                state[a] = builder.add(builder.add(state[a], state[b]), message[2 * step + half])
                state[d] = _rotate_right(builder, builder.xor(state[d], state[a]), first)
                state[c] = builder.add(state[c], state[d])
                state[b] = _rotate_right(builder, builder.xor(state[b], state[c]), second)
        message = [message[word] for word in _PERMUTATION]
    return [builder.xor(state[word], state[word + 8]) for word in range(_WORDS)]


@_intrinsic
def _compress(_typing: Any, blocks: Any, offset: Any, chain: Any, params: Any) -> Any:
    """One compression in every active lane: `blocks` (int64, LANES) are addresses, to which `offset` is added;
    `chain` (uint32, 8 x LANES) is read and written; `params` (uint32, 4 x LANES)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointers = [context.make_array(kind)(context, builder, arg).data for kind, arg in _arrays(signature, args)]
        chain_at, params_at = (builder.bitcast(pointer, _VECTOR.as_pointer()) for pointer in pointers[1:])

        def load(pointer: Any, row: int) -> Any:
            value = builder.load(builder.gep(pointer, [ir.Constant(_WORD, row)]))
            value.align = 4
            return value

        before = [load(chain_at, row) for row in range(_WORDS)]
        given = [load(params_at, row) for row in range(4)]
        after = _compressed(builder, before, _message(builder, pointers[0], args[1]), given)
        active = builder.icmp_unsigned("!=", given[_ACTIVE], _splat(0))
        for row in range(_WORDS):
            value = builder.select(active, after[row], before[row])
            stored = builder.store(value, builder.gep(chain_at, [ir.Constant(_WORD, row)]))
            stored.align = 4
        return context.get_dummy_value()

    return types.void(blocks, types.int64, chain, params), generate


def _arrays(signature: Any, args: Any) -> list[tuple[Any, Any]]:
    return [(signature.args[i], args[i]) for i in (0, 2, 3)]


@_intrinsic
def _address(_typing: Any, array: Any) -> Any:
    """The address of an array's first byte."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), generate


@helper
def _block_count(size: int) -> int:
    return max((size + _BLOCK_BYTES - 1) // _BLOCK_BYTES, 1)


@helper
def _chunk_count(size: int) -> int:
    return max((size + _CHUNK_BYTES - 1) // _CHUNK_BYTES, 1)


@helper
def _chunk_jobs(starts: Any, sizes: Any) -> Any:
    """(chunks, 4) int64: start in the data, size, number in its row (negative: it is the whole row), node; those of
    most blocks first, so that lanes that run in lockstep end together."""
    counts = np.zeros(_CHUNK_BYTES // _BLOCK_BYTES + 2, np.int64)
    total = 0
    for row in range(len(sizes)):
        chunks = _chunk_count(sizes[row])
        total += chunks
        last = sizes[row] - (chunks - 1) * _CHUNK_BYTES
        counts[_CHUNK_BYTES // _BLOCK_BYTES] += chunks - 1
        counts[_block_count(last)] += 1
    place = np.zeros_like(counts)
    for blocks in range(len(counts) - 2, -1, -1):
        place[blocks] = place[blocks + 1] + counts[blocks + 1]
    jobs = np.empty((total, 4), np.int64)
    node = 0
    for row in range(len(sizes)):
        chunks = _chunk_count(sizes[row])
        for number in range(chunks):
            size = min(sizes[row] - number * _CHUNK_BYTES, _CHUNK_BYTES)
            at = place[_block_count(size)]
            place[_block_count(size)] += 1
            jobs[at, 0] = starts[row] + number * _CHUNK_BYTES
            jobs[at, 1] = size
            jobs[at, 2] = -1 if chunks == 1 else number
            jobs[at, 3] = node
            node += 1
    return jobs


@helper
def _set_lanes(block: int, group: Any, start: int, blocks: Any, params: Any, padded: Any, data: Any) -> None:
    """Addresses and parameters of all lanes for block number `block` of their chunks (rows of `group`); past its
    chunk's end a lane rests. `start` is the address of `data`."""
    rest = _address(padded)
    for lane in range(LANES):
        size = group[lane, 1]
        left = size - block * _BLOCK_BYTES
        if left <= 0 and (block or group[lane, 3] < 0):
            params[_ACTIVE, lane] = 0
            blocks[lane] = rest
            continue
        flags = _CHUNK_START if block == 0 else 0
        if left <= _BLOCK_BYTES:
            flags |= _CHUNK_END | (_ROOT if group[lane, 2] < 0 else 0)
        params[_ACTIVE, lane] = 1
        params[_FLAGS, lane] = flags
        params[_SIZE, lane] = min(left, _BLOCK_BYTES)
        at = group[lane, 0] + block * _BLOCK_BYTES
        blocks[lane] = start + at
        if left < _BLOCK_BYTES:
            blocks[lane] = rest + lane * _BLOCK_BYTES
            for i in range(_BLOCK_BYTES):
                padded[lane * _BLOCK_BYTES + i] = data[at + i] if i < left else 0


@helper
def _reset(chain: Any) -> None:
    for word in range(_WORDS):
        for lane in range(LANES):
            chain[word, lane] = _IV_WORDS[word]


@helper
def _put(nodes: Any, node: int, chain: Any, lane: int) -> None:
    for word in range(_WORDS):
        nodes[node, word] = chain[word, lane]


@helper
def _hash_chunks(data: Any, jobs: Any, nodes: Any) -> None:
    """The chaining value of each chunk into its node."""
    chain, params = np.empty((_WORDS, LANES), np.uint32), np.zeros((4, LANES), np.uint32)
    blocks, padded = np.empty(LANES, np.int64), np.zeros(LANES * _BLOCK_BYTES, np.uint8)
    group, start = np.zeros((LANES, 4), np.int64), _address(data)
    for first in range(0, len(jobs), LANES):
        lanes = min(LANES, len(jobs) - first)
        _reset(chain)
        for lane in range(LANES):
            for field in range(4):
                # A lane without a chunk has size 0 and no node.
                group[lane, field] = jobs[first + lane, field] if lane < lanes else -(field // 3)
            params[_COUNTER, lane] = max(group[lane, 2], 0)
        whole = lanes == LANES and group[LANES - 1, 1] == _CHUNK_BYTES
        for block in range(_block_count(group[0, 1])):
            if whole and 0 < block < _CHUNK_BYTES // _BLOCK_BYTES - 1:
                # Nothing but the place of the blocks differs from the first one.
                params[_FLAGS, :] = 0
                _compress(blocks, block * _BLOCK_BYTES, chain, params)
            else:
                _set_lanes(block, group, start, blocks, params, padded, data)
                _compress(blocks, 0, chain, params)
        for lane in range(lanes):
            _put(nodes, group[lane, 3], chain, lane)


@helper
def _merge(nodes: Any, counts: Any, firsts: Any) -> None:
    """Merges the nodes of each row (`counts` from `firsts` on) pair by pair, level by level, into its first one."""
    chain, params = np.empty((_WORDS, LANES), np.uint32), np.zeros((4, LANES), np.uint32)
    blocks, targets = np.empty(LANES, np.int64), np.empty(len(nodes), np.int64)
    params[_SIZE, :] = _BLOCK_BYTES
    params[_ACTIVE, :] = 1
    sources, roots = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.uint32)
    while True:
        pairs = 0
        for row in range(len(counts)):
            for pair in range(counts[row] // 2):
                sources[pairs] = firsts[row] + 2 * pair
                targets[pairs] = firsts[row] + pair
                roots[pairs] = _PARENT | (_ROOT if counts[row] == 2 else 0)
                pairs += 1
        if not pairs:
            return
        for first in range(0, pairs, LANES):
            _reset(chain)
            for lane in range(LANES):
                pair = min(first + lane, pairs - 1)
                blocks[lane] = _address(nodes) + sources[pair] * (_BLOCK_BYTES // 2)
                params[_FLAGS, lane] = roots[pair]
            _compress(blocks, 0, chain, params)
            for lane in range(min(LANES, pairs - first)):
                _put(nodes, targets[first + lane], chain, lane)
        for row in range(len(counts)):
            if counts[row] > 1:
                if counts[row] % 2:
                    nodes[firsts[row] + counts[row] // 2] = nodes[firsts[row] + counts[row] - 1]
                counts[row] = (counts[row] + 1) // 2


@kernel(types.void(BYTES, OFFSETS, OFFSETS, types.Array(types.uint32, 2, "C")))
def _hash(data: Any, starts: Any, sizes: Any, out: Any) -> None:
    jobs = _chunk_jobs(starts, sizes)
    nodes = np.empty((len(jobs), _WORDS), np.uint32)
    _hash_chunks(data, jobs, nodes)
    counts, firsts = np.empty(len(sizes), np.int64), np.empty(len(sizes), np.int64)
    node = 0
    for row in range(len(sizes)):
        counts[row], firsts[row] = _chunk_count(sizes[row]), node
        node += counts[row]
    _merge(nodes, counts, firsts)
    for row in range(len(sizes)):
        out[row] = nodes[firsts[row], : out.shape[1]]


def blake3_128(data: Bytes, starts: Ints, sizes: Ints) -> Bytes:
    """BLAKE3-128 of `data[start:start + size]` for each row: uint8 of shape (rows, DIGEST_BYTES)."""
    if len(starts) and (starts.min() < 0 or sizes.min() < 0 or (starts + sizes).max() > len(data)):
        raise ValueError("rows outside of the data")
    out = np.empty((len(starts), DIGEST_BYTES // 4), np.uint32)
    _hash(*map(np.ascontiguousarray, (data, starts, sizes)), out)
    return out.view(np.uint8)
