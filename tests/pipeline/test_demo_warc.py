"""WARC files as another parser, and zlib alone, see them."""

import zlib
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.demo_warc import Page, write_cut_warc, write_warcs

PAGES = [Page(f"http://a.example.org/{i}", f"<p>{i} é".encode() * 40) for i in range(5)]


def whole_members(data: bytes) -> tuple[int, bool]:
    """(number of whole gzip members, whether part of a further one follows), by zlib alone."""
    count = 0
    while data:
        inflate = zlib.decompressobj(wbits=31)
        inflate.decompress(data)
        if not inflate.eof:
            return count, True
        count, data = count + 1, inflate.unused_data
    return count, False


def test_each_record_is_a_gzip_member_after_a_warcinfo(tmp_path: Path) -> None:
    assert write_warcs(tmp_path, "a", PAGES, 1 << 20) == sum(len(page.body) for page in PAGES)
    (path,) = tmp_path.iterdir()
    assert whole_members(path.read_bytes()) == (1 + 5, False)
    with path.open("rb") as file:
        first = next(iter(ArchiveIterator(file, parse_http=False)))
        assert first.record_type == WarcRecordType.warcinfo
        assert first.headers["WARC-Filename"] == path.name == "a-000.warc.gz"


def test_a_new_file_begins_once_one_is_full(tmp_path: Path) -> None:
    write_warcs(tmp_path, "a", PAGES, len(PAGES[0].body) + 1)
    found = {path.name: whole_members(path.read_bytes())[0] - 1 for path in tmp_path.iterdir()}
    assert found == {"a-000.warc.gz": 2, "a-001.warc.gz": 2, "a-002.warc.gz": 1}
    assert write_warcs(tmp_path, "none", [], 1) == 0
    assert not list(tmp_path.glob("none*"))


def test_cut_file_ends_inside_its_last_record(tmp_path: Path) -> None:
    write_cut_warc(tmp_path / "cut.warc.gz", PAGES)
    assert whole_members((tmp_path / "cut.warc.gz").read_bytes()) == (1 + 4, True)


@given(bodies=st.lists(st.binary(max_size=400), min_size=1, max_size=4, unique=True))
def test_any_body_comes_back_with_its_digests(bodies: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("warc")
    write_warcs(folder, "a", [Page("http://a.example.org/", body) for body in bodies], 1 << 20)
    found: dict[str | None, bytes] = {}
    with (folder / "a-000.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
            assert record.verify_block_digest()
            record.parse_http()
            assert record.verify_payload_digest()
            assert record.http_headers is not None
            found[record.record_id] = record.reader.read()
            is_utf8 = found[record.record_id].decode("utf-8", "ignore").encode() == found[record.record_id]
            assert record.http_headers["Content-Type"] == "text/html" + "; charset=utf-8" * is_utf8
    assert list(found.values()) == bodies
