"""Small inputs that are hostile in the ways that matter, and recipes that together name every stage.

`write_corpus(folder)` is deterministic; nothing here needs the network. RECIPES are the texts that the laws run
over; `named_stages` and `named_sources` say what they name, so that a stage or source added later without a recipe is
noticed.
"""

import base64
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from gristmill.pipeline.recipe import DatasetSpec, ReadOrigin, build_recipe
from gristmill.pipeline.recipe_yaml import parse_file
from tests.laws.pictures import write_pairs
from tests.laws.samples import EVAL_SET, TINY_EMBEDDINGS, TINY_MODEL
from tests.pipeline.pictures import picture
from tests.pipeline.sources.warc_bytes import HTML_HEAD, members, record

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
    """JSONL (plain, gz, zst; bad lines, repeated keys), Parquet, Arrow, WARC, WET, HTML, text, trees, repositories."""
    for name in ("jsonl", "parquet", "arrow", "warc", "wet", "html", "text", "code/repo"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _write_jsonl(folder / "jsonl", scale)
    texts = list(documents(60 * scale))
    table = pa.table(
        {"text": pa.array(texts, pa.large_string()), "url": [f"http://x.example/{i % 50}" for i in range(len(texts))]}
    )
    pq.write_table(table, folder / "parquet" / "a.parquet", row_group_size=16)
    _write_arrow(folder / "arrow", table)
    _write_crawl(folder)
    for number in range(12):
        (folder / "html" / f"p{number:02d}.html").write_text(_page(900 + number * 7), encoding="utf-8")
    (folder / "html" / "p99.html").write_bytes(b"<html><body>" + b"\xff\xfe\x00" * 40 + b"<p>cut")
    for number in range(10):
        (folder / "text" / f"t{number}.txt").write_text(prose(300 + number, 150), encoding="utf-8")
    (folder / "text" / "bad.txt").write_bytes(b"caf\xe9 \xff\xff not utf-8" * 3)
    (folder / "text" / "empty.txt").write_bytes(b"")
    for number in range(6):
        code = f"import m{(number + 1) % 6}\n\n\ndef f{number}(x):\n    return x + {number}\n" * 8
        (folder / "code" / "repo" / f"m{number}.py").write_text(code, encoding="utf-8")
    (folder / "code" / "repo" / "blob.bin").write_bytes(bytes(range(256)) * 8)
    _write_repositories(folder / "repositories")
    _write_long(folder / "long")
    write_pairs(folder / "pairs")
    shutil.copy(TINY_EMBEDDINGS, folder / TINY_EMBEDDINGS.name)
    shutil.copy(TINY_MODEL, folder / TINY_MODEL.name)
    shutil.copy(EVAL_SET, folder / EVAL_SET.name)
    return folder


def _write_long(folder: Path) -> None:
    """Documents of several paragraphs, enough for a few sequences of 8,192 tokens; one of them twice, one empty."""
    folder.mkdir(exist_ok=True)
    texts = ["\n\n".join(prose(5000 + 40 * n + part, 60) for part in range(4 + n % 9)) for n in range(40)]
    lines = [json.dumps({"id": f"long{n}", "text": text}) for n, text in enumerate([*texts, texts[0], " "])]
    (folder / "a.jsonl").write_text("\n".join(lines[:25]) + "\n", encoding="utf-8")
    (folder / "b.jsonl").write_text("\n".join(lines[25:]) + "\n", encoding="utf-8")


def _page(seed: int) -> str:
    """Some pages show a picture, two of them the same."""
    body = "".join(f"<p>{prose(seed + i, 60)}</p>" for i in range(4))
    if seed % 3 == 0:
        data = base64.b64encode(picture(40 + seed // 20 % 3, 30, seed // 20 % 3)).decode()
        body = f'<p><img src="data:image/png;base64,{data}"> shown</p>{body}'
    return f"<!doctype html><html><head><title>t</title></head><body><nav>menu</nav><main>{body}</main></body></html>"


def _write_crawl(folder: Path) -> None:
    """WARC: pages (two of them those of `html`), a redirect, a broken head, a cut file. WET: their texts, one bad."""
    bodies = [_page(seed) for seed in (900, 907, 2000, 2010, 2020)]
    records = [record(n, HTML_HEAD + body.encode()) for n, body in enumerate(bodies)]
    records.insert(2, record(50, b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n"))
    records.insert(3, record(51, b"no head at all"))
    records.insert(4, record(52, b"GET / HTTP/1.1\r\n\r\n", "request"))
    (folder / "warc" / "a.warc.gz").write_bytes(b"".join(members(records)))
    cut = b"".join(record(60 + n, HTML_HEAD + _page(2100 + 10 * n).encode()) for n in range(2))
    (folder / "warc" / "cut.warc").write_bytes(cut[:-300])
    texts = [*(prose(2200 + n, 120).encode() for n in range(4)), "统计语言模型".encode() * 40, b"caf\xe9 \xff"]
    wet = [record(70 + n, text, "conversion") for n, text in enumerate(texts)]
    (folder / "wet" / "a.wet.gz").write_bytes(b"".join(members(wet)))


def _write_arrow(folder: Path, table: pa.Table) -> None:
    """A file, and a stream that is cut in its last batch."""
    part = table.slice(0, 24)
    with pa.ipc.new_file(folder / "a.arrow", part.schema) as writer:
        writer.write_table(part, max_chunksize=16)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, part.schema) as writer:
        writer.write_table(table.slice(24, 24), max_chunksize=8)
    (folder / "cut.arrows").write_bytes(sink.getvalue().to_pybytes()[:-100])


def _write_repositories(folder: Path) -> None:
    """Two folders whose modules import each other, with a lock file and a binary one; a file beside them."""
    for name in ("one", "two"):
        (folder / name / "src").mkdir(parents=True, exist_ok=True)
        for number in range(3):
            code = f"import m{number + 1}\n\n\ndef {name}{number}(x):\n    return x - {number}\n" * 6
            (folder / name / "src" / f"m{number}.py").write_text(code, encoding="utf-8")
        (folder / name / "poetry.lock").write_text("left out\n", encoding="utf-8")
        (folder / name / "image.bin").write_bytes(bytes(range(256)))
    (folder / "setup.py").write_text("print('alone')\n" * 9, encoding="utf-8")


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
    # Stored, not deflated: what can be read of a cut stream then is the same with every build of zlib.
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(rest, 0, mtime=0)[:-200])


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
      - encoding_repair
      - gopher_quality: {min_doc_words: 20}
      - gopher_repetition: {dup_line_frac: 0.4}
  table:
    read: {parquet: "parquet/*.parquet"}
    domain: knowledge
  notes:
    read: {text: "text/**/*.txt"}
    domain: knowledge
    steps:
      - knowledge_rules
      - repeated_sections: {min_words: 8, min_doc_chars: 100}
      - semantic_dedup: {embeddings: embeddings.parquet}
  filtered:
    read: {parquet: "parquet/*.parquet"}
    domain: web
    steps:
      - decontaminate: {against: eval.jsonl, action: cut, margin_chars: 20, min_piece_chars: 10}
      - url_lists
      - boilerplate
      - fineweb
      - refinedweb_lines
      - c4
  both:
    from: [lines, table, notes]
    steps:
      - exact_dedup
      - line_dedup
      - substring_dedup: {min_tokens: 100}
      - language
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
  crawl:
    read: {warc: "warc/*.warc*"}
    domain: web
    steps:
      - extract_html
      - quality: {model: tiny.gmq, mode: sample, alpha: 1.0}
  texts:
    read: {wet: "wet/"}
    domain: web
    steps:
      - pii
      - datatrove: {C4QualityFilter: {min_num_sentences: -1}}
  table:
    read: {arrow: "arrow/*.arrow*"}
    domain: math
    steps:
      - math_rules: {min_marks: null, min_marks_per_1000_chars: null}
  code:
    read: {tree: "code/"}
    domain: code
    steps: [repo_dedup, code_rules, secrets]
  repositories:
    read: {tree: "repositories/", whole_repo: true}
    domain: code
    steps: [code_rules]
  pairs:
    read: {parquet: "pairs/*.parquet"}
    domain: vision
    steps:
      - picture_dedup
      - render_forms: {per_record: 2}
      - render_split: {keep: [train, validation]}
      - gopher_quality: {min_doc_words: 30, min_stop_words: 0}
  all:
    from: [pages, crawl, texts, table, code, repositories, pairs]
    steps:
      - exact_dedup
      - gopher_quality: {min_doc_words: 1}
      - exact_dedup
      - minhash_dedup: {max_bucket: 3, pivots: 2, index: {save: pages}}
      - emit: {context: 512}
"""

SEQUENCES = """\
name: sequences
seed: 11
tokenizer: bytes
holdout: {frac: 0.1}
datasets:
  long:
    read: {jsonl: "long/*.jsonl"}
    domain: knowledge
  both:
    from: [long]
    steps:
      - exact_dedup
      - synth: {context: 32768, sequences: 3, modes: {task: 2, knot: 1}, max_uses: 2}
      - emit: {context: 32768}
"""

RECIPES = {"text": TEXT, "pages": PAGES, "sequences": SEQUENCES}


def _datasets() -> list[DatasetSpec]:
    recipes = [build_recipe(parse_file(text.encode(), name), Path(name), Path()) for name, text in RECIPES.items()]
    return [dataset for recipe in recipes for dataset in recipe.datasets]


def named_stages() -> set[str]:
    """Stages that the recipes name."""
    return {step.name for dataset in _datasets() for step in dataset.steps}


def named_sources() -> set[str]:
    """Sources that the recipes read."""
    return {dataset.origin.source for dataset in _datasets() if isinstance(dataset.origin, ReadOrigin)}
