"""The classes of `datatrove.pipeline.filters`, found by name and made with a recipe's parameters.

A recipe names a class and never an import: what is no filter in that one module is unknown. Parameters are checked
against the constructor's signature before any work. Refused are what no recipe can hold (functions, writers), and what
would make verdicts depend on the layout of the data (draws from the stream of each worker). Errors are UsageErrors at
`stage datatrove.CLASS`; InputErrors where a file, a package or the network is missing.
"""

import functools
import importlib.metadata
import inspect
import json
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from gristmill.manifests.errors import InputError, UsageError
from gristmill.stages.doc_filter import describe_error
from gristmill.stages.nearest import nearest

MODEL_PARAM = "model_url"
"""Of FastTextClassifierFilter; a recipe names the file, whose digest then decides."""

_WRITER = "exclusion_writer"
_REFUSED_CLASSES: Mapping[str, tuple[str, str]] = {
    "LambdaFilter": ("takes a function, which no recipe can hold", "write it as @doc_filter in a file of yours"),
    "SamplerFilter": (
        "draws from the stream of each worker, so that its verdicts depend on the layout of the data",
        "draw by content_hash in a @doc_filter, or by `quality: {mode: sample}`",
    ),
}
_NETWORK = ("httpx", "httpcore", "aiohttp", "requests", "urllib3", "huggingface_hub")
_DOWNLOADS_WHEN_MADE = ("UnigramLogProbFilter",)
_PACKAGES = ("datatrove", "spacy", "fasttext-numpy2-wheel", "tldextract")


def where_of(name: str) -> str:
    """Where an error about a filter stands."""
    return f"stage datatrove.{name}"


def package_versions() -> dict[str, str]:
    """Versions of the packages that decide what datatrove's filters say."""
    found: dict[str, str] = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = ""
    return found


def check(name: str, params: Mapping[str, Any]) -> None:
    """Refuse a class or parameters that cannot be; makes the filter, but for one that downloads when it is made."""
    made = _find(name)
    _check_params(name, made, params)
    if name not in _DOWNLOADS_WHEN_MADE:
        make(name, params)


def make(name: str, params: Mapping[str, Any]) -> Any:
    """The filter; one for each class and parameters in a process."""
    return _make(name, json.dumps(params, sort_keys=True))


@functools.lru_cache(maxsize=32)
def _make(name: str, params_json: str) -> Any:
    cls, params = _find(name), cast(dict[str, Any], json.loads(params_json))
    known = inspect.signature(cls).parameters
    given = {key: _converted(known[key].annotation, value) for key, value in params.items()}
    try:
        made = cls(**given)
    except ImportError as error:
        raise _not_installed(name, error) from error
    except Exception as error:  # foreign code: whatever it raises, these parameters cannot be
        stop_if_lacking(name, error)
        what = f"datatrove refuses these parameters ({type(error).__name__})"
        raise UsageError(what, where_of(name), " ".join(str(error).split())) from error
    _make_repeatable(made)
    return made


def stop_if_lacking(name: str, error: BaseException) -> None:
    """Raise InputError where an error says nothing of a record, but that the filter lacks what it needs here."""
    origin = type(error).__module__.partition(".")[0]
    if isinstance(error, OSError | ImportError) or origin in _NETWORK:
        what = "the filter lacks a file, a package or the network"
        remedy = "make it work in datatrove on this machine first (docs/adapters.md)"
        raise InputError(what, where_of(name), describe_error(error), remedy) from error


def _make_repeatable(made: Any) -> None:
    """The list of public suffixes that tldextract brings, in place of the one of the day from the network."""
    if hasattr(made, "tldextractor"):
        from tldextract import TLDExtract

        made.tldextractor = TLDExtract(cache_dir=None, suffix_list_urls=())


def _find(name: str) -> Any:
    known = _filters()
    if name in _REFUSED_CLASSES:
        what, remedy = _REFUSED_CLASSES[name]
        raise UsageError(what, where_of(name), name, remedy)
    if name not in known:
        usable = sorted(set(known) - set(_REFUSED_CLASSES))
        remedy = nearest(name, usable, f"it has {', '.join(usable)}")
        raise UsageError("no such filter in datatrove", "stage datatrove", name, remedy)
    return known[name]


def _filters() -> dict[str, Any]:
    try:
        from datatrove.pipeline import filters
        from datatrove.pipeline.filters.base_filter import BaseFilter
    except ImportError as error:
        raise _not_installed("", error) from error
    named = vars(filters).items()
    return {n: v for n, v in named if inspect.isclass(v) and issubclass(v, BaseFilter) and v is not BaseFilter}


def _not_installed(name: str, error: ImportError) -> UsageError:
    where = where_of(name) if name else "stage datatrove"
    said = " ".join(str(error).split())
    return UsageError(
        "datatrove, or what it needs, is not installed", where, said, "pip install 'gristmill[datatrove]'"
    )


def _check_params(name: str, cls: Any, params: Mapping[str, Any]) -> None:
    known = inspect.signature(cls).parameters
    where = where_of(name)
    usable = [key for key in known if key != _WRITER]
    for key, value in params.items():
        if key == _WRITER:
            raise UsageError(f"{key}: a recipe has none", where, value, "dropped records stand in the ledger")
        if key not in known:
            raise UsageError(f"unknown parameter {key!r}", where, key, nearest(key, usable, _takes(usable)))
        if not _fits(known[key].annotation, value) and value != known[key].default:
            raise UsageError(f"{key}: wrong type", where, json.dumps(value), f"it takes {_shown(known[key])}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in params:
            raise UsageError(f"missing parameter {key!r}", where, remedy=f"it takes {_shown(parameter)}")
    if params.get("keep_fraction"):
        what = "keep_fraction draws from the stream of each worker, so that verdicts depend on the layout of the data"
        raise UsageError(what, where, params["keep_fraction"], "use `c4: {bad_words: [...], keep_fraction: ...}`")


def _takes(usable: list[str]) -> str:
    return f"it takes {', '.join(usable) or 'none'}"


def _shown(parameter: inspect.Parameter) -> str:
    return str(parameter).partition(": ")[2] or str(parameter)


def _fits(annotation: Any, value: object) -> bool:
    """Whether plain data can be what a parameter is annotated with; a number is a number, whole or not."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is inspect.Parameter.empty or annotation is Any or isinstance(annotation, str):
        return True
    if origin in (Union, UnionType):
        return any(_fits(kind, value) for kind in inner)
    if origin is Literal:
        return value in inner
    if annotation in (int, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if annotation in (None, NoneType):
        return value is None
    if annotation in (str, bool):
        return isinstance(value, annotation)
    if origin is dict or annotation is dict:
        return isinstance(value, Mapping)
    return _is_sequence(annotation) and isinstance(value, list) and _items_fit(origin, inner, cast(list[object], value))


def _items_fit(origin: Any, inner: tuple[Any, ...], values: list[object]) -> bool:
    kinds = [kind for kind in inner if kind is not Ellipsis]
    if origin is tuple and len(kinds) > 1 and len(inner) == len(kinds):
        return len(values) == len(kinds) and all(map(_fits, kinds, values))
    # datatrove writes tuple[tuple[int, float]] for any number of pairs.
    return not kinds or all(_fits(kinds[0], value) for value in values)


def _is_sequence(annotation: Any) -> bool:
    found = get_origin(annotation) or annotation
    return (inspect.isclass(found) and issubclass(list, found)) or found in (tuple, set, frozenset)


def _converted(annotation: Any, value: object) -> object:
    """YAML's lists as the tuples that `str.endswith` and the like insist on."""
    if not isinstance(value, list):
        return value
    values = cast(list[object], value)
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kind = next((k for k in kinds if _is_sequence(k) and _fits(k, values)), None)
    inner = [k for k in get_args(kind) if k is not Ellipsis]
    pair = get_origin(kind) is tuple and len(inner) == len(values)
    items = [_converted(inner[i] if pair else inner[0], item) if inner else item for i, item in enumerate(values)]
    return tuple(items) if (get_origin(kind) or kind) is tuple else items
