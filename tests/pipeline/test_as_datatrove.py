"""A stage as a step of somebody's datatrove pipeline: what stays untouched, what is told, how it travels."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import InputError, UsageError
from gristmill.pipeline.adapters import as_datatrove
from gristmill.stages import doc_filter
from gristmill.stages.text.c4 import C4
from tests.laws.corpora import prose
from tests.pipeline.excluded import Excluded

base = pytest.importorskip("datatrove.pipeline.base")
data = pytest.importorskip("datatrove.data")
dill = pytest.importorskip("dill")

USER_FILE = '''
import re
from gristmill.stages import doc_filter

WORD = re.compile("[a-z]+")

@doc_filter(drop_above={"words": 3})
def wordy(text):
    """Many words."""
    if "raise" in text:
        raise ValueError("no")
    return {"words": len(WORD.findall(text))}
'''


@doc_filter(drop_above={"chars": 5})
def long(text: str) -> dict[str, float]:
    """Long ones."""
    return {"chars": len(text)}


@doc_filter(drop_above={"upper": 1, "chars": 3})
def shouting(text: str) -> dict[str, float]:
    """Two reasons."""
    return {"upper": sum(char.isupper() for char in text), "chars": len(text)}


def document(text: Any, number: Any = 0, **metadata: Any) -> Any:
    return data.Document(text, number, [], metadata)


def totals(step: Any) -> dict[str, int]:
    return {name: stat.total for name, stat in step.stats.stats.items() if not name.startswith("doc_len")}


def test_it_is_a_step_of_datatroves() -> None:
    step = as_datatrove("gopher_quality", {"min_doc_words": 2})
    assert isinstance(step, base.PipelineStep)
    assert repr(step) == "GRISTMILL: gopher_quality"
    assert list(step()) == [] and list(step(iter(()))) == []


def test_documents_stay_what_they_are() -> None:
    """Falsy values, foreign types, media: the same objects come out, in order, with nothing lost."""
    media = [data.Media("m", 0, "http://x.example/i.png", media_bytes=b"\x00")]
    given = [
        document("", 0, n=0, none=None, empty="", false=False, nested={"a": []}, nan=float("nan")),
        document(None, "", url="", language=""),
        data.Document("a\ufffcb", "id", media, {"url": 7, "language": None, "source": "\ud800", 3: "key"}),
        document("\x00", 1, gristmill="theirs", meta={"path": "x.py"}, odd=object()),
    ]
    copies = [(d.text, d.id, list(d.media), dict(d.metadata)) for d in given]
    for stage in (long, "gopher_repetition", "url_lists", "encoding_repair", "code_rules"):
        kept = list(as_datatrove(stage, batch_rows=3)(iter(given)))
        order = [given.index(d) for d in kept]
        assert order == sorted(order)
        if stage is long:
            assert kept == given
    assert [(d.text, d.id, list(d.media)) for d in given] == [c[:3] for c in copies]
    for found, copy in zip(given, copies, strict=True):
        told = {k: v for k, v in found.metadata.items() if not str(k).startswith("filter_")}
        assert repr(told) == repr(copy[3])


def test_what_goes_bears_its_reason_and_is_counted() -> None:
    excluded = Excluded()
    step = as_datatrove(shouting, exclusion_writer=excluded)
    kept = list(step(iter([document("ab", 1), document("ABC", 2, n=0), document("abcd", 3)]), rank=4))
    assert [d.id for d in kept] == [1] and [d.id for d in excluded.documents] == [2, 3]
    assert excluded.ranks == [4, 4] and excluded.closed == 1
    assert excluded.documents[0].metadata == {
        "n": 0,
        "filter_reason": "upper_above",
        "filter_step": "shouting",
        "filter_verdict": "drop",
        "filter_measure": "upper",
        "filter_value": 3.0,
        "filter_limit": 1.0,
        "filter_detail": "",
    }
    expected = {"total": 3, "forwarded": 1, "dropped": 2, "dropped_upper_above": 1, "dropped_chars_above": 1}
    assert totals(step) == expected
    assert step.stats["doc_len"].total == 2


def test_what_cannot_be_judged_goes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.pipeline.adapters.documents.MAX_DOC_BYTES", 9)
    excluded = Excluded()
    step = as_datatrove(long, exclusion_writer=excluded)
    given = [document("a", 0), document("\ud800x", 1), document(5, 2), document("b", 3), document("é" * 5, 4)]
    assert [d.id for d in step(iter(given))] == [0, 3]
    told = [(d.id, d.metadata["filter_reason"], d.metadata["filter_verdict"]) for d in excluded.documents]
    assert told == [(n, r, "quarantine") for n, r in ((1, "bad_utf8"), (2, "bad_field"), (4, "too_large"))]
    assert totals(step)["quarantined"] == 3 and excluded.documents[1].text == 5


def test_a_filter_that_raises_costs_one_document(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(USER_FILE)
    excluded = Excluded()
    step = as_datatrove("./mine.py:wordy", exclusion_writer=excluded, base_dir=tmp_path)
    assert [d.text for d in step(iter([document("a"), document("raise"), document("b")]))] == ["a", "b"]
    assert excluded.documents[0].metadata["filter_detail"] == "ValueError: no"
    assert totals(step)["dropped_filter_error"] == totals(step)["quarantined"] == 1


def test_a_mappers_text_goes_into_the_document_and_its_cuts_are_counted() -> None:
    text = "short\n" + "\n".join(f"{prose(n, 12).strip()}" for n in range(6))
    step = as_datatrove(C4())
    (kept,) = step(iter([document(text, 1, language="en")]))
    assert "short" not in kept.text and kept.metadata == {"language": "en"}
    cut = sum(total for name, total in totals(step).items() if name.startswith("cut_chars_"))
    assert cut == len(text) - len(kept.text) > 0
    assert step.stats["doc_len"].total == len(kept.text)


def test_a_language_goes_to_its_key_and_media_are_appended() -> None:
    (kept,) = as_datatrove("language", {"min_score": 0})(iter([document(prose(1, 80), 1, language="xx")]))
    assert kept.metadata == {"language": "en"}
    (kept,) = as_datatrove("language", {"min_score": 0}, measures=True)(iter([document(prose(1, 80))]))
    assert kept.metadata["language"] == "en"
    assert {k for k in kept.metadata if k != "language"} and all(
        k.startswith("gristmill.language.") for k in kept.metadata if k != "language"
    )
    page = (
        f"<html><body><main><p>{prose(2, 90)}</p><img src='https://x.example/a.png' alt='a mill'></main></body></html>"
    )
    own = data.Media("m", 0, "own")
    given = data.Document(page, "p", [own], {"url": "https://x.example/"})
    (kept,) = as_datatrove("extract_html")(iter([given]))
    assert kept.media[0] is own and kept.text.count("\ufffc") == len(kept.media) - 1


def test_measures_come_on_request_with_the_same_keys_everywhere() -> None:
    excluded = Excluded()
    step = as_datatrove(shouting, measures=True, exclusion_writer=excluded)
    (kept,) = step(iter([document("ab"), document("ABCDE")]))
    assert kept.metadata == {"gristmill.shouting.upper": 0.0, "gristmill.shouting.chars": 2.0}
    assert set(kept.metadata) < set(excluded.documents[0].metadata)
    json.dumps(kept.metadata, allow_nan=False)


def test_batches_end_at_rows_and_at_bytes() -> None:
    seen: list[int] = []

    def upstream() -> Iterator[Any]:
        for number in range(6):
            seen.append(number)
            yield document("x" * 4)

    def taken_for_the_first(**bounds: Any) -> int:
        seen.clear()
        next(as_datatrove(long, **bounds)(upstream()))
        return len(seen)

    # One more than the batch holds: it is seen that it has no room.
    assert taken_for_the_first(batch_rows=2) == 3
    assert taken_for_the_first(batch_bytes=8) == 3
    assert taken_for_the_first(batch_bytes=1) == 2
    assert taken_for_the_first() == 6


def test_a_pipeline_that_stops_early_leaves_the_writer_closed() -> None:
    excluded = Excluded()
    running = as_datatrove(long, exclusion_writer=excluded, batch_rows=1)(iter([document("a"), document("b")]))
    next(running)
    running.close()
    assert excluded.closed == 1


@pytest.mark.parametrize("pickler", [pickle, dill], ids=["pickle", "dill"])
def test_it_travels(pickler: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(USER_FILE)
    steps = [
        as_datatrove("gopher_quality", {"min_doc_words": 3}, measures=True, batch_rows=7),
        as_datatrove("./mine.py:wordy", {"words": 1}, base_dir=tmp_path),
    ]
    (tmp_path / "mine.py").unlink()
    for step in steps:
        again = pickler.loads(pickler.dumps(step))
        assert type(again) is type(step) and again.options == step.options
        assert again.shipped == step.shipped


def test_a_users_file_is_there_where_nobody_has_it(tmp_path: Path) -> None:
    """In a fresh process, without the file, by the bytes that came along."""
    import subprocess
    import sys

    (tmp_path / "mine.py").write_text(USER_FILE)
    step = as_datatrove("./mine.py:wordy", {"words": 1}, base_dir=tmp_path)
    (tmp_path / "step.pik").write_bytes(dill.dumps(step))
    (tmp_path / "mine.py").unlink()
    code = """
import dill, pathlib
from datatrove.data import Document
step = dill.loads(pathlib.Path("step.pik").read_bytes())
print([d.text for d in step(iter([Document("a", "1"), Document("a b", "2")]))])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "['a']\n", done.stderr


def test_under_datatroves_local_executor(tmp_path: Path) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    for part in range(2):
        lines = [json.dumps({"text": prose(n, 10 + n * 5), "id": f"{part}-{n}", "n": 0}) for n in range(20)]
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "mine.py").write_text(USER_FILE.replace('"words": 3', '"words": 60'))
    pipeline = [
        JsonlReader(str(tmp_path / "in")),
        as_datatrove("gopher_quality", {"min_doc_words": 30}),
        as_datatrove(
            "./mine.py:wordy",
            base_dir=tmp_path,
            exclusion_writer=JsonlWriter(str(tmp_path / "gone"), compression=None),
        ),
        JsonlWriter(str(tmp_path / "out"), compression=None),
    ]
    executor = LocalPipelineExecutor(pipeline, tasks=2, workers=2, logging_dir=str(tmp_path / "logs"))
    stats = executor.run()
    kept = [json.loads(line) for p in sorted((tmp_path / "out").iterdir()) for line in p.read_text().splitlines()]
    gone = [json.loads(line) for p in sorted((tmp_path / "gone").iterdir()) for line in p.read_text().splitlines()]
    assert [d["id"] for d in kept] == [f"{part}-{n}" for part in range(2) for n in range(4, 11)]
    assert [d["metadata"]["filter_reason"] for d in gone] == ["words_above"] * 18
    counted = [s.stats for s in stats.stats if s.name.startswith("GRISTMILL")]
    assert [(s["total"].total, s["forwarded"].total) for s in counted] == [(40, 32), (32, 14)]


@pytest.mark.parametrize(
    ("stage", "params", "told"),
    [
        ("exact_dedup", None, "looks at whole datasets.*'exact_dedup'.*gristmill run"),
        ("minhash_dedup", None, "looks at whole datasets"),
        ("emit", {"context": 128}, "looks at whole datasets"),
        ("gopher_qualty", None, "unknown stage.*gopher_quality"),
        ("gopher_quality", {"min_doc_wrods": 1}, "unknown parameter.*did you mean min_doc_words"),
        (C4, None, r"a class, not a stage.*C4\(\.\.\.\)"),
        (len, None, "not a stage.*@doc_filter"),
        (C4(), {"seed": 1}, "parameters belong to a name"),
    ],
)
def test_what_is_wrong_is_said(stage: Any, params: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        as_datatrove(stage, params)


def test_bounds_and_files_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="not a bound"):
        as_datatrove(long, batch_rows=0)
    with pytest.raises(InputError, match="cannot be read"):
        as_datatrove("./nobody.py:x")


def test_without_datatrove_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from gristmill.pipeline.adapters import datatrove

    monkeypatch.setitem(__import__("sys").modules, "datatrove.pipeline.base", None)
    datatrove._step_class.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        with pytest.raises(UsageError, match=r"pip install 'gristmill\[datatrove\]'"):
            as_datatrove(long)
    finally:
        datatrove._step_class.cache_clear()  # pyright: ignore[reportPrivateUsage]
