"""The listing of inputs: what a GLOB matches, in which order, under which names, and what is never opened."""

import json
import os
import time
from pathlib import Path

import fsspec
import pytest
from blake3 import blake3

from gristmill.manifests.errors import InputError
from gristmill.pipeline.sources import catalogue
from gristmill.pipeline.sources.digests import DigestCache, cached_digests, digest_local
from gristmill.pipeline.sources.files import Selection, list_folder, list_inputs, open_binary

NAMES = ("a/b/1.jsonl", "a/2.jsonl", "a/b/c/3.txt", "a/.hidden.jsonl", "a/.git/config.jsonl", "x[1].jsonl", "a/B.jsonl")
JSONL = Selection((".jsonl",))
TREE = Selection((), file_links=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose own name holds wildcards."""
    top = tmp_path / "[x]*"
    for name in NAMES:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(name)
    return top


def rels(glob: str, folder: Path, selection: Selection = JSONL) -> list[str]:
    return [file.rel for file in list_inputs(glob, str(folder), selection, DigestCache())]


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("a", ["2.jsonl", "B.jsonl", "b/1.jsonl"]),
        ("a/", ["2.jsonl", "B.jsonl", "b/1.jsonl"]),
        ("a/2.jsonl", ["2.jsonl"]),
        ("a/*.jsonl", ["2.jsonl", "B.jsonl"]),
        ("a/**/*.jsonl", ["2.jsonl", "B.jsonl", "b/1.jsonl"]),
        ("*/b/*.jsonl", ["a/b/1.jsonl"]),
        ("a/?.jsonl", ["2.jsonl", "B.jsonl"]),
        ("a/[0-9].jsonl", ["2.jsonl"]),
        ("a/.h*.jsonl", [".hidden.jsonl"]),
        ("a/*", ["2.jsonl", "B.jsonl", "b/1.jsonl"]),
        ("x[1].jsonl", ["x[1].jsonl"]),
        ("a/b/c/3.txt", ["3.txt"]),
        ("./a/../a/2.jsonl", ["2.jsonl"]),
    ],
)
def test_what_a_glob_matches(glob: str, expected: list[str], folder: Path) -> None:
    assert rels(glob, folder) == expected
    plain = folder.rename(folder.parent / "plain")
    assert rels(f"{plain}/{glob}", Path("/")) == expected


def test_a_tree_holds_hidden_files_and_no_version_control(folder: Path) -> None:
    assert rels("a", folder, TREE) == [".hidden.jsonl", "2.jsonl", "B.jsonl", "b/1.jsonl", "b/c/3.txt"]


def test_links_in_a_tree_are_never_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_text("secret")
    (folder / "a/link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "a/loop").symlink_to(folder / "a")
    (folder / "a/up").symlink_to(tmp_path)
    (folder / "a/broken.jsonl").symlink_to("nowhere")
    for glob in ("a", "a/**/*.jsonl", "a/*"):
        if glob == "a":
            assert "link.jsonl" not in rels(glob, folder, TREE)
        found = rels(glob, folder, Selection((".jsonl",), file_links=False)) if glob == "a" else []
        assert not any("secret" in rel or "loop" in rel for rel in found)
    (folder / "a/broken.jsonl").unlink()
    assert rels("a/**/*.jsonl", folder) == ["2.jsonl", "B.jsonl", "b/1.jsonl", "link.jsonl"]
    assert rels("a/**/*.jsonl", folder, TREE) == ["2.jsonl", "B.jsonl", "b/1.jsonl"]
    assert [rel for rel, _ in list_folder(str(folder / "a"))] == rels("a", folder, TREE)


def test_pipes_and_devices_are_never_opened(folder: Path) -> None:
    os.mkfifo(folder / "a/pipe.jsonl")
    assert "pipe.jsonl" not in rels("a", folder) + rels("a/*.jsonl", folder)
    with pytest.raises(InputError, match="neither a file nor a folder"):
        rels("a/pipe.jsonl", folder)


@pytest.mark.parametrize(
    "glob", ["none", "none/*.jsonl", "a/*.parquet", "memory://none/*", "memory://none/a.jsonl", "nonsense://a"]
)
def test_nothing_found_is_an_error_with_a_remedy(glob: str, folder: Path) -> None:
    with pytest.raises(InputError) as raised:
        rels(glob, folder)
    assert raised.value.exit_code == 3
    assert glob in str(raised.value)
    assert raised.value.remedy


def test_an_unreadable_folder_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        rels("a", folder)


def test_a_file_that_is_gone_is_an_error(folder: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl"):
        open_binary(str(folder / "gone.jsonl"))


def test_names_that_are_not_utf8_are_printable(folder: Path) -> None:
    name = os.fsdecode(b"\xff\n.jsonl")
    (folder / "a" / name).write_text("odd")
    (file,) = [file for file in list_inputs("a", str(folder), JSONL, DigestCache()) if "xff" in file.rel]
    assert file.rel == "\\xff\n.jsonl"
    with open_binary(file.url) as stream:
        assert stream.read() == b"odd"


def test_remote_files_are_listed_alike() -> None:
    memory = fsspec.filesystem("memory")
    for name in NAMES:
        memory.pipe(f"/bucket/{name}", name.encode())
    for glob, expected in (
        ("memory://bucket/a", ["2.jsonl", "B.jsonl", "b/1.jsonl"]),
        ("memory://bucket/a/**/*.jsonl", ["2.jsonl", "B.jsonl", "b/1.jsonl"]),
        ("memory://bucket/a/2.jsonl", ["2.jsonl"]),
    ):
        files = list_inputs(glob, "/", JSONL, DigestCache())
        assert [file.rel for file in files if not file.rel.startswith(".")] == expected
        for file in files:
            with open_binary(file.url) as stream:
                data = stream.read()
            assert (file.bytes, file.digest) == (len(data), f"blake3:{blake3(data).hexdigest()}")


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, 3 << 20])
def test_digests_are_those_of_the_bytes(size: int, tmp_path: Path) -> None:
    data = os.urandom(size)
    (tmp_path / "a").write_bytes(data)
    assert digest_local(str(tmp_path / "a")) == f"blake3:{blake3(data).hexdigest()}"


def test_whole_folders_are_one_input_each(folder: Path) -> None:
    selection = catalogue.selection("tree", {"whole_repo": True})
    before = list_inputs(".", str(folder), selection, DigestCache())
    assert [(file.rel, file.url.endswith("/")) for file in before] == [("a", True), ("x[1].jsonl", False)]
    assert before[0].bytes == sum(len(name) for name in NAMES if name.startswith("a/") and ".git" not in name)
    (folder / "a/b/1.jsonl").write_text("changed")
    after = list_inputs(".", str(folder), selection, DigestCache())
    assert (after[0].digest != before[0].digest, after[1].digest) == (True, before[1].digest)


class TestDigestCache:
    """A second listing does not read the files again, and never believes a digest of other bytes."""

    @staticmethod
    def listed(folder: Path, cache: Path) -> dict[str, str]:
        with cached_digests(cache) as digests:
            return {file.rel: file.digest for file in list_inputs("a", str(folder), JSONL, digests)}

    @pytest.fixture
    def old(self, folder: Path) -> Path:
        for name in NAMES:
            os.utime(folder / name, ns=(0, time.time_ns() - 10**10))
        return folder

    def test_is_used_for_unchanged_files_alone(self, old: Path, tmp_path: Path) -> None:
        cache = tmp_path / "cache.json"
        first = self.listed(old, cache)
        stored = json.loads(cache.read_text())
        for entry in stored["digests"].values():
            entry[2] = "blake3:planted"
        cache.write_text(json.dumps(stored))
        assert set(self.listed(old, cache).values()) == {"blake3:planted"}
        (old / "a/2.jsonl").write_text("new")
        again = self.listed(old, cache)
        assert again["2.jsonl"] not in (first["2.jsonl"], "blake3:planted")
        assert again["B.jsonl"] == "blake3:planted"

    def test_does_not_keep_a_file_that_was_just_changed(self, folder: Path, tmp_path: Path) -> None:
        cache = tmp_path / "cache.json"
        self.listed(folder, cache)
        before = os.stat(folder / "a/2.jsonl")
        (folder / "a/2.jsonl").write_text("A/2.JSONL")
        os.utime(folder / "a/2.jsonl", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert self.listed(folder, cache)["2.jsonl"] == f"blake3:{blake3(b'A/2.JSONL').hexdigest()}"

    @pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 2, "digests": {}}', '{"format": 1, "digests": 3}'])
    def test_that_is_damaged_is_made_anew(self, damage: str, old: Path, tmp_path: Path) -> None:
        cache = tmp_path / "cache.json"
        first = self.listed(old, cache)
        cache.write_text(damage)
        assert self.listed(old, cache) == first
        assert json.loads(cache.read_text())["format"] == 1
        assert [path.name for path in tmp_path.iterdir() if "cache" in path.name] == ["cache.json"]
