"""Sidecar indexes of shards: each must be what follows from its shard."""

from collections.abc import Callable, Iterator
from pathlib import Path

from gristmill.manifests.verify_books import Dataset
from gristmill.manifests.verify_files import Fault, Named


def indexes_of(dataset: Dataset, whole: set[str], shards: str, indexes: str) -> dict[str, Named]:
    """Path of a shard -> its index, where that is whole, of two lists of the manifest, by name; {} for an output from
    before there were any."""
    sound = {named.entry.path: named for named in dataset.sound(indexes, whole)}
    pairs = zip(dataset.manifest[shards], dataset.manifest.get(indexes, []), strict=False)
    return {shard["path"]: sound[index["path"]] for shard, index in pairs if index["path"] in sound}


def index_faults(shard: Named, index: Named | None, expected: Callable[[Path, str], bytes]) -> Iterator[Fault]:
    """`expected(path, digest)` is the index of a shard."""
    if index is not None and expected(shard.path, shard.entry.digest) != index.path.read_bytes():
        yield Fault(index.shown, "index", "is not what follows from its shard")
