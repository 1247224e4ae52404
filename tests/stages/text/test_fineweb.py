"""FineWeb's rules: each at, above and below its limit; the faults that we mend; all ratios in [0, 1]."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter
from gristmill.stages.text.fineweb import FineWeb

HOSTILE = st.text(st.sampled_from("aZé1'.,-#…•\n\r\u2028 中。ก\u0301\ufffc\0😀"), max_size=40) | st.text(max_size=40)
CHINESE = "磨坊里的磨坊主每天都在磨面粉，孩子们在河边玩耍。"


def batch(texts: list[str | None], lang: str | None = None) -> pa.RecordBatch:
    langs = pa.array([lang] * len(texts), pa.string())
    return document_batch({"text": pa.array(texts, pa.large_string()), "lang": langs})


def reason(text: str | None, stage: FineWeb | None = None, lang: str | None = "en") -> str:
    fates = run_chain([stage or FineWeb()], batch([text], lang)).fates
    return fates[0].reason if fates else ""


def measures(text: str) -> dict[str, float]:
    return {name: float(values[0]) for name, values in FineWeb().measure(batch([text])).items()}


def numbered(count: int, tail: str) -> list[str]:
    """Lines of more than 30 characters, all different, with the same end."""
    return [f"Line number {n:04d} is a long one in this text{tail}" for n in range(count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty"),
        (None, "empty"),
        (" \n\r\n\u3000", "empty"),
        ("\n".join(numbered(12, ".") + numbered(100, "")[12:]), ""),
        ("\n".join(numbered(11, ".") + numbered(100, "")[11:]), "line_punct_ratio"),
        ("\n".join(numbered(12, '."') + numbered(100, "")[12:]), "line_punct_ratio"),
        ("\n".join(["x" * 30] + [f"This one {n:03d} has 31 characters." for n in range(2)]), ""),
        ("\n".join([f"This line has 30 char and {n:02d}." for n in range(67)] + numbered(33, ".")), ""),
        ("\n".join([f"This line has 30 char and {n:02d}." for n in range(68)] + numbered(32, ".")), "short_line_ratio"),
        ("\n".join([*numbered(100, "."), *numbered(1, ".")]), ""),
        ("\n".join([*numbered(90, "."), *numbered(1, ".")]), "char_dup_ratio"),
        ("\n".join(numbered(20, ".")) + "\n" * 47, ""),
        ("\n".join(numbered(20, ".")) + "\n" * 48, "list_ratio"),
    ],
)
def test_each_rule_at_its_limit(text: str | None, expected: str) -> None:
    assert reason(text) == expected


def test_reasons_come_in_order_with_value_and_limit() -> None:
    fates = run_chain([FineWeb()], batch(["a\na\na\na"], "en")).fates
    assert [(f.reason, f.measure, f.value, f.limit) for f in fates] == [
        ("line_punct_ratio", "line_punct_frac", 0.0, 0.12)
    ]


def test_no_terminal_mark_at_all_may_be_kept() -> None:
    text = "\n".join(numbered(20, ""))
    assert reason(text) == "line_punct_ratio"
    assert reason(text, FineWeb(line_punct_exclude_zero=True)) == ""
    few = "\n".join([*numbered(19, ""), "This one alone has a full stop at its end."])
    assert reason(few, FineWeb(line_punct_exclude_zero=True)) == "line_punct_ratio"


def test_stop_chars_are_what_one_says() -> None:
    text = "\n".join(numbered(20, ";"))
    assert reason(text) == "line_punct_ratio"
    assert reason(text, FineWeb(stop_chars=";")) == ""


@pytest.mark.parametrize("off", ["line_punct_thr", "short_line_thr", "char_duplicates_ratio", "new_line_ratio"])
def test_each_rule_can_be_off(off: str) -> None:
    stage = FineWeb(**{off: None})  # pyright: ignore[reportArgumentType]
    assert len(stage.rules()) == 4
    assert reason("", stage) == "empty"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028", " \n", "\t\r\n"])
def test_ends_of_lines_hide_no_full_stop(end: str) -> None:
    """M25: with CRLF no line ended with a full stop."""
    text = end.join(numbered(20, "."))
    assert reason(text) == ""
    assert measures(text)["line_punct_frac"] == 1


def test_blank_lines_are_no_duplicates() -> None:
    """datatrove#273."""
    assert measures("\n\n\n".join(numbered(20, ".")))["char_dup_frac"] == 0
    assert reason("\n\n".join(numbered(50, "."))) == ""


def test_duplicates_and_all_lines_are_counted_alike() -> None:
    """dolma#310: with white space counted on one side alone, the share exceeded 1."""
    assert measures("  a b  \n  a b  \n  a b  ")["char_dup_frac"] == pytest.approx(2 / 3)
    assert measures("\n".join(["a"] * 1000))["char_dup_frac"] == pytest.approx(0.999)
    assert measures("\n" * 100 + "a")["new_line_frac"] == 1
    assert measures("\n" * 100)["new_line_frac"] == 1


def test_chinese_is_not_made_of_short_lines() -> None:
    text = "\n".join(f"{CHINESE[:-1]}{n}。" for n in range(20))
    assert reason(text, lang="zh") == ""
    assert reason(text, FineWeb(by_language=False)) == ""
    assert measures(text)["short_line_frac"] == 0


def test_limits_follow_the_language() -> None:
    text = "\n".join(numbered(12, ".") + numbered(100, "")[12:])
    assert reason(text, lang="en") == ""
    german = "\n".join(numbered(100, ""))
    assert reason(german, lang="de") == ""
    assert reason(german, lang="en") == "line_punct_ratio"
    assert reason(german, FineWeb(by_language=False), lang="de") == "line_punct_ratio"


@given(st.lists(HOSTILE | st.none(), max_size=6))
def test_measures_are_total_and_ratios_are_ratios(texts: list[str | None]) -> None:
    stage = FineWeb()
    found = stage.measure(batch(texts))
    assert {rule.measure for rule in stage.rules()} <= set(found)
    for name, values in found.items():
        assert values.dtype == np.float64
        assert len(values) == len(texts)
        if name.endswith("_frac"):
            assert ((values >= 0) & (values <= 1)).all(), name


def test_is_a_filter_with_datatrove_s_reasons() -> None:
    assert isinstance(FineWeb(), Filter)
    reasons = [rule.reason for rule in FineWeb().rules()]
    assert reasons == ["empty", "line_punct_ratio", "short_line_ratio", "char_dup_ratio", "list_ratio"]


@pytest.mark.parametrize("params", [{"line_punct_thr": 1.5}, {"short_line_length": -1}, {"stop_chars": ""}])
def test_impossible_parameters_are_refused(params: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        FineWeb(**params)  # pyright: ignore[reportArgumentType]
