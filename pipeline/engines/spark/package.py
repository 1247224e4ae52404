"""This package as one archive for executors that have its dependencies but not itself.

A zip with the folder `gristmill` as it is imported here, and the metadata of its distribution (its own stages are entry
points). Its name holds the digest of its content, so an archive that is there already is the same.
"""

import importlib
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from blake3 import blake3

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.engines.spark.session import write_properties

ROOTS = ("pipeline", "synth", "render", "stages", "manifests")
_TIME = (1980, 1, 1, 0, 0, 0)


def package_archive(folder: Path) -> Path:
    """Write the archive into a folder, made when absent; its path. Raises UsageError where it cannot be written."""
    files = dict(_files())
    hasher = blake3()
    for name, data in files.items():
        hasher.update(name.encode() + b"\0" + len(data).to_bytes(8, "big") + data)
    path = folder / f"gristmill-{hasher.hexdigest(8)}.zip"
    if path.exists():
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = path.with_name(f".tmp-{uuid.uuid4().hex}")
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)
        made.replace(path)
    except OSError as error:
        raise UsageError("the package cannot be written", str(folder), error.strerror, "give --package DIR") from None
    return path


def settings_file(folder: Path, settings: Mapping[str, str]) -> Path:
    """A file of Spark's settings in a folder, named by their digest; its owner alone may read it."""
    digest = blake3(repr(sorted(settings.items())).encode()).hexdigest(8)
    path = folder / f"spark-{digest}.properties"
    write_properties(path, settings)
    return path


def _files() -> Iterator[tuple[str, bytes]]:
    for root in ROOTS:
        folder = Path(importlib.import_module(f"gristmill.{root}").__path__[0])
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"gristmill/{root}/{path.relative_to(folder).as_posix()}", path.read_bytes()
    try:
        own = distribution("gristmill")
    except PackageNotFoundError:
        return
    for name in ("METADATA", "entry_points.txt"):
        text = own.read_text(name)
        if text is not None:
            yield f"gristmill-{own.version}.dist-info/{name}", text.encode()
