"""Stages from users' files: found, run once, told apart by content, and errors that help."""

import sys
from pathlib import Path
from typing import Any, cast

import pytest

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.doc_filter import DocFilter
from gristmill.stages.user_code import MODULE_PREFIX, file_digest_of, load_object

FILTER = '''
from gristmill.stages import doc_filter

RUNS = []
RUNS.append(1)

@doc_filter(drop_above={"n": 3})
def long(text):
    """Long ones."""
    return {"n": len(text)}

class Other:
    pass
'''


DATACLASS = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class A:
    x: int = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my filters.py"
    path.write_text(FILTER)
    return path


def test_loads_a_filter_with_the_file_s_digest(file: Path) -> None:
    found, digest = load_object(file, "long")
    assert isinstance(found, DocFilter)
    assert digest.startswith("blake3:")
    assert found.function.__module__.startswith(MODULE_PREFIX)
    assert file_digest_of(found.function.__module__) == digest
    assert file_digest_of("json") is None


def test_a_file_is_run_once_for_each_content(file: Path) -> None:
    first, _ = load_object(file, "RUNS")
    again, _ = load_object(file, "RUNS")
    assert first is again
    assert first == [1]
    file.write_text(FILTER + "\n# changed\n")
    assert load_object(file, "RUNS")[0] is not first


def test_a_dataclass_of_the_file_works(tmp_path: Path) -> None:
    path = tmp_path / "classes.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n"
    )
    made, _ = load_object(path, "A")
    assert vars(cast(Any, made)(2)) == {"x": 2}


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.py.*\./file\.py:name"):
        load_object(tmp_path / "absent.py", "x")


def test_a_missing_name_lists_what_is_there(file: Path) -> None:
    with pytest.raises(UsageError, match="it has Other, long"):
        load_object(file, "short")


@pytest.mark.parametrize("source", ["def broken(:", "raise ValueError('no')", "import no_such_module_at_all", "\0"])
def test_a_file_that_fails_leaves_no_module(tmp_path: Path, source: str) -> None:
    path = tmp_path / "fails.py"
    path.write_text(source)
    with pytest.raises(UsageError, match="fails when it is run"):
        load_object(path, "x")
    assert not [name for name in sys.modules if name.startswith(f"{MODULE_PREFIX}fails")]
