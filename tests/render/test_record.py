"""A sample as a document: its text, its picture, its meta."""

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.coordinates import Size
from gristmill.manifests.coordinates_text import VIEWS, box_text, read_box, read_point
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR, content_hashes
from gristmill.render.make import EXISTING, Ask, Sample, make_existing, make_slot
from gristmill.render.protocol import Code, Rejected, View
from gristmill.render.record import FORMS_FRAC, SPLITS, gets_forms, record_batch, split_of, text_of
from tests.render.doodle import FAMILIES, Doodle


def samples(count: int, seed: int = 3) -> list[Sample]:
    ask = Ask(seed, FAMILIES)
    tried = [outcome for slot in range(count) for outcome in make_slot(Doodle(), ask, slot)]
    return [one for one in tried if isinstance(one, Sample)]


@pytest.fixture(scope="module")
def rows() -> list[tuple[Sample, dict[str, Any]]]:
    made = samples(24)
    batch = record_batch(made, Doodle(), "CC0-1.0")
    assert batch.schema.equals(DOCUMENT)
    assert content_hashes(batch.column("text"), batch.column("media")).equals(batch.column("content_hash"))
    return list(zip(made, batch.to_pylist(), strict=True))


def test_a_record_has_code_picture_and_what_is_where(rows: list[tuple[Sample, dict[str, Any]]]) -> None:
    for sample, row in rows:
        assert (row["domain"], row["source"], row["license"]) == ("vision", "render/doodle", "CC0-1.0")
        assert row["id"] == sample.place.id and row["parents"] is None and row["derivation"] is None
        assert row["text"].count(MEDIUM_CHAR) == len(row["media"]) == 1
        medium = row["media"][0]
        assert medium["sha256"] == sha256(medium["bytes"]).digest() and medium["mime"] == "image/png"
        assert (medium["width"], medium["height"]) == (sample.looked.shot.width, sample.looked.shot.height)
        assert len(medium["annotations"]) == len(sample.looked.annotations)
        for told, one in zip(medium["annotations"], sample.looked.annotations, strict=True):
            assert tuple(told["bbox_visible"]) == one.bbox_visible and told["t_start_s"] is None


def test_meta_tells_what_made_it(rows: list[tuple[Sample, dict[str, Any]]]) -> None:
    for sample, row in rows:
        meta = json.loads(row["meta"])["render"]
        start, stop = meta["code_chars"]
        assert row["text"][start:stop] == sample.code.text
        assert (meta["kind"], meta["family"], meta["slot"]) == ("doodle", sample.place.family, sample.place.slot)
        assert meta["pixels"] == sample.looked.decoded.pixels and meta["engine"].startswith("pillow ")
        assert meta["judge"].startswith("numpy ") and len(meta["fonts"]) == 32 and meta["coord_spec"] == 1
        assert set(meta["verify"]) == {"ink_frac", "unmatched_px", "hidden_parts"}
        assert meta["view"] == vars(sample.code.view)


def test_both_views_of_every_annotation_say_where_it_is(rows: list[tuple[Sample, dict[str, Any]]]) -> None:
    checked = 0
    for sample, row in rows:
        views = json.loads(row["meta"])["render"]["views"]
        size = Size(sample.looked.shot.width, sample.looked.shot.height)
        for told, one in zip(views, sample.looked.annotations, strict=True):
            assert told["id"] == one.id
            for view in VIEWS:
                assert told[view]["bbox_visible"] == box_text(one.bbox_visible, view, size)
                box, point = (
                    read_box(told[view]["bbox_visible"], view, size),
                    read_point(told[view]["point"], view, size),
                )
                assert box and point
                assert all(abs(a - b) <= 1 for a, b in zip(box, one.bbox_visible, strict=True))
                assert all(abs(a - b) <= 1 for a, b in zip(point, one.point, strict=True))
                checked += 1
    assert checked > 100


def test_the_picture_stands_on_either_side_of_the_code(rows: list[tuple[Sample, dict[str, Any]]]) -> None:
    first = [row["text"].startswith(MEDIUM_CHAR) for _, row in rows]
    assert 4 < sum(first) < len(first) - 4


@given(st.text(st.sampled_from("`a\n ￿é"), max_size=40))
def test_no_code_closes_its_own_fence(code: str) -> None:
    text, start = text_of(Code(code, "svg", "f", View(1, 1)))
    assert text[start : start + len(code)] == code
    block = text.strip(f"{MEDIUM_CHAR}\n") if code.endswith("\n") else text.strip(MEDIUM_CHAR).strip("\n")
    fence = block[: len(block) - len(block.lstrip("`"))]
    assert len(fence) >= 3 and fence not in code
    assert block.startswith(f"{fence}svg\n") and block.endswith(f"\n{fence}")


def test_a_family_stands_on_one_side_and_files_go_by_their_content() -> None:
    names = [f"family_{number}" for number in range(400)]
    split = {name: split_of("svg", name, "a") for name in names}
    assert split == {name: split_of("svg", name, "b") for name in names}
    counts = [list(split.values()).count(side) / len(names) for side in SPLITS]
    assert all(abs(found - wanted) < 0.05 for found, wanted in zip(counts, SPLITS.values(), strict=True))
    assert {split_of("svg", EXISTING, str(number)) for number in range(60)} == set(SPLITS)
    assert {split_of(kind, "family_1", "") for kind in map(str, range(60))} == set(SPLITS)


def test_code_of_a_file_has_its_name_and_no_slot() -> None:
    body = b"canvas 60 40 #ffffff\nrect 5 5 30 30 #aa3311\n"
    found = make_existing(Doodle(), "ab" * 16, "sub/a.doodle", body, Ask(0, ()))
    assert isinstance(found, Sample)
    row = record_batch([found], Doodle(), None).to_pylist()[0]
    meta = json.loads(row["meta"])["render"]
    assert (meta["family"], meta["file"], meta["slot"], meta["seed"]) == (EXISTING, "sub/a.doodle", None, None)
    assert row["id"] == "ab" * 16 and row["license"] is None


class Retold(Doodle):
    """Doodles with other texts of the same picture; code that says 40 costs the engine its life."""

    def code_forms(self, code: Code) -> dict[str, str]:
        if "40" in code.text:
            raise Rejected("engine_timeout", verdict="quarantine")
        return {"spaced": code.text.replace(" ", "  "), "marked": code.text + MEDIUM_CHAR}


def test_a_share_of_the_records_has_other_texts_of_the_code() -> None:
    made = samples(60)
    rows = record_batch(made, Retold(), None).to_pylist()
    told = [json.loads(row["meta"])["render"]["code_forms"] for row in rows]
    for sample, forms in zip(made, told, strict=True):
        text = sample.code.text
        wanted = {"spaced": text.replace(" ", "  ")} if gets_forms(sample.code) and "40" not in text else None
        assert forms == wanted
    assert 0 < sum(forms is not None for forms in told) < len(told)
    plain = [json.loads(row["meta"])["render"]["code_forms"] for row in record_batch(made, Doodle(), None).to_pylist()]
    assert plain == [None] * len(made)


def test_the_share_is_of_the_code_alone() -> None:
    codes = [Code(f"<svg>{number}</svg>", "svg", "f", View(1, 1)) for number in range(2000)]
    assert abs(sum(map(gets_forms, codes)) / len(codes) - FORMS_FRAC) < 0.04
    assert all(gets_forms(code) == gets_forms(Code(code.text, "svg", "g", View(9, 9))) for code in codes[:50])
