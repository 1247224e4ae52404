"""Whole sequences: what they hold, and that they are the same everywhere."""

import multiprocessing
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from blake3 import blake3

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.manifests.trainer_schema import packed_schema
from gristmill.synth import grammar
from gristmill.synth.atoms import Prepared, encode, prepare
from gristmill.synth.budget import take
from gristmill.synth.build import build, build_all, measure_costs, plans
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.hosts import sentences
from gristmill.synth.materialise import Discarded
from gristmill.synth.order import MODES, Mode
from gristmill.synth.plan import SequencePlan, SynthParams, content_order, make_plans, mode_turns, plan_banks
from gristmill.synth.protocol import SPREAD, WHOLE
from gristmill.synth.solvers import sums
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.prove import check_spread
from gristmill.synth.solvers.reading import Reading, Unreadable, check_joins, read_row
from gristmill.synth.solvers.sharing import Solved
from gristmill.synth.solvers.verify import verify_row
from gristmill.synth.solvers.words import names_in
from tests.synth.corpus import SUMS, documents, form, form_of, made, source, tokenizer

Row = dict[str, Any]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("context", "name"), [(8192, "deepseek"), (50_001, "deepseek"), (65_536, "bytes")])
class TestRow:
    def test_is_exactly_full(self, mode: Mode, context: int, name: str) -> None:
        row = made(context, mode, name)
        assert row.schema.equals(packed_schema(form(context, name)), check_metadata=True)
        (plain,) = row.to_pylist()
        assert context - 256 <= plain["n_tokens"] <= context == len(plain["input_ids"])
        pad, eos = form(context).tokenizer.pad_id, form(context).tokenizer.eos_id
        if name == "deepseek":
            assert (
                set(plain["input_ids"][plain["n_tokens"] :]) <= {pad}
                and plain["input_ids"][plain["n_tokens"] - 1] == eos
            )
        assert [s["start"] for s in plain["segments"]] + [plain["n_tokens"]] == [0] + [
            s["end"] for s in plain["segments"]
        ]

    def test_holds_its_documents_in_order_and_once(self, mode: Mode, context: int, name: str) -> None:
        (plain,) = made(context, mode, name).to_pylist()
        ids = np.array(plain["input_ids"])
        known = {doc.source.id: doc for doc in documents(3 * context, name)}
        assert len({doc["id"] for doc in plain["docs"]}) == len(plain["docs"])
        whole = 0
        hosts, apart = _hosts(plain), taken_apart(plain)
        placed = plain["docs"][: len(plain["docs"]) - len(hosts)]
        for index, doc in enumerate(placed):
            own = [s for s in plain["segments"] if s["doc_idx"] == index]
            if index in apart:
                whole += 1
                continue
            assert own[0]["doc_offset"] == 0
            assert all(a["doc_offset"] + a["end"] - a["start"] == b["doc_offset"] for a, b in pairwise(own))
            if doc["id"] in known:
                own = [s for s in own if s["kind"] != "separator"]
                text = tokenizer(name).decode(
                    np.concatenate([ids[s["start"] : s["end"]] for s in own]).astype(np.uint32)
                )
                whole += text == known[doc["id"]].text
                assert known[doc["id"]].text.startswith(text.rstrip())
        assert whole >= len([doc for doc in placed if doc["id"] in known]) - 1

    def test_attention_and_loss(self, mode: Mode, context: int, name: str) -> None:
        (plain,) = made(context, mode, name).to_pylist()
        groups = {s["attn_group"] for s in plain["segments"]}
        assert groups == (set(range(len(plain["docs"]) - len(_hosts(plain)))) if mode == "concat" else {0})
        planted = [s for s in plain["segments"] if s["kind"] in ("record", "query", "answer", "marker")]
        assert [(s["start"], s["end"], s["kind"]) for s in planted] == [
            (s["start"], s["end"], s["reason"]) for s in plain["loss_spans"]
        ]
        assert bool(planted) == (mode in ("task", "knot"))
        assert bool(plain["tasks"]) == (mode == "task")

    def test_is_proved_from_itself(self, mode: Mode, context: int, name: str) -> None:
        row = made(context, mode, name)
        assert len(verify_row(row, tokenizer(name))) == len(row.column("tasks")[0])


def taken_apart(plain: Row) -> set[int]:
    """Documents of which tasks have passages."""
    spans = {part["start"] for task in plain["tasks"] for part in (*task["evidence"], *task["distractors"])}
    found = (s["doc_idx"] for s in plain["segments"] if s["start"] in spans and s["kind"] in ("text", "code"))
    return set(found)


def _hosts(plain: dict[str, Any]) -> list[dict[str, Any]]:
    """The documents of a row that none of its segments shows."""
    shown = {s["doc_idx"] for s in plain["segments"]}
    return [doc for index, doc in enumerate(plain["docs"]) if index not in shown]


def test_hosts_stand_in_records_and_nowhere_else() -> None:
    params = SynthParams(context=65_536, sequences=1, seed=3, modes={"task": 1}, families=("share_sum",))
    (row,) = build_all(params, documents(300_000), tokenizer(), form(65_536), {})
    (plain,) = row.to_pylist()
    hosts, known = _hosts(plain), {doc.source.id: doc for doc in documents(300_000)}
    ids = np.array(plain["input_ids"], np.uint32)
    spans = {
        kind: [ids[s["start"] : s["end"]] for s in plain["segments"] if (s["kind"] == "record") == kind]
        for kind in (True, False)
    }
    texts = {kind: tokenizer().decode(np.concatenate(own)) for kind, own in spans.items()}
    assert hosts
    for host in hosts:
        said = [s.rstrip(" .") for s in sentences(known[host["id"]].text)]
        assert sum(s in texts[True] for s in said) > 0
        assert not [s for s in said if len(s) > 60 and s in texts[False]]


def test_tasks_ask_for_the_whole_window() -> None:
    context = 131_072
    (plain,) = made(context).to_pylist()
    tasks = plain["tasks"]
    assert len(tasks) == 50
    assert {task["klass"] for task in tasks} <= {"A", "B", "C"} and all(task["verified"] for task in tasks)
    wide = [t for t in tasks if t["klass"] != "C" and t["span_frac"] >= 0.75 and t["window_eps"][2] <= 0.02]
    assert len(wide) >= len(tasks) / 2
    late = [t for t in tasks if t["query_start"] >= 0.88 * context]
    assert len(tasks) / 2 < len(late) < len(tasks)
    records = sum(s["end"] - s["start"] for s in plain["segments"] if s["kind"] == "record")
    assert 0.05 <= records / context <= 0.15


@pytest.mark.parametrize("pictured", [False, True])
def test_named_families_are_all_there(pictured: bool) -> None:
    names = tuple(sorted(name for name, family in FAMILIES.items() if family.pictured == pictured))
    params = SynthParams(context=1 << 21, sequences=1, seed=1, modes={"task": 1}, families=names)
    banks = plan_banks(params, measure_costs(tokenizer()), {})
    assert {bank.family for bank in banks} == set(names)


def test_families_that_do_not_all_fit_take_turns() -> None:
    """All have been there before long, though a sequence holds some of them alone."""
    params = SynthParams(context=262_144, sequences=1, seed=1, modes={"task": 1})
    costs, used = measure_costs(tokenizer()), Counter[str]()
    for _ in range(len(FAMILIES)):
        found = {bank.family for bank in plan_banks(params, costs, used)}
        assert 1 <= sum(FAMILIES[name].law in WHOLE for name in found) <= 8
        used.update(found)
    assert set(used) == set(FAMILIES)


def _digests(docs: list[Prepared], known: dict[str, Any]) -> list[str]:
    params = SynthParams(context=8192, sequences=4, seed=9)
    with Tokenizer.from_data(known, isolated=False) as own:
        return [row.column("row_id")[0].as_py().hex() for row in build_all(params, docs, own, form_of(own, 8192), {})]


def test_same_bytes_in_every_process_and_order_of_documents() -> None:
    docs, known = list(documents(30_000)), tokenizer().to_data()
    here = _digests(docs, known)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_digests, (docs[::-1], known)) == here
    assert len(set(here)) == 4


def test_other_seeds_and_numbers_make_other_sequences() -> None:
    params = SynthParams(context=8192, sequences=2, seed=9, modes={"task": 1})
    other = SynthParams(context=8192, sequences=2, seed=10, modes={"task": 1})
    docs = documents(100_000)
    ids = [
        row.column("row_id")[0].as_py()
        for p in (params, other)
        for row in build_all(p, docs, tokenizer(), form(8192), {})
    ]
    assert len(set(ids)) == 4


class TestPlans:
    def test_a_cluster_stands_once_and_uses_are_capped(self) -> None:
        docs = list(documents(200_000))
        twins = [source(doc.text + f"\n\nCopy {n}", 9000 + n, cluster=doc.source.cluster) for n, doc in enumerate(docs)]
        both = content_order([*docs, *prepare(twins, tokenizer())[0]])
        params = SynthParams(context=65_536, sequences=8, seed=2, max_uses=3)
        made_plans = make_plans(params, both, measure_costs(tokenizer()))
        uses: dict[int, list[int]] = {}
        for plan in made_plans:
            clusters = [both[doc].source.cluster for doc in plan.docs]
            assert len(set(clusters)) == len(clusters)
            for doc, use in zip(plan.docs, plan.uses, strict=True):
                uses.setdefault(doc, []).append(use)
        assert all(used == list(range(len(used))) and len(used) <= 3 for used in uses.values())

    def test_documents_without_places_for_records_are_not_drawn_for_tasks(self) -> None:
        wall = prepare([source("wall " * 60_000, 7000)], tokenizer())[0]
        both = content_order([*documents(100_000), *wall])
        at = both.index(wall[0])
        for mode, drawn in (("task", False), ("concat", True)):
            params = SynthParams(context=65_536, sequences=6, seed=2, modes={mode: 1}, max_uses=6)
            assert any(at in plan.docs for plan in make_plans(params, both, measure_costs(tokenizer()))) == drawn

    def test_too_few_documents_are_never_repeated(self) -> None:
        docs = documents(10_000)[:4]
        with pytest.raises(InputError, match="too few documents"):
            plans(SynthParams(context=1 << 20, sequences=1, seed=1), docs, tokenizer())
        with pytest.raises(InputError, match="too few documents"):
            plans(SynthParams(context=8192, sequences=1, seed=1), [], tokenizer())

    def test_a_family_without_room_is_an_error_when_it_is_named(self) -> None:
        params = SynthParams(context=8192, sequences=1, seed=1, families=("table_chain",), modes={"task": 1})
        with pytest.raises(UsageError, match="table_chain"):
            plans(params, documents(100_000), tokenizer())

    @pytest.mark.parametrize(
        "wrong",
        [
            {"context": 4096},
            {"modes": {"shuffle": 1}},
            {"modes": {}},
            {"modes": {"task": -1.0}},
            {"families": ("unknown",)},
            {"sequences": 0},
        ],
    )
    def test_wrong_parameters_are_refused(self, wrong: Row) -> None:
        with pytest.raises(UsageError):
            SynthParams(**{"context": 8192, "sequences": 1, "seed": 1, **wrong})

    def test_modes_come_in_their_shares(self) -> None:
        turns = mode_turns({"task": 2, "concat": 1, "knot": 1}, 8)
        assert [turns.count(mode) for mode in MODES] == [2, 0, 2, 4]
        assert turns[0] == "task"


def test_a_plan_that_leaves_no_room_for_documents_is_discarded() -> None:
    docs = content_order(documents(300_000))
    big = SynthParams(context=262_144, sequences=1, seed=1, modes={"task": 1})
    (plan,) = make_plans(big, docs, measure_costs(tokenizer()))
    small = SynthParams(context=8192, sequences=1, seed=1)
    with pytest.raises(Discarded, match="over_budget"):
        build(SequencePlan(0, "task", plan.docs, plan.uses, plan.banks), small, docs, tokenizer(), form(8192))


def test_held_out_sequences_are_worded_otherwise() -> None:
    params = SynthParams(context=16_384, sequences=1, seed=5, modes={"task": 1}, split="held_out")
    docs = documents(50_000)
    (row,) = build_all(params, docs, tokenizer(), form(16_384), {})
    (tasks,) = row.column("tasks").to_pylist()
    for task in tasks:
        assert task["split"] == "held_out"
        *records, ask = task["template_ids"]
        assert (
            {grammar.record_split(FAMILIES[task["family"]].wording, n) for n in records}
            == {grammar.ask_split(ask)}
            == {"held_out"}
        )


def test_text_without_spaces_is_no_trouble() -> None:
    docs = prepare([source("字" * 40_000, n) for n in range(4)], tokenizer())[0]
    params = SynthParams(context=8192, sequences=1, seed=5, modes={"concat": 1})
    (row,) = build_all(params, docs, tokenizer(), form(8192), {})
    assert row.column("n_tokens")[0].as_py() >= 8192 - 256


def test_ids_that_another_encoding_would_not_give_are_refused() -> None:
    parts = encode(["won", "derful\n\n", "wonderful\n\n"], tokenizer())
    split = np.concatenate(parts[:2])
    text = b"wonderful\n\n"
    for ids, good in ((parts[2], True), (split, False)):
        lengths = tokenizer().byte_lengths()
        assert lengths is not None
        bytes_at = np.concatenate(([0], np.cumsum(lengths[ids])))
        reading = Reading(len(ids), len(ids), ids, text, bytes_at, ((0, len(ids)),), ("text",), (0,), ())
        if good:
            check_joins(reading, tokenizer())
        else:
            with pytest.raises(Unreadable, match="other ids from token 0"):
                check_joins(reading, tokenizer())


def test_evidence_that_is_not_needed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a solver that answers from fewer records than there are: that it may not is what is proved."""
    row = made(50_001, families=SUMS)
    solve = sums.solve_sum

    def careless(*args: Any) -> Solved:
        found = solve(*args)
        return replace(found, answer=answers[found.key])

    monkeypatch.setattr("gristmill.synth.solvers.sums.solve_sum", careless)
    plain = row.to_pylist()[0]
    answers: dict[str, str] = {}
    for task in plain["tasks"]:
        ids = np.array(plain["input_ids"][task["query_start"] : task["query_end"]], np.uint32)
        answers[names_in(tokenizer().decode(ids))[0]] = task["answer"]
    with pytest.raises(Unproved, match="not_necessary"):
        verify_row(row, tokenizer())


def test_a_window_that_knows_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    row = made(50_001, families=SUMS)
    monkeypatch.setattr("gristmill.synth.solvers.prove.MAX_EPSILON", -0.5)
    with pytest.raises(Unproved, match="epsilon"):
        verify_row(row, tokenizer())


def test_a_long_row_must_ask_for_the_whole_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.synth.solvers.prove.TOUCHED_PARTS", 16)
    row = made(131_072)
    reading, proofs = read_row(row, tokenizer()), verify_row(row, tokenizer())
    check_spread(reading, proofs)
    near = [replace(proof, span_frac=0.5) for proof in proofs]
    with pytest.raises(Unproved, match=r"spread: 0 of"):
        check_spread(reading, near)
    first = reading.tasks[:1]
    with pytest.raises(Unproved, match="spread: evidence touches"):
        check_spread(replace(reading, tasks=first), proofs)


@pytest.mark.slow
def test_a_sequence_of_a_million_tokens() -> None:
    (plain,) = made(1 << 20).to_pylist()
    tasks = plain["tasks"]
    assert plain["n_tokens"] > (1 << 20) - 256 and 390 <= len(tasks) <= 400
    found = {task["family"] for task in tasks}
    assert found >= {name for name, family in FAMILIES.items() if family.law in SPREAD and not family.pictured}
    assert len(found) >= 18 and {task["klass"] for task in tasks} == {"A", "B", "C"}
    assert sum(t["query_start"] >= 0.9 * (1 << 20) for t in tasks) > 200


GOLDEN = {
    8192: "1d46c15e86c96d5fce4c6804acebf6c6",
    65_536: "348aa438c60e9a2378267535a851a68e",
}
"""BLAKE3 of the row ids and tasks of four sequences. When this fails, a version must be raised: of a family, of
`PLAN_VERSION`, `MATERIAL_VERSION` or `VERIFIER_VERSION`."""


@pytest.mark.parametrize("context", GOLDEN)
def test_sequences_are_those_of_before(context: int) -> None:
    params = SynthParams(context=context, sequences=4, seed=17)
    digest = blake3()
    for row in build_all(params, documents(300_000), tokenizer(), form(context), {}):
        digest.update(row.column("row_id")[0].as_py())
        digest.update(repr(row.column("tasks").to_pylist()).encode())
    assert digest.hexdigest(16) == GOLDEN[context]


def test_a_question_of_which_a_window_knows_too_much_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    (plain,) = made(50_001).to_pylist()
    most = sorted({task["window_eps"][1] for task in plain["tasks"] if task["klass"] == "B"})
    monkeypatch.setattr("gristmill.synth.solvers.prove.MAX_EPSILON", most[-1] * 0.999)
    params, docs, counted = SynthParams(context=50_001, sequences=1, seed=5, modes={"task": 1}), documents(150_003), {}
    (row,) = build_all(params, docs, tokenizer(), form(50_001), counted)
    (fewer,) = row.to_pylist()
    left = [task for task in fewer["tasks"] if task["klass"] == "B"]
    assert counted == {"unasked": len(plain["tasks"]) - len(fewer["tasks"])} and counted["unasked"] > 0
    assert max(task["window_eps"][1] for task in left) < most[-1] and verify_row(row, tokenizer())


def test_a_sequence_that_cannot_be_filled_is_discarded_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    docs = documents(30_000)
    few = SynthParams(context=8192, sequences=2, seed=1, modes={"concat": 1})
    monkeypatch.setattr("gristmill.synth.materialise.take", lambda *args: take(*args)[:0])
    counted: dict[str, int] = {}
    assert not list(build_all(few, docs, tokenizer(), form(8192), counted))
    assert counted == {"padding": 2}
