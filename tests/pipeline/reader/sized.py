"""Datasets of rows that are manifests alone: a plan reads nothing else, so they may be as large as a real run's.

`spread` lays out what a pool holds as buckets, as `emit` does; nothing of it can be read as rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gristmill.manifests.manifest import FORMAT, FORMAT_VERSION, write_manifest
from gristmill.pipeline.buckets import BOUNDS
from gristmill.pipeline.curriculum.cells import Floats
from tests.pipeline.trainer_rows import TOKENIZER


@dataclass(frozen=True)
class Sized:
    """What a manifest says. `corpus`: the dataset that its documents come from; `derived`: records its steps made."""

    context: int
    buckets: Sequence[Mapping[str, Any]] = ()
    rows: int = 0
    corpus: str = "corpus"
    derived: int = 0
    tokenised: str = ""
    pictures: bool = False


def bucket(domain: str, lengths: tuple[int, int | None], tokens: float, image_frac: float = 0.0) -> dict[str, Any]:
    """One, before it has its rows."""
    return {
        "domain": domain,
        "min_tokens": lengths[0],
        "max_tokens": lengths[1],
        "documents": 1,
        "tokens": round(tokens),
        "image_tokens": round(tokens * image_frac),
        "padding_frac": 0.0,
    }


def holding(merged: dict[str, Any], lengths: Mapping[tuple[int, int | None], float]) -> dict[str, Any]:
    """A bucket that says what stands in it: tokens by length, which become those of the bucket."""
    parts: list[dict[str, Any]] = [
        {"min_tokens": low, "max_tokens": high, "documents": 1, "tokens": round(tokens)}
        for (low, high), tokens in lengths.items()
    ]
    return merged | {"lengths": parts, "documents": len(parts), "tokens": sum(p["tokens"] for p in parts)}


def spread(domains: Sequence[str], cells: Floats, bounds: Sequence[int] = BOUNDS) -> list[dict[str, Any]]:
    """Buckets of a pool, tokens by domain and length."""
    edges = (0, *bounds, None)
    return [
        bucket(domain, (edges[b] or 0, edges[b + 1]), tokens)
        for d, domain in enumerate(domains)
        for b, tokens in enumerate(cells[d])
        if tokens
    ]


def sized_dataset(folder: Path, sized: Sized) -> Path:
    """Write the manifest; the folder."""
    at, laid = 0, list[dict[str, Any]]()
    for one in sized.buckets:
        rows = max(-(-one["tokens"] // sized.context), 1)
        laid.append({**one, "first_row": at, "stop_row": at + rows})
        at += rows
    rows = sized.rows or at
    size = 4 * rows * max(sized.context, 4)
    entry = {"path": "rows/none.arrow", "role": "rows", "rows": rows, "bytes": size, "digest": "blake3:00"}
    packing = {"padding_frac": 0.0} | ({"buckets": laid} if laid else {})
    step = {"step": "emit", "stage": "emit", "derived": sized.derived}
    folder.mkdir(parents=True)
    write_manifest(
        folder,
        {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "name": folder.name,
            "kind": "rows",
            "steps": [step],
            "upstream": [{"name": sized.corpus, "digest": f"blake3:{sized.corpus}"}],
            "shards": [entry],
            "media_shards": [entry] if sized.pictures else [],
            "row_indexes": [entry],
            "tokenised": [{**entry, "digest": sized.tokenised}] if sized.tokenised else [],
            "facts": {"context": sized.context, "tokenizer": asdict(TOKENIZER), "packing": packing},
        },
    )
    return folder
