"""Source code trees: a file a record, or a repository a record in the order of its dependencies."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.schema import record_id
from gristmill.pipeline.sources import catalogue
from gristmill.pipeline.sources.digests import DigestCache
from gristmill.pipeline.sources.files import list_inputs
from gristmill.pipeline.sources.protocol import InputFile, Loss
from tests.laws.running import run_inline
from tests.pipeline.sources.checked import Row, read_file, read_glob, reasons, texts, with_options
from tests.pipeline.sources.whole_file_cases import HOSTILE, loss_of, one_of, row_of

WHOLE = {"extra": {"whole_repo": True}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the module's files."""
    return tmp_path_factory.mktemp("tree")


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def _listed(folder: Path) -> tuple[InputFile, ...]:
    return list_inputs(".", str(folder), catalogue.selection("tree", WHOLE["extra"]), DigestCache())


@given(data=HOSTILE, name=st.sampled_from(["a.c", "Cargo.lock", ".hidden"]))
def test_any_bytes_are_one_row_or_one_loss(folder: Path, data: bytes, name: str) -> None:
    found = one_of("tree", data, folder, name)
    assert (name == "Cargo.lock") == (isinstance(found, Loss) and found.reason == "excluded_path")


def test_a_file_stands_as_it_is(folder: Path) -> None:
    row = row_of("tree", "\ufeffint main() {\r\n\treturn 0;\n}".encode(), folder, "a.c")
    assert row["text"] == "int main() {\r\n\treturn 0;\n}"
    assert json.loads(row["meta"]) == {"d": {"path": "a.c"}}


def test_lock_files_and_binaries_are_dropped(folder: Path) -> None:
    for name in ("package-lock.json", "yarn.lock", "go.sum", "Pipfile.lock"):
        loss = loss_of("tree", b"{}", folder, name)
        assert (loss.verdict, loss.reason, loss.detail) == ("drop", "excluded_path", name)
    assert loss_of("tree", b"\x7fELF\0\0", folder, "a.out").reason == "binary"
    assert row_of("tree", b"{}", folder, "package.json")["text"] == "{}"


def test_a_tree_is_all_its_files_but_version_control_and_links(tmp_path: Path) -> None:
    _write(tmp_path, {"r/.git/config": "secret", "r/.github/ci.yml": "ci", "r/Makefile": "all:", "r/x/.hg/a": "a"})
    (tmp_path / "r" / "out").symlink_to("/etc")
    (tmp_path / "r" / "hosts").symlink_to("/etc/hosts")
    rows, losses = read_glob("tree", ".", tmp_path)
    assert texts(rows) == ["ci", "all:"]
    assert not losses


REPO: Mapping[str, str | bytes] = {
    "r/README.md": "# The r\n",
    "r/LICENSE": "Free\n",
    "r/pyproject.toml": "[project]",
    "r/a/main.py": "from a.util import two\n",
    "r/a/__init__.py": "",
    "r/a/util.py": "from . import zero\ntwo = zero.zero + 2 # \ufffc\U0001f600\n",
    "r/a/zero.py": "zero = 0\n",
    "r/logo.png": b"\x89PNG\0",
    "r/latin.py": b"# caf\xe9\n",
    "r/uv.lock": "x",
}


def _repository(folder: Path, **changes: int) -> tuple[list[Row], list[Loss]]:
    return read_glob("tree", ".", folder, with_options(**WHOLE, **changes))


def test_a_repository_is_one_record(tmp_path: Path) -> None:
    _write(tmp_path, REPO)
    (row,), losses = _repository(tmp_path)
    assert row["id"] == record_id("path", "d", "r")
    assert row["text"] == (
        "=== README.md ===\n# The r\n=== LICENSE ===\nFree\n=== pyproject.toml ===\n[project]\n"
        "=== a/__init__.py ===\n=== a/zero.py ===\nzero = 0\n"
        "=== a/util.py ===\nfrom . import zero\ntwo = zero.zero + 2 # \ufffd\U0001f600\n"
        "=== a/main.py ===\nfrom a.util import two\n"
    )
    assert {loss.detail.partition(":")[0]: loss.reason for loss in losses} == {
        "latin.py": "bad_utf8",
        "logo.png": "binary",
        "uv.lock": "excluded_path",
    }


def test_meta_says_where_each_file_stands(tmp_path: Path) -> None:
    _write(tmp_path, REPO)
    (row,), _ = _repository(tmp_path)
    meta = json.loads(row["meta"])["d"]
    assert meta["path"] == "r" and len(meta["files"]) == 7
    for file in meta["files"]:
        content = REPO[f"r/{file['path']}"]
        assert isinstance(content, str)
        text = row["text"][file["start"] : file["end"]]
        assert text.removesuffix("\n") == content.replace("\ufffc", "\ufffd").removesuffix("\n")
        assert row["text"][: file["start"]].endswith(f"=== {file['path']} ===\n")


def test_each_first_folder_is_a_repository_and_a_file_beside_them_itself(tmp_path: Path) -> None:
    _write(tmp_path, {"b/x.c": "x", "b/y/z.c": "z", "a/x.c": "a", "alone.c": "alone", "all-lost/a.bin": b"\0"})
    rows, losses = _repository(tmp_path)
    assert texts(rows) == ["=== x.c ===\na\n", "alone", "=== x.c ===\nx\n=== y/z.c ===\nz\n"]
    assert reasons(losses) == ["binary"]


def test_a_path_cannot_forge_the_line_of_a_file(tmp_path: Path) -> None:
    _write(tmp_path, {"r/a ===\nreal\n=== b": "x"})
    (row,), _ = _repository(tmp_path)
    assert row["text"] == "=== a ===\ufffdreal\ufffd=== b ===\nx\n"
    assert json.loads(row["meta"])["d"]["files"][0]["path"] == "a ===\nreal\n=== b"


def test_a_repository_above_the_limit_is_one_loss_over_its_texts(tmp_path: Path) -> None:
    _write(tmp_path, {"r/a.c": "a" * 60, "r/b.c": "b" * 60, "r/c.bin": b"\0" * 50, "r/d.c": "d" * 500})
    rows, losses = _repository(tmp_path, max_doc_bytes=100)
    assert not rows
    assert reasons(losses) == ["binary", "too_large", "too_large"]
    assert losses[1].detail == "d.c: file" and losses[1].raw_hash == blake3(b"d" * 500).digest(16)
    assert losses[2].raw_hash == blake3(b"a" * 60 + b"b" * 60).digest(16)
    assert (losses[2].detail, losses[2].limit) == ("repository", 100)
    (row,), losses = _repository(tmp_path, max_doc_bytes=200)
    assert len(row["text"]) == 2 * (12 + 61) and reasons(losses) == ["binary", "too_large"]


@pytest.mark.parametrize("change", ["new", "gone", "other"])
def test_a_repository_that_changed_since_it_was_listed_is_refused(tmp_path: Path, change: str) -> None:
    _write(tmp_path, {"r/a.c": "a", "r/b.c": "b"})
    (file,) = _listed(tmp_path)
    read_file("tree", file, with_options(**WHOLE))
    if change == "gone":
        (tmp_path / "r" / "b.c").unlink()
    else:
        (tmp_path / "r" / ("c.c" if change == "new" else "b.c")).write_text("c")
    with pytest.raises(InputError, match="not as it was listed"):
        read_file("tree", file, with_options(**WHOLE))


@given(contents=st.lists(HOSTILE, min_size=1, max_size=5))
def test_every_file_of_a_repository_is_in_its_row_or_a_loss(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("repo")
    _write(folder, {f"r/{i}.py": content for i, content in enumerate(contents)})
    rows, losses = _repository(folder)
    inside = json.loads(rows[0]["meta"])["d"]["files"] if rows else []
    assert len(inside) + len(losses) == len(contents)
    assert {file["path"] for file in inside}.isdisjoint(loss.detail.partition(":")[0] for loss in losses)


def test_a_run_reads_whole_repositories(tmp_path: Path) -> None:
    _write(tmp_path / "in", {f"{repo}/{name.removeprefix('r/')}": REPO[name] for repo in "pq" for name in REPO})
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("name: t\nseed: 1\ndatasets:\n  d:\n    read: {tree: in/, whole_repo: true}\n    domain: code\n")
    run_inline(recipe, tmp_path / "out")
    manifest = read_manifest(tmp_path / "out" / "d")
    assert [(one["rel"], one["bytes"]) for one in manifest["inputs"]] == [
        (repo, sum(len(content.encode() if isinstance(content, str) else content) for content in REPO.values()))
        for repo in "pq"
    ]
    (step,) = manifest["steps"]
    assert (step["records_in"], step["kept"], step["dropped"], step["quarantined"]) == (8, 2, 4, 2)
