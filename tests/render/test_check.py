"""Records of render pairs looked at again: what is planted in them is found, what is sound stays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.child import ChildLimits
from gristmill.manifests.errors import EngineMissingError, UsageError
from gristmill.manifests.schema import DOCUMENT
from gristmill.render import pixels
from gristmill.render.check import RenderCheck
from gristmill.render.dataset import record_of
from gristmill.render.make import Ask, Sample, make_existing, make_slot
from gristmill.render.recheck import Finding, code_of, recheck
from gristmill.render.record import record_batch
from tests.render.doodle import FAMILIES, Doodle

DOODLE = Path(__file__).with_name("doodle.py")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def batch() -> pa.RecordBatch:
    tried = [o for slot in range(16) for o in make_slot(Doodle(), Ask(5, FAMILIES), slot)]
    body = b"canvas 60 40 #ffffff\nrect 5 5 30 30 #aa3311\ndisc 40 20 9 #2255cc\n"
    existing = make_existing(Doodle(), "ab" * 16, "a.doodle", body, Ask(0, ()))
    samples = [one for one in (*tried, existing) if isinstance(one, Sample)]
    return record_batch(samples, Doodle(), None)


@pytest.fixture
def row(batch: pa.RecordBatch) -> Row:
    """A record of several dots, of which no two are alike."""
    rows = batch.to_pylist()
    return next(
        r for r in rows if json.loads(r["meta"])["render"]["family"] == "dots" and len(r["media"][0]["annotations"]) > 2
    )


def looked(row: Row) -> Finding | None:
    return recheck(Doodle(), record_of(row))


def test_what_is_sound_holds(batch: pa.RecordBatch) -> None:
    assert batch.num_rows > 12
    for row in batch.to_pylist():
        assert looked(row) is None
    parts = [code_of(Doodle(), record_of(row)).parts for row in batch.to_pylist()]
    assert all(parts[:-1]) and not parts[-1]


def moved(dx: float, dy: float) -> Callable[[Row], None]:
    def move(medium: Row) -> None:
        one = medium["annotations"][1]
        for name in ("bbox_full", "bbox_visible"):
            x0, y0, x1, y1 = one[name]
            one[name] = [
                max(x0 + dx, 0),
                max(y0 + dy, 0),
                min(x1 + dx, medium["width"]),
                min(y1 + dy, medium["height"]),
            ]

    return move


def mirrored(medium: Row) -> None:
    width = medium["width"]
    for one in medium["annotations"]:
        for name in ("bbox_full", "bbox_visible"):
            x0, y0, x1, y1 = one[name]
            one[name] = [width - x1, y0, width - x0, y1]
        one["point"][0] = width - one["point"][0]


def swapped(medium: Row) -> None:
    first, second = medium["annotations"][:2]
    for name in ("bbox_full", "bbox_visible", "point"):
        first[name], second[name] = second[name], first[name]


def shrunk(medium: Row) -> None:
    """As coordinates are that were not multiplied by the device pixel ratio."""
    for one in medium["annotations"]:
        for name in ("bbox_full", "bbox_visible", "point"):
            one[name] = [n / 2 for n in one[name]]


def renamed(medium: Row) -> None:
    medium["annotations"][0]["text"] += "!"


def uncovered(medium: Row) -> None:
    medium["annotations"][0]["visible_frac"] = medium["annotations"][0]["visible_frac"] / 2


def forgotten(medium: Row) -> None:
    del medium["annotations"][-1]


@pytest.mark.parametrize(
    "lie", [moved(3, 0), moved(0, -3), moved(1, 0), mirrored, swapped, shrunk, renamed, uncovered, forgotten]
)
def test_planted_annotations_are_found(row: Row, lie: Callable[[Row], None]) -> None:
    lie(row["media"][0])
    found = looked(row)
    assert found is not None and found.reason == "other_annotations" and found.value >= 1


def test_a_picture_of_other_code_is_found(batch: pa.RecordBatch, row: Row) -> None:
    text: str = row["text"]
    colour = next(c for c in ("#aa3311", "#2255cc", "#118844", "#cc9900", "#553388") if c in text)
    row["text"] = text.replace(colour, "#010203", 1)
    found = looked(row)
    assert found is not None and (found.reason, found.measure) == ("other_pixels", "differing_pixels")
    assert found.value > 20


def put(path: str, value: Any) -> Callable[[Row, Row], None]:
    """Sets a value of the row (`row.text`), the medium or `meta.render`."""

    def change(row: Row, render: Row) -> None:
        place, _, name = path.partition(".")
        {"row": row, "render": render, "medium": row["media"][0]}[place][name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("render.view", {"width_px": 1 << 30, "height_px": 1 << 30, "scale": 1.0}),
        put("render.view", {"width_px": 10, "height_px": 10, "scale": 1e308}),
        put("render.view", None),
        put("render.code_chars", None),
        put("render.code_chars", ["a", "b"]),
        put("render.family", None),
        put("render.seed", None),
        put("medium.bytes", b"\x89PNG no"),
        put("medium.bytes", None),
        put("medium.width", 1),
        put("medium.annotations", None),
    ],
)
def test_a_record_of_another_form_is_no_crash(row: Row, change: Callable[[Row, Row], None]) -> None:
    document = json.loads(row["meta"])
    change(row, document["render"])
    row["meta"] = json.dumps(document)
    found = looked(row)
    known = ("bad_meta", "bad_doodle", "other_annotations", "other_code", "other_pixels")
    assert found is None or found.reason in known
    if row["media"][0]["annotations"] is None or document["render"]["view"] is None:
        assert found is not None


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.data())
def test_hostile_meta_is_a_finding(batch: pa.RecordBatch, data: st.DataObject) -> None:
    row = batch.slice(0, 1).to_pylist()[0]
    document = json.loads(row["meta"])
    name = data.draw(st.sampled_from(sorted(document["render"])))
    document["render"][name] = data.draw(JSONISH)
    row["meta"] = json.dumps(document)
    stage = RenderCheck(domains=("Doodle",), file=str(DOODLE))
    mapped = stage.transform(pa.RecordBatch.from_pylist([row], schema=DOCUMENT))
    assert {v.reason for v in mapped.verdicts} <= {r.reason for r in stage.reasons()}


def test_the_stage_drops_what_does_not_hold_and_lets_others_pass(batch: pa.RecordBatch) -> None:
    stage = RenderCheck(domains=("Doodle",), file=str(DOODLE))
    rows = batch.to_pylist()
    shrunk(rows[1]["media"][0])
    rows[2]["meta"] = "{}"
    rows[3]["meta"] = "not JSON"
    rows[4] |= {"source": "web pages", "meta": '{"render": 1, "kind": "doodle"}'}
    shrunk(rows[4]["media"][0])
    rows[6]["source"] = "files"  # as what is read from Parquet again
    shrunk(rows[6]["media"][0])
    rows[5]["derivation"] = "form"
    shrunk(rows[5]["media"][0])
    mapped = stage.transform(pa.RecordBatch.from_pylist(rows, schema=DOCUMENT))
    found = {v.row: v.reason for v in mapped.verdicts}
    assert found == {1: "other_annotations", 2: "bad_meta", 3: "bad_meta", 6: "other_annotations"}
    assert mapped.measures["render_checked"].tolist() == [float(n not in (4, 5)) for n in range(len(rows))]
    assert stage.transform(batch.slice(0, 0)).batch.num_rows == 0
    assert {"hidden", "engine_lost", "other_pixels", "not_deterministic"} <= {r.reason for r in stage.reasons()}
    assert stage.package_versions()["Doodle.pillow"]
    stage.prepare()


def test_the_stage_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such domain"):
        RenderCheck(domains=("cadd",))
    with pytest.raises(UsageError, match="names no domain"):
        RenderCheck(domains=())
    text = DOODLE.read_text(encoding="utf-8").replace('__version__, True, "draws and encodes"', '"", False, "gone"')
    (tmp_path / "doodle.py").write_text(text, encoding="utf-8")
    with pytest.raises(EngineMissingError, match="needs pillow"):
        RenderCheck(domains=("Doodle",), file=str(tmp_path / "doodle.py")).prepare()


def test_words_of_code_that_somebody_else_wrote_are_looked_at(batch: pa.RecordBatch) -> None:
    existing = batch.to_pylist()[-1]
    renamed(existing["media"][0])
    found = looked(existing)
    assert found is not None and found.reason == "other_annotations"


def changed_meta(row: Row, **changes: Any) -> Row:
    document = json.loads(row["meta"])
    document["render"] |= changes
    return row | {"meta": json.dumps(document)}


def test_a_record_that_points_to_other_code_is_found(row: Row) -> None:
    renamed(row["media"][0])
    found = looked(changed_meta(row, slot=10_000))
    assert found is not None and found.reason == "other_code"


@pytest.mark.parametrize("name", ["pixels", "dhash", "views"])
def test_what_meta_says_of_the_picture_is_looked_at(row: Row, name: str) -> None:
    found = looked(changed_meta(row, **{name: "0" * 16}))
    assert found is not None and (found.reason, found.detail) == ("other_meta", name)


def test_a_picture_of_another_format_is_not_opened(row: Row) -> None:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.open(io.BytesIO(row["media"][0]["bytes"])).save(out, "TIFF")
    row["media"][0]["bytes"] = out.getvalue()
    found = looked(row)
    assert found is not None and (found.reason, found.detail) == ("bad_meta", "OSError: no PNG")


def test_a_picture_that_breaks_its_decoder_costs_itself(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pixels, "LIMITS", ChildLimits(max_seconds_per_record=0.0))
    found = looked(row)
    assert found is not None and (found.verdict, found.reason) == ("quarantine", "picture_lost")
