"""Repositories and folders that are copies of others: which go, what of them goes, whom a dropped file names."""

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch, record_id
from gristmill.stages.dedup.repo_files import MAX_FOLDERS, place_of
from gristmill.stages.dedup.repo_units import gathered, needed, ranked_units, settle
from gristmill.stages.dedup.repos import RepoDedup
from gristmill.stages.kernels.trees_plain import settle_trees_plain
from gristmill.stages.protocol import CUT, DROP, EMPTIED, VERDICTS, Census

Tree = Mapping[str, str]
Gone = dict[str, tuple[str, str]]
"""Path that went -> (reason, path of the keeper)."""


@pytest.fixture(scope="module", autouse=True)
def _kernel() -> None:
    """Compiles the kernel where no cache has it, which would count for the first test."""
    from gristmill.stages.kernels import trees

    assert trees


def key(path: str) -> str:
    return record_id("path", "code", path)


def records(tree: Tree) -> pa.RecordBatch:
    """One file a record, as the source `tree` makes them."""
    metas = [orjson.dumps({"code": {"path": path}}).decode() for path in tree]
    columns = {
        "id": pa.array([key(path) for path in tree], pa.string()),
        "source": pa.array(["code"] * len(tree), pa.string()),
        "text": pa.array(list(tree.values()), pa.large_string()),
        "meta": pa.array(metas, pa.large_string()),
    }
    return document_batch(columns)


def decided(stage: RepoDedup, batches: Sequence[pa.RecordBatch]) -> tuple[pa.Table, dict[str, int]]:
    told: dict[str, int] = {}
    counted = [
        stage.count(
            b.select(list(dict.fromkeys(n.partition(".")[0] for n in stage.reads))),
            (np.uint64(i) << np.uint64(32)) + np.arange(b.num_rows, dtype=np.uint64),
        )
        for i, b in enumerate(batches)
    ]
    return pa.Table.from_batches(list(stage.decide(iter(counted), told)), schema=VERDICTS), told


def gone(tree: Tree, stage: RepoDedup | None = None, batches: Sequence[pa.RecordBatch] | None = None) -> Gone:
    """What goes of a tree; checks that each keeper stays and, by default, holds the same."""
    stage = stage or RepoDedup()
    batches = batches or [records(tree)]
    table, _ = decided(stage, batches)
    paths = {key(path): path for path in tree}
    found: Gone = {}
    for row in table.to_pylist():
        record = batches[row["addr"] >> 32].slice(row["addr"] & 0xFFFFFFFF, 1)
        path = paths[record.column("id")[0].as_py()]
        assert path not in found and row["kind"] == DROP
        assert row["limit"] == stage.threshold <= row["value"] <= 1
        found[path] = (stage.reasons()[row["reason"]].reason, paths[row["keeper"].hex()])
    for path, (_, keeper) in found.items():
        assert keeper not in found
        if stage.drop == "copies":
            assert tree[path].split() == tree[keeper].split()
    return found


def library(prefix: str, files: int = 8, name: str = "lib") -> dict[str, str]:
    """A library of so many files in two folders."""
    return {
        f"{prefix}/{'src' if i % 2 else 'doc'}/f{i}.py": f"def {name}_{i}():\n    return {i}\n" for i in range(files)
    }


def app(repository: str, files: int = 8) -> dict[str, str]:
    """Files that no other repository has, but for LICENSE and an empty `__init__.py`."""
    own = {f"{repository}/app/m{i}.py": f"print('{repository} {i}')\n" for i in range(files)}
    return own | {f"{repository}/LICENSE": "MIT ...\n", f"{repository}/app/__init__.py": ""}


def expect(prefix: str, keeper: str, reason: str, tree: Tree) -> Gone:
    inside = [path for path in tree if path.startswith(prefix + "/")]
    return {path: (reason, keeper + path[len(prefix) :]) for path in inside}


def test_a_fork_loses_what_its_origin_holds_and_keeps_its_own() -> None:
    origin = library("origin", 10)
    fork = {path.replace("origin", "fork", 1): text for path, text in origin.items()}
    fork["fork/src/f1.py"] = "changed\n"
    tree = origin | {"origin/src/extra.py": "x = 1\n"} | fork
    expected = expect("fork", "origin", "fork", fork)
    del expected["fork/src/f1.py"]
    assert gone(tree) == expected


def test_drop_all_drops_what_is_new_in_a_fork_too() -> None:
    origin = library("origin", 10) | {"origin/src/extra.py": "x = 1\n"}
    fork = {path.replace("origin", "fork", 1): text for path, text in library("origin", 10).items()}
    fork["fork/src/f1.py"] = "changed\n"
    found = gone(origin | fork, RepoDedup(drop="all"))
    assert set(found) == set(fork)
    assert found["fork/src/f1.py"][1].startswith("origin/")


@pytest.mark.parametrize(("same", "goes"), [(8, True), (7, False)])
def test_the_threshold_is_a_share_of_the_files(same: int, goes: bool) -> None:
    origin = {f"origin/f{i}.py": f"text {i}" for i in range(20)}
    fork = {f"fork/f{i}.py": f"text {i}" if i < same else f"own {i}" for i in range(10)}
    assert bool(gone(origin | fork)) == goes
    assert len(gone(origin | fork, RepoDedup(threshold=0.7))) == same


@pytest.mark.parametrize(("files", "goes"), [(5, True), (4, False)])
def test_small_trees_are_left_alone(files: int, goes: bool) -> None:
    tree = {f"{r}/f{i}.py": f"text {i}" for r in "ab" for i in range(files)}
    assert bool(gone(tree)) == goes


def test_a_library_stays_and_its_copies_in_two_repositories_go() -> None:
    tree = library("lib") | app("one") | app("two") | library("one/third_party/lib") | library("two/deps/util/lib")
    found = gone(tree)
    copies = ("one/third_party/lib", "two/deps/util/lib")
    assert found == {k: v for copy in copies for k, v in expect(copy, "lib", "vendored_tree", tree).items()}


def test_a_library_stays_even_if_the_copy_holds_more() -> None:
    tree = library("lib") | app("one") | library("one/vendor/lib")
    one_more = tree | {"one/vendor/lib/src/PATCHES": "ours\n"}
    assert gone(one_more) == expect("one/vendor/lib", "lib", "vendored_tree", tree)
    many_more = tree | {f"one/vendor/lib/new/f{i}.py": f"new {i}" for i in range(4)}
    assert gone(many_more) == {}, "8 of 12 files; nor does the library go for it"


def test_without_the_library_one_of_the_copies_stays() -> None:
    tree = app("one") | app("two") | library("one/third_party/lib") | library("two/lib")
    assert gone(tree) == expect("one/third_party/lib", "two/lib", "vendored_tree", tree)


def test_of_unequal_copies_the_larger_stays() -> None:
    tree = app("one") | app("two") | library("one/a/lib", 12) | library("two/lib", 8)
    assert gone(tree) == expect("two/lib", "one/a/lib", "vendored_tree", tree)


def test_a_repository_that_holds_two_others() -> None:
    libraries = library("x", 8, "x") | library("y", 6, "y")
    inside = library("z/vendor/x", 8, "x") | library("z/vendor/y", 6, "y")
    tree = libraries | inside | app("z")
    both = expect("z/vendor/x", "x", "vendored_tree", tree) | expect("z/vendor/y", "y", "vendored_tree", tree)
    assert gone(tree) == both
    assert gone(libraries | inside) == both, "even where it holds nothing else"


def test_nested_folders_go_as_one_and_name_the_same_keeper() -> None:
    deep = {f"{{}}/a/b/c{i // 3}/d/f{i}.py": f"text {i}" for i in range(18)}
    tree = {path.format(p): text for p in ("one/x", "two/y/z") for path, text in deep.items()}
    tree |= app("one") | app("two")
    assert gone(tree) == expect("two/y/z", "one/x", "vendored_tree", tree)


def test_a_folder_that_holds_itself_again() -> None:
    inner = {f"a/f{i}.py": f"text {i}" for i in range(6)}
    tree = {"r/" + "a/" * n + path: text for n in range(4) for path, text in inner.items()} | app("r")
    found = gone(tree)
    assert set(tree) - set(found) == {"r/" + path for path in inner} | set(app("r"))


def test_of_equal_repositories_one_stays() -> None:
    tree = {path: text for n in range(7) for path, text in library(f"r{n}").items()}
    found = gone(tree)
    stays = {path.split("/")[0] for path in set(tree) - set(found)}
    assert len(stays) == 1 and len(found) == 6 * 8
    assert {reason for reason, _ in found.values()} == {"fork"}


def test_a_chain_of_forks_is_not_swallowed() -> None:
    """Each has 15 % of new files: the second agrees with the first, the third with the second alone."""
    tree = {f"r{n}/f{i}.py": f"text {i}" for n in range(3) for i in range(3 * n, 20 + 3 * n - n)}
    found = gone(tree)
    assert {path.split("/")[0] for path in found} == {"r1"}


def test_what_only_forks_share_stays_once() -> None:
    """Two forks with one new folder: it goes from one of them, though both are copies of the origin."""
    tree = library("origin", 40)
    for fork in ("f1", "f2"):
        tree |= {path.replace("origin", fork, 1): text for path, text in library("origin", 39).items()}
        tree |= {f"{fork}/new/n{i}.py": f"new {i}" for i in range(6)}
    stays = set(tree) - set(gone(tree))
    assert len([path for path in stays if "/new/" in path]) == 6
    assert len(stays) == 40 + 6


def test_common_files_join_no_repositories() -> None:
    tree = {path: text for n in range(300) for path, text in app(f"r{n}", 5).items()}
    table, told = decided(RepoDedup(), [records(tree)])
    assert table.num_rows == 0
    assert told == {"files_in_repositories": 2100, "trees": 600, "trees_copied": 0, "common_files": 3}


def test_white_space_makes_no_difference() -> None:
    origin = library("origin")
    fork = {path.replace("origin", "fork", 1): text.replace("\n", "\r\n\t") for path, text in origin.items()}
    assert len(gone(origin | fork)) == len(fork)


def test_neither_order_nor_shards_nor_batches_matter() -> None:
    tree = library("lib") | app("one") | library("one/third_party/lib") | library("two/lib", 12) | library("f", 8)
    expected = gone(tree)
    assert expected
    for seed in range(6):
        paths = sorted(tree)
        random.Random(seed).shuffle(paths)
        cut = seed * 5
        shards = [records({p: tree[p] for p in part}) for part in (paths[:cut], paths[cut:])]
        assert gone(tree, batches=shards) == expected


def test_records_that_name_repository_and_path() -> None:
    """Columns of The Stack, in `meta`; names with a slash; the same repository read from two sources."""
    metas, texts, ids = list[str](), list[str](), list[str]()
    for source in ("a", "b"):
        for i in range(6):
            found = {"max_stars_repo_name": "owner/name", "max_stars_repo_path": f"src/f{i}.py"}
            metas.append(orjson.dumps({source: found}).decode())
            texts.append(f"text {i}")
            ids.append(key(f"{source}{i}"))
    columns = {"id": ids, "source": ["a"] * 6 + ["b"] * 6}
    batch = document_batch(
        {name: pa.array(values, pa.string()) for name, values in columns.items()}
        | {"text": pa.array(texts, pa.large_string()), "meta": pa.array(metas, pa.large_string())}
    )
    table, _ = decided(RepoDedup(), [batch])
    assert len({addr // 6 for addr in table.column("addr").to_pylist()}) == 1 and table.num_rows == 6


def test_two_first_folders_are_the_repository_if_asked() -> None:
    tree = {f"{owner}/name/f{i}.py": f"text {i}" for owner in ("x", "y") for i in range(6)}
    for folders, reasons in ((1, {"fork", "vendored_tree"}), (2, {"fork"})):
        found = gone(tree, RepoDedup(repository_folders=folders))
        assert len(found) == 6 and {reason for reason, _ in found.values()} <= reasons


@pytest.mark.parametrize(
    "meta",
    [
        *(None, "", "null", "[]", "3", "{", '{"x": 1}', '{"code": {"path": 3}}', '{"code": {"path": "alone.py"}}'),
        *('{"code": {"path": "/"}}', '{"code": {"files": 3}}', '{"code": []}'),
    ],
)
def test_records_without_a_place_are_left_alone(meta: str | None) -> None:
    assert place_of(meta, 1) is None


def repository(name: str, tree: Tree) -> dict[str, str]:
    """A whole repository as one record, as the source `tree` makes it."""
    text = "".join(f"=== {path} ===\n{body}\n" for path, body in tree.items())
    files = [{"path": path, "start": 0, "end": 0} for path in tree]
    return {"id": key(name), "text": text, "meta": orjson.dumps({"code": {"path": name, "files": files}}).decode()}


def whole(rows: Iterable[Mapping[str, str]]) -> pa.RecordBatch:
    listed = list(rows)
    kinds = {"id": pa.string(), "text": pa.large_string(), "meta": pa.large_string()}
    columns = {name: pa.array([row[name] for row in listed], kind) for name, kind in kinds.items()}
    return document_batch(columns | {"source": pa.array(["code"] * len(listed), pa.string())})


def test_a_whole_repository_goes_or_has_files_cut() -> None:
    origin = {f"src/f{i}.py": f"text é {i}" for i in range(10)}
    other = {f"third_party/lib/src/f{i}.py": f"text é {i}" for i in range(8)} | {"main.py": "own"}
    rows = [repository("origin", origin), repository("fork", origin), repository("app", other)]
    batch = whole(rows)
    table, _ = decided(RepoDedup(), [batch])
    found = sorted(table.to_pylist(), key=lambda row: (row["addr"], row["start"]))
    drops, cuts = [r for r in found if r["kind"] == DROP], [r for r in found if r["kind"] == CUT]
    assert len(drops) == 1 and drops[0]["addr"] in (0, 1) and drops[0]["value"] == 1.0
    stays = ({0, 1} - {drops[0]["addr"]}).pop()
    assert drops[0]["keeper"].hex() == rows[stays]["id"]
    assert {row["addr"] for row in cuts} == {2} and len(cuts) == 8
    text = rows[2]["text"].encode()
    for cut in reversed(cuts):
        assert text[cut["start"] :].startswith(b"=== third_party/lib/src/f") and cut["value"] == 3
        text = text[: cut["start"]] + text[cut["stop"] :]
    assert text == b"=== main.py ===\nown\n"
    assert RepoDedup().reasons()[-1] == EMPTIED


def test_whole_repositories_and_single_files_meet() -> None:
    origin = {f"src/f{i}.py": f"text {i}" for i in range(10)}
    single = records({f"origin/{path}": text for path, text in origin.items()})
    table, _ = decided(RepoDedup(), [single, whole([repository("fork", origin)])])
    assert table.num_rows in (1, 10)


def test_a_detail_says_what_was_compared() -> None:
    tree = library("lib", 10) | app("one") | library("one/third_party/lib", 9) | {"one/third_party/lib/own.py": "own"}
    table, _ = decided(RepoDedup(), [records(tree)])
    details = {RepoDedup().explain(note) for note in table.column("note").to_pylist()}
    assert details == {"9 of 10 files of a folder 2 deep in a repository stand in a repository"}
    assert RepoDedup.measure_name == "tree_containment"


NAMES = st.sampled_from(["a", "b", "vendor", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
TREES = st.dictionaries(PATHS, st.sampled_from(["p", "q", "r", "s"]), max_size=40)


@settings(max_examples=200)
@given(TREES, st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.booleans(), st.integers(1, 4))
def test_the_kernel_and_its_plain_twin_agree(tree: Tree, threshold: float, drop_all: bool, min_files: int) -> None:
    stage = RepoDedup()
    addr = np.arange(len(tree), dtype=np.uint64)
    files, folders = gathered(iter([stage.count(records(tree), addr)]))
    units = ranked_units(files, folders, min_files)
    settled = settle(units, len(files.addr), threshold, drop_all)
    bounds = units.ptr.tolist()
    lists = [list(zip(units.group[a:b].tolist(), units.file[a:b].tolist(), strict=True)) for a, b in pairwise(bounds)]
    went, keeper = settle_trees_plain(lists, needed(units.files, threshold).tolist(), drop_all)
    assert [w[0] if w else -1 for w in went] == settled.gone_for.tolist()
    assert [w[1] if w else -1 for w in went] == settled.shared.tolist()
    assert {f: by for f, (_, by) in keeper.items()} == {f: int(b) for f, b in enumerate(settled.by) if b >= 0}
    for file in np.flatnonzero(settled.keeper >= 0).tolist():
        root = keeper[file][0]
        while root in keeper:
            root = keeper[root][0]
        assert settled.keeper[file] == root
        assert drop_all or files.content[file] == files.content[root]


@given(TREES, st.sampled_from(["copies", "all"]))
def test_no_content_is_lost_by_default(tree: Tree, drop: str) -> None:
    found = gone(tree, RepoDedup(min_files=2, threshold=0.5, drop=drop))  # type: ignore[arg-type]
    inside = {path: text for path, text in tree.items() if "/" in path}
    assert found.keys() <= inside.keys()
    if drop == "copies":
        assert {inside[p] for p in inside.keys() - found.keys()} == set(inside.values())


def test_nothing_and_hostile_paths() -> None:
    assert decided(RepoDedup(), [])[0].num_rows == 0
    assert decided(RepoDedup(), [records({})])[0].num_rows == 0
    deep = "r/" + "d/" * (MAX_FOLDERS * 3)
    tree = {f"{deep}f{i}": str(i) for i in range(6)} | {f"r/../{'x' * 9000}/\0{i}": str(i) for i in range(6)}
    assert set(gone(tree)) < set(tree)


def test_is_a_census_and_refuses_what_cannot_be() -> None:
    assert isinstance(RepoDedup(), Census)
    for wrong in ({"threshold": 0.0}, {"threshold": 1.5}, {"min_files": 0}, {"repository_folders": 0}):
        with pytest.raises(UsageError, match="repo_dedup"):
            RepoDedup(**wrong)  # type: ignore[arg-type]
