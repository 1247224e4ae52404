"""Orders, places and budgets."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.render.draws import Draws
from gristmill.synth.atoms import encode
from gristmill.synth.budget import longest_fit, take
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.lexicon import names
from gristmill.synth.order import GROUP, MAX_CHUNK, MODES, Mode, order
from gristmill.synth.place import (
    LATE,
    MIN_ALPHA_APART,
    SPAN_INSIDE,
    SPAN_LATE,
    Placed,
    is_apart,
    is_wide,
    place,
    placing_of,
)
from gristmill.synth.protocol import SPREAD, Bank, Size
from tests.synth.corpus import documents, tokenizer

DOCUMENTS = st.lists(st.lists(st.integers(1, 3000), max_size=12), max_size=12)


@pytest.mark.parametrize("mode", MODES)
@given(DOCUMENTS, st.integers())
def test_every_atom_once_and_in_the_order_of_its_document(mode: Mode, docs: list[list[int]], seed: int) -> None:
    parts = order(mode, docs, [1 + len(atoms) % 3 for atoms in docs], Draws(seed))
    for doc, atoms in enumerate(docs):
        mine = [i for part in parts if part.doc == doc for i in range(part.first, part.stop)]
        assert mine == list(range(len(atoms)))
    assert all(part.stop > part.first for part in parts)


def test_modes_mix_as_they_say() -> None:
    docs = [[300] * 60 for _ in range(2 * GROUP)]
    parts = {mode: [p.doc for p in order(mode, docs, [3] * len(docs), Draws(1))] for mode in MODES}
    assert parts["concat"] == list(range(2 * GROUP))
    half = len([d for d in parts["interleave"] if d < GROUP])
    assert set(parts["interleave"][:half]) == set(range(GROUP))
    assert Counter(parts["knot"]) == dict.fromkeys(range(2 * GROUP), 3)
    assert any(a != b for a, b in pairwise(parts["task"])) and max(parts["task"][:GROUP]) >= GROUP
    chunks = [300 * (p.stop - p.first) for p in order("task", docs, [1] * len(docs), Draws(1))]
    assert max(chunks) <= MAX_CHUNK and np.mean(chunks) > 1000


def test_orders_of_two_documents_are_equally_likely() -> None:
    counts = Counter(
        tuple(p.doc for p in order("task", [[2000, 2000], [2000, 2000]], [1, 1], Draws("likely", n)))
        for n in range(6000)
        if len(order("task", [[2000, 2000], [2000, 2000]], [1, 1], Draws("likely", n))) == 4
    )
    assert len(counts) == 6
    expected = sum(counts.values()) / 6
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 20.5  # 0.1 % of chi-square with 5


def placed(family: str, size: Size, asked: int, key: int) -> tuple[Bank, Placed]:
    chosen, draws = FAMILIES[family], Draws("place", family, key)
    bank = chosen.build(size, names(draws, chosen.names_needed(size), lambda _: set()), draws.child("secrets"))
    return bank, place(bank, size, placing_of(chosen), asked, draws.child("places"))


@pytest.mark.parametrize("family", FAMILIES)
def test_questions_stand_behind_what_they_need(family: str) -> None:
    size, wide = FAMILIES[family].sizes[0], 0
    for key in range(2 if family == "render_match" else 20):  # it draws while it makes a bank
        bank, where = placed(family, size, size.asked, key)
        assert len(where.asked) == size.asked and len({chain for chain, _ in where.asked}) == size.asked
        for chain, at in where.asked:
            evidence = [where.facts[e] for e in bank.questions[chain].evidence]
            wide += is_wide(evidence)
            assert min(evidence) >= 0 and max(evidence) < at - 0.003 and at < 1
            if FAMILIES[family].law in SPREAD:
                assert max(evidence) - min(evidence) >= (SPAN_LATE if at >= LATE else SPAN_INSIDE)
            elif where.alpha < 1:
                assert where.alpha >= MIN_ALPHA_APART and is_apart(evidence)
    assert FAMILIES[family].law != "path" or size.hops <= 3 or wide >= 10 * size.asked


def test_places_of_paths_do_not_depend_on_their_rows() -> None:
    """Each hop, in order of place, is as often first as any other, and positions are uniform."""
    firsts, spots = Counter[int](), list[float]()
    size = FAMILIES["table_chain"].sizes[-1]
    for key in range(150):
        bank, where = placed("table_chain", size, size.asked, key)
        limit = max(where.facts)
        for question in bank.questions:
            evidence = [where.facts[e] for e in question.evidence]
            firsts[evidence.index(min(evidence))] += 1
        spots += [f / limit for f in where.facts]
    expected = sum(firsts.values()) / size.hops
    assert sum((c - expected) ** 2 / expected for c in firsts.values()) < 18.5  # 0.1 % with 4
    deciles = np.histogram(spots, 10, (0, 1))[0]
    assert ((deciles - np.mean(deciles)) ** 2 / np.mean(deciles)).sum() < 27.9  # 0.1 % with 9


def test_too_many_questions_are_refused() -> None:
    size = FAMILIES["share_sum"].sizes[-1]
    with pytest.raises(ValueError, match="questions of a bank"):
        placed("share_sum", size, size.chains + 1, 0)


@pytest.mark.parametrize("name", ["deepseek", "bytes"])
@given(room=st.integers(1, 30_000))
def test_room_is_filled(name: str, room: int) -> None:
    docs = documents(40_000, name)
    taken = take(docs, [3] * len(docs), room, tokenizer(name))
    cuts = [len(ids) for ids in encode([t.cut for t in taken if t.cut], tokenizer(name))]
    used = sum(sum(docs[t.doc].tokens[: t.atoms]) + 3 for t in taken) + sum(cuts)
    assert used <= room
    assert room - used <= 32


@pytest.mark.parametrize("text", ["字" * 3000, "a" * 3000, "one two three " * 300])
def test_a_cut_fits_and_is_as_long_as_can_be(text: str) -> None:
    for room in (5, 64, 100):
        best = longest_fit(text, room, tokenizer())
        assert text.startswith(best.strip()) and best.endswith("\n\n")
        size = len(encode([best], tokenizer())[0])
        assert room - 12 <= size <= room
    assert longest_fit(text, 1, tokenizer()) == ""
