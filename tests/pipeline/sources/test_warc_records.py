"""Framing of WARC records, piece by piece: the same whatever the pieces, and one loss for what a break takes away."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.schema import content_hash
from gristmill.pipeline.sources import warc_records
from gristmill.pipeline.sources.pieces import Break, Piece
from gristmill.pipeline.sources.protocol import Loss
from gristmill.pipeline.sources.warc_records import Record, read_records
from tests.pipeline.sources.warc_bytes import page, record

TYPES = ("response", "resource")
DATA = [page(1), record(2, b"x" * 400, "request"), page(3, 5000), record(4, b"y", "resource"), page(5)]
WHOLE = b"".join(DATA)
BROKEN = Break("corrupt", "here", True)


def framed(pieces: Sequence[Piece], limit: int = 1 << 30) -> list[bytes | str]:
    found = read_records(iter(pieces), limit, TYPES)
    return [bytes_of(one) + b"\r\n\r\n" if isinstance(one, Record) else one.reason for one in found]


def bytes_of(record: Record) -> bytes:
    """Head and block, the same in one piece as in several."""
    whole = record.whole()
    assert not whole.more and whole.offset == record.offset
    parts = record.data[record.start : record.block], record.data[record.block : record.end], *record.more
    head, block = whole.data[whole.start : whole.block], whole.data[whole.block : whole.end]
    assert (head, block) == (parts[0], b"".join(parts[1:]))
    return head + block


def pieces_of(data: bytes, size: int) -> list[Piece]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 7, 100, 4096, 1 << 20])
def test_records_do_not_depend_on_the_pieces(size: int) -> None:
    assert framed(pieces_of(WHOLE, size)) == [DATA[0], *DATA[2:]]


@given(
    cuts=st.lists(st.integers(0, len(WHOLE)), max_size=8), junk=st.binary(max_size=12), at=st.integers(0, len(WHOLE))
)
def test_damage_reads_the_same_whatever_the_pieces(cuts: list[int], junk: bytes, at: int) -> None:
    data = WHOLE[:at] + junk + WHOLE[at + len(junk) // 2 :]
    ends = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    parts = [data[a:b] for a, b in pairwise(ends) if b > a]
    one = list(read_records(iter([data]), 1 << 30, TYPES))
    many = list(read_records(iter(parts), 1 << 30, TYPES))
    assert [(type(o), o.offset) for o in one] == [(type(o), o.offset) for o in many]
    assert [o for o in one if isinstance(o, Loss)] == [o for o in many if isinstance(o, Loss)]
    records = ([bytes_of(o) for o in found if isinstance(o, Record)] for found in (one, many))
    assert next(records) == next(records)


@pytest.mark.parametrize(("longest", "parts"), [(1000, 0), (1 << 20, 3)])
def test_a_record_of_several_pieces_is_joined_only_where_it_is_long(
    longest: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc_records, "_SPANNING_BYTES", longest)
    found = [one for one in read_records(iter(pieces_of(WHOLE, 2000)), 1 << 30, TYPES) if isinstance(one, Record)]
    assert [len(one.more) for one in found] == [0, parts, 0, 0]
    assert list(map(bytes_of, found)) == [one[:-4] for one in (DATA[0], *DATA[2:])]


@pytest.mark.parametrize("size", [50, 1 << 20])
def test_what_a_break_leaves_is_one_loss(size: int) -> None:
    for verified, expected in ((True, [DATA[0], "corrupt", DATA[4]]), (False, ["corrupt", DATA[4]])):
        broken = Break("corrupt", "here", verified)
        assert framed([*pieces_of(DATA[0], size), broken, *pieces_of(DATA[4], size)]) == expected
    half = DATA[2][:3000]
    assert framed([*pieces_of(DATA[0] + half, size), BROKEN, *pieces_of(DATA[4], size)]) == [
        DATA[0],
        "corrupt",
        DATA[4],
    ]


@pytest.mark.parametrize("size", [50, 1 << 20])
def test_the_rest_of_a_record_behind_a_break_is_no_loss_of_its_own(size: int) -> None:
    pieces = [*pieces_of(DATA[2][:3000], size), BROKEN, *pieces_of(DATA[2][3500:] + DATA[4], size)]
    assert framed(pieces) == ["corrupt", DATA[4]]
    assert framed([BROKEN, *pieces_of(b"junk" * 50, size)]) == ["corrupt"]


@pytest.mark.parametrize("size", [50, 1 << 20])
@pytest.mark.parametrize("by", [-1, 1, 7, 5000])
def test_a_wrong_length_costs_one_record(size: int, by: int) -> None:
    wrong = DATA[2].replace(b"Content-Length: ", b"Content-Length: %d\r\nX-Was: " % (len(DATA[2]) + by))
    data = DATA[0] + wrong + DATA[4]
    found = list(read_records(iter(pieces_of(data, size)), 1 << 30, TYPES))
    assert [type(one) for one in found] == [Record, Loss, Record]
    loss = found[1]
    assert isinstance(loss, Loss)
    assert (loss.reason, loss.offset, loss.raw_hash) == ("corrupt", len(DATA[0]), content_hash(wrong))


@pytest.mark.parametrize("size", [50, 1 << 20])
def test_too_large_records_are_passed_over(size: int) -> None:
    found = list(read_records(iter(pieces_of(WHOLE, size)), 1000, TYPES))
    loss = found[1]
    assert isinstance(loss, Loss)
    assert [getattr(one, "reason", "row") for one in found] == ["row", "too_large", "row", "row"]
    assert (loss.limit, loss.raw_hash) == (1000, content_hash(DATA[2][:-4]))
    cut = list(read_records(iter(pieces_of(WHOLE[: len(DATA[0]) + 2000], size)), 1000, TYPES))
    assert [getattr(one, "reason", "row") for one in cut] == ["row", "truncated"]
