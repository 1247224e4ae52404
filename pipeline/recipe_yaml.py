"""Recipe text to a tree of nodes, each knowing where it was written.

In: the bytes of a YAML file or the text of one value. Out: a `Node` of plain data (mappings with text keys,
lists, text, whole numbers of 64 bits, finite floats, true/false, null). Scalars follow the core schema of
YAML 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema), not PyYAML's 1.1: `no` is Norwegian, `1e-3` a
number, `12:30` text. Tags, merge keys, repeated keys and several documents are refused; an alias counts for
all that it stands for, and size, depth and number of nodes are bounded, so that a hostile file costs
milliseconds. Every fault is a RecipeError whose `where` is `FILE:LINE`.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from gristmill.manifests.errors import RecipeError

MAX_BYTES = 256 << 10
MAX_DEPTH = 32
MAX_NODES = 50_000

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
Scalar = bool | int | float | str | None

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_MAX_INT_CHARS = 64
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_OPENS_NO_TEXT = "*&!%@`|>"


@dataclass(frozen=True)
class Place:
    """Where text stands: `line` counts from 1 in `name`; 0 when `name` is all there is to say."""

    name: str
    line: int = 0

    def __str__(self) -> str:
        """`FILE:LINE`, or the name alone."""
        return f"{self.name}:{self.line}" if self.line else self.name


@dataclass
class Node:
    """One value: `value` is a scalar, a list of nodes, or a dict of nodes by key.

    `key_places[key]` is where a key of a mapping stands; `nodes` counts this node and all below it, `height`
    the levels below it.
    """

    place: Place
    value: "Scalar | list[Node] | dict[str, Node]"
    key_places: dict[str, Place] = field(default_factory=dict[str, Place])
    nodes: int = 1
    height: int = 0

    def plain(self) -> Plain:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def place_of(node: Node, path: Sequence[str | int]) -> Place:
    """Where the value at `path` below `node` stands: its key's line if it is in a mapping.

    A path that leads further than the tree gives the place of its deepest part that exists.
    """
    place = node.place
    for part in path:
        if isinstance(node.value, dict) and part in node.value:
            place = node.key_places[str(part)]
            node = node.value[str(part)]
        elif isinstance(node.value, list) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            place = node.place
        else:
            break
    return place


def parse_file(data: bytes, name: str) -> Node:
    """The one document in `data`. Raises RecipeError at `name:LINE`."""
    if len(data) > MAX_BYTES:
        raise _wrong(Place(name), "too large for a recipe", f"over {MAX_BYTES} bytes", "name a recipe")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place(name, 1 + data.count(b"\n", 0, error.start))
        raise _wrong(place, "not UTF-8", data[error.start : error.end], "save it as UTF-8") from None
    return _parse(text, Place(name, 1))


def parse_value(text: str, name: str) -> Node:
    """The value of one `--set KEY=VALUE`; every place in it is `name`.

    Text that begins with a character that YAML keeps for itself, such as the glob `*.gz`, is text.
    """
    if text[:1] and text[:1] in _OPENS_NO_TEXT:
        return Node(Place(name), _checked_text(text, Place(name)))
    return _parse(text, Place(name))


def _parse(text: str, first: Place) -> Node:
    composer = _Composer(first)
    try:
        return composer.compose(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.reader.ReaderError as error:
        place = composer.place(text.count("\n", 0, error.position))
        code = f"U+{int(error.character):04X}"
        raise _wrong(place, "a character that YAML does not allow", code, "take it out") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = composer.place(mark.line if mark else 0)
        what = f"not YAML: {error.problem or error.context}"
        raise _wrong(place, what, None, _yaml_remedy(f"{what} {error.context}")) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # PyYAML lets int() and chr() fail on escapes and version numbers out of range.
        raise _wrong(composer.last, "not YAML", error, "check the escapes near here") from None


def _wrong(place: Place, what: str, value: object, remedy: str) -> RecipeError:
    return RecipeError(what, str(place), value, remedy)


def _yaml_remedy(what: str) -> str:
    if "\\t" in what:
        return "indent with spaces, not tabs"
    if "alias" in what or "anchor" in what:
        return "put a text that begins with * or & in quotes"
    return "check indentation, quotes and brackets here"


class _Composer:
    """Builds nodes from PyYAML's events; recursion is bounded by MAX_DEPTH, not by the text."""

    def __init__(self, first: Place) -> None:
        self.first = first
        self.last = first
        self.anchors: dict[str, Node] = {}

    def place(self, line: int) -> Place:
        """The place of PyYAML's zero-based line."""
        return Place(self.first.name, self.first.line + line if self.first.line else 0)

    def compose(self, events: Iterator[yaml.Event]) -> Node:
        """The only document's node; an empty stream gives null."""
        next(events)
        if isinstance(next(events), yaml.StreamEndEvent):
            return Node(self.first, None)
        node = self.node(next(events), events, 0)
        next(events)
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            place = self.place(after.start_mark.line)
            raise _wrong(place, "a second document", "---", "one recipe is one document")
        return node

    def node(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
        """The node that starts with `event`; `depth` counts the levels above it."""
        place = self.last = self.place(event.start_mark.line)
        if isinstance(event, yaml.AliasEvent):
            return self.bounded(self.alias(event, place), place, depth)
        assert isinstance(event, yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent)
        if event.tag is not None:
            raise _wrong(place, "a tag, which a recipe has no use for", event.tag, "take it out")
        if isinstance(event, yaml.ScalarEvent):
            node = Node(place, self.scalar(event, place))
        else:
            node = Node(place, [] if isinstance(event, yaml.SequenceStartEvent) else {})
            self.bounded(node, place, depth)
            self.fill(node, events, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return self.bounded(node, place, depth)

    def bounded(self, node: Node, place: Place, depth: int) -> Node:
        """`node`, unless it makes the tree too large."""
        if depth + node.height > MAX_DEPTH:
            raise _wrong(place, "nested too deeply", f"over {MAX_DEPTH} levels", "flatten it")
        if node.nodes > MAX_NODES:
            raise _wrong(place, "too many values", f"over {MAX_NODES} with aliases followed", "shorten it")
        return node

    def alias(self, event: yaml.AliasEvent, place: Place) -> Node:
        """The node under an anchor that is complete, so that none contains itself."""
        node = self.anchors.get(event.anchor)
        if node is None:
            raise _wrong(place, "no anchor of this name before", f"*{event.anchor}", _yaml_remedy("alias"))
        return node

    def fill(self, node: Node, events: Iterator[yaml.Event], depth: int) -> None:
        """Put all that follows up to the end of the list or mapping into `node`."""
        ends = yaml.SequenceEndEvent | yaml.MappingEndEvent
        while not isinstance(event := next(events), ends):
            child = self.node(event, events, depth + 1)
            if isinstance(node.value, dict):
                key, key_place = self.key(child, node), child.place
                child = self.node(next(events), events, depth + 1)
                node.value[key], node.key_places[key] = child, key_place
            elif isinstance(node.value, list):
                node.value.append(child)
            node.nodes += child.nodes
            node.height = max(node.height, child.height + 1)
            self.bounded(node, self.last, depth)

    def key(self, key: Node, mapping: Node) -> str:
        """The text of a key that its mapping does not hold yet."""
        if not isinstance(key.value, str):
            raise _wrong(key.place, "a key that is not text", key.plain(), "put the key in quotes")
        if key.value == "<<":
            raise _wrong(key.place, "a merge key", "<<", "write the keys out, or name the whole value")
        if key.value in mapping.key_places:
            first = mapping.key_places[key.value].line
            raise _wrong(key.place, f"a key that stands on line {first} already", key.value, "keep one")
        return key.value

    def scalar(self, event: yaml.ScalarEvent, place: Place) -> Scalar:
        """The value of a scalar: quoted and block scalars are text."""
        if not event.implicit[0]:
            return _checked_text(event.value, place)
        return _plain_scalar(event.value, place)


def _plain_scalar(text: str, place: Place) -> Scalar:
    """Core schema of YAML 1.2; numbers outside 64 bits and those that are not finite are refused."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        base = 0 if text[:2] in ("0o", "0x") else 10
        number = int(text, base) if len(text) <= _MAX_INT_CHARS else 1 << 64
        if -(1 << 63) <= number < 1 << 63:
            return number
        raise _wrong(place, "a whole number of more than 64 bits", text, "put a name in quotes")
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
    if _FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        raise _wrong(place, "not a finite number", text, "put text in quotes, or write a number")
    return _checked_text(text, place)


def _checked_text(text: str, place: Place) -> str:
    found = _NOT_TEXT.search(text)
    if found:
        code = f"U+{ord(found.group()):04X}"
        raise _wrong(place, "text with a control character or half a surrogate", code, "take it out")
    return text
