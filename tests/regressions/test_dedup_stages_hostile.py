"""Faults that attacks on the deduplicating stages other than minhash_dedup found, each with what brought it out."""

import base64
import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from gristmill.manifests.errors import InputError
from gristmill.stages.dedup.decontaminate import Decontaminate
from gristmill.stages.dedup.embeddings import check_files
from gristmill.stages.dedup.eval_files import read_items
from gristmill.stages.dedup.exact import ExactDedup
from gristmill.stages.dedup.repo_files import counted_files
from gristmill.stages.protocol import DROP
from tests.laws.running import run_inline, write_recipe
from tests.stages.dedup.exchanges import documents, verdicts_on
from tests.stages.dedup.test_repos import gone

WORDS = " ".join(f"word{n}" for n in range(20))


def picture(uri: str | None, sha256: bytes | None = None) -> dict[str, Any]:
    return {"kind": "image", "uri": uri, "sha256": sha256}


@pytest.mark.parametrize("normalise", ["auto", "prose", "exact", "none"])
def test_pages_of_other_pictures_that_were_not_fetched_are_not_equal(normalise: Any) -> None:
    """`extract_html` gives linked pictures a URI and no hash: of pages with one caption, one was left."""
    text = "Photo of the day: \ufffc"
    media = [[picture("https://a.org/1.jpg")], [picture("https://a.org/2.jpg")], [picture(None, bytes(32))]]
    media += [[picture("https://a.org/1.jpg")], [picture("https://a.org/3.jpg", bytes(32))], [picture(None)]]
    for domain in ("web", "code"):
        batch = documents([{"text": text, "media": m, "domain": domain} for m in media])
        found = verdicts_on(ExactDedup(normalise), batch)
        drops = {(v["addr"], int.from_bytes(v["keeper"])) for v in found if v["kind"] == DROP}
        assert {frozenset(pair) for pair in drops} == {frozenset((0, 3)), frozenset((2, 4))}


def test_white_space_parts_the_files_of_a_fork() -> None:
    """All white space was taken out before files were compared: `1 23` and `12 3` were one table, and one went."""
    tables = {f"one/t{n}.tsv": f"1\t23\t{n}\n" for n in range(6)} | {f"two/t{n}.tsv": f"12\t3\t{n}\n" for n in range(6)}
    assert gone(tables) == {}
    spaced = {f"one/t{n}.tsv": f"1\t23\t{n}\n" for n in range(6)} | {f"two/t{n}.tsv": f"1  23\r\n{n}" for n in range(6)}
    assert len(gone(spaced)) == 6


def contents(rows: list[Mapping[str, Any]]) -> list[bytes]:
    batch = documents([{**row, "meta": json.dumps({"s": row["meta"]})} for row in rows])
    counted = counted_files(batch, pa.array(range(len(rows)), pa.uint64()).to_numpy(), 1)
    return [
        other for kind, other in zip(counted["kind"].to_pylist(), counted["other"].to_pylist(), strict=True) if not kind
    ]


def test_media_part_the_files_of_a_fork() -> None:
    """Media were not looked at: a README with another picture was the same file."""
    file = {"repo": "a", "path": "README.md"}
    one, other, again = contents(
        [{"text": "\ufffc", "media": [picture(f"{n}.png")], "meta": file} for n in (1, 2, 1)],
    )
    assert one == again != other
    whole = {"text": "=== a ===\nx\n=== b ===\n\ufffc\n", "media": [picture("1.png")]}
    meta = {"repo": "a", "files": [{"path": "a"}, {"path": "b"}]}
    a, b, a_again, b_again = contents([{**whole, "meta": meta}] * 2)
    assert a == a_again and b != b_again


def test_short_n_grams_need_no_lower_min_words(tmp_path: Path) -> None:
    """`ngram: 5` alone found nothing to look for in texts of any length, since an n-gram has fewer words than 8."""
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({"question": WORDS}) + "\n" + json.dumps({"question": "one two three four"}) + "\n")
    stage = Decontaminate(str(path), ngram=5)
    with pytest.warns(UserWarning, match="cannot find 1 of 2 items"):
        stage.prepare()
    found = stage.transform(
        documents([{"text": "so word7 word8 word9 word10 word11 it is"}, {"text": "one two three four"}])
    )
    assert [v.row for v in found.verdicts] == [0]


def parquet(path: Path, columns: Mapping[str, pa.Array]) -> str:
    pq.write_table(pa.table(dict(columns)), path)
    return str(path)


def test_columns_without_text_are_not_read_from_an_evaluation_file(tmp_path: Path) -> None:
    """Times that Python cannot hold ended the run as a fault of ours."""
    far = [2**62]
    columns = {
        "made": pa.array(far, pa.timestamp("us")),
        "nowhere": pa.array([1], pa.timestamp("us", tz="Nowhere/Else")),
        "took": pa.array(far, pa.duration("s")),
        "day": pa.array([1 << 30], pa.date32()),
        "frames": pa.array([far], pa.list_(pa.timestamp("us"))),
        "picture": pa.array([b"\xff"]),
        "task_id": pa.array([7]),
        "choices": pa.array([[{"text": WORDS}]]),
    }
    items = read_items([parquet(tmp_path / "set.parquet", columns)], ())
    assert items.names == ["set.parquet:1 (7)"]
    assert [(t.field, t.text) for t in items.texts] == [("choices.text", WORDS)]


def test_an_evaluation_file_of_bad_text_is_told(tmp_path: Path) -> None:
    bad = pa.array([WORDS.encode(), b"\xff\xfe"], pa.binary()).view(pa.string())
    with pytest.raises(InputError, match="cannot be read"):
        read_items([parquet(tmp_path / "set.parquet", {"question": bad})], ())


def test_ids_of_embeddings_that_are_no_text_are_told(tmp_path: Path) -> None:
    columns = {
        "id": pa.array([b"\xff" * 32]).view(pa.string()),
        "embedding": pa.array([[1.0]], pa.list_(pa.float32())),
    }
    path = parquet(tmp_path / "e.parquet", columns)
    with pytest.raises(InputError, match="not an id"):
        check_files([path], "embedding")


def test_an_evaluation_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """The source `jsonl` passes over it, and the same file was refused here."""
    path = tmp_path / "set.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"question": WORDS}).encode() + b"\r\n\xef\xbb\xbf\r\n")
    assert [t.text for t in read_items([str(path)], ()).texts] == [WORDS]


def test_a_line_of_an_evaluation_file_is_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block was joined to all before it: a line of 2 GB moved 2 TB."""
    from gristmill.stages.dedup import eval_files

    monkeypatch.setattr(eval_files, "_BLOCK_BYTES", 16)
    line = bytes(1_000_000)
    started_s = time.process_time()
    lines = list(eval_files._split(io.BytesIO(b"a\n" + line + b"\n\nb")))  # pyright: ignore[reportPrivateUsage]
    assert time.process_time() - started_s < 2
    assert lines == [b"a", line, b"", b"b"]


def run_with_tokenizer(folder: Path, step: Mapping[str, Mapping[str, Any]]) -> None:
    """One step with the tokenizer `own.json` beside the recipe."""
    [(name, params)] = step.items()
    (folder / "a.jsonl").write_text(json.dumps({"text": WORDS}) + "\n")
    steps = [{name: {**params, "tokenizer": "own.json"}}]
    recipe = {"name": "r", "datasets": {"a": {"read": {"jsonl": "a.jsonl"}, "domain": "web", "steps": steps}}}
    run_inline(write_recipe(folder, yaml.safe_dump(recipe)), folder / "out")


BY_TOKENS = [{"substring_dedup": dict[str, Any]()}, {"minhash_dedup": {"unit": "token"}}]


@pytest.mark.parametrize("step", BY_TOKENS)
def test_a_file_that_is_no_tokenizer_is_told_before_any_work(step: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text("root:x:0:0\n")
    with pytest.raises(InputError, match="tokenizer"):
        run_with_tokenizer(tmp_path, step)
    assert not (tmp_path / "out" / "objects").exists()


@pytest.mark.parametrize("step", BY_TOKENS)
def test_a_tokenizer_beside_the_recipe_is_that_file(
    step: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name without a folder was looked for in the working directory: not found, or another file of that name."""
    own = tmp_path / "recipe"
    own.mkdir()
    tokens = [bytes([byte]) for byte in range(256)]
    ranks = "".join(f"{base64.b64encode(t).decode()} {n}\n" for n, t in enumerate(tokens))
    (own / "own.json").write_text(ranks)
    (tmp_path / "own.json").write_text("another file")
    monkeypatch.chdir(tmp_path)
    run_with_tokenizer(own, step)


def test_a_document_of_which_blanks_of_any_kind_are_left_is_emptied(tmp_path: Path) -> None:
    """No-break, ideographic and other spaces beyond ASCII counted as text: such documents stayed."""
    blanks = ["", "\u3000\u3000", "\u00a0", "\u2028", "\u0085", "\x1f\x0b"]
    rows = [{"key": str(n), "text": f"All rights reserved by us.\n{blank}"} for n, blank in enumerate(blanks)]
    rows.append({"key": "zero", "text": "All rights reserved by us.\n\u200b"})
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = {"jsonl": "a.jsonl", "key": "key"}
    steps = [{"line_dedup": {"keep_one": False}}]
    recipe = {"name": "r", "datasets": {"a": {"read": read, "domain": "web", "steps": steps}}}
    [manifest] = run_inline(write_recipe(tmp_path, yaml.safe_dump(recipe)), tmp_path / "out").values()
    assert manifest["steps"][-1]["reasons"] == {"emptied": len(blanks)}
    assert manifest["steps"][-1]["kept"] == 1
