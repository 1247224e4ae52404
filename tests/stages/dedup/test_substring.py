"""Repeated passages: against a table of all windows, whatever the layout; edges, words, media, other vocabularies."""

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import content_hash
from gristmill.manifests.vocabulary import find_vocabulary, read_vocabulary
from gristmill.pipeline.exchange_rows import sort_rows
from gristmill.stages import catalogue
from gristmill.stages.dedup import substring_groups, token_spans
from gristmill.stages.dedup.substring import SubstringDedup
from gristmill.stages.dedup.tokens import tokenizer_of
from gristmill.stages.kernels import windows_plain
from gristmill.stages.protocol import CUT, Exchange, Rounds, emitted_schema
from tests.stages.dedup.exchanges import documents

Doc = dict[str, Any]
Cut = tuple[int, int, int, int, float]
"""Row, first byte, byte behind, row of the keeper (-1: none), times."""

PROSE = " ".join(f"word{n} and" for n in range(60))


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """The packaged tokenizer, which takes seconds to load, and the kernels."""
    tokenizer_of("")
    SubstringDedup().prepare()


def passages(
    rows: Sequence[Doc], stage: SubstringDedup, shards: int = 1, cuts: Sequence[int] = (), seed: int = 0
) -> list[Cut]:
    """What the rounds find in documents that lie in so many shards, rows being sorted and batched as in a run."""
    batch = documents(rows)
    at = np.arange(batch.num_rows)
    random.Random(seed).shuffle(places := at.tolist())
    parts = [np.array(places[n::shards], np.int64) for n in range(shards)]
    found: pa.Table | None = None
    for part in stage.rounds():
        schema = emitted_schema(part.key_bytes, part.order_bytes, getattr(part, "value_bytes", 0))
        emitted = [_emitted(part, batch, mine, n, found) for n, mine in enumerate(parts) if len(mine)]
        assert all(rows.schema == schema for rows in emitted)
        table = sort_rows(pa.Table.from_batches(emitted, schema=schema))
        bounds = [0, *sorted(min(cut, table.num_rows) for cut in cuts), table.num_rows]
        batches = [b for a, z in pairwise(bounds) for b in table.slice(a, z - a).to_batches()]
        made = list(part.reduce(iter(batches)))
        found = pa.Table.from_batches(made).sort_by("addr") if made else None
        if found is None:
            return []
    assert found is not None
    return sorted(_cut_of(row, parts, batch) for row in found.to_pylist())


def _emitted(
    part: Exchange, batch: pa.RecordBatch, mine: np.ndarray, shard: int, found: pa.Table | None
) -> pa.RecordBatch:
    base = np.uint64(shard << 32)
    own, local = batch.take(pa.array(mine)), np.arange(len(mine), dtype=np.uint64)
    if found is None:
        rows = part.emit(own.select(list(part.reads)), local)
    else:
        addr = found.column("addr").to_numpy()
        low, high = np.searchsorted(addr, [base, base + np.uint64(1 << 32)])
        table = found.slice(low, high - low)
        table = table.set_column(0, "addr", pa.array(table.column("addr").to_numpy() - base))
        rows = part.emit_found(own.select(list(part.reads)), local, table)  # type: ignore[attr-defined]
    return rows.set_column(2, "addr", pa.array(rows.column("addr").to_numpy() + base))


def _cut_of(row: dict[str, Any], parts: Sequence[np.ndarray], batch: pa.RecordBatch) -> Cut:
    assert row["kind"] == CUT
    number = int(parts[row["addr"] >> 32][row["addr"] & 0xFFFFFFFF])
    keeper = batch.column("id").to_pylist().index(row["keeper"].hex())
    return number, row["start"], row["stop"], keeper, row["value"]


def ranked(rows: Sequence[Doc]) -> list[int]:
    """Rows in order of rank."""
    return sorted(range(len(rows)), key=lambda n: (content_hash((rows[n]["text"] or "").encode()), n))


def expected(rows: Sequence[Doc], length: int) -> set[tuple[int, int]]:
    """(row, byte) that goes, of texts in which each byte is a token and no word or character is cut: all but that."""
    order = ranked(rows)
    gone = windows_plain.repeated_tokens([(rows[n]["text"] or "").encode() for n in order], length)
    return {(order[place], byte) for place, byte in gone}


def bytes_gone(found: Sequence[Cut]) -> set[tuple[int, int]]:
    return {(row, byte) for row, start, stop, _, _ in found for byte in range(start, stop)}


BYTES = SubstringDedup(min_tokens=8, tokenizer="bytes")
# Every letter is a word of its own, so that edges stay where they are.
LETTERS = st.lists(st.text(".,", max_size=40) | st.text(".,;:", max_size=120), max_size=6)


@given(LETTERS, st.integers(1, 3), st.lists(st.integers(0, 99), max_size=4), st.integers(0, 9))
@example(["." * 40, "." * 15], 1, [], 0)
@settings(max_examples=150, deadline=None)
def test_every_layout_equals_a_table_of_all_windows(texts: list[str], shards: int, cuts: list[int], seed: int) -> None:
    rows = [{"text": text} for text in texts]
    assert bytes_gone(passages(rows, BYTES, shards, cuts, seed)) == expected(rows, 8)


@given(LETTERS, st.lists(st.integers(0, 99), max_size=4), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_layouts_tell_the_same(texts: list[str], cuts: list[int], seed: int) -> None:
    rows = [{"text": text} for text in texts]
    assert passages(rows, BYTES, 3, cuts, seed) == passages(rows, BYTES)


@given(LETTERS)
@settings(max_examples=40, deadline=None)
def test_large_groups_are_told_early(texts: list[str]) -> None:
    rows = [{"text": text} for text in [*texts, "." * 60, "," * 5 + "." * 20]]
    plain = passages(rows, BYTES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(substring_groups, "MAX_TIMES", 3)
        for cuts in ([], [3, 5, 8, 13, 21, 34], range(90)):
            found = passages(rows, BYTES, 1, list(cuts))
            assert [cut[:4] for cut in found] == [cut[:4] for cut in plain]
            assert [cut[4] for cut in found] == [min(cut[4], 3) for cut in plain]


def test_a_shared_passage_is_kept_by_the_better_ranked() -> None:
    rows = [{"text": f"Begin {n}. {PROSE} End of {n}."} for n in range(3)]
    first, *others = ranked(rows)
    found = passages(rows, SubstringDedup())
    assert {cut[0] for cut in found} == set(others)
    assert {cut[3] for cut in found} == {first}
    assert {cut[4] for cut in found} == {3.0}
    for row, start, stop, _, _ in found:
        gone = rows[row]["text"].encode()[start:stop].decode()
        assert gone.strip() == PROSE or PROSE in gone
        assert not rows[row]["text"].encode()[stop:].startswith(b"d")


def test_the_policy_chooses_the_keeper() -> None:
    rows = [{"text": f"{name} {PROSE}", "source": name} for name in "abc"]
    for name in "abc":
        found = passages(rows, SubstringDedup(keep=(f"source:{name}>*",)))
        assert {cut[3] for cut in found} == {"abc".index(name)}
        assert len(found) == 2


def test_a_section_that_a_document_repeats() -> None:
    text = f"{PROSE}\n\nMiddle.\n\n{PROSE}\n\nEnd, {PROSE}!"
    found = passages([{"text": text}], SubstringDedup())
    assert [cut[3] for cut in found] == [0, 0]
    assert {cut[4] for cut in found} <= {2.0, 3.0}
    left = cut_text(text, found)
    assert left.count("word30 and") == 1
    assert "Middle." in left
    assert left.endswith("!")


def cut_text(text: str, found: Sequence[Cut]) -> str:
    raw, at, out = text.encode(), 0, b""
    for _, start, stop, _, _ in sorted(found):
        out += raw[at:start]
        at = stop
    return (out + raw[at:]).decode()


@pytest.mark.parametrize(("size", "goes"), [(49, False), (50, True)])
def test_the_shortest_run(size: int, goes: bool) -> None:
    shared = "".join(chr(0x21 + n % 15) for n in range(size))
    rows = [{"text": f"0 {shared} 1"}, {"text": f"2 {shared} 3"}]
    stage = SubstringDedup(min_tokens=52, tokenizer="bytes")
    assert bool(passages(rows, stage)) == goes


def test_edges_stand_between_characters_and_words() -> None:
    # The shared bytes begin inside of a character and of a word, and end inside of a word.
    shared = "кот спит на крыше дома и видит сны про мыш"
    rows = [{"text": f"ы{shared}ей"}, {"text": f"я{shared}ь"}, {"text": f"про{shared}"}]
    found = passages(rows, SubstringDedup(min_tokens=20, tokenizer="bytes"))
    assert len(found) == 2
    for cut in found:
        gone = rows[cut[0]]["text"].encode()[cut[1] : cut[2]].decode()
        assert gone == " спит на крыше дома и видит сны про " + "мыш" * rows[cut[0]]["text"].endswith("мыш")
    emoji = "👨‍👩‍👧 " * 12
    for row, start, stop, _, _ in passages([{"text": f"a {emoji}b"}, {"text": f"c {emoji}d"}], BYTES):
        assert f"{'ac'[row]} {emoji}{'bd'[row]}".encode()[start:stop].decode().strip().startswith("👨‍👩‍👧")


def test_a_word_that_is_longer_than_a_run_is_cut_whole_or_not_at_all() -> None:
    word = "".join(random.Random(3).choices("abcdefghij", k=300))
    rows = [{"text": f"x {word} y"}, {"text": f"z {word} v"}]
    (cut,) = passages(rows, SubstringDedup(min_tokens=20, tokenizer="bytes"))
    assert rows[cut[0]]["text"].encode()[cut[1] : cut[2]].decode() == f" {word} "
    rows = [{"text": f"x {word}1 y"}, {"text": f"z {word}2 v"}]
    assert all(
        stop - start < 3 for _, start, stop, _, _ in passages(rows, SubstringDedup(min_tokens=20, tokenizer="bytes"))
    )


def test_documents_of_an_endless_phrase() -> None:
    rows = [{"text": "la " * 500}, {"text": "la " * 400}]
    found = passages(rows, SubstringDedup())
    left = {n: cut_text(rows[n]["text"], [c for c in found if c[0] == n]) for n in (0, 1)}
    first, other = ranked(rows)
    assert 40 <= len(left[first].split()) <= 60
    assert left[other].strip() in ("", "la")


@pytest.mark.parametrize("texts", [[], [""], [None, None], ["a"], ["\ufffc" * 3], [" " * 100], ["x" * 49] * 2])
def test_nothing_to_find(texts: list[str | None]) -> None:
    assert passages([{"text": text} for text in texts], SubstringDedup()) == []


def test_copies_of_a_whole_document() -> None:
    found = passages([{"text": PROSE}] * 3, SubstringDedup())
    assert [cut[:4] for cut in found] == [(1, 0, len(PROSE), 0), (2, 0, len(PROSE), 0)]


# A vocabulary of words alone, which cannot spell spaces, and one that makes its texts NFC.
WORD_LEVEL = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {
        "type": "WordLevel",
        "vocab": {"[UNK]": 0, "and": 1, **{f"word{n}": n + 2 for n in range(60)}},
        "unk_token": "[UNK]",
    },
}


def test_texts_that_tokens_do_not_spell_are_compared_by_words(tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    path.write_text(json.dumps(WORD_LEVEL), encoding="utf-8")
    stage = catalogue.load("substring_dedup", {"tokenizer": "./words.json"}, tmp_path)
    assert isinstance(stage, SubstringDedup)
    rows = [{"text": f"Début {n}: {PROSE}. Fin {n}"} for n in range(2)]
    (cut,) = passages(rows, stage)
    assert rows[cut[0]]["text"].encode()[cut[1] : cut[2]].decode() == PROSE + ". Fin"


@pytest.mark.parametrize(
    "text", ["", " ", "Les gens\n\n  là-bas, 1234 fois! <x>", "世界。 e\u0301 é 😊👨‍👩‍👧", "\x00\x7f\u2028"]
)
@pytest.mark.parametrize("spec", ["deepseek", "bytes"])
def test_packaged_vocabularies_spell_every_text(spec: str, text: str) -> None:
    column = pa.array(["x", text, "y"], pa.large_string())
    (units,) = token_spans.units_of(column, spec)
    assert units.rows.tolist() == [0, 1, 2]
    raw = text.encode()
    own = slice(int(units.offsets[1]), int(units.offsets[2]))
    starts, stops = units.starts[own].tolist(), units.stops[own].tolist()
    assert b"".join(raw[a:b] for a, b in zip(starts, stops, strict=True)) == raw
    assert starts == [0, *stops[:-1]][: len(starts)]


def test_the_packaged_vocabulary_spells_every_byte() -> None:
    vocabulary = read_vocabulary(find_vocabulary("deepseek", None)[1])
    spelled, bounds = token_spans.spelling(vocabulary)
    singles = {spelled[a:b].tobytes() for a, b in pairwise(bounds.tolist()) if b - a == 1}
    assert singles == {bytes([byte]) for byte in range(256)}


@pytest.mark.parametrize(
    "params", [{"min_tokens": 7}, {"min_tokens": 1 << 20}, {"keep": ["nearest"]}, {"tokenizer": "no.json"}]
)
def test_wrong_parameters(params: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(params))):
        catalogue.load("substring_dedup", params, Path())


def test_it_is_a_stage_of_rounds() -> None:
    stage = catalogue.load("substring_dedup", {}, Path())
    assert isinstance(stage, Rounds)
    assert [r.name for r in stage.rounds()] == ["substring_dedup"] * 3
