"""Stages from a user's own file: `./my_filters.py:shouting`.

The file is run once for each content, under a module name made from its digest, so that two versions never
mix and nothing installed is shadowed. Its folder is not put on the path: one file is hashed and shipped.
"""

import contextlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from blake3 import blake3

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.doc_filter import DocFilter

MODULE_PREFIX = "_gristmill_user_"
_DIGEST_ATTRIBUTE = "__gristmill_file_digest__"
_SOURCE_ATTRIBUTE = "__gristmill_file_source__"


def load_object(path: Path, name: str) -> tuple[object, str]:
    """The object `name` of the Python file `path`, and the file's digest ("blake3:<hex>").

    Raises InputError when the file cannot be read, UsageError when it fails or lacks `name`.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"stage file cannot be read ({error.strerror})",
            value=path,
            remedy="give the path relative to the recipe, as ./file.py:name",
        ) from error
    return load_from(path, source, name)


def load_from(path: Path, source: bytes, name: str) -> tuple[object, str]:
    """As `load_object`, of a file that was read before, perhaps on another machine."""
    digest = blake3(source).hexdigest()
    module = _run(path, source, digest)
    if name not in vars(module):
        known = sorted(word for word, value in vars(module).items() if _defined_in(module, value))
        remedy = f"it has {', '.join(known) or 'none'}"
        raise UsageError("no such stage in the file", where=str(path), value=name, remedy=remedy)
    return vars(module)[name], f"blake3:{digest}"


def file_digest_of(module_name: str) -> str | None:
    """Digest of the user file that a module came from; None for a module of another kind."""
    return getattr(sys.modules.get(module_name), _DIGEST_ATTRIBUTE, None)


def source_of(module_name: str) -> tuple[str, bytes] | None:
    """Path and bytes of the user file that a module came from; None for a module of another kind."""
    module = sys.modules.get(module_name)
    source = getattr(module, _SOURCE_ATTRIBUTE, None)
    return None if module is None or source is None else (str(module.__file__), source)


def name_in_file(module_name: str, stage: object) -> str:
    """Under which name the file of a stage holds it, or its class."""
    for name, value in vars(sys.modules[module_name]).items():
        if value is type(stage) or (isinstance(value, DocFilter) and _is_made_of(stage, value)):
            return name
    raise UsageError("its file does not hold it by a name", f"stage {getattr(stage, 'name', '')}")


def _is_made_of(stage: object, filter_: DocFilter) -> bool:
    return isinstance(stage, DocFilter) and stage.function is filter_.function


def _defined_in(module: ModuleType, value: object) -> bool:
    return isinstance(value, DocFilter) or (isinstance(value, type) and value.__module__ == module.__name__)


def _run(path: Path, source: bytes, digest: str) -> ModuleType:
    name = f"{MODULE_PREFIX}{path.stem}_{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    setattr(module, _DIGEST_ATTRIBUTE, f"blake3:{digest}")
    setattr(module, _SOURCE_ATTRIBUTE, source)
    sys.modules[name] = module
    try:
        # The bytes that were hashed are the bytes that run. What they print is no result of ours.
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(source, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(
            f"stage file fails when it is run ({type(error).__name__})", where=str(path), value=error
        ) from error
    return module
