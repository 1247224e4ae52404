"""Whatever stands in a recipe's file or in an override, it is a recipe or an error of one line with a place."""

import json
import re
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.manifests.errors import RecipeError
from gristmill.pipeline.recipe import build_recipe, resolved
from gristmill.pipeline.recipe_yaml import parse_file, parse_value
from tests.pipeline.test_recipe import GOOD

YAMLISH = st.text(st.sampled_from(" \n\t-:{}[],&*!?|>'\"#%@`\\~<.01e_xan\x00\x85\u2028\ufeff\ud800é"), max_size=60)


def only_recipe_errors(data: bytes) -> None:
    """Whatever `data` holds, it is a recipe or a RecipeError of one line with a place."""
    try:
        recipe = build_recipe(parse_file(data, "r.yaml"), Path("r.yaml"), Path())
    except RecipeError as error:
        assert re.match(r"r\.yaml(:[0-9]+)?: ", str(error)), str(error)
        assert "\n" not in str(error)
    else:
        assert json.loads(json.dumps(resolved(recipe), allow_nan=False))["name"] == recipe.name


@given(st.binary(max_size=200))
@example(b"%YAML 1." + b"9" * 5000 + b"\n--- a")
@example(b'"\\U00110000"')
@example(b"? ? ? ?")
@example(b"\xef\xbb\xbf\xef\xbb\xbf")
def test_no_bytes_break_the_parser(data: bytes) -> None:
    only_recipe_errors(data)


@given(YAMLISH)
def test_no_text_breaks_the_parser(text: str) -> None:
    only_recipe_errors(text.encode("utf-8", "surrogatepass"))


WORDS = [
    "name",
    "seed",
    "holdout",
    "frac",
    "datasets",
    "a",
    "b",
    "read",
    "from",
    "text",
    "key",
    "steps",
    "c4",
]
KEYS = st.text(max_size=3) | st.sampled_from(WORDS)
JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["c4", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
DATASET = st.fixed_dictionaries({}, optional={k: JSONISH for k in ("read", "from", "render", "domain", "steps")})


@given(
    st.fixed_dictionaries(
        {
            "name": st.just("x") | JSONISH,
            "datasets": st.dictionaries(st.sampled_from("abc"), DATASET) | JSONISH,
        },
        optional={"seed": JSONISH, "holdout": JSONISH, "tokenizer": JSONISH, "x": JSONISH},
    )
)
def test_no_data_breaks_the_checks(data: dict[str, object]) -> None:
    only_recipe_errors(json.dumps(data).encode())


@given(
    st.lists(
        st.sampled_from(["datasets", "web", "steps", "c4", "0", "from", "read", "seed", "holdout"]),
        max_size=6,
    ),
    YAMLISH,
)
def test_no_override_breaks_the_checks(path: list[str], value: str) -> None:
    from gristmill.pipeline.recipe_set import apply_overrides

    try:
        build_recipe(
            apply_overrides(parse_file(GOOD.encode(), "r.yaml"), [".".join(path) + "=" + value]),
            Path(),
            Path(),
        )
    except RecipeError as error:
        assert error.where.startswith(("--set", "r.yaml:"))


@given(st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans())
def test_scalars_keep_their_value(value: float) -> None:
    parsed = parse_value(json.dumps(value), "--set x").value
    assert parsed == value
    assert type(parsed) is type(value)
