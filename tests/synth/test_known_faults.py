"""Faults that others' generators of long sequences were reported for, none of which may occur here.

Each test names the kind; the reports (repository and number) stand in its docstring. Further kinds: media counts and
costs in `test_media`, attention groups and spans in `test_proofs`, answers by short cuts in `test_cheaters`, records
that do not fit the text in `test_smell`.
"""

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gristmill.manifests.errors import GristmillError, InputError, UsageError
from gristmill.manifests.tokenizer import Tokenizer
from gristmill.manifests.trainer_schema import packed_schema
from gristmill.render.draws import Draws
from gristmill.synth.atoms import prepare
from gristmill.synth.build import build_all, measure_costs
from gristmill.synth.lexicon import names
from gristmill.synth.order import order
from gristmill.synth.plan import SynthParams
from tests.synth.corpus import documents, form, made, source, tokenizer

CONTEXT = 65_536
REPO = Path(__file__).parents[2]


def plain(context: int = CONTEXT) -> dict[str, Any]:
    """A row of tasks."""
    return made(context).to_pylist()[0]


def build(**changed: Any) -> list[dict[str, Any]]:
    """Rows of 8,192 tokens or as is said."""
    params = SynthParams(**({"context": 8192, "sequences": 2, "seed": 3} | changed))
    rows = build_all(params, documents(300_000), tokenizer(), form(params.context), {})
    return [row for batch in rows for row in batch.to_pylist()]


def test_no_endless_retry() -> None:
    """NVIDIA/RULER#37, scitix/sieval#11: loops that try again for ever where too little fits."""
    with pytest.raises(InputError, match="too few invented names"):
        names(Draws("x"), 5, set)
    with pytest.raises(InputError, match="too few documents"):
        build(sequences=500)
    with pytest.raises(UsageError, match="no room"):
        build(families=("table_chain",), modes={"task": 1}, tasks_per_million=1)


def test_no_underfilled_budget() -> None:
    """scitix/sieval#11: windows that are far from full."""
    assert all(row["n_tokens"] >= 8192 - 256 for row in build(sequences=4))


def test_no_position_distribution_out_of_control() -> None:
    """NVIDIA/RULER#24, assafbk/DeciMamba#6: where evidence stands is decided by a hidden parameter."""
    places = [e["start"] / CONTEXT for task in plain()["tasks"] for e in task["evidence"]]
    tenths = Counter(int(10 * place) for place in places)
    assert min(tenths[n] for n in range(9)) > len(places) / 40


def test_no_same_places_in_every_sample() -> None:
    """NVIDIA/RULER `common_words_extraction.py`: a generator that is seeded anew for each sample repeats positions."""
    rows = build(sequences=3, modes={"task": 1}, context=16_384)
    starts = [tuple(e["start"] for task in row["tasks"] for e in task["evidence"]) for row in rows]
    assert len(set(starts)) == len(starts)


def test_no_seed_reset_per_item() -> None:
    """TransformerLensOrg/TransformerLens#515: all entries equal."""
    rows = build(sequences=4, modes={"task": 1}, context=16_384)
    answers = [tuple(task["answer"] for task in row["tasks"]) for row in rows]
    assert len(set(answers)) == len(answers) and len({row["row_id"] for row in rows}) == len(rows)


def test_no_seeds_that_collide() -> None:
    """Untie-the-Knots: `seed * 100000 + index` gives sample 100,000 of one seed and sample 0 of the next one stream."""
    drawn = {(seed, item): Draws("synth", seed, item).integer(0, 1 << 60) for seed in (47, 48) for item in (0, 100_000)}
    assert len(set(drawn.values())) == len(drawn)
    assert Draws("a", "b").integer(0, 1 << 60) != Draws("ab").integer(0, 1 << 60)


def test_no_budget_that_excludes_the_answer() -> None:
    """marin-community/marin#2064, PR#4737; stanford-crfm/helm#367: the last question or its answer is cut off."""
    row = plain()
    assert all(task["answer_end"] <= row["n_tokens"] <= CONTEXT for task in row["tasks"])


def test_no_encoding_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """tenstorrent/tt-inference-server#706: minutes go into encoding the whole text in a search for its length."""
    encoded = 0
    encode = Tokenizer.encode_batch

    def counted(self: Tokenizer, texts: Any) -> Any:
        nonlocal encoded
        found = encode(self, texts)
        encoded += len(found.ids)
        return found

    monkeypatch.setattr(Tokenizer, "encode_batch", counted)
    measure_costs(tokenizer())
    templates, encoded = encoded, 0
    build(sequences=1, context=CONTEXT, modes={"concat": 1}, families=("share_sum",))
    assert templates > 0 and CONTEXT < encoded - templates < 4 * CONTEXT


@pytest.mark.parametrize("name", ["deepseek", "bytes"])
def test_no_length_of_another_tokenizer(name: str) -> None:
    """EleutherAI/lm-evaluation-harness PR#3754, groq/openbench PR#24: lengths by another tokenizer, or not stored."""
    (row,) = made(8192, "interleave", name).to_pylist()
    assert 8192 - 256 <= row["n_tokens"] <= 8192 == len(row["input_ids"])


def test_no_needle_twice() -> None:
    """anyscale/long-context-fine-tuning-blogpost#1; NVIDIA/RULER `niah.py`: keys drawn with replacement."""
    tasks = plain()["tasks"]
    assert len({task["task_id"] for task in tasks}) == len(tasks)
    assert all(len({(e["start"], e["end"]) for e in task["evidence"]}) == len(task["evidence"]) for task in tasks)


def test_no_special_tokens_inside_pieces() -> None:
    """Zefan-Cai/KVCache-Factory#62: pieces encoded with special tokens. Text that looks like one stays text."""
    hostile = "A line with <|endoftext|> and <｜end▁of▁sentence｜> in it, as people write about models.\n\n" * 40
    eos = tokenizer().identity.eos_id
    (document,), _ = prepare([source(hostile)], tokenizer())
    assert document.total > 500
    ids = tokenizer().encode_batch
    import pyarrow as pa

    assert eos not in ids(pa.array([document.text], pa.large_string())).ids
    row = plain()
    separators = [s for s in row["segments"] if s["kind"] == "separator"]
    found = np.flatnonzero(np.array(row["input_ids"][: row["n_tokens"]]) == eos).tolist()
    assert found == [s["start"] for s in separators]


def test_no_answer_that_is_judged_by_its_wording() -> None:
    """gkamradt/needle-in-a-haystack#39, Neroued/ninfer#171: whole sentences compared. An answer is a short string."""
    assert all(len(task["answer"]) <= 60 and task["answer"].strip() == task["answer"] for task in plain()["tasks"])


def test_no_gold_that_was_not_verified() -> None:
    """TIGER-AI-Lab/LongICLBench#5, THUDM/LongBench#130: labels that the context contradicts, evidence that was lost."""
    assert all(task["verified"] and task["evidence"] for task in plain()["tasks"])


def test_no_candidates_that_collide() -> None:
    """skywalker023/fantom#3: right and wrong answers alike."""
    assert all(task["answer_space"] > 1 and 0 < task["chance"] <= 0.5 for task in plain()["tasks"])


def test_no_drift_of_the_schema() -> None:
    """OpenBMB/InfiniteBench#1: rows without a field that others have."""
    for mode in ("concat", "task"):
        assert made(8192, mode).schema.equals(packed_schema(form(8192)), check_metadata=False)


def test_no_tiled_haystack() -> None:
    """OpenBMB/InfiniteBench#1, NVIDIA/RULER `niah.py`: a text repeated until it is long enough."""
    row = plain()
    ids = [doc["id"] for doc in row["docs"]]
    assert len(set(ids)) == len(ids)
    filler = np.concatenate(
        [np.array(row["input_ids"][s["start"] : s["end"]]) for s in row["segments"] if s["kind"] in ("text", "code")]
    )
    grams = np.lib.stride_tricks.sliding_window_view(filler, 32)
    assert len(np.unique(grams, axis=0)) >= 0.98 * len(grams)


def test_no_silent_truncation() -> None:
    """stanford-crfm/helm#399, PR#741: cut without a word. One document at most is cut, and the row tells."""
    row = plain()
    shown: Counter[int] = Counter()
    for segment in row["segments"]:
        if segment["kind"] != "separator":
            shown[segment["doc_idx"]] += segment["end"] - segment["start"]
    spans = {part["start"] for task in row["tasks"] for part in (*task["evidence"], *task["distractors"])}
    apart = {s["doc_idx"] for s in row["segments"] if s["start"] in spans and s["kind"] in ("text", "code")}
    cut = [i for i, doc in enumerate(row["docs"]) if i not in apart and 0 < shown[i] < doc["n_tokens_total"]]
    assert len(cut) <= 1 and all(shown[i] <= doc["n_tokens_total"] for i, doc in enumerate(row["docs"]))


def test_no_sampling_by_the_hash_of_a_process() -> None:
    """princeton-nlp/HELMET PR#44, awslabs/keys_values PR#145: `hash()`, or no seed, decides."""
    program = "from tests.synth.test_known_faults import build; print(build(sequences=1)[0]['row_id'].hex(), end='')"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    words, env = [sys.executable, "-c", program], {**os.environ, "PYTHONHASHSEED": seed}
    told = subprocess.run(words, cwd=REPO, env=env, capture_output=True, text=True, check=True).stdout
    assert told == build(sequences=1)[0]["row_id"].hex()


def test_no_separator_lost() -> None:
    """pytorch/torchtitan#3130; rgtjf/Untie-the-Knots: ends of documents in chunks that are moved, or none at all."""
    (row,) = made(8192, "concat").to_pylist()
    ends = {s["doc_idx"] for s in row["segments"] if s["kind"] == "separator"}
    assert ends == {s["doc_idx"] for s in row["segments"]}
    for mode in ("interleave", "knot", "task"):
        (row,) = made(8192, mode).to_pylist()
        assert [s["end"] for s in row["segments"] if s["kind"] == "separator"] == [row["n_tokens"]]


def test_no_token_more_than_the_context() -> None:
    """NVIDIA/Megatron-LM#399, EleutherAI/pythia#123: samples of 2,049."""
    assert len(plain()["input_ids"]) == CONTEXT


def test_no_last_segment_forgotten() -> None:
    """bigcode-project/Megatron-LM PR#9: what follows the last end of a document is skipped."""
    row = plain()
    spans = [(s["start"], s["end"]) for s in row["segments"]]
    assert spans[0][0] == 0 and spans[-1][1] == row["n_tokens"]
    assert all(a[1] == b[0] for a, b in pairwise(spans))


def test_no_interleaving_that_keeps_the_order() -> None:
    """Untie-the-Knots `interleaved_skywork_fast`: gives A0 A1 A2 B0 instead of A0 B0 A1 B1."""
    parts = order("interleave", [[1500] * 40] * 4, [1] * 4, Draws("fault"))
    docs = [part.doc for part in parts]
    assert sum(a != b for a, b in pairwise(docs)) > len({*docs}) + 4


def test_no_document_cut_by_markers() -> None:
    """Untie-the-Knots: ties added behind the packing push 2 % of the tokens, and some answers, out of the window."""
    (row,) = made(8192, "knot").to_pylist()
    assert row["n_tokens"] <= 8192
    assert sum(s["kind"] == "marker" for s in row["segments"]) % 2 == 0


def test_no_format_learnt_instead_of_a_task() -> None:
    """EvolvingLMMs-Lab/LongVA#42: sane for one form of question, garbage elsewhere. Questions have many words."""
    tasks = plain(1 << 18)["tasks"]
    asks = {(task["family"], task["template_ids"][-1]) for task in tasks}
    assert len(asks) > 0.7 * len(tasks) > 50


@pytest.mark.parametrize(
    "changed",
    [{"context": 100}, {"sequences": 0}, {"families": ("no_such",)}, {"modes": {}}, {"tasks_per_million": 0}],
)
def test_no_wrong_request_without_an_error(changed: dict[str, Any]) -> None:
    """adobe-research/NoLiMa: `ValueError(...)` made and not raised."""
    with pytest.raises(GristmillError):
        build(**changed)
