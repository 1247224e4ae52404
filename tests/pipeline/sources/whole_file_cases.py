"""Hostile bytes for sources that make one record of a file, and what must hold whatever the bytes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from blake3 import blake3
from hypothesis import strategies as st

from gristmill.manifests.schema import record_id
from gristmill.pipeline.sources.protocol import Loss
from tests.pipeline.sources.checked import OPTIONS, Row, read_bytes

_BOMS = (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_LABELS = ("utf-8", "utf-16", "utf-32", "utf-32-x", "utf-7", "cp1252", "sjis", "big5", "iso-2022-jp", "rot13", "zip")
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "cp1252", "koi8-r", "shift_jis", "gb18030")
_PIECES = (b"\0", b"\xef\xbf\xbc", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc3", b"\xf4\x90\x80\x80", b"\r\n", b"<")
_METAS = tuple(f'<meta charset="{label}">'.encode() for label in _LABELS)

_ENCODED = st.builds(
    lambda text, encoding: text.encode(encoding, "replace"), st.text(max_size=30), st.sampled_from(_ENCODINGS)
)
_PART = st.sampled_from(_PIECES + _METAS) | st.binary(max_size=40) | _ENCODED
HOSTILE = st.builds(lambda bom, parts: bom + b"".join(parts), st.sampled_from(_BOMS), st.lists(_PART, max_size=8))


def one_of(source: str, data: bytes, folder: Path, name: str, **changes: Any) -> Row | Loss:
    """The one row or loss of a file, which must be one and have the right identity."""
    options = replace(OPTIONS, **changes)
    rows, losses = read_bytes(source, data, folder, name, options)
    assert len(rows) + len(losses) == 1
    for loss in losses:
        assert (loss.offset, loss.raw, loss.raw_hash) == (0, data[:256], blake3(data).digest(16))
        return loss
    assert rows[0]["id"] == record_id("path", options.dataset, name)
    assert rows[0]["url"] is None
    assert len(rows[0]["text"].encode()) <= options.max_doc_bytes
    return rows[0]


def row_of(source: str, data: bytes, folder: Path, name: str, **changes: Any) -> Row:
    """The row of a file that must become one."""
    found = one_of(source, data, folder, name, **changes)
    assert not isinstance(found, Loss), found
    return found


def loss_of(source: str, data: bytes, folder: Path, name: str, **changes: Any) -> Loss:
    """The loss of a file that must not become a row."""
    found = one_of(source, data, folder, name, **changes)
    assert isinstance(found, Loss), found
    return found
