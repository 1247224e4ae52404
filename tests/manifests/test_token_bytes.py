"""The bytes of ids add up to the text for byte-level vocabularies; others say that nothing is known."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import AddedToken

from gristmill.manifests.token_bytes import UNKNOWN, byte_lengths
from gristmill.manifests.tokenizer import load_tokenizer
from tests.manifests.vocabularies import TEXTS, byte_level_json, edited, rank_file

WORDS = [AddedToken("  \n", normalized=False)]
MAKE: dict[str, Callable[[Path], str]] = {
    "deepseek": lambda folder: "deepseek",
    "bytes": lambda folder: "bytes",
    "json": lambda folder: str(byte_level_json(folder / "t.json", [AddedToken("<eos>")], WORDS)),
    "ranks": lambda folder: str(rank_file(folder / "t.tiktoken", [b"th", b"the", b" the"])),
}


@pytest.mark.parametrize("name", MAKE)
def test_the_bytes_of_ids_are_those_of_the_text(name: str, tmp_path: Path) -> None:
    texts = [*TEXTS, "a  \n b", "<eos> is text"]
    with load_tokenizer(MAKE[name](tmp_path)) as tokenizer:
        encoded = tokenizer.encode_batch(pa.array(texts, pa.large_string()))
        lengths = tokenizer.byte_lengths()
        identity = tokenizer.identity
    assert lengths is not None and len(lengths) == identity.vocab_size
    sums = [lengths[encoded.ids[a:b]].sum() for a, b in zip(encoded.offsets, encoded.offsets[1:], strict=False)]
    assert sums == [len(t.encode()) for t in texts]
    assert (lengths[encoded.ids] > 0).all()
    assert lengths[identity.pad_id] == UNKNOWN


def test_a_vocabulary_that_is_not_byte_level_tells_nothing(tmp_path: Path) -> None:
    path = byte_level_json(tmp_path / "t.json", [])
    assert np.any(byte_lengths(path, 700) != UNKNOWN)
    assert byte_lengths(edited(path, decoder={"type": "Metaspace"}), 700) is None
