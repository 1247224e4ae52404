"""line_dedup: which copies go, what is never touched, and a run of it through the pipeline."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import content_hash
from gristmill.manifests.verify import verify
from gristmill.stages.dedup.lines import LineDedup
from gristmill.stages.kernels.line_units import LINES, UnitRules
from gristmill.stages.kernels.line_units_plain import text_units
from gristmill.stages.kernels.normal_form import PROSE
from gristmill.stages.kernels.normal_form_plain import normal_form
from gristmill.stages.protocol import CUT, EMPTIED, Exchange
from tests.laws.running import run_inline, write_recipe
from tests.stages.dedup.exchanges import documents, emitted, reduced, verdicts_on

Doc = dict[str, Any]
ALL: dict[str, Any] = {"min_words": 0, "min_chars": 0}
NOTICE = "All rights reserved by us."


def cuts(texts: Sequence[str | Doc], stage: LineDedup | None = None) -> list[tuple[int, str]]:
    """(row, what is cut of it), in order."""
    rows: list[Doc] = [{"text": t} if isinstance(t, str) else t for t in texts]
    found = verdicts_on(stage or LineDedup(), documents(rows))
    assert all(v["kind"] == CUT and v["reason"] == 0 for v in found)
    return [(v["addr"], rows[v["addr"]]["text"].encode()[v["start"] : v["stop"]].decode()) for v in found]


def kept(texts: Sequence[str], stage: LineDedup) -> list[str]:
    """The texts without what is cut."""
    raw = [bytearray(text.encode()) for text in texts]
    found = verdicts_on(stage, documents([{"text": t} for t in texts]))
    for verdict in found:
        raw[verdict["addr"]][verdict["start"] : verdict["stop"]] = b"\0" * (verdict["stop"] - verdict["start"])
    return [bytes(text).replace(b"\0", b"").decode() for text in raw]


def by_rank(texts: Sequence[str]) -> list[int]:
    return sorted(range(len(texts)), key=lambda row: (content_hash(texts[row].encode()), row))


def test_all_but_the_best_ranked_copy_go() -> None:
    texts = [f"Story {n} is told.\n{NOTICE}\nThe end of story {n}.\n" for n in "abc"]
    best = by_rank(texts)[0]
    assert cuts(texts) == [(row, f"{NOTICE}\n") for row in range(3) if row != best]
    found = verdicts_on(LineDedup(), documents([{"text": t} for t in texts]))
    assert {(v["keeper"], v["value"], v["limit"]) for v in found} == {(best.to_bytes(16), 3.0, 2.0)}


def test_copies_within_one_document_count() -> None:
    text = f"{NOTICE}\nBetween them stands this.\n{NOTICE}\n{NOTICE}"
    found = verdicts_on(LineDedup(), documents([{"text": text}]))
    assert [(v["start"], v["stop"], v["value"]) for v in found] == [(53, 80, 3.0), (80, 106, 3.0)]
    assert cuts([text]) == [(0, f"{NOTICE}\n"), (0, NOTICE)]


def test_min_count_is_a_bound() -> None:
    texts = [f"Story {n} is told.\n{NOTICE}" for n in range(7)]
    assert len(cuts(texts, LineDedup(min_count=7))) == 6
    assert cuts(texts, LineDedup(min_count=8)) == []
    assert len(cuts(texts, LineDedup(min_count=7, keep_one=False))) == 7
    assert cuts(texts, LineDedup(min_count=8, keep_one=False)) == []
    found = verdicts_on(LineDedup(min_count=7, keep_one=False), documents([{"text": t} for t in texts]))
    assert {(v["keeper"], v["value"], v["limit"]) for v in found} == {(bytes(16), 7.0, 7.0)}


def test_equal_lines_are_equal_when_normalised() -> None:
    lines = ["Read the  terms 1 now.", "  read THE terms 1 now.\t", "Read the terms 2 now.", "Read the terms 1 now"]
    assert len(cuts(lines)) == 1
    assert cuts(lines, LineDedup(normalise="exact")) == []
    code = [{"text": text, "domain": "code"} for text in lines]
    assert cuts(code) == []
    assert cuts(code, LineDedup(skip_domains=())) == []
    assert len(cuts([code[0], code[0] | {"text": "Read the terms 1 now."}], LineDedup(skip_domains=()))) == 1


def test_skipped_domains_are_not_counted() -> None:
    rows = [{"text": NOTICE, "domain": d} for d in ("code", "math", "web")]
    assert cuts(rows) == []
    assert len(cuts(rows, LineDedup(skip_domains=("code",), normalise="prose"))) == 1
    assert len(cuts([*rows, rows[2] | {"domain": None}])) == 1


def test_short_lines_blank_lines_and_blocks_stay() -> None:
    block = (
        "```\nx = the_same(line, of, code)\n```\n| one | two | three | four |\n| --- | --- |\n}\n\n\n* * *\n# Heading\n"
    )
    assert cuts([f"{block}a{n}" for n in range(3)]) == []
    assert len(cuts([f"{block}a{n}" for n in range(3)], LineDedup(keep_blocks=False))) == 2 * 2
    assert len(cuts([f"{block}a{n}" for n in range(3)], LineDedup(keep_blocks=False, **ALL))) > 2 * 7


def test_a_line_with_a_medium_stays() -> None:
    row = {"text": "Look at this picture: \ufffc\n", "media": [{"sha256": b"x" * 32}]}
    assert cuts([row, row, row]) == []


def test_emoji_before_a_copy_move_nothing() -> None:
    texts = [f"{'😀é' * n} begins\n{NOTICE}\nend {n} 😀" for n in range(4)]
    assert {text for _, text in cuts(texts)} == {f"{NOTICE}\n"}


def test_paragraphs() -> None:
    stage = LineDedup("paragraph")
    shared = "This stands\nin several lines.\n\n"
    texts = [f"First words {n} here.\n\n{shared}Last words {n} here." for n in range(3)]
    assert {text for _, text in cuts(texts, stage)} == {shared}
    assert len(cuts(texts, stage)) == 2
    assert cuts(["This stands\nin several lines.", "This stands\nalone on a line."], stage) == []
    assert len(cuts(["This stands\nin several lines.", "This stands in\nseveral lines."], stage)) == 1
    assert [r.reason for r in stage.reasons()] == ["duplicate_paragraph", "emptied"]


def test_spans_of_sentences() -> None:
    stage = LineDedup("sentences")
    shared = "We use cookies. You agree to it. Read all about them."
    texts = [f"Here is page {n}. {shared} And page {n} ends." for n in range(3)]
    assert cuts(texts, stage) == [(row, f" {shared}") for row in range(3) if row != by_rank(texts)[0]]
    assert cuts([t.replace("You agree", f"You {n} agree") for n, t in enumerate(texts)], stage) == []
    cjk = [f"第{n}页在这里。我们使用饼干。你同意这一点。阅读有关它们的一切。{n}" for n in range(2)]
    assert [text for _, text in cuts(cjk, stage)] == ["我们使用饼干。你同意这一点。阅读有关它们的一切。"]
    assert [r.reason for r in stage.reasons()] == ["duplicate_sentences", "emptied"]


SENTENCES = st.lists(st.sampled_from(["A b c.", "D e f!", "G h i?", "J k l.", "你好。"]), max_size=9).map(" ".join)


@given(st.lists(SENTENCES, max_size=5), st.integers(1, 3))
def test_each_sentence_stays_somewhere(texts: list[str], span: int) -> None:
    after = kept(texts, LineDedup("sentences", span=span, **ALL))
    for sentence in ("A b c.", "D e f!", "G h i?", "J k l.", "你好。"):
        assert any(sentence in text for text in texts) == any(sentence in text for text in after)
    assert all(len(new) <= len(old) for new, old in zip(after, texts, strict=True))


LINES_OF = st.lists(st.sampled_from(["a", "b", "B ", "", "é", "😀", "  a"]), max_size=8).map("\n".join)


@given(st.lists(LINES_OF, max_size=6), st.integers(2, 4), st.booleans(), st.lists(st.integers(0, 40), max_size=3))
def test_lines_go_as_counting_says(texts: list[str], min_count: int, keep_one: bool, at: list[int]) -> None:
    rules = UnitRules(LINES, 0, 0, True, 3)
    stage = LineDedup(min_count=min_count, keep_one=keep_one, **ALL)
    units = [(row, a, z) for row in by_rank(texts) for a, z in text_units(texts[row], rules)]
    keys = [normal_form(texts[row][a:z], PROSE) for row, a, z in units]
    counts, seen = Counter(keys), set[str]()
    wanted: list[tuple[int, str]] = []
    for (row, a, z), key in zip(units, keys, strict=True):
        if counts[key] >= min_count and (key in seen or not keep_one):
            wanted.append((row, texts[row][a:z]))
        seen.add(key)
    found = reduced(stage, emitted(stage, documents([{"text": t} for t in texts])), at)
    assert sorted((v["addr"], texts[v["addr"]].encode()[v["start"] : v["stop"]].decode()) for v in found) == sorted(
        wanted
    )


@given(st.lists(LINES_OF, max_size=6), st.permutations(range(6)))
def test_the_order_of_records_does_not_matter(texts: list[str], order: list[int]) -> None:
    batch, stage = documents([{"text": t} for t in texts]), LineDedup(keep=("longest",), **ALL)
    moved = [i for i in order if i < len(texts)]
    shuffled = reduced(stage, emitted(stage, batch.take(pa.array(moved, pa.int64()))))
    again = sorted((v | {"addr": moved[v["addr"]]} for v in shuffled), key=lambda v: (v["addr"], v["start"]))
    assert again == verdicts_on(stage, batch)


def test_the_policy_decides_whose_copy_stays() -> None:
    rows = [{"text": f"{NOTICE}\n{n}", "source": s} for n, s in enumerate("bac")]
    assert [row for row, _ in cuts(rows, LineDedup(keep=("source:a>b>c",)))] == [0, 2]
    assert [row for row, _ in cuts(rows, LineDedup(keep=("source:c",)))] == [0, 1]


def test_a_key_over_many_batches() -> None:
    batch = documents([{"text": f"{NOTICE}\nbut this is {n}."} for n in range(40)])
    whole = verdicts_on(LineDedup(), batch)
    assert len(whole) == 39
    for at in (range(1, 80), (39, 40, 41), (0, 0, 80)):
        assert verdicts_on(LineDedup(), batch, at) == whole


def test_slices_emit_as_the_whole_does() -> None:
    batch = documents([{"text": f"{NOTICE}\nbut this is {n}."} for n in range(9)])
    part = emitted(LineDedup(), batch.slice(4, 3), range(4, 7))
    assert part.to_pylist() == emitted(LineDedup(), batch).to_pylist()[8:14]


def test_nothing_gives_nothing() -> None:
    stage = LineDedup()
    nothing = emitted(stage, documents([]))
    assert nothing.num_rows == emitted(stage, documents([{"text": None}, {"text": ""}])).num_rows == 0
    assert list(stage.reduce(iter([]))) == list(stage.reduce(iter([nothing]))) == []


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({"min_count": 1}, r"stage line_dedup\.min_count"),
        ({"span": 0}, r"stage line_dedup\.span"),
        ({"span": 17}, r"stage line_dedup\.span"),
        ({"min_words": -1}, r"stage line_dedup\.min_words"),
        ({"min_chars": -1}, r"stage line_dedup\.min_chars"),
        ({"skip_domains": ("maths",)}, r"stage line_dedup\.skip_domains: an unknown domain"),
        ({"keep": ("first",)}, r"stage line_dedup\.keep: an unknown criterion"),
    ],
)
def test_parameters_that_make_no_sense(given_: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        LineDedup(**given_)
    assert caught.value.remedy


def test_is_an_exchange_that_empties_last() -> None:
    assert isinstance(LineDedup(), Exchange)
    assert LineDedup().reasons()[-1] == EMPTIED
    assert LineDedup().reasons()[0].reason == "duplicate_line"


RECIPE = """\
name: lines
tokenizer: bytes
datasets:
  all:
    read: {jsonl: "*.jsonl"}
    domain: web
    steps:
      - line_dedup: {unit: UNIT}
"""


def _run(folder: Path, texts: Sequence[str], unit: str, files: int) -> tuple[dict[str, Any], Path]:
    folder.mkdir()
    for part in range(files):
        lines = [orjson.dumps({"id": str(n), "text": t}) for n, t in enumerate(texts) if n % files == part]
        (folder / f"{part}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    run_inline(write_recipe(folder, RECIPE.replace("UNIT", unit)), folder / "out")
    return read_manifest(folder / "out" / "all"), folder / "out" / "all"


def _rows(manifest: dict[str, Any], folder: Path, files: str) -> list[dict[str, Any]]:
    return [row for file in manifest[files] for row in pq.read_table(folder / file["path"]).to_pylist()]


@pytest.mark.parametrize("unit", ["line", "paragraph", "sentences"])
def test_a_run_accounts_for_every_cut(tmp_path: Path, unit: str) -> None:
    shared = "We use cookies 😀. You agree to it.\nRead all about them.\n\n"
    texts = [f"Page {n} begins — thus.\n\n{shared}Page {n} ends at last.\n" for n in range(6)] + [
        shared,
        "Alone it is.\n",
    ]
    manifest, folder = _run(tmp_path / "one", texts, unit, 1)
    step = manifest["steps"][-1]
    assert step["step"] == "line_dedup"
    rows, gone, found = (_rows(manifest, folder, files) for files in ("shards", "ledger", "cuts"))
    after = {row["id"]: row["text"] for row in rows}
    assert all(row["content_hash"] == content_hash(row["text"].encode()) for row in rows)
    assert sum(shared in text for text in after.values()) + sum(g["reason"] == "emptied" for g in gone) in (1, 2)
    ids = {row["id"] for row in rows} | {g["id"] for g in gone}
    assert len(ids) == len(texts)
    for cut in found:
        assert cut["reason"] == f"duplicate_{unit}" and cut["value"] == 7.0
        assert cut["keeper"] in after and cut["keeper"] != cut["id"]
        assert cut["chars"] == len(cut["text"]) and cut["text"] in shared
    total = sum(map(len, texts))
    dropped = sum(len(texts[-2]) for g in gone if g["reason"] == "emptied")
    assert {g["id"] for g in gone} <= {cut["id"] for cut in found}
    cut_chars = sum(cut["chars"] for cut in found if cut["id"] in after)
    assert total == sum(map(len, after.values())) + cut_chars + dropped
    assert verify(tmp_path / "one" / "out").faults == []
    other, second = _run(tmp_path / "two", texts, unit, 3)
    assert {r["text"] for r in _rows(other, second, "shards")} == set(after.values())
