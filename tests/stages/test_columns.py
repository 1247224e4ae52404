"""Columns as stages change them: rows replaced among others, nulls and slices, whatever stands before."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.columns import char_counts, with_rows

TEXTS = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=6)


@given(before=TEXTS, texts=TEXTS, data=st.data())
def test_rows_are_replaced_and_the_others_stay(
    before: list[str | None], texts: list[str | None], data: st.DataObject
) -> None:
    column = pa.array([*before, *texts], pa.large_string()).slice(len(before))
    rows = [row for row, text in enumerate(texts) if text is not None]
    chosen = data.draw(st.lists(st.sampled_from(rows), unique=True)) if rows else []
    anew = {row: data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=4)) for row in chosen}
    made = with_rows(column, {row: text.encode() for row, text in anew.items()})
    made.validate(full=True)
    assert made.to_pylist() == [anew.get(row, text) for row, text in enumerate(texts)]
    assert char_counts(made).tolist() == [len(text or "") for text in made.to_pylist()]
