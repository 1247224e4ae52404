"""The place that a reading command is given: a folder, or one in object storage, of which it sees a view."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gristmill.manifests.remote_access import is_remote


@contextmanager
def folder_of(given: str, lists: Sequence[str] = ()) -> Generator[Path]:
    """The folder to read; of a place in object storage one that holds its documents and the files of these lists."""
    if not is_remote(given):
        yield Path(given)
        return
    from gristmill.manifests.remote_view import remote_view

    with remote_view(given, lists) as view:
        yield view.folder
