"""Policies for keepers: ranks as bytes, total over hostile values; criteria that there are not are refused."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import DOCUMENT, document_batch
from gristmill.stages.dedup.keeper import BADNESS_BYTES, check, columns_of, order_bytes, rank_bytes

WORST = b"\xff" * BADNESS_BYTES


def ranks(keep: tuple[str, ...], **columns: list[object]) -> list[bytes]:
    rows = len(next(iter(columns.values())))
    arrays = {name: pa.array(values, DOCUMENT.field(name).type) for name, values in columns.items()}
    found = rank_bytes(document_batch({"text": pa.array([""] * rows), **arrays}), keep)
    assert found.shape == (rows, order_bytes(keep)) == (rows, BADNESS_BYTES * len(keep))
    return [row.tobytes() for row in found]


def order(keep: tuple[str, ...], **columns: list[object]) -> list[int]:
    """Rows from the best to the worst; those that tie in their order."""
    found = ranks(keep, **columns)
    return sorted(range(len(found)), key=found.__getitem__)


def scores(*values: object) -> list[object]:
    return [None if value is None else [("q", value)] for value in values]


def test_no_criterion_gives_no_bytes() -> None:
    assert ranks((), text=["a", None]) == [b"", b""]
    assert columns_of(()) == ()


def test_lengths_are_characters() -> None:
    texts: list[object] = ["ab", "\U0001f600", None, "abc"]
    assert order(("longest",), text=texts) == [3, 0, 1, 2]
    assert order(("shortest",), text=texts) == [2, 1, 0, 3]
    assert ranks(("shortest",), text=["\U0001f600"]) == [b"\0\0\0\1"]


def test_higher_scores_are_better_and_none_is_worst() -> None:
    given_scores = scores(0.5, None, 0.7, -1e300, math.nan, math.inf, 0.0)
    assert order(("score:q",), scores=given_scores) == [5, 2, 0, 6, 3, 1, 4]
    assert ranks(("score:other",), scores=scores(1.0, None)) == [WORST] * 2
    found = ranks(("score:q",), scores=[[("q", None)], [], [("r", 1.0), ("q", 0.25)], [("q", 0.25), ("q", 9.0)]])
    assert found[:2] == [WORST] * 2
    assert found[2] == found[3]


def test_scores_decide_in_steps() -> None:
    one, same, better = ranks(("score:q",), scores=scores(0.5, 0.5 + 4e-7, 0.5 + 6e-7))
    assert one == same > better


def test_lists_prefer_what_stands_first() -> None:
    licenses: list[object] = ["GPL", "CC0-1.0", None, "MIT", "mit"]
    assert order(("license:MIT>CC0-1.0",), license=licenses) == [3, 1, 0, 4, 2]
    assert order(("license:MIT>*>CC0-1.0",), license=licenses) == [3, 0, 4, 1, 2]
    assert ranks(("license:MIT>CC0-1.0",), license=licenses) == ranks(("license:MIT>CC0-1.0>*",), license=licenses)
    assert order(("domain: math > code",), domain=["web", "code", "math"]) == [2, 1, 0]


def test_the_first_criterion_decides_before_the_second() -> None:
    texts: list[object] = ["aaa", "a", "aa"]
    assert order(("source:x>y", "longest"), source=["y", "x", "x"], text=texts) == [2, 1, 0]
    assert order(("longest", "source:x>y"), source=["y", "x", "x"], text=texts) == [0, 2, 1]


def test_columns_that_are_read() -> None:
    assert columns_of(("longest", "score:q", "lang:en")) == ("text", "scores", "lang")
    assert columns_of(("score:q", "score:r")) == ("scores",)


@given(
    st.lists(
        st.tuples(st.none() | st.floats(), st.none() | st.text(max_size=3), st.none() | st.text(max_size=9)), max_size=9
    )
)
def test_any_value_has_a_rank_and_slices_rank_as_the_whole(rows: list[tuple[object, object, object]]) -> None:
    keep = ("score:q", "source:a>b", "longest")
    text = pa.array([r[2] for r in rows], pa.large_string())
    batch = document_batch(
        {
            "text": text,
            "source": pa.array([r[1] for r in rows], pa.string()),
            "scores": pa.array(scores(*(r[0] for r in rows)), DOCUMENT.field("scores").type),
        }
    )
    whole = rank_bytes(batch, keep)
    assert (rank_bytes(batch.slice(1), keep) == whole[1:]).all()


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        (("best",), "unknown criterion: 'best'"),
        (("",), "unknown criterion"),
        (("longest:3",), "unknown criterion"),
        (("text:a>b",), "unknown criterion"),
        (("source",), "unknown criterion"),
        (("score:",), "no score is named"),
        (("source:",), "not a list of different values"),
        (("source:a>>b",), "not a list of different values"),
        (("lang:en>en",), "not a list of different values"),
        (("domain:web>maths",), "an unknown domain: 'maths'"),
        (("longest", "longest"), "given twice"),
        (("lang:en", "lang:fr"), "given twice"),
    ],
)
def test_a_criterion_that_there_is_not_is_refused(keep: tuple[str, ...], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        check(keep, "stage x.keep")
    assert str(caught.value).startswith("stage x.keep: ")
    assert caught.value.remedy


def test_policies_that_are_sound() -> None:
    check(("score:a", "score:b", "longest", "shortest", "lang:en>fr>*", "license:*>GPL", "domain:math"))
