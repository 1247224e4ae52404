"""Shingles equal their plain twin on hostile Unicode, whatever the block, the batch or the slice."""

import random
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup.shingles import ShingleSets, ShingleSpec, shingle_sets, shingle_sets_of_ids
from gristmill.stages.kernels import shingle_fold
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.shingle_plain import folded, shingles, shingles_of, stream, units
from gristmill.stages.kernels.shingle_rows import Listing, Rows, shingle_tables
from gristmill.stages.kernels.shingle_words import BLOCK, CHARS, CHUNKS, EXACT_CHARS, WORDS

KINDS = (WORDS, CHUNKS, CHARS, EXACT_CHARS)
SPECIAL = "aZé1_'’.,-#…\n\r\x0b\x1c\x85\u2028 \t\u3000\xa0"
SPECIAL += "中カกำ한ᄀ\u0301\u0323\u0345\u200d\xad\ufeff\ufffc٣İßςΣﬃǆΐὨ\u0340Å😀\0\U0010ffff"
PIECES = [
    "the",
    "The",
    "x",
    "don't",
    "e.g.",
    "1,000",
    "a.b",
    "__init__",
    "_",
    "longer_than_eight",
    ". ",
    ", ",
    "' ",
    "—",
]
PIECES += ["été", "ÉTÉ", "в", "Москва", "한국", "中", " ", " ", " ", "\n", "w" * 70, "a" * 62 + ".b", "(", "\u0301"]
CHARACTERS = st.one_of(st.sampled_from(SPECIAL), st.characters(exclude_categories=["Cs"]))
TEXTS = st.text(CHARACTERS, max_size=80) | st.lists(st.sampled_from(PIECES), max_size=80).map("".join)


def _listed(texts: list[str | None], kind: int, size: int, seed: int = 1) -> list[list[int]]:
    kinds = np.full(len(texts), kind, np.uint8)
    kinds.flags.writeable = False
    rows = Rows(*text_buffers(pa.array(texts, pa.large_string())), kinds)
    listing = Listing(rows, size, shingle_tables(size, seed))
    out = np.empty(sum(4 * len(text or "") for text in texts) + 2 * BLOCK, np.uint64)
    assert listing.step(out)
    starts = [0, *listing.ends.tolist()]
    return [out[starts[i] : starts[i + 1]].tolist() for i in range(len(texts))]


def _sets(texts: list[str | None] | pa.Array, spec: ShingleSpec, domain: str = "web", seed: int = 1) -> ShingleSets:
    return shingle_sets(pa.array(texts, pa.large_string()), pa.array([domain] * len(texts)), spec, seed)


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(TEXTS, max_size=4), st.integers(1, 7), st.integers(0, 2**64 - 1))
@example(
    ["a'b'c 'a a' a''b 1'a a'1 a\u0301'\u0301b a'\u0301b", "中'a a'中 x.'y _'a a'.b", "\xad\xad \xad a \xad b\xad"],
    1,
    0,
)
@example(
    ["a" * 64 + "b c", "x " * 31 + "a.b c", "x " * 31 + "a'", "é" * 40 + " _ __a__", "Ab" * 4 + " " + "Ab" * 5],
    2,
    1,
)
@example(
    [
        "a\u0308\u0301 a\u0301\u0308\u0323\u0301",
        "\u0345\u0301a\u0345\u0323\u0301",
        "İI\u0307ıK\u212aÅ\u212b",
        "각각 \u1100\u1161\u11a8",
    ],
    1,
    2,
)
@settings(max_examples=150)
def test_kernel_equals_its_twin(kind: int, texts: list[str], size: int, seed: int) -> None:
    assert _listed([*texts], kind, size, seed) == [shingles(text, kind, size, seed) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_longer_than_a_block_equal_the_twin(kind: int) -> None:
    draw = random.Random(kind)
    texts = ["".join(draw.choices(PIECES, k=draw.choice((700, 3 * BLOCK)))) for _ in range(6)]
    texts += ["é " * (BLOCK + 3), "ab " * (2 * BLOCK), "中" * (2 * BLOCK + 1), "don't " * BLOCK, "\u0301" * 5000]
    assert _listed([*texts], kind, 5) == [shingles(text, kind, 5, 1) for text in texts]


@pytest.mark.parametrize(
    "word", ["3.14", "e.g", "end.Next", "a._b", "__init__.x", "__", "_'a", "don't", "1,0", "a,b", "d'é"]
)
def test_what_joins_runs_does_so_wherever_64_bytes_end(word: str) -> None:
    texts = [before + tail for n in range(130) for before in [" " * n + word] for tail in ("", " b", "é")]
    assert _listed(list(texts), WORDS, 1) == [shingles(text, WORDS, 1, 1) for text in texts]


@given(st.text(CHARACTERS, max_size=30))
def test_folding_is_the_canonical_caseless_form_of_unicode(text: str) -> None:
    plain = "".join(c for c in text if unicodedata.category(c) != "Cf")
    assert folded(text) == unicodedata.normalize("NFD", unicodedata.normalize("NFD", plain).casefold())


def test_the_table_is_that_of_unicode_14() -> None:
    assert shingle_fold.FOLD_PATH.name == "char_fold_unicode14.npy"
    if unicodedata.unidata_version != "14.0.0":
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}")
    np.testing.assert_array_equal(np.load(shingle_fold.FOLD_PATH), shingle_fold.build_fold())


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        (WORDS, "Don’t stop, John's dog: 3.14!", ["don", "’t", "stop", "john", "'s", "dog", "3.14"]),
        (WORDS, "我有GPU。コード", ["我", "有", "gpu", "コ", "ー", "ト\u3099"]),
        (WORDS, "É e\u0301 ex\xadample STRASSE Straße", ["e\u0301", "e\u0301", "example", "strasse", "strasse"]),
        (WORDS, "== -- __ \ufffc", []),
        (CHUNKS, "if (x!=Y):\n\treturn  é", ["if", "(x!=Y):", "return", "é"]),
        (CHUNKS, "x=中文;y", ["x=", "中", "文", ";y"]),
        (CHARS, "  A\n\n b. ", ["a", " ", "b", "."]),
        (EXACT_CHARS, "  A\n\n é ", ["A", " ", "é"]),
    ],
)
def test_units(kind: int, text: str, found: list[str]) -> None:
    assert units(text, kind) == found
    assert len(_listed([text], kind, 1)[0]) == len(found)


@given(st.lists(TEXTS | st.none(), max_size=8), st.data())
def test_a_row_s_set_does_not_depend_on_its_batch(texts: list[str | None], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    array, spec = pa.array(texts, pa.large_string()), ShingleSpec(n=2)
    whole = _sets(array, spec)
    parts = [_sets(part, spec) for part in (array.slice(0, cut), array.slice(cut))]
    np.testing.assert_array_equal(whole.hashes, np.concatenate([part.hashes for part in parts]))
    lengths = [np.diff(part.offsets) for part in parts]
    np.testing.assert_array_equal(np.diff(whole.offsets), np.concatenate(lengths))


def test_sets_are_ascending_and_distinct_and_those_of_the_twin() -> None:
    draw = random.Random(3)
    texts = [" ".join(draw.choices("abcdef", k=k)) for k in (0, 1, 2, 3, 5000, 40_000, 7)]
    found = _sets([*texts[:3], None, *texts[3:]], ShingleSpec(n=3))
    wanted = [sorted(set(shingles(text, WORDS, 3, 1))) for text in [*texts[:3], "", *texts[3:]]]
    assert [found.row(i).tolist() for i in range(len(found))] == wanted
    assert [len(w) for w in wanted[:5]] == [0, 0, 0, 0, 1]


def test_boundaries_and_order_of_units_count() -> None:
    spec = ShingleSpec(n=2)
    sets = _sets(["ab c", "a bc", "c ab", "abc", "AB, c."], spec)
    rows = [sets.row(i).tolist() for i in range(5)]
    assert rows[0] == rows[4]
    assert rows[3] == []
    assert len({tuple(row) for row in rows[:3]}) == 3


def test_form_goes_by_domain_unless_it_is_named() -> None:
    texts = pa.array(["A (b)", "a b"] * 5, pa.large_string())
    domains = [domain for domain in ("web", "code", "math", "knowledge", None) for _ in range(2)]
    for domain in (pa.array(domains), pa.array(domains).dictionary_encode(), pa.array(domains, pa.large_string())):
        found = shingle_sets(texts, domain, ShingleSpec(n=2))
        equal = [found.row(i).tolist() == found.row(i + 1).tolist() for i in range(0, 10, 2)]
        assert equal == [True, False, False, True, True]
    for form, same in (("prose", True), ("exact", False)):
        found = shingle_sets(texts, pa.array(domains), ShingleSpec(n=2, normalise=form))
        assert {found.row(i).tolist() == found.row(i + 1).tolist() for i in range(0, 10, 2)} == {same}


def test_digits_are_kept_in_every_form() -> None:
    for domain in ("web", "code"):
        found = _sets(["version 1 of it", "version 2 of it"], ShingleSpec(n=4), domain)
        assert found.row(0).tolist() != found.row(1).tolist()


def test_room_that_runs_short_changes_nothing() -> None:
    # Each character is a shingle and no other text is shorter for them: the list starts at half of them.
    text = "".join(chr(0x4E00 + i % 20_000) for i in range(60_000))
    whole = _sets(["a b", text, "c d"], ShingleSpec("char", 2))
    assert whole.row(1).tolist() == sorted(set(shingles(text, CHARS, 2, 1)))
    korean = "한" * 30_000
    assert len(_sets([korean, korean], ShingleSpec("char", 4)).hashes) == 2 * 3


@given(st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=30), max_size=4), st.integers(1, 6))
def test_shingles_of_ids_equal_the_twin(rows: list[list[int]], size: int) -> None:
    from gristmill.stages.kernels.shingle_plain import mix64

    ids = np.array([x for row in rows for x in row], np.uint32)
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    found = shingle_sets_of_ids(ids, offsets, size, seed=9)
    unit_key, shingle_key = stream(9, 2)
    wanted = [sorted(set(shingles_of([mix64(unit_key ^ x) for x in row], size, shingle_key))) for row in rows]
    assert [found.row(i).tolist() for i in range(len(rows))] == wanted


def test_a_seed_changes_every_hash() -> None:
    one, other = (_sets(["one two three four five six"], ShingleSpec(), seed=seed) for seed in (1, 2))
    assert not set(one.hashes.tolist()) & set(other.hashes.tolist())


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (ShingleSpec(n=0), "'0'; use 1 to 1024"),
        (ShingleSpec(n=1025), "1025"),
        (ShingleSpec(unit="line"), "word, char, token"),  # type: ignore[arg-type]
        (ShingleSpec(normalise="fold"), "auto, prose, exact"),  # type: ignore[arg-type]
        (ShingleSpec(unit="token"), "tokenise first"),
    ],
)
def test_what_cannot_be_is_told(spec: ShingleSpec, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        _sets(["a"], spec)


def test_no_rows() -> None:
    for texts in ([], [""], [None]):
        found = _sets(texts, ShingleSpec())
        assert len(found.hashes) == 0
        assert found.offsets.tolist() == [0] * (len(texts) + 1)


@given(st.binary(max_size=150), st.binary(max_size=90))
def test_bytes_that_are_no_text_stay_in_their_row(raw: bytes, after: bytes) -> None:
    def listed(data: bytes, kind: int) -> list[int]:
        kinds = np.full(1, kind, np.uint8)
        kinds.flags.writeable = False
        arrays = np.frombuffer(data, np.uint8), np.frombuffer(np.array([0, len(raw)]).tobytes(), np.int64)
        listing = Listing(Rows(*arrays, kinds), 1, shingle_tables(1, 1))
        out = np.empty(2 * BLOCK, np.uint64)
        assert listing.step(out)
        return out[: listing.used].tolist()

    for kind in KINDS:
        assert listed(raw + after, kind) == listed(raw, kind)


@pytest.mark.parametrize(("unit", "n", "domain"), [("char", 8, "web"), ("word", 5, "code"), ("word", 5, "web")])
@pytest.mark.parametrize("chars", [300, 2_000, 4_300, 8_000, 20_000])
def test_texts_of_short_units_end(unit: str, n: int, domain: str, chars: int) -> None:
    """A list with room for less than a block, yet not two thirds full, never grew: small batches of letters hung."""
    letters = np.random.default_rng(chars).integers(97, 123, chars, np.uint8).tobytes().decode()
    text = letters if unit == "char" else " ".join(letters)
    texts = [text[at : at + 600] for at in range(0, len(text), 600)]
    spec = ShingleSpec(unit, n)  # type: ignore[arg-type]
    made = shingle_sets(pa.array(texts, pa.large_string()), pa.array([domain] * len(texts)), spec)
    alone = [shingle_sets(pa.array([t], pa.large_string()), pa.array([domain]), spec).row(0).tolist() for t in texts]
    assert [made.row(i).tolist() for i in range(len(texts))] == alone
