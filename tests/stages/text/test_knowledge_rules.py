"""Books and encyclopaedic pages: each part that is cut and its like that is not, each rule at its limit, balance."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.text import pages_cut
from gristmill.stages.text.knowledge_rules import KnowledgeRules

LINE = "the miller of the valley ground the corn of all the farms, and"
SENTENCE = "The miller of the valley ground the corn of all the farms."
PROSE = f"{LINE}\n" * 5 + f"{SENTENCE}\n"
BODY = f"\n{PROSE * 8}"
ALL = KnowledgeRules(cut=("references", *KnowledgeRules().cut))
PIECES = st.sampled_from(
    [
        *(
            "CONTENTS\n",
            "The Mill ..... 3\n",
            "The Flour ..... 9\n",
            "I. Mill   12\n",
            "INDEX\n",
            "corn, 3, 4\n",
            "12\n",
            "13\n",
        ),
        *(
            "References\n",
            "[1] A 1999\n",
            "[2] B 2001\n",
            "\n",
            "\f",
            "\r\n",
            f"{LINE}\n",
            "th1s wo!rd\n",
            "磨坊\n",
            "\ufffc",
            " ",
        ),
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


def _batch(texts: Sequence[str | None]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def _cut(text: str, stage: KnowledgeRules | None = None) -> tuple[str, dict[str, int]]:
    mapped = (stage or KnowledgeRules()).transform(_batch([text]))
    cut = {reason: int(counts[0]) for reason, counts in mapped.cut_chars.items() if counts[0]}
    return mapped.batch.column("text")[0].as_py(), cut


def _reason(text: str | None, stage: KnowledgeRules | None = None) -> str:
    fates = run_chain([stage or KnowledgeRules()], _batch([text])).fates
    return fates[0].reason if fates else ""


def _toc(entry: str, count: int = 6) -> str:
    return "".join(entry.format(n=n, page=7 * n + 1) + "\n" for n in range(1, count + 1))


@pytest.mark.parametrize(
    "contents",
    [
        _toc("Chapter {n} ........ {page}"),
        "CONTENTS\n\n" + _toc("The Mill . . . . {page}", 3),
        "Table of Contents\n" + _toc("  The Mill and its Wheels      {page}", 3),
        "CONTENTS\n" + _toc("AMHERST ACADEMY AND WHAT CAME OF IT,\nLATER, {page}", 4),
        "CONTENTS.\n\nPART THE FIRST\n\n" + _toc("CHAPTER {n}. A Title    {page}\n       on two lines"),
        "目录\n" + _toc("第{n}章 磨坊……{page}", 4),
        "Inhalt\n" + _toc("{n}. Die Mühle", 4),
        "Contents\n" + "Chapter I. The Mill\nChapter II. The Corn\nChapter III. The Flour\n",
    ],
)
def test_tables_of_contents_are_cut(contents: str) -> None:
    text, cut = _cut(PROSE + "\n" + contents + BODY)
    assert set(cut) == {"toc"}
    assert text.startswith(PROSE)
    assert text.endswith(BODY)
    assert not any(line in text for line in contents.split("\n")[:2] if line)


@pytest.mark.parametrize(
    "table",
    [
        "".join(f"Wheat of the year ........ {n}\n" for n in (90, 12, 77, 31, 8, 60)),
        _toc("Chapter {n} ........ {page}", 4),
        "He waited ...\n" * 8,
        "CONTENTS\n" + _toc("Chapter {n} ........ {page}", 2),
        "Contents\n" + SENTENCE + "\n" + "\n".join(f"{n}. A step of the work" for n in (3, 1, 9, 4)) + "\n",
        "\n".join(f"{n}. A step of the work" for n in range(1, 9)) + "\n",
        "Contents\n" + "\n".join(f"{n}. A step.\n{LINE}\n{SENTENCE}" for n in range(1, 9)) + "\n",
    ],
)
def test_what_is_no_table_of_contents_stays(table: str) -> None:
    assert _cut(PROSE + table + BODY)[1] == {}


def test_the_book_after_chapters_without_pages_stays() -> None:
    contents = "CONTENTS\n\nChapter I. The Mill\nChapter II. The Corn\nChapter III. The Flour\n"
    text, cut = _cut(contents + "\nChapter I. The Mill\n" + BODY)
    assert text == "\nChapter I. The Mill\n" + BODY
    assert cut == {"toc": len(contents)}


def _index(count: int, pages: str = "{n}, 1{n}-20") -> str:
    return "".join(f"{chr(97 + n % 26)}orn of the valley, {pages.format(n=n)}\n" for n in range(count))


def test_indexes_are_cut_under_a_heading_and_by_themselves() -> None:
    assert _cut(BODY + "INDEX\n\n" + _index(3)) == (BODY, {"index_lines": len(_index(3)) + 7})
    assert _cut(BODY + _index(15)) == (BODY, {"index_lines": len(_index(15))})
    assert _cut(BODY + "索引\n" + "磨坊, 12\n玉米, 3, 4\n面粉, 9\n")[0] == BODY


@pytest.mark.parametrize(
    "lines",
    [
        _index(14),
        _index(20, "{n}"),
        "INDEX\n" + _index(2),
        "".join(f"{chr(122 - n)}orn of the valley, {n}, 4\n" for n in range(20)),
        "".join(f"{line}\n{LINE}\n{LINE}\n" for line in _index(20).splitlines()),
    ],
)
def test_what_is_no_index_stays(lines: str) -> None:
    assert _cut(BODY + lines + BODY)[1] == {}


REFERENCES = (
    "[1] A. Miller, On Corn, 1843.\n[2] B. Miller, On Flour,\n    vol. 2, 1844.\n"
    "[3] C. Miller, doi:10.1/2, cited\n    often\n"
)


def test_references_are_measured_and_cut_when_asked() -> None:
    text = f"{BODY}References\n\n{REFERENCES}\n{BODY}"
    assert _cut(text)[1] == {}
    assert KnowledgeRules().measure(_batch([text]))["reference_frac"][0] > 0
    assert _cut(text, ALL) == (f"{BODY}\n{BODY}", {"references": len(REFERENCES) + 12})


@pytest.mark.parametrize(
    "lines",
    [
        "".join(f"[{n}] see the year 18{n}3\n" for n in (5, 1, 4, 2, 3, 7)),
        "References\n[1] A 1999\n",
        f"References\n{PROSE}",
    ],
)
def test_what_is_no_list_of_references_stays(lines: str) -> None:
    assert _cut(BODY + lines + BODY, ALL)[1] == {}


def _pages(head: str, count: int = 8, lines: int = 24, line: str = LINE) -> str:
    page = f"{line}\n" * lines
    return page + "".join(f"\n{head.format(n=n + 30)}\n\n{page}" for n in range(count))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("{n}", "page_number"),
        ("- {n} -", "page_number"),
        ("Page {n}", "page_number"),
        ("第{n}页", "page_number"),
        ("{n}  HISTORY OF THE MILL", "page_header"),
        ("THE MILLER OF KANSAS.  {n}", "page_header"),
    ],
)
def test_page_numbers_and_running_heads_are_cut(head: str, reason: str) -> None:
    text, cut = _cut(_pages(head))
    assert cut == {reason: sum(len(head.format(n=n + 30)) + 1 for n in range(8))}
    assert head.format(n=33) not in text


def test_heads_that_change_and_are_misread_are_cut_by_their_numbers() -> None:
    heads = ["THE MILL", "THE MlLL", "HIS CORN", "HIS C0RN.", "FLOUR", "F"]
    page = f"{LINE}\n" * 24
    text = page + "".join(f"\n{n + 30}  {head}\n\n{page}" for n, head in enumerate(heads))
    assert _cut(text)[1] == {"page_header": sum(len(head) + 5 for head in heads)}


def test_a_head_without_a_number_is_cut_after_its_first_place() -> None:
    text, cut = _cut(_pages("THE MILLER'S TALE"))
    assert cut == {"page_header": 7 * 18}
    assert text.count("TALE") == 1


def test_chinese_pages_have_numbers_too() -> None:
    text, cut = _cut(_pages("{n}", line="磨坊里的磨坊主每天都在磨面粉和玉米并且把它们卖给村子里的人"))
    assert set(cut) == {"page_number"}
    assert "31" not in text


@pytest.mark.parametrize(
    "text",
    [
        _pages("{n}", count=4),
        _pages("{n}", lines=6),
        _pages("{n}", line=SENTENCE),
        _pages("({n})", line=SENTENCE),
        _pages("1843"),
        "\n".join(str(n) for n in range(40)),
        _pages("Note", line=SENTENCE),
    ],
)
def test_numbers_that_are_not_of_pages_stay(text: str) -> None:
    assert _cut(text)[1] == {}


def test_stamps_of_digitizers_are_cut() -> None:
    assert _cut(f"{BODY}Digitized by Google\n{BODY}") == (BODY + BODY, {"page_header": 20})
    assert _cut(f"{BODY}It was digitized by Google\n{BODY}")[1] == {}


START = "The Project Gutenberg EBook of X\n\nTitle: X\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n\n"
CREDIT = "\nProduced by A. Miller and the Online\nDistributed Proofreading Team\n"
END = "End of Project Gutenberg's X, by Y\n\n*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n\nUpdated editions"


def test_project_gutenberg_s_front_matter_and_licence_are_cut() -> None:
    text, cut = _cut(f"{START}{CREDIT}\n{BODY}{END}")
    assert text.strip() == BODY.strip()
    assert cut["licence_block"] == len(END)
    assert len(START) < cut["front_matter"] <= len(START + CREDIT)
    assert _cut("*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*\n" + BODY)[0].strip() == BODY.strip()


@pytest.mark.parametrize("text", [BODY + "The Project Gutenberg is a library.\n", BODY + "* START OF THE DAY\n" + BODY])
def test_what_speaks_of_project_gutenberg_stays(text: str) -> None:
    assert _cut(text)[1] == {}


def test_copyright_pages_of_books_are_cut() -> None:
    book = BODY * 20
    page = "Copyright © 1987 by the Mill\nAll rights reserved\nISBN 0-123-45678-9\n\n"
    text, cut = _cut("THE MILL\n\n" + page + book)
    assert cut == {"front_matter": len(page) - 2}
    assert text.startswith("THE MILL")
    assert _cut("Copyright © 1987. All rights reserved.\n\n" + book)[1] == {}
    assert _cut("See ISBN 0-123-45678-9 and ISBN 0-123-45678-8\n\n" + book)[1] == {}
    assert _cut("THE MILL\n\n" + page + BODY)[1] == {}


def test_debris_is_cut_only_from_what_was_read_badly() -> None:
    noise = "th1s wo|rd tlmcs bcdfg\n" * 4
    assert _cut(PROSE + noise + PROSE) == (PROSE * 2, {"ocr_debris": len(noise)})
    assert _cut(PROSE * 40 + noise)[1] == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROSE + _toc("Chapter {n} ........ {page}", 20), "knowledge_toc_page"),
        (PROSE * 2 + _toc("Chapter {n} ........ {page}", 20), ""),
        (PROSE + "INDEX\n" + _index(30), "knowledge_index_page"),
        ("References\n" + REFERENCES * 20, "knowledge_reference_page"),
        (f"{'corn ' * 84}{'th1s ' * 16}", "knowledge_ocr_junk"),
        (f"{'corn ' * 85}{'th1s ' * 15}", ""),
        (f"{'corn ' * 69}{'c o ' * 15}r", "knowledge_split_words"),
        (f"{'corn ' * 70}{'c o ' * 15}", ""),
        (SENTENCE * 3 + "\n" + _toc("Chapter {n} ........ {page}"), "knowledge_nothing_left"),
        (SENTENCE * 4 + "\n" + _toc("Chapter {n} ........ {page}"), ""),
        ("short", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_each_rule_at_its_limit(text: str | None, reason: str) -> None:
    assert _reason(text) == reason


def test_value_and_limit_stand_beside_the_reason_and_null_turns_rules_off() -> None:
    text = f"{'corn ' * 50}{'c ' * 50}"
    fates = run_chain([KnowledgeRules()], _batch([text])).fates
    assert [(f.measure, f.value, f.limit) for f in fates] == [("single_letter_frac", 0.5, 0.3)]
    assert _reason(text, KnowledgeRules(max_single_letter_frac=None)) == ""


@pytest.mark.parametrize("params", [{"max_toc_frac": 1.5}, {"cut": ("prose",)}, {"min_repeats": 2}])
def test_wrong_parameters_are_refused(params: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        KnowledgeRules(**params)  # type: ignore[arg-type]


@given(st.lists(HOSTILE | st.none(), max_size=4))
@settings(deadline=None, max_examples=150)
def test_characters_balance_pictures_stay_and_ratios_are_ratios(texts: list[str | None]) -> None:
    mapped = ALL.transform(_batch(texts))
    after = mapped.batch.column("text").to_pylist()
    for row, text in enumerate(texts):
        assert len(text or "") == len(after[row] or "") + sum(int(c[row]) for c in mapped.cut_chars.values())
        assert (text or "").count("\ufffc") == (after[row] or "").count("\ufffc")
    for name, values in mapped.measures.items():
        if name.endswith("_frac"):
            assert ((values >= 0) & (values <= 1)).all(), name
    for name, values in ALL.measure(_batch(texts)).items():
        np.testing.assert_array_equal(values, mapped.measures[name])


@given(st.lists(HOSTILE, min_size=1, max_size=4), st.data())
@settings(deadline=None, max_examples=60)
def test_a_batch_is_the_sum_of_its_slices(texts: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    batch = _batch(texts)
    whole = KnowledgeRules().transform(batch).batch.column("text").to_pylist()
    parts = [KnowledgeRules().transform(p).batch.column("text").to_pylist() for p in (batch[:cut], batch[cut:])]
    assert whole == parts[0] + parts[1]


def test_windows_are_whole_lines_and_cover_the_text() -> None:
    raw = ("a line of text\n" * 50 + "x" * 300 + "\nlast").encode()
    data = np.frombuffer(b"skip" + raw + b"", np.uint8)
    offsets = np.array([4, 4, 4 + len(raw)], np.int64)
    groups = pages_cut.windows_of(data, offsets, window_bytes=100)
    pieces = [data[a:b].tobytes() for g in groups for a, b in zip(g.starts, g.ends, strict=True)]
    assert b"".join(pieces) == raw
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    assert {int(row) for g in groups for row in g.rows} == {1}


def test_a_real_book_loses_its_frame_and_its_contents_only(shared_data: Path) -> None:
    raw = (shared_data / "books" / "ainsworth-jack-sheppard-16215.txt").read_bytes().decode("latin-1")
    text, cut = _cut(raw.replace("\r\n", "\n"))
    assert set(cut) == {"front_matter", "licence_block", "toc"}
    assert 3000 < cut["toc"] < 4000
    assert "Project Gutenberg" not in text
    assert "On the night of Friday, the 26th of November, 1703" in text
    assert "EPOCH THE FIRST." in text
