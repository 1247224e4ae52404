"""Every row-local stage says in a datatrove pipeline what it says in a run."""

from typing import Any

import pyarrow as pa
import pytest

from gristmill.pipeline.adapters import as_datatrove
from tests.laws.adapters import ROW_LOCAL, Verdict, check, documents, of_a_run
from tests.laws.samples import sample_stage
from tests.pipeline.excluded import Excluded

data = pytest.importorskip("datatrove.data")


def documents_of(batch: pa.RecordBatch) -> list[Any]:
    """Documents as a reader of datatrove would make them."""
    rows = batch.select(["id", "text", "source", "domain", "lang"]).to_pylist()
    return [
        data.Document(r["text"], r["id"], [], {"source": r["source"], "domain": r["domain"], "language": r["lang"]})
        for r in rows
    ]


def judged(name: str, batch: pa.RecordBatch) -> list[Verdict]:
    """What a step says, in small batches."""
    excluded = Excluded()
    step = as_datatrove(sample_stage(name), exclusion_writer=excluded, measures=True, batch_rows=5)  # type: ignore
    kept = {document.id: document for document in step(iter(documents_of(batch)))}
    gone = {document.id: document for document in excluded.documents}
    found: list[Verdict] = []
    for row_id in batch.column("id").to_pylist():
        document = kept.get(row_id) or gone[row_id]
        measured = {
            m.rpartition(".")[2]: v
            for m, v in document.metadata.items()
            if m.count(".") == 2 and m.startswith(f"gristmill.{name}.")
        }
        told: Verdict = {"kept": row_id in kept, "measures": measured}
        if row_id in kept:
            told |= {"text": document.text or "", "lang": document.metadata["language"]}
        else:
            words = ("verdict", "reason", "measure", "detail", "value", "limit")
            told |= {word: document.metadata[f"filter_{word}"] for word in words}
        found.append(told)
    assert [d.id for d in step(iter(documents_of(batch)))] == list(kept), "order"
    return found


@pytest.mark.parametrize("name", ROW_LOCAL)
def test_a_stage_says_in_a_datatrove_pipeline_what_it_says_in_a_run(name: str) -> None:
    check(name, judged)


def test_the_law_compares_something() -> None:
    found = [told for name in ("gopher_quality", "c4", "language") for told in of_a_run(name, documents())]
    assert {True, False} == {told["kept"] for told in found}
    assert any(told["measures"] for told in found)
