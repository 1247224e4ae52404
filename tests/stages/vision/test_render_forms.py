"""The stage: which records get forms, what a further row is, and that content alone decides."""

import json
from collections import Counter

import pyarrow as pa
import pytest

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import MEDIUM_CHAR, derived_id
from gristmill.stages.chain import run_chain
from gristmill.stages.vision.render_forms import FORMS, RenderForms
from tests.stages.vision.scenes import batch_of, pair

PAIRS = [pair(seed) for seed in range(12)]
PLAIN = {name: value for name, value in pair(0).items()} | {
    "id": "f" * 32,
    "text": "no pair",
    "media": None,
    "meta": None,
}


def forms_of(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [row for row in rows if row["derivation"] == "form"]


def test_each_pair_gets_its_forms_and_stays() -> None:
    result = run_chain([RenderForms(per_record=3)], batch_of([PLAIN, *PAIRS]))
    rows = result.kept.to_pylist()
    assert len(rows) == 1 + 4 * len(PAIRS) and result.fates == []
    assert result.kept_rows.tolist() == [0, *(row for row in range(1, 13) for _ in range(4))]
    for at, parent in enumerate(PAIRS):
        own, *made = rows[1 + 4 * at : 5 + 4 * at]
        assert own["id"] == parent["id"] and own["derivation"] is None and own["text"] == parent["text"]
        for row in made:
            told = json.loads(row["meta"])
            assert row["parents"] == [parent["id"]] and row["id"] == derived_id(parent["id"], told["form"]["name"])
            assert (row["domain"], row["source"]) == ("vision", "render/svg")
            assert row["text"].count(MEDIUM_CHAR) == len(row["media"] or [])
            assert told["render"]["family"] == "bars" and not {"code_chars", "views", "code_forms"} & set(
                told["render"]
            )
            assert all(row["text"][a:b] for a, b in told["form"]["answers"])


def test_all_forms_come_and_those_asked_for_alone() -> None:
    rows = forms_of(run_chain([RenderForms(per_record=8)], batch_of(PAIRS)).kept.to_pylist())
    assert set(Counter(json.loads(str(row["meta"]))["form"]["name"] for row in rows)) == set(FORMS)
    rows = forms_of(run_chain([RenderForms(forms=("point",), per_record=8)], batch_of(PAIRS)).kept.to_pylist())
    assert [json.loads(str(row["meta"]))["form"]["name"] for row in rows] == ["point"] * len(PAIRS)


def test_a_form_does_not_depend_on_which_others_are_asked_for() -> None:
    texts = []
    for forms in (("edit",), ("edit", "point", "compare")):
        rows = forms_of(run_chain([RenderForms(forms=forms, per_record=8)], batch_of(PAIRS)).kept.to_pylist())
        texts.append({row["id"]: row["text"] for row in rows})
    assert texts[0].items() <= texts[1].items() and texts[0]


def test_seed_and_content_decide_and_nothing_else() -> None:
    one, other = (run_chain([RenderForms(seed=seed)], batch_of(PAIRS)).kept.to_pylist() for seed in (0, 1))
    assert one != other
    backwards = run_chain([RenderForms()], batch_of(PAIRS[::-1])).kept.to_pylist()
    assert sorted(map(repr, backwards)) == sorted(map(repr, one))


def test_forms_get_no_forms_and_another_seed_other_ids() -> None:
    twice = run_chain([RenderForms(per_record=1), RenderForms(per_record=1, seed=1)], batch_of(PAIRS)).kept
    assert twice.num_rows == 3 * len(PAIRS) == len(set(twice.column("id").to_pylist()))


def test_pairs_that_do_not_stay() -> None:
    bare = pair(99) | {"id": "e" * 32}
    bare["media"] = [{**bare["media"][0], "annotations": []}]
    result = run_chain([RenderForms(keep=False, forms=("locate",))], batch_of([PLAIN, *PAIRS, bare]))
    assert Counter(f.reason for f in result.fates) == {"replaced_by_forms": len(PAIRS), "no_form": 1}
    assert {row["derivation"] for row in result.kept.to_pylist()} == {None, "form"}
    assert result.kept.column("id")[0].as_py() == PLAIN["id"]


def test_pictures_go_along_where_they_are_shown() -> None:
    rows = forms_of(run_chain([RenderForms(per_record=8)], batch_of(PAIRS[:3])).kept.to_pylist())
    for row in rows:
        name = json.loads(str(row["meta"]))["form"]["name"]
        parent = next(p for p in PAIRS if row["parents"] == [p["id"]])
        shown = [m["sha256"] for m in row["media"] or []]  # type: ignore[union-attr]
        assert shown == ([] if name in ("to_words", "rewrite") else [parent["media"][0]["sha256"]])


@pytest.mark.parametrize("params", [{"forms": ()}, {"forms": ("edit", "edit")}, {"per_record": 0}, {"questions": 1001}])
def test_wrong_parameters(params: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="render_forms"):
        RenderForms(**params)  # type: ignore[arg-type]


def test_a_slice_of_a_batch_is_as_good() -> None:
    batch = batch_of(PAIRS)
    whole = run_chain([RenderForms()], batch).kept
    parts = [run_chain([RenderForms()], batch.slice(at, 5)).kept for at in range(0, 12, 5)]
    assert pa.Table.from_batches(parts).to_pylist() == whole.to_pylist()


@pytest.mark.parametrize("value", ['"\\ud800"', "NaN", "-Infinity", "1e999", "[" * 900 + "]" * 900])
def test_meta_that_cannot_be_written_again_is_no_crash(value: str) -> None:
    record = pair(1)
    record["meta"] = record["meta"].replace('"family": "bars"', f'"family": "bars", "x": {value}')
    made = RenderForms().expand(batch_of([record]))
    for meta in made.further.column("meta").to_pylist():
        json.loads(meta, parse_constant=pytest.fail)
