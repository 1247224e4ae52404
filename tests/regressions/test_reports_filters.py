"""Public reports about other tools that concern filters, each with its smallest input.

Those with a test of their own elsewhere: M23-M28, datatrove#273 (blank lines), #329 (stop words) and the many short
paragraphs in `test_m23_m28_filters`; datatrove#377 and #379 (bad words by language) and dolma#197 (a running offset)
in `tests/stages/text/test_c4`; datatrove#140 and #155 (workers that race for a list) in
`tests/stages/text/test_url_lists`; datatrove#161 and #204 (memory of one long document) in
`tests/laws/test_any_length`.
"""

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.errors import InputError
from gristmill.manifests.schema import content_hashes, document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import ChainResult, run_chain
from gristmill.stages.protocol import Filter, Mapper, RowStage
from gristmill.stages.text.c4 import C4
from gristmill.stages.text.encoding_repair import EncodingRepair
from gristmill.stages.text.extract_html import ExtractHtml
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition
from gristmill.stages.text.language import Language
from gristmill.stages.text.pii import Pii
from gristmill.stages.text.url_lists import address
from tests.laws.running import call, json_of
from tests.laws.samples import sample_stage

CHINESE = "磨坊主每天都在河边的老磨坊里磨面粉。"
JAPANESE = "水車小屋の主人は毎日粉をひいている。"
KOREAN = "방앗간은 강가에 있는 오래된 건물이며 그 마을의 사람들은 이 곳에서 곡식을 빻을 수 있다. "


def _row_local() -> dict[str, RowStage]:
    found = {name: sample_stage(name) for name in catalogue.names()}
    return {name: stage for name, stage in found.items() if isinstance(stage, Filter | Mapper)}


STAGES = _row_local()


def _batch(texts: Sequence[str | None], lang: str | None = None) -> pa.RecordBatch:
    column = pa.array(texts, pa.large_string())
    hashes = content_hashes(column.fill_null(""), pa.nulls(len(texts), pa.list_(pa.null())))
    langs = pa.array([lang] * len(texts), pa.string())
    return document_batch({"text": column, "content_hash": hashes, "lang": langs})


def _run(stage: RowStage, text: str | None, lang: str | None = None) -> ChainResult:
    return run_chain([stage], _batch([text], lang))


def _reason(stage: RowStage, text: str | None, lang: str | None = None) -> str:
    fates = _run(stage, text, lang).fates
    return fates[0].reason if fates else ""


def _text(stage: RowStage, text: str) -> str:
    return _run(stage, text).kept.column("text")[0].as_py()


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("text", ["", " ", "\n", "\u3000", None])
def test_datatrove_71_and_dolma_148_nothing_divides_by_nothing(name: str, text: str | None) -> None:
    with np.errstate(all="raise"):
        result = _run(STAGES[name], text)
    assert result.kept.num_rows + len(result.fates) == 1
    for values in result.steps[0].measures.values():
        assert not np.isinf(values).any()


@pytest.mark.parametrize("name", STAGES)
def test_curator_1173_and_data_juicer_147_no_rows_are_rows_of_the_same_types(name: str) -> None:
    none, some = (run_chain([STAGES[name]], _batch(texts)) for texts in ([], ["some words", ""]))
    assert none.fates == []
    assert none.kept.schema == some.kept.schema
    for measure, values in some.steps[0].measures.items():
        assert values.dtype == np.float64, measure
        assert np.asarray(none.steps[0].measures.get(measure, values[:0])).dtype == np.float64, measure


# What makes a pattern that backtracks, or a quadratic search, take for ever.
SLOW = ("a", "(a+)+", "[", "{", "$", "@a.", "\\begin{a", "<", "```\n", "\n", "1.", "://a:", "A-", "é", '"')


@pytest.mark.parametrize("name", STAGES)
def test_datatrove_75_and_326_no_megabyte_takes_for_ever(name: str) -> None:
    _run(STAGES[name], "compiled before")
    began = time.process_time()
    for unit in SLOW:
        result = _run(STAGES[name], unit * (1_000_000 // len(unit)))
        assert result.kept.num_rows + len(result.fates) == 1
    assert time.process_time() - began < 2 * len(SLOW)


def test_trafilatura_189_and_704_many_rows_of_a_table_end() -> None:
    rows = 200_000
    page = "<html><body><main><table>" + "<tr><td>x<td>y" * rows + "</table></main></body></html>"
    began = time.monotonic()
    result = _run(ExtractHtml(max_seconds=20), page)
    assert time.monotonic() - began < 40
    assert [fate.reason for fate in result.fates] in ([], ["html_timeout"])
    assert result.fates or result.kept.column("text")[0].as_py().count("| x | y |") == rows


def test_datatrove_324_a_chinese_line_again_and_again_goes() -> None:
    text = "\n".join([CHINESE] * 1000)
    assert _reason(GopherRepetition(), text) == "dup_line_frac"
    assert _reason(FineWeb(), text) == "char_dup_ratio"
    assert _reason(GopherRepetition(), text, "zh") == "dup_line_frac"
    # Where no line ends, letters are all that comes again.
    thai = "โรงสีข้าวอยู่ในหมู่บ้านริมแม่น้ำ"
    for sentence, lang in ((CHINESE, "zh"), (JAPANESE, "ja"), (thai, "th")):
        for tag in (lang, None):
            assert _reason(GopherRepetition(), sentence * 1000, tag) == "duplicated_10_n_grams"
            assert _reason(GopherRepetition(), sentence, tag) == ""


@pytest.mark.parametrize("name", STAGES)
def test_spacy_13207_a_long_japanese_text_passes_every_filter(name: str) -> None:
    """A tokenizer had a limit of 49,149 bytes."""
    text = "".join(f"{JAPANESE[:-1]}{n}。" for n in range(1200))
    assert len(text.encode()) > 60_000
    result = _run(STAGES[name], text)
    assert result.kept.num_rows + len(result.fates) == 1
    if name in ("gopher_quality", "language", "encoding_repair", "pii", "secrets", "refinedweb_lines", "boilerplate"):
        assert result.fates == []


def test_long_paragraphs_of_spaceless_scripts_are_no_overlong_words() -> None:
    """The same kind of fault in ours: a line of more than 1,000 characters without a space was one word."""
    text = "".join(f"{CHINESE[:-1]}{chr(0x4E00 + n)}。" for n in range(60))
    assert len(text) > 1000
    assert _text(C4(), text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u\u0303 a@foo.org u\u0303 \u0169", "u\u0303 <EMAIL> u\u0303 \u0169"),
        ("мельница a@foo.org мельница", "мельница <EMAIL> мельница"),
        ("\U0001f60aa@foo.org\U0001f60a", "\U0001f60a<EMAIL>\U0001f60a"),
        ("a@foo.org a@foo.org_x a@foo.org.", "<EMAIL> a@foo.org_x <EMAIL>."),
    ],
)
def test_datatrove_121_132_516_spans_are_of_characters_and_of_one_place(text: str, expected: str) -> None:
    """Ranges cut a character in half; another occurrence was replaced; normal forms shifted the rest."""
    assert _text(Pii(), text) == expected


def test_datatrove_516_a_normal_form_is_taken_on_request_alone() -> None:
    assert _text(EncodingRepair(), "u\u0303 \u0169") == "u\u0303 \u0169"
    assert _text(EncodingRepair(nfc=True), "u\u0303 \u0169") == "\u0169 \u0169"


def test_dolma_145_an_emoji_before_moves_no_cut() -> None:
    emoji = "\U0001f60a" * 7
    english = "The miller grinds corn in his old mill by the river every day."
    french = "Le meunier moud le grain dans son vieux moulin au bord de la rivière."
    text = f"{emoji}\n\n{english}\n\n{english}\n\n{french}\n\n{english}"
    assert _text(Language(paragraphs="cut"), text) == text.replace(f"{french}\n\n", "")
    line = f"{emoji} The mill grinds the corn."
    assert _text(C4(min_num_sentences=1), f"{line}\nNo full stop\n{line}") == f"{line}\n{line}"
    measures = GopherRepetition().measure(_batch([f"{emoji}\na\na", "xxxxxxx\na\na"]))
    for name, values in measures.items():
        if name.startswith("dup_line"):
            assert values[0] == values[1], name


def test_curator_1880_an_address_ends_before_a_tag() -> None:
    """`[$-_@.&+]` is a range, which holds `<` and `>`."""
    assert _text(Pii(), "http://91.2.30.40<bad> a@foo.org<bad>") == "http://<IP_ADDRESS><bad> <EMAIL><bad>"
    assert _text(Pii(), "http://x.com<bad>") == "http://x.com<bad>"
    found = address("http://x.com/<bad>")
    assert found is not None
    assert (found.host, found.rest) == ("x.com", "/<bad>")


def test_curator_752_chinese_and_japanese_pages_are_extracted_whole() -> None:
    for sentence in (CHINESE, JAPANESE):
        main = f"<main><p>{sentence * 5}</p><p>{sentence}</p></main>"
        page = f"<html><body><nav><a href=/>首页</a></nav>{main}</body></html>"
        assert _text(ExtractHtml(), page) == f"{sentence * 5}\n\n{sentence}"


def test_datatrove_135_korean_is_not_held_against_english() -> None:
    text = KOREAN * 6
    for lang in ("ko", None):
        for stage in (GopherQuality(), GopherRepetition(top_n_grams=(), dup_n_grams=())):
            assert _reason(stage, text, lang) == ""


def test_datatrove_202_the_parameter_says_what_it_does() -> None:
    """`max_non_alpha_words_ratio` was the least share of words with letters."""
    text = "the mills of grinders " * 15 + "12 " * 20
    assert _reason(GopherQuality(min_alpha_words_ratio=0.75), text, "en") == ""
    assert _reason(GopherQuality(min_alpha_words_ratio=0.76), text, "en") == "gopher_below_alpha_threshold"


def test_data_juicer_635_the_last_n_gram_counts() -> None:
    """`range(len - n)` left it out; a text of exactly n words had none."""
    stage = GopherRepetition(top_n_grams=(), dup_n_grams=((5, 0.0),))
    assert _reason(stage, "a b c d e") == ""
    assert _reason(stage, "a b c d e a b c d e") == "duplicated_5_n_grams"
    assert GopherRepetition().measure(_batch(["of the x of the"]))["top_2_gram_frac"][0] == 12 / 15


def test_dolma_310_no_ratio_exceeds_1() -> None:
    """White space was in the numerator and not in the denominator."""
    for text in ("  a b  \n" * 3, "\t\na\n\t\na\n", "\r\n" * 9 + "a" + "\u3000" * 9):
        for stage in (GopherRepetition(), FineWeb(), GopherQuality()):
            for name, values in stage.measure(_batch([text])).items():
                assert not name.endswith("_frac") or np.isnan(values[0]) or 0 <= values[0] <= 1, name


def test_datatrove_218_one_mend_leaves_nothing_for_another() -> None:
    """What one step of a normalization made, the step before it would have taken."""
    for text in ("1|2|3", "Ã\x83Â©", "a\r\x00\nb", "\x1b\x00[0mx", "e\x00\u0301", "\ufeff\ufeffa\u200b\r\r\n"):
        once = _text(EncodingRepair(nfc=True, max_control_frac=None, max_mojibake_frac=None), text)
        assert _text(EncodingRepair(nfc=True, max_control_frac=None, max_mojibake_frac=None), once) == once
    assert _text(EncodingRepair(), "1|2|3") == "1|2|3"


def test_data_juicer_711_and_curator_1763_two_of_one_kind_are_two(tmp_path: Path) -> None:
    """The parameters of the second overwrote the first's; their counts were added up."""
    (tmp_path / "a.txt").write_text("one mill of the")
    settings = ("--set", "gopher_quality.min_doc_words=2", "--set", "gopher_quality_2.min_doc_words=5")
    stages = "gopher_quality,gopher_quality"
    (found,) = json_of(call("stage", "judge", stages, tmp_path / "a.txt", *settings, "--json"))["files"]
    assert (found["step"], found["limit"]) == ("gopher_quality_2", 5.0)
    assert {"words", "gopher_quality_2.words"} <= set(found["measures"])


def test_dolma_150_a_list_that_is_not_there_is_told_and_one_that_is_works(tmp_path: Path) -> None:
    """A path that matched nothing gave an empty list, and no error."""
    stage: Any = None
    with pytest.raises(InputError, match=re.escape("lists/bad.txt")):
        stage = catalogue.load("url_lists", {"block_domains": ["lists/bad.txt"]}, tmp_path)
        catalogue.prepare([stage])
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "bad.txt").write_text("planted.example\n")
    stage = catalogue.load("url_lists", {"block_domains": ["lists/bad.txt"]}, tmp_path)
    urls = pa.array(["http://planted.example/x", "http://other.example/x"])
    batch = document_batch({"text": pa.array(["x", "x"], pa.large_string()), "url": urls})
    assert [(fate.row, fate.reason) for fate in run_chain([stage], batch).fates] == [(0, "domain")]


def test_data_juicer_618_no_file_is_read_in_the_locale_s_encoding(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("坏话\n", encoding="utf-8")
    (tmp_path / "文.txt").write_text("这里说的是坏话。\n", encoding="utf-8")
    environment = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    settings = ("--set", f"c4.bad_words=[{tmp_path / 'bad.txt'}]", "--set", "c4.min_num_sentences=1")
    (found,) = json_of(call("stage", "judge", "c4", tmp_path / "文.txt", *settings, "--json", **environment))["files"]
    assert found["reason"] == "document_removed_with_badwords"
