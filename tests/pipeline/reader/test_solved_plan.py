"""Plans whose rates come from the curriculum, over datasets as large as a real run's: manifests alone."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from gristmill.manifests.errors import RecipeError, VerifyError
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.cli.trainer_plan import described
from gristmill.pipeline.reader import load_plan
from gristmill.pipeline.reader.ledger import by_cell, exposure
from gristmill.pipeline.reader.mixture import PERIOD, parts_within
from gristmill.pipeline.reader.order import places
from gristmill.pipeline.reader.permute import permuted_plain, round_keys
from gristmill.pipeline.reader.plan_file import read_plan
from tests.pipeline.curriculum import published
from tests.pipeline.reader.sized import Sized, bucket, sized_dataset, spread

PLANS = Path(__file__).parents[3] / "pipeline" / "recipes" / "plans"
VISION = [bucket("vision", (0, 8192), 90e9, 0.62), bucket("vision", (8192, 32_768), 20e9, 0.7)]
SYNTH = ((65_536, "s64", 12e9), (262_144, "s256", 7e9), (1 << 20, "s1m", 4e9))
STAGES: list[dict[str, Any]] = [
    {"name": "P1", "context": 8192, "tokens": "890B", "from": "d8"},
    {"name": "P2", "context": 65_536, "tokens": "80B", "from": "d64", "synth": "s64"},
    {"name": "C1", "context": 262_144, "tokens": "22B", "from": "d256", "synth": "s256"},
    {"name": "C2", "context": 1 << 20, "tokens": "8B", "from": "d1m", "synth": "s1m"},
]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published pool with pictures, packed for four windows, and synthesised sequences for three."""
    folder = tmp_path_factory.mktemp("sized")
    buckets = [*spread(published.DOMAINS, published.pool()), *VISION]
    for context, name in zip(published.CONTEXTS, ("d8", "d64", "d256", "d1m"), strict=True):
        sized_dataset(folder / name, Sized(context, buckets))
    for context, name, tokens in SYNTH:
        shares = zip(published.DOMAINS, published.RATES.tolist(), strict=True)
        made = [bucket(d, (context // 2, None), tokens * rate) for d, rate in shares]
        sized_dataset(folder / name, Sized(context, made, derived=9))
    return folder


def write(out: Path, stages: Sequence[dict[str, Any]] = STAGES, **changed: Any) -> Path:
    """A plan's file; None leaves a key out."""
    path = out / "plan.yaml"
    plan = {"seed": 17, "vision": 0.05, "stages": list(stages)} | changed
    path.write_text(yaml.safe_dump({k: v for k, v in plan.items() if v is not None}))
    return path


def test_a_run_of_four_stages_is_what_the_rates_ask_for(out: Path) -> None:
    told = described(write(out))
    assert told["rates"]["label"] == "prior, not ablated"
    for number, stage in enumerate(told["stages"]):
        natural = [s for s in stage["sources"] if not s["synthesised"]]
        assert math.isclose(sum(s["rate"] for s in stage["sources"]), 1)
        assert stage["vision"] >= 0.05 - 1 / PERIOD and stage["vision"] < 0.0525
        assert abs(stage["synthesised"] - (0, 0.12, 0.24, 0.39)[number]) < 0.001
        assert abs(stage["replay"] - published.BUCKETS[number][0]) < 0.001
        text = {d: sum(s["rate"] for s in stage["sources"] if s["domain"] == d) for d in published.DOMAINS}
        held = np.array([text[d] for d in published.DOMAINS]) / sum(text.values())
        assert np.abs(held - published.RATES).max() < 0.02, "domains keep their rates, synthesised sequences among them"
        if number == 0:
            shares = [sum(s["rate"] for s in natural if s["bucket"] == b) for b in ("<8K", "8K-32K", "32K-128K")]
            assert np.abs(np.array(shares) - published.BUCKETS[0][:3]).max() < 0.001
    assert all(0 < cell["epochs"] <= cell["cap"] for cell in told["epochs"])
    longest = next(c for c in told["epochs"] if (c["domain"], c["bucket"]) == ("web", ">=512K"))
    assert longest["documents_of"] == "d8" and 2.5 < longest["epochs"] <= 4, "added up over d8, d64, d256 and d1m"
    upsampled = [s["upsampled"] for s in told["stages"][3]["sources"] if s["bucket"] == ">=512K" and s["upsampled"]]
    assert min(upsampled) > 4


def test_epochs_of_the_plan_are_those_of_its_draws(out: Path) -> None:
    """The oracle: rows of each source over its rows, added up by hand over the four packings."""
    plan = load_plan(write(out))
    seen = exposure(plan, plan.rows)
    for cell in described(out / "plan.yaml")["epochs"]:
        names = ("d8", "d64", "d256", "d1m") if cell["documents_of"] == "d8" else (cell["documents_of"],)
        by_hand = sum(seen.get(f"{n}/{cell['domain']}/{cell['bucket']}", {"epochs": 0.0})["epochs"] for n in names)
        assert cell["epochs"] == pytest.approx(by_hand)
    cells = by_cell(seen)
    assert sum(c["tokens"] for c in cells.values()) == sum(s.rows * s.context for s in plan.stages)
    images = sum(c["image_tokens"] for c in cells.values())
    assert images / sum(c["tokens"] for c in cells.values()) == pytest.approx(0.05, abs=0.001)


@pytest.mark.parametrize("start", [0, (1 << 31) - 4, (1 << 32) - 4, (1 << 33) + 1])
def test_rows_of_a_bucket_stay_in_it_beyond_32_bits(tmp_path: Path, start: int) -> None:
    """marin#1970: an index of a mixture that wraps; Megatron-LM#1672: of a token. Against plain Python."""
    tokens = [3e12, 1e12, 2e12]
    buckets = [bucket(d, (0, 64), t) for d, t in zip(("code", "math", "web"), tokens, strict=True)]
    sized_dataset(tmp_path / "d", Sized(64, buckets))
    rates = {"label": "prior, not ablated", "domains": {"code": 0.5, "math": 0.2, "web": 0.3}, "bounds": [64]}
    write_rates(tmp_path, rates, [1.0, 0.0], 64)
    plan = load_plan(write(tmp_path, [{"context": 64, "tokens": "5T", "from": "d"}], vision="none", rates="r.toml"))
    assert plan.rows > (1 << 33) + 9
    found = places(plan, np.arange(start, start + 9, dtype=np.int64))
    counts = dict(plan.stages[0].mixture.counts(start))
    for s, row, epoch in zip(found.source.tolist(), found.row.tolist(), found.epoch.tolist(), strict=True):
        source = plan.sources[plan.stages[0].mixture.names[s]]
        turn, at = divmod(counts[source.name], source.rows)
        counts[source.name] += 1
        assert epoch == turn
        assert row == source.first_row + permuted_plain(at, source.rows, round_keys(17, source.name, turn))
        assert source.first_row <= row < source.stop_row


def write_rates(folder: Path, rates: dict[str, Any], buckets: list[float], context: int, **stage: Any) -> None:
    """A rates.toml with one stage; JSON arrays and strings are TOML."""
    lines = [f"{k} = {json.dumps(v)}" for k, v in rates.items() if not isinstance(v, dict)]
    lines += ["[caps]", *(f"{k} = {v}" for k, v in (rates.get("caps") or {"default": 4.0}).items())]
    if isinstance(rates["domains"], dict):
        lines += ["[domains]", *(f"{k} = {v}" for k, v in rates["domains"].items())]
    written = {"name": "S", "context": context, "buckets": buckets} | stage
    lines += ["[[stages]]", *(f"{k} = {json.dumps(v)}" for k, v in written.items())]
    (folder / "r.toml").write_text("\n".join(lines))


def test_the_digest_covers_rates_and_their_label(out: Path, tmp_path: Path) -> None:
    base = (Path(load_rates_file()).read_text(encoding="utf-8"),)
    (out / "same.toml").write_text(base[0])
    (out / "told.toml").write_text(base[0].replace('"prior, not ablated"', '"aligned"\nevidence = "ablation 7"'))
    digests = [load_plan(write(out, rates=r)).digest for r in ("default", "same.toml", "told.toml")]
    assert digests[0] == digests[1] != digests[2]


def load_rates_file() -> str:
    """The default's path."""
    from gristmill.pipeline import curriculum

    return str(Path(curriculum.__file__).parent / "rates.toml")


def changed(number: int, **fields: Any) -> list[dict[str, Any]]:
    """The stages with one changed; None takes a key away."""
    stages = [dict(s) for s in STAGES]
    stages[number] = {k: v for k, v in (stages[number] | fields).items() if v is not None}
    return stages


@pytest.mark.parametrize(
    ("stages", "plan", "told"),
    [
        (STAGES, {"vision": None}, r"stages.1 \(P2\)|stages.0 \(P1\): has no share of vision"),
        (changed(0, mix={"d8": 1.0}), {}, "either `mix` or `from`"),
        (changed(0, **{"from": None}), {}, "either `mix` or `from`"),
        (changed(1, synth=None), {}, r"stages.1 \(P2\): has no synthesised sequences.*synth: none"),
        (
            changed(1, tokens="200B"),
            {},
            r"stages.1 \(P2\): synthesised sequences: 2.4e\+10 tokens are needed, 1.2e\+10",
        ),
        (
            changed(3, max_epochs={"s1m": "bad"}),
            {},
            r"\(C2\).max_epochs.s1m: is no number of epochs: 'bad'.*low_quality",
        ),
        (changed(3, max_epochs={"nobody": 1}), {}, "max_epochs.nobody: no stage reads this dataset"),
        (changed(0, tokens="20T"), {}, r"stages.0 \(P1\): domain (web|math|vision), bucket .* tokens are needed"),
        (changed(0, max_epochs={"d8": 0.2}), {}, r"\(P1\): domain .* tokens are needed"),
        (changed(0, name="P9"), {}, "stages.0 .P9.: the rates have no such stage.*P1"),
        (changed(0, name="C1"), {}, "the rates' stage C1 is of 262144 tokens"),
        (STAGES, {"vision": [0.05, 0.05]}, "vision has 2 shares for 4 stages"),
        (STAGES, {"vision": 1.5}, "vision"),
        (STAGES, {"vision": 0.9}, r"stages.\d .*: (its share of image tokens is|domain vision)"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_by_name(
    out: Path, stages: list[dict[str, Any]], plan: dict[str, Any], told: str
) -> None:
    if plan.get("vision", 1) is None:
        stages = [dict(s) | {"from": f"{s['from']}_text"} for s in stages]
        buckets = spread(published.DOMAINS, published.pool())
        for stage in stages:
            if not (out / stage["from"]).exists():
                sized_dataset(out / stage["from"], Sized(stage["context"], buckets))
    with pytest.raises(RecipeError, match=told) as caught:
        load_plan(write(out, stages, **plan))
    assert "plan.yaml" in str(caught.value) and caught.value.exit_code == 2


def test_a_dataset_that_is_not_there_is_never_left_out(out: Path) -> None:
    """marin#1753: a component whose cache was missing silently fell out of the mixture."""
    for number, key in ((0, "from"), (2, "synth")):
        with pytest.raises(Exception, match="gone"):
            load_plan(write(out, changed(number, **{key: "gone"})))
    with pytest.raises(Exception, match="gone"):
        load_plan(write(out, [{"context": 8192, "tokens": "1B", "mix": {"d8": 0.999, "gone": 0.001}}]))


def test_what_the_manifest_says_is_held_against_itself(tmp_path: Path) -> None:
    """Domains without a rate, datasets without buckets, buckets that leave rows out."""
    stage = {"name": "P1", "context": 8192, "tokens": "1B", "from": "d"}
    sized_dataset(tmp_path / "a", Sized(8192, [bucket("poetry", (0, None), 9e9)]))
    with pytest.raises(RecipeError, match=r"no such domain: 'poetry'.*\[domains\]"):
        load_plan(write(tmp_path, [stage | {"from": "a"}], vision="none"))
    sized_dataset(tmp_path / "b", Sized(8192, rows=1000))
    with pytest.raises(RecipeError, match=r"b: has no buckets.*emit it again"):
        load_plan(write(tmp_path, [stage | {"from": "b"}], vision="none"))
    sized_dataset(tmp_path / "c", Sized(8192, [bucket("web", (0, None), 9e9)], rows=5_000_000))
    with pytest.raises(VerifyError, match="do not tile"):
        load_plan(write(tmp_path, [stage | {"from": "c"}], vision="none"))


def test_a_domain_without_a_rate_may_be_left_out_if_that_is_said(tmp_path: Path) -> None:
    sized_dataset(tmp_path / "d", Sized(64, [bucket(d, (0, 64), 9e6) for d in ("web", "poetry")]))
    rates = {"label": "prior, not ablated", "domains": {"web": 1.0, "poetry": 0.0}, "bounds": [64]}
    write_rates(tmp_path, rates, [1.0, 0.0], 64)
    path = write(tmp_path, [{"context": 64, "tokens": "1M", "from": "d"}], vision="none", rates="r.toml")
    assert described(path)["stages"][0]["not_drawn"] == ["d/poetry/<64"]


def test_unimax_stands_in_for_rates(tmp_path: Path) -> None:
    sizes = {"web": 900e6, "code": 90e6, "math": 10e6}
    sized_dataset(tmp_path / "d", Sized(64, [bucket(d, (0, 64), t) for d, t in sizes.items()]))
    write_rates(tmp_path, {"label": "prior, not ablated", "domains": "unimax", "bounds": [64]}, [1.0, 0.0], 64)
    path = write(tmp_path, [{"context": 64, "tokens": "300M", "from": "d"}], vision="none", rates="r.toml")
    rates = {s["domain"]: s["rate"] for s in described(path)["stages"][0]["sources"]}
    assert rates["math"] == pytest.approx(40 / 300, abs=0.001), "four epochs"
    assert rates["web"] == pytest.approx(130 / 300, abs=0.001) and rates["code"] == pytest.approx(130 / 300, abs=0.001)


def of_one_corpus(folder: Path, **other: Any) -> Path:
    """Two packings of a dataset of 1000 rows' worth of tokens, the second as `other` says, 2.5 epochs of each."""
    buckets = [bucket("web", (0, None), 64_000)]
    sized_dataset(folder / "a", Sized(64, buckets))
    sized_dataset(folder / "b", Sized(128, buckets, **other))
    stages = [
        {"context": 64, "tokens": 160_000, "mix": {"a": 1.0}},
        {"context": 128, "tokens": 160_000, "mix": {"b": 1.0}},
    ]
    return write(folder, stages, vision="none")


def test_packings_of_the_same_documents_share_their_epochs(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"stages.1: b would be gone through 5.00 times, 4 are.*with a: the same"):
        load_plan(of_one_corpus(tmp_path / "one"))
    others: list[dict[str, Any]] = [{"corpus": "elsewhere"}, {"derived": 3}]
    for number, other in enumerate(others):
        assert load_plan(of_one_corpus(tmp_path / f"other{number}", **other)).rows == 2500 + 1250


def test_max_epochs_overrides_the_caps_for_shared_documents_too(tmp_path: Path) -> None:
    path = of_one_corpus(tmp_path / "one")
    plan = yaml.safe_load(path.read_text())
    for stage, name in zip(plan["stages"], "ab", strict=True):
        stage["max_epochs"] = {name: 5}
    path.write_text(yaml.safe_dump(plan))
    assert load_plan(path).limits.datasets == {"a": 5, "b": 5}
    plan["stages"][0]["max_epochs"] = {"a": "low_quality"}
    path.write_text(yaml.safe_dump(plan))
    with pytest.raises(RecipeError, match=r"stages.0: a would be gone through 5.00 times, 2 are allowed"):
        load_plan(path)


def test_stages_with_given_rates_and_solved_ones_share_their_epochs(tmp_path: Path) -> None:
    """The solver sees what a `mix` takes, before and behind it."""
    sized_dataset(tmp_path / "d", Sized(64, [bucket("web", (0, 64), 64e6)]))
    write_rates(tmp_path, {"label": "prior, not ablated", "domains": {"web": 1.0}, "bounds": [64]}, [1.0, 0.0], 64)
    given = {"context": 64, "tokens": "128M", "mix": {"d": 1.0}}
    solved: Callable[[str], dict[str, Any]] = lambda tokens: {"context": 64, "tokens": tokens, "from": "d"}  # noqa: E731
    plan = load_plan(write(tmp_path, [solved("60M"), given, solved("60M")], vision="none", rates="r.toml"))
    assert sum(e["epochs"] for e in exposure(plan, plan.rows).values()) == pytest.approx(248 / 64, abs=0.01)
    with pytest.raises(RecipeError, match=r"stages.0: domain web, bucket <64"):
        load_plan(write(tmp_path, [solved("70M"), given, solved("70M")], vision="none", rates="r.toml"))


def test_rounding_takes_no_source_above_its_cap(tmp_path: Path) -> None:
    """A cell whose share is a part and a half of 4096 may be gone through 4 times, and not 5."""
    sizes = {"web": 64e6, "code": 1.25e4, "math": 0.7e4}
    sized_dataset(tmp_path / "d", Sized(64, [bucket(d, (0, 64), t) for d, t in sizes.items()]))
    rates = {"web": 0.9994, "code": 0.0004, "math": 0.0002}
    write_rates(tmp_path, {"label": "prior, not ablated", "domains": rates, "bounds": [64]}, [1.0, 0.0], 64)
    path = write(tmp_path, [{"context": 64, "tokens": "120M", "from": "d"}], vision="none", rates="r.toml")
    told = described(path)
    epochs = {c["domain"]: c["epochs"] for c in told["epochs"]}
    assert 2 < epochs["code"] <= 4 and epochs.get("math", 0) <= 4
    assert 120e6 * rates["code"] / sizes["code"] < 4 < 120e6 * 2 / PERIOD / sizes["code"], "two parts were too many"


def test_a_share_of_vision_that_given_rates_do_not_reach_is_refused(tmp_path: Path) -> None:
    for name, images in (("text", 0.0), ("pairs", 0.5)):
        sized_dataset(tmp_path / name, Sized(64, [bucket("vision", (0, 64), 64e6, images)], corpus=name))
    mix = {"text": 0.95, "pairs": 0.05}
    stages = [{"context": 64, "tokens": "1M", "mix": {"pairs": 1.0}}, {"context": 64, "tokens": "1M", "mix": mix}]
    assert load_plan(write(tmp_path, stages, vision=0.02)).rows
    with pytest.raises(RecipeError, match=r"stages.1: its share of image tokens is 0.02.., not 0.05"):
        load_plan(write(tmp_path, stages, vision=0.05))
    assert load_plan(write(tmp_path, stages, vision=[0.5, 0.02])).rows
    with pytest.raises(RecipeError, match=r"stages.0"):
        load_plan(write(tmp_path, stages, vision=[0.6, "none"]))
    assert load_plan(write(tmp_path, [stages[1] | {"mix": {"text": 1.0}}], vision="none")).rows
    with pytest.raises(RecipeError, match="has no share of vision"):
        load_plan(write(tmp_path, [stages[1] | {"mix": {"text": 1.0}}], vision=None))


def test_parts_hold_their_caps() -> None:
    parts = parts_within([0.5, 0.25, 0.25 - 1e-7, 1e-7, 0.0], [1000, PERIOD, PERIOD, 5, 5])
    assert sum(parts) == PERIOD and parts[0] == 1000 and parts[3] >= 1 and parts[4] == 0
    assert parts_within([0.9, 0.1], [PERIOD, 0]) == [PERIOD, 0]
    with pytest.raises(ValueError, match="leave room for 30 of"):
        parts_within([0.5, 0.5], [10, 20])


def test_the_command_prints_tables_and_draws_plots(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(out)
    assert main(["plan", str(path), "--plots", str(tmp_path / "one"), "--global-batch", "1024"]) == 0
    told = capsys.readouterr()
    assert "rates: prior, not ablated" in told.out and "upsampled, times" in told.out
    assert f"\t{890 * 10**9 // 8192 // 1024}\t" in told.out
    assert main(["plan", str(path), "--plots", str(tmp_path / "two"), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert {"stages", "epochs", "rates", "datasets"} <= plan.keys()
    names = {"shares_by_bucket.png", "shares_by_domain.png", "epochs.png", "exposure.png"}
    assert {p.name for p in (tmp_path / "one").iterdir()} == names
    for name in names:
        png = (tmp_path / "one" / name).read_bytes()
        assert png.startswith(b"\x89PNG") and png == (tmp_path / "two" / name).read_bytes()
    assert main(["plan", "demo", "--plots", str(tmp_path / "three")]) == 2
    assert main(["plan", str(path), "--global-batch", "0"]) == 2


def test_the_plan_of_the_documentation_works(out: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "curriculum.md").read_text(encoding="utf-8")
    plan = yaml.safe_load(text.split("```yaml\n")[1].split("```")[0])
    plan["datasets"] = {name: name for name in plan["datasets"]}
    (out / "documented.yaml").write_text(yaml.safe_dump(plan))
    told = described(out / "documented.yaml")
    assert [s["name"] for s in told["stages"]] == ["P1", "P2", "C1", "C2"]
    epochs = {(c["domain"], c["bucket"]): c["epochs"] for c in told["epochs"] if c["documents_of"] == "d8"}
    assert max(epochs.values()) == epochs["web", ">=512K"]


@pytest.mark.parametrize(("name", "vision"), [("demo.yaml", "none"), ("tour.yaml", 0.025)])
def test_the_plans_that_are_shipped_can_be_read(name: str, vision: str | float) -> None:
    plan = read_plan(PLANS / name)
    assert plan.vision == vision
    assert [s.context for s in plan.stages] == [8192, 65536, 262144, 1048576][: len(plan.stages)]
    assert {n for s in plan.stages for n in s.names} == set(plan.datasets)
