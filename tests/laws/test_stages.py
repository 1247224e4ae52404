"""Laws of single stages, over every stage that is registered: a stage added later is tested by being registered."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from blake3 import blake3

from gristmill.manifests.schema import MEDIUM_CHAR, content_hashes
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.columns import with_column
from gristmill.stages.protocol import VERDICTS, Census, Exchange, Expander, Filter, Mapper, emitted_schema
from tests.laws.batches import make_batch
from tests.laws.corpora import HOSTILE, named_stages, prose
from tests.laws.pictures import pictured, render_pairs
from tests.laws.samples import sample_stage

GOLDEN = Path(__file__).parent / "golden.json"
PAGE = "<!doctype html><html><body><nav>x</nav><main><p>{}</p><pre>code  here</pre></main></body></html>"
TEXTS = [*HOSTILE, *(prose(n, 60 + 31 * n) for n in range(12)), *(PAGE.format(prose(50 + n, 80)) for n in range(4))]

STAGES = {name: sample_stage(name) for name in catalogue.names()}
ROW_LOCAL = [n for n, s in STAGES.items() if isinstance(s, Filter | Mapper | Expander)]
EXPANDERS = [n for n, s in STAGES.items() if isinstance(s, Expander)]
EXCHANGES = [n for n, s in STAGES.items() if isinstance(s, Exchange)]
CENSUSES = [n for n, s in STAGES.items() if isinstance(s, Census)]


def batch_for(name: str) -> pa.RecordBatch:
    """The texts; for stages that look at pictures, documents with some behind them."""
    plain = make_batch(list(TEXTS))
    if name in (*EXPANDERS, "render_split"):
        return pa.Table.from_batches([plain, render_pairs()]).combine_chunks().to_batches()[0]
    return plain


def outcome(name: str, batch: pa.RecordBatch) -> list[tuple[object, ...]]:
    """What a row-local stage did with each row, comparable across batchings: (id, text or fate)."""
    result = run_chain([STAGES[name]], batch)  # type: ignore[list-item]
    ids = batch.column("id").to_pylist()
    kept = zip(result.kept.column("id").to_pylist(), result.kept.to_pylist(), strict=True)
    gone = [(ids[f.row], f.verdict, f.reason, f.measure, repr(f.value), repr(f.limit), f.detail) for f in result.fates]
    return sorted([(i, "keep", repr(row)) for i, row in kept] + gone)


# It draws: a machine may lack the engines. `tests/render/test_check.py` runs it in recipes of a domain of its own.
RUN_ELSEWHERE = {"render_check"}


def test_the_recipes_of_the_laws_name_every_stage() -> None:
    assert set(catalogue.names()) - RUN_ELSEWHERE <= named_stages()


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_no_rows_give_no_rows(name: str) -> None:
    result = run_chain([STAGES[name]], make_batch([]))  # type: ignore[list-item]
    assert result.kept.num_rows == 0
    assert result.fates == []


@pytest.mark.parametrize("name", ROW_LOCAL)
@pytest.mark.parametrize("text", ["", " ", None])
def test_an_empty_text_has_one_fate(name: str, text: str | None) -> None:
    assert len(outcome(name, make_batch([text]))) == 1


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_a_row_does_not_depend_on_its_batch(name: str) -> None:
    whole = batch_for(name)
    parts = [whole.slice(at, 3) for at in range(0, whole.num_rows, 3)]
    assert outcome(name, whole) == sorted(row for part in parts for row in outcome(name, part))


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_twice_gives_the_same(name: str) -> None:
    batch = batch_for(name)
    assert outcome(name, batch) == outcome(name, batch)


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_every_row_is_kept_or_has_one_reason_of_the_vocabulary(name: str) -> None:
    stage = STAGES[name]
    batch = batch_for(name)
    result = run_chain([stage], batch)  # type: ignore[list-item]
    gone = [f.row for f in result.fates]
    given = set(batch.column("id").to_pylist())
    kept = zip(result.kept_rows.tolist(), result.kept.column("id").to_pylist(), strict=True)
    assert sorted([*gone, *(row for row, i in kept if i in given)]) == list(range(batch.num_rows))
    known = {r.reason for r in getattr(stage, "rules", tuple)()} | {
        r.reason for r in getattr(stage, "reasons", tuple)()
    }
    assert {f.reason for f in result.fates} <= known


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_characters_balance_row_by_row(name: str) -> None:
    step = run_chain([STAGES[name]], batch_for(name)).steps[0]  # type: ignore[list-item]
    cut = sum((np.asarray(c) for c in step.cut_chars.values()), np.zeros(len(step.rows), np.int64))
    kept = step.kept
    assert (step.chars_in[kept] == step.chars_out[kept] + cut[kept]).all()


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_content_hashes_follow_the_text(name: str) -> None:
    kept = run_chain([STAGES[name]], batch_for(name)).kept  # type: ignore[list-item]
    fresh = content_hashes(kept.column("text").fill_null(""), kept.column("media"))
    assert kept.column("content_hash").equals(fresh)


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_fractions_and_scores_lie_between_0_and_1(name: str) -> None:
    step = run_chain([STAGES[name]], make_batch(list(TEXTS))).steps[0]  # type: ignore[list-item]
    for measure, values in step.measures.items():
        assert len(values) == len(TEXTS)
        if measure.endswith(("_frac", "_ratio", "_score")):
            assert ((values >= 0) & (values <= 1) | np.isnan(values)).all(), measure


@pytest.mark.parametrize("name", EXPANDERS)
def test_further_rows_are_made_of_one_row_and_say_so(name: str) -> None:
    batch = batch_for(name)
    result = run_chain([STAGES[name]], batch)  # type: ignore[list-item]
    ids, given = batch.column("id").to_pylist(), set(batch.column("id").to_pylist())
    made = list(zip(result.kept.to_pylist(), result.kept_rows.tolist(), strict=True))
    further = [(row, at) for row, at in made if row["id"] not in given]
    assert further and len({row["id"] for row, _ in made}) == len(made)
    for row, at in further:
        assert (row["parents"], row["derivation"]) == ([ids[at]], "form")
        assert (row["text"] or "").count(MEDIUM_CHAR) == len(row["media"] or [])


def roots_of(reads: tuple[str, ...]) -> list[str]:
    """The columns of what a stage reads, which may be a part of one: `media.list.element.sha256`."""
    return list(dict.fromkeys(name.partition(".")[0] for name in reads))


def reduced(stage: Exchange, batch: pa.RecordBatch, order: list[int], cut: int) -> set[tuple[int, bytes]]:
    """(addr, keeper) of what an exchange drops when rows come in some order, cut into two batches."""
    from gristmill.pipeline.exchange_rows import sort_rows

    addr = np.arange(batch.num_rows, dtype=np.uint64)
    emitted = stage.emit(batch.select(roots_of(stage.reads)), addr)
    schema = emitted_schema(stage.key_bytes, stage.order_bytes, getattr(stage, "value_bytes", 0))
    place = np.argsort(np.array(order))[emitted.column("addr").to_numpy()]
    shuffled = emitted.take(pa.array(np.argsort(place, kind="stable")))
    table = sort_rows(pa.Table.from_batches([shuffled], schema=schema))
    batches = [b for part in (table.slice(0, cut), table.slice(cut)) for b in part.to_batches()]
    rows = pa.Table.from_batches(list(stage.reduce(iter(batches))), schema=VERDICTS)
    return set(zip(rows.column("addr").to_pylist(), rows.column("keeper").to_pylist(), strict=True))


def exchange_batch(name: str, *again: int) -> pa.RecordBatch:
    """The texts, and so many of them again; for a stage that looks at pictures documents with some."""
    if name == "picture_dedup":
        return pictured()
    return make_batch([*TEXTS, *(text for count in again for text in TEXTS[:count])])


@pytest.mark.parametrize("name", EXCHANGES)
def test_an_exchange_depends_on_no_order_and_no_batching(name: str) -> None:
    stage = STAGES[name]
    assert isinstance(stage, Exchange)
    batch = exchange_batch(name, 9, 4)
    order = list(range(batch.num_rows))
    expected = reduced(stage, batch, order, 0)
    assert expected
    for cut in range(0, batch.num_rows, 2):
        assert reduced(stage, batch, order[::-1], cut) == expected


def census_batch() -> pa.RecordBatch:
    """Documents that come two or three times, as files of three repositories."""
    batch = make_batch([*TEXTS, *TEXTS, *TEXTS[:9]])
    paths = [f"r{row // len(TEXTS)}/d/f{row % len(TEXTS)}.py" for row in range(batch.num_rows)]
    metas = [json.dumps({"s": {"path": path}}) for path in paths]
    return with_column(batch, "meta", pa.array(metas, pa.large_string()))


def decided(stage: Census, batch: pa.RecordBatch, order: list[int], cut: int) -> list[str]:
    """Verdicts of a census whose rows come in some order, counted in two batches."""
    reads = batch.select(roots_of(stage.reads)).take(pa.array(order))
    addr = np.array(order, dtype=np.uint64)
    counted = [
        stage.count(reads.slice(*part), addr[slice(part[0], sum(part))]) for part in ((0, cut), (cut, len(order) - cut))
    ]
    assert all(c.schema == stage.counts for c in counted)
    rows = pa.Table.from_batches(list(stage.decide(iter(counted), {})), schema=VERDICTS)
    return sorted(map(repr, rows.to_pylist()))


@pytest.mark.parametrize("name", CENSUSES)
def test_a_census_depends_on_no_order_and_no_batching(name: str) -> None:
    stage = STAGES[name]
    assert isinstance(stage, Census)
    batch = census_batch()
    order = list(range(batch.num_rows))
    expected = decided(stage, batch, order, 0)
    assert expected
    for cut in range(0, batch.num_rows, 9):
        assert decided(stage, batch, order[::-1], cut) == expected


@pytest.mark.parametrize("name", CENSUSES)
def test_a_census_of_nothing_decides_nothing(name: str) -> None:
    stage = STAGES[name]
    assert isinstance(stage, Census)
    none = make_batch([]).select(roots_of(stage.reads))
    counted = stage.count(none, np.zeros(0, np.uint64))
    assert counted.schema == stage.counts and counted.num_rows == 0
    for batches in ([], [counted]):
        assert sum(b.num_rows for b in stage.decide(iter(batches), {})) == 0


@pytest.mark.parametrize("name", CENSUSES)
def test_a_census_gives_words_of_its_vocabulary(name: str) -> None:
    stage = STAGES[name]
    assert isinstance(stage, Census)
    batch = census_batch()
    addr = np.arange(batch.num_rows, dtype=np.uint64)
    counted = stage.count(batch.select(roots_of(stage.reads)), addr)
    rows = pa.Table.from_batches(list(stage.decide(iter([counted]), {})), schema=VERDICTS)
    assert set(rows.column("reason").to_pylist()) <= set(range(len(stage.reasons())))
    assert set(rows.column("addr").to_pylist()) <= set(addr.tolist())


def golden_digest(name: str) -> str:
    """Digest of all that a stage makes of the fixed texts."""
    stage = STAGES[name]
    if isinstance(stage, Exchange):
        batch = exchange_batch(name, 9)
        made: object = sorted(reduced(stage, batch, list(range(batch.num_rows)), 7))
    elif isinstance(stage, Census):
        batch = census_batch()
        made = decided(stage, batch, list(range(batch.num_rows)), 7)
    else:
        made = outcome(name, batch_for(name))
    return blake3(repr(made).encode("utf-8", "surrogatepass")).hexdigest(16)


@pytest.mark.parametrize("name", [*ROW_LOCAL, *EXCHANGES, *CENSUSES])
def test_output_changes_only_with_the_version(name: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    now = {"version": STAGES[name].version, "digest": golden_digest(name)}
    assert golden.get(name) == now, f"raise the version of {name}, then: python -m tests.laws.test_stages"


if __name__ == "__main__":
    names = sys.argv[1:] or [*ROW_LOCAL, *EXCHANGES, *CENSUSES]
    table = json.loads(GOLDEN.read_text(encoding="utf-8")) if sys.argv[1:] else {}
    table |= {n: {"version": STAGES[n].version, "digest": golden_digest(n)} for n in names}
    GOLDEN.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
