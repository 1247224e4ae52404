"""Syntax errors of source files, by tree-sitter in the killable child: the fraction of bytes that no grammar reads.

Off by default: the parsers are an extra, and cost some ten times what all other rules cost together. Not parsed are
MATLAB (Octave shares its suffix: 9 of 10 of its files fail), configuration files (which share theirs with anything)
and templates (`Makefile.in`).
"""

import importlib.util
from collections.abc import Sequence

import numpy as np

from gristmill.manifests.child import ChildLimits
from gristmill.manifests.effects import ask_child
from gristmill.manifests.errors import UsageError
from gristmill.stages.protocol import Floats
from gristmill.stages.text.code_files import SourceFile

CHILD_TARGET = "gristmill.stages.text.code_syntax_child:make"
CHILD_MEMORY_BYTES = 2 << 30
CHILD_SECONDS = 10.0

_TEMPLATES = (".in", ".tmpl", ".template", ".dist")


def require_parser() -> None:
    """Raises UsageError when the parser is not installed."""
    if importlib.util.find_spec("tree_sitter_language_pack") is None:
        remedy = "pip install 'gristmill[code]', or set syntax: off"
        raise UsageError("needs tree-sitter-language-pack", "stage code_rules.syntax", remedy=remedy)


def grammar_of(file: SourceFile) -> str:
    """The grammar for a file; headers are read as C++, which they may be. "" for none."""
    if file.language is None or file.path.endswith(_TEMPLATES):
        return ""
    return "cpp" if file.language.name == "c" and file.path.endswith(".h") else file.language.grammar


def syntax_errors(files: Sequence[tuple[str, bytes]]) -> Floats:
    """For each (grammar, source) the fraction of bytes in errors, in [0, 1]; NaN where the parser failed.

    A failure (over CHILD_SECONDS, over CHILD_MEMORY_BYTES, a crash) decides nothing; it is an external effect
    (`manifests.effects`).
    """
    limits = ChildLimits(CHILD_SECONDS, CHILD_MEMORY_BYTES, 64)
    payloads = [grammar.encode("ascii") + b"\0" + source for grammar, source in files]
    answers = ask_child(CHILD_TARGET, limits, payloads)
    found = np.full(len(files), np.nan)
    for i, ((_, source), answer) in enumerate(zip(files, answers, strict=True)):
        if isinstance(answer, bytes):
            found[i] = min(int(answer) / max(len(source), 1), 1.0)
    return found
