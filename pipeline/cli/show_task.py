"""`gristmill show DATASET --row N --task I` and `--map`: what a planted task asks, and where its evidence stands.

A task: its question and answer, each piece of evidence with the text around it and its depth in the row, how far apart
they lie, and what windows know of the answer. A map: the row as a strip of 100 columns, with a line a task.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.cli.output import emit_json, print_line
from gristmill.pipeline.cli.show_row import told_row

AROUND_CHARS = 200
COLUMNS = 100
_MARKS: Mapping[str, str] = {
    "text": ".",
    "code": ":",
    "image": "#",
    "video": "#",
    "marker": "~",
    "record": "r",
    "query": "?",
    "answer": "!",
    "separator": "|",
}
"""How kinds of segments show in a map, the later the more they hide."""
_WINDOWS = ("1/128", "1/16", "1/4")


def show_task(place: str | Path, number: int, task: int, tokenizer: str | None, as_json: bool) -> None:
    """Print a task of a row. Raises UsageError where it has none of that number, and as `show_row`."""
    told = told_row(place, number, tokenizer)
    if not 0 <= task < len(told["tasks"]):
        raise UsageError("no such task", f"{place} --row {number} --task", task, f"the row has {len(told['tasks'])}")
    found = told["tasks"][task]
    if as_json:
        emit_json({"row": number, "task": task, **found, "texts": _texts(told, found)})
        return
    for line in _task(told, found, task):
        print_line(line)


def show_map(place: str | Path, number: int, as_json: bool) -> None:
    """Print the map of a row."""
    told = told_row(place, number, None)
    strip = _strip(told["segments"], told["context"])
    lines = [_evidence_strip(task, told["context"]) for task in told["tasks"]]
    if as_json:
        emit_json({"row": number, "columns": COLUMNS, "strip": strip, "tasks": lines})
        return
    print_line(f"row {number}: {told['n_tokens']} tokens, {told['context'] // COLUMNS} a column")
    print_line(strip)
    for at, (line, task) in enumerate(zip(lines, told["tasks"], strict=True)):
        print_line(f"{line}  {at} {task['family']}")
    print_line("; ".join(f"{mark} {kind}" for kind, mark in _MARKS.items()) + "; e evidence of a task")


def _column(token: int, context: int) -> int:
    return min(COLUMNS - 1, token * COLUMNS // context)


def _strip(segments: Sequence[Mapping[str, Any]], context: int) -> str:
    """The kind that ranks last of those that stand in each column."""
    rank = list(_MARKS)
    columns = [-1] * COLUMNS
    for segment in segments:
        if segment["kind"] != "separator":
            for at in range(_column(segment["start"], context), _column(segment["end"] - 1, context) + 1):
                columns[at] = max(columns[at], rank.index(segment["kind"]))
    return "".join(" " if at < 0 else _MARKS[rank[at]] for at in columns)


def _evidence_strip(task: Mapping[str, Any], context: int) -> str:
    columns = [" "] * COLUMNS
    for evidence in task["evidence"]:
        columns[_column(evidence["start"], context)] = "e"
    columns[_column(task["query_start"], context)] = "?"
    return "".join(columns)


def _texts(told: Mapping[str, Any], task: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "query": _span_text(told, task["query_start"], task["query_end"]),
        "answer": _span_text(told, task["answer_start"], task["answer_end"]),
        "evidence": [_span_text(told, e["start"], e["end"]) for e in task["evidence"]],
    }


def _span_text(told: Mapping[str, Any], start: int, end: int) -> str | None:
    """The texts of the segments that a span covers; null where no tokenizer is at hand."""
    inside = [s for s in told["segments"] if s["start"] < end and s["end"] > start]
    texts = [s["text"] if s["media_idx"] is None else f"[{_medium(told, s)}]" for s in inside]
    return None if any(text is None for text in texts) else "".join(map(str, texts))


def _medium(told: Mapping[str, Any], segment: Mapping[str, Any]) -> str:
    medium = told["media"][segment["media_idx"]]
    return f"picture {medium['sha256'][:12]} of {medium['width']} x {medium['height']}"


def _task(told: Mapping[str, Any], task: Mapping[str, Any], number: int) -> Iterator[str]:
    context = told["context"]
    texts = _texts(told, task)
    proved = "proved" if task["verified"] else "not proved"
    name = f"{task['family']} {task['family_version']}, class {task['klass']}"
    yield f"task {number} of row {told['row']}: {name}, {proved}"
    yield f"  tier {task['tier']}, one of {task['answer_space']} answers (chance {task['chance']:.4f}), {task['split']}"
    spread = f"evidence spans {task['span_frac']:.2f} of the window, nearest {task['min_gap']} tokens before"
    covers = ", ".join(f"{task[name]} of 1/{name[6:-2]}" for name in ("cover_64th", "cover_16th", "cover_4th"))
    yield f"  {spread}; windows to cover it: {covers}"
    known = [f"{window} {eps:.4f}" for window, eps in zip(_WINDOWS, task["window_eps"] or (), strict=False)]
    yield f"  epsilon of windows: {', '.join(known) or 'none is stated: checked empirically only'}"
    for hop, (evidence, text) in enumerate(zip(task["evidence"], texts["evidence"], strict=True)):
        depth = f"{100 * evidence['start'] / context:.1f} %"
        yield f"evidence {hop} at [{evidence['start']}, {evidence['end']}), depth {depth}"
        yield from _quoted(_around(told, evidence["start"], -1), "  ~ ")
        yield from _quoted(text, "  > ")
        yield from _quoted(_around(told, evidence["end"], 1), "  ~ ")
    yield f"query at [{task['query_start']}, {task['query_end']}), depth {100 * task['query_start'] / context:.1f} %"
    yield from _quoted(texts["query"], "  > ")
    yield f"answer at [{task['answer_start']}, {task['answer_end']}): {task['answer']}"


def _around(told: Mapping[str, Any], token: int, side: int) -> str | None:
    """What stands in front of a place (-1), or behind it (1)."""
    for segment in told["segments"]:
        if segment["end"] == token and side < 0:
            return (segment["text"] or "")[-AROUND_CHARS:]
        if segment["start"] == token and side > 0:
            return (segment["text"] or "")[:AROUND_CHARS]
    return None


def _quoted(text: str | None, mark: str) -> Iterator[str]:
    if text is not None:
        yield from (f"{mark}{line}" for line in text.strip("\n").split("\n"))
