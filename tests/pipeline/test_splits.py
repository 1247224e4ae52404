"""Splits: every file once, bounded, and stable when a file comes or goes."""

from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.sources.protocol import InputFile
from gristmill.pipeline.splits import FULL_BYTES, LARGE_BYTES, make_splits


def listing(sizes: list[int]) -> list[InputFile]:
    return [InputFile(f"/x/{i:05d}", f"{i:05d}.txt", size, "") for i, size in enumerate(sizes)]


@given(st.lists(st.integers(0, LARGE_BYTES * 2), max_size=200))
def test_each_file_stands_in_one_split_in_order(sizes: list[int]) -> None:
    files = listing(sizes)
    splits = make_splits(files)
    assert [f for split in splits for f in split] == files
    for split in splits:
        assert len(split) == 1 or sum(f.bytes for f in split) < FULL_BYTES + LARGE_BYTES
        assert len(split) == 1 or max(f.bytes for f in split) < LARGE_BYTES


def test_a_new_file_changes_few_splits() -> None:
    files = listing([200_000] * 400)
    before = set(make_splits(files))
    new = InputFile("/x/n", "00200a.txt", 200_000, "")
    after = set(make_splits(sorted([*files, new], key=lambda f: f.rel)))
    assert len(before) > 10
    assert len(before - after) <= 2


def test_no_files_make_no_splits() -> None:
    assert make_splits([]) == []
