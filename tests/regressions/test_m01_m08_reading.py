"""M1 to M8: inputs of which a well-known tool loses documents silently, or dies, while reading.

Each test has the input of one case, and shows what becomes of it here: a row, or a loss that is counted.
"""

import gzip
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.manifests.schema import content_hash, record_id
from tests.pipeline.sources.checked import input_file, read_bytes, read_file, reasons, texts


def _lines(count: int) -> list[bytes]:
    return [orjson.dumps({"text": f"document {number}"}) for number in range(count)]


@pytest.mark.parametrize("count", [11, 40_001])
def test_m01_one_invalid_byte_costs_one_line(count: int, tmp_path: Path) -> None:
    """There: 19,773 of 40,001 documents, or none of 11, and the task is marked complete."""
    lines = _lines(count)
    bad = count // 2
    lines[bad] = b'{"text": "\xff"}'
    rows, (loss,) = read_bytes("jsonl", b"\n".join(lines) + b"\n", tmp_path, "a.jsonl")
    assert texts(rows) == [f"document {number}" for number in range(count) if number != bad]
    assert (loss.verdict, loss.reason, loss.raw) == ("quarantine", "bad_utf8", lines[bad])
    assert loss.offset == sum(len(line) + 1 for line in lines[:bad])


def test_m02_a_gzip_that_is_cut_in_half_costs_its_tail(tmp_path: Path) -> None:
    """There: EOFError ends the task, where an invalid byte does not."""
    lines = [orjson.dumps({"text": content_hash(b"%d" % number).hex()}) for number in range(1000)]
    packed = gzip.compress(b"\n".join(lines) + b"\n")
    rows, (loss,) = read_bytes("jsonl", packed[: len(packed) // 2], tmp_path, "a.jsonl.gz")
    assert 400 < len(rows) < 600
    assert texts(rows) == [orjson.loads(line)["text"] for line in lines[: len(rows)]]
    assert (loss.verdict, loss.reason) == ("quarantine", "truncated")
    assert loss.offset == sum(len(line) + 1 for line in lines[: len(rows)])


@pytest.mark.parametrize("media", [None, 5, "x", [], {}, [None]])
def test_m03_a_field_called_media_is_data_like_any_other(media: object, tmp_path: Path) -> None:
    """There: TypeError ends the shard for null."""
    lines = [orjson.dumps({"text": "a", "media": media}), orjson.dumps({"text": "b"})]
    rows, losses = read_bytes("jsonl", b"\n".join(lines), tmp_path, "a.jsonl")
    assert (texts(rows), losses) == (["a", "b"], [])
    assert rows[0]["media"] is None
    assert orjson.loads(rows[0]["meta"]) == {"d": {"media": media}}


@pytest.mark.parametrize("line", [b"[1,2]", b"7", b'"text"', b"null", b"true"])
def test_m04_a_line_that_is_no_object_costs_itself(line: bytes, tmp_path: Path) -> None:
    """There: AttributeError ends the shard."""
    rows, losses = read_bytes("jsonl", b'{"text": "a"}\n%s\n{"text": "b"}' % line, tmp_path, "a.jsonl")
    assert (texts(rows), reasons(losses)) == (["a", "b"], ["not_an_object"])


@pytest.mark.parametrize("text", [b"5", b"[]", b"{}", b"true"])
def test_m05_a_text_that_is_no_string_costs_its_line(text: bytes, tmp_path: Path) -> None:
    """There: TypeError ends the shard."""
    rows, losses = read_bytes("jsonl", b'{"text": "a"}\n{"text": %s}\n{"text": "b"}' % text, tmp_path, "a.jsonl")
    assert (texts(rows), reasons(losses)) == (["a", "b"], ["bad_field"])


def test_m06_what_is_not_json_is_counted_and_a_byte_order_mark_is_none_of_it(tmp_path: Path) -> None:
    """There: each of the three drops its record with a warning and without a count."""
    data = b'\xef\xbb\xbf{"text": "first"}\n{"text": "\\ud800"}\n{"text": "a", "score": NaN}\n{"text": "last"}\n'
    rows, losses = read_bytes("jsonl", data, tmp_path, "a.jsonl")
    assert texts(rows) == ["first", "last"]
    assert reasons(losses) == ["bad_json", "bad_json"]


@pytest.mark.parametrize(
    "line", [b'{"metadata":{"url":"A"},"url":"B","text":"t"}', b'{"url":"B","text":"t","metadata":{"url":"A"}}']
)
def test_m07_fields_of_one_name_at_two_depths_stay_apart(line: bytes, tmp_path: Path) -> None:
    """There: one silently wins."""
    (row,), losses = read_bytes("jsonl", line, tmp_path, "a.jsonl")
    assert not losses
    assert row["url"] == "B"
    assert orjson.loads(row["meta"]) == {"d": {"metadata": {"url": "A"}}}
    assert row["id"] == record_id("url", "", "B")


def test_m08_an_empty_text_is_a_row_and_moves_no_id(tmp_path: Path) -> None:
    """There: ids count the rows that were kept, so that Parquet and JSON Lines of the same data differ."""
    pq.write_table(pa.table({"text": ["a", "", "c"]}), tmp_path / "a.parquet")
    columnar, _ = read_file("parquet", input_file(tmp_path / "a.parquet"))
    lines, _ = read_bytes("jsonl", b'{"text":"a"}\n{"text":""}\n{"text":"c"}\n', tmp_path, "a.jsonl")
    assert texts(columnar) == texts(lines) == ["a", "", "c"]
    assert columnar == lines
    assert [row["id"] for row in lines] == [content_hash(text.encode()).hex() for text in ("a", "", "c")]
    without, _ = read_bytes("jsonl", b'{"text":"c"}\n', tmp_path, "other.jsonl")
    assert without[0]["id"] == lines[2]["id"]
