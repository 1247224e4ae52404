"""Rules for source code: what kind of file it is, who wrote it, and whether it is code at all.

Columns in: `text`, `meta` and `url` (for the path). The language of a file is found by its path, else by its first line
(`code_languages`), and is its profile: limits differ by language (`code_limits`). Rules that need a path or a language
measure NaN, which fails nothing, where there is none. Measures of a file:

| measure | what |
|---|---|
| vendored, known_copy | 1 if so, by the path; by the digest |
| unknown_type, unwanted_language, plain_text | 1 if not in the table; not in `keep`; text, and no README or the like |
| generated, xml_declaration | 1 if the first 5 lines (100 characters) say so |
| licence_header, licence | 1 if the head names one; its place in `code_heads.LICENCES`. Nothing is dropped for it |
| chars, lines, longest_line_chars, mean_line_chars | characters, lines, those of the longest, on average |
| alpha_frac, digit_frac, space_frac | letters, ASCII digits, white space, of all characters |
| dense_frac, encoded_frac, longest_encoded_chars | minified lines, encoded data, its longest run (`code_shape`) |
| comment_frac, string_frac, longest_string_chars | of what is no white space; docstrings are comments (`code_lexer`) |
| program_comment_frac | comment_frac of programs alone |
| import, pass, function, assert, print `_line_frac` | lines that begin so, of all; from 10 on; three for Python |
| todo_line_frac | lines whose comment says TODO, FIXME or `your code here`, of all; from 10 on |
| data_chars, data_lines, visible_chars, visible_frac | sizes of data formats; text of HTML files |
| syntax_error_frac | bytes that the grammar cannot read, with `syntax: measure` or `drop` (`code_syntax`) |
| unwanted_frac | of a whole repository: characters of files that would be dropped, of all files' |

A record that is a **whole repository** is not judged as one file: each file is judged by its own language, the record
goes only if more than half of it would (`code_unwanted_files`), and all its other measures are NaN. That keeps bad
files in good repositories; read files one by one where they should go.

Deliberate differences from the papers. No file is dropped for many lines (StarCoder 2: 100,000; OpenCoder: under 10),
nor for few comments (SantaCoder: under 1 %), by default. Half of the characters may be white space, which OpenCoder
drops: deep indentation alone makes that (here: 65 %). Rulers and long names are no base64, and tables of numbers no
encoded run (`kernels.code_shape`). OpenCoder drops a file for one TODO in 99 lines, here it takes one in ten; and for
`pass` in 5 % of the lines, which takes tests of classes such as test_abc.py, here it takes 10 %. It wants letters in
half of the characters; StarCoder 2's quarter stands, since a half drops much mathematics. Its rules for n-grams are
those of `gopher_repetition`.
"""

import difflib
import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.chain import first_failing_rule
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Floats, Rule
from gristmill.stages.text.code_files import SourceFiles, files_of
from gristmill.stages.text.code_languages import BY_NAME
from gristmill.stages.text.code_limits import REASONS, REPOSITORY, rules_of
from gristmill.stages.text.code_measures import (
    format_measures,
    head_measures,
    known_copies,
    lexer_measures,
    shape_measures,
)
from gristmill.stages.text.code_syntax import grammar_of, require_parser, syntax_errors

_DIGEST = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})")


@dataclass(frozen=True)
class CodeRules:
    """Rules for source files: types, copies, generated and minified files, encoded data, comments, syntax."""

    name: ClassVar[str] = "code_rules"
    version: ClassVar[int] = 2

    keep: tuple[str, ...] = param((), "languages to keep, such as python, cpp; empty keeps all that are known")
    limits: Mapping[str, float | None] | None = param(
        None, "other limits by reason, such as {code_too_short: 100}; null is off"
    )
    min_comment_frac: float | None = param(None, "drop code with fewer comments (SantaCoder: 0.01); off by default")
    known_copies: str | None = file_param(
        None, "file of digests, one a line, of files that are copies of well-known ones"
    )
    syntax: Literal["off", "measure", "drop"] = param("off", "syntax errors; measure and drop need the extra `code`")
    max_syntax_error_frac: float = param(0.1, "with syntax: drop, bytes that the grammar cannot read")
    max_syntax_bytes: int = param(1 << 20, "files above this are not parsed")

    def __post_init__(self) -> None:
        for language in self.keep:
            if language not in BY_NAME:
                raise UsageError("unknown language", "stage code_rules.keep", language, _near(language, BY_NAME))
        for reason in self.limits or {}:
            if reason not in REASONS:
                raise UsageError("unknown reason", "stage code_rules.limits", reason, _near(reason, REASONS))
        for rule in rules_of(self.limits or {}):
            if rule.limit < 0 or (rule.measure.endswith("_frac") and rule.limit > 1):
                where = f"stage code_rules.limits.{rule.reason}"
                raise UsageError("a ratio between 0 and 1, or a count, is wanted", where, rule.limit)
        for name in ("min_comment_frac", "max_syntax_error_frac"):
            limit = getattr(self, name)
            if limit is not None and not 0 <= limit <= 1:
                raise UsageError("a ratio between 0 and 1 is wanted", f"stage code_rules.{name}", limit)
        if self.syntax != "off":
            require_parser()

    def rules(self) -> tuple[Rule, ...]:
        """The rules of `code_limits`, then few comments and syntax, if they are on."""
        found = list(rules_of(self.limits or {}))
        if self.min_comment_frac is not None:
            source = "Ben Allal et al. 2023, SantaCoder, arXiv 2301.03988, section 5.2"
            found.append(Rule("program_comment_frac", "below", self.min_comment_frac, "code_few_comments", source))
        if self.syntax == "drop":
            source = "OpenCoder drops what does not parse; a fraction spares other dialects"
            found.append(Rule("syntax_error_frac", "above", self.max_syntax_error_frac, "code_syntax", source))
        return tuple(found)

    def prepare(self) -> None:
        """Compile the kernels, read the digests, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": [""], "url": [None], "meta": [None]}))

    def profiles(self, batch: pa.RecordBatch) -> Sequence[str]:
        """The language of each row, `repository` for a whole one, "" where it is not known."""
        return _row_profiles(files_of(batch), batch.num_rows)

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        files = files_of(batch)
        found = self._measure_files(files)
        if not files.repositories:
            return {**found, "unwanted_frac": np.full(batch.num_rows, np.nan)}
        return self._by_row(files, found, batch.num_rows)

    def _measure_files(self, files: SourceFiles) -> dict[str, Floats]:
        shape = shape_measures(files)
        lexed = lexer_measures(files, shape["lines"])
        names = [file.language.name if file.language else "" for file in files.files]
        families = np.array([file.language.family if file.language else "" for file in files.files], dtype=np.str_)
        unwanted = np.array([bool(self.keep) and name not in self.keep for name in names], dtype=np.float64)
        found = {
            **shape,
            **lexed,
            **head_measures(files),
            **format_measures(files, shape),
            "known_copy": known_copies(files, _digests_in(self.known_copies) if self.known_copies else ()),
            "unwanted_language": unwanted,
            "program_comment_frac": np.where(families == "code", lexed["comment_frac"], np.nan),
        }
        if self.syntax != "off":
            found["syntax_error_frac"] = self._syntax(files)
        return found

    def _syntax(self, files: SourceFiles) -> Floats:
        asked = [
            i
            for i, file in enumerate(files.files)
            if grammar_of(file) and file.end - file.start <= self.max_syntax_bytes
        ]
        found = np.full(len(files.files), np.nan)
        sources = [files.files[i] for i in asked]
        found[asked] = syntax_errors([(grammar_of(file), files.bytes_of(file)) for file in sources])
        return found

    def _by_row(self, files: SourceFiles, found: Mapping[str, Floats], rows: int) -> dict[str, Floats]:
        """Measures of files as measures of rows: NaN for a repository, but for its unwanted part."""
        row_of = np.array([file.row for file in files.files], dtype=np.int64)
        single = ~np.isin(row_of, list(files.repositories))
        measures: dict[str, Floats] = {}
        for name, values in found.items():
            measures[name] = np.full(rows, np.nan)
            measures[name][row_of[single]] = values[single]
        profiles = [file.language.name if file.language else "" for file in files.files]
        rules = [rule for rule in self.rules() if rule.measure != "unwanted_frac"]
        fails = first_failing_rule(rules, found, len(profiles), profiles) >= 0
        chars, bad = np.zeros(rows), np.zeros(rows)
        np.add.at(chars, row_of, found["chars"])
        np.add.at(bad, row_of, found["chars"] * fails)
        is_repository = np.isin(np.arange(rows), list(files.repositories))
        return {**measures, "unwanted_frac": np.where(is_repository, bad / np.maximum(chars, 1.0), np.nan)}


def _row_profiles(files: SourceFiles, rows: int) -> list[str]:
    found = [""] * rows
    for file in files.files:
        found[file.row] = file.language.name if file.language else ""
    for row in files.repositories:
        found[row] = REPOSITORY
    return found


def _near(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {close[0]}" if close else f"it knows {', '.join(sorted(known))}"


def _digests_in(path: str) -> frozenset[str]:
    """The digests of a file, one a line; what follows white space is a comment."""
    try:
        found = Path(path).stat()
        return _digests_of_version(path, found.st_size, found.st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("a list cannot be read", path, str(error), "one digest a line, UTF-8") from error


@functools.lru_cache(maxsize=4)
def _digests_of_version(path: str, _size: int, _mtime_ns: int) -> frozenset[str]:
    words = [line.split()[0].lower() for line in Path(path).read_text("utf-8").splitlines() if line.strip()]
    for number, word in enumerate(words, 1):
        if not _DIGEST.fullmatch(word) and not word.startswith("#"):
            remedy = "one hexadecimal digest a line: BLAKE3-128, git's blob (SHA-1) or SHA-256"
            raise InputError("not a digest", f"{path}, entry {number}", word, remedy)
    return frozenset(word for word in words if not word.startswith("#"))
