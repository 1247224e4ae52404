"""decontaminate: what is found, of what it is told, what is cut, what is refused."""

import gzip
import json
import random
import re
import unicodedata
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from gristmill.manifests.errors import GristmillError, InputError, UsageError
from gristmill.manifests.schema import content_hashes, document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import ChainResult, run_chain
from gristmill.stages.dedup.decontaminate import Decontaminate, unchecked_items
from tests.laws.corpora import prose
from tests.laws.running import call, json_of

ITEM = "A farmer keeps seven brown hens and sells each egg for 1,250 pence at the old market on the hill."
CHINESE = "农夫养了七只棕色的母鸡，每天在山上的旧市场卖鸡蛋，每个三便士。"
LONG = prose(77, 400)


def write_set(folder: Path, items: Sequence[Any], name: str = "eval.jsonl") -> Path:
    """A file of JSON lines."""
    path = folder / name
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
    return path


def stage(against: Path | Sequence[Path], **params: Any) -> Decontaminate:
    """The stage as a recipe makes it."""
    named = str(against) if isinstance(against, Path) else [str(path) for path in against]
    made = catalogue.load("decontaminate", {"against": named, **params}, Path())
    assert isinstance(made, Decontaminate)
    return made


def run(made: Decontaminate, texts: Sequence[str | None], meta: str | None = None) -> ChainResult:
    """The stage over some texts."""
    column = pa.array(texts, pa.large_string())
    hashes = content_hashes(column.fill_null(""), pa.nulls(len(texts), pa.list_(pa.null())))
    metas = pa.array([meta] * len(texts), pa.large_string())
    return run_chain([made], document_batch({"text": column, "content_hash": hashes, "meta": metas}))


def dropped(made: Decontaminate, texts: Sequence[str | None]) -> list[bool]:
    """Whether each text is dropped."""
    gone = {fate.row for fate in run(made, texts).fates}
    return [row in gone for row in range(len(texts))]


def test_a_copy_is_found_in_any_dress(tmp_path: Path) -> None:
    made = stage(write_set(tmp_path, [{"question": ITEM}]))
    words = ITEM.split()
    copies = [
        ITEM,
        ITEM.upper(),
        ITEM.lower().replace(" ", "\n\t "),
        re.sub(r"[.,]", "", ITEM),
        "**" + "** _".join(words) + "_!",
        ITEM.replace("a", "a\u00ad").replace("e", "\u200be"),
        unicodedata.normalize("NFD", ITEM.replace("e", "é")),
        "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in ITEM),
        f"{LONG} {ITEM} {LONG}",
        f"{LONG} {' '.join(words[:13])} {LONG}",
        f"{LONG} {' '.join(words[-13:])}",
    ]
    assert dropped(made, copies) == [True] * len(copies)
    others = ["", None, LONG, " ".join(words[:12]), " ".join(words[::-1]), "seven brown hens " * 40, words[0] * 90]
    others.append(f"{' '.join(words[:8])} other {' '.join(words[8:])} "[:60])
    assert dropped(made, others) == [False] * len(others)


def test_letters_of_scripts_without_spaces_are_words(tmp_path: Path) -> None:
    made = stage(write_set(tmp_path, [{"question": CHINESE}]))
    assert dropped(made, [CHINESE, "。".join(CHINESE), "前面" + CHINESE[:14] + "后面", CHINESE[:13]]) == [
        True,
        True,
        True,
        False,  # twelve letters, and a comma
    ]


def test_the_removal_names_item_and_n_gram(tmp_path: Path) -> None:
    path = write_set(tmp_path, [{"task_id": "other", "q": LONG}, "", {"task_id": "H/7", "q": ITEM}])
    fate = run(stage(path), [f"Before.\n{ITEM.replace(' ', chr(10)).upper()}"]).fates[0]
    assert (fate.reason, fate.measure, fate.value, fate.limit) == ("contaminated", "eval_ngrams", 8.0, 0.0)
    shown = ITEM.upper().split()[:13]
    assert fate.detail == f'eval.jsonl:3 (H/7) q: "{" ".join(shown)}" (8 of 8 n-grams)'


def test_a_short_text_is_looked_for_as_a_whole(tmp_path: Path) -> None:
    path = write_set(tmp_path, [{"q": "Who painted the ceiling of the old chapel?"}, {"q": "Who was it?", "a": "Ann"}])
    made = stage(path)
    assert dropped(
        made, ["so: who painted the ceiling of the old chapel -", "painted the ceiling of the old chapel"]
    ) == [
        True,
        False,
    ]
    assert unchecked_items(made) == ["eval.jsonl:2"]
    with pytest.warns(UserWarning, match=r"cannot find 1 of 2 items.*eval\.jsonl:2"):
        made.prepare()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stage(path, min_words=3).prepare()
    assert dropped(stage(path, min_words=3), ["who WAS it"]) == [True]


def test_limits(tmp_path: Path) -> None:
    words = prose(5, 32).split()
    path = write_set(tmp_path, [{"q": " ".join(words)}])
    texts = [" ".join(words[:size]) for size in (12, 13, 14, 22, 23, 32)]
    assert dropped(stage(path, max_ngrams=1), texts) == [False, False, True, True, True, True]
    assert dropped(stage(path, min_item_frac=0.5), texts) == [False, False, False, True, True, True]
    assert dropped(stage(path, min_item_frac=1.0), texts) == [False, False, False, False, False, True]
    measures = run(stage(path, min_item_frac=0.5), texts).steps[0].measures
    assert measures["eval_item_frac"].tolist() == [0, 0.05, 0.1, 0.5, 0.55, 1]
    assert measures["eval_ngrams"].tolist() == [0, 0, 0, 10, 11, 20]


def test_what_many_items_share_is_not_looked_for(tmp_path: Path) -> None:
    prompt = "Answer the following question about the text above and give one letter only please:"
    items = [{"prompt": f"{prompt} {prose(n, 20)}"} for n in range(6)]
    path = write_set(tmp_path, items)
    texts = [prompt, prose(3, 20)]
    assert dropped(stage(path), texts) == [True, True]
    assert dropped(stage(path, ignore_above=5), texts) == [False, True]
    assert dropped(stage(path, ignore_above=6), texts) == [True, True]
    known = tmp_path / "known.txt.gz"
    known.write_bytes(gzip.compress(prompt.encode()))
    assert dropped(stage(path, ignore=[str(known)]), texts) == [False, True]
    with pytest.raises(UsageError, match="every n-gram is ignored"):
        stage(write_set(tmp_path, [{"p": prompt}], "one.jsonl"), ignore=[str(known)]).prepare()


def test_files_of_every_kind(tmp_path: Path) -> None:
    items = [{"id": n, "q": {"parts": [prose(n, 30), prose(n + 50, 30)]}, "n": 3, "none": None} for n in range(4)]
    raw = write_set(tmp_path, items[:1]).read_bytes()
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"\n") + gzip.compress(json.dumps(items[1]).encode()))
    (tmp_path / "c").write_bytes(zstandard.compress(json.dumps(items[2]).encode() + b"\r\n") + zstandard.compress(raw))
    pq.write_table(pa.table({"id": [3], "q": [items[3]["q"]]}), tmp_path / "d.parquet")
    made = stage([tmp_path / name for name in ("eval.jsonl", "b.gz", "c", "d.parquet")])
    made.prepare()
    fates = run(made, [prose(n + 50, 30) for n in range(4)]).fates
    names = [re.split(': "', fate.detail)[0] for fate in fates]
    assert names == ["eval.jsonl:1 (0) q.parts", "b.gz:2 (1) q.parts", "c:1 (2) q.parts", "d.parquet:1 (3) q.parts"]


def test_only_the_fields_that_are_named(tmp_path: Path) -> None:
    path = write_set(tmp_path, [{"q": prose(1, 30), "passage": prose(2, 30)}])
    assert dropped(stage(path, fields=["q"]), [prose(1, 30), prose(2, 30)]) == [True, False]


@pytest.mark.parametrize(
    ("content", "params", "told"),
    [
        (b"", {}, "without text"),
        (b"\n\n", {}, "without text"),
        (b'{"n": 5, "q": " "}\n', {}, "without text"),
        (b'{"q": "a"}\n{"q": \n', {}, "line 2: not JSON"),
        (b'{"q": "\xff"}\n', {}, "line 1: not JSON"),
        (b'["a", "b"]\n', {}, "line 1: an item is a JSON object"),
        (b'{"q": "too few words"}\n', {}, "nothing to look for"),
        (b'{"q": "too few words"}\n', {"fields": ["question"]}, "the items have q"),
        (b"\x1f\x8b\x08broken", {}, "cannot be read"),
        (gzip.compress(b'{"q": "a b c d e f g h i j"}\n')[:-9], {}, "cannot be read"),
        (b"\x28\xb5\x2f\xfdbroken", {}, "cannot be read"),
        (b"PAR1broken", {}, "cannot be read"),
        (json.dumps({"q": ITEM}).encode(), {"max_ngrams": 8}, "no item can be found"),
    ],
)
def test_a_set_that_cannot_serve_is_told_before_any_work(
    tmp_path: Path, content: bytes, params: dict[str, Any], told: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(GristmillError, match=told) as error:
        stage(path, **params).prepare()
    assert isinstance(error.value, InputError | UsageError)
    assert error.value.remedy


def test_a_second_file_without_text_or_field_is_told(tmp_path: Path) -> None:
    good, bad = write_set(tmp_path, [{"q": ITEM}]), write_set(tmp_path, [{"n": 1}], "bad.jsonl")
    with pytest.raises(InputError, match=r"bad\.jsonl: an evaluation file without text"):
        stage([good, bad]).prepare()
    with pytest.raises(UsageError, match=r"no evaluation item has this field.*answer"):
        stage(good, fields=["q", "answer"]).prepare()


@pytest.mark.parametrize(
    "params",
    [{"ngram": 0}, {"ngram": 129}, {"min_words": 0}, {"min_item_frac": 1.5}, {"max_ngrams": -1}, {"margin_chars": -1}],
)
def test_parameters_out_of_range(tmp_path: Path, params: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="out of range"):
        stage(write_set(tmp_path, [{"q": ITEM}]), **params)


def test_what_decides_is_the_content_of_the_files(tmp_path: Path) -> None:
    one, two = write_set(tmp_path, [{"q": ITEM}]), write_set(tmp_path, [{"q": ITEM}], "renamed.jsonl")
    prints = [catalogue.stage_fingerprint(stage(path)) for path in (one, two)]
    assert prints[0] == prints[1]
    write_set(tmp_path, [{"q": LONG}])
    assert catalogue.stage_fingerprint(stage(one)) != prints[0]
    assert dropped(stage(one), [ITEM, LONG]) == [False, True]


def test_passages_are_cut_on_characters_and_noted(tmp_path: Path) -> None:
    path = write_set(tmp_path, [{"id": 9, "q": ITEM}])
    before, behind = "vorher €é" * 60, "中文" * 200
    made = stage(path, action="cut")
    result = run(made, [f"{before} {ITEM} \ufffc {behind}", LONG], '{"src": {"a": 1}}')
    assert result.fates == []
    assert result.kept.column("text").to_pylist() == [f"{before[:-199]}\n\ufffc{behind[196:]}", LONG]
    step = result.steps[0]
    cut = len(ITEM) + 398  # the full stop is in the margin, the medium stays
    assert step.cut_chars["contaminated_passage"].tolist() == [cut, 0]
    assert step.cut_chars["passage_gap"].tolist() == [-1, 0]
    assert (step.chars_in - step.chars_out).tolist() == [cut - 1, 0]
    meta = json.loads(result.kept.column("meta")[0].as_py())
    ngram = " ".join(ITEM.split()[:13])
    note = {"item": "eval.jsonl:1 (9)", "field": "q", "ngram": ngram, "chars": cut}
    assert meta == {"src": {"a": 1}, "decontaminate": [note]}
    assert result.kept.column("meta")[1].as_py() == '{"src": {"a": 1}}'


def test_cut_drops_what_is_cut_to_nothing_or_pieces(tmp_path: Path) -> None:
    path = write_set(tmp_path, [{"q": ITEM}])
    filler = prose(8, 150)
    texts = [ITEM, "x" * 398 + " " + ITEM, "x" * 399 + " " + ITEM, " ".join([filler, ITEM] * 10 + [filler])]
    texts.append(" ".join([filler, ITEM] * 11 + [filler]))
    assert dropped(stage(path, action="cut"), texts) == [True, True, False, False, True]
    # Between the pieces that are left, no passage of words stands: the item in halves around another copy.
    halves = f"{ITEM[:60]} {ITEM} {ITEM[60:]}"
    assert dropped(stage(path, action="cut", margin_chars=0, min_piece_chars=0), [halves]) == [True]


def test_cut_keeps_what_is_under_the_limits(tmp_path: Path) -> None:
    words = ITEM.split()
    path = write_set(tmp_path, [{"q": ITEM}, {"q": prose(3, 40)}])
    text = f"{' '.join(words[:13])} and {LONG} {prose(3, 40)} {LONG}"
    made = stage(path, action="cut", min_item_frac=0.5, margin_chars=0)
    kept = run(made, [text]).kept.column("text")[0].as_py()
    assert kept == f"{' '.join(words[:13])} and {LONG} \n {LONG}"


def test_places_of_a_repository_move(tmp_path: Path) -> None:
    made = stage(write_set(tmp_path, [{"q": ITEM}]), action="cut", margin_chars=0, min_piece_chars=0)
    one, two = f"a\n{ITEM}\nb", "two"
    meta = {
        "r": {
            "files": [{"path": "1", "start": 0, "end": len(one)}, {"path": "2", "start": len(one), "end": len(one) + 3}]
        }
    }
    result = run(made, [one + two], json.dumps(meta))
    text, files = result.kept.column("text")[0].as_py(), json.loads(result.kept.column("meta")[0].as_py())["r"]["files"]
    assert [text[file["start"] : file["end"]] for file in files] == ["a\n\n.\nb", two]


def test_half_a_problem_and_whole_ones_of_gsm8k(shared_data: Path) -> None:
    """Against a brute force that shares neither tokenizer nor hash: sets of joined words by a regular expression."""
    path = shared_data / "math" / "gsm8k" / "test.jsonl"
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    draw = random.Random(4)
    texts = [_dressed(item["question"], draw) for item in draw.sample(items, 150)]
    texts += [" ".join(item["question"].split()[: draw.randint(5, 30)]) for item in draw.sample(items, 150)]
    texts += [f"{prose(n, 200)} {item['answer']} {prose(n + 1, 300)}" for n, item in enumerate(draw.sample(items, 50))]
    texts += [prose(n, 300) for n in range(100)]
    wanted = set[str]()
    for item in items:
        for text in item.values():
            wanted |= _brute(text)
    expected = [bool(_probed(text) & wanted) for text in texts]
    assert dropped(stage(path), texts) == expected
    assert all(expected[:150])
    assert 20 < sum(expected[150:300]) < 150
    assert not any(expected[-100:])


def _dressed(text: str, draw: random.Random) -> str:
    words = text.split()
    words = [word.upper() if draw.random() < 0.3 else word for word in words]
    gaps = [draw.choice([" ", "  ", "\n", "\t", " - "]) for _ in words]
    return prose(draw.randint(0, 99), 90) + " " + "".join(w + g for w, g in zip(words, gaps, strict=True)) + LONG


def _plain_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", re.sub("['\u2018\u2019]", "", text)).casefold()
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain)
    return re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c)))


def _brute(text: str) -> set[str]:
    words = _plain_words(text)
    size = min(13, len(words))
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)} if size >= 8 else set()


def _probed(text: str) -> set[str]:
    words = _plain_words(text)
    return {" ".join(words[i : i + size]) for size in range(8, 14) for i in range(len(words) - size + 1)}


def test_what_stands_in_its_own_corpus_is_found_whole(shared_data: Path) -> None:
    """Every item of GSM8K is found in itself, with all its n-grams; the texts too short to be found are told."""
    path = shared_data / "math" / "gsm8k" / "test.jsonl"
    questions = [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()]
    made = stage(path)
    assert unchecked_items(made) == []
    result = run(made, questions)
    assert len(result.fates) == len(questions)
    assert (result.steps[0].measures["eval_item_frac"] == 1).all()


def test_a_long_document_needs_no_memory_of_its_own(tmp_path: Path) -> None:
    import tracemalloc

    path = write_set(tmp_path, [{"q": ITEM}])
    made = stage(path)
    made.prepare()
    text = (LONG + " ") * 4000 + ITEM
    column = pa.array([text], pa.large_string())
    batch = document_batch({"text": column})
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    mapped = made.transform(batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(mapped.verdicts) == 1
    assert peak < len(text) // 4
    assert pa.total_allocated_bytes() - before < len(text) // 4


def test_the_command_shows_item_and_n_gram(tmp_path: Path) -> None:
    write_set(tmp_path, [{"id": "farm", "q": ITEM}])
    page = tmp_path / "page.txt"
    page.write_text(f"{LONG}\n{ITEM}\n", encoding="utf-8")
    against = f"decontaminate.against={tmp_path / 'eval.jsonl'}"
    done = call("stage", "judge", "decontaminate", page, "--set", against, "--json")
    assert done.returncode == 0, done.stderr
    assert "eval.jsonl:1 (farm) q: " in json.dumps(json_of(done))
    missing = call("stage", "judge", "decontaminate", page, "--set", "decontaminate.against=/nowhere.jsonl")
    assert missing.returncode == 3
    assert np.char.count(missing.stderr, "Traceback") == 0
