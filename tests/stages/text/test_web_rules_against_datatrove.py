"""c4 and fineweb decide as datatrove does on real documents, reason and text; each difference has a known cause."""

import pydoc_data.topics
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.kernels.lines_chars import QUOTE
from gristmill.stages.kernels.lines_plain import ends_of, raw_lines, stripped
from gristmill.stages.protocol import RowStage
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.fineweb import FineWeb

MAX_CHARS = 6000
CITATION_AT_END = re.compile(r"\s\[(\d*|edit|citation needed)\]\s*$")
MIN_DOCUMENTS = 300
MIN_AGREEMENT = 0.99


def other_line_ends(text: str) -> bool:
    """CR, form feed and the like end lines (datatrove's fineweb knows LF alone)."""
    return any(end in text for end in "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")


def typographic_ends(text: str) -> bool:
    """A line ends with a quotation mark beyond ASCII, or with a full stop of another script."""
    lasts = [line[-1] for raw, _ in raw_lines(text) if (line := stripped(raw))]
    return any(ends_of(last) & QUOTE and not last.isascii() for last in lasts)


def citation_at_ends(text: str) -> bool:
    """A citation after white space ends a line: what it leaves there hides the full stop from datatrove."""
    return any(CITATION_AT_END.search(raw) for raw, _ in raw_lines(text))


def white_space_at_ends(text: str) -> bool:
    """A line ends or begins with white space, which hides its mark there, and is part of what is compared."""
    return any(raw != stripped(raw) for raw, _ in raw_lines(text) if stripped(raw))


C4_CAUSES: tuple[Callable[[str], bool], ...] = (typographic_ends, citation_at_ends)
FINEWEB_CAUSES: tuple[Callable[[str], bool], ...] = (other_line_ends, white_space_at_ends)


@pytest.fixture(scope="module")
def documents(shared_data: Path) -> list[str]:
    """Manuals in reStructuredText and as the text of their pages, help topics, pieces of a novel."""
    from resiliparse.extract.html2text import extract_plain_text  # pyright: ignore

    manuals = sorted((shared_data / "web" / "python_doc").glob("*.rst.txt"))
    pages = sorted((shared_data / "web" / "python_doc").glob("*.html"))
    book = next((shared_data / "books").glob("*.txt")).read_text("utf-8", "replace")
    texts = [path.read_text("utf-8") for path in manuals]
    texts += [extract_plain_text(path.read_text("utf-8"), main_content=True) for path in pages]
    texts += list(pydoc_data.topics.topics.values())
    texts += [book[at : at + 2500] for at in range(0, len(book), 2500)]
    texts = [text[:MAX_CHARS] for text in texts if text.strip()]
    assert len(texts) >= MIN_DOCUMENTS
    return texts


def ours(stage: RowStage, texts: list[str]) -> tuple[list[str], dict[int, str]]:
    """The reason of each text, "" where it is kept, and the kept texts by row."""
    result = run_chain([stage], document_batch({"text": pa.array(texts, pa.large_string())}))
    reasons = [""] * len(texts)
    for fate in result.fates:
        reasons[fate.row] = fate.reason
    kept = zip(result.kept_rows.tolist(), result.kept.column("text").to_pylist(), strict=True)
    return reasons, dict(kept)


def theirs(step: object, texts: list[str]) -> tuple[list[str], list[str]]:
    """The reason of each text, and what the step made of it."""
    from datatrove.data import Document

    documents = [Document(text=text, id=str(row)) for row, text in enumerate(texts)]
    verdicts = [step.filter(document) for document in documents]  # pyright: ignore
    return ["" if v is True else v[1] for v in verdicts], [document.text for document in documents]


def held_against(
    texts: list[str], mine: list[str], datatrove: list[str], causes: tuple[Callable[[str], bool], ...]
) -> tuple[float, list[str]]:
    """Agreement over all texts, and those that differ without a known cause."""
    different = [row for row in range(len(texts)) if mine[row] != datatrove[row]]
    unexplained = [row for row in different if not any(cause(texts[row]) for cause in causes)]
    told = [f"{datatrove[row]!r} there, {mine[row]!r} here: {texts[row][:60]!r}" for row in unexplained]
    return 1 - len(different) / len(texts), told


def test_c4_decides_as_datatrove_does(documents: list[str]) -> None:
    filters = pytest.importorskip("datatrove.pipeline.filters.c4_filters")
    mine, kept = ours(C4(), documents)
    datatrove, texts = theirs(filters.C4QualityFilter(), documents)
    agreement, different = held_against(documents, mine, datatrove, C4_CAUSES)
    assert agreement >= MIN_AGREEMENT
    assert not different
    assert {"", "too_few_sentences", "curly_bracket"} <= set(mine)
    both = [row for row in kept if not datatrove[row] and not any(c(documents[row]) for c in C4_CAUSES)]
    same = [row for row in both if kept[row] == texts[row]]
    assert len(both) > 50
    assert len(same) >= MIN_AGREEMENT * len(both)


def test_fineweb_decides_as_datatrove_does(documents: list[str]) -> None:
    filters = pytest.importorskip("datatrove.pipeline.filters.fineweb_quality_filter")
    mine, _ = ours(FineWeb(by_language=False), documents)
    datatrove, _ = theirs(filters.FineWebQualityFilter(), documents)
    agreement, different = held_against(documents, mine, datatrove, FINEWEB_CAUSES)
    assert agreement >= MIN_AGREEMENT
    assert not different
    assert {"", "line_punct_ratio", "char_dup_ratio"} <= set(mine)


def test_no_cause_explains_everything(documents: list[str]) -> None:
    """A cause that holds for nearly all texts would leave nothing to compare."""
    assert sum(typographic_ends(text) for text in documents) < len(documents) / 2
    assert sum(other_line_ends(text) for text in documents) < len(documents) / 2
