"""The place that a command is given: a folder, or one in object storage, of which it sees a view or a working copy."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gristmill.manifests.errors import AlarmError, GristmillError
from gristmill.manifests.remote_access import is_remote, obstore
from gristmill.manifests.working_copy import working_copy


@contextmanager
def folder_of(given: str, lists: Sequence[str] = ()) -> Generator[Path]:
    """The folder to read; of a place in object storage one that holds its documents and the files of these lists."""
    if not is_remote(given):
        yield Path(given)
        return
    from gristmill.manifests.remote_view import remote_view

    with remote_view(given, lists) as view:
        yield view.folder


@contextmanager
def told_of_url(url: str) -> Generator[Path]:
    """The working copy of an output in object storage; errors name the output, not the copy."""
    obstore()  # what is not installed is told before anything starts
    copy = working_copy(url)
    try:
        yield copy
    except GristmillError as error:
        error.what, error.where, error.remedy = (
            text.replace(str(copy), url.rstrip("/")) for text in (error.what, error.where, error.remedy)
        )
        if isinstance(error, AlarmError):
            error.report = error.report.replace(str(copy), url.rstrip("/"))
        raise
