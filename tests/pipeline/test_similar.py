"""minhash_dedup in a run: who stays, whatever the layout; what is told of who goes; what a new crawl costs."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.errors import GristmillError, UsageError, VerifyError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.verify import verify
from gristmill.pipeline.verdicts import Verdicts
from gristmill.stages.protocol import verdicts
from tests.laws.running import fingerprint, run_inline
from tests.pipeline.similar_docs import (
    Doc,
    corpus,
    deduplicated,
    edited,
    kept_texts,
    neighbours,
    prose,
    recipe_of,
    table,
    write_docs,
)

DOCS = corpus()


def shingles(text: str, n: int = 5) -> set[tuple[str, ...]]:
    """For texts of plain words only: what tuples of words stand in them."""
    words = text.split()
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def jaccard(a: str, b: str) -> float:
    """Of two texts of plain words."""
    one, two = shingles(a), shingles(b)
    return len(one & two) / max(len(one | two), 1)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return deduplicated(tmp_path_factory.mktemp("one"), DOCS)


def test_copies_and_near_copies_go(one: Path) -> None:
    assert len(kept_texts(one)) == 120
    assert verify(one, deep=True).faults == []


def test_whoever_goes_is_similar_to_a_kept_one_as_measured(one: Path) -> None:
    by_id = {r["id"]: r for r in table(one, "shards")}
    texts = dict(DOCS)
    gone = table(one, "ledger")
    assert len(gone) == 80
    for row in gone:
        keeper = by_id[row["keeper"]]
        if row["reason"] == "exact_duplicate":
            assert row["value"] == 1.0 and row["content_hash"] == keeper["content_hash"]
            continue
        assert row["measure"] == "jaccard" and row["limit"] == 0.7
        near = [t for t in texts.values() if abs(jaccard(t, keeper["text"]) - row["value"]) < 1e-12]
        assert near and row["value"] >= 0.7
        assert row["detail"].startswith("met in bands ")


def test_kept_documents_carry_cluster_and_count(one: Path) -> None:
    rows = table(one, "shards")
    assert sum(r["dup_count"] or 1 for r in rows) == len(DOCS)
    for row in rows:
        assert (row["dup_cluster"] is None) == (row["dup_count"] is None)
        assert row["dup_cluster"] is None or row["dup_cluster"] <= row["content_hash"]


def layouts() -> dict[str, dict[str, list[Doc]]]:
    """The same documents in other files and orders."""
    mixed = random.Random(5).sample(DOCS, len(DOCS))
    return {
        "reversed": {"a.jsonl": DOCS[::-1]},
        "mixed": {"z.jsonl": mixed},
        "four files": {f"f{i}.jsonl": mixed[i::4] for i in range(4)},
        "many files": {f"g{i}.jsonl": mixed[i::23] for i in range(23)},
    }


@pytest.mark.parametrize("name", layouts())
def test_who_stays_depends_on_no_layout(name: str, one: Path, tmp_path: Path) -> None:
    """M21: datatrove kept 2 in common of 32 when the documents came in reverse."""
    write_docs(tmp_path, layouts()[name])
    run_inline(recipe_of(tmp_path), tmp_path / "out")
    outputs = (one, tmp_path / "out")
    told = [sorted((r["id"], r["keeper"], r["value"]) for r in table(o, "ledger")) for o in outputs]
    assert told[0] == told[1]
    marks = [sorted((r["id"], r["dup_cluster"], r["dup_count"]) for r in table(o, "shards")) for o in outputs]
    assert marks[0] == marks[1]


def test_worker_counts_give_the_same_bytes(tmp_path: Path) -> None:
    write_docs(tmp_path, layouts()["four files"])
    recipe = recipe_of(tmp_path)
    run_inline(recipe, tmp_path / "a", workers=0)
    run_inline(recipe, tmp_path / "b", workers=2)
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")


@pytest.mark.parametrize(
    ("name", "docs", "kept"),
    [
        ("one", [("a", "a single document of some seven words")], 1),
        ("all equal", [(f"k{i}", " ".join(prose(1, 50))) for i in range(300)], 1),
        ("none equal", [(f"k{i}", " ".join(prose(i, 50))) for i in range(100)], 100),
        ("short copies (M17)", [(f"k{i}", "just four words here") for i in range(3)], 1),
        ("short ones that differ", [("a", "one two three"), ("b", "one two four"), ("c", "")], 3),
        ("Chinese copies (M17)", [(f"k{i}", "数据去重对语言模型的训练非常重要" * 3) for i in range(3)], 1),
        (
            "numbers alone differ (M18)",
            [(f"k{i}", " ".join(f"row {i * 50 + j}" for j in range(50))) for i in range(5)],
            5,
        ),
    ],
)
def test_small_corpora(name: str, docs: list[Doc], kept: int, tmp_path: Path) -> None:
    out = deduplicated(tmp_path, docs)
    assert len(kept_texts(out)) == kept
    assert verify(out).faults == []


def test_an_empty_corpus(tmp_path: Path) -> None:
    assert kept_texts(deduplicated(tmp_path, [])) == []


def test_near_chinese_copies(tmp_path: Path) -> None:
    rng = random.Random(2)
    text = "".join(chr(0x4E00 + rng.randrange(3000)) for _ in range(400))
    docs = [("a", text), ("b", text[:200] + "变" + text[201:])]
    assert len(kept_texts(deduplicated(tmp_path, docs))) == 1


def test_code_that_differs_in_operators_stays(tmp_path: Path) -> None:
    """M18: lower case, no punctuation and one digit for all make one of two programs."""
    lines = [f"x{i} = y{i} + z{i} * {i}" for i in range(40)]
    docs = [("a", "\n".join(lines)), ("b", "\n".join(line.replace("+", "-") for line in lines))]
    assert len(kept_texts(deduplicated(tmp_path, docs, {"normalise": "exact"}))) == 2
    assert len(kept_texts(deduplicated(tmp_path, docs, {"normalise": "prose"}, "prose"))) == 1


def chain(length: int) -> list[Doc]:
    """Documents of 100 words, each shifted by ten against the one before."""
    words = prose(77, 100 + 10 * length)
    return [(f"k{i}", " ".join(words[10 * i : 10 * i + 100])) for i in range(length)]


def test_a_chain_does_not_swallow_its_end(tmp_path: Path) -> None:
    """M20: one of sixty shifted documents was kept, and 27 had gone at a Jaccard below 0.5 to it."""
    docs = chain(60)
    out = deduplicated(tmp_path, docs, {"bands": 60, "rows": 3})
    kept = kept_texts(out)
    assert 20 <= len(kept) <= 40
    for i, a in enumerate(kept):
        assert all(jaccard(a, b) < 0.7 for b in kept[:i])
    by_id = {r["id"]: r["text"] for r in table(out, "shards")}
    for row in table(out, "ledger"):
        assert any(jaccard(t, by_id[row["keeper"]]) == pytest.approx(row["value"]) for _, t in docs)


@pytest.mark.parametrize(("cap", "pivots"), [(4, 1), (4, 2), (16, 8), (1000, 1000)])
def test_groups_too_large_for_all_pairs_are_worked_off(cap: int, pivots: int, tmp_path: Path) -> None:
    """30 % of the rows in one band neither kill nor stall; nothing similar is left, and it is told."""
    docs = [*neighbours(120), *(("b" + k, t) for k, t in corpus()[:80])]
    out = deduplicated(tmp_path, docs, {"max_bucket": cap, "pivots": pivots})
    kept = kept_texts(out)
    assert len([t for t in kept if "own" in t]) == 1
    facts = read_manifest(out / "docs")["facts"]["minhash_dedup"]
    assert (facts["large_groups"] > 0) == (cap < 120)
    assert facts["large_left"] is False


def test_a_large_group_of_many_clusters(tmp_path: Path) -> None:
    """With one row a band, documents that share a fifth meet in large groups; what is similar is found all the same."""
    common = prose(9, 60)
    docs: list[Doc] = []
    for cluster in range(12):
        own = prose(100 + cluster, 240)
        for member in range(4):
            docs.append((f"c{cluster}m{member}", " ".join([*common, *edited(own, member, 3)])))
    results = []
    for name, params in (("small", {"max_bucket": 3, "pivots": 2}), ("whole", {"max_bucket": 1000, "pivots": 8})):
        out = deduplicated(tmp_path, docs, {"bands": 40, "rows": 1, **params}, name)
        results.append(kept_texts(out))
    assert results[0] == results[1]
    assert len(results[0]) == 12


def test_the_best_of_a_large_group_may_be_like_nobody(tmp_path: Path) -> None:
    """All share a band, the best ones are like nobody, and what comes behind them is one cluster."""
    common = prose(9, 40)
    loners = [(f"l{i}", " ".join([*common, *prose(500 + i, 100)])) for i in range(30)]
    cluster = [(f"c{i}", " ".join([*common, *edited(prose(77, 60), i, 2)])) for i in range(12)]
    params = {"bands": 64, "rows": 1, "max_bucket": 4, "pivots": 1, "keep": ["longest"]}
    out = deduplicated(tmp_path, [*loners, *cluster], params)
    facts = read_manifest(out / "docs")["facts"]["minhash_dedup"]
    assert facts["large_groups"] > 0 and facts["large_left"] is False
    assert len(kept_texts(out)) == 31


def test_the_policy_chooses_the_keeper(tmp_path: Path) -> None:
    words = prose(3, 200)
    docs = [("a", " ".join(words)), ("b", " ".join([*words, *prose(4, 20)])), ("c", " ".join(words[:-20]))]
    longest = deduplicated(tmp_path, docs, {"keep": ["longest"]}, "longest")
    assert kept_texts(longest) == [docs[1][1]]
    assert table(longest, "shards")[0]["dup_count"] == 3
    assert kept_texts(deduplicated(tmp_path, docs, {"keep": ["shortest"]}, "shortest")) == [docs[2][1]]


def test_containment(tmp_path: Path) -> None:
    words = prose(3, 400)
    docs = [("whole", " ".join(words)), ("part", " ".join(words[100:300]))]
    assert len(kept_texts(deduplicated(tmp_path, docs, {"rows": 2, "bands": 40}))) == 2
    params = {"rows": 2, "bands": 40, "similarity": "containment", "keep": ["longest"]}
    out = deduplicated(tmp_path, docs, params, "contained")
    assert kept_texts(out) == [docs[0][1]]
    assert table(out, "ledger")[0]["measure"] == "containment"
    assert table(out, "ledger")[0]["value"] == 1.0


def test_by_containment_a_part_goes_for_the_whole_and_never_the_other_way(tmp_path: Path) -> None:
    docs: list[Doc] = []
    for i in range(12):
        words = prose(i, 300)
        docs += [(f"whole{i}", " ".join(words)), (f"part{i}", " ".join(words[40:220]))]
    out = deduplicated(tmp_path, docs, {"rows": 2, "bands": 40, "similarity": "containment"})
    assert kept_texts(out) == sorted(text for key, text in docs if key.startswith("whole"))


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"bands": 0}, "bands"),
        ({"rows": 0}, "rows"),
        ({"bands": 200, "rows": 100}, "4096"),
        ({"threshold": 0.0}, "threshold"),
        ({"shingle": 0}, "shingle"),
        ({"pivots": 9, "max_bucket": 8}, "pivots"),
        ({"keep": ["newest"]}, "newest"),
        ({"index": {"load": "x"}}, "load"),
        ({"index": {"query": "../x y/"}}, "x y"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(params: dict[str, Any], word: str, tmp_path: Path) -> None:
    write_docs(tmp_path, {"a.jsonl": [("a", "b")]})
    with pytest.raises(GristmillError) as caught:
        run_inline(recipe_of(tmp_path, params), tmp_path / "out")
    assert word in str(caught.value)
    assert not (tmp_path / "out" / "objects").exists()


def test_a_verdict_without_its_record_is_refused(tmp_path: Path) -> None:
    """M29: a stage that saw one document more removed by position, the unique instead of the copy."""

    path = tmp_path / "v.arrow"
    with pa.ipc.new_file(str(path), verdicts(np.array([3], np.uint64), {}).schema) as file:
        file.write_batch(verdicts(np.array([3], np.uint64), {}))
    spec = {
        "step": "s",
        "measure": "m",
        "stage": "minhash_dedup",
        "params": {},
        "drops": [[str(path), 0, 1]],
        "base": 0,
    }
    with pytest.raises(VerifyError, match="not there"):
        Verdicts(spec, str(tmp_path)).finish(3)


def test_shingles_of_tokens_and_of_characters(tmp_path: Path) -> None:
    """The recipe's vocabulary, or the one named; an index of tokens holds its fingerprint."""
    tokens = deduplicated(tmp_path, DOCS, {"unit": "token", "shingle": 8, "index": {"save": "t"}}, "tokens")
    assert len(kept_texts(tokens)) == 120
    chars = deduplicated(tmp_path, DOCS, {"unit": "char", "shingle": 20}, "chars")
    assert len(kept_texts(chars)) == 120
    named = deduplicated(tmp_path, DOCS, {"unit": "token", "shingle": 8, "tokenizer": "bytes"}, "named")
    assert len(kept_texts(named)) == 120
    keys = {o: read_manifest(o / "docs")["steps"][1]["params"]["tokenizer"] for o in (tokens, chars, named)}
    assert keys[chars] == "" and keys[tokens] != keys[named]
    write_docs(tmp_path / "new", {"docs.jsonl": DOCS[:3]})
    params = {"unit": "token", "shingle": 8, "tokenizer": "bytes", "index": {"query": "../tokens/out/indexes/t"}}
    with pytest.raises(UsageError, match="tokenizer"):
        run_inline(recipe_of(tmp_path / "new", params), tmp_path / "new" / "out")
    with pytest.raises(GristmillError, match="no such tokenizer"):
        run_inline(recipe_of(tmp_path / "new", {"tokenizer": "none.json"}), tmp_path / "new" / "out")
