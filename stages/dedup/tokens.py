"""Token ids of a column of texts, for stages that compare what a model will see.

The vocabulary is the recipe's, or the one that a stage names (`params.tokenizer_param`). A document that the tokenizer
fails on has no ids. The engine runs in a killable child, one a process, started when it is first needed.
"""

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.vocabulary import DEFAULT_NAME


class TokenIds(NamedTuple):
    """Row i has the ids `ids[offsets[i]:offsets[i + 1]]`, uint32 and int64 (n + 1)."""

    ids: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]


@functools.lru_cache(maxsize=2)
def tokenizer_of(spec: str) -> Tokenizer:
    """The tokenizer of a packaged name or an absolute path; "" is the default. Raises UsageError, InputError."""
    return load_tokenizer(spec or DEFAULT_NAME, None)


def token_ids(text: pa.Array, spec: str) -> TokenIds:
    """The ids of each row; none for nulls."""
    encoded = tokenizer_of(spec).encode_batch(text.cast(pa.large_string()))
    return TokenIds(np.ascontiguousarray(encoded.ids, np.uint32), encoded.offsets.astype(np.int64))


def fingerprint_of(spec: str) -> str:
    """What decides the ids: vocabulary, engine and rules."""
    return tokenizer_of(spec).identity.fingerprint
