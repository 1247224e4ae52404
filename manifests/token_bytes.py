"""How many bytes of text each id of a vocabulary stands for.

Byte-level vocabularies (rank files of tiktoken, tokenizer.json with a ByteLevel decoder, `bytes`) spell a text byte by
byte: the bytes of a document's ids add up to the document, and where they do not (an engine that normalises), nothing
can be told of it. Other vocabularies (SentencePiece's) change text at its begin and are not looked at.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.manifests.vocabulary import BYTES_SPECIALS, parse_ranks

ByteLengths = npt.NDArray[np.int32]
UNKNOWN = -1


def byte_lengths(path: Path | None, vocab_size: int) -> ByteLengths | None:
    """int32[vocab_size]: bytes of each id, UNKNOWN of those that text never yields; None where it is not byte-level.

    path: of a vocabulary that `read_vocabulary` has read, None for `bytes`. Half a second for 130,000 ids.
    """
    lengths = np.full(vocab_size, UNKNOWN, dtype=np.int32)
    if path is None:
        lengths[: min(BYTES_SPECIALS.values())] = 1
        return lengths
    raw = path.read_bytes()
    if raw.lstrip()[:1] == b"{":
        found = _of_tokenizer_json(json.loads(raw))
    else:
        found = {rank: len(token) for token, rank in parse_ranks(path, raw).items()}
    if found is None:
        return None
    lengths[np.fromiter(found, np.int64, len(found))] = np.fromiter(found.values(), np.int32, len(found))
    return lengths


def _of_tokenizer_json(document: dict[str, Any]) -> dict[int, int] | None:
    decoder = document.get("decoder") or {}
    parts = [decoder, *(decoder.get("decoders") or [])]
    vocab = document["model"]["vocab"]
    if not isinstance(vocab, dict) or not any(p.get("type") == "ByteLevel" for p in parts):
        return None
    # In the alphabet of such a vocabulary each character stands for one byte.
    found = {int(i): len(token) for token, i in vocab.items()}
    added = document.get("added_tokens") or []
    return found | {int(t["id"]): len(t["content"].encode()) if t["content"].isspace() else UNKNOWN for t in added}
