"""The shape of the source: imports point one way, sizes stay small, each module says what it is.

Each rule is a function from a parsed module to a list of faults, so that the rules themselves are tested on
snippets that break them.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from tests.checkout import tracked_files

# A folder may import itself and those to its right.
ORDER = ("pipeline", "synth", "render", "stages", "manifests")
# What an engine may know of stages: their shapes, never a member.
STAGES_SEEN_BY_ENGINES = ("gristmill.stages.protocol",)
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50
MAX_PARAMETERS = 8
BANNED_MODULE_NAMES = frozenset({"utils", "util"})
SOURCE_SUFFIXES = frozenset(
    {"", ".cfg", ".css", ".html", ".in", ".js", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"}
)
# Split, so that this file does not hold them. A chat role is a quoted word of a protocol, not prose.
BANNED_WORDS = re.compile(
    "|".join(["/wor" + "k/", "pypi" + r"\.org", "python" + "hosted", r"(?<![\"'`])assist" + "ant", "clau" + "de"]),
    re.IGNORECASE,
)
SWALLOWERS = frozenset({"Exception", "BaseException"})


@dataclass(frozen=True)
class Module:
    """A source file: `path` relative to the repository, its text and its tree."""

    path: PurePosixPath
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=str(self.path))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Dotted names that the module imports, lazily or not; a relative import comes with its leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            yield from (f"{prefix}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "import_module":
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def import_faults(module: Module) -> list[str]:
    """Relative imports, imports by the bare folder name, and imports against ORDER."""
    faults: list[str] = []
    own = ORDER.index(module.path.parts[0])
    for name in imported_names(module.tree):
        first, _, rest = name.partition(".")
        if first in ("", "tests", *ORDER):
            faults.append(f"{name}: import it as gristmill.<folder>...")
        elif first == "gristmill":
            target = rest.partition(".")[0]
            if target not in ORDER:
                faults.append(f"{name}: no such folder")
            elif ORDER.index(target) < own:
                faults.append(f"{name}: {module.path.parts[0]} may not import {target}")
    return faults


def engine_faults(module: Module) -> list[str]:
    """An engine that imports a stage."""
    if module.path.parts[:2] != ("pipeline", "engines"):
        return []
    names = [name for name in imported_names(module.tree) if name.startswith("gristmill.stages")]
    return [f"{name}: an engine imports a stage" for name in names if not name.startswith(STAGES_SEEN_BY_ENGINES)]


def size_faults(module: Module) -> list[str]:
    """A module, a function or a list of parameters above its limit; `self` and `cls` do not count."""
    faults: list[str] = []
    lines = len(module.text.splitlines())
    if lines > MAX_MODULE_LINES:
        faults.append(f"{lines} lines, at most {MAX_MODULE_LINES}")
    for function in functions(module.tree):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > MAX_FUNCTION_LINES:
            faults.append(f"{function.name}: {lines} lines, at most {MAX_FUNCTION_LINES}")
        args = function.args
        named = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg not in ("self", "cls")]
        count = len(named) + (args.vararg is not None) + (args.kwarg is not None)
        if count > MAX_PARAMETERS:
            faults.append(f"{function.name}: {count} parameters, at most {MAX_PARAMETERS}")
    return faults


def docstring_faults(module: Module) -> list[str]:
    return [] if ast.get_docstring(module.tree) else ["no module docstring"]


def name_faults(module: Module) -> list[str]:
    return [
        f"{part}: a helper lives with the thing that it helps"
        for part in (*module.path.parts[:-1], module.path.stem)
        if part in BANNED_MODULE_NAMES
    ]


def swallow_faults(module: Module) -> list[str]:
    """Handlers that catch everything and say nothing."""
    faults: list[str] = []
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = {"BaseException"} if node.type is None else set(re.findall(r"\w+", ast.unparse(node.type)))
        if caught & SWALLOWERS and all(isinstance(line, ast.Pass | ast.Continue) for line in node.body):
            faults.append(f"line {node.lineno}: catches everything and says nothing")
    return faults


RULES = (import_faults, engine_faults, size_faults, docstring_faults, name_faults, swallow_faults)


@pytest.fixture(scope="module")
def modules(repo: Path) -> list[Module]:
    paths = [path for root in ORDER for path in sorted((repo / root).rglob("*.py"))]
    return [Module(PurePosixPath(p.relative_to(repo).as_posix()), p.read_text(encoding="utf-8")) for p in paths]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_source_keeps_the_rule(rule: Callable[[Module], list[str]], modules: list[Module]) -> None:
    assert len(modules) >= len(ORDER)
    assert [f"{module.path}: {fault}" for module in modules for fault in rule(module)] == []


def test_each_folder_with_modules_is_a_package(modules: list[Module]) -> None:
    folders = {module.path.parent for module in modules}
    packages = {module.path.parent for module in modules if module.path.name == "__init__.py"}
    assert folders == packages


def test_source_speaks_of_the_project_alone(repo: Path) -> None:
    names = [name for name in tracked_files(repo) if PurePosixPath(name).suffix in SOURCE_SUFFIXES]
    found = [
        f"{name}:{number}: {match[0]}"
        for name in names
        for number, line in enumerate((repo / name).read_bytes().splitlines(), start=1)
        for match in BANNED_WORDS.finditer(line.decode(errors="replace"))
    ]
    assert found == []


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (import_faults, "stages/a.py", "from gristmill.pipeline import x"),
        (import_faults, "stages/a.py", "def f():\n    import gristmill.pipeline.run"),
        (import_faults, "manifests/a.py", "from gristmill import stages"),
        (import_faults, "render/a.py", "import_module('gristmill.synth.plan')"),
        (import_faults, "stages/a.py", "from . import b"),
        (import_faults, "stages/a.py", "from .b import c"),
        (import_faults, "stages/a.py", "from stages.b import c"),
        (import_faults, "pipeline/a.py", "import tests.lock"),
        (engine_faults, "pipeline/engines/local.py", "from gristmill.stages.text import c4"),
        (size_faults, "stages/a.py", "x = 1\n" * (MAX_MODULE_LINES + 1)),
        (size_faults, "stages/a.py", LONG_FUNCTION),
        (size_faults, "stages/a.py", "def f(a, b, c, d, e, f, g, *, h, i): ..."),
        (docstring_faults, "stages/a.py", "x = 1"),
        (name_faults, "stages/utils.py", ""),
        (name_faults, "stages/utils/a.py", ""),
        (swallow_faults, "stages/a.py", "try: f()\nexcept Exception: pass"),
        (swallow_faults, "stages/a.py", "try: f()\nexcept: pass"),
        (
            swallow_faults,
            "stages/a.py",
            "for x in y:\n    try: f()\n    except (OSError, BaseException): continue",
        ),
    ],
)
def test_rule_notices(rule: Callable[[Module], list[str]], path: str, text: str) -> None:
    assert len(rule(Module(PurePosixPath(path), text))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (import_faults, "pipeline/a.py", "from gristmill.manifests import x\nimport gristmill.stages.y"),
        (import_faults, "stages/a.py", "import pipelines, stagesx"),
        (engine_faults, "pipeline/engines/local.py", "from gristmill.stages.protocol import Step"),
        (engine_faults, "pipeline/run.py", "from gristmill.stages import catalogue"),
        (size_faults, "stages/a.py", LONG_FUNCTION.replace("    x = 1\n", "", 1)),
        (size_faults, "stages/a.py", "class A:\n    def f(self, a, b, c, d, e, f, g, h): ..."),
        (swallow_faults, "stages/a.py", "try: f()\nexcept OSError: pass"),
    ],
)
def test_rule_lets_pass(rule: Callable[[Module], list[str]], path: str, text: str) -> None:
    assert rule(Module(PurePosixPath(path), text)) == []
