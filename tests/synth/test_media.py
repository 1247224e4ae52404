"""Documents with pictures and videos in sequences, as who reads rows sees them."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.errors import UsageError
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.schema import DOCUMENT, MEDIUM_CHAR
from gristmill.manifests.trainer_schema import packed_schema
from gristmill.pipeline.media_places import MediaRules
from gristmill.pipeline.tokenise import tokenise
from gristmill.render.draws import Draws
from gristmill.synth.atoms import Source, prepare
from gristmill.synth.build import build_all_with_media
from gristmill.synth.holds import free_places
from gristmill.synth.media import Shown
from gristmill.synth.order import MODES, Mode
from gristmill.synth.plan import SynthParams
from gristmill.synth.solvers.asking import Unproved
from gristmill.synth.solvers.verify import verify_row
from tests.synth.corpus import prose, source, tokenizer
from tests.synth.illustrated import COST, built, form, illustrated, picture, prepared, video

Row = dict[str, Any]
CONTEXT = 24_576


def plain_of(mode: Mode, name: str = "deepseek") -> Row:
    return built(CONTEXT, mode, name).row.to_pylist()[0]


def known() -> dict[str, Source]:
    return {source.id: source for source in map(illustrated, range(CONTEXT // 400))}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["deepseek", "bytes"])
class TestRow:
    def test_is_exactly_full_and_proved(self, mode: Mode, name: str) -> None:
        made = built(CONTEXT, mode, name)
        assert made.row.schema.equals(packed_schema(form(CONTEXT, name)), check_metadata=True)
        assert CONTEXT - 256 <= made.row.column("n_tokens")[0].as_py() <= CONTEXT
        assert len(made.row.column("media")[0]) >= 3
        proofs = verify_row(made.row, tokenizer(name), {sha: shown.data for sha, shown in made.media.items()})
        assert bool(proofs) == (mode == "task")

    def test_no_media_count_mismatch(self, mode: Mode, name: str) -> None:
        """Each medium has its places, one segment, pad ids and no target; no other segment names one."""
        row, pad = plain_of(mode, name), form(CONTEXT, name).tokenizer.pad_id
        ids = np.array(row["input_ids"])
        segments = [s for s in row["segments"] if s["kind"] in ("image", "video")]
        silent = [(s["start"], s["end"]) for s in row["loss_spans"] if s["reason"] == "media" and s["weight"] == 0]
        places = [(m["token_start"], m["token_start"] + m["token_len"]) for m in row["media"]]
        assert [(s["start"], s["end"]) for s in segments] == places == silent
        assert all((ids[a:b] == pad).all() for a, b in places)
        assert sum(s["media_idx"] is not None for s in row["segments"]) == len(segments)

    def test_no_media_index_shift(self, mode: Mode, name: str) -> None:
        """The medium of each place is that which its own document has there: none lost, none doubled, in order."""
        row, sources = plain_of(mode, name), known()
        assert [s["media_idx"] for s in row["segments"] if s["media_idx"] is not None] == list(range(len(row["media"])))
        looked_at = 0
        for index, doc in enumerate(row["docs"]):
            shown = [s for s in row["segments"] if s["doc_idx"] == index and s["media_idx"] is not None]
            found = [(row["media"][s["media_idx"]]["sha256"], s["kind"]) for s in shown]
            wanted = [(m.medium.sha256, m.medium.kind) for m in sources[doc["id"]].media if m] if shown else []
            assert found == wanted[: len(found)] and len(found) == len({sha for sha, _ in found})
            text = sum(s["end"] - s["start"] for s in row["segments"] if s["doc_idx"] == index)
            if text >= doc["n_tokens_total"] and shown:
                assert found == wanted
            looked_at += len(found)
        assert looked_at == len(row["media"])

    def test_no_wrong_image_cost(self, mode: Mode, name: str) -> None:
        row = plain_of(mode, name)
        for medium in row["media"]:
            assert medium["token_len"] == COST.tokens(medium["width"], medium["height"], medium["frames"])
        sizes = [(m["width"], m["height"]) for m in row["media"] if m["frames"] is None]
        assert name == "bytes" or any(COST.resized(*size) != size for size in sizes), (
            "one is made smaller before it is counted"
        )

    def test_no_media_not_trimmed_with_tokens(self, mode: Mode, name: str) -> None:
        """Bytes are those of the media that the row shows, no more and no fewer, and have their hashes."""
        made, row = built(CONTEXT, mode, name), plain_of(mode, name)
        assert set(made.media) == {medium["sha256"] for medium in row["media"]}
        by_sha = {m.medium.sha256: m for source in known().values() for m in source.media if m}
        assert all(by_sha[sha] == shown for sha, shown in made.media.items())
        assert all(m["token_start"] + m["token_len"] <= row["n_tokens"] for m in row["media"])

    def test_captions_stay(self, mode: Mode, name: str) -> None:
        """The words next to a picture, with nothing planted or of another document between, are its own."""
        row = plain_of(mode, name)
        sources = {m.medium.sha256: number for number, m in _numbered()}
        ids = np.array(row["input_ids"], np.uint32)
        for at, segment in enumerate(row["segments"]):
            if segment["media_idx"] is not None:
                behind = row["segments"][at + 1]
                own = sources[row["media"][segment["media_idx"]]["sha256"]]
                assert behind["doc_idx"] == segment["doc_idx"] and behind["doc_offset"] == segment["doc_offset"] + (
                    segment["end"] - segment["start"]
                )
                text = tokenizer(name).decode(ids[behind["start"] : behind["end"]])
                before = row["segments"][at - 1]
                front = tokenizer(name).decode(ids[before["start"] : before["end"]])
                assert text.lstrip().startswith(f"Caption of plate {own}.") or front.endswith(f"Beside plate {own} ")


def _numbered() -> list[tuple[int, Shown]]:
    found: list[tuple[int, Shown]] = []
    for own in known().values():
        names = [int(n) for n in re.findall(r"(?:Caption of|Beside) plate (\d+)", own.text)]
        found += [(n, m) for n, m in zip(names, own.media, strict=True) if m]
    return found


def test_ids_are_those_that_emit_writes() -> None:
    sources = [illustrated(n) for n in range(12)]
    rows = [
        {
            "id": s.id,
            "content_hash": s.content_hash,
            "domain": s.domain,
            "text": s.text.strip() + "\n\n",
            "media": [_record(m) for m in s.media],
        }
        for s in sources
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=DOCUMENT)
    emitted = tokenise(batch, tokenizer(), MediaRules(COST, CONTEXT)).batch.to_pylist()
    docs = prepare(sources, tokenizer(), COST)[0]
    params = SynthParams(context=8192, sequences=2, seed=1, modes={"concat": 1}, image_cost=COST)
    compared = 0
    for made in build_all_with_media(params, docs, tokenizer(), form(8192), {}):
        (row,) = made.row.to_pylist()
        for index, doc in enumerate(row["docs"]):
            own = [s for s in row["segments"] if s["doc_idx"] == index and s["kind"] != "separator"]
            ids = [i for s in own for i in row["input_ids"][s["start"] : s["end"]]]
            (same,) = (e for e in emitted if e["id"] == doc["id"])
            if len(ids) == same["n_tokens"]:
                compared += 1
                assert ids == same["input_ids"] and doc["n_tokens_total"] == same["n_tokens"]
                shown = [row["media"][s["media_idx"]] for s in own if s["media_idx"] is not None]
                told = [(m["sha256"], m["width"], m["height"], m["frames"], m["token_len"]) for m in same["media"]]
                assert told == [(m["sha256"], m["width"], m["height"], m["frames"], m["token_len"]) for m in shown]
    assert compared >= 4


def _record(shown: Shown | None) -> Row:
    if shown is None:
        return {"kind": "image", "uri": "not fetched"}
    return {**shown.medium._asdict(), "bytes": shown.data}


def test_a_row_depends_on_its_pictures() -> None:
    docs = list(prepared(40))
    params = SynthParams(context=8192, sequences=1, seed=1, modes={"task": 1}, image_cost=COST)
    (one,) = build_all_with_media(params, docs, tokenizer(), form(8192), {})
    (again,) = build_all_with_media(params, docs[::-1], tokenizer(), form(8192), {})
    assert one.row.equals(again.row) and one.media == again.media


def _no_fault(row: Row) -> None:
    """Nothing."""


def _one_place_less(row: Row) -> None:
    row["media"][1]["token_len"] -= 1


def _shifted(row: Row) -> None:
    row["media"][1]["token_start"] += 1


def _swapped(row: Row) -> None:
    """Two pictures of different size change places in the table."""
    sizes = [(m["width"], m["height"]) for m in row["media"]]
    other = next(i for i, size in enumerate(sizes) if size != sizes[0] and row["media"][i]["frames"] is None)
    first = next(i for i, size in enumerate(sizes) if size != sizes[other] and row["media"][i]["frames"] is None)
    for name in ("sha256", "width", "height"):
        row["media"][first][name], row["media"][other][name] = row["media"][other][name], row["media"][first][name]


def _missing(row: Row) -> None:
    row["media"].pop()


def _unnamed(row: Row) -> None:
    next(s for s in row["segments"] if s["media_idx"] == 2)["media_idx"] = None


def _with_target(row: Row) -> None:
    next(s for s in row["loss_spans"] if s["reason"] == "media")["weight"] = 1.0


def _other_id(row: Row) -> None:
    row["input_ids"][row["media"][0]["token_start"]] = 5


def _null(row: Row) -> None:
    row["media"][0]["width"] = None


@pytest.mark.parametrize(
    "fault",
    [_no_fault, _one_place_less, _shifted, _swapped, _missing, _unnamed, _with_target, _other_id, _null],
    ids=lambda f: f.__name__,
)
def test_planted_faults_are_found(fault: Any) -> None:
    row = plain_of("interleave")
    fault(row)
    batch = pa.RecordBatch.from_pylist([row], schema=built(CONTEXT, "interleave").row.schema)
    if fault is _no_fault:
        verify_row(batch, tokenizer())
        return
    with pytest.raises(Unproved) as caught:
        verify_row(batch, tokenizer())
    assert caught.value.reason == "media"


def test_other_bytes_are_found() -> None:
    made = built(CONTEXT, "knot")
    data = {sha: shown.data for sha, shown in made.media.items()}
    verify_row(made.row, tokenizer(), data)
    data[min(data)] = data[max(data)]
    with pytest.raises(Unproved, match=r"media: medium .* another sha256"):
        verify_row(made.row, tokenizer(), data)


def test_an_image_cost_of_another_format_is_an_error() -> None:
    params = SynthParams(context=8192, sequences=1, seed=1, modes={"concat": 1}, image_cost=COST)
    other = replace(form(8192), image_cost=ImageCost())
    with pytest.raises(UsageError, match="image cost"):
        list(build_all_with_media(params, prepared(40), tokenizer(), other, {}))


def test_documents_whose_media_are_wrong_are_refused() -> None:
    text = f"One.\n\n{MEDIUM_CHAR}\n\nTwo."
    good, bad = picture(1, 50, 50), picture(2, 50, 50)
    damaged = Shown(good.medium, bad.data)
    sources = [replace(source(text, n), media=media) for n, media in enumerate([(good,), (), (good, bad), (damaged,)])]
    found, refused = prepare(sources, tokenizer(), COST)
    assert [doc.source.id for doc in found] == [sources[0].id]
    assert [refused[s.id] for s in sources[1:]] == ["media_miscounted", "media_miscounted", "medium_damaged"]
    bare = [replace(source(text, 9), media=(Shown(good.medium._replace(width=0), good.data),))]
    (doc,) = prepare(bare, tokenizer(), COST)[0]
    assert not doc.media and MEDIUM_CHAR not in doc.text


def test_pictures_fill_a_window_without_padding() -> None:
    """Where a picture does not fit any more, text of other documents stands in its room."""
    docs: list[Source] = []
    for number in range(30):
        parts = [f"Plate {number} {at}.\n\n{MEDIUM_CHAR}" for at in range(20)]
        media = tuple(picture(1000 * number + at, 400, 400) for at in range(20))
        docs.append(replace(source("\n\n".join(parts), number), media=media))
    docs += [source(prose(Draws("fill", n), 40), 500 + n) for n in range(4)]
    found = prepare(docs, tokenizer(), COST)[0]
    params = SynthParams(context=8192, sequences=8, seed=1, image_cost=COST, modes={"concat": 1, "knot": 1})
    counted: dict[str, int] = {}
    rows = [made.row for made in build_all_with_media(params, found, tokenizer(), form(8192), counted)]
    assert not counted and len(rows) == 8
    assert min(row.column("n_tokens")[0].as_py() for row in rows) >= 8192 - 64


M = MEDIUM_CHAR


@pytest.mark.parametrize(
    ("units", "kept"),
    [
        (["a", "b", "c"], ["a", "b", "c"]),
        (["a", M, "b", "c"], [f"a|{M}|b", "c"]),
        (["a", "b", M, M, "c", "d"], ["a", f"b|{M}|{M}|c", "d"]),
        (["a", f"b {M}", "c"], ["a", f"b {M}", "c"]),
        (["a", M, "b", M, "c", "d"], [f"a|{M}|b", f"{M}|c", "d"]),
        (["a", M, "b", M], [f"a|{M}", f"b|{M}"]),
        ([M, "b", M, "c"], [f"{M}|b", f"{M}|c"]),
        (["00:01", M, "[00:02]", M, "t 1:00:03.5", M], [f"00:01|{M}", f"[00:02]|{M}", f"t 1:00:03.5|{M}"]),
        (["a", M, "b", "c", M, "d"], [f"a|{M}|b", f"c|{M}|d"]),
        (["a", M, f"b {M}", M], [f"a|{M}", f"b {M}", M]),
    ],
)
def test_what_stays_together(units: list[str], kept: list[str]) -> None:
    text = "\n\n".join(units)
    ends = [len("\n\n".join(units[: n + 1])) + 2 for n in range(len(units) - 1)]
    bounds = [0, *free_places(text, ends), len(text) + 2]
    assert [text[a : b - 2].replace("\n\n", "|") for a, b in pairwise(bounds)] == kept


def test_frames_stay_with_their_times() -> None:
    texts = "\n\n".join(f"[{n // 60:02}:{n % 60:02}]\n\n{M}\n\n{prose(Draws('t', n), 4)}" for n in range(40))
    media = tuple(picture(n, 56, 56) for n in range(40))
    (doc,) = prepare([replace(source(texts, 1), media=media)], tokenizer(), COST)[0]
    atoms = [doc.atom(i) for i in range(len(doc.tokens))]
    assert len(atoms) > 20
    for atom, own in zip(atoms, doc.media_by_atom(), strict=True):
        assert len(re.findall(rf"\[\d\d:\d\d\]\n\n{M}", atom)) == atom.count(M) == len(own)


def test_a_video_of_no_frames_has_no_places() -> None:
    shown = video(1)
    none = Shown(shown.medium._replace(frames=None), shown.data)
    (doc,) = prepare([replace(source(f"a {M} b", 1), media=(none,))], tokenizer(), COST)[0]
    assert doc.text == "a  b\n\n"
