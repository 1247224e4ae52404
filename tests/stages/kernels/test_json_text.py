"""Lines taken apart by the kernel are what a parser makes of them, whatever stands in them."""

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.kernels.json_text import LANES, split_lines, split_lines_plain

AT = 5


def split(lines: list[bytes], key: str = "text") -> list[tuple[str, dict[str, Any]]] | None:
    """What the kernel makes of lines that lie one behind another: text and rest of each."""
    data = b"#".join(lines) + b"#"
    ends = np.cumsum([len(line) + 1 for line in lines]) - 1
    starts = ends - np.array([len(line) for line in lines])
    text = np.full(AT + len(data) + LANES, 0xEE, np.uint8)
    found = split_lines(np.frombuffer(data, np.uint8), starts, ends, key.encode(), text, AT)
    if found is None:
        return None
    sizes, rest = found
    bounds = AT + np.concatenate([[0], np.cumsum(sizes)])
    assert bytes(text[:AT]) == b"\xee" * AT
    texts = [bytes(text[a:b]).decode() for a, b in pairwise(bounds)]
    return list(zip(texts, json.loads(bytes(rest)), strict=True))


LINES = [
    b'{"text":"plain"}',
    b'  {"text" : "spaced" , "id" : 7 }\t',
    b'{"text":""}',
    b'{"id":"a","text":"in the middle","meta":{"text":"not this","l":[1,{"text":2}]}}',
    b'{"text":"' + b"x" * 31 + b'"}',
    b'{"text":"' + b"x" * 32 + b'","n":1}',
    b'{"text":"' + b"x" * 33 + b"\\n" + b"y" * 40 + b'"}',
    rb'{"text":"\"\\\/\b\f\n\r\t\u0041\u00e9\u4e2d\ud83d\ude00\u0000"}',
    '{"text":"é中😀\uffff\ue000","url":"é"}'.encode(),
    rb'{"a":"\\","text":"x","b":"\"text\":"}',
]


@pytest.mark.parametrize("line", LINES)
def test_one_line(line: bytes) -> None:
    assert split([line]) == split_lines_plain([line], "text")
    assert split([line]) is not None


def test_many_lines() -> None:
    assert split(LINES) == split_lines_plain(LINES, "text")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"[]",
        b'"text"',
        b"{}",
        b'{"text":5}',
        b'{"text":null}',
        b'{"text":"a","text":"b"}',
        rb'{"text":"a","te\u0078t":"b"}',
        rb'{"k\n":1,"text":"a"}',
        rb'{"text":"\ud800"}',
        rb'{"text":"\udc00"}',
        rb'{"text":"\ud800\u0041"}',
        rb'{"text":"\ud83d\n"}',
        rb'{"text":"\x"}',
        rb'{"text":"\u12g4"}',
        rb'{"text":"\u12',
        b'{"text":"a',
        b'{"text":"a"',
        b'{"text":"a\\"}',
        b'{"text":"a\x01"}',
        b'{"text":"a\nb"}',
        b'{"text":"a"}}',
        b'{"text":"a"},{"text":"b"}',
        b'{"text":"a"} x',
        b'{"meta":{"text":"deep"}}',
        b'{"text":"\x80"}',
        b'{"text":"a","b":[1,2}',
    ],
)
def test_what_is_out_of_the_ordinary_is_left_alone(line: bytes) -> None:
    found = None
    with suppress(json.JSONDecodeError):  # of the rest, which the caller's parser refuses
        found = split([line, b'{"text":"sound"}'])
    assert found is None


def test_lines_that_only_together_would_be_json_are_refused() -> None:
    for pair in ([b'{"text":"a","l":[1', b'{"text":"b"}]}'], [b'{"text":"a"', b'"text":"b"}']):
        assert split(pair) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.just("text"), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["text", "id", "a b", "é"]), JSON, max_size=4), min_size=1), st.booleans()
)
def test_made_lines(values: list[dict[str, Any]], is_ascii: bool) -> None:
    lines = [json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass") for value in values]
    expected = split_lines_plain(lines, "text")
    assert split(lines) == expected


@given(st.lists(st.binary(max_size=80).filter(lambda b: b"#" not in b), min_size=1, max_size=4))
def test_bytes_are_taken_apart_only_where_a_parser_agrees(parts: list[bytes]) -> None:
    lines = [b'{"text":"' + part + b'"}' for part in parts]
    try:
        found = split(lines)
    except (UnicodeDecodeError, json.JSONDecodeError):
        return  # the caller checks the texts for UTF-8, and its parser the rest
    if found is not None:
        assert found == split_lines_plain(lines, "text")
