"""Sequences whose records have pictures: what is read from pixels, and what is noticed when it is changed."""

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.media_shard import media_batch
from gristmill.manifests.trainer_schema import TrainerFormat
from gristmill.render.draws import Draws
from gristmill.synth.atoms import prepare
from gristmill.synth.build import Built, build_all_with_media
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.plan import SynthParams, skipped
from gristmill.synth.scenes import drawing, pages, panels, things
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.digits import number_in
from gristmill.synth.solvers.forms import Thing, words_of
from gristmill.synth.solvers.forms import things as things_in
from gristmill.synth.solvers.laws import LAWS
from gristmill.synth.solvers.pages import text_of
from gristmill.synth.solvers.pixels import decode
from gristmill.synth.solvers.records import read_records, record_pieces
from gristmill.synth.solvers.verify import verify_row, verify_shards
from gristmill.synth.solvers.words import Contradiction
from tests.synth.banks import planted, prove_all, reading_of, with_piece
from tests.synth.corpus import documents, tokenizer
from tests.synth.illustrated import illustrated, prepared

Row = dict[str, Any]

pytestmark = pytest.mark.skipif(bool(drawing.absent()), reason=f"pictures cannot be drawn: {drawing.absent()}")

SHARES = ("image_shares", "object_count", "page_needle", "visual_diff")
PATHS = ("cross_modal", "which_image", "render_match")
PICTURED = tuple(sorted(name for name, family in FAMILIES.items() if family.pictured))


def form(context: int) -> TrainerFormat:
    return TrainerFormat(context, tokenizer().identity, "", ImageCost())


@cache
def built(context: int, families: tuple[str, ...]) -> Built:
    params = SynthParams(context=context, sequences=1, seed=5, modes={"task": 1}, families=families)
    counted: dict[str, int] = {}
    rows = list(build_all_with_media(params, documents(300_000), tokenizer(), form(context), counted))
    assert not counted
    return rows[0]


def shares() -> Built:
    return built(49_152, SHARES)


def verify(made: Built, row: Row | None = None, data: dict[bytes, bytes] | None = None) -> int:
    batch = made.row if row is None else pa.RecordBatch.from_pylist([row], schema=made.row.schema)
    return len(verify_row(batch, tokenizer(), files(made) if data is None else data))


def files(made: Built) -> dict[bytes, bytes]:
    return {sha: shown.data for sha, shown in made.media.items()}


@pytest.mark.parametrize(
    ("context", "families"), [(49_152, SHARES), (131_072, PATHS), (65_536, ("image_coordinate",))], ids=str
)
class TestRow:
    def test_is_proved_from_itself(self, context: int, families: tuple[str, ...]) -> None:
        made = built(context, families)
        (row,) = made.row.to_pylist()
        assert context - 256 <= row["n_tokens"] <= context
        assert {task["family"] for task in row["tasks"]} == set(families)
        assert verify(made) == len(row["tasks"])

    def test_evidence_names_its_pictures(self, context: int, families: tuple[str, ...]) -> None:
        (row,) = built(context, families).row.to_pylist()
        assert set(built(context, families).media) == {medium["sha256"] for medium in row["media"]}
        shown = 0
        for task in row["tasks"]:
            for part in task["evidence"]:
                inside = [
                    s
                    for s in row["segments"]
                    if part["start"] <= s["start"] < part["end"] and s["media_idx"] is not None
                ]
                assert [s["media_idx"] for s in inside] == [part["media_idx"]] * len(inside)
                assert (part["media_idx"] is None) == (not inside)
                shown += len(inside)
        assert shown

    def test_distance_only_is_claimed_where_it_is(self, context: int, families: tuple[str, ...]) -> None:
        (row,) = built(context, families).row.to_pylist()
        for task in row["tasks"]:
            assert task["klass"] == "A"
            if FAMILIES[task["family"]].placing != "far":
                assert task["window_eps"][1] <= 0.02
            assert abs(task["chance"] * task["answer_space"] - 1) < 1e-6


def _swapped_pictures(row: Row) -> None:
    """Two pictures of one size change places in the table."""
    first, other = _two_panels(row)
    first["sha256"], other["sha256"] = other["sha256"], first["sha256"]


def _two_panels(row: Row) -> tuple[Row, Row]:
    task = next(t for t in row["tasks"] if t["family"] == "image_shares")
    own = {part["media_idx"] for part in task["evidence"]}
    panel = row["media"][min(own)]
    alike = (m for i, m in enumerate(row["media"]) if i not in own and m["width"] == panel["width"])
    return panel, next(m for m in alike if m["sha256"] != panel["sha256"])


def _missing_picture(row: Row) -> None:
    row["media"].pop()


def _one_place_more(row: Row) -> None:
    row["media"][0]["token_len"] += 1


def _another_number(row: Row) -> None:
    row["tasks"][0]["evidence"][0]["media_idx"] += 1


def _no_number(row: Row) -> None:
    row["tasks"][0]["evidence"][0]["media_idx"] = None


def _picture_left_out(row: Row) -> None:
    """Evidence is said to be the words alone."""
    part = next(p for t in row["tasks"] for p in t["evidence"] if p["media_idx"] is not None)
    part["end"] -= 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (_swapped_pictures, "unsolved"),
        (_missing_picture, "media"),
        (_one_place_more, "media"),
        (_another_number, "spans"),
        (_no_number, "spans"),
        (_picture_left_out, "spans"),
    ],
    ids=lambda f: getattr(f, "__name__", f),
)
def test_planted_faults_are_found(fault: Callable[[Row], None], reason: str) -> None:
    (row,) = shares().row.to_pylist()
    fault(row)
    with pytest.raises(Unproved) as caught:
        verify(shares(), row)
    assert caught.value.reason == reason


def test_other_bytes_and_missing_ones_are_found() -> None:
    data = files(shares())
    one, other = sorted(data)[:2]
    with pytest.raises(Unproved, match=r"media: medium .* another sha256"):
        verify(shares(), data=data | {one: data[other]})
    with pytest.raises(Unproved, match=r"media: medium .* not at hand"):
        verify(shares(), data={sha: file for sha, file in data.items() if sha != one})


def repainted(made: Built, family: str, paint: Callable[[Image.Image], Image.Image]) -> tuple[Row, dict[bytes, bytes]]:
    """The row with another picture in the place of one that a task of the family needs; hashes are those of the new."""
    (row,) = made.row.to_pylist()
    task = next(t for t in row["tasks"] if t["family"] == family)
    number = next(part["media_idx"] for part in task["evidence"] if part["media_idx"] is not None)
    data = files(made)
    with Image.open(io.BytesIO(data[row["media"][number]["sha256"]])) as image:
        out = io.BytesIO()
        paint(image.convert("RGB")).save(out, "PNG")
    sha256 = hashlib.sha256(out.getvalue()).digest()
    row["media"][number]["sha256"] = sha256
    return row, data | {sha256: out.getvalue()}


def _shifted(image: Image.Image) -> Image.Image:
    """All that is in it 3 pixels further to the left."""
    ground = image.getpixel((0, 0))
    moved = Image.new("RGB", image.size, ground)
    moved.paste(image, (-3, 0))
    return moved


def _other_panel(image: Image.Image) -> Image.Image:
    was = number_in(np.asarray(image))
    return _drawn(panels.panel(int(was) + (1 if int(was) < 9999 else -1), Draws("other", was)))


def _drawn(asked: Any) -> Image.Image:
    return Image.open(io.BytesIO(drawing.draw(asked).data)).convert("RGB")


def _mirrored(image: Image.Image) -> Image.Image:
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def _emptied(image: Image.Image) -> Image.Image:
    return Image.new("RGB", image.size, image.getpixel((0, 0)))


def _all_blue(image: Image.Image) -> Image.Image:
    """All things in one colour."""
    pixels = np.array(image)
    for thing in things_in(np.asarray(image)):
        x0, y0, x1, y1 = map(int, thing.box)
        box = pixels[y0:y1, x0:x1]
        box[(box != pixels[0, 0]).any(axis=2)] = (30, 100, 205)
    return Image.fromarray(pixels)


@pytest.mark.parametrize(
    ("context", "families", "family", "paint"),
    [
        (49_152, SHARES, "image_shares", _other_panel),
        (49_152, SHARES, "image_shares", _emptied),
        (49_152, SHARES, "object_count", _emptied),
        (49_152, SHARES, "page_needle", _mirrored),
        (49_152, SHARES, "visual_diff", _all_blue),
        (49_152, SHARES, "visual_diff", _shifted),
        (65_536, ("image_coordinate",), "image_coordinate", _shifted),
        (131_072, PATHS, "which_image", _mirrored),
        (131_072, PATHS, "render_match", _shifted),
        (131_072, PATHS, "cross_modal", _other_panel),
    ],
    ids=str,
)
def test_a_repainted_picture_is_found(
    context: int, families: tuple[str, ...], family: str, paint: Callable[[Image.Image], Image.Image]
) -> None:
    made = built(context, families)
    row, data = repainted(made, family, lambda image: image)
    assert verify(made, row, data) == len(row["tasks"]), "with the same pixels in other bytes all is proved"
    row, data = repainted(made, family, paint)
    with pytest.raises(Unproved) as caught:
        verify(made, row, data)
    assert caught.value.reason in ("unsolved", "claims")


def test_shards_with_media_are_verified_from_files_alone(tmp_path: Path) -> None:
    made = shares()
    told = sorted(made.media.values(), key=lambda shown: shown.medium.sha256)
    rows, media = tmp_path / "rows.arrow", tmp_path / "media.arrow"
    for path, batch in ((rows, made.row), (media, media_batch(told))):
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write_batch(batch)
    assert verify_shards([rows], tokenizer(), [media]).tasks == len(made.row.column("tasks")[0])
    with pytest.raises(VerifyError, match="not at hand"):
        verify_shards([rows], tokenizer())
    with pytest.raises(VerifyError, match="media shards"):
        verify_shards([rows], tokenizer(), [rows])


def test_who_lacks_one_panel_finds_all_answers_alike() -> None:
    """In every world that differs in the number of one panel, the answer is another: each candidate once."""
    bank = planted("image_shares", FAMILIES["image_shares"].sizes[-1], 3, 1)
    (asked,) = bank.tasks
    answers: set[str] = set()
    for number in range(int(dict(asked.params)["modulus"])):
        shown = drawing.draw(panels.panel(number, Draws("world", number)))
        world = with_piece(bank, asked.facts[0], replace(bank.pieces[asked.facts[0]], media=(shown,)))
        reading = reading_of(world)
        records = read_records(reading, record_pieces(reading))
        found = LAWS["image_shares"].solve(bank.pieces[asked.query].text, records)
        assert found is not None
        answers.add(found)
    assert answers == set(asked.candidates)


@pytest.mark.parametrize("family", ["cross_modal", "image_coordinate", "render_match", "which_image"])
def test_swapped_pictures_change_the_answer(family: str) -> None:
    """The last picture of the path that is asked for, and another one of its hop, change places."""
    bank = planted(family, FAMILIES[family].sizes[-1], 4, 1)
    (asked,) = bank.tasks
    last = asked.facts[-1]
    others = (i for i, _ in asked.others if bank.pieces[i].media and i % 16 != last % 16)
    other = next(i for i in others if bank.pieces[i].media != bank.pieces[last].media)
    swapped = with_piece(bank, last, replace(bank.pieces[last], media=bank.pieces[other].media))
    swapped = with_piece(swapped, other, replace(bank.pieces[other], media=bank.pieces[last].media))
    assert prove_all(reading_of(bank))
    with pytest.raises((Unproved, Contradiction)):
        prove_all(reading_of(swapped))


def test_things_are_read_as_they_were_drawn() -> None:
    """Boxes to the pixel, forms and colours, over all forms, colours, shades, grounds and sides."""
    draws = Draws("things")
    for _ in range(40):
        kinds = [(draws.pick(things.COLOURS), draws.pick(things.FORMS)) for _ in range(6)]
        laid = things.laid_out(kinds, (3, 2), (168, 112), draws)
        picture = decode(drawing.draw(things.scene(laid, (168, 112), draws)).data)
        assert sorted(things_in(picture)) == sorted(Thing(t.colour, t.form, t.box) for t in laid)
    assert words_of(picture).count("[") == 6


def test_panels_are_read_as_they_were_drawn() -> None:
    draws = Draws("panels")
    for number in (*range(10), *(draws.integer(10, 10_000) for _ in range(90))):
        assert number_in(decode(drawing.draw(panels.panel(number, draws)).data)) == str(number)


def test_pages_are_read_as_they_were_drawn() -> None:
    draws = Draws("pages")
    for number in range(12):
        said = f"Then Kurmogesi came up with {draws.integer(0, 97)} more."
        read = text_of(decode(drawing.draw(pages.page(said, draws)).data))
        assert said in read and len(read) > 150, number


def test_pictures_that_are_none_are_refused() -> None:
    for data in (b"", b"GIF89a", drawing.draw(panels.panel(5, Draws("x"))).data[:-40]):
        with pytest.raises(Contradiction):
            decode(data)
    noise = np.random.default_rng(1).integers(0, 255, (56, 112, 3), np.uint8)
    for read in (number_in, text_of, words_of):
        with pytest.raises(Contradiction):
            read(noise)


class TestPlans:
    def test_pictures_are_planted_among_documents_with_pictures_alone(self) -> None:
        params = SynthParams(context=65_536, sequences=1, seed=1)
        assert set(skipped(params, documents(50_000))) == set(PICTURED)
        assert not skipped(params, prepare([illustrated(1)], tokenizer())[0])

    def test_a_named_family_that_cannot_be_drawn_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        named = SynthParams(context=65_536, sequences=1, seed=1, families=("image_shares",))
        assert not skipped(named, documents(50_000))
        monkeypatch.setattr(drawing, "absent", lambda: "cairosvg does not work here")
        assert skipped(named, documents(50_000)) == {"image_shares": "cairosvg does not work here"}
        with pytest.raises(UsageError, match="image_shares"):
            list(build_all_with_media(named, documents(50_000), tokenizer(), form(65_536), {}))

    def test_pictures_that_would_be_made_smaller_are_not_planted(self) -> None:
        small = SynthParams(context=65_536, sequences=1, seed=1, image_cost=ImageCost(max_tokens=100))
        found = skipped(small, prepared(4))
        assert set(found) == set(PICTURED) and "too small" in min(found.values())


def test_records_with_pictures_stand_among_documents_with_pictures() -> None:
    named = ("image_shares", "visual_diff")
    params = SynthParams(context=24_576, sequences=1, seed=2, modes={"task": 1}, families=named)
    docs = prepare([illustrated(n) for n in range(60)], tokenizer())[0]
    (made,) = build_all_with_media(params, docs, tokenizer(), form(24_576), {})
    (row,) = made.row.to_pylist()
    assert {task["family"] for task in row["tasks"]} == set(named)
    assert verify(made) == len(row["tasks"])
