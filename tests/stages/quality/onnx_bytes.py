"""A tiny ONNX model, assembled by hand (protobuf wire format of onnx.proto3): mean of token vectors, then two logits.

Inputs `input_ids`, `attention_mask` (int64 [n, tokens]); outputs `logits` [n, 2], `last_hidden_state` [n, tokens, d].
"""

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ("[UNK]", "good", "bad", "dull")
_FLOAT, _INT64 = 1, 7
_IR_VERSION, _OPSET = 8, 13


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _tensor(name: str, values: np.ndarray) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, _FLOAT) + _bytes(8, name) + _bytes(9, values.astype("<f4").tobytes())


def _node(kind: str, inputs: list[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind) + attributes


def _ints(name: str, *values: int) -> bytes:
    packed = b"".join(_varint(value) for value in values)
    return _bytes(5, _bytes(1, name) + _bytes(8, packed) + _number(20, 7))


def _int(name: str, value: int) -> bytes:
    return _bytes(5, _bytes(1, name) + _number(3, value) + _number(20, 2))


def _value(name: str, kind: int, *dims: int | str) -> bytes:
    shape = b"".join(_bytes(1, _number(1, d) if isinstance(d, int) else _bytes(2, d)) for d in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def model_bytes(vectors: np.ndarray, weights: np.ndarray) -> bytes:
    """vectors float [words, d], weights float [d, 2]."""
    nodes = [
        _node("Gather", ["vectors", "input_ids"], "last_hidden_state", _int("axis", 0)),
        _node("ReduceMean", ["last_hidden_state"], "pooled", _ints("axes", 1) + _int("keepdims", 0)),
        _node("MatMul", ["pooled", "weights"], "logits"),
        _node("Identity", ["attention_mask"], "unused"),
    ]
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "tiny")
    graph += _bytes(5, _tensor("vectors", vectors)) + _bytes(5, _tensor("weights", weights))
    graph += b"".join(_bytes(11, _value(name, _INT64, "n", "t")) for name in ("input_ids", "attention_mask"))
    graph += _bytes(12, _value("logits", _FLOAT, "n", weights.shape[1]))
    graph += _bytes(12, _value("last_hidden_state", _FLOAT, "n", "t", vectors.shape[1]))
    return _number(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, _OPSET))


def tokenizer_bytes() -> bytes:
    """tokenizer.json of WORDS, split at white space."""
    made = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token=WORDS[0]))
    made.pre_tokenizer = Whitespace()
    return made.to_str().encode()


VECTORS = np.array([[0.0, 0.0], [2.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
WEIGHTS = np.array([[0.0, 1.0], [0.0, 0.0]])


def expected_logit(text: str) -> float:
    """Second logit less the first, in plain Python."""
    rows = [VECTORS[WORDS.index(word)] if word in WORDS else VECTORS[0] for word in text.split()]
    return float(np.mean(rows, axis=0) @ (WEIGHTS[:, 1] - WEIGHTS[:, 0]))
