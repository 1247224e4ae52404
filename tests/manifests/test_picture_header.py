"""Sizes of pictures from the head of their files: those that Pillow finds, and nothing where there is none."""

import io
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gristmill.manifests import picture_header
from gristmill.manifests.child import ChildLimits
from gristmill.manifests.picture_header import HEAD_BYTES, sizes, stored_size
from tests.pipeline.pictures import picture

FORMS = [("PNG", {}), ("GIF", {}), ("JPEG", {}), ("JPEG", {"progressive": True}), ("WEBP", {}), ("BMP", {})]
FORMS += [("WEBP", {"lossless": True}), ("WEBP", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"})]


@pytest.mark.parametrize("form", FORMS, ids=[f"{name} {' '.join(how)}" for name, how in FORMS])
@given(st.integers(1, 300), st.integers(1, 300))
@settings(max_examples=15, deadline=None)
def test_the_size_is_that_of_the_file(form: tuple[str, dict[str, object]], width: int, height: int) -> None:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (9, 99, 200)).save(out, form[0], **form[1])
    data = out.getvalue()
    assert stored_size(data) == (width, height)
    for end in range(0, min(len(data), 700)):
        assert stored_size(data[:end]) in (None, (width, height))


@given(
    st.one_of(st.binary(), st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"BM", b"RIFF"])),
    st.binary(),
)
@settings(max_examples=300)
def test_no_bytes_raise(head: bytes, rest: bytes) -> None:
    found = stored_size(head + rest)
    assert found is None or min(found) > 0


def test_real_pictures(shared_data: Path) -> None:
    files = sorted((shared_data / "images").iterdir())
    assert len(files) > 10
    heads = [path.read_bytes() for path in files]
    found = sizes(heads)
    for path, size, head in zip(files, found, heads, strict=True):
        with Image.open(path) as shown:
            assert size == stored_size(head[:HEAD_BYTES]) == shown.size


def test_what_a_file_says_of_itself_may_be_absurd() -> None:
    png = picture(4, 4)
    assert stored_size(png[:16] + struct.pack(">II", 1 << 31, 7) + png[24:]) == (1 << 31, 7)
    assert stored_size(png[:16] + struct.pack(">II", 0, 7) + png[24:]) is None


def test_a_jpeg_without_an_end_of_segments() -> None:
    """Fill bytes, markers without length, a length of nothing: each moves on, and none hangs."""
    for part in (b"\xff", b"\xff\x01", b"\xff\xd0", b"\xff\xe0\0\0", b"\xff\xe0\xff\xff"):
        assert stored_size(b"\xff\xd8" + part * 20_000) is None


def test_a_child_that_fails_gives_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_header, "_LIMITS", ChildLimits(max_output_bytes=3))
    assert sizes([picture(5, 6)]) == [None]
    monkeypatch.undo()
    assert sizes([picture(5, 6), b"no picture", memoryview(picture(8, 3))]) == [(5, 6), None, (8, 3)]
