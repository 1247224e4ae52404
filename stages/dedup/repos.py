"""Copies of whole repositories and folders: forks, and trees that were copied into another's.

Columns in: `id`, `source`, `url`, `text`, `media`, `meta` (`repo_files` says what of them makes a record a file of a
repository; other records are left alone). Verdicts: DROP for a record that is a file, and for a whole repository all of
whose files go; CUT, with the line before it, for each file of another whole repository. Reasons: `fork` (the unit that
goes is a repository), `vendored_tree` (it is a folder). `keeper` is the id of the record that holds the same file (any
white space is as one blank) and stays; value = share of the unit's files that the kept unit holds, of a CUT: how many
such files there are; limit = threshold. `repo_units` says what units are and which go.

A threshold of 0.8 with units of 5 files and more: one file in five may be changed, new or lost, and 5 is the least size
at which that is one file. It decides little that cannot be undone: by default only files that stand in the kept unit
go, so a fork keeps what is its own. `drop: all` drops that as well, for those who want one of each repository; such a
file's `keeper` is a file of the kept unit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.dedup.exact import MEDIA_HASHES, MEDIA_PLACES
from gristmill.stages.dedup.repo_files import COUNTS, counted_files
from gristmill.stages.dedup.repo_units import (
    MAX_LOOKED_AT,
    Files,
    Folders,
    Ints,
    Settled,
    Units,
    gathered,
    ranked_units,
    settle,
)
from gristmill.stages.params import param
from gristmill.stages.protocol import CUT, DROP, EMPTIED, Reason, verdicts

_FORK, _VENDORED = 0, 1
_COUNT_BITS, _DEPTH_BITS = 24, 7


@dataclass(frozen=True)
class RepoDedup:
    """Forks and vendored trees: files go whose whole repository or folder is a copy of a kept one."""

    name: ClassVar[str] = "repo_dedup"
    version: ClassVar[int] = 2
    measure_name: ClassVar[str] = "tree_containment"
    reads = ("id", "source", "url", "text", MEDIA_HASHES, MEDIA_PLACES, "meta")
    counts = COUNTS

    threshold: float = param(0.8, "least share of a tree's files that a kept tree must hold, above 0")
    min_files: int = param(5, "trees of fewer files are left alone")
    drop: Literal["copies", "all"] = param("copies", "of a copied tree drop what the kept one holds, or all files")
    repository_folders: int = param(1, "first folders of a path that are the repository (2: OWNER/NAME/...)")

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise UsageError("a share above 0 and up to 1 is wanted", "stage repo_dedup.threshold", self.threshold)
        for name in ("min_files", "repository_folders"):
            if getattr(self, name) < 1:
                raise UsageError("must be at least 1", f"stage repo_dedup.{name}", getattr(self, name))

    def reasons(self) -> tuple[Reason, ...]:
        """`fork`, `vendored_tree`, `emptied`."""
        return (
            Reason("fork", "drop", "its whole repository is a copy of another repository or folder, which is kept"),
            Reason("vendored_tree", "drop", "a folder around it is a copy of another, which is kept"),
            EMPTIED,
        )

    def explain(self, note: int) -> str:
        """The `detail` of a drop: what was compared with what."""
        count = (1 << _COUNT_BITS) - 1
        depth = (1 << _DEPTH_BITS) - 1
        shared, files = note & count, note >> _COUNT_BITS & count
        mine, theirs = note >> 2 * _COUNT_BITS & depth, note >> (2 * _COUNT_BITS + _DEPTH_BITS) & depth
        return f"{shared} of {files} files of {_unit_words(mine)} stand in {_unit_words(theirs)}"

    def count(self, batch: pa.RecordBatch, addr: npt.NDArray[np.uint64]) -> pa.RecordBatch:
        """Rows of `repo_files.COUNTS`: the files of repositories, and their folders."""
        return counted_files(batch, addr, self.repository_folders)

    def decide(self, counted: Iterator[pa.RecordBatch], told: dict[str, int]) -> Iterator[pa.RecordBatch]:
        """The verdicts; tells files, units (trees), how many of them went, and contents too common to be looked up."""
        files, folders = gathered(counted)
        units = ranked_units(files, folders, self.min_files)
        settled = settle(units, len(files.addr), self.threshold, self.drop == "all")
        told |= {
            "files_in_repositories": len(files.addr),
            "trees": len(units.files),
            "trees_copied": int((settled.gone_for >= 0).sum()),
            "common_files": int((np.diff(units.group_ptr) > MAX_LOOKED_AT).sum()),
        }
        yield self._verdicts(files, folders, units, settled)

    def _verdicts(self, files: Files, folders: Folders, units: Units, settled: Settled) -> pa.RecordBatch:
        file = np.flatnonzero(settled.keeper >= 0)
        whole, first = _whole_records(files, file)
        is_record = files.start[file] < 0
        file = file[is_record | ~whole | first]
        by = settled.by[file]
        cuts = (files.start[file] >= 0) & ~whole[is_record | ~whole | first]
        copies = np.bincount(files.content)[files.content[file]]
        share = settled.shared[by] / units.files[by]
        return verdicts(
            files.addr[file],
            {
                "kind": np.where(cuts, CUT, DROP),
                "reason": np.where(folders.depth[units.folder[by]] > 0, _VENDORED, _FORK),
                "keeper": files.id[settled.keeper[file]],
                "value": np.where(cuts, copies, share),
                "limit": self.threshold,
                "start": np.where(cuts, files.start[file], 0),
                "stop": np.where(cuts, files.stop[file], 0),
                "note": _notes(folders.depth, units, settled, by),
            },
        )


def _whole_records(files: Files, file: Ints) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of the files that go: whether all files of their record go, and whether it is the first of these."""
    _, record = np.unique(files.addr, return_inverse=True)
    goes = record[file]
    whole = np.bincount(goes, minlength=len(files.addr))[goes] == np.bincount(record)[goes]
    first = np.zeros(len(file), np.bool_)
    first[np.unique(goes, return_index=True)[1]] = True
    return whole, first


def _notes(depth: Ints, units: Units, settled: Settled, by: Ints) -> npt.NDArray[np.uint64]:
    most_files, most_folders = (1 << _COUNT_BITS) - 1, (1 << _DEPTH_BITS) - 1
    mine, theirs = (np.minimum(depth[units.folder[unit]], most_folders) for unit in (by, settled.gone_for[by]))
    shared, files = (np.minimum(n, most_files) for n in (settled.shared[by], units.files[by]))
    note = shared | files << _COUNT_BITS | mine << 2 * _COUNT_BITS | theirs << (2 * _COUNT_BITS + _DEPTH_BITS)
    return note.astype(np.uint64)


def _unit_words(depth: int) -> str:
    if depth == 0:
        return "a repository"
    return "a folder of a repository" if depth == 1 else f"a folder {depth} deep in a repository"
