"""A trace tells of each fate: kept, dropped, duplicate, quarantined, held out, placed in rows."""

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gristmill.manifests.errors import EXIT_INPUT, EXIT_NO_VERDICT, InputError, VerifyError
from gristmill.manifests.find import places
from gristmill.manifests.ipc import read_ipc
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import DOCUMENT, record_id
from gristmill.manifests.shard import read_shard
from gristmill.manifests.trace import AmbiguousError, Trace, trace
from tests.manifests.small_run import LONG, forge_manifest

Told = list[tuple[str, str, str, str | None]]


def told(traced: Trace) -> Told:
    """What the events say, in short."""
    return [(e.dataset, e.step, e.verdict, e.reason) for e in traced.events]


def table(out: Path, dataset: str, file_list: str, columns: list[str]) -> list[dict[str, Any]]:
    """Rows of the files of a dataset."""
    entries = read_manifest(out / dataset)[file_list]
    batches = [b for e in entries for b in read_shard(out / dataset / e["path"], columns)]
    return [row for batch in batches for row in batch.to_pylist()]


KEPT_IN_A: Told = [("a", "read", "keep", None), ("a", "short", "keep", None)]
KEPT_IN_CORPUS: Told = [
    ("corpus", "from", "keep", None),
    ("corpus", "exact_dedup", "keep", None),
    ("corpus", "long", "keep", None),
]


def held_out(out: Path) -> set[str]:
    return {row["id"] for row in table(out, "holdout", "shards", ["id"])}


def test_a_kept_record_is_followed_into_the_rows(finished: Path) -> None:
    held = held_out(finished)
    placed = next(r["id"] for r in table(finished, "corpus", "shards", ["id", "source"]) if r["id"] not in held)
    traced = trace(finished, placed)
    source = traced.source
    assert source in ("a", "b")
    assert told(traced)[-2:] == [("train", "from", "keep", None), ("train", "emit", "keep", None)]
    rows = traced.events[-1].rows
    assert rows
    for batch in (b for p in (finished / "train").glob("part-*") for b in read_ipc(p)):
        for row in batch.select(["row_id", "docs", "segments"]).to_pylist():
            mine = [i for i, doc in enumerate(row["docs"]) if doc["id"] == placed]
            spans = [
                {n: s[n] for n in ("start", "end", "doc_offset")}
                for s in row["segments"]
                if s["doc_idx"] in mine and s["kind"] != "separator"
            ]
            found = [r["segments"] for r in rows if r["row_id"] == row["row_id"].hex()]
            assert found == ([spans] if spans else [])


def test_a_long_document_stands_in_several_rows(finished: Path) -> None:
    traced = trace(finished, "b9")
    segments = sorted((s for row in traced.events[-1].rows for s in row["segments"]), key=lambda s: s["doc_offset"])
    assert len(segments) > 1
    ends = [s["doc_offset"] + s["end"] - s["start"] for s in segments]
    assert [s["doc_offset"] for s in segments] == [0, *ends[:-1]]


def test_a_held_out_record(finished: Path) -> None:
    record = min(held_out(finished))
    traced = trace(finished, record)
    events = told(traced)
    assert events[-3:] == [
        ("train", "from", "keep", None),
        ("train", "emit", "drop", "holdout"),
        ("holdout", "holdout", "keep", None),
    ]
    assert traced.events[-2].limit == 0.1


def test_a_dropped_record_has_value_and_limit(finished: Path) -> None:
    traced = trace(finished, "https://example.org/0")
    assert told(traced) == [("a", "read", "keep", None), ("a", "short", "drop", "n_words_below")]
    event = traced.events[-1]
    assert (event.measure, event.value, event.limit, event.file) == ("n_words", 3.0, 8.0, "a.jsonl")
    assert (traced.url, traced.source, traced.others) == ("https://example.org/0", "a", [])


def test_a_record_that_a_later_dataset_drops(finished: Path) -> None:
    traced = trace(finished, "long")
    assert told(traced) == [*KEPT_IN_A, *KEPT_IN_CORPUS[:2], ("corpus", "long", "drop", "n_chars_above")]
    assert traced.events[-1].value == len(LONG)


def test_a_duplicate_names_its_keeper(finished: Path) -> None:
    pairs = [("https://example.org/4", "https://mirror.example.org/4")]
    for urls in pairs:
        both = [trace(finished, url) for url in urls]
        dropped = next(t for t in both if any(e.verdict == "drop" for e in t.events))
        kept = next(t for t in both if t is not dropped)
        assert told(dropped) == [*KEPT_IN_A, KEPT_IN_CORPUS[0], ("corpus", "exact_dedup", "drop", "exact_duplicate")]
        assert dropped.events[-1].keeper == kept.id
        assert told(kept)[:5] == [*KEPT_IN_A, *KEPT_IN_CORPUS]


def test_a_quarantined_record(finished: Path) -> None:
    bad = next(r["id"] for r in table(finished, "a", "ledger", ["id", "verdict"]) if r["verdict"] == "quarantine")
    traced = trace(finished, bad)
    assert told(traced) == [("a", "read", "quarantine", "bad_json")]
    event = traced.events[0]
    assert event.file == "a.jsonl"
    assert event.offset and event.offset > 1000
    assert event.value is None, "not a number stands as nothing"


def test_by_key_by_prefix_and_upper_case(finished: Path) -> None:
    record = record_id("key", "a", "k10")
    assert trace(finished, "k10").id == record
    assert trace(finished, record[:12]) == trace(finished, record)
    assert trace(finished, record.upper()) == trace(finished, record)


def test_a_repeated_key_gives_all_its_records(finished: Path) -> None:
    traced = trace(finished, "k5")
    assert len(traced.others) == 1
    assert {traced.id, *traced.others} >= {record_id("key", "a", "k5")}
    by_url = trace(finished, "https://example.org/5")
    assert {by_url.id, *by_url.others} == {traced.id, *traced.others}


def test_a_prefix_that_fits_several(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.manifests.find.MIN_PREFIX_CHARS", 1)
    ids = {r["id"] for name in ("a", "b") for r in table(finished, name, "shards", ["id"])}
    ids |= {r["id"] for r in table(finished, "a", "ledger", ["id"])}
    prefix = next(f"{d:x}" for d in range(16) if 1 < sum(i.startswith(f"{d:x}") for i in ids) < 20)
    with pytest.raises(AmbiguousError) as caught:
        trace(finished, prefix)
    assert caught.value.candidates == sorted(i for i in ids if i.startswith(prefix))
    assert caught.value.exit_code == EXIT_NO_VERDICT


def test_a_key_comes_before_the_beginning_of_an_id(finished: Path) -> None:
    """`b9` and the like are keys here, and could begin an id."""
    for key in ("b1", "b9", "b11"):
        assert trace(finished, key).id == record_id("key", "b", key)


@pytest.mark.parametrize("what", ["f" * 32, "ffff0000ff", "abc", "https://nowhere.example/", "", "\x00", "%", "^.*$"])
def test_no_such_record(finished: Path, what: str) -> None:
    with pytest.raises(InputError, match="no such record") as caught:
        trace(finished, what)
    assert caught.value.exit_code == EXIT_INPUT


def test_grep_in_kept_texts(finished: Path) -> None:
    traced = trace(finished, None, grep="document number 13 has words")
    assert traced.url == "https://example.org/13"
    assert traced.others == []
    many = trace(finished, None, grep="about the mill")
    assert len(many.others) == 20


def test_grep_is_no_pattern(finished: Path) -> None:
    with pytest.raises(InputError):
        trace(finished, None, grep="number .* has")
    assert trace(finished, None, grep="\x1b[31m code 3 \u7edf").source == "b"


def test_grep_in_samples_of_what_was_dropped(finished: Path) -> None:
    traced = trace(finished, None, grep="document number 7 ")
    assert told(traced)[-1] == ("a", "short", "drop", "n_words_below")
    assert trace(finished, None, grep='{"id": "bad"').events[0].reason == "bad_json"


def test_grep_in_shards_before_a_later_step(out: Path) -> None:
    """A text that is in no dataset's shards and in no sample, but in what its dataset read earlier."""
    for path in out.glob("*/samples/*"):
        path.unlink()
    for name in ("a", "b", "corpus", "train", "holdout"):
        forge_manifest(out / name, lambda m: m["samples"].clear())
    for name in ("corpus", "holdout"):
        forge_manifest(out / name, lambda m: m["shards"].clear())
    in_a = trace(out, None, grep="document number 13 has words")
    forge_manifest(out / "a", lambda m: m["shards"].clear())
    assert trace(out, None, grep="document number 13 has words").id == in_a.id


def test_a_dataset_alone(finished: Path) -> None:
    traced = trace(finished / "corpus", "long")
    assert told(traced) == [*KEPT_IN_CORPUS[:2], ("corpus", "long", "drop", "n_chars_above")]


def test_every_record_is_explained(finished: Path) -> None:
    """Each record read has an end: kept in the last dataset that saw it, or gone."""
    ids = [r["id"] for name in ("a", "b") for r in table(finished, name, "shards", ["id"])]
    ids += [r["id"] for name in ("a", "b") for r in table(finished, name, "ledger", ["id"])]
    assert len(set(ids)) == len(ids) == 69 + 12
    ends = {"train": 0, "gone": 0, "holdout": 0}
    for record in ids:
        last = trace(finished, record).events[-1]
        assert last.verdict != "keep" or last.dataset in ends
        ends[last.dataset if last.verdict == "keep" else "gone"] += 1
    kept = {m.name: m.manifest["totals"]["records"] for m in places(finished)}
    assert ends == {"train": kept["train"], "holdout": kept["holdout"], "gone": 11 + 5 + 1}


def test_damage_is_a_verify_error(out: Path) -> None:
    shard = next((out / "b").glob("part-*"))
    raw = bytearray(shard.read_bytes())
    text = pq.ParquetFile(shard).metadata.row_group(0).column(DOCUMENT.names.index("text"))
    raw[text.data_page_offset + text.total_compressed_size // 2] ^= 0x10
    shard.write_bytes(raw)
    with pytest.raises(VerifyError):
        trace(out, None, grep="code 3")


def test_a_forged_path_is_not_followed(out: Path) -> None:
    forge_manifest(out / "b", lambda m: m["shards"][0].update(path="../a/manifest.json"))
    with pytest.raises(VerifyError, match="leaves the folder"):
        trace(out, "b3")


def test_not_an_output(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        trace(tmp_path, "k5")


def test_events_hold_the_keys_that_scripts_read(finished: Path) -> None:
    event = dataclasses.asdict(trace(finished, "k10").events[0])
    assert event.keys() >= {"step", "verdict", "reason", "value", "limit", "keeper", "dataset"}
