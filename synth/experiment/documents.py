"""The text of the experiment, and a vocabulary of its own.

In: a folder of Parquet files of documents (columns id, domain, source, license, content_hash, text), or `stdlib`, the
sources of the running Python. Out: `Source` documents of at most MAX_CHARS characters, cut at blank lines, every
HELD_OUT_PART-th document held out by its content hash; and a byte-level BPE `tokenizer.json`.
"""

import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import ID_BYTES
from gristmill.render.draws import Draws
from gristmill.synth import grammar
from gristmill.synth.atoms import Source
from gristmill.synth.experiment.settings import BPE_SIZE, TRAINED_FAMILIES, bank_size
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.lexicon import names

STDLIB = "stdlib"
MAX_CHARS = 12_000
MIN_CHARS = 400
HELD_OUT_PART = 20
END = "<|endoftext|>"
SAMPLE_RECORDS = 4000
SAMPLE_NAMES, NAMES_AT_ONCE = 60_000, 500
"""Invented names in the vocabulary's training: without them a name is five or six tokens, with them three or four."""

PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)| ?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""That of cl100k, but for digits in pairs (the first pair of a number tells candidates apart) and no sign before
words, so that a name has few spellings. Breaks behind blank lines, as joins need."""


def read_documents(corpus: str, limit: int | None = None) -> tuple[list[Source], list[Source]]:
    """Documents to train on and held-out ones, both in content order. Raises InputError where there is no text."""
    found = _stdlib() if corpus == STDLIB else _parquet(Path(corpus))
    parts = {part.content_hash: part for whole in found for part in _parts(*whole)}
    ordered = [parts[key] for key in sorted(parts)][:limit]
    held = {d.id for d in ordered if int.from_bytes(blake3(_origin(d).encode()).digest(8), "big") % HELD_OUT_PART == 0}
    if not ordered:
        raise InputError("no text to make sequences of", corpus, remedy="name a folder of Parquet files, or stdlib")
    return [d for d in ordered if d.id not in held], [d for d in ordered if d.id in held]


def _origin(part: Source) -> str:
    """The document that a part was cut from: parts of one are on one side."""
    return part.id.rsplit("#", 1)[0]


Whole = tuple[str, str, str, str]
"""id, domain, license, text"""


def _stdlib() -> Iterator[Whole]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.glob("*.py")) + sorted(root.glob("[a-z]*/*.py")):
        if "site-packages" not in path.parts and "test" not in path.parts:
            yield str(path.relative_to(root)), "code", "PSF-2.0", path.read_text(encoding="utf-8", errors="replace")


def _parquet(folder: Path) -> Iterator[Whole]:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise InputError("no Parquet files", str(folder), remedy="name a folder of documents, such as demo/out/corpus")
    for path in files:
        rows: list[dict[str, Any]] = pq.read_table(path, columns=["id", "domain", "license", "text"]).to_pylist()
        for row in rows:
            yield row["id"], row["domain"] or "web", row["license"] or "", row["text"]


def _parts(name: str, domain: str, licence: str, text: str) -> Iterator[Source]:
    start, number = 0, 0
    while start < len(text):
        cut = text.rfind("\n\n", start + MAX_CHARS // 2, start + MAX_CHARS)
        stop = len(text) if len(text) - start <= MAX_CHARS or cut < 0 else cut + 2
        part = text[start:stop].strip()
        if len(part) >= MIN_CHARS:
            digest = blake3(part.encode("utf-8", "replace")).digest(ID_BYTES)
            yield Source(f"{name}#{number}", "experiment", domain, licence, digest, digest, part)
        start, number = stop, number + 1


def train_vocabulary(sources: Sequence[Source], path: Path, invented: int = SAMPLE_NAMES) -> None:
    """Write a BPE vocabulary of the documents, of records in the training wording and `invented` names, to `path`."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    made: Any = Tokenizer(models.BPE())
    split: Any = pre_tokenizers.Split(Regex(PATTERN), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=BPE_SIZE, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([*(s.text for s in sources), *_sample_records(), *_sample_names(invented)], trainer)
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(str(path))


def _sample_records() -> Iterator[str]:
    """Records and questions in the training wording, whose words and syllables deserve tokens."""
    draws = Draws("experiment vocabulary")
    for name in TRAINED_FAMILIES:
        family, size = FAMILIES[name], bank_size(1)
        for _ in range(SAMPLE_RECORDS // len(TRAINED_FAMILIES) // size.chains):
            bank = family.build(size, names(draws, family.names_needed(size), lambda _: set()), draws)
            for fact, question in zip(bank.facts, bank.questions, strict=True):
                record = draws.pick(grammar.records_of(family.wording, "train"))
                yield grammar.fill(grammar.record_template(family.wording, record), fact.slots, draws)
                ask = grammar.ask_template(family.wording, draws.pick(grammar.ASKS_OF["train"]))
                yield grammar.fill(ask, question.slots, draws)


def _sample_names(count: int) -> Iterator[str]:
    draws = Draws("experiment names")
    for _ in range(count // NAMES_AT_ONCE):
        found = names(draws, NAMES_AT_ONCE, lambda _: set())
        yield " ".join(found) + "\n" + "\n".join(found)
