"""Splits of labelled documents: by source where there are sources, no document and hardly a line on both sides."""

import pytest
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.classifier.inputs import Document
from gristmill.pipeline.classifier.split import BALANCE, PARTS, Split, split
from tests.laws.corpora import prose


def document(text: str, *key: str) -> Document:
    return Document(blake3(text.encode()).digest(16), (text,), key or ("one", text[:9]), "", "")


def side(seed: int, sources: int, each: int) -> list[Document]:
    return [
        document(prose(seed + 1000 * s + n, 50), f"site{s}.example", f"p{n}")
        for s in range(sources)
        for n in range(each)
    ]


def sources_of(found: Split, part: str) -> set[tuple[bool, str]]:
    return {(row.positive, row.document.key[0]) for row in found.parts[part]}


def test_no_source_is_in_two_parts() -> None:
    found = split(side(0, 15, 8), side(500_000, 20, 6), 3)
    parts = [sources_of(found, part) for part in PARTS]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert not parts[1] & parts[2]
    assert found.warnings == ()
    assert found.grouping["positive"] == {"by": "source", "depth": 1, "groups": 20}
    sizes = [len(found.parts[part]) for part in PARTS]
    assert sizes[0] / sum(sizes) == pytest.approx(0.6, abs=0.1)


def test_a_source_of_both_classes_goes_to_one_part() -> None:
    bad = [document(prose(900_000 + n, 50), f"site{n % 15}.example", f"q{n}") for n in range(90)]
    found = split(bad, side(0, 15, 8), 3)
    places = [{key for _, key in sources_of(found, part)} for part in PARTS]
    assert not places[0] & places[1]
    assert not places[0] & places[2]


def test_a_finer_key_is_taken_where_the_coarse_one_is_one_source() -> None:
    one = [document(prose(n, 50), "big.example", f"d{n % 12}", f"p{n}") for n in range(96)]
    found = split(one, side(500_000, 20, 6), 0)
    assert found.grouping["negative"] == {"by": "source", "depth": 2, "groups": 12}


def test_one_source_is_split_by_content_with_a_warning() -> None:
    one = [document(prose(n, 50), "only.example") for n in range(60)]
    found = split(one, side(500_000, 20, 6), 0)
    assert found.grouping["negative"]["by"] == "content"
    (warning,) = found.warnings
    assert "negative" in warning


def test_copies_and_texts_of_both_classes_do_not_pass() -> None:
    good, bad = side(0, 15, 8), side(500_000, 15, 8)
    copy = document(good[0].windows[0].upper() + " ", "site3.example", "copy")
    both = document(good[1].windows[0], "site4.example", "both")
    found = split([*bad, both], [*good, copy], 0)
    assert found.left_out["duplicate"] == 1
    assert found.left_out["in both classes"] == 2
    rows = [row for part in PARTS for row in found.parts[part]]
    assert len({row.document.windows[0].strip().lower() for row in rows}) == len(rows)
    assert good[1].windows[0] not in {row.document.windows[0] for row in rows}


def test_lines_of_training_do_not_come_back_in_the_test() -> None:
    shared = "a line of boilerplate that every one of these pages bears\n" * 5
    good = [document(shared + f"page {n}", f"s{n}.example") for n in range(40)]
    bad = side(0, 20, 6)
    with pytest.raises(InputError, match="positive documents left to calibrate"):
        split(bad, good, 0)
    found = split(bad, [*good, *side(500_000, 20, 6)], 0)
    for part in ("calibrate", "test"):
        assert not any(row.document.windows[0].startswith(shared) for row in found.parts[part])
    assert found.left_out["near duplicate in test"] > 0


def test_order_changes_nothing_and_the_seed_does() -> None:
    good, bad = side(0, 15, 8), side(500_000, 20, 6)
    found = split(bad, good, 7)
    assert split(bad[::-1], good[::-1], 7) == found
    assert split(bad, good, 8).parts != found.parts


def test_the_larger_class_is_cut_in_training_alone() -> None:
    found = split(side(500_000, 12, 4), side(0, 40, 20), 0)
    rows = {part: sum(row.positive for row in found.parts[part]) for part in PARTS}
    bad = sum(not row.positive for row in found.parts["train"])
    assert rows["train"] == int(BALANCE * bad)
    assert rows["test"] > 100
    assert found.left_out["class balance"] > 0
