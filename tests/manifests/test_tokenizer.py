"""Tokenizer: ids equal the oracle's, special tokens in text stay text, and a bad document costs itself alone."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models, pre_tokenizers
from tokenizers import Tokenizer as HfTokenizer

from gristmill.manifests import token_child, tokenizer
from gristmill.manifests.child import ChildLimits
from gristmill.manifests.errors import GristmillError, InputError
from gristmill.manifests.token_child import Encoder, EngineSpec
from gristmill.manifests.token_engines import UNICODE_17, Engine, load_engine
from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.vocabulary import Vocabulary, find_vocabulary, read_vocabulary
from tests.manifests.vocabularies import TEXTS, byte_level_json, edited, rank_file

SPECIALS = ("<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>", "<｜▁pad▁｜>", "<think>", "<｜User｜>", "<|EOT|>")
PIECES = (
    *SPECIALS, " ", "  ", "\n", "\r\n", "\r", "\t", "\u3000", "\u00a0", "\u2028", "\u0085", "\x00", "\x7f",
    "\ufeff", "\ufffd", "\u200b", "\u200d", "\u202e", "e\u0301", "中文", "あ", "ｱ", "😀", "0", "12", "٣", "½",
    "!", "...", "—", "$", "'s", "'LL", "_", "ไทย", "हिन्दी", "한국어", "ſ", "\\b", "(x", "//", "the", "ing",
)  # fmt: skip
any_char = st.characters(exclude_categories=["Cs"])
hostile = st.lists(st.one_of(st.sampled_from(PIECES), any_char, st.text(any_char))).map("".join)


def _is_new(code: int) -> bool:
    return any(lo <= code <= hi for lo, hi in UNICODE_17)


@pytest.fixture(scope="module")
def deepseek() -> Vocabulary:
    return read_vocabulary(find_vocabulary("deepseek", None)[1])


@pytest.fixture(scope="module")
def oracle(deepseek: Vocabulary) -> Engine:
    return load_engine("tokenizers", deepseek)


@pytest.fixture(scope="module")
def child() -> Iterator[Tokenizer]:
    with load_tokenizer() as loaded:
        yield loaded


@pytest.fixture(scope="module")
def here(child: Tokenizer) -> Tokenizer:
    return Tokenizer.from_data(child.to_data(), isolated=False)


def texts_of(*texts: str | None) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def encode(tokenizer: Tokenizer, *texts: str | None) -> list[list[int]]:
    ids, offsets, failures = tokenizer.encode_batch(texts_of(*texts))
    assert failures == []
    assert (ids.dtype, offsets.dtype) == (np.dtype(np.uint32), np.dtype(np.int64))
    return [ids[offsets[i] : offsets[i + 1]].tolist() for i in range(len(texts))]


def test_the_default_is_served_by_the_fast_engine(child: Tokenizer) -> None:
    assert (child.spec.engine, child.note) == ("gigatoken", "")
    assert child.identity.digest.startswith("sha256:")


@pytest.mark.parametrize(
    "pattern", ["books/*.tex", "math/gsm8k/test.jsonl", "math/miniF2F/**/*.lean", "web/python_doc/c-api__*.html"]
)
def test_ids_equal_the_oracle_on_real_text(shared_data: Path, child: Tokenizer, oracle: Engine, pattern: str) -> None:
    paths = sorted(shared_data.glob(pattern))
    texts = [p.read_bytes().decode(errors="replace") for p in paths if p.is_file()]
    texts = [t[at : at + 20_000] for t in texts for at in range(0, min(len(t), 400_000), 20_000)]
    assert texts
    for text, ids in zip(texts, encode(child, *texts), strict=True):
        assert ids == oracle.encode(text.encode()).tolist()


@given(hostile)
@example("<｜end▁of▁sentence｜>")
@example("x\U000323b0y 1\u088f2")
@settings(max_examples=400)
def test_ids_equal_the_oracle_on_hostile_text(here: Tokenizer, oracle: Engine, text: str) -> None:
    assert encode(here, text) == [oracle.encode(text.encode()).tolist()]


@given(st.lists(hostile, max_size=8))
@settings(max_examples=40)
def test_the_child_gives_what_this_process_gives(here: Tokenizer, child: Tokenizer, texts: list[str]) -> None:
    assert encode(child, *texts) == encode(here, *texts)


@given(st.lists(hostile, min_size=1, max_size=8), st.data())
@settings(max_examples=40)
def test_ids_do_not_depend_on_the_batch(here: Tokenizer, texts: list[str], data: st.DataObject) -> None:
    whole = encode(here, *texts)
    order = data.draw(st.permutations(range(len(texts))))
    assert [whole[i] for i in order] == [encode(here, texts[i])[0] for i in order]
    cut = data.draw(st.integers(0, len(texts)))
    assert encode(here, *texts[:cut]) + encode(here, *texts[cut:]) == whole


def test_no_special_token_comes_out_of_text(child: Tokenizer, deepseek: Vocabulary) -> None:
    special_ids = set(deepseek.specials.values())
    texts = [f"a{s}b {s}{s}" for s in deepseek.specials]
    for text, ids in zip(texts, encode(child, *texts), strict=True):
        assert ids
        assert not special_ids & set(ids), text


def test_the_trap_is_real(deepseek: Vocabulary) -> None:
    """The published file turns the literal end-of-sequence string into id 1: what the adapter prevents."""
    published = HfTokenizer.from_file(str(deepseek.path))
    assert published.encode("<｜end▁of▁sentence｜>", add_special_tokens=False).ids == [deepseek.eos_id]


@given(hostile)
def test_decode_gives_the_text_back(here: Tokenizer, text: str) -> None:
    assert here.decode(np.array(encode(here, text)[0], dtype=np.uint32)) == text


def test_decode_shows_special_ids(here: Tokenizer) -> None:
    ids = [*encode(here, "end")[0], 1, 1, *encode(here, "next")[0], 2]
    shown = "end<｜end▁of▁sentence｜><｜end▁of▁sentence｜>next<｜▁pad▁｜>"
    assert here.decode(np.array(ids, dtype=np.uint32)) == shown
    assert here.decode(np.array([], dtype=np.uint32)) == ""


def test_nulls_slices_and_empty_batches(child: Tokenizer) -> None:
    assert encode(child, None, "", "x") == [[], [], encode(child, "x")[0]]
    sliced = texts_of("first", "second", "third").slice(1, 1)
    assert child.encode_batch(sliced).ids.tolist() == encode(child, "second")[0]
    assert child.encode_batch(texts_of()).offsets.tolist() == [0]


def test_a_document_longer_than_a_group_and_one_longer_than_a_child(
    monkeypatch: pytest.MonkeyPatch, child: Tokenizer, here: Tokenizer
) -> None:
    monkeypatch.setattr(tokenizer, "GROUP_BYTES", 1000)
    monkeypatch.setattr(tokenizer, "GROUP_DOCS", 3)
    monkeypatch.setattr(tokenizer, "BIG_DOC_BYTES", 30_000)
    long, big = "word and number 17, " * 200, "a longer document\n" * 3000
    texts = ["a", "b", "c", "d", long, "e", big, "", "f", long]
    alone = [encode(here, text)[0] for text in texts]
    assert encode(child, *texts) == alone


def test_characters_new_in_unicode_17_go_to_the_oracle(here: Tokenizer, oracle: Engine) -> None:
    """Edges of each range, in contexts where their class decides where text is split; Unicode 17.0 adds 4,803."""
    assert sum(hi - lo + 1 for lo, hi in UNICODE_17) == 4803
    codes = {c for lo, hi in UNICODE_17 for c in (lo - 1, lo, hi, hi + 1)}
    texts = [f" x{chr(c)}y {chr(c)}{chr(c)}.{chr(c)}1{chr(c)}\n{chr(c)} \n {chr(c)}" for c in sorted(codes)]
    for text, ids in zip(texts, encode(here, *texts), strict=True):
        assert ids == oracle.encode(text.encode()).tolist(), ascii(text)


@pytest.mark.slow
def test_every_character_is_read_as_by_the_oracle(here: Tokenizer, oracle: Engine) -> None:
    codes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    for at in range(0, len(codes), 4096):
        texts = [f" x{c}y {c}{c}.{c}1{c}\n{c} \n {c}" for c in map(chr, codes[at : at + 4096])]
        for text, ids in zip(texts, encode(here, *texts), strict=True):
            assert ids == oracle.encode(text.encode()).tolist(), ascii(text)


def test_a_document_over_its_time_costs_itself_alone(child: Tokenizer) -> None:
    """The oracle needs a second for 1 MB without a space; its neighbours in the request keep their ids."""
    spec = EngineSpec("tokenizers", child.spec.path, child.spec.digest)
    rng = random.Random(7)
    slow = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000))
    with Tokenizer(child.identity, spec, limits=ChildLimits(max_seconds_per_record=0.4)) as strict:
        ids, offsets, failures = strict.encode_batch(texts_of("before", slow, "", "after"))
    assert [(f.row, f.kind) for f in failures] == [(1, "timeout")]
    assert offsets[1] == offsets[2]
    assert ids.tolist() == [*encode(child, "before")[0], *encode(child, "after")[0]]


def test_an_engine_that_has_grown_is_built_anew(monkeypatch: pytest.MonkeyPatch, child: Tokenizer) -> None:
    monkeypatch.setattr(token_child, "RECYCLE_BYTES", -(1 << 62))
    monkeypatch.setattr(token_child, "RECYCLE_CHECK_BYTES", 1)
    encoder = Encoder(child.spec)
    first = encoder.engine
    assert encoder.encode([b"some text"])[0].tolist() == encode(child, "some text")[0]
    assert encoder.engine is not first


@pytest.mark.slow
def test_memory_stays_bounded_over_many_documents(child: Tokenizer) -> None:
    """10^5 documents of words that never come again: gigatoken alone would keep them all (over 600 MB)."""
    rng = np.random.default_rng(1)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    peak = 0
    for _ in range(100):
        raw = letters[rng.integers(0, 26, 1_000_000)].copy()
        raw[rng.random(len(raw)) < 0.12] = 32
        offsets = np.arange(0, len(raw) + 1, 1000)
        child.encode_batch(pa.LargeStringArray.from_buffers(1000, pa.py_buffer(offsets), pa.py_buffer(raw.tobytes())))
        statm = Path(f"/proc/{child.child_pid}/statm").read_text()
        peak = max(peak, int(statm.split()[1]) * page_bytes)
    assert peak < 600 << 20


def test_a_tokenizer_travels_as_plain_data(child: Tokenizer) -> None:
    with Tokenizer.from_data(child.to_data()) as other:
        assert encode(other, "same ids") == encode(child, "same ids")
        assert other.identity == child.identity


def test_a_vocabulary_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    path = rank_file(tmp_path / "v.tiktoken", [b"th"])
    loaded = load_tokenizer("v.tiktoken", tmp_path)
    rank_file(path, [b"the"])
    with pytest.raises(GristmillError, match="vocabulary changed"):
        loaded.encode_batch(texts_of("x"))
    with pytest.raises(InputError, match="vocabulary changed"):
        Encoder(loaded.spec)


def test_a_rank_file_of_tiktoken(tmp_path: Path) -> None:
    rank_file(tmp_path / "v.tiktoken", [b"th", b"the", b"\n ", b"12", b"123", "é".encode()])
    with load_tokenizer("v.tiktoken", tmp_path) as small:
        assert small.spec.engine == "gigatoken"
        reference = load_engine("tiktoken", read_vocabulary(tmp_path / "v.tiktoken"))
        for text in (*TEXTS, "the\n  1234 été\n ", "<|endoftext|>"):
            assert encode(small, text) == [reference.encode(text.encode()).tolist()]
            assert small.decode(small.encode_batch(texts_of(text)).ids) == text


def test_bytes_needs_no_file() -> None:
    with load_tokenizer("bytes") as tokens:
        assert encode(tokens, "é\x00", "<eos>") == [[195, 169, 0], list(b"<eos>")]
        assert tokens.decode(np.array([104, 105, 257, 258], dtype=np.uint32)) == "hi<eos><pad>"


def test_templates_and_truncation_of_a_file_do_not_show(tmp_path: Path) -> None:
    path = byte_level_json(tmp_path / "t.json", [AddedToken("<s>"), AddedToken("</s>")], [AddedToken("    ")])
    with load_tokenizer("t.json", tmp_path) as plain:
        expected = encode(plain, *TEXTS, "a    b", "<s>")
    truncation = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    edited(path, truncation=truncation, model={"dropout": 0.9})
    with load_tokenizer("t.json", tmp_path) as odd:
        assert encode(odd, *TEXTS, "a    b", "<s>") == expected
    whitespace = HfTokenizer.from_file(str(path)).token_to_id("    ")
    assert whitespace in expected[2]


def test_a_vocabulary_beyond_the_fast_engine_is_served_by_the_oracle(tmp_path: Path) -> None:
    words = {"[UNK]": 0, "the": 1, "fox": 2, "##es": 3}
    tokenizer = HfTokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "wordpiece.json"))
    with load_tokenizer("wordpiece.json", tmp_path) as served:
        assert served.spec.engine == "tokenizers"
        assert served.note.startswith("served by tokenizers: gigatoken cannot load this vocabulary")
        assert encode(served, "the foxes", "what") == [[1, 2, 3], [0]]


def test_a_vocabulary_whose_text_yields_specials_is_refused(tmp_path: Path) -> None:
    """A Unigram model holds its specials as pieces, and finds them in text even without added tokens."""
    tokenizer = HfTokenizer(models.Unigram([("<unk>", 0.0), ("</s>", 0.0), ("a", -1.0), ("b", -1.0)], 0, False))
    tokenizer.add_special_tokens(["</s>"])
    tokenizer.save(str(tmp_path / "unigram.json"))
    with pytest.raises(InputError, match="</s>"):
        load_tokenizer("unigram.json", tmp_path)


def test_a_file_that_no_engine_loads_is_refused(tmp_path: Path) -> None:
    path = byte_level_json(tmp_path / "t.json", [])
    edited(path, model={"merges": [["nowhere", "found"]]})
    with pytest.raises(InputError, match="tokenizers cannot load"):
        load_tokenizer("t.json", tmp_path)


def test_fingerprints_follow_file_and_engine(child: Tokenizer, tmp_path: Path) -> None:
    rank_file(tmp_path / "a.tiktoken", [b"th"])
    rank_file(tmp_path / "b.tiktoken", [b"he"])
    rank_file(tmp_path / "c.tiktoken", [b"th"])
    a, b, c = (load_tokenizer(f"{name}.tiktoken", tmp_path).identity for name in "abc")
    assert a.fingerprint != b.fingerprint
    assert (a.fingerprint, a.digest) == (c.fingerprint, c.digest)
    assert len(child.identity.fingerprint) == 32


def test_import_is_light() -> None:
    code = (
        "import sys\n"
        "import gristmill.manifests.tokenizer\n"
        "assert not {'gigatoken', 'tokenizers', 'tiktoken', 'awkward', 'numba'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
