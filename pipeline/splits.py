"""Cutting a frozen listing of input files into splits, stable when files come and go.

Sizes are of content: a compressed file counts `COMPRESSED_FACTOR` times its bytes. A file of at least `LARGE_BYTES` is
a split of its own. Smaller ones are grouped in order of name; a group
ends where the name's hash says so (about every `MEAN_FILES`-th file, once the group holds `MIN_BYTES`) or where it
is full, so a new or changed file changes the group that it falls into and, as a rule, no other.
"""

from collections.abc import Iterable, Sequence

import xxhash

from gristmill.pipeline.sources.protocol import InputFile

LARGE_BYTES = 8 << 20
MIN_BYTES = 2 << 20
FULL_BYTES = 16 << 20
COMPRESSED_FACTOR = 8
_COMPRESSED = (".gz", ".zst", ".parquet", ".bz2", ".xz")
MEAN_FILES = 16
MAX_FILES = 4096

Split = tuple[InputFile, ...]


def content_bytes(file: InputFile) -> int:
    """About how many bytes reading a file yields."""
    return file.bytes * (COMPRESSED_FACTOR if file.rel.endswith(_COMPRESSED) else 1)


def _ends_group(file: InputFile) -> bool:
    return xxhash.xxh3_64_intdigest(file.rel.encode("utf-8", "surrogatepass")) % MEAN_FILES == 0


def make_splits(files: Sequence[InputFile]) -> list[Split]:
    """Splits of a listing sorted by `rel`, in order; each file stands in exactly one."""
    splits: list[Split] = []
    group: list[InputFile] = []
    size = 0
    for file in files:
        if content_bytes(file) >= LARGE_BYTES:
            splits.extend(_closed(group))
            splits.append((file,))
            group, size = [], 0
            continue
        group.append(file)
        size += content_bytes(file)
        full = size >= FULL_BYTES or len(group) >= MAX_FILES
        if full or (size >= MIN_BYTES and _ends_group(file)):
            splits.extend(_closed(group))
            group, size = [], 0
    splits.extend(_closed(group))
    return splits


def _closed(group: Iterable[InputFile]) -> list[Split]:
    whole = tuple(group)
    return [whole] if whole else []
