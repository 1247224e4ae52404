"""Small inputs that are hostile in the ways that matter, and recipes that together name every stage.

`write_corpus(folder)` is deterministic; nothing here needs the network. RECIPES are the texts that the laws run
over; `named_stages` says which stages they name, so that a stage added later without a recipe is noticed.
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

HOSTILE = [
    "",
    " ",
    "\x00",
    "\u2028\u2029\u0085",
    "e\u0301" * 50,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 20,
    "\u202e" + "gnirts desrever",
    "ab" * 5000,
    "<|endoftext|> <\uff5cend\u2581of\u2581sentence\uff5c>",
    "\ufeffBOM inside",
    "\r\n\r\n\r\n",
    "统计语言模型" * 40,
    "नमस्ते दुनिया " * 30,
]

_WORDS = [
    "the",
    "be",
    "to",
    "of",
    "and",
    "that",
    "have",
    "with",
    "it",
    "for",
    "not",
    "on",
    "as",
    "you",
    "do",
    "at",
    "this",
    "but",
    "his",
    "by",
    "from",
    "they",
    "we",
    "say",
    "her",
    "she",
    "or",
    "an",
    "will",
    "river",
    "stone",
    "paper",
    "light",
    "morning",
    "engine",
    "theory",
    "number",
    "proof",
    "garden",
    "music",
    "history",
    "winter",
    "letter",
    "question",
    "answer",
]


def prose(seed: int, words: int) -> str:
    """English-like text that the quality rules keep; different for each seed."""
    state = seed * 2654435761 % (1 << 32) or 1
    out: list[str] = []
    for index in range(words):
        state = (state * 1664525 + 1013904223) % (1 << 32)
        word = _WORDS[(state >> 16) % len(_WORDS)]
        out.append(word.capitalize() + "" if index % 12 == 0 else word)
        if index % 12 == 11:
            out[-1] += ".\n" if index % 48 == 47 else "."
    return " ".join(out)


def documents(count: int) -> Iterator[str]:
    """Prose, hostile texts, short ones, exact duplicates."""
    for number in range(count):
        if number % 11 == 3:
            yield HOSTILE[number // 11 % len(HOSTILE)]
        elif number % 7 == 5:
            yield prose(number % 5, 90)
        else:
            yield prose(number, 40 + number * 13 % 400)


def write_corpus(folder: Path, scale: int = 1) -> Path:
    """JSONL (plain, gz, zst; bad lines, repeated keys), Parquet, HTML, text and code trees."""
    for name in ("jsonl", "parquet", "html", "text", "code/repo"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _write_jsonl(folder / "jsonl", scale)
    texts = list(documents(60 * scale))
    table = pa.table(
        {"text": pa.array(texts, pa.large_string()), "url": [f"http://x.example/{i % 50}" for i in range(len(texts))]}
    )
    pq.write_table(table, folder / "parquet" / "a.parquet", row_group_size=16)
    for number in range(12):
        body = "".join(f"<p>{prose(900 + number * 7 + i, 60)}</p>" for i in range(4))
        page = (
            f"<!doctype html><html><head><title>t</title></head><body><nav>menu</nav><main>{body}</main></body></html>"
        )
        (folder / "html" / f"p{number:02d}.html").write_text(page, encoding="utf-8")
    (folder / "html" / "p99.html").write_bytes(b"<html><body>" + b"\xff\xfe\x00" * 40 + b"<p>cut")
    for number in range(10):
        (folder / "text" / f"t{number}.txt").write_text(prose(300 + number, 150), encoding="utf-8")
    (folder / "text" / "bad.txt").write_bytes(b"caf\xe9 \xff\xff not utf-8" * 3)
    (folder / "text" / "empty.txt").write_bytes(b"")
    for number in range(6):
        code = f"import m{(number + 1) % 6}\n\n\ndef f{number}(x):\n    return x + {number}\n" * 8
        (folder / "code" / "repo" / f"m{number}.py").write_text(code, encoding="utf-8")
    (folder / "code" / "repo" / "blob.bin").write_bytes(bytes(range(256)) * 8)
    return folder


def _write_jsonl(folder: Path, scale: int) -> None:
    lines: list[bytes] = []
    for number, text in enumerate(documents(120 * scale)):
        record: dict[str, object] = {"id": f"k{number % 97}", "text": text, "extra": {"n": number}}
        lines.append(json.dumps(record, ensure_ascii=number % 2 == 0).encode())
    lines[10] = b'{"id": "bad", "text": "\xff"}'
    lines[20] = b"[1, 2]"
    lines[30] = b'{"id": "n", "text": 5}'
    lines[31] = b"garbage"
    lines[32] = b"garbage"
    third = len(lines) // 3
    (folder / "a.jsonl").write_bytes(b"\n".join(lines[:third]) + b"\n")
    middle = lines[third : 2 * third]
    members = [gzip.compress(b"\n".join(part) + b"\n", mtime=0) for part in (middle[:7], middle[7:])]
    (folder / "b.jsonl.gz").write_bytes(b"".join(members))
    rest = b"\n".join(lines[2 * third :]) + b"\n"
    (folder / "c.jsonl.zst").write_bytes(zstandard.compress(rest))
    (folder / "d.jsonl").write_bytes(b"")
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(rest, mtime=0)[:-200])


TEXT = """\
name: text
seed: 7
tokenizer: bytes
holdout: {frac: 0.1, seed: 3}
datasets:
  lines:
    read: {jsonl: "jsonl/*.jsonl*"}
    domain: web
    license: CC0-1.0
    steps:
      - gopher_quality: {min_doc_words: 20}
  table:
    read: {parquet: "parquet/*.parquet"}
    domain: knowledge
  notes:
    read: {text: "text/**/*.txt"}
    domain: knowledge
  both:
    from: [lines, table, notes]
    steps: [exact_dedup, language]
  passed:
    from: [both]
  train:
    from: [passed]
    steps:
      - emit: {context: 1024}
"""

PAGES = """\
name: pages
seed: 9
tokenizer: bytes
datasets:
  pages:
    read: {html: "html/*.html"}
    domain: web
    steps: [extract_html, gopher_quality]
  code:
    read: {tree: "code/"}
    domain: code
  all:
    from: [pages, code]
    steps:
      - exact_dedup
      - gopher_quality: {min_doc_words: 1}
      - exact_dedup
      - emit: {context: 512}
"""

RECIPES = {"text": TEXT, "pages": PAGES}


def named_stages() -> set[str]:
    """Stages that the recipes name."""
    steps = re.findall(r"steps:(.*?)(?=\n  \w|\Z)", "\n".join(RECIPES.values()), re.DOTALL)
    return set(re.findall(r"[a-z_]+", " ".join(steps)))
