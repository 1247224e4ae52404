"""The clusters of duplicates of a run, and two of their members side by side (`show --clusters`, `--compare`)."""

import difflib
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import InputError
from gristmill.pipeline.cli.output import emit_json, print_line, say

if TYPE_CHECKING:
    from gristmill.manifests.clusters import Cluster
    from gristmill.manifests.find import Place

MEMBERS_SHOWN = 10
COMPARED_WORDS = 8_000
"""Of each text: comparing takes time in the square of what differs."""
CONTEXT_WORDS = 8
_MIN_COLUMN = 20


@dataclass(frozen=True)
class Difference:
    """A place where two texts differ (`equal` False), or words that both have."""

    equal: bool
    left: str
    right: str
    words: int


def show_clusters(
    out: Path, places: Sequence["Place"], limit: int, chars: int, as_json: bool, step: str | None, shown: str
) -> None:
    """Print the largest clusters; of one step's records, where one is given."""
    from gristmill.manifests.clusters import clusters

    found = clusters(places, limit, MEMBERS_SHOWN if not as_json else 1 << 30, step)
    if as_json:
        emit_json({"clusters": [asdict(c) for c in found]})
        return
    compare: list[tuple[str, str]] = []
    for number, cluster in enumerate(found, start=1):
        kept = _kept(out, places, cluster.keeper)
        _print_cluster(number, cluster, kept, chars)
        compare += [(cluster.keeper, m.id) for m in cluster.members[:1] if kept is not None and m.id != cluster.keeper]
    if not found:
        say("no record went for another one in what is looked at; `gristmill ls` shows steps and reasons")
    elif compare:
        say(f"side by side: gristmill show {shown} --compare {compare[0][0]} {compare[0][1]}")


def _kept(out: Path, places: Sequence["Place"], keeper: str) -> dict[str, Any] | None:
    """The record that stayed; None where this run does not hold it: it stands in an index, or in another dataset."""
    from gristmill.manifests.clusters import read_record

    try:
        return read_record(out, places, keeper)
    except InputError:
        return None


def _print_cluster(number: int, cluster: "Cluster", kept: dict[str, Any] | None, chars: int) -> None:
    where = "(not in what is looked at: in an index, or another dataset)" if kept is None else kept["url"] or ""
    print_line(f"{number}. {cluster.size} records, kept {cluster.keeper}  {where}".rstrip())
    for line in (kept["text"] or "")[:chars].split("\n") if kept is not None else ():
        print_line(f"  | {line}")
    for member in cluster.members:
        limit = f" (limit {member.limit:g})" if member.limit is not None else ""
        value = f" {member.measure or 'similarity'} {member.value:.4g}{limit}" if member.value is not None else ""
        more = f", {member.detail}" if member.detail else ""
        url = f"  {member.url}" if member.url else ""
        print_line(f"  {member.id}  {member.dataset}.{member.step} {member.reason}{value}{more}{url}")
    if cluster.size - 1 > len(cluster.members):
        print_line(f"  and {cluster.size - 1 - len(cluster.members)} more (--json lists all)")
    print_line()


def differences(left: str, right: str) -> list[Difference]:
    """What two texts have in common, and where they differ, word by word, in order.

    Of each the first COMPARED_WORDS words are looked at.
    """
    a, b = left.split()[:COMPARED_WORDS], right.split()[:COMPARED_WORDS]
    found: list[Difference] = []
    for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        words = max(i_end - i, j_end - j)
        found.append(Difference(tag == "equal", " ".join(a[i:i_end]), " ".join(b[j:j_end]), words))
    return found


def show_compared(out: Path, places: Sequence["Place"], ids: Sequence[str], as_json: bool) -> None:
    """Print two records side by side."""
    from gristmill.manifests.clusters import read_record

    left, right = (read_record(out, places, record) for record in ids)
    found = differences(left["text"] or "", right["text"] or "")
    if as_json:
        emit_json({"left": left["id"], "right": right["id"], "differences": [asdict(d) for d in found]})
        return
    width = max(_MIN_COLUMN, (shutil.get_terminal_size((120, 40)).columns - 3) // 2)
    for a, b in ((left["id"], right["id"]), (left["url"] or "", right["url"] or "")):
        print_line(f"{a:<{width}} | {b}".rstrip())
    print_line("-" * (2 * width + 3))
    for difference in found:
        for line in _lines(difference, width):
            print_line(line)
    if all(difference.equal for difference in found):
        print_line("no word differs")


def _lines(difference: Difference, width: int) -> Iterator[str]:
    if not difference.equal:
        left, right = (_wrapped(text, width) or [""] for text in (difference.left, difference.right))
        for row in range(max(len(left), len(right))):
            a, b = (part[row] if row < len(part) else "" for part in (left, right))
            mark = "!" if difference.left and difference.right else ("<" if difference.left else ">")
            yield f"{a:<{width}} {mark} {b}".rstrip()
        return
    words = difference.left.split()
    if len(words) <= 4 * CONTEXT_WORDS:
        yield from (f"{line:<{width}} | {line}" for line in _wrapped(difference.left, width))
        return
    for part in (words[:CONTEXT_WORDS], None, words[-CONTEXT_WORDS:]):
        if part is None:
            yield f"{f'... {len(words) - 2 * CONTEXT_WORDS} equal words ...':^{2 * width + 3}}".rstrip()
        else:
            yield from (f"{line:<{width}} | {line}" for line in _wrapped(" ".join(part), width))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False)
