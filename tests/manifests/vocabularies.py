"""Small vocabularies that tests make themselves with the real libraries."""

import base64
import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

TEXTS = (
    "The quick brown fox jumps over the lazy dog. Isn't it? 1234567 times, at least.\n\n    def f(x):\n\treturn x\n",
    "L'été à Genève; Straße; Ελληνικά; русский язык; 中文分词，日本語。 😀👨‍👩‍👧 e\u0301\u00a0x\u2003y\n",
)


def byte_level_json(path: Path, specials: list[AddedToken], words: list[AddedToken] | None = None) -> Path:
    """A tokenizer.json of the common kind: byte-level BPE of 600 ids, with added tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXTS * 3, trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer.add_special_tokens(specials)
    tokenizer.add_tokens(words or [])
    tokenizer.save(str(path))
    return path


def edited(path: Path, **parts: Any) -> Path:
    """The tokenizer.json with some of its parts replaced; `model` is updated instead."""
    document = json.loads(path.read_text())
    document["model"].update(parts.pop("model", {}))
    document.update(parts)
    path.write_text(json.dumps(document))
    return path


def rank_file(path: Path, further: list[bytes], order: range = range(256)) -> Path:
    """A rank file with the given single bytes and further tokens."""
    tokens = [bytes([b]) for b in order] + further
    lines = (base64.b64encode(t) + b" %d\n" % rank for rank, t in enumerate(tokens))
    path.write_bytes(b"".join(lines))
    return path
