"""Long JSON lines: the same rows as short ones, in memory for the line and the text alone."""

import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.sources import jsonl
from gristmill.pipeline.sources.long_lines import split_text, unescape
from tests.pipeline.sources.checked import OPTIONS, read_bytes, reasons, texts

# What may stand in the escaped inside of a string, longer than a part in all.
UNITS = [
    "a",
    "\\n",
    "\\\\",
    '\\"',
    "\\u00e9",
    "\\ud83d\\ude00",
    "\u00e9",
    "\u4e2d",
    "\U0001f600",
    "\\/",
    "\\ufffc",
    " ",
]


@given(units=st.lists(st.sampled_from(UNITS), max_size=30), times=st.sampled_from([1, 200, 3000]))
def test_unescape_is_what_json_says(units: list[str], times: int) -> None:
    inside = "".join(units * times).encode()
    line = b'xx"' + inside + b'"yy'
    assert unescape(line, 3, 3 + len(inside)).to_pybytes() == orjson.loads(b'"' + inside + b'"').encode()


@pytest.mark.parametrize("before", [0, 1, 2, 3])
@pytest.mark.parametrize("char", ["\u00e9", "\u4e2d", "\U0001f600"])
def test_parts_end_between_characters(before: int, char: str) -> None:
    text = "a" * before + char * (3 << 20 >> 1)
    line = b'"' + text.encode() + b'"'
    assert unescape(line, 1, len(line) - 1).to_pybytes() == text.encode()


@given(
    doc=st.dictionaries(
        st.text(max_size=5) | st.just("text"),
        st.recursive(
            st.none() | st.integers(0, 9) | st.text(max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("text"), inner),
            max_leaves=8,
        ),
        max_size=6,
    ),
    indent=st.sampled_from([None, 1]),
)
def test_split_takes_the_top_level_text_and_nothing_else(doc: dict[str, object], indent: int | None) -> None:
    line = json.dumps(doc, indent=indent).encode()
    found = split_text(line, "text")
    if isinstance(doc.get("text"), str):
        assert found is not None
        assert orjson.loads(found.rest) == doc | {"text": ""}
        assert unescape(line, found.start, found.end).to_pybytes() == str(doc["text"]).encode()
    else:
        assert found is None


LONG = "x\u00e9\n" * 40


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (json.dumps({"id": "i", "text": LONG, "url": "u", "m": {"text": "inner"}}), None),
        (json.dumps({"text": LONG + "\ufffc"}, ensure_ascii=False), None),
        ("\ufeff" + json.dumps({"text": LONG}), None),
        (json.dumps({"text": "first"})[:-1] + ', "text": ' + json.dumps(LONG) + "}", None),
        (json.dumps({"a": LONG * 3, "text": ""}), None),
        (json.dumps({"a": LONG}), "missing_text"),
        (json.dumps({"a": LONG, "text": 5}), "bad_field"),
        (json.dumps({"text": LONG, "lang": 5}), "bad_field"),
        (json.dumps([LONG]), "not_an_object"),
        (json.dumps({"text": LONG})[:-1], "bad_json"),
        (json.dumps({"text": LONG}).replace("\\n", "\\q"), "bad_json"),
        (json.dumps({"text": LONG}).replace("\\n", "\\ud800"), "bad_json"),
        (json.dumps({"text": LONG}).replace("x", "\t"), "bad_json"),
    ],
)
def test_long_lines_are_read_like_short_ones(
    line: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = line.encode() + b"\n" + orjson.dumps({"text": "short"}) + b"\n"
    short_rows, short_losses = read_bytes("jsonl", data, tmp_path, "a.jsonl")
    monkeypatch.setattr(jsonl, "LONG_LINE_BYTES", 60)
    monkeypatch.setattr("gristmill.pipeline.sources.lines._GROWING_BYTES", 30)
    monkeypatch.setattr("gristmill.pipeline.sources.pieces.PIECE_BYTES", 16)
    monkeypatch.setattr("gristmill.pipeline.sources.streams.PIECE_BYTES", 16)
    rows, losses = read_bytes("jsonl", data, tmp_path, "a.jsonl")
    assert rows == short_rows
    assert texts(rows)[-1] == "short"
    assert reasons(losses) == reasons(short_losses) == ([expected] if expected else [])
    assert [loss.raw_hash for loss in losses] == [loss.raw_hash for loss in short_losses]


def test_long_lines_that_are_not_utf8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONG_LINE_BYTES", 60)
    monkeypatch.setattr("gristmill.pipeline.sources.lines._GROWING_BYTES", 30)
    for bad in (b"\xff", b"\xed\xa0\x80", b"\xe4\xb8"):
        rows, losses = read_bytes("jsonl", b'{"text":"' + b"a" * 80 + bad + b'"}\n{"text":"b"}', tmp_path, "a.jsonl")
        assert (texts(rows), reasons(losses)) == (["b"], ["bad_utf8"])


_PEAK = """
import sys
from pathlib import Path
from gristmill.pipeline.sources import jsonl
from gristmill.pipeline.sources.protocol import InputFile, ReadOptions
def status(key):
    return int(Path("/proc/self/status").read_text().partition(key)[2].split()[0])
def rows(path):
    file = InputFile(path, "a.jsonl", Path(path).stat().st_size, "")
    return sum(read.batch.num_rows for read in jsonl.read_file(file, ReadOptions("d")))
rows(sys.argv[2])
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS:")
print(rows(sys.argv[1]), (status("VmHWM:") - before) << 10)
"""


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"hello world, this is it\\n", b"x" * 99_999 + "\U0001f600".encode(), b"\\u4e2d\\n"])
def test_a_200_mb_line_takes_less_than_three_times_its_size(unit: bytes, tmp_path: Path) -> None:
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    small.write_bytes(b'{"text":"a"}\n')
    with large.open("wb") as out:
        out.write(b'{"id":"a","text":"')
        for _ in range((200 << 20) // len(unit)):
            out.write(unit)
        out.write(b'","url":"u"}\n{"text":"behind"}\n')
    words = [sys.executable, "-c", _PEAK, str(large), str(small)]
    rows, peak = map(int, subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())
    assert rows == 2
    assert peak < 2.5 * large.stat().st_size


def test_options_are_those_of_the_other_tests() -> None:
    assert OPTIONS.max_doc_bytes > jsonl.LONG_LINE_BYTES
