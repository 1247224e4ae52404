"""The plain-Python twin of `components`: the kernel's test oracle."""

from collections.abc import Iterable


def components(nodes: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The smallest node of the component of each node, found by walking."""
    near: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    label = [-1] * nodes
    for node in range(nodes):
        if label[node] < 0:
            label[node] = node
            walk = [node]
            while walk:
                for other in near[walk.pop()]:
                    if label[other] < 0:
                        label[other] = node
                        walk.append(other)
    return label
