"""What `code_rules` measures of each source file; the table stands in `code_rules`."""

import hashlib
from collections.abc import Collection, Mapping

import numpy as np
from blake3 import blake3

from gristmill.stages.protocol import Floats
from gristmill.stages.text.code_files import HEAD_BYTES, SourceFile, SourceFiles
from gristmill.stages.text.code_heads import has_xml_declaration, is_generated, licence_number, visible_text
from gristmill.stages.text.code_languages import is_vendored
from gristmill.stages.text.code_lexis import lexis_table

VISIBLE_BYTES = 4 << 20
"""Of an HTML file; what stands behind is not looked at for visible text."""
TEXT_NAMES = ("readme", "notes", "todo", "description", "cmakelists")
"""Names, without suffix, of text files that are kept (StarCoder 2), besides all that hold `requirement`."""
SIZED_DATA = ("json", "json5", "yaml", "xml")
LINED_DATA = ("text", "json", "json5", "yaml", "owl", "dot", "csv", "gettext")
MIN_LINES = 10
PYTHON_LINES = ("import", "pass", "function")
"""What OpenCoder asks of Python alone."""

Columns = dict[str, Floats]


def shape_measures(files: SourceFiles) -> Columns:
    """Characters, lines, letters, encoded data; 0 where it would divide by nothing."""
    from gristmill.stages.kernels.code_shape import SHAPE_COUNTS, shape_files

    counts = shape_files(files.data, files.spans())
    count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(SHAPE_COUNTS)}
    chars = count["chars"]
    return {
        "chars": chars,
        "lines": count["lines"],
        "longest_line_chars": count["longest_line_chars"],
        "mean_line_chars": _per(count["line_chars"], count["lines"]),
        "alpha_frac": np.where(chars > 0, _per(count["alpha_chars"], chars), np.nan),
        "digit_frac": _per(count["digit_chars"], chars),
        "space_frac": _per(count["space_chars"], chars),
        "dense_frac": _per(count["dense_chars"], chars),
        "encoded_frac": np.minimum(_per(count["encoded_chars"], chars), 1.0),
        "longest_encoded_chars": count["longest_encoded_chars"],
    }


def lexer_measures(files: SourceFiles, lines: Floats) -> Columns:
    """Comments, strings, what lines do; NaN where a language's comments are not known or the rule is not its.

    `lines` are all lines of each file, as OpenCoder counts them; a file of fewer than MIN_LINES has no line fractions.
    """
    from gristmill.stages.kernels.code_lexer import LEXER_COUNTS, lex_files

    counts = lex_files(files.data, files.spans(), lexis_table())
    count = {name: counts[:, column].astype(np.float64) for column, name in enumerate(LEXER_COUNTS)}
    solid = count["code_chars"] + count["comment_chars"] + count["string_chars"]
    lexed = np.array([bool(file.language and file.language.lexis) for file in files.files], dtype=np.bool_)
    python = np.array([bool(file.language and file.language.name == "python") for file in files.files], dtype=np.bool_)
    long = lexed & (lines >= MIN_LINES)
    found = {
        "comment_frac": np.where(lexed, _per(count["comment_chars"], solid), np.nan),
        "string_frac": np.where(lexed, _per(count["string_chars"], solid), np.nan),
        "longest_string_chars": np.where(lexed, count["longest_string_chars"], np.nan),
    }
    for what in ("import", "pass", "function", "assert", "print", "todo"):
        asked = long & python if what in PYTHON_LINES else long
        found[f"{what}_line_frac"] = np.where(asked, _per(count[f"{what}_lines"], lines), np.nan)
    return found


def head_measures(files: SourceFiles) -> Columns:
    """What path and head say: 0 or 1, NaN where no path is known; `licence` is a place in `code_heads.LICENCES`."""
    heads = [files.bytes_of(file, HEAD_BYTES) for file in files.files]
    paths = [file.path for file in files.files]
    numbers = [licence_number(head) for head in heads]
    return {
        "vendored": _flags([is_vendored(path) if path else None for path in paths]),
        "unknown_type": _flags([file.language is None if file.path else None for file in files.files]),
        "plain_text": _flags([_is_plain_text(file) if file.path else None for file in files.files]),
        "generated": _flags([is_generated(head) for head in heads]),
        "xml_declaration": _flags([has_xml_declaration(head) for head in heads]),
        "licence_header": _flags([number is not None for number in numbers]),
        "licence": np.array([np.nan if number is None else number for number in numbers], dtype=np.float64),
    }


def _is_plain_text(file: SourceFile) -> bool:
    if file.language is None or file.language.name != "text":
        return False
    name = file.path.rpartition("/")[2].lower()
    return "requirement" not in name and name.partition(".")[0] not in TEXT_NAMES


def format_measures(files: SourceFiles, shape: Mapping[str, Floats]) -> Columns:
    """Sizes of data files, and visible text of pages; NaN for all others."""
    names = [file.language.name if file.language else "" for file in files.files]
    sized = np.array([name in SIZED_DATA for name in names], dtype=np.bool_)
    lined = np.array([name in LINED_DATA for name in names], dtype=np.bool_)
    visible, frac = np.full(len(names), np.nan), np.full(len(names), np.nan)
    for i, name in enumerate(names):
        if name == "html":
            page = files.bytes_of(files.files[i], VISIBLE_BYTES)
            left = visible_text(page)
            visible[i], frac[i] = len(left.decode("utf-8", "replace")), len(left) / max(len(page), 1)
    return {
        "data_chars": np.where(sized, shape["chars"], np.nan),
        "data_lines": np.where(lined, shape["lines"], np.nan),
        "visible_chars": visible,
        "visible_frac": frac,
    }


def known_copies(files: SourceFiles, digests: Collection[str]) -> Floats:
    """1 for files one of whose digests is listed: BLAKE3-128, git's blob (SHA-1) or SHA-256, told by length."""
    lengths = {len(digest) for digest in digests}
    found = np.zeros(len(files.files))
    for i, file in enumerate(files.files if digests else ()):
        found[i] = any(digest in digests for digest in _digests(files.bytes_of(file), lengths))
    return found


def _digests(data: bytes, lengths: Collection[int]) -> list[str]:
    found: list[str] = []
    if 32 in lengths:
        found.append(blake3(data).hexdigest(16))
    if 40 in lengths:
        found.append(hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest())
    if 64 in lengths:
        found.append(hashlib.sha256(data).hexdigest())
    return found


def _per(part: Floats, whole: Floats) -> Floats:
    return part / np.maximum(whole, 1.0)


def _flags(values: list[bool | None]) -> Floats:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
