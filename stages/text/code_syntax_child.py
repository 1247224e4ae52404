"""What the syntax child runs: the bytes inside ERROR nodes of one source file; loaded in the killable child only.

A payload is the grammar's name, a NUL, and the source; the answer is the number of bytes in ASCII. tree-sitter parses
in native code, with errors: what it cannot read becomes an ERROR node, what it has to invent a missing node (one byte).
"""

from collections.abc import Callable
from typing import Any

from tree_sitter_language_pack import get_parser


def make(init: bytes) -> Callable[[bytes], bytes]:
    """The checker; `init` is not used."""
    parsers: dict[bytes, Any] = {}

    def check(payload: bytes) -> bytes:
        name, _, source = payload.partition(b"\0")
        if name not in parsers:
            parsers[name] = get_parser(name.decode("ascii"))  # type: ignore[arg-type]
        return b"%d" % error_bytes(parsers[name].parse(source))

    return check


def error_bytes(tree: Any) -> int:
    """Bytes of the outermost ERROR nodes of a tree, and one for each missing node."""
    cursor, total = tree.walk(), 0
    while True:
        node = cursor.node
        if node.is_error:
            total += max(node.end_byte - node.start_byte, 1)
        elif node.is_missing:
            total += 1
        elif node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return total
