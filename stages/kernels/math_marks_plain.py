"""The plain-Python twin of `math_marks`: the same counts from a text's tokens. The kernel's test oracle."""

import re
from dataclasses import dataclass, field

from gristmill.stages.kernels.line_keys import normal_form
from gristmill.stages.kernels.math_chars import MAX_ASCII_BYTES, MAX_ASCII_WORD, MAX_NAME_BYTES
from gristmill.stages.kernels.math_marks import (
    COUNTS,
    MATH_ENVIRONMENTS,
    MAX_FORMULA_BYTES,
    MAX_OPEN_BYTES,
    MIN_PROOF_MARKS,
)

_ENVIRONMENTS = {normal_form(name.encode()) for name in MATH_ENVIRONMENTS.split("|")}
_COMMAND = re.compile(rb"\\[A-Za-z]+")
_NAME = re.compile(rb"\{([^}\x00-\x20]{0,%d})\}" % (MAX_NAME_BYTES - 1))
_PROOF = re.compile(rb"(?:\A|(?<=[\x00-\x20]))\$([.=(){}@acdefpv])(?=[\x00-\x20]|\Z)")
_ASCII = re.compile(rb"`([^`\n\r]{1,%d})`(?!`)" % (MAX_ASCII_BYTES - 2))
_BLANK_LINE = re.compile(rb"\n[\x00-\x20]*?\n")
_OPERAND = rb"A-Za-z0-9\x80-\xff"
_ENDS = {b"$$": b"$$", b"\\(": b"\\)", b"\\[": b"\\]"}


@dataclass
class _Formula:
    """A formula that is open: what began it, where, the characters before it, and what was seen in it."""

    begin: bytes
    start: int
    chars: int
    braces: int = 0
    inner: int = 0
    tex: bool = False
    relation: bool = False
    blank: bool = False
    symbols: int = 0
    operators: int = 0


@dataclass
class _Reader:
    text: bytes
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    formula: _Formula | None = None
    outer: int = 0
    is_proof: bool = False

    def read(self) -> dict[str, int]:
        proofs = _PROOF.findall(self.text)
        sure = sum(kind in b".=(){}@" for kind in proofs)
        self.is_proof = sure >= MIN_PROOF_MARKS and 2 * len(proofs) >= self.text.count(b"$")
        self.counts["proof_marks"] = len(proofs) if self.is_proof else 0
        self.counts["open_end"] = -1
        at = 0
        while at < len(self.text):
            at = self._step(at)
        self.counts["faults"] += abs(self.outer)
        formula = self.formula
        if formula:
            known = formula.begin != b"$" or formula.tex
            if known and len(self.text) - formula.start <= MAX_OPEN_BYTES:
                self.counts["open_end"] = formula.start
            self._give_up(formula)
        return self.counts

    def _chars(self, start: int, end: int) -> int:
        return sum(byte & 0xC0 != 0x80 for byte in self.text[start:end])

    def _step(self, at: int) -> int:
        text, formula = self.text, self.formula
        byte = text[at : at + 1]
        if byte == b"\\" and at + 1 < len(text):
            command = _COMMAND.match(text, at)
            if command:
                return self._command(at, command.end())
            pair = text[at : at + 2]
            self.counts["chars"] += self._chars(at, at + 2)
            if pair in (b"\\(", b"\\)", b"\\[", b"\\]"):
                self._bracket(pair, at)
            return at + 2
        self.counts["chars"] += self._chars(at, at + 1)
        if byte == b"$" and not self.is_proof:
            return self._dollar(at)
        if formula:
            self._inside(formula, at)
            return at + 1
        return self._outside(at)

    def _open(self, begin: bytes, at: int, width: int) -> None:
        self.formula = _Formula(begin, at, self.counts["chars"] - width)

    def _close(self, formula: _Formula) -> None:
        sound = formula.braces == 0 and formula.inner == 0
        self.counts["formulas" if sound else "faults"] += 1
        self.counts["formula_chars"] += self.counts["chars"] - formula.chars
        self.formula = None

    def _give_up(self, formula: _Formula) -> None:
        self.counts["faults"] += formula.begin != b"$" or formula.tex
        self._forget(formula)

    def _forget(self, formula: _Formula) -> None:
        self.counts["symbols"] += formula.symbols
        self.counts["operators"] += formula.operators
        self.formula = None

    def _dollar(self, at: int) -> int:
        text, formula = self.text, self.formula
        behind = text[at + 1 : at + 2] or b" "
        if formula is None or formula.begin == b"$$":
            if behind == b"$":
                self.counts["chars"] += 1
                if formula:
                    self._close(formula)
                else:
                    self._open(b"$$", at, 2)
                return at + 2
            if formula is None and behind > b" ":
                self._open(b"$", at, 1)
        elif formula.begin == b"$":
            if text[at - 1 : at] > b" " and not behind.isdigit():
                price = text[formula.start + 1 : formula.start + 2].isdigit()
                if not price or formula.tex or formula.relation or not formula.blank:
                    self._close(formula)
                else:
                    self._forget(formula)
            elif behind > b" ":
                self._give_up(formula)
                self._open(b"$", at, 1)
        return at + 1

    def _bracket(self, pair: bytes, at: int) -> None:
        formula = self.formula
        begin = {b"\\)": b"\\(", b"\\]": b"\\["}.get(pair, pair)
        if formula and formula.begin != begin:
            return
        if pair in _ENDS:
            if formula:
                self._give_up(formula)
            self._open(pair, at, 2)
        elif formula:
            self._close(formula)
        else:
            self.counts["faults"] += 1

    def _command(self, at: int, stop: int) -> int:
        word = self.text[at + 1 : stop]
        name = _NAME.match(self.text, stop) if word in (b"begin", b"end") else None
        stop = name.end() if name else stop
        width = self._chars(at, stop)
        self.counts["chars"] += width
        if self.formula:
            self.formula.tex = True
        if not name:
            self.counts["commands"] += self.formula is None
            return stop
        step = 1 if word == b"begin" else -1
        if self.formula:
            self.formula.inner += step
            if self.formula.begin == b"\\begin" and self.formula.inner == 0:
                self._close(self.formula)
        elif normal_form(name.group()) in _ENVIRONMENTS:
            if step > 0:
                self._open(b"\\begin", at, width)
                assert self.formula is not None
                self.formula.inner, self.formula.tex = 1, False
            else:
                self.counts["faults"] += 1
        else:
            self.outer += step
            self.counts["commands"] += 1
        return stop

    def _inside(self, formula: _Formula, at: int) -> None:
        text, byte = self.text, self.text[at : at + 1]
        if byte >= b"\x80":
            formula.symbols += is_symbol(text, at)
            return
        formula.operators += is_operator(text, at)
        if byte == b"{":
            formula.braces += 1
        elif byte == b"}":
            formula.braces -= 1
            if formula.begin == b"{" and formula.braces < 0:
                formula.braces = 0
                self._close(formula)
                return
        elif byte in (b"^", b"_"):
            formula.tex = True
        elif byte in (b"=", b"<", b">", b"+"):
            formula.relation = True
            if formula.begin == b"<" and text[: at + 1].endswith(b"</math>") and at - formula.start >= 6:
                formula.braces = 0
                self._close(formula)
                return
        elif byte == b" ":
            formula.blank = True
        elif byte == b"\n" and formula.begin in (b"$", b"\\(") and _BLANK_LINE.match(text, at):
            self._give_up(formula)
            return
        if at - formula.start >= MAX_FORMULA_BYTES:
            self._give_up(formula)

    def _outside(self, at: int) -> int:
        text, byte = self.text, self.text[at : at + 1]
        if byte >= b"\x80":
            self.counts["symbols"] += is_symbol(text, at)
        elif byte == b"`" and text[at - 1 : at] != b"`":
            found = _ASCII.match(text, at)
            words = re.findall(rb"[A-Za-z]+", found.group(1)) if found else []
            if found and re.search(rb"[\^=+*<>]", found.group(1)) and all(len(w) <= MAX_ASCII_WORD for w in words):
                width = self._chars(at, found.end())
                self.counts["formulas"] += 1
                self.counts["formula_chars"] += width
                self.counts["chars"] += width - 1
                return found.end()
        elif byte == b"{" and re.match(rb"\\(?:display|text)style", text[at + 1 :]):
            self._open(b"{", at, 1)
        elif byte == b"<" and re.match(rb"math[\x00-\x3e]", text[at + 1 :]):
            self._open(b"<", at, 1)
        else:
            self.counts["operators"] += is_operator(text, at)
        return at + 1


def is_symbol(text: bytes, at: int) -> bool:
    """Whether the character that begins at `at` is a mark of mathematics."""
    byte = text[at]
    size = 2 if 0xC0 <= byte < 0xE0 else 3 if 0xE0 <= byte < 0xF0 else 4 if byte >= 0xF0 else 1
    char = text[at : at + size].decode("utf-8", "replace")
    if size == 1 or len(char) != 1:
        return False
    point = ord(char)
    if byte in (0xCE, 0xCF):
        around = text[max(at - 1, 0) : at] + text[at + 2 : at + 3]
        return not re.search(rb"[A-Za-z\x80-\xff]", around)
    ranges = (
        (0x2070, 0x20A0),
        (0x21D0, 0x21D5),
        (0x2200, 0x2300),
        (0x27C0, 0x27F0),
        (0x2980, 0x2B00),
        (0x1D400, 0x1D800),
    )
    return char in "±²³¹×÷" or any(first <= point < end for first, end in ranges)


def is_operator(text: bytes, at: int) -> bool:
    """Whether the character at `at` stands between operands as an operator does."""
    if text[at : at + 1] not in (b"=", b"^", b"+", b"*", b"/", b"<", b">"):
        return False
    left = text[:at][:-1] if at > 1 and text[at - 1 : at] == b" " else text[:at]
    right = text[at + 1 :][1:] if text[at + 1 : at + 2] == b" " else text[at + 1 :]
    any_of = text[at : at + 1] in (b"=", b"^")
    closes = re.search(rb"[%s)\]%s]\Z" % (_OPERAND, b"}" if any_of else b""), left)
    opens = re.match(rb"[%s(\-.\\${]" % _OPERAND, right)
    if not closes or not opens:
        return False
    return any_of or closes.group().isdigit() or opens.group().isdigit() or opens.group() == b"."


def count_text(text: bytes) -> dict[str, int]:
    """The counts of one text, by name."""
    return _Reader(text).read()
