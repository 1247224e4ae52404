"""A faulty writer whose files are sealed and whole is found out by what stands in the shards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests import scan
from gristmill.manifests.manifest import read_manifest
from gristmill.manifests.row_id import row_ids
from gristmill.manifests.schema import content_hash
from gristmill.manifests.verify import verify
from tests.manifests.small_run import forge_index, forge_manifest, forge_table, set_column

Edit = Callable[[pa.Table], pa.Table]


def column(table: pa.Table, name: str) -> list[Any]:
    """A column as values."""
    return table.column(name).to_pylist()


def changed(name: str, change: Callable[[list[Any]], list[Any]]) -> Edit:
    """An edit of one column's values."""
    return lambda table: set_column(table, name, change(column(table, name)))


def with_first(name: str, value: object) -> Edit:
    """An edit of one column's first value."""
    return changed(name, lambda values: [value, *values[1:]])


def replace_text(table: pa.Table, text: str) -> pa.Table:
    """Another first text of equal length, with its hash."""
    table = with_first("text", text)(table)
    return with_first("content_hash", content_hash(text.encode()))(table)


def invalid_utf8(table: pa.Table) -> pa.Table:
    texts = [t.encode() for t in column(table, "text")]
    texts[0] = b"\xff" * len(texts[0])
    raw = pa.array(texts, pa.large_binary())
    buffers = raw.buffers()
    forged = pa.LargeStringArray.from_buffers(len(texts), buffers[1], buffers[2])
    index = table.schema.get_field_index("text")
    return table.set_column(index, table.schema.field(index), forged)


def medium(sha256: bytes) -> dict[str, Any]:
    return {"kind": "image", "sha256": sha256, "bytes": b"not of this hash"}


DOCUMENTS: list[tuple[str, Edit, set[str]]] = [
    ("text", with_first("text", "x" * 37), {"content_hash", "books"}),
    ("hash", with_first("content_hash", bytes(16)), {"content_hash"}),
    ("null hash", with_first("content_hash", None), {"content_hash"}),
    ("upper id", changed("id", lambda ids: [ids[0].upper().replace("0", "A"), *ids[1:]]), {"id"}),
    ("long id", changed("id", lambda ids: [ids[0] + "\n", *ids[1:]]), {"id"}),
    ("null id", with_first("id", None), {"id"}),
    ("same id", changed("id", lambda ids: [ids[1], *ids[1:]]), {"id"}),
    ("missing medium", lambda t: replace_text(t, "\ufffc" + column(t, "text")[0][1:]), {"media"}),
    ("another source", with_first("source", "z"), {"books"}),
    ("column gone", lambda t: t.drop_columns(["meta"]), {"schema"}),
    ("column type", lambda t: t.set_column(3, "source", t.column("source").cast(pa.large_string())), {"schema"}),
    ("invalid utf8", invalid_utf8, {"schema"}),
    ("wrong medium", changed("media", lambda m: [[medium(bytes(32))], *m[1:]]), {"content_hash", "media"}),
    ("row gone", lambda t: t.slice(1), {"books"}),
]


@pytest.mark.parametrize(("edit", "expected"), [d[1:] for d in DOCUMENTS], ids=[d[0] for d in DOCUMENTS])
def test_documents(out: Path, edit: Edit, expected: set[str]) -> None:
    forge_table(out / "b", "shards", edit)
    report = verify(out, deep=True)
    assert {f.kind for f in report.faults} == expected, report.faults
    assert verify(out).ok or "books" in expected


def test_a_medium_with_its_hash_is_sound(out: Path) -> None:
    import hashlib

    def edit(table: pa.Table) -> pa.Table:
        sha = hashlib.sha256(b"not of this hash").digest()
        text = "\ufffc" + column(table, "text")[0][1:]
        table = with_first("text", text)(table)
        table = with_first("content_hash", content_hash(text.encode(), [sha]))(table)
        return changed("media", lambda m: [[medium(sha)], *m[1:]])(table)

    forge_table(out / "b", "shards", edit)
    assert verify(out, deep=True).faults == []


def test_a_record_on_both_sides(out: Path) -> None:
    kept: list[str] = []
    forge_table(out / "a", "shards", lambda t: (kept.extend(column(t, "id")), t)[1])
    forge_table(out / "a", "ledger", changed("id", lambda ids: [kept[0], *ids[1:]]))
    faults = verify(out, deep=True).faults
    assert [(f.path, f.kind) for f in faults] == [("a/manifest.json", "both_sides")]
    assert kept[0] in faults[0].detail


def test_a_record_twice_in_the_ledger(out: Path) -> None:
    forge_table(out / "a", "ledger", changed("id", lambda ids: [ids[1], *ids[1:]]))
    assert [f.kind for f in verify(out, deep=True).faults] == ["id"]


def test_ids_are_compared_in_parts_of_bounded_memory(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "IDS_A_PART", 5)
    assert len(scan.parts_for(100)) == 20
    assert verify(out, deep=True).ok
    forge_table(out / "b", "shards", changed("id", lambda ids: [*ids[:-1], ids[0]]))
    assert [f.kind for f in verify(out, deep=True).faults] == ["id"]


def edit_segments(change: Callable[[list[dict[str, Any]]], Any]) -> Edit:
    """Change the segments of the first row in place, and give the row the id of what it holds now."""

    def edit(table: pa.Table) -> pa.Table:
        segments = column(table, "segments")
        change(segments[0])
        return with_row_ids(set_column(table, "segments", segments))

    return edit


def with_row_ids(table: pa.Table) -> pa.Table:
    """The ids that a writer would give to these rows."""
    return set_column(table, "row_id", row_ids(table.combine_chunks().to_batches()[0]))


def edit_ids(row: int, position: int, value: int, fresh_ids: bool) -> Edit:
    """Change one token."""

    def edit(table: pa.Table) -> pa.Table:
        ids = np.array(column(table, "input_ids"), dtype=np.uint32)
        ids[row, position] = value
        table = set_column(table, "input_ids", ids.tolist())
        return with_row_ids(table) if fresh_ids else table

    return edit


def edit_padding(table: pa.Table) -> pa.Table:
    """Change the last place of the first row that is not full."""
    context = table.schema.field("input_ids").type.list_size
    row = next(i for i, n in enumerate(column(table, "n_tokens")) if n < context)
    return edit_ids(row, context - 1, 5, True)(table)


def shorter(table: pa.Table) -> pa.Table:
    """The first row says that it holds one token less."""
    return with_row_ids(changed("n_tokens", lambda n: [n[0] - 1, *n[1:]])(table))


def other_doc(table: pa.Table) -> pa.Table:
    """The first row says that its tokens are another document's."""
    docs = column(table, "docs")
    docs[0][0]["id"] = "0" * 32
    return with_row_ids(set_column(table, "docs", docs))


def loss_span(start: int, end: int) -> Edit:
    """A loss span in the first row."""
    span = [{"start": start, "end": end, "weight": 0.0, "reason": "x"}]
    return changed("loss_spans", lambda spans: [span, *spans[1:]])


def another_context(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({**table.schema.metadata, b"context": b"64"})


ROWS: list[tuple[str, Edit, set[str], str]] = [
    ("token", edit_ids(0, 0, 1, False), {"row"}, "row_id is not that of the content"),
    ("token out of the vocabulary", edit_ids(0, 0, 4_000_000_000, True), {"row"}, "outside the vocabulary"),
    ("padding", edit_padding, {"row"}, "padding is not the pad id"),
    ("row id", with_first("row_id", bytes(16)), {"row"}, "row_id is not that of the content"),
    ("gap", edit_segments(lambda s: s[0].update(start=1)), {"row"}, "do not tile"),
    ("overlap", edit_segments(lambda s: s[-1].update(start=s[-1]["start"] - 1)), {"row"}, "do not tile"),
    ("short tiling", edit_segments(lambda s: s.pop()), {"row"}, "do not tile"),
    ("no segments", edit_segments(lambda s: s.clear()), {"row"}, "do not tile"),
    ("empty segment", edit_segments(lambda s: s.insert(0, {**s[0], "end": 0})), {"row"}, "do not tile"),
    ("no such doc", edit_segments(lambda s: s[0].update(doc_idx=9)), {"row"}, "a document that is not there"),
    ("no such medium", edit_segments(lambda s: s[0].update(media_idx=0)), {"row"}, "a medium that is not there"),
    ("null", edit_segments(lambda s: None), set(), ""),
    ("shorter", shorter, {"row"}, "do not tile"),
    ("other doc", other_doc, {"row"}, "do not stand in the rows with the tokens that they have"),
    ("negative count", with_first("n_tokens", -1), {"row"}, "n_tokens is outside the row"),
    ("loss span", loss_span(5, 129), {"row"}, "a loss span outside the tokens"),
    ("sound loss span", loss_span(0, 3), set(), ""),
    ("context", another_context, {"schema"}, "column input_ids"),
    ("metadata", lambda t: t.replace_schema_metadata({}), {"schema"}, "the metadata of trainer rows"),
    ("column gone", lambda t: t.drop_columns(["tasks"]), {"schema"}, "columns"),
]


@pytest.mark.parametrize(("edit", "expected", "detail"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_rows(out: Path, edit: Edit, expected: set[str], detail: str) -> None:
    forge_table(out / "train", "shards", edit)
    report = verify(out, deep=True)
    assert {f.kind for f in report.faults} == expected, report.faults
    assert not expected or any(detail in f.detail for f in report.faults), report.faults


def test_a_segment_without_a_document_index(out: Path) -> None:
    def edit(table: pa.Table) -> pa.Table:
        segments = column(table, "segments")
        segments[0][0]["doc_idx"] = None
        return set_column(table, "segments", segments)

    forge_table(out / "train", "shards", edit)
    assert [(f.kind, f.detail) for f in verify(out, deep=True).faults] == [
        ("row", "null where there must be a value: 1 times, first in row 0")
    ]


def test_an_unknown_kind_of_segment(out: Path) -> None:
    def edit(table: pa.Table) -> pa.Table:
        segments = column(table, "segments")
        segments[0][0]["kind"] = "poem"
        return set_column(table, "segments", segments)

    forge_table(out / "train", "shards", edit)
    assert ["segment kind" in f.detail for f in verify(out, deep=True).faults] == [True]


TOKENISED: list[tuple[str, Edit, set[str]]] = [
    ("count", with_first("n_tokens", 1), {"row"}),
    ("id", with_first("id", "x"), {"id"}),
    ("same id", changed("id", lambda ids: [ids[1], *ids[1:]]), {"id", "row"}),
    ("another document", with_first("id", "0" * 32), {"row"}),
    ("break outside", with_first("breaks", [1 << 40]), {"row"}),
    ("breaks that fall", with_first("breaks", [9, 9]), {"row"}),
    ("column gone", lambda t: t.drop_columns(["media"]), {"schema"}),
]


@pytest.mark.parametrize(("edit", "expected"), [t[1:] for t in TOKENISED], ids=[t[0] for t in TOKENISED])
def test_tokenised(out: Path, edit: Edit, expected: set[str]) -> None:
    forge_table(out / "train", "tokenised", edit)
    assert {f.kind for f in verify(out, deep=True).faults} == expected


def test_tokens_are_counted(out: Path) -> None:
    forge_manifest(out / "train", lambda m: m["totals"].update(tokens=m["totals"]["tokens"] + 1))
    assert [f.kind for f in verify(out, deep=True).faults] == ["books"]


def test_the_context_is_that_of_the_manifest(out: Path) -> None:
    forge_manifest(out / "train", lambda m: m["facts"].update(context=64))
    faults = verify(out, deep=True).faults
    assert [(f.kind, f.detail) for f in faults] == [
        ("schema", "context is 128, in the manifest 64: 1 times, first in row 0")
    ]


def test_equal_faults_are_told_once(out: Path) -> None:
    forge_table(out / "b", "shards", changed("content_hash", lambda h: [h[0], *[bytes(16)] * (len(h) - 1)]))
    faults = verify(out, deep=True).faults
    assert [f.detail for f in faults] == ["the content hash is another: 11 times, first in row 1"]


@pytest.mark.parametrize("file_list", ["shards", "ledger"])
def test_a_whole_file_that_is_no_parquet(out: Path, file_list: str) -> None:
    from gristmill.manifests.canonical import digest_bytes

    def edit(manifest: dict[str, Any]) -> None:
        entry = manifest[file_list][0]
        path = out / "a" / entry["path"]
        path.unlink()
        path.write_bytes(b"PAR1" * 20)
        entry.update(bytes=80, digest=digest_bytes(b"PAR1" * 20))

    forge_manifest(out / "a", edit)
    for deep in (False, True):
        report = verify(out, deep)
        assert {f.kind for f in report.faults} == {"unreadable"}
        assert any(f.path.startswith("a/") for f in report.faults)


def test_an_index_that_does_not_follow_from_its_shard(out: Path) -> None:
    """Whole and named by the manifest, and yet of another shard."""
    folder = out / "train"
    data = bytearray((folder / read_manifest(folder)["row_indexes"][0]["path"]).read_bytes())
    data[-1] ^= 1
    forge_index(folder, bytes(data))
    report = verify(out, deep=True)
    assert [(f.kind, f.detail) for f in report.faults] == [("index", "is not what follows from its shard")]


def buckets(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[dict[str, Any]], None]:
    """Change the buckets of a manifest in place."""
    return lambda manifest: change(manifest["facts"]["packing"]["buckets"])


BUCKETS: list[tuple[str, Callable[[list[dict[str, Any]]], Any], str]] = [
    ("gap", lambda b: b[1].update(first_row=b[1]["first_row"] + 1), "do not tile"),
    ("short", lambda b: b.pop(), "do not tile"),
    ("order", lambda b: (b[0].update(domain="web"), b[1].update(domain="code")), "not in the order"),
    ("domain", lambda b: b[0].update(domain="a"), "of another domain or length"),
    ("length", lambda b: b[0].update(min_tokens=100), "of another domain or length"),
    ("bound", lambda b: b[0].update(max_tokens=30), "of another domain or length"),
    ("documents", lambda b: b[0].update(documents=1), "documents is 1, the rows hold"),
    ("tokens", lambda b: b[0].update(tokens=1), "tokens is 1, the rows hold"),
    ("media", lambda b: b[0].update(image_tokens=1), "image_tokens is 1, the rows hold 0"),
    ("padding", lambda b: b[0].update(padding_frac=0.0), "padding_frac is 0.0, the rows hold"),
    ("rate", lambda b: b[0].update(rate=0.5), "rate is 0.5, it has"),
    ("no lengths", lambda b: b[0].update(lengths=[]), "tokens of its lengths add up to 0"),
    ("length's tokens", lambda b: b[0]["lengths"][0].update(tokens=1), "tokens of lengths from 0 are not those"),
    ("length's documents", lambda b: b[0]["lengths"][0].update(documents=1), "documents of lengths from 0 are not"),
    (
        "other length",
        lambda b: b[0]["lengths"][0].update(min_tokens=8000),
        "lengths from 8000 are not those of the rows",
    ),
    ("length twice", lambda b: b[0]["lengths"].append(b[0]["lengths"][0]), "no ranges in order"),
    ("length outside", lambda b: b[0]["lengths"][0].update(max_tokens=None), "no ranges in order"),
]


@pytest.mark.parametrize(("change", "detail"), [b[1:] for b in BUCKETS], ids=[b[0] for b in BUCKETS])
def test_buckets(out: Path, change: Callable[[list[dict[str, Any]]], Any], detail: str) -> None:
    assert [b["domain"] for b in read_manifest(out / "train")["facts"]["packing"]["buckets"]] == ["code", "web"]
    forge_manifest(out / "train", buckets(change))
    faults = verify(out, deep=True).faults
    assert {f.kind for f in faults} == {"bucket"}, faults
    assert any(detail in f.detail for f in faults), faults


def test_a_bucket_without_a_range_is_no_manifest(out: Path) -> None:
    forge_manifest(out / "train", buckets(lambda b: b[0]["lengths"][0].pop("min_tokens")))
    faults = verify(out, deep=True).faults
    assert [f.kind for f in faults] == ["format"] and "min_tokens" in faults[0].detail


def test_buckets_of_an_earlier_version_have_no_lengths(out: Path) -> None:
    forge_manifest(out / "train", buckets(lambda found: [(b.pop("lengths"), b.pop("rate")) for b in found]))
    assert verify(out, deep=True).faults == []


def test_rows_of_an_earlier_version_have_no_buckets(out: Path) -> None:
    forge_manifest(out / "train", lambda manifest: manifest["facts"]["packing"].pop("buckets"))
    assert verify(out, deep=True).faults == []


def test_rows_without_their_indexes(out: Path) -> None:
    forge_manifest(out / "train", lambda manifest: manifest["row_indexes"].append(manifest["row_indexes"][0]))
    assert "index" in {f.kind for f in verify(out, deep=True).faults}
