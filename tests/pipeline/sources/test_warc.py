"""WARC and WET: what becomes a row, what is lost with which reason, and the ways in which files are damaged."""

import gzip
import itertools
from pathlib import Path

import fsspec
import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.schema import content_hash, record_id
from gristmill.pipeline.sources import batching, content_hashes, encodings, streams, warc_records
from gristmill.pipeline.sources.protocol import ReadOptions
from tests.pipeline.sources.reading import OPTIONS, Read, read
from tests.pipeline.sources.warc_bytes import HTML_HEAD, body, members, page, record

WARCINFO = record(0, b"software: x\r\n", "warcinfo")
PAGES = [page(n) for n in range(6)]
RECORDS = [WARCINFO, *itertools.chain(*([record(n + 50, b"GET /", "request"), PAGES[n]] for n in range(6)))]
BODIES = [body(n) for n in range(6)]
MEMBERS = members(RECORDS)
ENDS = list(itertools.accumulate(map(len, MEMBERS)))
# How many pages stand before the end of each member.
PAGES_BEFORE = [sum(one in PAGES for one in RECORDS[: i + 1]) for i in range(len(RECORDS))]


def read_bytes(folder: Path, data: bytes, name: str = "", options: ReadOptions = OPTIONS) -> Read:
    path = folder / (name or ("a.warc.gz" if data.startswith(b"\x1f\x8b") else "a.warc"))
    path.write_bytes(data)
    return read("wet" if ".wet" in name else "warc", path, options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("warc")


def test_a_response_becomes_a_row_with_its_key_and_provenance(folder: Path) -> None:
    found = read_bytes(folder, b"".join(MEMBERS))
    assert found.texts == BODIES and not found.losses
    row = found.rows[3]
    assert row["url"] == "https://example.org/3" and row["source"] == "d"
    assert row["content_hash"] == content_hash(BODIES[3].encode())
    meta = orjson.loads(row["meta"])
    assert list(meta) == ["d"] and meta["d"]["mime"] == "text/html" and meta["d"]["date"] == "2024-01-01T00:00:00Z"


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.warc.zst", "one.warc.gz"])
def test_rows_do_not_depend_on_the_container(folder: Path, name: str) -> None:
    """Plain, a member or frame a record, and one member for all; told by the bytes, not by the name."""
    plain = b"".join(RECORDS)
    data = {
        "a.warc": plain,
        "a.warc.gz": b"".join(MEMBERS),
        "a.warc.zst": b"".join(map(zstandard.ZstdCompressor().compress, RECORDS)),
        "one.warc.gz": gzip.compress(plain),
    }[name]
    expected = read_bytes(folder, b"".join(MEMBERS), "x.warc.gz")
    assert read_bytes(folder, data, name).rows == expected.rows
    assert read_bytes(folder, data, "nameless").rows == expected.rows


def test_ids_come_from_record_id_then_url_then_content_never_from_position(folder: Path) -> None:
    block = HTML_HEAD + b"<p>one"
    named, by_url = record(1, block), record(2, block, WARC_Record_ID="")
    bare = record(3, block, WARC_Record_ID="", WARC_Target_URI="")
    ids = [row["id"] for row in read_bytes(folder, named + by_url + bare).rows]
    assert ids[1] == record_id("url", "", "https://example.org/2")
    assert ids[2] == content_hash(b"<p>one").hex()
    assert len(set(ids)) == 3
    moved = read_bytes(folder, bare + PAGES[0] + by_url + named).rows
    assert [row["id"] for row in moved if row["text"] == "<p>one"] == ids[::-1]


@pytest.mark.parametrize("kind", ["request", "metadata", "revisit", "warcinfo", "continuation", "x-unknown"])
def test_other_types_of_records_are_no_records(folder: Path, kind: str) -> None:
    found = read_bytes(folder, record(1, b"HTTP/1.1 200 OK\r\n\r\n<p>", kind))
    assert not found.rows and not found.losses


def test_resource_and_conversion_become_rows(folder: Path) -> None:
    records = [
        record(1, b"<p>\xe9</p>", "resource", Content_Type="text/html; charset=latin-1"),
        record(2, "caf\u00e9".encode(), "conversion"),
    ]
    assert read_bytes(folder, b"".join(records)).texts == ["<p>\u00e9</p>", "caf\u00e9"]
    assert read_bytes(folder, b"".join(records), "a.wet").texts == ["caf\u00e9"]


def test_a_conversion_that_is_not_utf8_is_lost_alone(folder: Path) -> None:
    records = [record(1, b"caf\xe9", "conversion"), record(2, b"cafe", "conversion")]
    found = read_bytes(folder, b"".join(records), "a.wet")
    assert found.texts == ["cafe"] and found.reasons == ["bad_utf8"]


def test_memory_urls_are_read() -> None:
    with fsspec.open("memory://crawl/a.warc.gz", "wb") as out:
        out.write(b"".join(MEMBERS))
    assert read("warc", "memory://crawl/a.warc.gz").texts == BODIES


@given(cut=st.integers(0, ENDS[-1]))
def test_cut_gzip_gives_all_before_the_cut_and_one_loss(folder: Path, cut: int) -> None:
    found = read_bytes(folder, b"".join(MEMBERS)[:cut], "a.warc.gz")
    whole = sum(end <= cut for end in ENDS)
    assert found.texts == BODIES[: PAGES_BEFORE[whole - 1] if whole else 0]
    at_end_of_member = cut in (0, *ENDS)
    assert found.reasons == ([] if at_end_of_member else ["truncated"])


@given(cut=st.integers(0, sum(map(len, RECORDS))))
def test_cut_plain_file_gives_all_before_the_cut_and_at_most_one_loss(folder: Path, cut: int) -> None:
    found = read_bytes(folder, b"".join(RECORDS)[:cut], "a.warc")
    ends = list(itertools.accumulate(map(len, RECORDS)))
    whole = sum(end <= cut for end in ends)
    sure = PAGES_BEFORE[whole - 1] if whole else 0
    # A record whose block is whole and of which only the closing line ends are missing is delivered.
    closing = whole < len(ends) and cut >= ends[whole] - 4
    assert BODIES[:sure] == found.texts[:sure]
    assert len(found.texts) == (PAGES_BEFORE[whole] if closing else sure)
    assert found.reasons in ([], ["truncated"]) if closing or cut in (0, *ends) else found.reasons == ["truncated"]


@given(at=st.integers(0, ENDS[-1] - 1), flip=st.integers(1, 255))
def test_a_changed_byte_in_gzip_loses_no_record_silently(folder: Path, at: int, flip: int) -> None:
    data = bytearray(b"".join(MEMBERS))
    data[at] ^= flip
    found = read_bytes(folder, bytes(data), "a.warc.gz")
    hit = sum(end <= at for end in ENDS)
    # Rows come from the undamaged members alone, in order; the damaged one is a loss, or was only renamed.
    spared = [one for i, one in enumerate(BODIES) if RECORDS[hit] != PAGES[i]]
    assert [text for text in found.texts if text in spared] == spared
    assert set(found.texts) <= set(BODIES)
    assert found.texts == BODIES or found.losses


@given(data=st.data())
def test_noise_never_raises_and_reads_the_same_twice(folder: Path, data: st.DataObject) -> None:
    noisy = bytearray(b"".join(RECORDS[:5]))
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(noisy)))
        stop = min(len(noisy), start + data.draw(st.integers(0, 40)))
        noisy[start:stop] = data.draw(st.binary(max_size=40) | st.sampled_from([b"\r\n", b"WARC/1.0\r\n", b"\r\n\r\n"]))
    first, second = (read_bytes(folder, bytes(noisy), "n.warc") for _ in range(2))
    assert first.rows == second.rows and first.losses == second.losses


@pytest.mark.parametrize("container", ["plain", "gzip"])
def test_garbage_between_records_is_one_loss_and_reading_goes_on(folder: Path, container: str) -> None:
    parts = [PAGES[0], b"\x00\x01 garbage \xff\n" * 30, PAGES[1]]
    if container == "gzip":
        parts = [gzip.compress(PAGES[0]), parts[1], gzip.compress(PAGES[1])]
    found = read_bytes(folder, b"".join(parts))
    assert found.texts == BODIES[:2] and found.reasons == ["corrupt"]
    assert found.losses[0].offset == len(PAGES[0])


@pytest.mark.parametrize("length", ["9", "100000", "-1", "1e3", "", "9" * 30, str(len(PAGES[2]) + 60)])
def test_a_false_content_length_costs_one_record(folder: Path, length: str) -> None:
    bad = record(9, HTML_HEAD + body(9).encode(), Content_Length=length)
    for parts in ([PAGES[0], bad, PAGES[1], PAGES[2]], [PAGES[0], bad]):
        found = read_bytes(folder, b"".join(parts), "a.warc")
        assert found.texts == BODIES[: len(parts) - 1]
        assert found.reasons in (["corrupt"], ["truncated"]) and found.losses[0].offset == len(PAGES[0])


def test_rows_are_the_same_in_small_batches(folder: Path) -> None:
    small = ReadOptions("d", batch_bytes=700, batch_rows=2)
    found = read_bytes(folder, b"".join(MEMBERS), options=small)
    assert found.texts == BODIES and not found.losses


ODD_BLOCKS = [
    HTML_HEAD + "a\ufffcb\uff0c".encode() * 90,
    HTML_HEAD + "\u00e9\u4e2d\U0001f600".encode() * 900,
    HTML_HEAD,
    HTML_HEAD + b"\xef\xbb\xbf<p>marked",
    HTML_HEAD + b"caf\xe9 " * 400,
    HTML_HEAD + "<p>cut at the end \u4e2d".encode()[:-1],
    HTML_HEAD.replace(b"; charset=utf-8", b"") + b"<meta charset=latin1>" + b"caf\xe9 " * 400,
    HTML_HEAD.replace(b"200 OK", b"404 Not found") + b"x" * 3000,
    HTML_HEAD.replace(b"text/html", b"image/png") + b"x" * 3000,
    HTML_HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n") + b"5\r\nhello\r\n0\r\n\r\n",
    HTML_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + gzip.compress(b"<p>" * 999, mtime=0),
    HTML_HEAD.replace(b"\r\n", b"\n") + b"<p>bare line feeds" * 300,
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html",
    b"not HTTP",
]
ODD = [record(70 + n, block) for n, block in enumerate(ODD_BLOCKS)]
ODD += [record(90, "caf\u00e9 ".encode() * 700, "conversion"), record(91, b"caf\xe9" * 700, "conversion")]
ODD += [record(92, b"<html><p>\xe9" * 200, "resource"), record(93, b"<html>\r\n\r\n" * 200, "resource")]


def read_both_ways(folder: Path, data: bytes, piece: int, options: ReadOptions) -> None:
    """Without kernels in one piece, and with kernels in pieces: the same batches and losses."""
    found: list[Read] = []
    for pays, piece_bytes in ((False, 1 << 17), (True, piece)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(streams, "PIECE_BYTES", piece_bytes)
            for module in (batching, content_hashes, encodings, warc_records):
                patch.setattr(module, "kernels_pay", lambda _, pays=pays: pays)
            found.append(read_bytes(folder, data, "odd.warc", options))
    assert len(found[0].batches) == len(found[1].batches)
    assert all(one.equals(other) for one, other in zip(found[0].batches, found[1].batches, strict=True))
    assert list(map(repr, found[0].losses)) == list(map(repr, found[1].losses))


PIECES = st.sampled_from([1 << 17, 6000, 2500, 700, 64])


@given(
    order=st.permutations([*ODD, *PAGES[:3]]),
    piece=PIECES,
    batch=st.sampled_from([1 << 24, 6000, 700]),
    rows=st.sampled_from([4096, 3]),
)
def test_kernels_and_pieces_change_neither_batches_nor_losses(
    folder: Path, order: list[bytes], piece: int, batch: int, rows: int
) -> None:
    read_both_ways(folder, b"".join(order), piece, ReadOptions("d", batch_bytes=batch, batch_rows=rows))


SNIPPETS = [
    b"\r\n",
    b"\n",
    b"\r",
    b": ",
    b"\xef\xbf\xbc",
    b"\r\nWARC-Truncated: length",
    b"\r\nContent-Encoding: gzip",
    b"\r\nContent-Type: text/plain",
    b"\r\nWARC-Date: x",
    b"<",
    b'"',
]


@pytest.mark.parametrize("piece", [1 << 17, 700, 64])
@pytest.mark.parametrize("ends", [b"\r\n\n", b"\n\n", b"\n\r\n"])
def test_a_head_that_ends_at_bare_line_feeds_ends_there_in_any_pieces(folder: Path, ends: bytes, piece: int) -> None:
    pages = b"".join(PAGES[:3])
    for at in [n for n in range(len(PAGES[0])) if pages[n : n + 2] == b"\r\n"]:
        read_both_ways(folder, pages[:at] + ends + pages[at + 2 :], piece, OPTIONS)


@given(data=st.data(), piece=PIECES)
def test_noise_is_read_the_same_by_kernels(folder: Path, data: st.DataObject, piece: int) -> None:
    noisy = bytearray(b"".join([*PAGES[:3], ODD[0]]))
    line_ends = [at for at in range(len(noisy)) if noisy[at : at + 2] == b"\r\n"]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.sampled_from(line_ends) | st.integers(0, len(noisy)))
        noisy[start : start + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from(SNIPPETS) | st.binary(max_size=3)
        )
    read_both_ways(folder, bytes(noisy), piece, OPTIONS)


# File: texts, reasons. Counted by hand from the records that `warcio` and the files' own fields show.
SAMPLES: dict[str, tuple[int, list[str]]] = {
    "example.warc": (1, []),
    "example.warc.gz": (1, []),
    "example-bad-non-chunked.warc.gz": (1, []),
    "example-bad.warc.gz.bad": (1, ["http_status"]),
    "example-digest.warc": (0, []),
    "example-iana.org-chunked.warc": (1, []),
    "example-resource.warc.gz": (1, []),
    "example-space-in-target-uri.warc.gz": (0, ["mime"]),
    "example-trunc.warc": (0, ["corrupt"]),
    "example-wget-bad-target-uri.warc.gz": (3, []),
    "example-wrong-chunks.warc.gz": (1, []),
    "post-test.warc.gz": (0, ["mime", "mime", "mime"]),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_real_samples_are_fully_accounted_for(shared_data: Path, name: str) -> None:
    found = read("warc", shared_data / "web/warc/test/data" / name)
    rows, reasons = SAMPLES[name]
    assert (len(found.rows), found.reasons) == (rows, reasons)
    assert all(any(word in text.lower() for word in ("example", "wget", "iana")) for text in found.texts)


@pytest.mark.parametrize("name", ["bad.arc", "example.arc", "example.arc.gz", "example-space-in-url.arc"])
def test_arc_files_are_said_to_be_no_warc(shared_data: Path, name: str) -> None:
    found = read("warc", shared_data / "web/warc/test/data" / name)
    assert not found.rows and found.reasons == ["corrupt"]
