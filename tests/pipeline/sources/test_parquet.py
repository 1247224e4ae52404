"""Parquet: columns, row groups, damage, and the same ids as JSON Lines."""

import datetime
import decimal
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import DOCUMENT, content_hash, document_batch
from gristmill.pipeline.sources.protocol import ReadOptions
from tests.pipeline.sources.reading import OPTIONS, Read, read
from tests.pipeline.sources.tables import KEYED_ROWS, ROWS, Row, as_jsonl, metas, table, without_meta


def read_table(folder: Path, data: pa.Table, options: ReadOptions = OPTIONS, **how: Any) -> Read:
    pq.write_table(data, folder / "a.parquet", **how)
    return read("parquet", folder / "a.parquet", options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property."""
    return tmp_path_factory.mktemp("parquet")


def test_columns_become_those_of_a_document(folder: Path) -> None:
    found = read_table(folder, table(ROWS))
    assert found.texts == [row["text"] for row in ROWS] and not found.losses
    assert [row["url"] for row in found.rows] == ["https://example.org/1", "https://example.org/2", None]
    assert [row["lang"] for row in found.rows] == ["en", None, "fr"]
    assert [row["license"] for row in found.rows] == [None, "MIT", None]
    assert [meta["n"] for meta in metas(found)] == [1, 2, 3] and metas(found)[0]["score"] == 0.5


@given(rows=KEYED_ROWS)
def test_the_same_rows_have_the_same_ids_as_in_json_lines(folder: Path, rows: list[Row]) -> None:
    """M8, and any size of row group."""
    found = read_table(folder, table(rows), row_group_size=3)
    assert without_meta(found) == without_meta(as_jsonl(folder, rows, OPTIONS))


@given(texts=st.lists(st.sampled_from(["a", "", "c", "\ufffc"]), min_size=1, max_size=9))
def test_ids_without_a_key_come_from_content_not_from_position(folder: Path, texts: list[str]) -> None:
    """M8: an empty text is a row, and moves no id behind it."""
    found = read_table(folder, pa.table({"text": texts}), row_group_size=2)
    assert [row["id"] for row in found.rows] == [
        content_hash(text.replace("\ufffc", "\ufffd").encode()).hex() for text in texts
    ]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()), pa.binary()]
)
def test_text_may_have_any_type_of_string(folder: Path, kind: pa.DataType) -> None:
    texts = ["a\u4e2d", "", "a\u4e2d", "b" * 50]
    assert read_table(folder, pa.table({"text": pa.array(texts).cast(kind)})).texts == texts


def test_null_text_is_lost_alone(folder: Path) -> None:
    found = read_table(folder, pa.table({"text": ["a", None, "c", None]}), row_group_size=2)
    assert found.texts == ["a", "c"] and found.reasons == ["missing_text"] * 2
    assert [loss.offset for loss in found.losses] == [1, 3]


def test_text_that_is_not_utf8_is_lost_alone(folder: Path) -> None:
    data = pa.table({"text": pa.array([b"a", b"\xff", b"c"], pa.binary()).view(pa.string())})
    found = read_table(folder, data)
    assert found.texts == ["a", "c"] and found.reasons == ["bad_utf8"] and found.losses[0].offset == 1


def test_a_text_above_the_limit_is_lost_alone(folder: Path) -> None:
    found = read_table(folder, pa.table({"text": ["a", "b" * 101, "c" * 100]}), ReadOptions("d", max_doc_bytes=100))
    assert found.texts == ["a", "c" * 100] and found.reasons == ["too_large"]
    assert (found.losses[0].value, found.losses[0].limit) == (101, 100)


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ({"text": [1, 2]}, OPTIONS, ["text", "int64"]),
        ({"text": [["a"], ["b"]]}, OPTIONS, ["text", "list"]),
        ({"body": ["a", "b"]}, OPTIONS, ["text", "body"]),
        ({"text": ["a", "b"]}, ReadOptions("d", key="sha"), ["sha"]),
        ({"text": ["a", "b"], "sha": [[1], [2]]}, ReadOptions("d", key="sha"), ["sha", "list"]),
    ],
)
def test_columns_that_do_not_fit_are_an_error_that_names_them(
    folder: Path, data: dict[str, list[Any]], options: ReadOptions, words: list[str]
) -> None:
    with pytest.raises(InputError) as error:
        read_table(folder, pa.table(data), options)
    assert error.value.remedy and all(word in str(error.value) for word in [*words, "a.parquet"])


def test_the_text_column_and_the_key_are_named_by_options(folder: Path) -> None:
    options = ReadOptions("d", key="sha", extra={"text": "body"})
    rows: list[Row] = [{"sha": 7, "body": "a"}, {"sha": None, "body": "b"}]
    found = read_table(folder, table(rows), options)
    assert found.texts == ["a"] and found.reasons == ["missing_key"]
    assert without_meta(found) == without_meta(as_jsonl(folder, rows, options))


def test_other_types_become_json(folder: Path) -> None:
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
    columns: dict[str, pa.Array] = {
        "text": pa.array(["a", "b"]),
        "ns": pa.array([1, None], pa.timestamp("ns")),
        "tz": pa.array([at, None], pa.timestamp("us", "Europe/Paris")),
        "day": pa.array([at.date(), None]),
        "clock": pa.array([at.time(), None]),
        "span": pa.array([1, None], pa.duration("ns")),
        "price": pa.array([decimal.Decimal("1.50"), None]),
        "raw": pa.array([b"\xff\x00", None]),
        "tags": pa.array([["a", None], None]),
        "times": pa.array([[1], None], pa.list_(pa.timestamp("ns"))),
        "deep": pa.array([{"x": {"y": [1.5, None]}}, None]),
        "pairs": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "nan": pa.array([float("nan"), None]),
        "big": pa.array([2**64 - 1, None], pa.uint64()),
        "none": pa.nulls(2),
    }
    found = read_table(folder, pa.table(columns))
    assert found.texts == ["a", "b"] and not found.losses
    first, second = metas(found)
    assert (first["tags"], first["deep"], first["big"]) == (["a", None], {"x": {"y": [1.5, None]}}, 2**64 - 1)
    assert str(first["price"]) == "1.50" and first["day"] == "2024-01-02"
    assert not any(second.values())


def test_columns_of_one_name_are_told_apart_or_refused(folder: Path) -> None:
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"])
    with pytest.raises(InputError):
        read_table(folder, twice)
    note = pa.Table.from_arrays([pa.array(["a"]), pa.array(["x"]), pa.array(["y"])], ["text", "note", "note"])
    found = read_table(folder, note)
    assert found.texts == ["a"] and {"x", "y"} >= {metas(found)[0]["note"]}


def test_documents_of_gristmill_keep_what_they_are(folder: Path) -> None:
    rows: list[Row] = [
        {
            "id": "0" * 31 + "1",
            "text": "a",
            "domain": "web",
            "url": "u",
            "lang": "en",
            "meta": '{"x":1}',
            "parents": ["p"],
        },
        {
            "id": "0" * 31 + "2",
            "text": "b\ufffc",
            "derivation": "split",
            "media": [{"kind": "image", "sha256": b"s" * 32}],
        },
        {"id": "0" * 31 + "3", "text": "b\ufffcc\ufffc", "media": [{"kind": "image", "sha256": b"s" * 32}]},
        {"id": "0" * 31 + "4", "text": "d\ufffc", "content_hash": b"\0" * 16},
    ]
    batch = document_batch(
        {name: pa.array([row.get(name) for row in rows], DOCUMENT.field(name).type) for name in DOCUMENT.names}
    )
    found = read_table(folder, pa.Table.from_batches([batch]).replace_schema_metadata({"gristmill": "1"}))
    assert [row["id"][-1] for row in found.rows] == ["1", "2", "4"] and found.reasons == ["bad_field"]
    first, second, last = found.rows
    assert (first["domain"], first["url"], first["lang"], first["meta"], first["parents"]) == (
        "web",
        "u",
        "en",
        '{"x":1}',
        ["p"],
    )
    assert second["derivation"] == "split" and second["media"][0]["sha256"] == b"s" * 32
    assert last["text"] == "d\ufffd"


def test_batches_are_bounded_by_bytes_and_rows(folder: Path) -> None:
    texts = ["x" * (n % 5 * 100) for n in range(100)]
    found = read_table(folder, pa.table({"text": texts}), ReadOptions("d", batch_bytes=1000, batch_rows=7))
    assert found.texts == texts


@given(cut=st.integers(0, 4000))
def test_a_cut_file_is_one_loss(folder: Path, cut: int) -> None:
    pq.write_table(table(ROWS * 5), folder / "whole.parquet", row_group_size=4)
    data = (folder / "whole.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(data[: min(cut, len(data) - 1)])
    found = read("parquet", folder / "cut.parquet")
    assert (not found.rows and found.reasons in (["truncated"], ["corrupt"])) or (cut == 0 and not found.losses)


@pytest.mark.parametrize(
    "data", [b"not parquet at all" * 9, b"PAR1" + b"\xff" * 60 + b"PAR1", b"\x1f\x8b\x08" + bytes(50)]
)
def test_a_file_that_is_not_parquet_is_one_loss(folder: Path, data: bytes) -> None:
    (folder / "no.parquet").write_bytes(data)
    found = read("parquet", folder / "no.parquet")
    assert not found.rows and found.reasons == ["corrupt"] and found.losses[0].raw.startswith(data[:16])


@given(at=st.integers(4, 10_000), flip=st.integers(1, 255))
def test_a_changed_byte_loses_its_row_group_and_no_other(folder: Path, at: int, flip: int) -> None:
    rows = [{"id": str(n), "text": f"text {n} " + "y" * n} for n in range(40)]
    path = folder / "sums.parquet"
    pq.write_table(table(rows), path, row_group_size=10, write_page_checksum=True, use_dictionary=False)
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    at = 4 + at % (footer - 4)
    data[at] ^= flip
    path.write_bytes(data)
    found = read("parquet", path)
    texts = [row["text"] for row in rows]
    assert [text for text in found.texts if text in texts] == found.texts
    assert found.texts == texts or found.reasons == ["corrupt"]
    assert len(found.texts) >= 30


def test_memory_urls_are_read() -> None:
    with fsspec.open("memory://tables/a.parquet", "wb") as out:
        pq.write_table(table(ROWS), out)
    assert read("parquet", "memory://tables/a.parquet").texts == [row["text"] for row in ROWS]


@pytest.mark.parametrize("as_dictionary", [True, False])
def test_a_dictionary_that_blows_up_is_read_in_bounded_memory(folder: Path, as_dictionary: bool) -> None:
    """A file of 20 KB: 3,000 rows of one text of 400 KB, which are 1.2 GB; its column says that it is a dictionary,
    or only its pages do."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["x" * 400_000]))
    pq.write_table(pa.table({"text": texts}), folder / "bomb.parquet", store_schema=as_dictionary)
    code = (
        "import sys; from pathlib import Path; from gristmill.pipeline.sources import parquet\n"
        "from gristmill.pipeline.sources.protocol import InputFile, ReadOptions\n"
        "file = InputFile(sys.argv[1], 'a', 0, '')\n"
        "print(sum(part.batch.num_rows for part in parquet.read_file(file, ReadOptions('d'))),"
        " Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])"
    )
    words = [sys.executable, "-c", code, str(folder / "bomb.parquet")]
    rows, peak_kib = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert rows == "3000" and int(peak_kib) < 512 << 10
