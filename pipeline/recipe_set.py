"""`--set KEY=VALUE`: one value of a recipe, given on the command line.

KEY is a dotted path (`seed`, `datasets.web.read.warc`, `datasets.web.steps.c4.min_words`); a step goes by its
label or its number from 0, and what follows names a parameter. VALUE is YAML. The tree is
changed before it is checked, so a value from here is judged like one from the file, with `--set KEY` as
its place. Every part of a path but the last must exist; `holdout`, `alarm` and
`resources` are made.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.recipe_alarm import ALARM
from gristmill.pipeline.recipe_resources import RESOURCES
from gristmill.pipeline.recipe_shape import label_steps
from gristmill.pipeline.recipe_yaml import Node, Place, parse_value
from gristmill.pipeline.suggest import did_you_mean

_STEPS_PATH_LENGTH = 3  # datasets, NAME, steps


def apply_overrides(root: Node, overrides: Sequence[str]) -> Node:
    """A new tree with each `KEY=VALUE` in turn; raises RecipeError whose `where` is `--set KEY`."""
    for override in overrides:
        key, equals, text = override.partition("=")
        name = f"--set {key}"
        if not equals or not key:
            raise RecipeError("not KEY=VALUE", "--set", override, "for instance --set seed=3")
        root = _put(root, (), key.split("."), parse_value(text, name))
    return root


def _put(node: Node, above: tuple[str, ...], path: Sequence[str], new: Node) -> Node:
    """`node` with `new` at `path`; nodes on the way are copied, for an alias may share them."""
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(node.value, list):
        return _put_in_list(node, above, path, new)
    fields = {} if node.value is None else node.value
    if not isinstance(fields, dict):
        raise _no_such(new.place, above, head, ())
    below = fields.get(head)
    if below is None and rest:
        if not _is_made_when_absent(above, head):
            raise _no_such(new.place, above, head, fields)
        below = Node(new.place, None)
    child = new if below is None else _put(below, (*above, head), rest, new)
    places = {head: new.place, **node.key_places} if rest else {**node.key_places, head: new.place}
    return replace(node, value={**fields, head: child}, key_places=places)


def _is_made_when_absent(above: tuple[str, ...], head: str) -> bool:
    if head in (ALARM, RESOURCES):
        # A dataset may bear such a name: these stand below a step or an origin.
        origins = ("read", "render") if head == RESOURCES else ("read",)
        return (len(above) == 2 and above[0] == "steps") or (
            above[:1] == ("datasets",) and len(above) == 3 and above[2] in origins
        )
    return (*above, head) == ("holdout",)


def _put_in_list(node: Node, above: tuple[str, ...], path: Sequence[str], new: Node) -> Node:
    assert isinstance(node.value, list)
    head, rest = path[0], path[1:]
    steps = len(above) == _STEPS_PATH_LENGTH and above[0] == "datasets" and above[2] == "steps"
    labels = label_steps(map(_stage_of, node.value)) if steps else ()
    if head in labels:
        index = labels.index(head)
    elif head.isascii() and head.isdigit() and len(head) < 6 and int(head) < len(node.value):
        index = int(head)
    else:
        raise _no_such(new.place, above, head, labels or map(str, range(len(node.value))))
    old = node.value[index]
    child = _put_in_step(old, rest, new) if steps else _put(old, (*above, head), rest, new)
    return replace(node, value=[*node.value[:index], child, *node.value[index + 1 :]])


def _stage_of(step: Node) -> str:
    if isinstance(step.value, dict):
        return next(iter(step.value), "")
    return step.value if isinstance(step.value, str) else ""


def _put_in_step(step: Node, path: Sequence[str], new: Node) -> Node:
    """A step with one parameter changed, all of them (a mapping or null), or another stage (text)."""
    if not path and isinstance(new.value, str):
        return new
    stage = _stage_of(step)
    fields = step.value if isinstance(step.value, dict) else {stage: Node(step.place, None)}
    params = _put(fields.get(stage, Node(step.place, None)), ("steps", stage), path, new)
    return Node(step.place, {**fields, stage: params}, {stage: step.place, **step.key_places})


def _no_such(place: Place, above: Sequence[str], head: str, known: Iterable[str]) -> RecipeError:
    inside = f"in {'.'.join(above).removeprefix('steps.')}" if above else "at the top"
    return RecipeError(f"nothing of this name {inside}", str(place), head, did_you_mean(head, known))
