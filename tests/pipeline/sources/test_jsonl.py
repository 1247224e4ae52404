"""JSON Lines: what becomes a row, what a loss, and that nothing vanishes between the two."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.schema import content_hash, record_id
from gristmill.pipeline.sources import jsonl
from tests.pipeline.sources.checked import input_file, read_bytes, reasons, texts, with_options

LINES = [orjson.dumps({"id": f"k{i}", "text": f"text {i} é中\U0001f600 " * (i % 7), "n": i}) for i in range(300)]
WHOLE = b"\n".join(LINES) + b"\n"


def _gzip(*parts: bytes) -> bytes:
    return b"".join(gzip.compress(part) for part in parts)


def _zstd(*parts: bytes) -> bytes:
    return b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(part) for part in parts)


FORMS = {
    "a.jsonl": WHOLE,
    "a.jsonl.gz": _gzip(WHOLE[:5000], WHOLE[5000:5001], b"", WHOLE[5001:]),
    "b.jsonl.gz": _gzip(b"", WHOLE),
    "a.jsonl.zst": _zstd(WHOLE[:100], b"", WHOLE[100:9000], WHOLE[9000:]),
    "no_suffix": _gzip(WHOLE),
    "lies.jsonl.gz": WHOLE,
    "lies.jsonl.zst": WHOLE,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    plain, _ = read_bytes("jsonl", WHOLE, tmp_path, "plain.jsonl")
    rows, losses = read_bytes("jsonl", FORMS[name], tmp_path, name)
    assert rows == plain
    assert not losses
    assert texts(rows) == [json.loads(line)["text"] for line in LINES]


def test_columns_ids_and_meta(tmp_path: Path) -> None:
    line = {
        "id": "x1",
        "text": "t",
        "url": "http://u",
        "lang": "en",
        "license": "MIT",
        "source": "s",
        "a": {"url": "v"},
    }
    (row,), _ = read_bytes("jsonl", orjson.dumps(line), tmp_path, "a.jsonl")
    assert row["id"] == record_id("key", "d", "x1")
    assert (row["url"], row["lang"], row["license"], row["source"], row["domain"]) == (
        "http://u",
        "en",
        "MIT",
        "d",
        "web",
    )
    assert json.loads(row["meta"]) == {"d": {"id": "x1", "source": "s", "a": {"url": "v"}}}
    assert row["meta"] == '{"d":{"id":"x1","source":"s","a":{"url":"v"}}}'


@pytest.mark.parametrize(
    ("line", "key", "wanted"),
    [
        ({"text": "t", "id": "a", "key": "b"}, None, record_id("key", "d", "a")),
        ({"text": "t", "id": None, "key": "b"}, None, record_id("key", "d", "b")),
        ({"text": "t", "id": "", "url": "u"}, None, record_id("url", "", "u")),
        ({"text": "t", "id": 7}, None, record_id("key", "d", "7")),
        ({"text": "t", "url": "u"}, None, record_id("url", "", "u")),
        ({"text": "t"}, None, content_hash(b"t").hex()),
        ({"text": "t", "id": "a", "no": 3}, "no", record_id("key", "d", "3")),
        ({"text": "t", "url": "u"}, "url", record_id("key", "d", "u")),
    ],
)
def test_ids(line: dict[str, object], key: str | None, wanted: str, tmp_path: Path) -> None:
    # Once where every record is alike, once among others, which takes another way through the code.
    other = {"text": "o", "no": "other", "url": "w"}
    for lines in ([line], [line, other], [other, line]):
        rows, losses = read_bytes("jsonl", _lines(*lines), tmp_path, "a.jsonl", with_options(key=key))
        assert not losses
        assert wanted in [row["id"] for row in rows]


def test_the_id_does_not_depend_on_the_place(tmp_path: Path) -> None:
    rows, _ = read_bytes("jsonl", _lines({"text": "a"}, {"text": "b"}), tmp_path, "a.jsonl")
    moved, _ = read_bytes("jsonl", _lines({"text": "b"}, {"text": ""}, {"text": "a"}), tmp_path, "other.jsonl")
    assert {row["text"]: row["id"] for row in rows}.items() <= {row["text"]: row["id"] for row in moved}.items()


FAULTS = {
    b"\xff\xfe": "bad_utf8",
    b'{"text": "\xe9"}': "bad_utf8",
    b'{"text": "a"': "bad_json",
    b'{"text": NaN}': "bad_json",
    b'{"text": "\\ud800"}': "bad_json",
    b'{"text": "a"} {"text": "b"}': "bad_json",
    b"[1,2]": "not_an_object",
    b"3": "not_an_object",
    b'"text"': "not_an_object",
    b"null": "not_an_object",
    b"{}": "missing_text",
    b'{"text": null}': "missing_text",
    b'{"text": 5}': "bad_field",
    b'{"text": ["a"]}': "bad_field",
    b'{"text": "a", "id": {"b": 1}}': "bad_field",
    b'{"text": "a", "id": true}': "bad_field",
    b'{"text": "a", "url": 3}': "bad_field",
    b'{"text": "a", "lang": []}': "bad_field",
    b'{"text": "a", "language": {}}': "bad_field",
    b'{"text": "a", "license": false}': "bad_field",
    b'{"text": "a", "deep": ' + b"[" * 300 + b"]" * 300 + b"}": "bad_field",
    b'{"text": "a", "deep": ' + b"[" * 2000 + b"]" * 2000 + b"}": "bad_json",
    b"\0\0\0": "bad_json",
}


@pytest.mark.parametrize("line", FAULTS)
def test_a_bad_line_is_lost_alone(line: bytes, tmp_path: Path) -> None:
    before, after = b'{"id":"1","text":"x"}', b'{"id":"2","text":"y"}'
    rows, losses = read_bytes("jsonl", b"\n".join([before, line, after, b""]), tmp_path, "a.jsonl")
    assert texts(rows) == ["x", "y"]
    assert reasons(losses) == [FAULTS[line]]
    assert losses[0].offset == len(before) + 1
    assert losses[0].raw == line[:256]
    assert losses[0].raw_hash == content_hash(line)


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b" \t\r"])
def test_blank_lines_are_no_records(line: bytes, tmp_path: Path) -> None:
    rows, losses = read_bytes("jsonl", line + b'\n{"text":"x"}\r\n' + line + b"\n" + line, tmp_path, "a.jsonl")
    assert (texts(rows), losses) == (["x"], [])


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n"])
def test_a_file_without_records(data: bytes, tmp_path: Path) -> None:
    assert read_bytes("jsonl", data, tmp_path, "a.jsonl") == ([], [])


def test_unusual_text_stays_as_it_is(tmp_path: Path) -> None:
    text = "a\u2028b\u0085c\x1cd\0e\r\nf\x0bg\ufeffh\ufffdi"
    raw = json.dumps({"text": text}, ensure_ascii=False).encode()
    assert b"\xe2\x80\xa8" in raw
    (row,), losses = read_bytes("jsonl", raw + b"\n", tmp_path, "a.jsonl")
    assert (row["text"], losses) == (text, [])


def test_the_mark_of_a_medium_is_replaced(tmp_path: Path) -> None:
    (row, other), _ = read_bytes("jsonl", _lines({"text": "a\ufffcb\uf8ff"}, {"text": "\ufffc"}), tmp_path, "a.jsonl")
    assert (row["text"], other["text"]) == ("a\ufffdb\uf8ff", "\ufffd")


@pytest.mark.parametrize("name", ["id", "k"])
@pytest.mark.parametrize("value", [b"", b', "%s": null', b', "%s": ""'])
def test_a_missing_key(name: str, value: bytes, tmp_path: Path) -> None:
    line = b'{"text": "a"' + value.replace(b"%s", name.encode()) + b"}"
    rows, losses = read_bytes("jsonl", line, tmp_path, "a.jsonl", with_options(key=name))
    assert (rows, reasons(losses)) == ([], ["missing_key"])


def test_another_text_field(tmp_path: Path) -> None:
    options = with_options(extra={"text": "content"})
    rows, losses = read_bytes("jsonl", _lines({"content": "c"}, {"text": "t"}), tmp_path, "a.jsonl", options)
    assert (texts(rows), reasons(losses)) == (["c"], ["missing_text"])


def test_lang_before_language(tmp_path: Path) -> None:
    lines = _lines({"text": "", "lang": "en", "language": "fr"}, {"text": "", "language": "de"}, {"text": ""})
    rows, _ = read_bytes("jsonl", lines, tmp_path, "a.jsonl")
    assert [row["lang"] for row in rows] == ["en", "de", None]
    assert [row["meta"] for row in rows] == ['{"d":{"language":"fr"}}', None, None]


def test_the_license_of_the_dataset_fills_in(tmp_path: Path) -> None:
    lines = _lines({"text": "", "license": "MIT"}, {"text": ""})
    rows, _ = read_bytes("jsonl", lines, tmp_path, "a.jsonl", with_options(license="CC0-1.0"))
    assert [row["license"] for row in rows] == ["MIT", "CC0-1.0"]


def test_batches_are_bounded(tmp_path: Path) -> None:
    for bounds in ({"batch_rows": 7}, {"batch_bytes": 500}, {"batch_bytes": 1}, {"batch_rows": 1}):
        rows, losses = read_bytes("jsonl", WHOLE, tmp_path, "a.jsonl", with_options(**bounds))
        assert (len(rows), losses) == (len(LINES), [])


def test_many_losses_do_not_pile_up(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"[]\n" * 100)
    batches = list(jsonl.read_file(input_file(path), with_options(batch_rows=10)))
    assert [len(batch.losses) for batch in batches] == [10] * 10


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
@given(cut=st.floats(0, 1))
def test_a_cut_loses_the_tail_alone(name: str, cut: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole, _ = read_bytes("jsonl", WHOLE, folder, "whole.jsonl")
    data = FORMS[name]
    rows, losses = read_bytes("jsonl", data[: int(cut * len(data))], folder, name)
    assert rows == whole[: len(rows)]
    assert len(losses) <= 1
    assert reasons(losses) in ([], ["truncated"])


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_a_cut_line_is_not_bad_json(name: str, tmp_path: Path) -> None:
    data = {"a.jsonl": WHOLE[:-9], "a.jsonl.gz": _gzip(WHOLE)[:-9], "a.jsonl.zst": _zstd(WHOLE)[:-9]}[name]
    rows, (loss,) = read_bytes("jsonl", data, tmp_path, name)
    assert loss.reason == "truncated"
    assert 0 <= loss.offset <= len(WHOLE)
    assert WHOLE[loss.offset :].startswith(loss.raw)
    assert len(rows) == WHOLE[: loss.offset].count(b"\n")


@pytest.mark.parametrize(("pack", "name"), [(_gzip, "a.gz"), (_zstd, "a.zst")])
@given(at=st.floats(0, 1, exclude_max=True), flip=st.sampled_from([1, 2, 16, 128]))
def test_a_damaged_member_is_lost_and_no_other(
    pack: Callable[[bytes], bytes], name: str, at: float, flip: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = [b"\n".join(LINES[i : i + 100]) + b"\n" for i in (0, 100, 200)]
    packed = [bytearray(pack(part)) for part in parts]
    packed[1][int(at * len(packed[1]))] ^= flip
    rows, losses = read_bytes("jsonl", b"".join(packed), tmp_path_factory.mktemp("flip"), name)
    read = [json.loads(row["meta"])["d"]["n"] for row in rows]
    # What a flip in an unchecked field of a header leaves whole is whole.
    assert read == list(range(300)) if not losses else read == [*range(100), *range(200, 300)]
    assert [(loss.reason, loss.offset) for loss in losses] in ([], [("corrupt", len(parts[0]))])


@pytest.mark.parametrize(("pack", "name"), [(_gzip, "a.gz"), (_zstd, "a.zst")])
def test_a_large_member_is_read_up_to_its_damage(pack: Callable[[bytes], bytes], name: str, tmp_path: Path) -> None:
    lines = [orjson.dumps({"text": hashlib.sha256(b"%d" % i).hexdigest() * 9, "n": i}) for i in range(3000)]
    data = b"\n".join(lines) + b"\n"
    packed = bytearray(pack(data))
    packed[-3] ^= 1
    rows, losses = read_bytes("jsonl", bytes(packed) + pack(b'{"text": "next"}'), tmp_path, name)
    assert [row["text"] for row in rows[:-1]] == [json.loads(line)["text"] for line in lines[: len(rows) - 1]]
    assert texts(rows[-1:]) == ["next"]
    # What the decoder had before it met the damage, which is most.
    assert len(rows) > len(lines) // 2
    assert [(loss.reason, data[loss.offset :].startswith(loss.raw)) for loss in losses] == [("corrupt", True)]


def test_a_line_over_two_members_of_which_one_is_damaged(tmp_path: Path) -> None:
    first, second = _gzip(b'{"text":"a"}\n{"text":"b'), _gzip(b'bb"}\n{"text":"c"}\n')
    broken = bytearray(first)
    broken[-6] ^= 1
    rows, losses = read_bytes("jsonl", bytes(broken) + second, tmp_path, "a.jsonl.gz")
    assert (texts(rows), reasons(losses)) == (["c"], ["corrupt"])
    broken = bytearray(second)
    broken[-6] ^= 1
    rows, losses = read_bytes("jsonl", first + bytes(broken), tmp_path, "a.jsonl.gz")
    assert (texts(rows), reasons(losses)) == (["a"], ["corrupt"])
    assert losses[0].raw == b'{"text":"b'


def test_garbage_behind_the_last_member(tmp_path: Path) -> None:
    rows, losses = read_bytes("jsonl", _gzip(WHOLE) + b"garbage", tmp_path, "a.jsonl.gz")
    assert (len(rows), reasons(losses)) == (len(LINES), ["corrupt"])
    rows, losses = read_bytes("jsonl", _gzip(WHOLE) + bytes(600), tmp_path, "a.jsonl.gz")
    assert (len(rows), losses) == (len(LINES), [])


@given(
    lines=st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.builds(lambda text, key: orjson.dumps({"text": text, "id": key}), st.text(), st.text()),
            st.sampled_from(list(FAULTS)),
        ),
        max_size=12,
    ),
    rows=st.integers(1, 4),
)
def test_books_balance(lines: list[bytes], rows: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = b"\n".join(lines) + b"\n"
    wanted = [line for line in data.split(b"\n") if line.strip()]
    read, losses = read_bytes("jsonl", data, tmp_path_factory.mktemp("b"), "a.jsonl", with_options(batch_rows=rows))
    assert len(read) + len(losses) == len(wanted)
    offsets = {loss.offset for loss in losses}
    at, lost = 0, []
    for line in data.split(b"\n")[:-1]:
        if at in offsets:
            lost.append(line[:256])
        at += len(line) + 1
    assert [loss.raw for loss in losses] == lost


@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
def test_too_large_lines_are_passed_over(pack: str, tmp_path: Path) -> None:
    long = orjson.dumps({"text": "x" * 3_000_000})
    data = b"\n".join([LINES[0], long, LINES[1], long])
    data = {"": data, ".gz": _gzip(data), ".zst": _zstd(data)}[pack]
    rows, losses = read_bytes("jsonl", data, tmp_path, f"a.jsonl{pack}", with_options(max_doc_bytes=5000))
    assert len(rows) == 2
    assert [(loss.reason, loss.value, loss.limit) for loss in losses] == [("too_large", len(long), 5000)] * 2
    assert all(loss.raw_hash == content_hash(long) for loss in losses)


@pytest.mark.parametrize("limit", [10, 100])
def test_too_large_by_a_byte(limit: int, tmp_path: Path) -> None:
    fitting = b'{"text":"' + b"x" * (limit - 11) + b'"}'
    options = with_options(max_doc_bytes=len(fitting))
    rows, losses = read_bytes("jsonl", fitting + b"\n " + fitting + b"\n", tmp_path, "a.jsonl", options)
    assert (len(rows), reasons(losses)) == (1, ["too_large"])


def _lines(*records: dict[str, object]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)
