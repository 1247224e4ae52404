"""Buckets of real rows as sources: each row is of its bucket, in its turn, at its rate; nothing lost or twice."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.canonical import key_of
from gristmill.manifests.manifest import read_manifest, write_manifest
from gristmill.pipeline.reader import Plan, ReadOptions, TokenStream, load_plan
from gristmill.pipeline.reader.ledger import by_cell
from gristmill.pipeline.reader.mixture import PERIOD
from tests.laws.running import run_inline, write_recipe

RECIPE = """
name: buckets
seed: 1
tokenizer: bytes
datasets:
  docs: {read: {jsonl: "docs.jsonl", key: id}, domain: web}
  d64: {from: [docs], steps: [emit: {context: 64}]}
  d256: {from: [docs], steps: [emit: {context: 256}]}
"""
RATES = """
label = "prior, not ablated"
bounds = [32, 128]
[domains]
web = 0.6
code = 0.4
[caps]
default = 6
[[stages]]
name = "A"
context = 64
buckets = [0.5, 0.3, 0.2]
[[stages]]
name = "B"
context = 256
buckets = [0.2, 0.3, 0.5]
"""
CELLS = (("web", 0, 32), ("web", 32, 128), ("web", 128, None), ("code", 0, 32), ("code", 32, None))
QUIET = ReadOptions(torch=False)
SHORT = ReadOptions(torch=False, tail="short")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of 64 and of 256 tokens; their manifests say that ranges of them are buckets, as a packing by cell would."""
    folder = tmp_path_factory.mktemp("buckets")
    draw = random.Random(5)
    texts = [" ".join(str(draw.randrange(1000)) for _ in range(draw.randrange(1, 90))) for _ in range(400)]
    lines = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts)]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    run_inline(write_recipe(folder, RECIPE), folder / "out")
    for name in ("d64", "d256"):
        in_cells(folder / "out" / name)
    (folder / "out" / "rates.toml").write_text(RATES)
    return folder / "out"


def in_cells(folder: Path) -> None:
    """Equal ranges of rows as CELLS; of those of the shortest documents a quarter is said to be padding, one images."""
    manifest = read_manifest(folder)
    rows, context = manifest["totals"]["rows"], manifest["facts"]["context"]
    bounds = [rows * i // len(CELLS) for i in range(len(CELLS) + 1)]
    manifest["facts"]["packing"]["buckets"] = [
        {
            "domain": domain,
            "min_tokens": low,
            "max_tokens": high,
            "first_row": bounds[i],
            "stop_row": bounds[i + 1],
            "documents": 1,
            "tokens": (bounds[i + 1] - bounds[i]) * context * (3 if low == 0 else 4) // 4,
            "image_tokens": (bounds[i + 1] - bounds[i]) * context // 4 if low == 0 else 0,
            "padding_frac": 0.25 if low == 0 else 0.0,
        }
        for i, (domain, low, high) in enumerate(CELLS)
    ]
    write_manifest(folder, manifest)


def plan_of(out: Path, **changed: Any) -> Plan:
    """Two stages, the second of longer rows."""
    stages = [
        {"name": "A", "context": 64, "tokens": 64 * 1000, "from": "d64"},
        {"name": "B", "context": 256, "tokens": 256 * 300, "from": "d256"},
    ]
    path = out / "plan.yaml"
    path.write_text(json.dumps({"seed": 3, "vision": 0.05, "rates": "rates.toml", "stages": stages} | changed))
    return load_plan(path)


def test_each_row_is_of_its_bucket_in_its_turn_and_holds_at_every_prefix(out: Path) -> None:
    plan = plan_of(out)
    drawn: dict[str, list[int]] = {name: [] for name in plan.sources}
    for batch in TokenStream(plan, options=QUIET):
        stage, name = plan.stages[batch.stage], batch.source[0]
        drawn[name].append(int(batch.row[0]))
        number = int(batch.indices[0]) - plan.starts[batch.stage] + 1
        if batch.stage == 0:
            for source, part in zip(stage.mixture.names, stage.mixture.parts, strict=True):
                assert abs(len(drawn[source]) - part / PERIOD * number) <= 1
    assert sum(map(len, drawn.values())) == plan.rows
    for name, rows in drawn.items():
        source = plan.sources[name]
        for first in range(0, len(rows), source.rows):
            epoch = rows[first : first + source.rows]
            assert len(set(epoch)) == len(epoch) and set(epoch) <= set(range(source.first_row, source.stop_row))
        assert len(rows) < source.rows or set(rows[: source.rows]) == set(range(source.first_row, source.stop_row))
    assert any(len(rows) > plan.sources[name].rows for name, rows in drawn.items()), "some come more than once"


def test_rates_are_of_tokens_not_of_rows(out: Path) -> None:
    """llm-foundry#426, streaming#431: what a proportion is a proportion of. Short documents fill their rows less."""
    plan = plan_of(out)
    held: Counter[str] = Counter()
    for batch in TokenStream(plan, options=QUIET):
        if batch.stage == 0:
            source = plan.sources[batch.source[0]]
            held[f"{source.domain} {source.bucket}"] += round(source.tokens_per_row)
    total = sum(held.values())
    assert sum(n for cell, n in held.items() if cell.startswith("web")) / total == pytest.approx(0.6, abs=0.01)
    assert sum(n for cell, n in held.items() if "<32" in cell) / total == pytest.approx(0.5, abs=0.01)


def test_the_report_knows_domain_length_and_images(out: Path) -> None:
    plan = plan_of(out)
    stream = TokenStream(plan, global_batch=10, options=SHORT)
    seen: Counter[str] = Counter()
    for number, batch in enumerate(stream, 1):
        seen.update(batch.source)
        if number == 112:
            break
    told = stream.report()
    assert stream.next > plan.starts[1]
    assert {name: part["rows"] for name, part in told.items() if part["rows"]} == dict(seen)
    cells = by_cell(told)
    assert cells["web", "<32"]["rows"] == seen["d64/web/<32"] + seen["d256/web/<32"]
    assert cells["web", "<32"]["image_tokens"] == pytest.approx(cells["web", "<32"]["tokens"] / 4, rel=0.02)
    assert sum(part["rows"] for part in cells.values()) == stream.next


@pytest.mark.parametrize("case", range(8))
def test_any_ranks_and_batches_go_on_from_any_index(out: Path, case: int) -> None:
    draw = random.Random(case)
    plan = plan_of(out)
    whole = {int(b.indices[0]): (b.source[0], int(b.row[0])) for b in TokenStream(plan, options=QUIET)}
    state: dict[str, Any] | None = None
    found, last = list[int](), dict[str, Any]()
    for turn in range(3):
        world = draw.choice([1, 2, 3])
        batch, batches = world * draw.randrange(1, 60), 10**9 if turn == 2 else draw.randrange(1, 8)
        for rank in range(world):
            stream = TokenStream(plan, rank, world, batch, options=SHORT)
            if state is not None:
                stream.load_state_dict(state)
            for number, made in enumerate(stream, 1):
                found += made.indices.tolist()
                for i, index in enumerate(made.indices.tolist()):
                    assert whole[index] == (made.source[i], int(made.row[i]))
                if number == batches:
                    break
            last = stream.state_dict()
        state = json.loads(json.dumps(last))
    assert sorted(found) == list(range(plan.rows))


@pytest.mark.parametrize("carry", ["continue", "restart"])
@pytest.mark.parametrize("switch", [1, 7, 64, 333, 4096])
def test_a_switch_of_rates_loses_and_repeats_nothing(out: Path, switch: int, carry: str) -> None:
    """Megatron-LM#457, #725, #1002: other weights from a step on. Each source goes on in its own order."""
    many = {"d64": 100}
    stages = [
        {"context": 64, "tokens": 64 * switch, "mix": {"d64": 1.0}, "max_epochs": many},
        {"context": 64, "tokens": 64 * 500, "mix": {"d64": 0.001, "copy": 0.999}, "carry": carry, "max_epochs": many},
        {"context": 64, "tokens": 64 * 100, "mix": {"d64": 0.6, "copy": 0.4}, "max_epochs": {"copy": 100}},
    ]
    plan = plan_of(out, stages=stages, vision="none", datasets={"copy": "d64"})
    drawn: dict[str, list[tuple[int, int]]] = {"d64": [], "copy": []}
    for batch in TokenStream(plan, options=QUIET):
        drawn[batch.source[0]].append((batch.stage, int(batch.row[0])))
    assert sum(map(len, drawn.values())) == switch + 600
    rows = plan.sources["d64"].rows
    for name, places in drawn.items():
        starts = [0]
        if carry == "restart":
            starts += [sum(stage < 1 for stage, _ in places)]
        for first, stop in zip(starts, [*starts[1:], len(places)], strict=True):
            order = [row for _, row in places[first:stop]]
            for at in range(0, len(order), rows):
                assert max(Counter(order[at : at + rows]).values()) == 1, name
        if carry == "restart" and name == "d64":
            again = [row for stage, row in places if stage >= 1]
            both = min(len(again), starts[1])
            assert again[:both] == [row for _, row in places[:both]] and both


def test_extreme_weights_stay_inside_their_datasets(out: Path) -> None:
    """Megatron-LM#705: two identical sets at 0.001 and 0.999 walked past the end of one."""
    stages = [
        {
            "context": 64,
            "tokens": 64 * 3000,
            "mix": {"d64": 0.001, "copy": 0.999},
            "max_epochs": {"copy": 99, "d64": 99},
        }
    ]
    plan = plan_of(out, stages=stages, vision="none", datasets={"copy": "d64"})
    seen = Counter(batch.source[0] for batch in TokenStream(plan, options=QUIET))
    assert abs(seen["d64"] - 3000 * plan.stages[0].mixture.parts[1] / PERIOD) <= 1 and seen.total() == 3000


def test_a_plan_of_buckets_is_another_than_one_of_the_whole(out: Path) -> None:
    """And one without buckets keeps the digest that it had before there were any: its states stay good."""
    whole = [{"context": 64, "tokens": 6400, "mix": {"d64": 1.0}}]
    digest = plan_of(out, stages=whole, vision="none").digest
    stage = {"context": 64, "rows": 100, "names": ["d64"], "parts": [4096], "drawn": {"d64": 0}}
    manifests = {"d64": read_manifest(out / "d64")["digest"]}
    assert digest == key_of({"order": 1, "period": 4096, "seed": 3, "datasets": manifests, "stages": [stage]})
    assert digest != plan_of(out, stages=[{"name": "A", "context": 64, "tokens": 6400, "from": "d64"}]).digest
    stream = TokenStream(plan_of(out), options=QUIET)
    assert stream.documents(5)["source"] in stream.plan.sources
    assert (
        stream[5].tokens == next(b for b in TokenStream(stream.plan, options=QUIET) if b.indices[0] == 5).tokens
    ).all()
    assert np.isin(stream[5].row, range(stream.plan.datasets["d64"].rows)).all()
