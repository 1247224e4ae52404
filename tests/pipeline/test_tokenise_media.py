"""Media among tokens: each takes the places that its size costs, text around it is encoded apart, and all balances."""

import hashlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.child import ChildLimits
from gristmill.manifests.image_tokens import ImageCost
from gristmill.manifests.tokenizer import Tokenizer, load_tokenizer
from gristmill.manifests.trainer_schema import TOKENISED
from gristmill.pipeline.media_places import MediaRules
from gristmill.pipeline.tokenise import REASONS, tokenise
from tests.pipeline.pictures import MARK, batch_of, medium, picture

COST = ImageCost(max_tokens=64)
RULES = MediaRules(COST, 1000)
PICTURES = [picture(w, h) for w, h in ((1, 1), (28, 28), (29, 56), (500, 300))]
VIDEO = b"no picture at all"
KINDS: list[dict[str, Any]] = [
    *(medium(data) for data in PICTURES),
    medium(PICTURES[1], width=999, height=1),
    medium(VIDEO, kind="video", width=64, height=30, frames=5),
    medium(VIDEO, width=40, height=41),
    medium(VIDEO),
    medium(None, uri="https://x.example", width=10, height=10),
    medium(b"", width=10, height=10),
]
COSTS = [3, 3, 6, 7 * 9 + 1 + 1, 3, 3 * 3 * 2 + 2, 2 * 2 + 2, None, None, None]
"""Of KINDS, counted by hand: ceil(w / 28) * ceil(h / 28) + 2, None where it has no places."""

words = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("ab ")), max_size=12).map(
    lambda text: text.replace(MARK, "")
)


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokenizer]:
    with load_tokenizer() as loaded:
        yield loaded


def expected_cost(number: int) -> int | None:
    """Of KINDS[number]; the large picture is made smaller first."""
    return COST.image_tokens(500, 300) if number == 3 else COSTS[number]


def plain(pieces: list[Any], tokens: Tokenizer) -> tuple[list[int], list[tuple[bytes, int, int]], int]:
    """Ids, (sha256, start, length) of media, and media without places: of texts and numbers of KINDS in turn."""
    ids: list[int] = []
    media: list[tuple[bytes, int, int]] = []
    text, missing = "", 0
    for piece in pieces:
        cost = expected_cost(piece) if isinstance(piece, int) else None
        if isinstance(piece, str):
            text += piece
        elif cost is None:
            missing += 1
        else:
            ids += tokens.encode_batch(pa.array([text], pa.large_string())).ids.tolist()
            media.append((KINDS[piece]["sha256"], len(ids), cost))
            ids += [tokens.identity.pad_id] * cost
            text = ""
    return ids + tokens.encode_batch(pa.array([text], pa.large_string())).ids.tolist(), media, missing


@given(st.lists(st.lists(st.one_of(words, st.integers(0, len(KINDS) - 1)), max_size=7), max_size=6))
@settings(max_examples=60, deadline=None)
def test_ids_and_places_are_those_of_the_plain_twin(tokens: Tokenizer, documents: list[list[Any]]) -> None:
    batch = batch_of(
        [
            ("".join(MARK if isinstance(p, int) else p for p in d), [KINDS[p] for p in d if isinstance(p, int)])
            for d in documents
        ]
    )
    done = tokenise(batch, tokens, RULES)
    done.batch.validate(full=True)
    assert done.batch.schema.equals(TOKENISED)
    want = [plain(pieces, tokens) for pieces in documents]
    assert done.kept.tolist() == [i for i, (ids, _, _) in enumerate(want) if ids]
    assert {(v.row, v.reason) for v in done.verdicts} == {
        (i, "no_tokens") for i, (ids, _, _) in enumerate(want) if not ids
    }
    assert done.media_missing.tolist() == [missing for _, _, missing in want]
    for row, at in zip(done.batch.to_pylist(), done.kept.tolist(), strict=True):
        assert row["input_ids"] == want[at][0] and row["n_tokens"] == len(want[at][0])
        assert [(m["sha256"], m["token_start"], m["token_len"]) for m in row["media"]] == want[at][1]
    assert [p.medium.sha256 for p in done.media] == [sha for _, media, _ in want for sha, _, _ in media]


def told(tokens: Tokenizer, media: list[dict[str, Any]], text: str = f"a {MARK} b") -> list[dict[str, Any]]:
    return tokenise(batch_of([(text, media)]), tokens, RULES).batch.to_pylist()[0]["media"]


def test_the_size_of_the_file_goes_before_that_of_the_record(tokens: Tokenizer) -> None:
    """A decoder finds the one that the file has: a trainer's embeddings would not fit into the places of another."""
    (one,) = told(tokens, [medium(PICTURES[2], width=10**5, height=10**4)])
    assert (one["width"], one["height"], one["token_len"]) == (29, 56, 6)
    for width, height in ((0, 0), (-5, 7), (None, 3), (1 << 30, 1)):
        assert told(tokens, [medium(VIDEO, width=width, height=height)]) == []
        (one,) = told(tokens, [medium(PICTURES[2], width=width, height=height)])
        assert (one["width"], one["height"]) == (29, 56)


def test_a_picture_that_says_a_thousand_million_pixels_has_no_places(tokens: Tokenizer) -> None:
    png = bytearray(PICTURES[1])
    png[16:24] = (100_000).to_bytes(4, "big") + (10_000).to_bytes(4, "big")
    assert told(tokens, [medium(bytes(png))]) == []
    assert told(tokens, [medium(VIDEO, width=100_000, height=10_000)]) == []


def test_bytes_of_another_hash_are_quarantined(tokens: Tokenizer) -> None:
    wrong = medium(PICTURES[0], sha256=hashlib.sha256(PICTURES[1]).digest())
    good = (f"good {MARK}", [KINDS[0]])
    done = tokenise(batch_of([good, (f"x {MARK}{MARK}", [KINDS[1], wrong]), good]), tokens, RULES)
    (verdict,) = done.verdicts
    assert (verdict.row, verdict.verdict, verdict.reason) == (1, "quarantine", "medium_damaged")
    assert "medium 1: " in verdict.detail and done.kept.tolist() == [0, 2] and len(done.media) == 2
    first, last = done.batch.column("input_ids").to_pylist()
    assert first == last


@pytest.mark.parametrize("text", ["none", f"{MARK} two {MARK}"])
def test_miscounted_places_are_quarantined(tokens: Tokenizer, text: str) -> None:
    done = tokenise(batch_of([(text, [KINDS[0]]), ("y", [])]), tokens, RULES)
    assert [(v.row, v.verdict, v.reason) for v in done.verdicts] == [(0, "quarantine", "media_miscounted")]
    assert done.kept.tolist() == [1] and done.media == []


def test_a_medium_longer_than_a_row_goes_with_its_document(tokens: Tokenizer) -> None:
    long = medium(VIDEO, kind="video", width=28, height=28, frames=2000)
    done = tokenise(batch_of([("x", []), (f"{MARK}", [long])]), tokens, RULES)
    (verdict,) = done.verdicts
    assert (verdict.row, verdict.verdict, verdict.reason) == (1, "drop", "medium_exceeds_context")
    assert (verdict.measure, verdict.value, verdict.limit) == ("medium_tokens", 1002, 1000)
    fits = medium(VIDEO, kind="video", width=28, height=28, frames=1996)
    assert len(tokenise(batch_of([(MARK, [fits])]), tokens, RULES).media) == 1


def test_reasons_are_those_of_the_vocabulary(tokens: Tokenizer) -> None:
    from gristmill.pipeline.emit_stage import Emit

    said = {r.reason: r.verdict for r in Emit().reasons()}
    assert {reason: said[reason] for reason in REASONS} == {r: doc.split(":")[0] for r, doc in REASONS.items()}


def test_a_stretch_that_fails_takes_its_document_along(tokens: Tokenizer) -> None:
    batch = batch_of([(f"a {MARK} b", [KINDS[0]]), (f"{'x' * 400_000} {MARK} c", [KINDS[1]]), ("last", [])])
    with Tokenizer(tokens.identity, tokens.spec, limits=ChildLimits(max_output_bytes=50_000)) as strict:
        done = tokenise(batch, strict, RULES)
    assert [(v.row, v.reason) for v in done.verdicts] == [(1, "tokenizer_failed")]
    assert done.kept.tolist() == [0, 2] and len(done.media) == 1
    ids, last = done.batch.column("input_ids").to_pylist()
    assert ids == plain(["a ", 0, " b"], tokens)[0] and last == plain(["last"], tokens)[0]
