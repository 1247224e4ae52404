"""The plain-Python twin of `stars`: greedy over a graph of sets, all of it in memory. The kernel's test oracle."""

from collections.abc import Iterable, Mapping, Sequence


def keepers(ranks: Sequence[int], edges: Iterable[tuple[int, int]], index: frozenset[int]) -> Mapping[int, int]:
    """The nodes that go and the keeper of each: decided best rank first, and those of `index` stay in any case."""
    near: dict[int, set[int]] = {node: set() for node in range(len(ranks))}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    found: dict[int, int] = {}
    for node in sorted(near, key=lambda n: ranks[n]):
        kept = [n for n in near[node] if ranks[n] < ranks[node] and n not in found]
        if kept and node not in index:
            found[node] = min(kept, key=lambda n: ranks[n])
    return found
