"""Which encoding a page is taken to have, where declaration, bytes and marks disagree."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.sources.encodings import declares_utf8, html_to_utf8, is_utf8, python_codec, text_to_utf8

FRENCH = "<p>Les \u00e9l\u00e8ves \u00e9taient d\u00e9j\u00e0 l\u00e0, o\u00f9 la for\u00eat s'\u00e9veille.</p>" * 5
CHINESE = "<p>\u8054\u901a\u662f\u4e2d\u6587\u7f51\u9875\uff0c\u6d4b\u8bd5\u5185\u5bb9\u3002</p>" * 5


def decoded(data: bytes, declared: str | None = None) -> tuple[str, str] | None:
    found = html_to_utf8(data, declared)
    if declares_utf8(data, 0, len(data), declared):
        around = b"\xff" + data + b"\xff"
        assert declares_utf8(around, 1, len(data) + 1, declared)
        assert found == (data, "utf-8") or not is_utf8(data)
    return None if found is None else (found[0].decode(), found[1])


@pytest.mark.parametrize(
    ("text", "encoding", "declared", "expected"),
    [
        (FRENCH, "utf-8", None, "utf-8"),
        (FRENCH, "utf-8", "UTF-8", "utf-8"),
        (FRENCH, "utf-8", "iso-8859-1", "utf-8"),
        (FRENCH, "utf-8", "no-such-thing", "utf-8"),
        (FRENCH, "cp1252", "iso-8859-1", "cp1252"),
        (FRENCH, "cp1252", "utf-8", "cp1252"),
        (FRENCH, "cp1252", None, "cp1252"),
        (CHINESE, "gb18030", "gb2312", "gb18030"),
        (CHINESE, "utf-8", "gb2312", "utf-8"),
        ("\u8054\u901a", "gbk", "gbk", "gb18030"),
        (CHINESE, "utf-16-le", "utf-16", "utf-16-le"),
        ("ascii", "ascii", "windows-1251", "cp1251"),
        ("\u65e5\u672c\u8a9e", "iso2022_jp", "iso-2022-jp", "iso2022_jp"),
        ("", "utf-8", None, "utf-8"),
    ],
)
def test_declared_or_what_the_bytes_say(text: str, encoding: str, declared: str | None, expected: str) -> None:
    assert decoded(text.encode(encoding), declared) == (text, expected)


@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_goes_before_all(bom: bytes, encoding: str) -> None:
    data = bom + CHINESE.encode(encoding)
    for declared in (None, "utf-8", "iso-8859-1"):
        assert decoded(data, declared) == (CHINESE, encoding)
    assert text_to_utf8(data) == CHINESE.encode()


@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_meta_is_believed_where_the_server_is_silent(quote: str) -> None:
    page = f"<html><head><meta charset={quote}koi8-r{quote}></head>\u043c\u0438\u0440"
    assert decoded(page.encode("koi8-r")) == (page, "koi8-r")
    assert decoded(page.encode("utf-8")) == (page, "utf-8")
    late = "<!--" + "x" * 2000 + "-->" + page
    assert decoded(late.encode("utf-8")) == (late, "utf-8")


def test_a_page_that_says_utf_16_in_ascii_is_utf_8() -> None:
    page = "<meta charset=utf-16>\u00e9"
    assert decoded(page.encode()) == (page, "utf-8")


@pytest.mark.parametrize("declared", [None, "utf-8", "iso-8859-1"])
def test_few_invalid_bytes_do_not_change_the_rest(declared: str | None) -> None:
    data = CHINESE.encode()
    assert decoded(data[:-5], declared) == (CHINESE.encode()[:-5].decode("utf-8", "replace"), "utf-8")
    stray = data[:60] + b"\xa9" + data[60:]
    assert decoded(stray, "utf-8") == (stray.decode("utf-8", "replace"), "utf-8")


def test_a_character_cut_at_the_end_of_an_ascii_page() -> None:
    assert decoded(b"plain text \xe4\xb8", "utf-8") == ("plain text \ufffd", "utf-8")
    found = decoded(b"plain caf\xe9", "utf-8")
    assert found is not None
    assert found[0] == "plain caf\u00e9"


def test_bytes_of_no_encoding() -> None:
    assert html_to_utf8(bytes(range(128, 256)) * 20, "utf-8") is None
    assert text_to_utf8(FRENCH.encode("cp1252")) is None
    assert text_to_utf8(codecs.BOM_UTF16_LE + b"\x00\xd8") is None


@given(
    data=st.binary(max_size=200), declared=st.none() | st.sampled_from(["utf-8", "gbk", "latin1", "utf-16"]) | st.text()
)
def test_anything_is_utf_8_in_the_end(data: bytes, declared: str | None) -> None:
    found = html_to_utf8(data, declared)
    if found is not None:
        found[0].decode()
    if declares_utf8(data, 0, len(data), declared) and is_utf8(data):
        assert found == (data, "utf-8")
    text = text_to_utf8(data)
    assert text is None or text.decode() is not None


def test_labels_mean_what_browsers_take_them_for() -> None:
    labels = {"ISO-8859-1": "cp1252", "gb2312": "gb18030", "x-sjis": "cp932", "utf8": "utf-8", "x-user-defined": None}
    assert {label: python_codec(label) for label in labels} == labels
