"""The vectors against Python's decoder."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.utf8 import LANES, NOT_UTF8, PLAIN, WITH_MEDIUM, classify, copy_utf8, is_utf8

TELLING = (
    0x00,
    0x41,
    0x7F,
    0x80,
    0x8F,
    0x90,
    0x9F,
    0xA0,
    0xBF,
    0xC0,
    0xC1,
    0xC2,
    0xDF,
    0xE0,
    0xE1,
    0xEC,
    0xED,
    0xEE,
    0xEF,
)
TELLING += (0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF)


def decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def checked(data: bytes) -> bool:
    return is_utf8(np.frombuffer(data, np.uint8))


@pytest.mark.parametrize("first", range(256))
def test_all_pairs_and_all_telling_beginnings(first: int) -> None:
    for second in range(256):
        data = bytes([first, second])
        assert checked(data) == decodes(data)
    for rest in itertools.product(TELLING, TELLING):
        for fourth in (b"", b"\x80", b"\xbf", b"A"):
            data = bytes([first, *rest]) + fourth
            assert checked(data) == decodes(data), data


@pytest.mark.parametrize("before", [0, 1, 2, 3, LANES - 2, LANES, LANES + 1, 2 * LANES + 3])
@pytest.mark.parametrize("behind", [0, 1, LANES - 1, LANES, 2 * LANES + 5])
def test_every_place_in_a_vector(before: int, behind: int) -> None:
    for middle in (
        b"\xc3\xa9",
        b"\xe4\xb8\xad",
        b"\xf0\x9f\x98\x80",
        b"\xed\xa0\x80",
        b"\xe4\xb8",
        b"\x80",
        b"\xf4\x90\x80\x80",
        b"",
    ):
        data = b"a" * before + middle + b"b" * behind
        assert checked(data) == decodes(data), (before, middle, behind)


@given(parts=st.lists(st.text().map(str.encode) | st.binary(max_size=3) | st.sampled_from([b"x" * LANES]), max_size=30))
def test_texts_with_noise(parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert checked(data) == decodes(data)


@given(text=st.text(min_size=200), at=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_texts_with_one_other_byte(text: str, at: int, byte: int) -> None:
    data = bytearray(text.encode())
    data[at % len(data)] = byte
    assert checked(bytes(data)) == decodes(bytes(data))


PARTS = st.lists(
    st.text().map(str.encode)
    | st.binary(max_size=3)
    | st.sampled_from([b"x" * (2 * LANES), b"\xef\xbf\xbc", b"\xef\xbf", b"\xbc", "\u4e2d".encode() * LANES]),
    max_size=12,
)


def kind_of(data: bytes) -> int:
    if not decodes(data):
        return NOT_UTF8
    return WITH_MEDIUM if "\ufffc" in data.decode() else PLAIN


@given(parts=PARTS, before=st.integers(0, 3))
def test_kinds_are_told_within_their_bounds(parts: list[bytes], before: int) -> None:
    data = b"".join(parts)
    around = np.frombuffer(b"\xe4" * before + data + b"\x80" * 3, np.uint8)
    assert classify(around, before, before + len(data)) == kind_of(data)


@given(parts=PARTS.filter(len), at=st.integers(0, 3 * LANES))
def test_copies_are_of_the_kind_of_the_parts_together(parts: list[bytes], at: int) -> None:
    data = b"".join(parts)
    out = np.full(at + len(data) + 1, 0xE4, np.uint8)
    kind = copy_utf8([np.frombuffer(part, np.uint8) for part in parts], out, at)
    assert kind == kind_of(data)
    if kind != NOT_UTF8:
        assert out[at : at + len(data)].tobytes() == data
    assert (out[:at] == 0xE4).all() and out[-1] == 0xE4


@pytest.mark.parametrize("size", range(0, 5 * LANES, 7))
def test_every_place_of_every_alignment_is_looked_at(size: int) -> None:
    for at in range(size):
        data = bytearray(b"a" * size)
        data[at] = 0x80
        for start in (0, 1, LANES - 2):
            out = np.zeros(start + size, np.uint8)
            assert copy_utf8([np.frombuffer(data, np.uint8)], out, start) == NOT_UTF8
