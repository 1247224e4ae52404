"""Text trees: one plain text a file, one row or loss of any bytes."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources.protocol import InputFile, Loss
from gristmill.pipeline.sources.text import read_file as read_text
from tests.pipeline.sources.checked import read_file, read_glob, texts, with_options
from tests.pipeline.sources.whole_file_cases import HOSTILE, loss_of, one_of, row_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the module's files."""
    return tmp_path_factory.mktemp("text")


@given(data=HOSTILE, max_bytes=st.sampled_from([10, 100, 1 << 30]))
def test_any_bytes_are_one_row_or_one_loss(folder: Path, data: bytes, max_bytes: int) -> None:
    found = one_of("text", data, folder, "a.txt", max_doc_bytes=max_bytes)
    if isinstance(found, Loss):
        assert found.reason in ("binary", "bad_utf8", "too_large")
    else:
        assert len(data) <= max_bytes and "\0" not in found["text"]


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffc\ufeff")))
@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("utf-32-be", b"\0\0\xfe\xff"),
    ],
)
def test_text_stands_as_it_was_but_for_the_mark(folder: Path, text: str, encoding: str, bom: bytes) -> None:
    assert row_of("text", bom + text.encode(encoding), folder, "a.txt")["text"] == text


@pytest.mark.parametrize(
    ("data", "verdict", "reason", "detail"),
    [
        (b"ab\0c", "drop", "binary", "NUL at byte 2"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", "drop", "binary", "NUL at byte 8"),
        (b"\xff\xfea\0\0\0", "drop", "binary", "NUL at byte 1"),
        (b"caf\xe9 noir", "quarantine", "bad_utf8", "invalid continuation byte at byte 3"),
        (b"\xff\xfea", "quarantine", "bad_utf8", "marked as UTF-16 or UTF-32, and is not"),
        (b"\xff\xfe\x00\xd8", "quarantine", "bad_utf8", "marked as UTF-16 or UTF-32, and is not"),
        (b"\xed\xa0\x80", "quarantine", "bad_utf8", "invalid continuation byte at byte 0"),
    ],
)
def test_what_is_no_text_is_told_apart(folder: Path, data: bytes, verdict: str, reason: str, detail: str) -> None:
    loss = loss_of("text", data, folder, "a.txt")
    assert (loss.verdict, loss.reason, loss.detail) == (verdict, reason, detail)


def test_an_empty_file_is_a_row(folder: Path) -> None:
    assert row_of("text", b"", folder, "a.txt")["text"] == ""
    assert row_of("text", b"\xef\xbb\xbf", folder, "a.txt")["text"] == ""


def test_line_ends_stay_and_a_place_for_media_does_not(folder: Path) -> None:
    row = row_of("text", "a\r\nb\rc \ufffc\n".encode(), folder, "a.txt")
    assert row["text"] == "a\r\nb\rc \ufffd\n"
    assert json.loads(row["meta"]) == {"d": {"path": "a.txt"}}


def test_a_folder_gives_texts_and_a_glob_what_it_names(tmp_path: Path) -> None:
    for name in ("a.txt", "b.TXT", "c/d.log", "c/e.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert texts(read_glob("text", ".", tmp_path)[0]) == ["a.txt", "b.TXT", "c/e.txt"]
    assert texts(read_glob("text", "c/*.log", tmp_path)[0]) == ["c/d.log"]


def test_a_file_above_the_limit_is_hashed_whole_and_never_held(tmp_path: Path) -> None:
    data = b"0123456789abcdef" * (1 << 19)
    (tmp_path / "a.txt").write_bytes(data)
    tracemalloc.start()
    loss = loss_of("text", data, tmp_path, "a.txt", max_doc_bytes=1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (loss.reason, loss.value, loss.limit) == ("too_large", len(data), 1 << 20)
    assert peak < len(data) // 4


def test_the_limit_itself_is_allowed(folder: Path) -> None:
    assert row_of("text", b"x" * 50, folder, "a.txt", max_doc_bytes=50)["text"] == "x" * 50
    assert loss_of("text", b"x" * 51, folder, "a.txt", max_doc_bytes=50).value == 51


@pytest.mark.parametrize("listed_bytes", [0, 1, 400_000, 500_000, 600_000])
def test_the_listed_size_is_but_a_hint(tmp_path: Path, listed_bytes: int) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 500_000)
    file = InputFile(str(tmp_path / "a.txt"), "a.txt", listed_bytes, "")
    assert [len(text) for text in texts(read_file("text", file)[0])] == [500_000]
    for max_bytes in (listed_bytes + 1, 499_999):
        if max_bytes < 500_000:
            _, losses = read_file("text", file, with_options(max_doc_bytes=max_bytes))
            assert [(loss.reason, loss.value) for loss in losses] == [("too_large", 500_000)]


def test_a_long_text_is_one_row_in_little_more_than_itself(tmp_path: Path) -> None:
    data = "Grüße, 世界.\n".encode() * (1 << 20)
    (tmp_path / "a.txt").write_bytes(data)
    tracemalloc.start()
    (read,) = read_text(InputFile(str(tmp_path / "a.txt"), "a.txt", len(data), ""), with_options())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.batch.column("text")[0].as_py().encode() == data
    assert peak < 2 * len(data)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file whose bytes cannot be read")
def test_a_file_that_opens_and_cannot_be_read_is_an_error_of_the_input() -> None:
    with pytest.raises(InputError, match="/proc/self/mem: cannot be read"):
        read_file("text", InputFile("/proc/self/mem", "mem", 5, ""))
