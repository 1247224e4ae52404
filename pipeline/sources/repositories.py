"""In which order the files of a repository are read: what is depended on comes before what depends on it.

First READMEs, then licences, then the files that configure the repository, all of its top folder. Then the others in
the order of their paths, but each directly behind those that it needs and that have not come yet; in a cycle the file
that is reached first needs the others. Seen are imports of Python modules, C and C++ `#include`, and relative imports
of JavaScript and TypeScript; of several files that an import may mean it is the nearest. A pure function of paths
and contents; content is hostile, so the work for one file is bounded: MAX_SCANNED_BYTES and MAX_IMPORTS.
"""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

MAX_SCANNED_BYTES = 1 << 20
MAX_IMPORTS = 4096
MAX_NAME_CHARS = 256

_README = re.compile(r"readme\b.*", re.IGNORECASE)
_LICENCE = re.compile(r"(licen[cs]es?|copying|copyright|notice)\b.*", re.IGNORECASE)
_CONFIG = frozenset(
    (
        *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "package.json", "tsconfig.json"),
        *("cargo.toml", "go.mod", "cmakelists.txt", "makefile", "gnumakefile", "meson.build", "configure.ac"),
        *("configure.in", "build.gradle", "build.gradle.kts", "pom.xml", "composer.json", "gemfile", "rakefile"),
        *("mix.exs", "dockerfile", "workspace", "module.bazel", "build.bazel"),
    )
)
_LAST = 3
_PYTHON = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]{0,4096}|[^\n#;]*)|import[ \t]+([^\n#;]*))", re.MULTILINE
)
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|import)[ \t]*[\"<]([^\">\n]+)[\">]", re.MULTILINE)
_SCRIPT = re.compile(rb"\b(?:from|import|require)[ \t]*(?:\([ \t]*)?[\"'](\.{1,2}/[^\"'\n]*)[\"']")
_PYTHON_ENDS = (".py", ".pyi", ".pyx")
_C_ENDS = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".cu", ".cuh", ".m", ".mm", ".inl", ".ipp")
_SCRIPT_ENDS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_SCRIPT_TRIES = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.tsx", "/index.js")
_COMPILED_END = re.compile(r"\.[cm]?jsx?$")
# Longer names of headers and modules are told apart by their last parts alone.
_INDEXED_PARTS = 4

Parts = tuple[str, ...]
Index = dict[Parts, list[Parts]]


def dependency_order(files: Mapping[str, bytes]) -> list[str]:
    """The paths of `files` (path with `/` -> text) in reading order."""
    paths = sorted(files, key=lambda path: (_rank(path), path))
    rest = [path for path in paths if _rank(path) == _LAST]
    modules, headers = _modules(rest), _headers(rest)
    inner = frozenset(rest)
    needs: dict[str, list[str]] = {}
    for path in rest:
        end = posixpath.splitext(path)[1].lower()
        head = files[path][:MAX_SCANNED_BYTES]
        wanted: Iterable[str] = ()
        if end in _PYTHON_ENDS:
            wanted = _python_needs(path, head, modules)
        elif end in _C_ENDS:
            wanted = _include_needs(path, head, headers, inner)
        elif end in _SCRIPT_ENDS:
            wanted = _script_needs(path, head, inner)
        needs[path] = sorted(set(wanted))
    return paths[: len(paths) - len(rest)] + list(_needed_first(rest, needs))


def _rank(path: str) -> int:
    if "/" in path:
        return _LAST
    if _README.fullmatch(path):
        return 0
    return 1 if _LICENCE.fullmatch(path) else 2 if path.lower() in _CONFIG else _LAST


def _needed_first(paths: Iterable[str], needs: Mapping[str, list[str]]) -> Iterator[str]:
    """`paths`, each behind those that it needs. A walk in depth, whose stack is no deeper than there are paths."""
    seen: set[str] = set()
    for start in paths:
        stack = [] if start in seen else [(start, iter(needs[start]))]
        seen.add(start)
        while stack:
            path, wanted = stack[-1]
            new = next((one for one in wanted if one not in seen), None)
            if new is None:
                yield path
                stack.pop()
            else:
                seen.add(new)
                stack.append((new, iter(needs[new])))


def _matches(pattern: re.Pattern[bytes], text: bytes) -> Iterator[tuple[str, ...]]:
    """The groups of each match, "" for one that is absent."""
    for _, match in zip(range(MAX_IMPORTS), pattern.finditer(text), strict=False):
        yield tuple((group or b"").decode("utf-8", "replace") for group in match.groups())


def _nearest(candidates: list[Parts], folder: Parts) -> Parts:
    """Of sorted paths the first that has the most leading folders in common with `folder`."""
    at = bisect_left(candidates, folder)
    common = max(_common(one, folder) for one in candidates[max(at - 1, 0) : at + 1])
    return candidates[bisect_left(candidates, folder[:common])]


def _common(a: Parts, b: Parts) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _add(index: Index, name: Parts, path: Parts) -> None:
    paths = index.setdefault(name, [])
    if path not in paths[-1:]:
        paths.append(path)


def _modules(paths: Iterable[str]) -> Index:
    """Python files by module name: counted from the folder above their outermost package, and each longer one."""
    files = sorted(tuple(path.split("/")) for path in paths if path.lower().endswith(_PYTHON_ENDS))
    packages = {parts[:-1] for parts in files if parts[-1] == "__init__.py"}
    index: Index = {}
    for parts in files:
        start = len(parts) - 1
        while start and parts[:start] in packages:
            start -= 1
        stem = posixpath.splitext(parts[-1])[0]
        name = parts[:-1] if stem == "__init__" else (*parts[:-1], stem)
        for first in range(min(start, len(name) - 1), -1, -1):
            _add(index, name[first:][-_INDEXED_PARTS:], parts)
    return index


def _python_needs(path: str, text: bytes, modules: Index) -> Iterator[str]:
    folder = tuple(path.split("/"))[:-1]
    for origin, names, plain in _matches(_PYTHON, text):
        listed = re.sub(r"#[^\n]*", "", names or plain).strip("() \t\r\n")
        first_words = [words[0] for words in map(str.split, listed.split(",")[:MAX_IMPORTS]) if words]
        base = _absolute(folder, origin)
        for word in first_words:
            found = _module((*base, *word.split(".")) if len(word) <= MAX_NAME_CHARS else base, folder, modules)
            if found:
                yield "/".join(found)


def _absolute(folder: Parts, origin: str) -> Parts:
    """The module that `from origin import` names in a file of `folder`; from the top for a relative one."""
    dots = len(origin) - len(origin.lstrip("."))
    names = tuple(origin[dots:].split(".")) if origin[dots:] and len(origin) <= MAX_NAME_CHARS else ()
    return (*folder[: max(len(folder) - dots + 1, 0)], *names) if dots else names


def _module(name: Parts, folder: Parts, modules: Index) -> Parts | None:
    """The file of a module, or of the package around it if the last part names something in a module."""
    for end in range(len(name), max(len(name) - 2, 0), -1):
        if candidates := modules.get(name[:end][-_INDEXED_PARTS:]):
            return _nearest(candidates, folder)
    return None


def _headers(paths: Iterable[str]) -> Index:
    """C files by each ending of their path."""
    index: Index = {}
    for parts in sorted(tuple(path.split("/")) for path in paths if path.lower().endswith(_C_ENDS)):
        for count in range(1, min(len(parts), _INDEXED_PARTS) + 1):
            _add(index, parts[-count:], parts)
    return index


def _include_needs(path: str, text: bytes, headers: Index, paths: frozenset[str]) -> Iterator[str]:
    folder = posixpath.dirname(path)
    for (name,) in _matches(_INCLUDE, text):
        beside = posixpath.normpath(posixpath.join(folder, name[:MAX_NAME_CHARS]))
        parts = tuple(part for part in name[:MAX_NAME_CHARS].split("/") if part not in ("", ".", ".."))
        if beside in paths:
            yield beside
        elif candidates := headers.get(parts[-_INDEXED_PARTS:]):
            yield "/".join(_nearest(candidates, tuple(folder.split("/"))))


def _script_needs(path: str, text: bytes, paths: frozenset[str]) -> Iterator[str]:
    folder = posixpath.dirname(path)
    for (name,) in _matches(_SCRIPT, text):
        stem = posixpath.normpath(posixpath.join(folder, name[:MAX_NAME_CHARS]))
        tries = [stem + end for end in _SCRIPT_TRIES]
        # TypeScript names a module by the file that it will be compiled to.
        tries += [_COMPILED_END.sub(end, stem) for end in (".ts", ".tsx")]
        yield from [one for one in tries if one in paths][:1]
