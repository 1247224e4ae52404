"""HTML trees: one page a file, in whatever encoding it comes, and one row or loss of any bytes."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources.protocol import InputFile, Loss
from tests.pipeline.sources.checked import read_file, read_glob, texts
from tests.pipeline.sources.whole_file_cases import HOSTILE, loss_of, one_of, row_of

PAGE = "<!doctype html>{meta}<p>Größe — Žluťoučký</p>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the module's files."""
    return tmp_path_factory.mktemp("html")


@given(data=HOSTILE, max_bytes=st.sampled_from([10, 100, 1 << 30]))
@example(data=b"", max_bytes=10)
@example(data=b'<meta charset="utf-32-x">\xe9', max_bytes=1 << 30)
def test_any_bytes_are_one_row_or_one_loss(folder: Path, data: bytes, max_bytes: int) -> None:
    found = one_of("html", data, folder, "a.html", max_doc_bytes=max_bytes)
    if isinstance(found, Loss):
        assert found.reason in ("bad_encoding", "too_large")
    else:
        assert len(data) <= max_bytes


@pytest.mark.parametrize(
    ("encoding", "bom", "label"),
    [
        ("utf-8", b"", ""),
        ("utf-8", b"\xef\xbb\xbf", "windows-1252"),
        ("utf-16-le", b"\xff\xfe", "utf-8"),
        ("utf-16-be", b"\xfe\xff", ""),
        ("cp1250", b"", "windows-1250"),
        ("utf-8", b"", "windows-1250"),
    ],
)
def test_mark_then_declaration_then_utf8(folder: Path, encoding: str, bom: bytes, label: str) -> None:
    page = PAGE.format(meta=f'<meta charset="{label}">' if label else "")
    row = row_of("html", bom + page.encode(encoding), folder, "a.html")
    assert row["text"] == page
    charset = json.loads(row["meta"])["d"].get("charset")
    assert charset == (None if encoding == "utf-8" else encoding)


def test_an_undeclared_page_is_detected(folder: Path) -> None:
    russian = "Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства. " * 20
    assert russian in row_of("html", f"<p>{russian}</p>".encode("cp1251"), folder, "a.html")["text"]


def test_what_fits_no_encoding_is_quarantined(folder: Path) -> None:
    loss = loss_of("html", b"<meta charset=utf-16>" + bytes(range(256)) * 9, folder, "a.html")
    assert (loss.verdict, loss.reason) == ("quarantine", "bad_encoding")


def test_path_is_the_identity_and_stands_in_meta(folder: Path) -> None:
    row = row_of("html", "<p>\ufffc</p>".encode(), folder, "ü.html")
    assert row["text"] == "<p>\ufffd</p>"
    assert json.loads(row["meta"]) == {"d": {"path": "ü.html", "mime": "text/html"}}


def test_a_folder_stands_for_its_pages(tmp_path: Path) -> None:
    for name in ("a.html", "b.HTM", "deep/er/c.xhtml", "d.txt", "e.html.orig", ".git/f.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"<p>{name}</p>")
    (tmp_path / "link.html").symlink_to("/etc/hostname")
    rows, losses = read_glob("html", ".", tmp_path)
    assert texts(rows) == ["<p>a.html</p>", "<p>b.HTM</p>", "<p>deep/er/c.xhtml</p>"]
    assert not losses


def test_text_that_grows_beyond_the_limit_by_decoding_is_too_large(folder: Path) -> None:
    data = b"<meta charset=windows-1252>" + b"\x80" * 100
    assert row_of("html", data, folder, "a.html", max_doc_bytes=327)["text"].endswith("€" * 100)
    loss = loss_of("html", data, folder, "a.html", max_doc_bytes=326)
    assert (loss.reason, loss.value, loss.limit) == ("too_large", 327, 326)


def test_a_file_that_is_gone_is_an_error_of_the_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.html"):
        read_file("html", InputFile(str(tmp_path / "gone.html"), "gone.html", 5, ""))
    with pytest.raises(InputError, match="cannot be read"):
        read_file("html", InputFile(str(tmp_path), "folder", 5, ""))
