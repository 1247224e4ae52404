"""Limits that depend on a row's profile, and parameters that name files: what every such stage rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from gristmill.manifests.errors import InputError
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.params import file_param
from gristmill.stages.protocol import Rule


@dataclass(frozen=True)
class Short:
    """Drops a text under ten characters; zh needs three, and th is never asked."""

    name: ClassVar[str] = "short"
    version: ClassVar[int] = 1

    def rules(self) -> tuple[Rule, ...]:
        """One rule."""
        return (Rule("chars", "below", 10.0, "too_short", by_profile={"zh": 3.0, "th": None}),)

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, npt.NDArray[np.float64]]:
        """Lengths."""
        return {"chars": np.array([len(t) for t in batch.column("text").to_pylist()], dtype=np.float64)}

    def profiles(self, batch: pa.RecordBatch) -> list[str]:
        """The language itself."""
        return [lang or "" for lang in batch.column("lang").to_pylist()]


@dataclass(frozen=True)
class Listed:
    """A stage with lists in files."""

    name: ClassVar[str] = "listed"
    version: ClassVar[int] = 1

    words: str | None = file_param(None, "one word a line")
    more: tuple[str, ...] = file_param((), "further lists")


def _batch(rows: list[tuple[str, str | None]]) -> pa.RecordBatch:
    texts, langs = zip(*rows, strict=True)
    columns = {"text": pa.array(texts, pa.large_string()), "lang": pa.array(langs, pa.string())}
    return pa.RecordBatch.from_pydict(columns)


def test_a_profile_has_limits_of_its_own() -> None:
    rows = [("12345", "en"), ("12345", "zh"), ("12", "zh"), ("", "th"), ("12345", None), ("1234567890", None)]
    result = run_chain([Short()], _batch(rows))
    assert [(f.row, f.reason, f.value, f.limit) for f in result.fates] == [
        (0, "too_short", 5.0, 10.0),
        (2, "too_short", 2.0, 3.0),
        (4, "too_short", 5.0, 10.0),
    ]
    assert list(result.steps[0].profiles) == ["en", "zh", "zh", "th", "", ""]


def _load(folder: Path, params: dict[str, object]) -> Listed:
    (folder / "stage.py").write_text(
        "from tests.stages.test_profiles_and_files import Listed as Base\n"
        "from dataclasses import dataclass\n"
        "from gristmill.stages.params import file_param\n"
        "@dataclass(frozen=True)\nclass Listed(Base):\n"
        "    words: str | None = file_param(None, 'one word a line')\n"
        "    more: tuple[str, ...] = file_param((), 'further lists')\n"
        "    def rules(self): return ()\n"
        "    def measure(self, batch): return {}\n",
        encoding="utf-8",
    )
    return catalogue.load("./stage.py:Listed", params, folder)  # type: ignore[return-value]


def test_files_are_found_from_the_recipe_and_known_by_their_content(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "lists").mkdir(parents=True)
        (tmp_path / name / "lists" / "w.txt").write_text("word\n")
    first = _load(tmp_path / "one", {"words": "lists/w.txt", "more": ["lists/w.txt"]})
    second = _load(tmp_path / "two", {"words": "lists/w.txt", "more": ["lists/w.txt"]})
    assert first.words == str(tmp_path / "one" / "lists" / "w.txt")
    params = catalogue.canonical_params(first)
    assert params == catalogue.canonical_params(second)
    assert str(params["words"]).startswith("blake3:") and params["more"] == [params["words"]]
    (tmp_path / "one" / "lists" / "w.txt").write_text("another\n")
    assert catalogue.canonical_params(first) != params
    assert catalogue.file_params(first) == ["words", "more"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file.*absent\.txt"):
        _load(tmp_path, {"words": "absent.txt"})
