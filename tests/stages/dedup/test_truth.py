"""The ground truth of dedup: the corpus, the independent judge of similarity, the exact pairs."""

import unicodedata
from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.stages.dedup.shingles import ShingleSpec, shingle_sets
from tests.stages.dedup.truth import bases, corpus, twin
from tests.stages.dedup.truth.pairs import all_pairs


@pytest.fixture(scope="module")
def docs() -> list[corpus.Doc]:
    return corpus.build()


def test_the_corpus_is_the_same_each_time(docs: list[corpus.Doc]) -> None:
    assert corpus.build() == docs


def test_the_corpus_holds_each_kind_of_copy(docs: list[corpus.Doc]) -> None:
    kinds = Counter(doc.kind for doc in docs)
    assert kinds["exact"] == kinds["reset"] == corpus.QUICK.exact
    assert kinds["word_edits"] == kinds["block_edit"] == corpus.QUICK.edits * len(corpus.RATES)
    assert kinds["chain"] == corpus.CHAIN_DOCS
    assert min(kinds[kind] for kind in ("template", "licence", "numbers", "operators", "han_exact", "short_exact")) > 5
    assert 400 <= len(docs) <= 900
    assert {doc.domain for doc in docs} == {"web", "knowledge", "code", "math"}


def test_copies_are_as_near_as_they_were_planted(docs: list[corpus.Doc]) -> None:
    found: dict[tuple[str, float], list[float]] = {}
    for doc in docs:
        if doc.base is not None and doc.domain != "code" and not doc.kind.startswith("short"):
            pair = (twin.shingles(text, doc.domain) for text in (doc.text, docs[doc.base].text))
            rate = doc.rate if doc.kind.startswith(("word", "block")) else 0.0
            found.setdefault((doc.kind, rate), []).append(twin.jaccard(*pair))
    means = {key: float(np.mean(values)) for key, values in found.items()}
    assert set(found["exact", 0.0]) == set(found["reset", 0.0]) == set(found["han_exact", 0.0]) == {1.0}
    assert min(found["han_edits", 0.0]) > 0.7
    # A block of share f leaves (1 - f) / (1 + f), edits of single words at rate p about s / (2 - s), s = (1 - p)^5.
    for rate in corpus.RATES:
        assert means["block_edit", rate] == pytest.approx((1 - rate) / (1 + rate), abs=0.06)
        assert means["word_edits", rate] == pytest.approx((1 - rate) ** 5 / (2 - (1 - rate) ** 5), abs=0.1)
    spread = np.array(found["spread", 0.0])
    assert np.histogram(spread, [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])[0].min() >= 8


def test_numbers_and_operators_keep_documents_apart(docs: list[corpus.Doc]) -> None:
    for kind in ("numbers", "operators"):
        sets = [twin.shingles(doc.text, doc.domain) for doc in docs if doc.kind == kind]
        assert max(twin.jaccard(a, b) for a, b in combinations(sets, 2)) < 0.7


def test_a_chain_is_near_to_its_next_and_far_from_its_end(docs: list[corpus.Doc]) -> None:
    sets = [twin.shingles(doc.text, doc.domain) for doc in docs if doc.kind == "chain"]
    nearest = [max(twin.jaccard(a, b) for b in sets if b is not a) for a in sets]
    assert min(nearest) > 0.8
    assert sum(not a & b for a, b in combinations(sets, 2)) > 1000


def test_large_corpora_take_further_texts() -> None:
    small = corpus.Size(prose=2, docstrings=1, sources=1, exact=1, edits=1, spread=1, families=1, licences=1)
    found = corpus.build(small, [("further text of six words, really", "web")])
    assert "further text of six words, really" in [doc.text for doc in found]
    assert all(doc.text == found[doc.base].text for doc in found if doc.kind == "exact" and doc.base is not None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("The cat, 'sat' -- on_it!", ["the", "cat", "sat", "on_it"]),
        ("Don\u2019t, l'eau, rock 'n' roll", ["don", "\u2019t", "l", "'eau", "rock", "n", "roll"]),
        ("1,234.5 or 1, 2 and a,b", ["1,234.5", "or", "1", "2", "and", "a", "b"]),
        ("os.path e.g. end.Next U.S.A. 3.x x.3", ["os.path", "e.g", "end", "next", "u.s.a", "3.x", "x.3"]),
        ("你好，world日本", ["你", "好", "world", "日", "本"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("ก่อน", ["ก่", "อ", "น"]),
        ("___ a_b __x", ["a_b", "__x"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("STRASSE Straße Σας ΣΑΣ", ["strasse", "strasse", "σασ", "σασ"]),
        ("\u0301 a", ["a"]),
        ("x\ufffcy", ["x", "y"]),
    ],
)
def test_words_of_prose(text: str, expected: list[str]) -> None:
    assert twin.words(text, "web") == [unicodedata.normalize("NFD", word) for word in expected]


def test_words_of_code_keep_symbols_case_and_digits() -> None:
    assert twin.words("X = a+1;\n\ty -= 2", "code") == ["X", "=", "a+1;", "y", "-=", "2"]
    assert twin.words("X = a+1", "math") == ["X", "=", "a+1"]
    assert twin.words("x='日本' # e\u0301\ufffcy", "code") == ["x='", "日", "本", "'", "#", "e\u0301", "y"]


def sizes_of(texts: list[str], domain: str, n: int) -> list[int]:
    """How many distinct shingles the stage counts."""
    domains = pa.array([domain] * len(texts), pa.string())
    return np.diff(shingle_sets(pa.array(texts, pa.large_string()), domains, ShingleSpec(n=n)).offsets).tolist()


@pytest.mark.parametrize("domain", ["web", "code"])
def test_the_twin_and_the_stage_agree_on_the_corpus(docs: list[corpus.Doc], domain: str) -> None:
    texts = [doc.text for doc in docs]
    for n in (1, 5):
        assert sizes_of(texts, domain, n) == [len(twin.shingles(text, domain, n)) for text in texts]


def test_the_twin_and_the_stage_see_the_same_pairs(docs: list[corpus.Doc]) -> None:
    text, domain = pa.array([d.text for d in docs], pa.large_string()), pa.array([d.domain for d in docs], pa.string())
    found = shingle_sets(text, domain, ShingleSpec())
    ours = all_pairs([frozenset(found.row(i).tolist()) for i in range(len(docs))])
    assert ours.as_dict() == all_pairs([twin.shingles(doc.text, doc.domain) for doc in docs]).as_dict()


@given(
    st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from("aA1_'’., \u0301\u00ad\n你ก\ufffc")), max_size=8)
)
def test_the_twin_and_the_stage_agree_on_any_text(texts: list[str]) -> None:
    for domain in ("web", "code"):
        assert sizes_of(texts, domain, 1) == [len(twin.shingles(text, domain, 1)) for text in texts]


def test_jaccard_and_containment_by_hand() -> None:
    a, b = twin.shingles("a b c d e f", "web"), twin.shingles("a b c d e g h", "web")
    assert (len(a), len(b)) == (2, 3)
    assert twin.jaccard(a, b) == 1 / 4
    assert twin.containment(a, b) == 1 / 2
    assert twin.jaccard(a, a) == twin.containment(a, a) == 1.0
    assert (
        twin.jaccard(a, frozenset()) == twin.containment(frozenset(), a) == twin.jaccard(frozenset(), frozenset()) == 0
    )
    assert twin.shingles("a b c d", "web") == frozenset()
    assert len(twin.shingles("a b c d", "web", size=4)) == 1


@pytest.mark.parametrize("max_df", [2, 4, 200])
def test_all_pairs_equal_the_comparison_of_each_with_each(max_df: int) -> None:
    rng = Random(max_df)
    families = [rng.sample(range(400), 40) for _ in range(6)]
    sets = [frozenset(rng.sample(family, rng.randint(0, 40))) for family in families for _ in range(12)]
    truth = all_pairs(sets, floor=0.3, max_df=max_df)
    shares = {(i, j): len(sets[i] & sets[j]) / max(len(sets[i] | sets[j]), 1) for i, j in combinations(range(72), 2)}
    exact = {pair: share for pair, share in shares.items() if share >= 0.3}
    assert truth.as_dict() == pytest.approx(exact)
    assert len(exact) > 50
    assert list(truth.as_dict()) == sorted(exact)


def test_groups_join_pairs_with_a_common_document() -> None:
    sets = [frozenset(s) for s in ("abcdef", "abcdeg", "xyz", "abcdeh", "xyzw", "123", "")]
    truth = all_pairs(sets)
    assert truth.as_dict().keys() == {(0, 1), (0, 3), (1, 3), (2, 4)}
    assert truth.group.tolist() == [0, 0, 0, 1]


def test_no_pair_of_an_empty_corpus() -> None:
    assert all_pairs([]).as_dict() == all_pairs([frozenset()] * 3).as_dict() == {}


def test_texts_come_from_this_machine_in_one_order() -> None:
    assert len(bases.docstrings(40)) == len(bases.sources(40)) == 40
    assert bases.sources(20) == bases.sources(40)[:20]
    assert all(bases.MIN_CHARS <= len(text) <= bases.MAX_CHARS for text in bases.licences())
