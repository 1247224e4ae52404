"""The store of an output from its root alone, wherever a task runs.

A root is text or a path: the output's folder, or the working copy on this machine of an output in object storage
(`manifests.working_copy`), whose name tells where that lies. Every process that works on an output opens it here.
"""

from pathlib import Path

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.working_copy import output_of


def open_store(root: str | Path) -> ObjectStore:
    """The store. Raises UsageError where a working copy is of another server than the environment names."""
    root = Path(root)
    remote = output_of(root)
    if remote is None:
        return ObjectStore(root)
    from gristmill.manifests.remote_store import RemoteStore

    return RemoteStore(root, remote)
