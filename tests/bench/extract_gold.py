"""Source texts to the plain text that their pages show: the gold of the extraction bench.

One function a source format (reStructuredText, Markdown, AsciiDoc, Info, man), each `source -> text`. Marks go, words
stay; what a generator writes by itself ("New in version") is written where the source says so. Whitespace is free:
only words are compared (`words`, `f1`).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping

_WORD = re.compile(r"\w+")


def words(text: str) -> Counter[str]:
    """How often each word (a run of letters, digits, underscores, lower case) stands in a text."""
    return Counter(_WORD.findall(text.lower()))


def f1(found: str, gold: str) -> float:
    """Word-level F1 over multisets of words, in [0, 1]; two empty texts agree."""
    a, b = words(found), words(gold)
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SILENT = _words(
    "toctree index module currentmodule contents highlight only sectionauthor moduleauthor include codeauthor image "
    "figure raw tabularcolumns literalinclude testsetup testcleanup default-domain meta py:module py:currentmodule "
    "automodule autoclass autofunction automethod autodata autoexception include sectnum"
)
_WRITTEN = {
    "seealso": "See also",
    "note": "Note",
    "warning": "Warning",
    "tip": "Tip",
    "important": "Important",
    "caution": "Caution",
    "danger": "Danger",
    "hint": "Hint",
    "attention": "Attention",
    "impl-detail": "CPython implementation detail:",
    "availability": "Availability:",
    "todo": "Todo",
}
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_OBJECTS = {"class": "class", "exception": "exception", "type": "type", "struct": "struct", "macro": ""}
_CODE = _words("code-block code sourcecode highlight testcode doctest parsed-literal productionlist prompt")
_DIRECTIVE = re.compile(r"^(\s*)\.\.\s+([A-Za-z][\w:+-]*?)::(?:\s+(.*))?$")
_RST_UNDERLINE = re.compile(r"^\s*([=\-`:'\"~^_*+#<>.])\1{2,}\s*$")
_RST_TABLE = re.compile(r"^\s*(?:[=\-]+\s+)+[=\-]+\s*$|^\s*\+[-=+]+\+\s*$")
_RST_INLINE: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r":pep:`(\d+)`"), r"PEP \1"),
    (re.compile(r":rfc:`(\d+)`"), r"RFC \1"),
    (re.compile(r":(?:issue|bpo):`(\d+)`"), r"bpo-\1"),
    (re.compile(r":[\w:+.-]+:`!?~[^`<]*?([\w()]+)`"), r"\1"),
    (re.compile(r":[\w:+.-]+:`([^`<]*?)\s*<[^`>]*>`"), r"\1"),
    (re.compile(r":[\w:+.-]+:`!?([^`]*)`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?"), r"\1"),
    (re.compile(r"``([^`]+)``"), r"\1"),
    (re.compile(r"`([^`]+)`_{0,2}"), r"\1"),
    (re.compile(r"\[#?([\w-]+)\]_"), r"\1"),
    (re.compile(r"\|[A-Za-z]\w*\|"), ""),
    (re.compile(r"(?<![\w-])([A-Za-z][A-Za-z0-9-]*)__?(?=[\s.,;:)]|$)"), r"\1"),
    (re.compile(r"\\(.)"), r"\1"),
)


def rst(source: str) -> str:
    """reStructuredText with Sphinx's directives and roles."""
    out: list[str] = []
    hidden_indent: int | None = None
    code_indent: int | None = None
    options = False
    for line in source.expandtabs().splitlines():
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            options = False
            continue
        if hidden_indent is not None:
            if indent > hidden_indent:
                continue
            hidden_indent = None
        if code_indent is not None:
            if indent > code_indent:
                if not (options and re.match(r"\s*:[\w-]+:", line)):
                    out.append(line)
                continue
            code_indent = None
        if options and re.match(r"\s*:[\w-]+:", line):
            continue
        found = _DIRECTIVE.match(line)
        if found:
            name, argument = found[2].rpartition(":")[2].lower(), found[3] or ""
            options = True
            if name in _SILENT or found[2] in _SILENT or name == "replace":
                hidden_indent = indent
            elif name in _CODE:
                code_indent = indent
            else:
                out.append(_directive(name, argument))
        elif re.match(r"\s*\.\.\s+\[", line):
            out.append(_rst_inline(re.sub(r"\.\.\s+\[#?([^\]]*)\]", r"\1", line)))
        elif re.match(r"\s*(\.\.(\s|$)|__\s)", line):
            hidden_indent = indent
        elif not (_RST_UNDERLINE.match(line) or _RST_TABLE.match(line)):
            if line.rstrip().endswith("::"):
                code_indent = indent
            out.append(_rst_inline(re.sub(r"^(\s*):(?:param|type)?\s*([^:`]*):(?=\s|$)", r"\1\2", line)))
    return "\n".join(out)


def _directive(name: str, argument: str) -> str:
    if name in _VERSIONS:
        version, _, rest = argument.partition(" ")
        return f"{_VERSIONS[name]} {version}: {_rst_inline(rest)}"
    if name == "deprecated-removed":
        since, until, *rest = [*argument.split(maxsplit=2), "", ""]
        return f"Deprecated since version {since}, will be removed in version {until}: {_rst_inline(' '.join(rest))}"
    if name in _WRITTEN:
        return f"{_WRITTEN[name]} {_rst_inline(argument)}"
    return f"{_OBJECTS.get(name, '')} {_rst_inline(argument)}"


def _rst_inline(line: str) -> str:
    for pattern, by in _RST_INLINE:
        line = pattern.sub(by, line)
    return line


def markdown(source: str) -> str:
    """Markdown with fences, tables, attribute lists and HTML comments; a page's metadata goes."""
    source = re.sub(r"\A---\n.*?\n---\n", "", source, flags=re.S)
    source = re.sub(r"\A(?:\w[\w-]*:.*\n)+\n", "", source)
    source = re.sub(r"<!--.*?-->", "", source, flags=re.S)
    out: list[str] = []
    fence = ""
    for line in source.splitlines():
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif fence or (line.startswith("    ") and not re.match(r"\s*</?[a-z]+[ >]", line)):
            out.append(line)
        else:
            out.append(_markdown_line(line))
    return "\n".join(out)


def _markdown_line(line: str) -> str:
    if re.match(r"\s*\[[^\]]+\]:\s", line) or re.match(r"\s*[|:\s-]+$", line) or re.match(r"\s*\[TOC\]", line):
        return ""
    line = re.sub(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])", "", line)
    line = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", line)
    line = re.sub(r"\{[:#.][^}]*\}", "", line)
    tag = r"</?[a-z][^>`]*>" if re.match(r"\s*<", line) else r"(?<!`)</?[a-z][^>`]*>(?!`)"
    line = re.sub(tag, "", line)
    return re.sub(r"(?<!\w)_([^_]+)_(?!\w)", r"\1", re.sub(r"\\([\\`*_{}\[\]()#+.!<>-])", r"\1", line))


def asciidoc(source: str, included: Mapping[str, str], defined: str) -> str:
    """AsciiDoc as git's manual writes it; `included` are the files that `include::` may name.

    `defined` is the one attribute that its conditions find set: the page's name. Raises KeyError for a file that is
    not there.
    """
    out: list[str] = []
    hidden: list[bool] = []
    for line in _expanded(source, included, 3):
        condition = re.match(r"(ifn?def|endif)::([\w.,+-]*)\[\s*\]", line)
        if condition:
            if condition[1] == "endif":
                del hidden[-1:]
            else:
                hidden.append((defined in re.split(r"[,+]", condition[2])) == (condition[1] == "ifndef"))
        if any(hidden):
            continue
        if re.match(r"(-{2,}|={2,}|\.{4,}|_{4,}|~{3,}|\+{3,}|\^{3,}|\*{4,}|\|=+|\+)\s*$", line):
            continue
        if re.match(r"(\[[^\]]*\]\s*$|:[\w!-]+:|//|(ifdef|ifndef|endif|ifeval|include)::)", line):
            continue
        out.append(_asciidoc_line(line))
    return "\n".join(out)


def _asciidoc_line(line: str) -> str:
    line = re.sub(r"linkgit:([\w.-]+)\[(\d)\]", r"\1 \2", line)
    line = re.sub(r"(?:link:)?(?:https?|ftp|mailto):?[^\s\[\]]*\[([^\]]+)\]", r"\1", line)
    line = re.sub(r"link:[^\s\[\]]*\[([^\]]*)\]", r"\1", line)
    line = re.sub(r"<<[^,>]*,([^>]*)>>|<<([^>]*)>>", r"\1\2", line)
    line = re.sub(r"\[\[[^\]]*\]\]|\{[\w-]+\}", lambda m: _ASCIIDOC_NAMES.get(m[0], " "), line)
    return re.sub(r"(?<!\w)_([^_\s][^_]*)_(?!\w)", r"\1", line)


_ASCIIDOC_NAMES = {"{tilde}": "~", "{caret}": "^", "{startsb}": "[", "{endsb}": "]", "{asterisk}": "*"}


def _expanded(source: str, included: Mapping[str, str], depth: int) -> list[str]:
    out: list[str] = []
    for line in source.splitlines():
        name = re.match(r"include::([\w./-]+)\[", line)
        if name and depth:
            out.extend(_expanded(included[name[1]], included, depth - 1))
        else:
            out.append(line)
    return out


def info_nodes(source: str) -> dict[str, str]:
    """Node name -> text of an Info file (its parts joined), menus and marks of references gone."""
    nodes: dict[str, str] = {}
    for part in source.split("\x1f")[1:]:
        head, _, body = part.lstrip("\n").partition("\n")
        name = re.search(r"Node: ([^,\t]+)", head)
        if name and head.startswith("File:"):
            nodes[name[1]] = _info_text(body)
    return nodes


def _info_text(body: str) -> str:
    body = re.sub(r"\* Menu:\n.*\Z", "", body, flags=re.S)
    body = re.sub(r"\*[Nn]ote ([^:]+)::", r"\1", body)
    body = re.sub(r"\*[Nn]ote ([^:]+):\s+\([^)]*\)[^.,]*", r"\1", body)
    body = re.sub(r"\*[Nn]ote ([^:]+):\s+[^.,]*", r"\1", body)
    return re.sub(r"^[*=\-.]{3,}$", "", body, flags=re.M)


_MAN_NAMES = {
    "(aq": "'",
    "(co": "©",
    "(bu": "",
    "(lq": '"',
    "(rq": '"',
    "(em": "-",
    "(en": "-",
    "e": "\\",
    "-": "-",
    "&": "",
}


def man(source: str) -> str:
    """A manual page in the macros of `man`, as DocBook's stylesheets write it."""
    out: list[str] = []
    for line in source.splitlines():
        if line.startswith(('.\\"', "'\\\"", ".TH ", ".ie", ".el", ".if", ".de", ".ds", ".ad", ".nh")):
            continue
        found = re.match(r"[.'](\S+)\s*(.*)", line)
        if found:
            if found[1] not in ("SH", "SS", "TP", "B", "I", "IP", "BR", "IR", "PP") or found[1] in ("TP", "PP"):
                continue
            out.append("" if found[1] == "IP" else _man_line(found[2].replace('"', "")))
        else:
            out.append(_man_line(line))
    return "\n".join(out)


def _man_line(line: str) -> str:
    line = re.sub(r"\\f(?:\(..|\[[^\]]*\]|.)|\\s[-+]?\d+|\\m\[[^\]]*\]", "", line)
    return re.sub(r"\\(\(..|\[[^\]]*\]|.)", lambda m: _MAN_NAMES.get(m[1], ""), line)
