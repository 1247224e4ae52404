"""How comments and strings of programming languages are written: what the lexer kernel is told of each.

A lexis is a tuple of forms, tried in order where several begin alike. It is approximate on purpose: it serves to count
characters, so what would need a parser (heredocs, nested comments, regular expression literals, quotes that are no
quotes) is left out where a mistake would swallow the rest of a file. Strings end with their line unless a form says
otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LINE, BLOCK, STRING, LONG_STRING, CHAR = range(1, 6)
"""Kinds of forms: comment to the end of the line; comment to its closing; string on one line; string over lines; a
character, MAX_CHAR_BYTES with its closing quote (what is longer is no literal: lifetimes, primes, type variables)."""
AT_LINE_START, AT_WORD_START, DOC = 1, 2, 4
"""Flags: only behind white space from the start of the line; only behind white space or one of `;({[,`; a string
that stands at the start of a line is a comment (Python's docstrings)."""

MAX_CHAR_BYTES = 7
MAX_FORMS = 10
MAX_MARK_BYTES = 8
ROW_BYTES = 5 + 2 * MAX_MARK_BYTES
MAX_WORDS = 16

IMPORT_WORD, PASS_WORD, ASSERT_WORD, PRINT_WORD, FUNCTION_WORD = range(1, 6)
"""What a line that begins with a word does."""


@dataclass(frozen=True)
class Form:
    """`mark` opens a comment or string, `closing` ends it; `escape` is the character that hides what follows."""

    kind: int
    mark: str
    closing: str = "\n"
    escape: str = ""
    flags: int = 0


def _string(quote: str, kind: int = STRING, escape: str = "\\", flags: int = 0) -> Form:
    return Form(kind, quote, quote, escape, flags)


_SLASHES = Form(LINE, "//")
_STARS = Form(BLOCK, "/*", "*/")
_HASH = Form(LINE, "#", flags=AT_WORD_START)
_DOUBLE, _SINGLE, _CHAR = _string('"'), _string("'"), _string("'", CHAR)
_TRIPLE = _string('"""', LONG_STRING)
_BACKTICK = _string("`", LONG_STRING)
_RAW_BACKTICK = _string("`", LONG_STRING, "")
_MARKUP = Form(BLOCK, "<!--", "-->")
_DASHES = Form(LINE, "--")

LEXES: Mapping[str, tuple[Form, ...]] = {
    "": (),
    "c": (_SLASHES, _STARS, _DOUBLE, _CHAR),
    "java": (_SLASHES, _STARS, _TRIPLE, _DOUBLE, _CHAR),
    "go": (_SLASHES, _STARS, _DOUBLE, _CHAR, _RAW_BACKTICK),
    "d": (_SLASHES, _STARS, Form(BLOCK, "/+", "+/"), _DOUBLE, _CHAR, _RAW_BACKTICK),
    "js": (_SLASHES, _STARS, _DOUBLE, _SINGLE, _BACKTICK),
    "php": (_SLASHES, _STARS, _HASH, _MARKUP, _string('"', LONG_STRING), _string("'", LONG_STRING)),
    "css": (_STARS, _DOUBLE, _SINGLE),
    "scss": (_SLASHES, _STARS, _DOUBLE, _SINGLE),
    "hcl": (_SLASHES, _STARS, _HASH, _DOUBLE),
    "python": (
        Form(LINE, "#"),
        _string('"""', LONG_STRING, flags=DOC),
        _string("'''", LONG_STRING, flags=DOC),
        _DOUBLE,
        _SINGLE,
    ),
    "nim": (Form(BLOCK, "#[", "]#"), Form(LINE, "#"), _TRIPLE, _DOUBLE),
    "julia": (Form(BLOCK, "#=", "=#"), _HASH, _string('"""', LONG_STRING, flags=DOC), _DOUBLE),
    "shell": (_HASH, _string('"', LONG_STRING), _string("'", LONG_STRING, "")),
    "hash": (_HASH, _DOUBLE, _SINGLE),
    "config": (Form(LINE, "#", flags=AT_LINE_START), Form(LINE, ";", flags=AT_LINE_START)),
    "make": (_HASH,),
    "tcl": (Form(LINE, "#", flags=AT_LINE_START), _string('"', LONG_STRING)),
    "perl": (Form(BLOCK, "=pod", "=cut", flags=AT_LINE_START), _HASH, _DOUBLE, _SINGLE),
    "ruby": (Form(BLOCK, "=begin", "=end", flags=AT_LINE_START), _HASH, _DOUBLE, _SINGLE),
    "powershell": (Form(BLOCK, "<#", "#>"), _HASH, _string('"', escape="`"), _string("'", escape="")),
    "elixir": (_HASH, _string('"""', LONG_STRING, flags=DOC), _DOUBLE),
    "lisp": (Form(LINE, ";"), Form(BLOCK, "#|", "|#"), _string('"', LONG_STRING)),
    "sql": (_DASHES, _STARS, _string("'", LONG_STRING, ""), _string('"', escape="")),
    "ada": (_DASHES, _string('"', escape="")),
    "haskell": (Form(BLOCK, "{-", "-}"), _DASHES, _DOUBLE),
    "lua": (
        Form(BLOCK, "--[[", "]]"),
        Form(BLOCK, "--[=[", "]=]"),
        _DASHES,
        _string("[[", LONG_STRING, ""),
        _DOUBLE,
        _SINGLE,
    ),
    "ml": (Form(BLOCK, "(*", "*)"), _string('"', LONG_STRING)),
    "fsharp": (Form(BLOCK, "(*", "*)"), _SLASHES, _TRIPLE, _DOUBLE),
    "pascal": (Form(BLOCK, "{", "}"), Form(BLOCK, "(*", "*)"), _SLASHES, _string("'", escape="")),
    "percent": (Form(LINE, "%"), _DOUBLE),
    "matlab": (Form(BLOCK, "%{", "%}", flags=AT_LINE_START), Form(LINE, "%"), _string('"', escape="")),
    "scilab": (_SLASHES, _STARS, _string('"', escape="")),
    "tex": (Form(LINE, "%"),),
    "fortran": (
        Form(LINE, "!"),
        Form(LINE, "C ", flags=AT_LINE_START),
        Form(LINE, "c ", flags=AT_LINE_START),
        _string("'", escape=""),
        _string('"', escape=""),
    ),
    "cobol": (Form(LINE, "*>"), Form(LINE, "*", flags=AT_LINE_START), _string('"', escape=""), _string("'", escape="")),
    "basic": (Form(LINE, "'"), Form(LINE, "REM ", flags=AT_LINE_START), _string('"', escape="")),
    "batch": (
        Form(LINE, "REM ", flags=AT_LINE_START),
        Form(LINE, "rem ", flags=AT_LINE_START),
        Form(LINE, "@rem ", flags=AT_LINE_START),
        Form(LINE, "::", flags=AT_LINE_START),
    ),
    "vim": (Form(LINE, '"', flags=AT_LINE_START), _string("'", escape="")),
    "assembly": (Form(LINE, ";"), _HASH, _SLASHES, _STARS, _DOUBLE),
    "m4": (Form(LINE, "dnl", flags=AT_WORD_START), _HASH),
    "roff": (Form(LINE, '.\\"', flags=AT_LINE_START), Form(LINE, "'\\\"", flags=AT_LINE_START)),
    "markup": (_MARKUP,),
    "components": (_MARKUP, _STARS, Form(LINE, "//", flags=AT_WORD_START)),
    "json": (_DOUBLE,),
    "erlang": (Form(LINE, "%"), _string('"', LONG_STRING)),
}
"""Forms by the name of a lexis; several languages share one."""

_PYTHON_WORDS = {
    "import": IMPORT_WORD,
    "from": IMPORT_WORD,
    "pass": PASS_WORD,
    "...": PASS_WORD,
    "assert": ASSERT_WORD,
    "print": PRINT_WORD,
    "def": FUNCTION_WORD,
    "async": FUNCTION_WORD,
}
WORDS: Mapping[str, Mapping[str, int]] = {
    "python": _PYTHON_WORDS,
    "js": {"import": IMPORT_WORD, "console": PRINT_WORD, "function": FUNCTION_WORD, "assert": ASSERT_WORD},
    "java": {"import": IMPORT_WORD, "assert": ASSERT_WORD, "println": PRINT_WORD, "print": PRINT_WORD},
    "c": {"import": IMPORT_WORD, "using": IMPORT_WORD, "assert": ASSERT_WORD, "printf": PRINT_WORD},
    "go": {"import": IMPORT_WORD, "func": FUNCTION_WORD},
    "php": {
        "use": IMPORT_WORD,
        "require": IMPORT_WORD,
        "include": IMPORT_WORD,
        "echo": PRINT_WORD,
        "print": PRINT_WORD,
    },
    "perl": {
        "use": IMPORT_WORD,
        "require": IMPORT_WORD,
        "print": PRINT_WORD,
        "printf": PRINT_WORD,
        "sub": FUNCTION_WORD,
    },
    "ruby": {"require": IMPORT_WORD, "puts": PRINT_WORD, "print": PRINT_WORD, "def": FUNCTION_WORD},
    "lua": {"print": PRINT_WORD, "assert": ASSERT_WORD, "function": FUNCTION_WORD},
    "shell": {"echo": PRINT_WORD, "printf": PRINT_WORD, "source": IMPORT_WORD},
    "haskell": {"import": IMPORT_WORD},
    "scilab": {"disp": PRINT_WORD, "function": FUNCTION_WORD},
}
"""What a line does by its first word, of at most MAX_MARK_BYTES bytes, by lexis."""

Rows = npt.NDArray[np.uint8]
Masks = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class LexisTable:
    """All lexes as arrays; a lexis is known by its place in LEXES.

    `rows` uint8 (lexes, MAX_FORMS, ROW_BYTES): kind, flags, escape, length of mark, length of closing, mark, closing;
    `first` int64 (lexes, 256): bit i where a form i begins with that byte; `words` uint64 (lexes, MAX_WORDS): first
    words packed little-endian, `acts` uint8 of the same shape what they do.
    """

    rows: Rows
    first: Masks
    words: Keys
    acts: Rows


def lexis_table() -> LexisTable:
    """The arrays, read-only."""
    count = len(LEXES)
    rows = np.zeros((count, MAX_FORMS, ROW_BYTES), dtype=np.uint8)
    first = np.zeros((count, 256), dtype=np.int64)
    words, acts = np.zeros((count, MAX_WORDS), dtype=np.uint64), np.zeros((count, MAX_WORDS), dtype=np.uint8)
    for lexis, (name, forms) in enumerate(LEXES.items()):
        for place, form in enumerate(forms):
            mark, closing = form.mark.encode(), form.closing.encode()
            head = bytes((form.kind, form.flags, ord(form.escape or "\0"), len(mark), len(closing)))
            row = head + mark.ljust(MAX_MARK_BYTES, b"\0") + closing.ljust(MAX_MARK_BYTES, b"\0")
            rows[lexis, place] = np.frombuffer(row, dtype=np.uint8)
            first[lexis, mark[0]] |= 1 << place
        for place, (word, act) in enumerate(WORDS.get(name, {}).items()):
            words[lexis, place], acts[lexis, place] = int.from_bytes(word.encode(), "little"), act
    table = LexisTable(rows, first, words, acts)
    for array in (rows, first, words, acts):
        array.flags.writeable = False
    return table


LEXIS_NUMBERS: Mapping[str, int] = {name: number for number, name in enumerate(LEXES)}
"""The place of a lexis in the table."""
