"""Documents to make sequences of: prose and code in generated words, the same everywhere."""

from functools import cache

import pyarrow as pa
from blake3 import blake3

from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared, Source, prepare
from gristmill.synth.build import build, plans
from gristmill.synth.order import Mode
from gristmill.synth.plan import ALL, SynthParams, content_order

_WORDS = """river stone under bridge carry letter morning winter garden copper engine window harvest market seldom often
quiet bright narrow answer measure gather follow between without nearly because although copy number value silver"""
WORDS = tuple(_WORDS.split())
SUMS = ("share_sum", "version_track")
"""The families of the row that most tests damage."""


def tokenizer(name: str = "deepseek") -> Tokenizer:
    return _tokenizer(name)


@cache
def _tokenizer(name: str) -> Tokenizer:
    return load_tokenizer(name, isolated=False)


def form(context: int, name: str = "deepseek") -> TrainerFormat:
    return form_of(tokenizer(name), context)


def form_of(chosen: Tokenizer, context: int) -> TrainerFormat:
    return TrainerFormat(context, chosen.identity, "")


def source(text: str, number: int = 0, domain: str = "web", cluster: bytes | None = None) -> Source:
    digest = blake3(text.encode() + number.to_bytes(4, "big")).digest(16)
    return Source(f"{number:032x}", "test", domain, "CC0-1.0", digest, cluster or digest, text)


def prose(draws: Draws, paragraphs: int) -> str:
    return "\n\n".join(
        " ".join(
            " ".join(draws.pick(WORDS) for _ in range(draws.integer(5, 14))).capitalize() + "."
            for _ in range(draws.integer(2, 9))
        )
        for _ in range(paragraphs)
    )


def code(draws: Draws, functions: int) -> str:
    return "\n\n\n".join(
        f"def {draws.pick(WORDS)}_{i}(x):\n"
        + "".join(f"    {draws.pick(WORDS)} = x + {draws.integer(0, 999)}\n\n" for _ in range(draws.integer(2, 12)))
        + f"    return {draws.pick(WORDS)}"
        for i in range(functions)
    )


def documents(tokens: int, name: str = "deepseek") -> tuple[Prepared, ...]:
    """Prose and code of at least so many tokens in all, in documents of 500 to 40,000."""
    return _documents(tokens, name)


@cache
def _documents(tokens: int, name: str) -> tuple[Prepared, ...]:
    draws = Draws("test corpus")
    found: list[Prepared] = []
    while sum(doc.total for doc in found) < tokens:
        number = len(found)
        size = draws.pick((8, 30, 120, 400))
        text = code(draws, size) if number % 3 == 2 else prose(draws, size)
        prepared, refused = prepare([source(text, number, "code" if number % 3 == 2 else "web")], tokenizer(name))
        assert not refused
        found += prepared
    return tuple(found)


def made(context: int, mode: Mode = "task", name: str = "deepseek", families: tuple[str, ...] = ALL) -> pa.RecordBatch:
    """A sequence of its own documents."""
    return _made(context, mode, name, families)


@cache
def _made(context: int, mode: Mode, name: str, families: tuple[str, ...]) -> pa.RecordBatch:
    params = SynthParams(context=context, sequences=1, seed=5, modes={mode: 1}, families=families)
    docs = documents(3 * context, name)
    (plan,) = plans(params, docs, tokenizer(name))
    return build(plan, params, content_order(docs), tokenizer(name), form(context, name))
