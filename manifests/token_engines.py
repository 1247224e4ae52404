"""Engines that turn UTF-8 into ids, one adapter for each library, all behind one shape.

`tokenizers` and `tiktoken` are the oracles: they define the ids of a vocabulary. `gigatoken` is 50 to 100 times
as fast and is used where it agrees with the oracle on `PROBE`; a vocabulary that it cannot load or reads
differently is left to its oracle. One difference is known and handled: gigatoken's tables follow Unicode 17.0,
those of the oracles Unicode 16.0, so documents that hold a character new in 17.0 go to the oracle.
"""

from importlib.metadata import version
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from gristmill.manifests.vocabulary import Vocabulary, parse_ranks

Ids = npt.NDArray[np.uint32]
EngineName = Literal["gigatoken", "tokenizers", "tiktoken", "bytes"]

UNICODE_17 = (
    (0x88F, 0x88F), (0xC5C, 0xC5C), (0xCDC, 0xCDC), (0x1ACF, 0x1ADD), (0x1AE0, 0x1AEB), (0x20C1, 0x20C1),
    (0x2B96, 0x2B96), (0xA7CE, 0xA7CF), (0xA7D2, 0xA7D2), (0xA7D4, 0xA7D4), (0xA7F1, 0xA7F1),
    (0xFBC3, 0xFBD2), (0xFD90, 0xFD91), (0xFDC8, 0xFDCE), (0x10940, 0x10959), (0x10EC5, 0x10EC7),
    (0x10ED0, 0x10ED8), (0x10EFA, 0x10EFB), (0x11B60, 0x11B67), (0x11DB0, 0x11DDB), (0x11DE0, 0x11DE9),
    (0x16EA0, 0x16EB8), (0x16EBB, 0x16ED3), (0x16FF2, 0x16FF6), (0x187F8, 0x187FF), (0x18D09, 0x18D1E),
    (0x18D80, 0x18DF2), (0x1CCFA, 0x1CCFC), (0x1CEBA, 0x1CED0), (0x1CEE0, 0x1CEF0), (0x1E6C0, 0x1E6DE),
    (0x1E6E0, 0x1E6F5), (0x1E6FE, 0x1E6FF), (0x1F6D8, 0x1F6D8), (0x1F777, 0x1F77A), (0x1F8D0, 0x1F8D8),
    (0x1FA54, 0x1FA57), (0x1FA8A, 0x1FA8A), (0x1FA8E, 0x1FA8E), (0x1FAC8, 0x1FAC8), (0x1FACD, 0x1FACD),
    (0x1FAEA, 0x1FAEA), (0x1FAEF, 0x1FAEF), (0x1FBFA, 0x1FBFA), (0x2B73A, 0x2B73F), (0x2CEA2, 0x2CEAD),
    (0x323B0, 0x33479),
)  # fmt: skip
"""Inclusive ranges of the 4,803 characters added by Unicode 17.0 (DerivedAge.txt)."""

PROBE = (
    "",
    " ",
    "The quick brown fox\njumps  over\tthe lazy dog.\r\n\r\n   It's 1234567 o'clock, isn't it?  ",
    'def f(x: int) -> str:\n    return f"{x!r:>10}"  # \\n \\t\n\n\n\tif x<=0x1F: pass\n',
    "L'été à Genève, naïve façade; Straße; Ελληνικά; Русский язык; اللغة العربية; עִבְרִית; हिन्दी भाषा; ภาษาไทย",
    "中文分词，没有空格。日本語のテキスト、カタカナ。한국어 텍스트. 𠀀𪚥",
    "😀👨‍👩‍👧‍👦🏳️‍🌈 e\u0301 \u200b\u200d\ufeff\u202e x\u00a0y\u2003z \u2028\u2029\u0085 \x00\x01\x7f",
    "²½Ⅷ٣४ 10,000.5e-3 ≠ ∑∫√∞ x² \\frac{1}{2} $a_{i}$ <a href='x'>&amp;</a> ... !!! --- ''' \"\"\"",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa          \n\n\n\n\n\n   \n\t\t\t\t",
)
"""Texts on which, beside those of added tokens, gigatoken must agree with the oracle before it is used."""


class Engine(Protocol):
    """One library with one vocabulary loaded."""

    def encode(self, utf8: bytes) -> Ids:
        """Ids of one document, no special token among them."""
        ...

    def decode(self, ids: Ids) -> bytes:
        """UTF-8 (perhaps cut inside a character) of ids of the model's own vocabulary."""
        ...


class _Bytes:
    def encode(self, utf8: bytes) -> Ids:
        return np.frombuffer(utf8, dtype=np.uint8).astype(np.uint32)

    def decode(self, ids: Ids) -> bytes:
        return ids.astype(np.uint8).tobytes()


class _Gigatoken:
    def __init__(self, vocabulary: Vocabulary) -> None:
        from gigatoken.gigatoken_rs import BPETokenizer, load_hf_json

        scheme = vocabulary.scheme
        if scheme is None:
            self._model: Any = load_hf_json(vocabulary.data)
        else:
            self._model = BPETokenizer.from_tiktoken(str(vocabulary.path), scheme.fast_name, None)

    def encode(self, utf8: bytes) -> Ids:
        return self._model.encode(utf8)

    def decode(self, ids: Ids) -> bytes:
        return self._model.decode(ids)


class _Tokenizers:
    def __init__(self, vocabulary: Vocabulary) -> None:
        from tokenizers import Tokenizer

        self._model = Tokenizer.from_str(vocabulary.data.decode())

    def encode(self, utf8: bytes) -> Ids:
        encoding = self._model.encode_batch_fast([utf8.decode()], add_special_tokens=False)[0]
        return np.array(encoding.ids, dtype=np.uint32)

    def decode(self, ids: Ids) -> bytes:
        return self._model.decode(ids.tolist(), skip_special_tokens=False).encode()


class _Tiktoken:
    def __init__(self, vocabulary: Vocabulary) -> None:
        from tiktoken import Encoding

        assert vocabulary.path is not None
        assert vocabulary.scheme is not None
        ranks = parse_ranks(vocabulary.path, vocabulary.data)
        pattern = vocabulary.scheme.pattern
        self._model = Encoding("vocabulary", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def encode(self, utf8: bytes) -> Ids:
        return np.array(self._model.encode_ordinary(utf8.decode()), dtype=np.uint32)

    def decode(self, ids: Ids) -> bytes:
        return self._model.decode_bytes(ids.tolist())


_ENGINES = {"gigatoken": _Gigatoken, "tokenizers": _Tokenizers, "tiktoken": _Tiktoken}


def load_engine(name: EngineName, vocabulary: Vocabulary) -> Engine:
    """Build an engine. Raises whatever the library raises for a file that it cannot use."""
    return _Bytes() if name == "bytes" else _ENGINES[name](vocabulary)


def oracle_name(vocabulary: Vocabulary) -> EngineName:
    """The engine that defines the ids of a vocabulary."""
    names: dict[str, EngineName] = {"tokenizer_json": "tokenizers", "tiktoken": "tiktoken", "bytes": "bytes"}
    return names[vocabulary.format]


def engine_version(name: EngineName) -> str:
    """Version of the library; "1" for `bytes`, which has none."""
    return "1" if name == "bytes" else version(name)


def fault_of_oracle(vocabulary: Vocabulary) -> str:
    """Why ids of the oracle would not be what they must be, as a clause; "" when they are."""
    oracle = load_engine(oracle_name(vocabulary), vocabulary)
    for text, special in vocabulary.specials.items():
        if special in oracle.encode(text.encode("utf-8", "replace")).tolist():
            return f"text can yield the special token {text!r} of this vocabulary"
    for text, word in vocabulary.words.items():
        if word not in oracle.encode(text.encode("utf-8", "replace")).tolist():
            return f"the added token {text!r} of this vocabulary is not found in text"
    return ""


def misread_by_gigatoken(vocabulary: Vocabulary) -> str:
    """A text of PROBE, or with an added token, of which gigatoken makes other ids than the oracle; else ""."""
    oracle = load_engine(oracle_name(vocabulary), vocabulary)
    fast = load_engine("gigatoken", vocabulary)
    added = (f"a{text}b {text}" for text in (*vocabulary.specials, *vocabulary.words))
    for text in (*PROBE, *added):
        utf8 = text.encode("utf-8", "replace")
        if not np.array_equal(fast.encode(utf8), oracle.encode(utf8)):
            return text
    return ""


def unicode_17_pattern() -> str:
    """An RE2 character class of UNICODE_17."""
    return "[" + "".join(f"\\x{{{lo:x}}}-\\x{{{hi:x}}}" for lo, hi in UNICODE_17) + "]"
