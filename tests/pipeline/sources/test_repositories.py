"""The reading order of a repository: dependencies first, ties by path, whatever the content."""

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.pipeline.sources.repositories import dependency_order
from tests.pipeline.sources.whole_file_cases import HOSTILE


def _order(files: Mapping[str, str]) -> list[str]:
    return dependency_order({path: text.encode() for path, text in files.items()})


def test_readme_then_licence_then_configuration_of_the_top_folder() -> None:
    names = ["a.py", "license.txt", "docs/README.md", "Makefile", "readme.rst", "COPYING", "readmes.c", "readme/x.c"]
    assert _order(dict.fromkeys(names, "")) == [
        *("readme.rst", "COPYING", "license.txt", "Makefile"),
        *("a.py", "docs/README.md", "readme/x.c", "readmes.c"),
    ]


def test_without_imports_the_order_is_that_of_paths() -> None:
    assert _order({"b/x.go": "", "a.rs": "", "b-c.go": "", "B.md": ""}) == ["B.md", "a.rs", "b-c.go", "b/x.go"]


def test_what_one_file_needs_comes_in_the_order_of_paths() -> None:
    names = [f"m{i}.py" for i in range(9)]
    files = {"a.py": "".join(f"import {name[:-3]}\n" for name in reversed(names)), **dict.fromkeys(names, "")}
    assert _order(files) == [*names, "a.py"]


@pytest.mark.parametrize(
    "line",
    [
        "import pkg.zz",
        "import os, pkg.zz as z  # both",
        "from pkg import zz",
        "from pkg import (\n    other,  # a comment, with a comma\n    zz,\n)",
        "from pkg.zz import name",
        "from . import zz",
        "from .zz import name",
        "from ..pkg import zz",
        "from ..pkg.zz import *",
        "if True:\n    from pkg import zz",
    ],
)
def test_python_imports(line: str) -> None:
    files = {"src/pkg/aa.py": line, "src/pkg/zz.py": "", "src/pkg/__init__.py": "", "src/other.py": "", "zz.py": ""}
    order = _order(files)
    assert order.index("src/pkg/zz.py") == order.index("src/pkg/aa.py") - 1
    assert order[-1] == "zz.py"


def test_a_module_inside_a_package_is_not_one_of_the_standard_library() -> None:
    assert _order({"pkg/__init__.py": "", "pkg/app.py": "import json", "pkg/json/__init__.py": ""}) == [
        *("pkg/__init__.py", "pkg/app.py", "pkg/json/__init__.py"),
    ]


@pytest.mark.parametrize(
    ("include", "needed"),
    [
        ('#include "z.h"', "src/z.h"),
        ("  #  include <lib/y.h>", "include/lib/y.h"),
        ('#include "../include/lib/y.h"', "include/lib/y.h"),
        ('#include "y.h"', "include/lib/y.h"),
        ("#import <z.h>", "src/z.h"),
        ('#include "../tests/x.h"', "tests/x.h"),
        ('#include "../lib/y.h"', "include/lib/y.h"),
    ],
)
def test_c_includes(include: str, needed: str) -> None:
    others = ("src/z.h", "include/lib/y.h", "tests/z.h", "tests/x.h", "src/tests/x.h")
    files = {"a.c": "#include <stdio.h>", "0.cpp": "", "src/a.cpp": include, **dict.fromkeys(others, "")}
    files["A/main.cpp"] = '#include "../src/a.cpp"'
    order = _order(files)
    assert order[1:4] == [needed, "src/a.cpp", "A/main.cpp"]


@pytest.mark.parametrize(
    ("line", "needed"),
    [
        ("import z from './z'", "src/z.ts"),
        ("import './z.js';", "src/z.ts"),
        ("export * from '../src/y'", "src/y/index.js"),
        ("const z = require( './z.ts' )", "src/z.ts"),
        ("const z = await import('./y/')", "src/y/index.js"),
        ("import {\n  a,\n  b\n} from './z'", "src/z.ts"),
    ],
)
def test_script_imports(line: str, needed: str) -> None:
    files = {"src/a.ts": line, "src/z.ts": "", "src/y/index.js": "", "src/z/other.ts": "", "z": ""}
    order = _order(files)
    assert order.index(needed) == order.index("src/a.ts") - 1


def test_of_several_files_the_nearest_is_meant() -> None:
    files = {f"{case}/{name}": text for case in "abc" for name, text in (("m.py", "import util"), ("util.py", ""))}
    order = _order(files)
    assert order == ["a/util.py", "a/m.py", "b/util.py", "b/m.py", "c/util.py", "c/m.py"]
    assert _order({"x/m.py": "import util", "p/util.py": "", "q/util.py": ""})[0] == "p/util.py"
    above = {"A/start.py": "from b.v import m", "b/v/m.py": "import util"}
    above |= {"b/util.py": "", "a/util.py": "", "z/util.py": ""}
    assert _order(above) == ["b/util.py", "b/v/m.py", "A/start.py", "a/util.py", "z/util.py"]


def test_a_cycle_is_entered_at_its_smallest_path_and_its_users_come_behind() -> None:
    files = {"a.py": "import m", "m.py": "import n", "n.py": "import m", "b.py": "import b"}
    assert _order(files) == ["n.py", "m.py", "a.py", "b.py"]


@st.composite
def _graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    names = [f"m{i}" for i in range(draw(st.integers(1, 12)))]
    return {name: draw(st.lists(st.sampled_from(names), max_size=4)) for name in names}


@given(graph=_graphs())
def test_each_module_stands_behind_those_that_it_needs_and_that_do_not_need_it(graph: dict[str, list[str]]) -> None:
    order = _order({f"{name}.py": "".join(f"import {one}\n" for one in needs) for name, needs in graph.items()})
    assert sorted(order) == sorted(f"{name}.py" for name in graph)
    reach = {name: _reachable(name, graph) for name in graph}
    place = {path.removesuffix(".py"): i for i, path in enumerate(order)}
    for name, needs in graph.items():
        assert all(place[one] < place[name] for one in needs if name not in reach[one])


def _reachable(start: str, graph: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = {*graph[waiting.pop()]} - found
        found |= new
        waiting += new
    return found


PATHS = st.lists(st.sampled_from(["a", "b", "__init__", "index", "é"]), min_size=1, max_size=4).map("/".join)


@given(files=st.dictionaries(st.builds(str.__add__, PATHS, st.sampled_from([".py", ".c", ".ts", ""])), HOSTILE))
def test_any_content_gives_each_path_once_and_the_same_order_again(files: dict[str, bytes]) -> None:
    order = dependency_order(files)
    assert sorted(order) == sorted(files)
    assert dependency_order(dict(reversed(files.items()))) == order


@pytest.mark.parametrize("name", ["a.py", "a.c", "a.ts"])
@pytest.mark.parametrize("head", ["", "import", "from a import", "#include"])
@pytest.mark.parametrize(
    "unit",
    [
        *(" ", "import ", "from ", "from a import (", "from a import b,", "import a.", "a.a.", ".", "import (", "\n"),
        *('#include "', "#include <../", "# ", "require(", "import './", "from '../", "import\t", "import a.b.c.d\n"),
    ],
)
def test_hostile_content_costs_time_in_proportion(name: str, head: str, unit: str) -> None:
    text = (head + unit * ((4 << 20) // len(unit))).encode()
    start = time.process_time()
    dependency_order({name: text, "b.py": b"", "b.h": b""})
    assert time.process_time() - start < 5
