"""Formulas of a page as LaTeX.

Sources, the first that is there: `alttext` of <math> (LaTeXML, Wikipedia), an annotation of type application/x-tex
(KaTeX, MathJax, pandoc), else the presentation MathML itself, by `mathml_to_latex`, for the common elements of MathML
Core (W3C, 2023): mi mn mo mtext mspace mrow mstyle mfrac msqrt mroot msub msup msubsup munder mover munderover
mmultiscripts (as what follows it) mtable mfenced menclose mpadded mphantom. What it does not know is written as its
children. Tokens are (text, tag, attributes, text, ...) as `html_tokens` gives them: text and values are escaped.
"""

import re
from collections.abc import Callable, Mapping, Sequence

_GREEK = "αβγδεζηθικλμνξπρστυφχψωϑϕϖϱςϵΓΔΘΛΞΠΣΥΦΨΩ"
_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi chi "
    "psi omega vartheta phi varpi varrho varsigma epsilon Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_SIGNS = "∑∏∐∫∬∭∮∂∇∞±∓×÷⋅·∘∗∙⊕⊗⊙≤≥≠≈≡∼≃≅∝≪≫∈∉∋⊂⊃⊆⊇∪∩∖∅∀∃¬∧∨→←↔⇒⇐⇔↦↪⟶⟵⟹⟺↑↓…⋯⋮⋱ℓℏℜℑℵ′″⟨⟩⌊⌋⌈⌉‖∣∥⊥⊤⊢⊨△∠√†‡★°−"
_SIGNS_NAMES = (
    "sum prod coprod int iint iiint oint partial nabla infty pm mp times div cdot cdot circ ast bullet oplus otimes "
    "odot leq geq neq approx equiv sim simeq cong propto ll gg in notin ni subset supset subseteq supseteq cup cap "
    "setminus emptyset forall exists neg land lor to leftarrow leftrightarrow Rightarrow Leftarrow Leftrightarrow "
    "mapsto hookrightarrow longrightarrow longleftarrow Longrightarrow Longleftrightarrow uparrow downarrow ldots "
    "cdots vdots ddots ell hbar Re Im aleph prime prime langle rangle lfloor rfloor lceil rceil | mid parallel perp "
    "top vdash models triangle angle surd dagger ddagger star circ -"
)
_SYMBOLS: Mapping[str, str] = {
    **dict(zip(_GREEK, _GREEK_NAMES.split(), strict=True)),
    **dict(zip(_SIGNS, _SIGNS_NAMES.split(), strict=True)),
    **dict(zip("ℝℕℤℚℂℙ𝔼", "RNZQCPE", strict=True)),
}
_BLACKBOARD = frozenset("ℝℕℤℚℂℙ𝔼")
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064\u200b")
_SPECIAL = {"{": "\\{", "}": "\\}", "%": "\\%", "#": "\\#", "$": "\\$", "&": "\\&", "_": "\\_", "\\": "\\backslash "}
_FUNCTION_NAMES = (
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln exp lim limsup liminf max min sup inf "
    "det dim ker deg gcd arg Pr hom"
)
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_ACCENT_MARKS = "¯‾_^ˆ~˜→⃗˙¨⏞⏟´`ˇ˘"
_ACCENT_NAMES = (
    "bar overline underline hat hat tilde tilde vec vec dot ddot overbrace underbrace acute grave check breve"
)
_ACCENTS: Mapping[str, str] = dict(zip(_ACCENT_MARKS, _ACCENT_NAMES.split(), strict=True))

_ALTTEXT = re.compile(r'\salttext="([^"]*)"')
_DISPLAY = re.compile(r'\sdisplay="block"')
_TEX_ANNOTATION = re.compile(
    r'\sencoding="(?:application/x-tex|application/x-latex|TeX|LaTeX|text/x-tex)"', re.IGNORECASE
)
_STYLE = re.compile(r"\{\\(?:display|text)style\s*")
_VARIANT = re.compile(r'\smathvariant="([a-z-]+)"')
_VARIANTS = {
    "normal": "mathrm",
    "bold": "mathbf",
    "double-struck": "mathbb",
    "script": "mathcal",
    "fraktur": "mathfrak",
}


def unescaped(text: str) -> str:
    """Serialised text or attribute value as it reads; a no-break space becomes a space."""
    if "&" not in text:
        return text
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&quot;", '"')
    return text.replace("&amp;", "&")


def escaped(text: str) -> str:
    """Plain text as serialised text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") if text else text


def clean_latex(latex: str) -> str:
    """LaTeX without the wrapper `{\\displaystyle ...}`, without delimiters of its own and outer white space."""
    latex = latex.strip()
    found = _STYLE.match(latex)
    if found and latex.endswith("}") and _closes_at_end(latex):
        latex = latex[found.end() : -1].strip()
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
        if latex.startswith(opening) and latex.endswith(closing) and len(latex) > len(opening) + len(closing):
            return latex[len(opening) : -len(closing)].strip()
    return latex


def _closes_at_end(latex: str) -> bool:
    depth = 0
    for at, char in enumerate(latex):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return at == len(latex) - 1
    return False


def is_display(attrs: str) -> bool:
    """Whether a <math> stands on a line of its own."""
    return bool(_DISPLAY.search(attrs))


def latex_of(tokens: Sequence[str]) -> str:
    """LaTeX of a <math> element, unescaped; `tokens` run from its start tag to before its end tag."""
    alt = _ALTTEXT.search(tokens[1])
    if alt and alt[1].strip():
        return clean_latex(unescaped(alt[1]))
    for at in range(3, len(tokens), 3):
        if tokens[at] == "annotation" and _TEX_ANNOTATION.search(tokens[at + 1]):
            return clean_latex(unescaped(tokens[at + 2]))
    return mathml_to_latex(tokens)


def mathml_to_latex(tokens: Sequence[str]) -> str:
    """Presentation MathML to LaTeX; linear, without recursion."""
    stack: list[tuple[str, str, list[str]]] = [("math", "", [])]
    for at in range(0, len(tokens), 3):
        tag, attrs, text = tokens[at], tokens[at + 1], tokens[at + 2].strip()
        if not tag:
            pass
        elif not tag.startswith("/"):
            if at:
                stack.append((tag, attrs, []))
        elif len(stack) > 1:
            name, its_attrs, children = stack.pop()
            stack[-1][2].append(_made(name, its_attrs, children))
        if text and stack[-1][0] not in ("annotation", "annotation-xml"):
            stack[-1][2].append(unescaped(text))
    while len(stack) > 1:
        name, its_attrs, children = stack.pop()
        stack[-1][2].append(_made(name, its_attrs, children))
    return re.sub(r"\s+", " ", _joined(stack[0][2])).strip()


def _joined(children: Sequence[str]) -> str:
    out: list[str] = []
    for child in children:
        if child and out and out[-1] and child[0].isalpha() and re.search(r"\\[A-Za-z]+$", out[-1][-40:]):
            out.append(" ")
        out.append(child)
    return "".join(out)


def _made(tag: str, attrs: str, children: list[str]) -> str:
    make = _MAKERS.get(tag)
    if make is not None:
        return make(children, attrs)
    fixed = _FIXED.get(tag)
    if fixed is not None:
        wanted, pattern = fixed
        if len(children) == wanted:
            return pattern(*children)
    return _joined(children)


def _group(latex: str) -> str:
    return latex if len(latex) == 1 else "{" + latex + "}"


def _symbols(text: str) -> str:
    out: list[str] = []
    for char in text:
        if char in _BLACKBOARD:
            out.append("\\mathbb{" + _SYMBOLS[char] + "}")
        elif char in _SYMBOLS:
            name = _SYMBOLS[char]
            out.append(name if name == "-" else "\\" + name + ("" if len(text) == 1 else " "))
        elif char not in _INVISIBLE:
            out.append(_SPECIAL.get(char, char))
    return "".join(out)


def _identifier(children: Sequence[str], attrs: str) -> str:
    text = "".join(children)
    if text in _FUNCTIONS:
        return "\\" + text
    found = _VARIANT.search(attrs)
    variant = _VARIANTS.get(found[1]) if found else None
    if variant and not (variant == "mathrm" and not text.isascii()):
        return f"\\{variant}{{{_symbols(text)}}}"
    return _symbols(text) if len(text) < 2 or not text.isalpha() else f"\\mathrm{{{text}}}"


def _operator(children: Sequence[str], attrs: str) -> str:
    text = "".join(children)
    if text in _FUNCTIONS:
        return "\\" + text + " "
    latex = _symbols(text)
    return f" {latex} " if latex in ("=", "<", ">", "+") or (latex.startswith("\\") and latex[1:].isalpha()) else latex


def _text(children: Sequence[str], attrs: str) -> str:
    text = "".join(children)
    return "\\text{" + text + "}" if text.strip() else " "


def _table(children: Sequence[str], attrs: str) -> str:
    return "\\begin{matrix}" + " \\\\ ".join(children) + "\\end{matrix}"


def _fenced(children: Sequence[str], attrs: str) -> str:
    def given(name: str, default: str) -> str:
        found = re.search(rf'\s{name}="([^"]*)"', attrs)
        return _symbols(unescaped(found[1]).strip()) if found else default

    return f"\\left{given('open', '(') or '.'}{','.join(children)}\\right{given('close', ')') or '.'}"


def _under(base: str, under: str) -> str:
    return (
        f"\\{_ACCENTS[under.strip()]}{{{base}}}" if under.strip() in _ACCENTS else _limits(base) + "_" + _group(under)
    )


def _over(base: str, over: str) -> str:
    mark = over.strip()
    mark = "→" if mark == "\\to" else mark
    return f"\\{_ACCENTS[mark]}{{{base}}}" if mark in _ACCENTS else _limits(base) + "^" + _group(over)


def _limits(base: str) -> str:
    return base.strip() if base.strip().startswith("\\") else _group(base)


_Maker = Callable[[Sequence[str], str], str]
_MAKERS: Mapping[str, _Maker] = {
    "mi": _identifier,
    "mn": lambda c, a: _symbols("".join(c)),
    "mo": _operator,
    "mtext": _text,
    "ms": _text,
    "mspace": lambda c, a: " ",
    "mtable": _table,
    "mtr": lambda c, a: " & ".join(c),
    "mfenced": _fenced,
    "msqrt": lambda c, a: "\\sqrt{" + _joined(c) + "}",
    "annotation": lambda c, a: "",
    "annotation-xml": lambda c, a: "",
    "mphantom": lambda c, a: "",
    "none": lambda c, a: "",
    "mprescripts": lambda c, a: "",
}
_FIXED: Mapping[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, lambda a, b: f"\\frac{{{a}}}{{{b}}}"),
    "mroot": (2, lambda a, b: f"\\sqrt[{b}]{{{a}}}"),
    "msub": (2, lambda a, b: f"{_limits(a)}_{_group(b)}"),
    "msup": (2, lambda a, b: f"{_limits(a)}^{_group(b)}"),
    "msubsup": (3, lambda a, b, c: f"{_limits(a)}_{_group(b)}^{_group(c)}"),
    "munder": (2, _under),
    "mover": (2, _over),
    "munderover": (3, lambda a, b, c: f"{_limits(a)}_{_group(b)}^{_group(c)}"),
}
