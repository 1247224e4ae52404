"""The bytes of media by their sha256, from media shards (`manifests.media_shard`), without their indexes.

Files are mapped and their column `sha256` is read once; bytes are read when they are asked for. Raises VerifyError
where a file is no media shard.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.manifests.errors import VerifyError
from gristmill.manifests.media_shard import MEDIA


class MediaFiles(Mapping[bytes, bytes]):
    """See the module."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._where: dict[bytes, tuple[Any, int, int]] = {}
        for path in paths:
            reader = _opened(path)
            for number in range(reader.num_record_batches):
                for row, sha256 in enumerate(reader.get_batch(number).column("sha256").to_pylist()):
                    self._where[sha256] = (reader, number, row)

    def __getitem__(self, sha256: bytes) -> bytes:
        reader, number, row = self._where[sha256]
        return reader.get_batch(number).column("bytes")[row].as_py()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def _opened(path: Path) -> Any:
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
    except (pa.ArrowException, OSError) as error:
        raise VerifyError("these are no media", str(path), str(error)[:200]) from None
    if not reader.schema.equals(MEDIA, check_metadata=False):
        raise VerifyError("the columns are not those of media shards", str(path))
    return reader
