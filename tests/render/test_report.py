"""The diversity report against counts made by hand, and contact sheets that show what is said."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from gristmill.manifests.errors import UsageError
from gristmill.manifests.manifest import read_manifest
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.rederive import rederive
from gristmill.render import domains
from gristmill.render.dataset import records, rendered_datasets
from gristmill.render.report import HEADERS, distinct, diversity, table_rows
from gristmill.render.sheet import sheet
from tests.conftest import REPO
from tests.laws.running import run_inline, write_recipe

COUNT = 220


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "doodle.py").write_bytes((REPO / "tests" / "render" / "doodle.py").read_bytes())
    render = f'{{"./doodle.py:Doodle": {COUNT}}}'
    steps = '[exact_dedup, "./few.py:many_words"]'
    (folder / "few.py").write_text(
        "from gristmill.stages import doc_filter\n\n"
        '@doc_filter(drop_above={"lines": 10})\n'
        'def many_words(text):\n    """Doodles of many lines."""\n    return {"lines": text.count(chr(10))}\n'
    )
    text = f"name: x\nseed: 7\ndatasets:\n  pairs:\n    render: {render}\n    steps: {steps}\n"
    text += "  passed: {from: pairs}\n  lines: {read: {text: few.py}}\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(REPO))
        run_inline(write_recipe(folder, text), folder / "out")
    return folder / "out"


def metas(out: Path) -> list[dict[str, Any]]:
    manifest = read_manifest(out / "pairs")
    found = [r for s in manifest["shards"] for r in pq.read_table(out / "pairs" / s["path"]).to_pylist()]
    return [json.loads(r["meta"])["render"] for r in found]


def test_the_report_counts_what_is_there(out: Path) -> None:
    manifest = read_manifest(out / "pairs")
    report = diversity(out / "pairs", manifest)
    assert (report["dataset"], report["digest"]) == ("pairs", manifest["digest"])
    told, found = report["sources"]["render/doodle"], metas(out)
    first = manifest["steps"][0]
    assert manifest["steps"][2]["dropped"] > 3, "a step behind the origin must drop some, or attempts are not tried"
    assert (told["whole"]["attempts"], told["whole"]["accepted"]) == (first["records_in"], first["kept"])
    assert told["whole"]["reasons"] == first["reasons"] and told["whole"]["records"] == len(found)
    assert set(told["families"]) == {"bars", "dots", "flags", "murky"}
    for name, one in told["families"].items():
        mine = [m for m in found if m["family"] == name]
        assert one["records"] == len(mine)
        assert one["skeletons"] == len({m["skeleton"] for m in mine}) <= one["records"]
        assert one["dhashes"] == len({m["dhash"] for m in mine})
        assert one["same_pixels"] == len(mine) - len({m["pixels"] for m in mine})
        assert one["attempts"] == one["accepted"] + sum(one["reasons"].values())
        elsewhere = {m["skeleton"] for m in found if m["family"] != name}
        own = {m["skeleton"] for m in mine}
        assert one["shared_frac"] == round(len(own & elsewhere) / len(own), 4)
    assert sum(one["attempts"] for one in told["families"].values()) == told["whole"]["attempts"]
    assert told["whole"]["skeletons_per_200"] is None or len(found) >= 200
    assert told["whole"]["skeletons_per_1000"] is None
    assert told["families"]["murky"]["visible_frac_median"] < told["families"]["bars"]["visible_frac_median"] == 1
    rows = table_rows(report)
    assert len(rows) == 5 and all(len(row) == len(HEADERS) for row in rows) and rows[-1][1] == "(all)"


def test_distinct_of_the_first_two_hundred(out: Path) -> None:
    values = [str(n % 150) for n in range(199)]
    assert distinct(values, 200) is None and distinct([*values, "0", "new"], 200) == 150


def test_a_dataset_made_from_others_has_a_report_without_attempts(out: Path) -> None:
    assert [name for name, _, _ in rendered_datasets(out)] == ["pairs"]
    ((_, folder, manifest),) = rendered_datasets(out / "passed")
    told = diversity(folder, manifest)["sources"]["render/doodle"]["whole"]
    assert told["attempts"] is None and told["records"] == len(metas(out))


def test_an_output_without_render_pairs_is_told(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "report", str(out / "nowhere")]) == 3
    assert main(["render", "report", str(out / "lines")]) == 0
    assert main(["render", "sheet", str(out / "lines"), "--out", str(out.parent / "none")]) == 2
    assert "no record" in capsys.readouterr().err
    with pytest.raises(UsageError):
        rendered_datasets_of_nothing(out)


def rendered_datasets_of_nothing(out: Path) -> None:
    folder = out.parent / "plain"
    run_inline(write_recipe(out.parent, "name: y\ndatasets: {lines: {read: {text: few.py}}}\n", "y.yaml"), folder)
    rendered_datasets(folder)


def test_a_sheet_shows_each_picture_with_its_boxes(out: Path) -> None:
    chosen = [r for r in records(out / "pairs", read_manifest(out / "pairs")) if r.render["family"] == "dots"][:5]
    with Image.open(io.BytesIO(sheet(chosen, "dots"))) as image:
        shown = np.asarray(image.convert("RGB"))
    bare = [type(r)(r.id, r.source, r.text, r.render, {**r.medium, "annotations": []}) for r in chosen]
    with Image.open(io.BytesIO(sheet(bare, "dots"))) as image:
        plain = np.asarray(image.convert("RGB"))
    assert shown.shape == plain.shape and shown.shape[0] > 400
    changed = (shown != plain).any(axis=2)
    assert changed[:, :430].any() and changed[:, 430:860].any()
    assert 0.001 < changed.mean() < 0.2


def test_sheets_are_drawn_for_the_families_that_are_asked_for(out: Path, tmp_path: Path) -> None:
    words = ["render", "sheet", str(out), "--out", str(tmp_path / "s"), "--families", "bars,flags", "--each", "2"]
    assert main(words) == 0
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == [
        "pairs.render_doodle.bars.png",
        "pairs.render_doodle.flags.png",
    ]


def test_a_deep_look_draws_some_records_again(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    named = "./doodle.py:Doodle"
    doodle = domains.load(named, out.parent)
    (sound,) = rederive(out, {named: doodle})
    assert (sound.dataset, sound.why_not, sound.faults) == ("pairs", "", [])
    assert sound.looked_at == 16 and sound.of == len(metas(out))
    # A stranger's manifest names a file: it is not run.
    (unasked,) = rederive(out)
    assert unasked.looked_at == 0 and "not run" in unasked.why_not
    monkeypatch.setattr(type(doodle), "fingerprint", lambda _: {"pillow": "0"})
    (other,) = rederive(out, {named: doodle})
    assert other.looked_at == 0 and other.why_not == "it was made by another fingerprint"
    monkeypatch.undo()
    monkeypatch.setattr("gristmill.render.recheck.differing", lambda *_: 7)
    (lying,) = rederive(out, {named: doodle})
    assert Counter(f.kind for f in lying.faults) == {"render": 16}
    assert main(["verify", str(out), "--deep", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["drawn_again"][0]["domain"] == named
