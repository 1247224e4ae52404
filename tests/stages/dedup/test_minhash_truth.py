"""Whole runs of minhash_dedup over the corpus, each removal judged by the independent twin, and real near-copies."""

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.stages.dedup.sketch import SketchSpec, sketch
from tests.laws.running import call, run_inline
from tests.stages.dedup.truth import bases, corpus, twin
from tests.stages.dedup.truth.corpus import Doc
from tests.stages.dedup.truth.judged import Judged, judged, rows_of, write_recipe
from tests.stages.dedup.truth.pairs import Truth, all_pairs

THRESHOLD = 0.7
LIBRARIES = ("/usr/lib/python3.*", f"{bases.LIBRARY.parents[2]}/*/lib/python3.*")

Pair = tuple[int, int]


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return corpus.build()


@pytest.fixture(scope="module")
def run(docs: list[Doc], tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A run of the command over one file a domain."""
    folder = tmp_path_factory.mktemp("run")
    done = call("run", write_recipe(folder, docs, range(len(docs))), "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return judged(docs, folder / "out")


@pytest.fixture(scope="module")
def truth(docs: list[Doc]) -> Truth:
    return all_pairs([twin.shingles(doc.text, doc.domain) for doc in docs])


def test_each_document_is_kept_or_gone(run: Judged) -> None:
    assert sorted([*run.kept, *run.gone]) == list(range(len(run.docs)))
    assert {row["reason"] for row in run.gone.values()} == {"near_duplicate", "exact_duplicate"}
    assert len(run.gone) > 150


def test_each_removal_is_as_similar_to_a_kept_document_as_told(run: Judged) -> None:
    """Precision 100 %, and no removal below the threshold."""
    assert run.faults(THRESHOLD) == []


def test_the_judge_sees_what_is_wrong(run: Judged) -> None:
    near = next(i for i, row in run.gone.items() if row["reason"] == "near_duplicate" and row["value"] < 0.9)
    exact = next(i for i, row in run.gone.items() if row["reason"] == "exact_duplicate")
    stranger = run.stays("numbers")[0]
    changed = Judged(run.docs, run.read, run.kept, run.gone, {near: stranger, exact: stranger})
    assert len(changed.faults(THRESHOLD)) == 2
    assert len(run.faults(0.9)) > 10
    assert len(Judged(run.docs, run.read, {}, run.gone, run.keeper).faults(THRESHOLD)) == len(run.gone)


def candidates(docs: list[Doc], rows: Iterable[int]) -> set[Pair]:
    """Pairs that meet in a band of the default sketch."""
    text = pa.array([doc.text for doc in docs], pa.large_string())
    found = sketch(text, pa.array([doc.domain for doc in docs], pa.string()), SketchSpec())
    met: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in rows:
        if found.shingles[row]:
            for band, key in enumerate(found.band_keys[row].tolist()):
                met[band, key].append(row)
    return {pair for group in met.values() for pair in combinations(group, 2)}


def independent_set(run: Judged, edges: Iterable[Pair]) -> dict[int, int | None]:
    """By document that stands for its text: None where it stays, else its keeper. By the smaller content hash."""
    better: dict[int, list[int]] = defaultdict(list)
    rank = {i: row["content_hash"] for i, row in run.read.items()}
    for a, b in edges:
        better[max(a, b, key=rank.__getitem__)].append(min(a, b, key=rank.__getitem__))
    fate: dict[int, int | None] = {}
    for i in sorted(rank, key=lambda i: rank[i]):
        kept = [j for j in better[i] if fate[j] is None]
        fate[i] = min(kept, key=rank.__getitem__) if kept else None
    return fate


def test_who_goes_follows_from_candidates_and_the_twin(run: Judged, truth: Truth) -> None:
    """The whole search again: copies of one text, candidates, exact Jaccard, the first independent set by rank."""
    first: dict[str, int] = {}
    for i in sorted(run.read, key=lambda i: run.read[i]["id"]):
        first.setdefault(run.docs[i].text, i)
    share = truth.as_dict()
    edges = [p for p in candidates(list(run.docs), sorted(first.values())) if share.get(p, 0.0) >= THRESHOLD]
    fate = independent_set(run, edges)
    expected: dict[int, tuple[str, int]] = {}
    for i, doc in enumerate(run.docs):
        stands, keeper = first[doc.text], fate[first[doc.text]]
        if keeper is not None:
            expected[i] = ("near_duplicate", keeper)
        elif i != stands:
            expected[i] = ("exact_duplicate", stands)
    assert {i: (row["reason"], run.keeper[i]) for i, row in run.gone.items()} == expected


def test_pairs_that_are_near_certain_to_meet_do_not_both_stay(run: Judged, truth: Truth) -> None:
    """At a Jaccard of 0.9 a pair is missed with chance 0.0004."""
    both = [p for p, share in truth.as_dict().items() if share >= 0.9 and p[0] in run.kept and p[1] in run.kept]
    assert both == []


def test_planted_copies_go_as_often_as_their_similarity_lets_them(run: Judged) -> None:
    """Figures of a corpus of 10,000: block edits of 1/2/5 % 100/100/96 %, word edits of 1 % 98 %."""
    merged: dict[tuple[str, float], list[bool]] = defaultdict(list)
    for i, doc in enumerate(run.docs):
        if doc.base is not None:
            rate = doc.rate if doc.kind in ("word_edits", "block_edit") else 0.0
            merged[doc.kind, rate].append(i in run.gone or doc.base in run.gone)
    share = {key: float(np.mean(values)) for key, values in merged.items()}
    for kind in ("exact", "reset", "han_exact", "short_exact"):
        assert share[kind, 0.0] == 1.0
    for kind, rate, least in (("block_edit", 0.01, 0.85), ("block_edit", 0.05, 0.7), ("word_edits", 0.01, 0.7)):
        assert share[kind, rate] >= least
    assert not [i for i in run.gone if run.docs[i].kind == "word_edits" and run.docs[i].rate == 0.2]


def test_numbers_and_operators_alone_keep_documents(run: Judged) -> None:
    """M18: datatrove removes one of two documents that differ in nothing but numbers, or operators."""
    for kind in ("numbers", "operators"):
        assert len(run.stays(kind)) == sum(doc.kind == kind for doc in run.docs)


def test_short_documents_are_compared_as_a_whole(run: Judged) -> None:
    """M17: datatrove keeps three copies of four words."""
    texts = [run.docs[i].text for i in run.stays("short") + run.stays("short_exact")]
    assert len(texts) == len(set(texts))
    assert set(texts) == {doc.text for doc in run.docs if doc.kind.startswith("short")}


def test_copies_in_han_go(run: Judged) -> None:
    """M17: datatrove's default words find none."""
    assert not {run.docs[i].text for i in run.stays("han")} & {run.docs[i].text for i in run.stays("han_exact")}
    originals = [i for i, doc in enumerate(run.docs) if doc.kind == "han"]
    families = [[j for j, doc in enumerate(run.docs) if doc.base == i] for i in originals]
    assert all(len(set(run.kept) & {i, *copies}) <= 2 for i, copies in zip(originals, families, strict=True))


def test_a_chain_keeps_its_links(run: Judged) -> None:
    """M20: datatrove kept one of 60 shifted documents; here one goes only for a neighbour that stays."""
    kept = run.stays("chain")
    assert corpus.CHAIN_DOCS // 3 <= len(kept) <= corpus.CHAIN_DOCS * 2 // 3
    sets = {i: twin.shingles(doc.text, doc.domain) for i, doc in enumerate(run.docs) if doc.kind == "chain"}
    for i in set(sets) - set(kept):
        assert max(twin.jaccard(sets[i], sets[k]) for k in kept) >= 0.8


def test_clusters_hold_who_went_for_each_other(run: Judged) -> None:
    for i, keeper in run.keeper.items():
        assert run.kept[keeper]["dup_cluster"] is not None, i
    assert sum(row["dup_count"] or 1 for row in run.kept.values()) == len(run.docs)


@pytest.mark.parametrize(("files", "workers", "shuffled"), [(4, 0, True), (1, 0, False), (3, 2, True)])
def test_keepers_depend_on_no_layout(
    run: Judged, docs: list[Doc], files: int, workers: int, shuffled: bool, tmp_path: Path
) -> None:
    """M21: 4 shards, reversed order, several workers."""
    order = list(range(len(docs)))[::-1]
    if shuffled:
        Random(files).shuffle(order)
    run_inline(write_recipe(tmp_path, docs, order, files), tmp_path / "out", workers=workers)
    assert judged(docs, tmp_path / "out").keeper == run.keeper


@pytest.mark.parametrize(
    ("params", "similarity", "least"),
    [
        ({"similarity": "containment", "threshold": 0.8}, twin.containment, 200),
        ({"bands": 20, "rows": 5, "threshold": 0.5}, twin.jaccard, 270),
        ({"threshold": 1.0}, twin.jaccard, 60),
        ({"shingle": 3, "keep": ["longest"], "seed": 9}, twin.jaccard, 200),
    ],
)
def test_other_settings_are_as_exact(
    params: dict[str, Any], similarity: Callable[..., float], least: int, docs: list[Doc], tmp_path: Path
) -> None:
    run_inline(write_recipe(tmp_path, docs, range(len(docs)), params=params), tmp_path / "out")
    run = judged(docs, tmp_path / "out")
    assert run.faults(params.get("threshold", THRESHOLD), similarity, params.get("shingle", twin.SIZE)) == []
    assert len(run.gone) >= least
    assert len(run.kept) + len(run.gone) == len(docs)


@pytest.mark.slow
def test_the_large_corpus_is_judged(tmp_path: Path) -> None:
    docs = corpus.build(corpus.LARGE)
    done = call("run", write_recipe(tmp_path, docs, range(len(docs)), files=4), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    run = judged(docs, tmp_path / "out")
    assert run.faults(THRESHOLD) == []
    assert len(run.gone) > 3000


def test_a_book_as_text_and_as_a_page_is_one(shared_data: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        f"""
name: book
datasets:
  plain: {{read: {{text: "{shared_data}/books/*.txt"}}, domain: knowledge}}
  pages: {{read: {{html: "{shared_data}/books/*.htm"}}, domain: knowledge, steps: [extract_html]}}
  all: {{from: [plain, pages], steps: [minhash_dedup]}}
""",
        encoding="utf-8",
    )
    run_inline(recipe, tmp_path / "out")
    (kept,), (gone,) = rows_of(tmp_path / "out", "all", "shards"), rows_of(tmp_path / "out", "all", "ledger")
    texts = [rows_of(tmp_path / "out", name, "shards")[0]["text"] for name in ("plain", "pages")]
    assert kept["text"] in texts and len(kept["text"]) > 800_000
    assert (gone["reason"], gone["keeper"]) == ("near_duplicate", kept["id"])
    assert gone["value"] == twin.jaccard(*(twin.shingles(text, "knowledge") for text in texts)) > 0.9


def topics_of(library: Path) -> dict[str, str]:
    """The topics of Python's own documentation that a release holds, by name."""
    tree = ast.parse((library / "pydoc_data" / "topics.py").read_text(encoding="utf-8"))
    value = next(n.value for n in tree.body if isinstance(n, ast.Assign))
    return ast.literal_eval(value)


def test_two_releases_of_the_documentation_of_python(tmp_path: Path) -> None:
    here = topics_of(bases.LIBRARY)
    found = (Path(p) for pattern in LIBRARIES for p in sorted(Path("/").glob(pattern[1:])))
    others = (topics_of(p) for p in found if (p / "pydoc_data" / "topics.py").is_file())
    other = next((topics for topics in others if topics != here), None)
    if other is None:
        pytest.skip(f"no other release of Python beside {sys.version.split()[0]} on this machine")
    docs = [Doc(text, "knowledge", name) for topics in (here, other) for name, text in sorted(topics.items())]
    run_inline(write_recipe(tmp_path, docs, range(len(docs))), tmp_path / "out")
    run = judged(docs, tmp_path / "out")
    assert run.faults(THRESHOLD) == []
    alike = all_pairs([twin.shingles(doc.text, doc.domain) for doc in docs]).as_dict()
    near = [pair for pair, share in alike.items() if 0.9 <= share < 1.0]
    assert len(near) >= 5
    assert [pair for pair in near if pair[0] in run.kept and pair[1] in run.kept] == []
