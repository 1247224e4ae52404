"""Mathematics: chrome of forums and calculators is cut; pages without mathematics or with broken formulas are dropped.

Columns in: `text`. Columns out: `text`, without the parts below, each counted under its reason.

| cut reason | what |
|---|---|
| math_chrome | lines that forums, answer sites and calculators put about a text (`math_chrome`), two or more together |
| math_macros | lines with "newcommand" more than once, as OpenWebMath takes out (filtering/filter_dataset.py) |
| math_error | lines that are a renderer's message, such as [Math Processing Error] |
| cut_off_formula | a formula that the end of the text cuts off, from its begin (at most 2,000 bytes) |

Measures of what is left, but for chrome_line_frac; each 0 where it would divide by nothing:

| measure | what |
|---|---|
| chars | characters |
| formula_frac | characters in formulas, of all (`kernels.math_marks` says what a formula is) |
| math_marks | formulas, LaTeX commands, mathematical symbols, operators between operands, marks of proofs, terms |
| math_marks_per_1000_chars | the same for 1,000 characters |
| broken_frac | faults of formulas, of faults and sound formulas; NaN below MIN_FORMULAS of both |
| error_frac | renderers' messages and addresses, of them and the formulas |
| calculator_frac | phrases of calculators, of them and the formulas, symbols and operators |
| chrome_line_frac | lines of chrome of all lines that are not blank, before cutting |

Metamath, Lean and Coq pass by default: their keywords and symbols are marks, and Metamath's dollars delimit nothing.
Differences from OpenWebMath (arXiv 2310.06786 and its code): no classifier here (the stage `quality` scores) and no
perplexity; its drop of texts with accents, which drops French, is not ours. FineMath (dataset card) found that C4's
rule on curly brackets drops LaTeX: none here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import ratio
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Floats, Mapped, Reason, Rule
from gristmill.stages.text.math_chrome import CALCULATOR_PATTERN, ERROR_PATTERN, TERM_PATTERN, known_lines
from gristmill.stages.text.pages_cut import MAX_SPANS, Span, around_media, cut_and_judged, cut_spans, windows_of

_OURS = "ours, measured on the manuals, problems and proofs of the demo"
_OPEN_WEB_MATH = "Paster et al. 2023, OpenWebMath, filtering/filter_dataset.py"
_CUTS = {
    "math_chrome": "lines of forums, answer sites, calculators",
    "math_macros": "lines with several definitions of macros",
    "math_error": "lines that are a renderer's message",
    "cut_off_formula": "a formula that the end of the text cuts off",
}
_REASON_OF_KIND = {1: "math_chrome", 2: "math_macros", 3: "math_error"}
CHROME_LINES = 4
"""Alone, "Help!" is a line of dialogue and "Flag" a heading: chrome comes in groups."""
MIN_FORMULAS = 3
"""Fewer formulas and faults say nothing of a text: one price that looks like a formula would drop it."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MathRules:
    """Cut the chrome of pages about mathematics; drop those without mathematics, or with broken formulas."""

    name: ClassVar[str] = "math_rules"
    version: ClassVar[int] = 1

    min_chars: int | None = param(100, "drop a text of fewer characters; null turns a rule off")
    min_marks: int | None = param(2, "marks of mathematics, at least")
    min_marks_per_1000_chars: float | None = param(0.5, "marks of mathematics for 1,000 characters, at least")
    max_broken_frac: float | None = param(0.3, "faults, of faults and sound formulas")
    max_error_frac: float | None = param(0.3, "renderers' messages, of them and the formulas")
    max_calculator_frac: float | None = param(0.5, "phrases of calculators, of them and other marks")
    max_chrome_line_frac: float | None = param(0.5, "lines of chrome, of all lines")
    cut: tuple[str, ...] = param(tuple(_CUTS), "what is cut, by reason")

    def __post_init__(self) -> None:
        for rule in self.rules():
            if rule.limit < 0 or (rule.measure.endswith("_frac") and rule.limit > 1):
                side = "max" if rule.direction == "above" else "min"
                where = f"stage math_rules.{side}_{rule.measure.removeprefix('math_')}"
                raise UsageError("a ratio between 0 and 1, or a count, is wanted", where, rule.limit)
        for reason in self.cut:
            if reason not in _CUTS:
                raise UsageError(
                    "nothing is cut for this reason", "stage math_rules.cut", reason, f"it cuts {', '.join(_CUTS)}"
                )

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on, in the order in which they are tried."""
        low = (
            Rule(measure, "below", float(limit), reason, source)
            for measure, limit, reason, source in (
                ("chars", self.min_chars, "math_short", _OPEN_WEB_MATH),
                ("math_marks", self.min_marks, "math_no_content", _OURS),
                ("math_marks_per_1000_chars", self.min_marks_per_1000_chars, "math_sparse", _OURS),
            )
            if limit is not None
        )
        high = (
            Rule(measure, "above", float(limit), reason, _OURS)
            for measure, limit, reason in (
                ("broken_frac", self.max_broken_frac, "math_broken_formulas"),
                ("error_frac", self.max_error_frac, "math_unrendered"),
                ("calculator_frac", self.max_calculator_frac, "math_calculator"),
                ("chrome_line_frac", self.max_chrome_line_frac, "math_mostly_chrome"),
            )
            if limit is not None
        )
        return (*low, *high)

    def reasons(self) -> tuple[Reason, ...]:
        """The cuts and the drops."""
        cuts = tuple(Reason(reason, "drop", f"cut: {doc}") for reason, doc in _CUTS.items())
        return cuts + tuple(Reason(r.reason, "drop", f"{r.measure} is {r.direction} the limit") for r in self.rules())

    def prepare(self) -> None:
        """Compile the kernels into this machine's cache, once on the driver."""
        self.measure(pa.RecordBatch.from_pydict({"text": ["$x$"]}))

    def measure(self, batch: pa.RecordBatch) -> Mapping[str, Floats]:
        """All measures of the table above, as long as the batch."""
        return self._apply(batch.column("text"))[2]

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch without what is cut; verdicts by the rules."""
        return cut_and_judged(batch, self._apply, self.rules())

    def _apply(self, text: pa.Array) -> tuple[pa.Array, Mapping[str, Ints], dict[str, Floats]]:
        after, cut, chrome = self._without_lines(text)
        after, counts, tails = self._without_open_end(after)
        measures = _measures(after, counts)
        measures["chrome_line_frac"] = chrome
        return after, {reason: cut[reason] + tails[reason] for reason in _CUTS}, measures

    def _without_lines(self, text: pa.Array) -> tuple[pa.Array, Mapping[str, Ints], Floats]:
        from gristmill.stages.kernels.math_lines import CHROME, scan_lines

        data, offsets = text_buffers(text)
        lines, chrome = np.zeros((2, len(text)), np.int64)
        spans: list[Span] = []
        for windows in windows_of(data, offsets):
            counted, found = scan_lines(data, windows.starts, windows.ends, known_lines())
            found = found[_in_company(found)]
            np.add.at(lines, windows.rows, counted)
            np.add.at(chrome, windows.rows[found[found[:, 3] == CHROME, 0]], 1)
            first = np.searchsorted(found[:, 0], found[:, 0])
            for window, start, end, kind, _ in found[np.arange(len(found)) - first < MAX_SPANS].tolist():
                spans += around_media(data, Span(int(windows.rows[window]), start, end, _REASON_OF_KIND[kind]))
        spans = [span for span in spans if span.reason in self.cut]
        after, cut = cut_spans(text, data, offsets, spans, tuple(_CUTS))
        return after, cut, ratio(chrome, lines)

    def _without_open_end(self, text: pa.Array) -> tuple[pa.Array, dict[str, Floats], Mapping[str, Ints]]:
        from gristmill.stages.kernels.math_marks import COUNTS, count_math

        data, offsets = text_buffers(text)
        counted = count_math(data, offsets)
        count = {name: counted[:, column].astype(np.float64) for column, name in enumerate(COUNTS)}
        rows = np.flatnonzero(counted[:, COUNTS.index("open_end")] >= 0) if "cut_off_formula" in self.cut else []
        spans = [
            piece
            for row in rows
            for piece in around_media(
                data, Span(int(row), int(count["open_end"][row]), int(offsets[row + 1]), "cut_off_formula")
            )
        ]
        after, cut = cut_spans(text, data, offsets, spans, tuple(_CUTS))
        count["chars"] -= cut["cut_off_formula"]
        count["faults"][rows] -= 1
        return after, count, cut


def _in_company(found: Ints) -> npt.NDArray[np.bool_]:
    """Which of the lines found stay found: those of chrome only within CHROME_LINES of another."""
    from gristmill.stages.kernels.math_lines import CHROME

    stays = found[:, 3] != CHROME
    places = np.flatnonzero(~stays)
    own = found[places]
    near = (np.diff(own[:, 4]) <= CHROME_LINES) & (np.diff(own[:, 0]) == 0)
    stays[places[:-1][near]] = True
    stays[places[1:][near]] = True
    return stays


def _measures(text: pa.Array, count: Mapping[str, Floats]) -> dict[str, Floats]:
    errors, calculators, terms = (_matches(text, p) for p in (ERROR_PATTERN, CALCULATOR_PATTERN, TERM_PATTERN))
    written = count["formulas"] + count["symbols"] + count["operators"]
    marks = written + count["commands"] + count["proof_marks"] + terms
    whole = count["formulas"] + count["faults"]
    return {
        "chars": count["chars"],
        "formula_frac": ratio(count["formula_chars"], count["chars"]),
        "math_marks": marks,
        "math_marks_per_1000_chars": 1000 * marks / np.maximum(count["chars"], 1.0),
        "broken_frac": np.where(whole >= MIN_FORMULAS, ratio(count["faults"], whole), np.nan),
        "error_frac": ratio(errors, errors + count["formulas"]),
        "calculator_frac": ratio(calculators, calculators + written),
    }


def _matches(text: pa.Array, pattern: str) -> Floats:
    found = pc.count_substring_regex(text, pattern)
    return pc.fill_null(found, 0).to_numpy(zero_copy_only=False).astype(np.float64)
