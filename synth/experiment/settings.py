"""What the experiment is made of: arms, sizes of model, data and evaluation.

Arms see the same documents, in the same order of sequences: `plain` joins them, `permuted` mixes their parts, `tasks`
mixes and plants questions, `random` is `tasks` with each answer replaced by a random candidate.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gristmill.synth.protocol import Size

Arm = Literal["plain", "permuted", "tasks", "random"]
ARMS: tuple[Arm, ...] = ("plain", "permuted", "tasks", "random")

CONTEXT, SHORT = 8192, 1024
BPE_SIZE, VOCABULARY = 8128, 8192
"""Entries that the vocabulary is trained to, and rows of the model's table: what padding adds has room."""
TRAINED_FAMILIES = ("share_sum", "table_chain", "variable_chain")
HELD_OUT_FAMILIES = ("alias_hop",)
SCORED_FAMILIES = ("table_chain", "variable_chain")
"""Of the trained ones those with as many candidates as chains: a sum has all numbers below its modulus."""

ONE_HOP, TWO_HOPS, THREE_HOPS = 8, 6, 6
"""Chains of a bank, which are the candidates of its questions, for 1, 2, 3 hops."""
MODULUS = 97
"""Of the sums of one number: every number that is drawn is its own sum."""

DISTANCES = (256, 1024, 2048, 4096, 7000)
DISTANCE_EDGES = (64, 512, 1536, 3072, 5632, 8192)
"""Tokens between the farthest evidence and the answer: what questions are placed for, and the bins they fall into."""
WINDOWS = (512, 1024, 2048)

KINDS = ("ignored", "text", "record", "query", "answer", "first")
"""What a token is; `first`: the first of an answer, at which candidates differ."""
KIND_WEIGHTS = (0.0, 1.0, 0.2, 1.0, 8.0, 8.0)
"""Loss weights: secrets of records cannot be predicted, answers are few."""


@dataclass(frozen=True)
class Shape:
    """A decoder: RMSNorm, SwiGLU, rotary positions, normalised queries and keys, tied embeddings.

    `shift`: a key is mixed with that of the token before, by a learned weight a channel.
    """

    layers: int = 8
    width: int = 512
    heads: int = 8
    vocabulary: int = VOCABULARY
    theta: float = 500_000.0
    shift: bool = False


@dataclass(frozen=True)
class Data:
    """How much is made: sequences of CONTEXT tokens an arm, and sequences of each evaluation set."""

    seed: int
    sequences: int
    scored: int = 384
    documents: int = 256


@dataclass(frozen=True)
class Training:
    """`rows` sequences a step; all sequences once, or as many as `minutes` allow.

    The first `short` of the steps see each sequence as windows of SHORT tokens that cannot see each other: models learn
    to look back sooner in short windows, and steps take half as long.
    """

    minutes: float
    rows: int = 4
    rate: float = 1.5e-3
    warm_steps: int = 100
    decay: float = 0.1
    checkpoint_seconds: float = 60.0
    short: float = 0.3


def bank_size(hops: int) -> Size:
    """A bank of paths of so many hops."""
    chains = {1: ONE_HOP, 2: TWO_HOPS, 3: THREE_HOPS}[hops]
    return Size(tier=min(hops - 1, 1), chains=chains, hops=hops, asked=chains - 2, modulus=MODULUS if hops == 1 else 0)


TRAINED_HOPS: Mapping[int, tuple[int, ...]] = {0: (1, 1, 1, 2), 1: (1, 1, 1, 2, 3)}
"""Hops of the banks of a training sequence, of even and odd number."""
SCORED_HOPS = (1, 1, 2, 3)
