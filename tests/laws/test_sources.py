"""Laws of sources, over every source that is registered: what one yields changes only with READ_VERSION."""

import json
import tempfile
from pathlib import Path

import pytest
from blake3 import blake3

from gristmill.pipeline.build_read import READ_VERSION
from gristmill.pipeline.sources import catalogue
from gristmill.pipeline.sources.digests import DigestCache
from gristmill.pipeline.sources.files import list_inputs
from gristmill.pipeline.sources.protocol import Loss, OptionValue, ReadOptions
from tests.laws.corpora import named_sources, write_corpus

GOLDEN = Path(__file__).parent / "golden_sources.json"
READS: dict[str, tuple[str, str, dict[str, OptionValue]]] = {
    "warc": ("warc", "warc/", {}),
    "wet": ("wet", "wet/", {}),
    "jsonl": ("jsonl", "jsonl/", {}),
    "parquet": ("parquet", "parquet/", {}),
    "arrow": ("arrow", "arrow/", {}),
    "html": ("html", "html/", {}),
    "text": ("text", "text/", {}),
    "tree": ("tree", "code/", {}),
    "tree whole_repo": ("tree", "repositories/", {"whole_repo": True}),
}
"""Name -> source, glob in the corpora, options beside the defaults."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def golden_digest(folder: Path, name: str) -> str:
    """Digest of all rows and losses that a source makes of the corpora, in order; batches end where they like."""
    source, glob, given = READS[name]
    module = catalogue.load(source)
    options = ReadOptions("d", "web", "CC0-1.0", "id" if source == "jsonl" else None, {**module.OPTIONS, **given})
    made: list[tuple[str, object, object]] = []
    for file in list_inputs(glob, str(folder), catalogue.selection(source, options.extra), DigestCache()):
        read = list(module.read_file(file, options))
        rows = [list(row.items()) for one in read for row in one.batch.to_pylist()]
        losses = [_told(loss) for one in read for loss in one.losses]
        made.append((file.rel, rows, losses))
    assert made
    return blake3(repr(made).encode("utf-8", "surrogatepass")).hexdigest(16)


def _told(loss: Loss) -> list[tuple[str, object]]:
    """What is lost, without the measure where there is none: it is of what is rendered, and no source gives one."""
    return [(name, value) for name, value in vars(loss).items() if name != "measure" or value]


def golden_table(folder: Path) -> dict[str, object]:
    return {"read_version": READ_VERSION, "digests": {name: golden_digest(folder, name) for name in READS}}


def test_the_recipes_of_the_laws_name_every_source() -> None:
    assert set(catalogue.SOURCES) == named_sources()


def test_every_source_has_a_golden_digest() -> None:
    assert {source for source, _, _ in READS.values()} == set(catalogue.SOURCES)
    assert set(json.loads(GOLDEN.read_text(encoding="utf-8"))["digests"]) == set(READS)


@pytest.mark.parametrize("name", READS)
def test_output_changes_only_with_the_version(folder: Path, name: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    then = (golden["read_version"], golden["digests"].get(name))
    remedy = "raise READ_VERSION of pipeline.build_read, then: python -m tests.laws.test_sources"
    assert then == (READ_VERSION, golden_digest(folder, name)), remedy


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        table = golden_table(write_corpus(Path(made)))
    GOLDEN.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
