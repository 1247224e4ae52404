"""Pieces and breaks of compressed files: every cut, many kinds of damage, and bombs."""

import gzip
import io
import os
from collections.abc import Callable

import orjson
import pytest
import zstandard

from gristmill.pipeline.sources.pieces import PIECE_BYTES, Break
from gristmill.pipeline.sources.streams import read_pieces

PARTS = (
    b"".join(b"%d " % (i * i) for i in range(900)),
    b"b" * (2 * PIECE_BYTES + 5),
    bytes(os.urandom(700)),
)
WHOLE = b"".join(PARTS)
# Such that some flips in the middle third make the decoder of fastwarc run on to the end of the file, silently.
LINES = [
    orjson.dumps({"id": f"k{n}", "text": f"text {n} \u00e9\u4e2d\U0001f600 " * (n % 7), "n": n}) + b"\n"
    for n in range(300)
]
Pack = Callable[[bytes], bytes]


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


FORMATS = pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "a.gz"), (_zstd, "a.zst")])


def unpacked(data: bytes, name: str) -> tuple[bytes, list[Break]]:
    pieces = list(read_pieces(io.BytesIO(data), name))
    assert all(isinstance(piece, Break) or 0 < len(piece) <= PIECE_BYTES for piece in pieces)
    return (
        b"".join(piece for piece in pieces if not isinstance(piece, Break)),
        [piece for piece in pieces if isinstance(piece, Break)],
    )


@FORMATS
def test_every_cut_delivers_what_is_before_it(pack: Pack, name: str) -> None:
    members = [pack(part) for part in PARTS]
    data = b"".join(members)
    whole_at = {sum(map(len, members[:n])): sum(map(len, PARTS[:n])) for n in range(len(members) + 1)}
    for cut in range(len(data) + 1):
        out, breaks = unpacked(data[:cut], name)
        assert WHOLE.startswith(out)
        if cut in whole_at:
            assert (len(out), breaks) == (whole_at[cut], []), cut
        else:
            assert [one.reason for one in breaks] == ["truncated"], cut
            assert len(out) >= max(size for at, size in whole_at.items() if at < cut)


def test_a_cut_gzip_member_is_decoded_to_its_last_byte() -> None:
    data = gzip.compress(os.urandom(50_000))
    out, _ = unpacked(data[: len(data) // 2], "a.gz")
    assert abs(len(out) - 25_000) < 200


@FORMATS
def test_a_flipped_bit_costs_its_member(pack: Pack, name: str) -> None:
    members = [bytearray(pack(part)) for part in (PARTS[1], PARTS[0], PARTS[2])]
    for at in range(len(members[1])):
        damaged = bytearray(members[1])
        damaged[at] ^= 1 << at % 8
        out, breaks = unpacked(bytes(members[0] + damaged + members[2]), name)
        # What a flip in an unchecked field of a header leaves whole is whole.
        assert out == (PARTS[1] + PARTS[2] if breaks else PARTS[1] + PARTS[0] + PARTS[2]), at
        assert [one.reason for one in breaks] in ([], ["corrupt"]), at


@FORMATS
def test_a_member_that_lost_its_end_costs_no_more(pack: Pack, name: str) -> None:
    """It runs on into the next ones, up to the end of the file, and yields garbage before that is found out."""
    first, second, third = (b"".join(LINES[at : at + 100]) for at in (0, 100, 200))
    members = [bytearray(pack(part)) for part in (first, second, third)]
    for at in range(len(members[1]) - 40, len(members[1])):
        for bit in range(8):
            damaged = bytearray(members[1])
            damaged[at] ^= 1 << bit
            out, breaks = unpacked(bytes(members[0] + damaged + members[2]), name)
            assert out == first + (b"" if breaks else second) + third, (at, bit)


@FORMATS
def test_what_a_damaged_member_had_delivered_is_not_verified(pack: Pack, name: str) -> None:
    for size, verified in ((1000, True), (20 * PIECE_BYTES, False)):
        damaged = bytearray(pack(os.urandom(size)))
        damaged[-3] ^= 1
        for data in (damaged, pack(b"a") + damaged + pack(b"b")):
            out, breaks = unpacked(bytes(data), name)
            assert [(one.reason, one.verified) for one in breaks] == [("corrupt", verified)]
            assert (len(out) > size // 2) is not verified


@FORMATS
def test_empty_members_and_empty_files(pack: Pack, name: str) -> None:
    empty, full = pack(b""), pack(b"x")
    for data in (empty + full, full + empty, empty * 3 + full + empty, full):
        assert unpacked(data, name) == (b"x", [])
    assert unpacked(empty, name) == (b"", [])
    assert unpacked(b"", name) == (b"", [])


@FORMATS
@pytest.mark.parametrize("junk", [b"junk", b"\0\0\0junk", bytes(100_000) + b"j"])
def test_junk_between_and_behind_members(pack: Pack, name: str, junk: bytes) -> None:
    out, breaks = unpacked(pack(b"a") + junk + pack(b"b"), name)
    assert (out, [(one.reason, one.verified) for one in breaks]) == (b"ab", [("corrupt", True)])
    out, breaks = unpacked(pack(b"a") + junk, name)
    assert (out, [(one.reason, one.verified) for one in breaks]) == (b"a", [("corrupt", True)])


def test_zeros_behind_gzip_are_padding() -> None:
    for size in (1, 100, 200_000):
        assert unpacked(gzip.compress(b"a") + bytes(size), "a.gz") == (b"a", [])


def test_gzip_headers_with_names_and_extra_fields() -> None:
    named = io.BytesIO()
    with gzip.GzipFile("name.txt", "wb", fileobj=named) as out:
        out.write(b"a")
    extra = bytearray(gzip.compress(b"b"))
    extra[3] |= 4
    extra[10:10] = b"\x04\x00abcd"
    assert unpacked(named.getvalue() + bytes(extra), "x") == (b"ab", [])


def test_skippable_zstd_frames() -> None:
    skippable = b"\x53\x2a\x4d\x18\x04\x00\x00\x00abcd"
    assert unpacked(skippable + _zstd(b"a") + skippable + _zstd(b"b"), "x") == (b"ab", [])
    out, breaks = unpacked(_zstd(b"a") + skippable[:-1], "a.zst")
    assert (out, [one.reason for one in breaks]) == (b"a", ["truncated"])
    out, breaks = unpacked(_zstd(b"a") + skippable + b"junk" + _zstd(b"b"), "a.zst")
    assert (out, [one.reason for one in breaks]) == (b"ab", ["corrupt"])


def test_zstd_windows_of_public_dumps() -> None:
    params = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    data = zstandard.ZstdCompressor(compression_params=params).compress(WHOLE)
    assert unpacked(data, "a.zst") == (WHOLE, [])


@pytest.mark.parametrize("name", ["a.gz", "a.zst", "a"])
def test_plain_bytes_under_any_name(name: str) -> None:
    text = "caf\u00e9 \u4e2d\n".encode() * 3000
    assert unpacked(text, name) == (text, [])


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_noise_that_is_named_as_compressed(name: str) -> None:
    out, breaks = unpacked(b"\x01\x00\xff" * 500, name)
    assert (out, [one.reason for one in breaks]) == (b"", ["corrupt"])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_bomb_comes_in_pieces(pack: Pack) -> None:
    pieces = read_pieces(io.BytesIO(pack(bytes(64 << 20))[:-1]), "bomb")
    assert max(len(piece) for piece in pieces if not isinstance(piece, Break)) <= PIECE_BYTES


@FORMATS
def test_a_stream_that_answers_with_less_than_asked(pack: Pack, name: str) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size, 7) if size and size > 0 else size)

    data = b"".join(map(pack, PARTS))
    fast, slow = list(read_pieces(io.BytesIO(data), name)), list(read_pieces(Slow(data), name))
    assert fast == slow
    assert unpacked(data[:-9], name)[0] == b"".join(
        piece for piece in read_pieces(Slow(data[:-9]), name) if not isinstance(piece, Break)
    )
