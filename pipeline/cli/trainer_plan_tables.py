"""The tables of `gristmill plan` of a trainer's plan, from the plain data that `trainer_plan.described` gives."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Shown = Mapping[str, Any]


def show(plan: Shown) -> None:
    """Print it as tables."""
    from gristmill.pipeline.cli.output import print_line, print_table

    print_line(f"trainer plan {plan['plan']}, seed {plan['seed']}, {plan['digest'][:12]}")
    if plan["rates"]:
        evidence = f", {plan['rates']['evidence']}" if plan["rates"]["evidence"] else ""
        print_line(f"rates: {plan['rates']['label']}{evidence} ({plan['rates']['digest'][:12]})")
    headers = ("stage", "name", "context", "tokens", "rows", "batches", "vision", "synthesised", "replay")
    print_table(headers, [_stage_row(s) for s in plan["stages"]])
    for stage in plan["stages"]:
        _show_stage(stage)
    print_table(("dataset", "path", "documents of", "rows", "rows read", "epochs"), _datasets(plan))
    print_line("epochs over the whole run, and what they are worth in new tokens:")
    headers = ("documents of", "domain", "bucket", "epochs", "cap", "worth")
    print_table(headers, [_epochs_row(cell) for cell in plan["epochs"]])


def _stage_row(stage: Shown) -> tuple[object, ...]:
    replay = "" if stage["replay"] is None else _percent(stage["replay"])
    shares = (_percent(stage["vision"]), _percent(stage["synthesised"]), replay)
    sizes = (stage["context"], stage["tokens"], stage["rows"], stage["batches"])
    return (stage["stage"], stage["name"], *sizes, *shares)


def _show_stage(stage: Shown) -> None:
    from gristmill.pipeline.cli.output import print_line, print_table

    name = f"stage {stage['stage']}" + (f" ({stage['name']})" if stage["name"] else "")
    solved = any(s["upsampled"] is not None for s in stage["sources"])
    if solved:
        print_line(f"{name}: percent of its rows, by domain and length of document")
        buckets = _buckets(stage["sources"])
        print_table(("domain", *buckets, "all"), list(_matrix(stage["sources"], buckets)))
    else:
        print_line(f"{name}: what is read of each source")
        rows = [(s["name"], f"{s['rate']:.4f}", s["rows"], s["tokens"], f"{s['epochs']:.2f}") for s in stage["sources"]]
        print_table(("source", "rate", "rows", "tokens", "epochs"), rows)
    why = "there is no more of it" + (", or it shares rows with other lengths" if _shared(stage["sources"]) else "")
    for bucket, (wanted, had) in stage["missed"].items():
        if had < wanted:  # what one lacks others have more, and the table says so
            print_line(f"{name}: bucket {bucket} has {_percent(had)}, not {_percent(wanted)}: {why}")
    if stage["not_drawn"]:
        print_line(f"{name}: not drawn: {', '.join(stage['not_drawn'])}")


def _shared(sources: Sequence[Shown]) -> bool:
    """Whether rows of a natural source hold documents of several lengths."""
    return any(len(s["lengths"]) > 1 for s in sources if not s["synthesised"])


def _buckets(sources: Sequence[Shown]) -> list[str]:
    """Lengths that natural sources hold, from short to long."""
    lengths = [length for s in sources if not s["synthesised"] for length in s["lengths"]]
    found = {p["bucket"]: (p["min_tokens"], p["max_tokens"] or float("inf")) for p in lengths}
    return sorted(found, key=lambda bucket: found[bucket])


def _part(source: Shown, bucket: str) -> float:
    """The part of a source's tokens that is of documents of a length."""
    return sum(length["share"] for length in source["lengths"] if length["bucket"] == bucket)


def _matrix(sources: Sequence[Shown], buckets: Sequence[str]) -> Iterator[tuple[str, ...]]:
    natural = [s for s in sources if not s["synthesised"]]
    for domain in sorted({str(s["domain"]) for s in natural}):
        yield _row(domain, [s for s in natural if s["domain"] == domain], buckets)
    if len(natural) < len(sources):
        rate = sum(s["rate"] for s in sources if s["synthesised"])
        yield ("synthesised", *[""] * len(buckets), f"{100 * rate:.2f}")
    yield _row("all natural", natural, buckets)
    yield ("upsampled, times", *(_upsampled(natural, b) for b in buckets), "")


def _row(name: str, sources: Sequence[Shown], buckets: Sequence[str]) -> tuple[str, ...]:
    shares = [100 * sum(s["rate"] * _part(s, bucket) for s in sources) for bucket in buckets]
    return (name, *(f"{share:.2f}" for share in shares), f"{sum(shares):.2f}")


def _upsampled(natural: Sequence[Shown], bucket: str) -> str:
    """The share of a length over its share in the supply: 1 where it is as frequent as in the datasets."""
    supply = sum(s["rate"] / s["upsampled"] * _part(s, bucket) for s in natural if s["upsampled"])
    return f"{sum(s['rate'] * _part(s, bucket) for s in natural) / supply:.2f}" if supply else ""


def _datasets(plan: Shown) -> list[tuple[object, ...]]:
    return [
        (d["name"], d["path"], d["documents_of"], d["rows"], d["rows_read"], f"{d['epochs']:.2f}")
        for d in plan["datasets"]
    ]


def _epochs_row(cell: Shown) -> tuple[object, ...]:
    figures = (f"{cell['epochs']:.2f}", f"{cell['cap']:g}", f"{cell['worth']:.2f}")
    return (cell["documents_of"], cell["domain"] or "any", cell["bucket"], *figures)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
