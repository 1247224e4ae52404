"""Atoms, names and the search for names, on any text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.render.draws import Draws
from gristmill.synth.atoms import ATOM_CHARS, cut, encode, prepare, whole_text
from gristmill.synth.lexicon import MAX_LETTERS, names
from gristmill.synth.solvers.leaks import MIN_LETTERS, NameScan
from gristmill.synth.solvers.words import names_in, numbers_in
from tests.synth.corpus import code, prose, source, tokenizer

ANY_TEXT = st.text(st.sampled_from("ab \n\t\r`#|.é字🙂"), max_size=400)
NAMES = ("bafeliko", "tarvena", "zomekat")


@given(ANY_TEXT)
def test_atoms_are_the_text_and_begin_lines(text: str) -> None:
    whole = whole_text(text)
    bounds = cut(whole)
    assert "".join(whole[a:b] for a, b in pairwise(bounds)) == whole
    assert list(bounds) == sorted(set(bounds)) and bounds[0] == 0
    assert all(whole[b - 1] == "\n" for b in bounds[1:])


def test_atoms_are_short_and_no_fence_is_cut() -> None:
    whole = whole_text(
        prose(Draws(1), 60) + "\n\n```\n" + "\n\n".join(["x = 1"] * 900) + "\n```\n\n" + prose(Draws(2), 60)
    )
    bounds = cut(whole)
    inside = (whole.index("```"), whole.rindex("```"))
    assert not [b for b in bounds if inside[0] < b < inside[1]]
    outside = [b - a for a, b in pairwise(bounds) if b < inside[0]]
    assert len(outside) > 5 and max(outside) < 3 * ATOM_CHARS


@pytest.mark.parametrize("name", ["deepseek", "bytes"])
def test_every_document_is_prepared_or_refused_for_a_reason(name: str) -> None:
    sources = [source(prose(Draws(1), 30), 1), source(" \n", 2), source("a \ufffc b", 3), source(code(Draws(4), 30), 4)]
    prepared, refused = prepare(sources, tokenizer(name))
    assert [doc.source.id for doc in prepared] == [sources[0].id, sources[3].id]
    assert refused == {sources[1].id: "no_tokens", sources[2].id: "media_miscounted"}
    for doc in prepared:
        ids = encode([doc.text], tokenizer(name))[0]
        assert len(ids) == doc.total and len(doc.tokens) > 3


@given(st.lists(ANY_TEXT, min_size=1, max_size=4))
def test_joins_of_prepared_documents_are_safe(texts: list[str]) -> None:
    prepared, refused = prepare([source(text * 5, n) for n, text in enumerate(texts)], tokenizer())
    assert len(prepared) + len(refused) == len(texts)
    joined = "".join(doc.text for doc in prepared)
    if joined:
        assert len(encode([joined], tokenizer())[0]) == sum(doc.total for doc in prepared)


def test_a_document_whose_joins_are_not_safe_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.synth.atoms.cut", lambda text: (0, 3, len(text)))
    assert prepare([source("wonderful", 1)], tokenizer())[1] == {f"{1:032x}": "unsafe_joins"}


def test_names_are_words_that_hold_no_other() -> None:
    found = names(Draws("names"), 3000, lambda _: set())
    assert len(set(found)) == 3000
    assert {len(name) for name in found} == set(range(MIN_LETTERS, MAX_LETTERS + 1))
    assert all(names_in(name) == [name] for name in found)
    lower = [name.lower() for name in found]
    text = "\n".join(lower)
    assert all(text.count(name) == 1 for name in lower)


def test_names_of_few_letters_hold_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gristmill.synth.lexicon.CONSONANTS", "bd")
    monkeypatch.setattr("gristmill.synth.lexicon.VOWELS", "ae")
    lower = [name.lower() for name in names(Draws("few"), 60, lambda _: set())]
    assert all("\n".join(lower).count(name) == 1 for name in lower)


def test_names_that_the_text_holds_are_not_given() -> None:
    first = names(Draws("a"), 50, lambda _: set())
    text = first[3].upper().encode() + b" " + b"-".join(bytes([c]) for c in first[7].encode())
    second = names(Draws("a"), 50, lambda some: NameScan(some).found([text]))
    assert set(first) - set(second) == {first[3], first[7]}
    with pytest.raises(InputError, match="too few invented names"):
        names(Draws("a"), 5, set)


@given(st.text(st.sampled_from("bafelikotrvnzm BAFELKO\n-é"), max_size=60), st.lists(st.sampled_from(NAMES)))
def test_the_scan_finds_what_a_search_finds(noise: str, planted: list[str]) -> None:
    text = noise.join(["x", *planted, *(p.upper() for p in planted), "y"]).encode()
    lower = text.lower()
    slow = sorted((at, n) for n in NAMES for at in range(len(lower)) if lower.startswith(n.encode(), at))
    assert list(NameScan(NAMES).hits(text)) == slow


@pytest.mark.parametrize(
    "spelled", ["tar vena", "T A R V E N A", "tar-\nvena", "tar_ve.na", "TarVena", "t\u00a0arvena"]
)
def test_the_scan_finds_names_with_something_between(spelled: str) -> None:
    assert NameScan(NAMES).found([b"and ", spelled.encode()]) == {"tarvena"}
    assert not NameScan(NAMES).found([spelled.replace("v", "w", 1).replace("V", "W", 1).encode()])


def test_a_name_too_short_to_be_searched_is_refused() -> None:
    with pytest.raises(ValueError, match="fewer than 7"):
        NameScan(["abc"])


def test_numbers_are_not_those_of_dates() -> None:
    assert numbers_in("2020-01-02T03:04:05Z +17 units r4 8123") == [17, 4, 8123]
