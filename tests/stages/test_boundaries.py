"""Every rule that compares a number with a limit, at that number: a value at the limit stays, the next one goes.

The texts are ones that the rule drops; the limit is moved to what is measured of them, all other rules are off.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pytest

from gristmill.manifests.schema import document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Filter, Rule
from gristmill.stages.text.code_limits import REASONS
from gristmill.stages.text.code_rules import CodeRules
from gristmill.stages.text.fineweb import FineWeb
from gristmill.stages.text.gopher_quality import GopherQuality
from gristmill.stages.text.gopher_repetition import GopherRepetition
from gristmill.stages.text.knowledge_rules import KnowledgeRules
from gristmill.stages.text.math_rules import MathRules
from tests.stages.text import test_code_rules as code
from tests.stages.text import test_knowledge_rules as knowledge
from tests.stages.text import test_math_rules as maths

Made = Callable[[float], Filter]
WORDS = " ".join(f"word{n}" for n in range(60))
LINES = "\n".join(f"line {n} of a text that has an end." for n in range(9))


def _param(kind: Callable[..., Filter], name: str, off: Sequence[str]) -> Made:
    others = dict.fromkeys(set(off) - {name})
    return lambda limit: kind(**others, **{name: limit})


def _grams(name: str, n: int) -> Made:
    off: dict[str, Any] = dict.fromkeys(_REPETITION) | {"top_n_grams": (), "dup_n_grams": ()}

    def made(limit: float) -> Filter:
        params: dict[str, Any] = off | {name: ((n, limit),)}
        return GopherRepetition(**params)

    return made


_QUALITY = [field.name for field in fields(GopherQuality) if field.name.startswith(("min_", "max_"))]
_FINEWEB = ("line_punct_thr", "short_line_thr", "char_duplicates_ratio", "new_line_ratio")
_MATHS = [field.name for field in fields(MathRules) if field.name != "cut"]
_KNOWLEDGE = [field.name for field in fields(KnowledgeRules) if field.name not in ("cut", "min_repeats")]
_REPETITION = ("dup_line_frac", "dup_para_frac", "dup_line_char_frac", "dup_para_char_frac")
_TOC = knowledge._toc("Chapter {n} ........ {page}", 20)  # pyright: ignore[reportPrivateUsage]
_INDEX = knowledge._index(30)  # pyright: ignore[reportPrivateUsage]

_BY_PARAMETER: tuple[tuple[Callable[..., Filter], Sequence[str], str, str, str], ...] = (
    (GopherQuality, _QUALITY, "min_doc_words", "gopher_short_doc", "a few words"),
    (GopherQuality, _QUALITY, "max_doc_words", "gopher_long_doc", WORDS),
    (GopherQuality, _QUALITY, "min_avg_word_length", "gopher_below_avg_threshold", WORDS),
    (GopherQuality, _QUALITY, "max_avg_word_length", "gopher_above_avg_threshold", WORDS),
    (GopherQuality, _QUALITY, "max_symbol_word_ratio", "gopher_too_many_hashes", f"{WORDS} # #"),
    (GopherQuality, _QUALITY, "max_symbol_word_ratio", "gopher_too_many_ellipsis", f"{WORDS} ... x ..."),
    (GopherQuality, _QUALITY, "max_bullet_lines_ratio", "gopher_too_many_bullets", "- a\n- b\nc"),
    (GopherQuality, _QUALITY, "max_ellipsis_lines_ratio", "gopher_too_many_end_ellipsis", "a...\nb...\nc"),
    (GopherQuality, _QUALITY, "min_alpha_words_ratio", "gopher_below_alpha_threshold", "a b 12"),
    (GopherQuality, _QUALITY, "min_stop_words", "gopher_enough_stop_words", "the mill"),
    (FineWeb, _FINEWEB, "line_punct_thr", "line_punct_ratio", f"{LINES}\nand no end\n"),
    (FineWeb, _FINEWEB, "short_line_thr", "short_line_ratio", f"{LINES}\nshort."),
    (FineWeb, _FINEWEB, "char_duplicates_ratio", "char_dup_ratio", f"{LINES}\n{LINES[:34]}"),
    (FineWeb, _FINEWEB, "new_line_ratio", "list_ratio", LINES),
    (MathRules, _MATHS, "min_chars", "math_short", "$x$"),
    (MathRules, _MATHS, "min_marks", "math_no_content", maths.MATHS),
    (MathRules, _MATHS, "min_marks_per_1000_chars", "math_sparse", maths.MATHS),
    (MathRules, _MATHS, "max_broken_frac", "math_broken_formulas", maths.MATHS + r"$\frac{1}{2$ and $\sqrt{$ "),
    (MathRules, _MATHS, "max_error_frac", "math_unrendered", maths.MATHS + "It is [Math Processing Error] here."),
    (MathRules, _MATHS, "max_calculator_frac", "math_calculator", maths.MATHS + "Enter an expression. "),
    (MathRules, _MATHS, "max_chrome_line_frac", "math_mostly_chrome", "\n".join(["Reply", "Share", maths.MATHS])),
    (KnowledgeRules, _KNOWLEDGE, "max_toc_frac", "knowledge_toc_page", knowledge.PROSE + _TOC),
    (KnowledgeRules, _KNOWLEDGE, "max_index_frac", "knowledge_index_page", knowledge.PROSE + "INDEX\n" + _INDEX),
    (
        *(KnowledgeRules, _KNOWLEDGE, "max_reference_frac", "knowledge_reference_page"),
        "References\n" + knowledge.REFERENCES * 20,
    ),
    (KnowledgeRules, _KNOWLEDGE, "max_junk_frac", "knowledge_ocr_junk", "corn " * 84 + "th1s " * 16),
    (KnowledgeRules, _KNOWLEDGE, "max_single_letter_frac", "knowledge_split_words", "corn c o " * 9),
    (KnowledgeRules, _KNOWLEDGE, "min_chars_left", "knowledge_nothing_left", knowledge.PROSE + _TOC),
    *((GopherRepetition, _REPETITION, name, name, "a b\n\na b\n\nc d") for name in _REPETITION),
)


def _cases() -> dict[str, tuple[Made, str, str | None]]:
    """Reason -> the stage with a limit and no other rule, a text that has a value, its path."""
    found: dict[str, tuple[Made, str, str | None]] = {}
    for kind, parameters, name, reason, text in _BY_PARAMETER:
        grams = ("top_n_grams", "dup_n_grams") if kind is GopherRepetition else ()
        made = _param(kind, name, parameters)
        found[reason] = (made if not grams else _without_grams(name), text, None)
    for n in (2, 3, 4):
        found[f"top_{n}_gram"] = (_grams("top_n_grams", n), "a b c d x a b c d", None)
    for n in range(5, 11):
        found[f"duplicated_{n}_n_grams"] = (_grams("dup_n_grams", n), f"{WORDS} {WORDS}", None)
    for reason, (path, text) in code.DROPPED.items():
        others: dict[str, float | None] = dict.fromkeys(set(REASONS) - {reason})
        found[reason] = (_code_with(others, reason), text, path)
    few = f"{code.GOOD}{code.PLAIN}"
    off: dict[str, float | None] = dict.fromkeys(REASONS)
    found["code_few_comments"] = (lambda limit: CodeRules(limits=off, min_comment_frac=limit), few, "a.py")
    return found


def _without_grams(name: str) -> Made:
    off: dict[str, Any] = dict.fromkeys(_REPETITION) | {"top_n_grams": (), "dup_n_grams": ()}

    def made(limit: float) -> Filter:
        params: dict[str, Any] = off | {name: limit}
        return GopherRepetition(**params)

    return made


def _code_with(others: dict[str, float | None], reason: str) -> Made:
    return lambda limit: CodeRules(limits=others | {reason: limit})


CASES = _cases()


def _reasons(stage: Filter, batch: pa.RecordBatch) -> set[str]:
    return {fate.reason for fate in run_chain([stage], batch).fates}


@pytest.mark.parametrize("reason", CASES)
def test_a_value_at_its_limit_stays_and_the_next_one_goes(reason: str) -> None:
    made, text, path = CASES[reason]
    urls = pa.array([f"http://x.example/{path}" if path else None], pa.string())
    langs = pa.array(["en"], pa.string())
    batch = document_batch({"text": pa.array([text], pa.large_string()), "url": urls, "lang": langs})
    rule: Rule = next(rule for rule in made(0.0).rules() if rule.reason == reason)
    value = float(made(0.0).measure(batch)[rule.measure][0])
    assert math.isfinite(value)
    assert reason not in _reasons(made(value), batch)
    past = -math.inf if rule.direction == "above" else math.inf
    tight = math.nextafter(value, past)
    if tight > 1 and rule.measure.endswith("_frac"):
        return  # a share of 1 is below no limit that can be set
    assert _reasons(made(tight), batch) == {reason}


def test_every_rule_of_the_filters_has_a_case() -> None:
    elsewhere = {  # `empty`, lists and repositories: with the tests of their own stages
        *("empty", "boilerplate", "domain", "url", "hard_blacklisted", "soft_blacklisted", "blacklisted_subword"),
        *("code_known_copy", "code_language_not_kept", "code_unwanted_files"),
    }
    names = ("gopher_quality", "gopher_repetition", "fineweb", "boilerplate", "url_lists", "code_rules")
    names = (*names, "math_rules", "knowledge_rules")
    reasons = {rule.reason for name in names for rule in _rules(name)}
    assert reasons <= set(CASES) | elsewhere


def _rules(name: str) -> Sequence[Rule]:
    stage: Any = catalogue.sample_stages()[name]
    return stage.rules()
