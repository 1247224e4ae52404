"""Rules and limits of `code_rules`: measure, direction, limit, reason, source, and other limits by language.

The order is that in which they are tried: what a file is, before what it looks like. A limit of None turns a rule off
for a language.
"""

from collections.abc import Mapping

from gristmill.stages.protocol import Direction, Rule
from gristmill.stages.text.code_languages import LANGUAGES

REPOSITORY = "repository"
"""The profile of a record that holds many files."""

_SC1 = "Li et al. 2023, StarCoder, arXiv 2305.06161, section 3.3"
_SC2 = "Lozhkov et al. 2024, StarCoder 2, arXiv 2402.19173, section 3.2"
_SANTA = "Ben Allal et al. 2023, SantaCoder, arXiv 2301.03988, section 5.2"
_OPENCODER = "Huang et al. 2024, OpenCoder, arXiv 2411.04905, appendix A, and its published configuration"
_OURS = "Gristmill"

Limits = Mapping[str, float | None]


def _of(families: tuple[str, ...], limit: float | None) -> dict[str, float | None]:
    return {language.name: limit for language in LANGUAGES if language.family in families}


_NO_PROGRAM = ("markup", "data", "prose")
# StarCoder 2 exempts HTML, JSON, Markdown, Roff, SMT, TeX, text and XML; here their whole families are exempt.
_LONG_LINES: Limits = _of(_NO_PROGRAM, 100_000.0)
_ANY_MEAN: Limits = _of(_NO_PROGRAM, None)
_XML_FAMILY: Limits = dict.fromkeys(("xml", "xslt", "svg", "html", "html_template"))
_DATA: Limits = _of(("data", "prose"), None)

ALWAYS: tuple[tuple[str, Direction, float, str, str, Limits], ...] = (
    ("vendored", "above", 0.0, "code_vendored", f"paths as in github-linguist, vendor.yml; {_OURS}", {}),
    ("known_copy", "above", 0.0, "code_known_copy", _OURS, {}),
    ("unknown_type", "above", 0.0, "code_unknown_type", f"languages by suffix, {_SC2}", {}),
    ("unwanted_language", "above", 0.0, "code_language_not_kept", _OURS, {}),
    ("plain_text", "above", 0.0, "code_plain_text", f"names of text files, {_SC2}", {}),
    ("generated", "above", 0.0, "code_generated", _SC2, {}),
    ("xml_declaration", "above", 0.0, "code_xml", _SC1, _XML_FAMILY),
    ("chars", "below", 50.0, "code_too_short", _OPENCODER, {"python": 30.0}),
    ("data_chars", "above", 5000.0, "code_data_too_large", f"JSON and YAML, {_SC1}; XML, {_OURS}", {}),
    ("data_lines", "above", 512.0, "code_data_too_many_lines", f"text, JSON, YAML, OWL, DOT, {_SC2}", {}),
    ("visible_chars", "below", 100.0, "code_html_too_little_text", f"HTML, {_SC1}", {}),
    ("visible_frac", "below", 0.2, "code_html_mostly_markup", f"HTML, {_SC1}", {}),
    ("longest_line_chars", "above", 1000.0, "code_long_line", f"{_SC1}; exceptions, {_SC2}", _LONG_LINES),
    ("mean_line_chars", "above", 100.0, "code_long_lines", f"{_SC1}; exceptions, {_SC2}", _ANY_MEAN),
    ("dense_frac", "above", 0.5, "code_minified", _OURS, _of(("prose",), None)),
    ("longest_encoded_chars", "above", 1024.0, "code_encoded_run", _SC2, {}),
    ("encoded_frac", "above", 0.5, "code_encoded", _SC2, {}),
    ("digit_frac", "above", 0.2, "code_many_digits", _OPENCODER, {"sql": 0.3, "svg": 0.4}),
    ("space_frac", "above", 0.65, "code_mostly_space", f"{_OPENCODER} has 0.5", {"fortran": 0.8, "cobol": 0.8}),
    ("alpha_frac", "below", 0.25, "code_few_letters", _SC2, {"webassembly": None, "assembly": 0.2}),
    ("string_frac", "above", 0.6, "code_mostly_literals", _OPENCODER, _DATA),
    ("comment_frac", "above", 0.8, "code_mostly_comments", _SANTA, _of(_NO_PROGRAM, None)),
    ("import_line_frac", "above", 0.3, "code_mostly_imports", f"Python, {_OPENCODER}", {}),
    ("pass_line_frac", "above", 0.1, "code_empty_functions", f"Python, {_OPENCODER} has 0.05", {}),
    ("function_line_frac", "above", 0.3, "code_mostly_signatures", f"Python, {_OPENCODER}", {}),
    ("print_line_frac", "above", 0.4, "code_mostly_prints", _OPENCODER, {}),
    ("assert_line_frac", "above", 0.4, "code_mostly_asserts", _OPENCODER, {}),
    ("todo_line_frac", "above", 0.1, "code_unfinished", f"{_OPENCODER} has 0.01", {}),
    ("unwanted_frac", "above", 0.5, "code_unwanted_files", _OURS, {}),
)
"""The rules of the default parameters."""


def rules_of(limits: Mapping[str, float | None]) -> tuple[Rule, ...]:
    """The rules; `limits` gives another limit by reason, None turns a rule off. Limits by language stay relative."""
    found: list[Rule] = []
    for measure, direction, default, reason, source, by_language in ALWAYS:
        limit = limits.get(reason, default)
        if limit is None:
            continue
        profiles = by_language if reason not in limits else {k: v for k, v in by_language.items() if v is None}
        found.append(Rule(measure, direction, limit, reason, source, profiles))
    return tuple(found)


REASONS = frozenset(reason for *_, reason, _, _ in ALWAYS)
