"""The store of an output from its root alone, wherever a task runs.

A root is text or a path: the output's folder, or the working copy on this machine of an output in object storage
(`manifests.remote_place`), whose name tells where that lies. Every process that works on an output opens it here.
"""

from pathlib import Path

from gristmill.manifests.commit import ObjectStore


def open_store(root: str | Path) -> ObjectStore:
    """The store. Touches neither disk nor network."""
    return ObjectStore(Path(root))
