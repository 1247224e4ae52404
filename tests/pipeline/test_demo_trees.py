"""Slices of a Metamath database, and which files of a tree are taken."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.demo_sources import regular_files
from gristmill.pipeline.demo_trees import metamath_slices

STATEMENT = "${ $( A comment with $. in it $) min $e |- ph $.  maj $p |- ps $= a b $.\n$}\n"


def test_links_and_odd_names_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "a/z.py").write_text("")
    (root / "b.py").write_text("")
    (root / "link.py").symlink_to(tmp_path / "secret")
    (root / "linked").symlink_to(tmp_path)
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.py")).write_text("")
    (root / "new\nline.py").write_text("")
    assert [inside for inside, _ in regular_files(root, (".py",))] == ["a/z.py", "b.py"]


WORDS = st.sampled_from(["${", "$}", "$(", "$)", "$.", "$p", "$=", "$e", "$c", "|-", "x$.", "é", "(", "\n"])


@given(st.lists(WORDS, max_size=80), st.integers(1, 60))
def test_metamath_slices_are_a_prefix_cut_between_statements(words: list[str], slice_bytes: int) -> None:
    database = " ".join(words).encode()
    slices = metamath_slices(database, slice_bytes)
    assert database.startswith(b"".join(slices))
    for piece in slices:
        assert len(piece) >= slice_bytes
        depth, comment = 0, False
        for word in piece.decode().split():
            if comment:
                comment = word != "$)"
            else:
                comment = word == "$("
                depth += (word == "${") - (word == "$}")
        assert (depth, comment) == (0, False)
        assert piece.split()[-1] in (b"$.", b"$}")


def test_metamath_slices_take_whole_blocks() -> None:
    database = (STATEMENT * 3 + "$c half").encode()
    assert metamath_slices(database, 10) == [STATEMENT.encode()] * 3
    assert metamath_slices(database, len(STATEMENT) + 1) == [STATEMENT.encode() * 2]
