"""Task `similar_key`: the key under which a search hashes the shingles that similarity is measured on.

Payload: `digests` (of the shards). Leaves nothing but the fact `key`, 16 hex digits. It is drawn from the corpus as it
was when this output first searched it, so nobody who wrote a part of that corpus could know it, and no document can be
made to look like another; it is recorded once and used again when the corpus has grown, so that sets made before serve
on. No verdict depends on it, but for collisions of 64-bit hashes.
"""

from blake3 import blake3

from gristmill.manifests.commit import ObjectStore
from gristmill.manifests.receipt import Receipt
from gristmill.pipeline.task import Task

_CONTEXT = "gristmill similarity 1"
_KEY_BYTES = 8


def run(task: Task, store: ObjectStore) -> Receipt:
    """See the module."""
    hasher = blake3(derive_key_context=_CONTEXT)
    for digest in sorted(task.payload["digests"]):
        hasher.update(digest.encode())
    with store.begin(task.key, task.what) as writer:
        return writer.commit({"key": hasher.hexdigest(_KEY_BYTES)})
