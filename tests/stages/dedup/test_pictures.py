"""Equal pictures: pixels decide, not files; broken and hostile files cost nothing but themselves."""

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gristmill.manifests.child import ChildLimits
from gristmill.manifests.effects import EFFECTS, effects_of_task, facts_of_effects
from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.dedup import pictures
from gristmill.stages.dedup.pictures import PictureDedup, picture_keys
from gristmill.stages.dedup.pictures_child import pixel_hash
from gristmill.stages.protocol import DROP, MARK
from tests.pipeline.pictures import batch_of, medium, picture
from tests.stages.dedup.exchanges import verdicts_on


def written(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def noise(seed: int = 0, mode: str = "RGB") -> Image.Image:
    return Image.open(io.BytesIO(picture(13, 9, seed))).convert(mode)


def keys(*media: list[dict[str, Any]]) -> dict[int, bytes]:
    return picture_keys(batch_of([(MEDIUM_CHAR * len(m), m) for m in media]).column("media"))


@given(
    st.integers(0, 50),
    st.integers(0, 9),
    st.sampled_from([("PNG", {}), ("WEBP", {"lossless": True}), ("BMP", {}), ("TIFF", {})]),
)
def test_the_file_does_not_count(seed: int, level: int, form: tuple[str, dict[str, Any]]) -> None:
    plain = pixel_hash(written(noise(seed)))
    assert pixel_hash(written(noise(seed), compress_level=level)) == plain
    assert pixel_hash(written(noise(seed), form[0], **form[1])) == plain


def test_palettes_and_opaque_alpha_do_not_count_and_pixels_do() -> None:
    few = noise().quantize(8)
    assert (
        pixel_hash(written(few)) == pixel_hash(written(few.convert("RGB"))) == pixel_hash(written(few.convert("RGBA")))
    )
    one = noise()
    one.putpixel((3, 3), (1, 2, 3))
    clear = noise().convert("RGBA")
    clear.putalpha(254)
    hashes = {
        pixel_hash(written(i))
        for i in (noise(), one, clear, noise().crop((0, 0, 9, 9)), noise().transpose(Image.Transpose.ROTATE_90))
    }
    assert len(hashes) == 5


def test_the_size_counts_where_the_bytes_are_the_same() -> None:
    flat = [Image.new("RGB", size, "red") for size in ((4, 9), (9, 4), (6, 6))]
    assert len({pixel_hash(written(image)) for image in flat}) == 3


def test_sixteen_bits_are_not_cut_to_eight() -> None:
    deep = [Image.fromarray(np.full((4, 4), value, np.uint16)) for value in (4000, 4001)]
    assert pixel_hash(written(deep[0])) != pixel_hash(written(deep[1]))


def test_orders_and_numbers_of_pictures_count() -> None:
    a, b = (medium(picture(9, 9, seed)) for seed in (1, 2))
    again = medium(written(Image.open(io.BytesIO(picture(9, 9, 1))), "BMP"))
    found = keys([a], [b], [a, b], [b, a], [a, a], [again], [again, b], [])
    assert len(found) == 7 and found[0] == found[5] and found[2] == found[6]
    assert len(set(found.values())) == 5


def test_what_cannot_be_compared_is_left_alone() -> None:
    whole = picture(9, 9, 1)
    frames = io.BytesIO()
    noise(1).save(frames, "GIF", save_all=True, append_images=[noise(2)])
    others: list[bytes] = [whole[:60], b"", b"no picture", frames.getvalue(), _bomb()]
    assert keys(*([medium(data)] for data in others)) == {}
    film = medium(whole) | {"kind": "video"}
    assert keys([medium(None, uri="x")], [film], [medium(whole), film], [medium(whole), medium(None)]) == {}
    assert set(keys([medium(b"broken")], [medium(whole)], [medium(whole), medium(b"broken")])) == {1}


def _bomb() -> bytes:
    """A head of 60,000 by 60,000 pixels, in a few bytes."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + chunk(b"IEND", b"")


@given(st.binary(max_size=200), st.integers(0, 200), st.integers(0, 255))
def test_any_bytes_hash_or_raise(data: bytes, at: int, value: int) -> None:
    damaged = bytearray(picture(9, 9, 1))
    damaged[at % len(damaged)] = value
    for file in (data, bytes(damaged)):
        try:
            assert len(pixel_hash(file)) == 32
        except Exception as error:
            assert not isinstance(error, MemoryError | RecursionError)


def test_the_best_by_policy_stays_and_stands_for_the_others() -> None:
    shown = [medium(written(noise(1), "BMP" if n else "PNG")) for n in range(2)]
    batch = batch_of(
        [
            (f"a {MEDIUM_CHAR}", [shown[0]]),
            (f"longer {MEDIUM_CHAR}", [shown[1]]),
            ("none", []),
            (MEDIUM_CHAR, [shown[0]]),
        ]
    )
    rows = verdicts_on(PictureDedup(keep=("longest",)), batch)
    drops = [row for row in rows if row["kind"] == DROP]
    assert sorted(row["addr"] for row in drops) == [0, 3]
    assert {row["keeper"].hex() for row in drops} == {batch.column("id")[1].as_py()}
    assert [(row["addr"], row["value"]) for row in rows if row["kind"] == MARK] == [(1, 3.0)]
    assert PictureDedup().explain(drops[0]["note"]) == "the same pixels in another record"


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="picture_dedup"):
        PictureDedup(keep=("best",))


def test_a_picture_that_the_child_fails_on_is_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture too large for the memory of this child: the record says so wherever it is replayed."""
    large = medium(written(Image.new("RGB", (6000, 6000), "red")))
    small = medium(picture(9, 9, 1))
    with effects_of_task(None):
        whole = keys([large], [small])
        assert set(whole) == {0, 1} and facts_of_effects() == {}
    monkeypatch.setattr(pictures, "LIMITS", ChildLimits(20.0, 96 << 20, 64))
    with effects_of_task(None):
        assert keys([large], [small]) == {1: whole[1]}
        recorded = facts_of_effects()[EFFECTS]
    assert [effect[1] for effect in recorded.values()] == ["memory"]
    monkeypatch.undo()
    with effects_of_task(recorded):
        assert keys([large], [small]) == {1: whole[1]}
