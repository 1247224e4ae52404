"""Every stage by name: the built-in ones, plug-ins (entry points `gristmill.stages`), and users' files.

A stage is a frozen dataclass; what a recipe gives is checked against the types of its fields. `load` makes
one; `canonical_params` and `stage_fingerprint` say, as plain JSON data, what decides its output. Nothing is
imported before it is asked for.
"""

import functools
import importlib
import inspect
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from blake3 import blake3

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.vocabulary import BYTES_NAME, PACKAGED, find_vocabulary
from gristmill.stages import protocol as shapes
from gristmill.stages.doc_filter import DocFilter
from gristmill.stages.nearest import nearest
from gristmill.stages.protocol import Expander, Filter, MadeByOthers, Mapper, Spelled, Stage
from gristmill.stages.user_code import file_digest_of, load_object

ENTRY_POINT_GROUP = "gristmill.stages"
USER_FILE_MARK = ".py:"

BUILTIN: Mapping[str, str] = {
    "extract_html": "gristmill.stages.text.extract_html:ExtractHtml",
    "encoding_repair": "gristmill.stages.text.encoding_repair:EncodingRepair",
    "language": "gristmill.stages.text.language:Language",
    "gopher_quality": "gristmill.stages.text.gopher_quality:GopherQuality",
    "gopher_repetition": "gristmill.stages.text.gopher_repetition:GopherRepetition",
    "c4": "gristmill.stages.text.c4:C4",
    "fineweb": "gristmill.stages.text.fineweb:FineWeb",
    "refinedweb_lines": "gristmill.stages.text.refinedweb_lines:RefinedWebLines",
    "boilerplate": "gristmill.stages.text.boilerplate:Boilerplate",
    "url_lists": "gristmill.stages.text.url_lists:UrlLists",
    "math_rules": "gristmill.stages.text.math_rules:MathRules",
    "knowledge_rules": "gristmill.stages.text.knowledge_rules:KnowledgeRules",
    "code_rules": "gristmill.stages.text.code_rules:CodeRules",
    "secrets": "gristmill.stages.text.secrets:Secrets",
    "pii": "gristmill.stages.text.pii:Pii",
    "quality": "gristmill.stages.quality.stage:Quality",
    "substring_dedup": "gristmill.stages.dedup.substring:SubstringDedup",
    "repeated_sections": "gristmill.stages.dedup.repeated_sections:RepeatedSections",
    "exact_dedup": "gristmill.stages.dedup.exact:ExactDedup",
    "repo_dedup": "gristmill.stages.dedup.repos:RepoDedup",
    "semantic_dedup": "gristmill.stages.dedup.semantic:SemanticDedup",
    "line_dedup": "gristmill.stages.dedup.lines:LineDedup",
    "minhash_dedup": "gristmill.stages.dedup.minhash:MinhashDedup",
    "decontaminate": "gristmill.stages.dedup.decontaminate:Decontaminate",
    "picture_dedup": "gristmill.stages.dedup.pictures:PictureDedup",
    "render_forms": "gristmill.stages.vision.render_forms:RenderForms",
    "render_split": "gristmill.stages.vision.render_split:RenderSplit",
    "datatrove": "gristmill.stages.datatrove.stage:DatatroveFilter",
}

CORPUS_WIDE: Mapping[str, Any] = {
    "exchange": shapes.Exchange,
    "rounds": shapes.Rounds,
    "similar": shapes.Similar,
    "census": shapes.Census,
}
"""Shapes of stages that look at whole datasets."""


def load(name: str, params: Mapping[str, object], base_dir: Path) -> Stage:
    """The stage that a recipe's step names, with its parameters.

    `./file.py:name` is relative to `base_dir`. Raises UsageError on an unknown stage or parameter or a wrong
    type, InputError when a user's file cannot be read.
    """
    made = _find(name, base_dir)
    if isinstance(made, DocFilter):
        return cast(Stage, made.with_limits(params))
    if not isinstance(made, type) or not is_dataclass(made):
        remedy = "a stage is made by @doc_filter, or is a frozen dataclass with name and version"
        raise UsageError("not a stage", where=f"stage {name}", value=type(made).__name__, remedy=remedy)
    stage = made(**_checked(name, made, _spelled(made, params), base_dir))
    if not hasattr(stage, "version"):
        remedy = "give it the methods of a shape in gristmill.stages.protocol"
        raise UsageError("not a stage", where=f"stage {name}", value=made.__name__, remedy=remedy)
    return cast(Stage, stage)


def names() -> list[str]:
    """Names of the built-in stages and of plug-ins, sorted."""
    return sorted({*BUILTIN, *plugins()})


def list_stages() -> list[dict[str, Any]]:
    """Each stage of `names()` as data: name, kind, shape, doc, params, rules, reasons, version, module."""
    return [describe(name) for name in names()]


def describe(name: str, base_dir: Path = Path()) -> dict[str, Any]:
    """A stage with its default parameters as data; `doc` is the first line of its docstring.

    One that cannot be made without parameters comes without rules and reasons.
    """
    made = _find(name, base_dir)
    needs = not isinstance(made, DocFilter) and any(map(_is_required, fields(cast(Any, made))))
    stage = cast(Any, made) if needs else load(name, {}, base_dir)
    doc = made.doc if isinstance(made, DocFilter) else (inspect.getdoc(made) or "").partition("\n")[0]
    own = made.function if isinstance(made, DocFilter) else cast(Any, made)
    return {
        "name": name,
        "kind": kind_of(stage),
        "shape": shape_of(stage),
        "doc": doc,
        "params": _limit_docs(made) if isinstance(made, DocFilter) else _param_docs(cast(type, made)),
        "rules": [] if needs else [_plain(vars(rule)) for rule in getattr(stage, "rules", tuple)()],
        "reasons": [] if needs else [_plain(vars(reason)) for reason in getattr(stage, "reasons", tuple)()],
        "version": stage.version,
        "module": own.__module__,
    }


def kind_of(stage: object) -> str:
    """filter, mapper, expander, exchange (of any shape that looks at whole datasets) or plan."""
    shape = shape_of(stage)
    return "exchange" if shape in CORPUS_WIDE else shape


def shape_of(stage: object) -> str:
    """exchange, rounds, similar, census, filter, mapper, expander or plan; what has rules is a filter in any case."""
    corpus_wide = next((name for name, shape in CORPUS_WIDE.items() if isinstance(stage, shape)), None)
    if corpus_wide is not None:
        return corpus_wide
    if isinstance(stage, Filter):
        return "filter"
    if isinstance(stage, Mapper):
        return "mapper"
    return "expander" if isinstance(stage, Expander) else "plan"


def canonical_params(stage: object) -> dict[str, Any]:
    """Every parameter of a stage, defaults too, as plain JSON data."""
    if isinstance(stage, DocFilter):
        return {"drop_above": dict(stage.drop_above), "drop_below": dict(stage.drop_below)}
    if not is_dataclass(stage) or isinstance(stage, type):
        raise TypeError(f"not a stage: {stage!r}")
    return {field.name: _canonical(field, getattr(stage, field.name), stage) for field in fields(stage)}


def file_params(stage: object) -> list[str]:
    """Names of the parameters that name files."""
    if isinstance(stage, DocFilter) or not is_dataclass(stage) or isinstance(stage, type):
        return []
    return [field.name for field in fields(stage) if field.metadata.get("file")]


def stage_fingerprint(stage: Any) -> dict[str, Any]:
    """What decides a stage's output: name, version, parameters, the digest of a user's file, versions of packages."""
    found: dict[str, Any] = {
        "stage": stage.name,
        "version": stage.version,
        "params": canonical_params(stage),
    }
    if isinstance(stage, MadeByOthers):
        found["packages"] = dict(stage.package_versions())
    module = stage.function.__module__ if isinstance(stage, DocFilter) else type(stage).__module__
    digest = file_digest_of(module)
    return found | {"file": digest} if digest else found


def with_tokenizer(name: str, params: Mapping[str, object], base_dir: Path, tokenizer: str) -> dict[str, object]:
    """The parameters of a step, with the recipe's tokenizer where the stage takes one and the step names none."""
    made = _find(name, base_dir)
    if isinstance(made, DocFilter) or not isinstance(made, type) or not is_dataclass(made):
        return dict(params)
    takes = [field.name for field in fields(made) if field.metadata.get("tokenizer")]
    return {**{key: tokenizer for key in takes}, **params}


def prepare(stages: Iterable[object]) -> None:
    """Call the optional `prepare()` of each stage, once on the driver: fetch models, compile kernels."""
    for stage in stages:
        hook = getattr(stage, "prepare", None)
        if hook is not None:
            hook()


def sample_stages(params: Mapping[str, Mapping[str, object]] | None = None) -> dict[str, Stage]:
    """Each built-in stage with default parameters, for the laws that must hold for all.

    `params` holds what stages require, by name; a stage whose required parameters are not given is left out.
    """
    given = params or {}
    made = {name: cast(Any, _find(name, Path())) for name in BUILTIN}
    able = [n for n, m in made.items() if n in given or not any(map(_is_required, fields(m)))]
    return {name: load(name, given.get(name, {}), Path()) for name in able}


def _find(name: str, base_dir: Path) -> object:
    if USER_FILE_MARK in name:
        path, _, attribute = name.rpartition(":")
        return load_object(base_dir / path, attribute)[0]
    if name in BUILTIN:
        module, _, attribute = BUILTIN[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    found = plugins()
    if name in found:
        return found[name].load()
    raise UsageError("unknown stage", value=name, remedy=nearest(name, names(), "`gristmill stage list` lists them"))


@functools.lru_cache(maxsize=1)
def plugins() -> dict[str, EntryPoint]:
    """Stages of installed plug-ins, by name. Raises UsageError when one takes the name of a built-in stage."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    taken = sorted(set(found) & set(BUILTIN))
    if taken:
        where = f"entry point group {ENTRY_POINT_GROUP}"
        raise UsageError("a plug-in takes the name of a built-in stage", where, taken[0], "uninstall it")
    return found


def _spelled(made: object, params: Mapping[str, object]) -> Mapping[str, object]:
    return made.spelled(params) if isinstance(made, Spelled) else params


def _checked(name: str, made: type, params: Mapping[str, object], base_dir: Path) -> dict[str, object]:
    types = _types_of(made)
    known = {field.name: field for field in fields(made) if field.init}
    checked: dict[str, object] = {}
    for key, value in params.items():
        where = f"stage {name}.{key}"
        if key not in known:
            remedy = nearest(key, known, f"it takes {', '.join(known) or 'none'}")
            raise UsageError("unknown parameter", where, key, remedy)
        typed = _typed(types[key], value, where, known[key])
        checked[key] = _found(known[key], typed, base_dir, where)
    for key, field in known.items():
        if key not in checked and _is_required(field):
            raise UsageError("missing parameter", f"stage {name}.{key}", remedy=_doc(field))
    return checked


@functools.lru_cache(maxsize=64)
def _types_of(made: type) -> dict[str, Any]:
    """The types of a stage's parameters. Every task loads its stage, and they take a quarter of that."""
    return get_type_hints(made, vars(sys.modules[made.__module__]))


def _found(field: "Field[Any]", value: object, base_dir: Path, where: str) -> object:
    """The value of a parameter; what names a file or a tokenizer as the stage takes it."""
    if field.metadata.get("tokenizer") and value:
        try:
            _, path = find_vocabulary(str(value), base_dir)
        except UsageError as error:
            raise UsageError(error.what, where, error.value, error.remedy) from error
        return str(value) if value in (*PACKAGED, BYTES_NAME) else str(path and path.absolute())
    return _found_files(value, base_dir, where) if field.metadata.get("file") else value


def _found_files(value: object, base_dir: Path, where: str) -> object:
    """Absolute paths of the files that a parameter names. Raises InputError for one that is not there."""
    if isinstance(value, tuple):
        return tuple(_found_files(item, base_dir, where) for item in cast(tuple[object, ...], value))
    if value is None:
        return None
    path = (base_dir / str(value)).absolute()
    if not _is_file(path):
        raise InputError("no such file", where, str(value), f"paths are relative to {base_dir.absolute()}")
    return str(path)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def _canonical(field: "Field[Any]", value: Any, stage: object) -> Any:
    if field.metadata.get("tokenizer"):
        from gristmill.stages.dedup.tokens import fingerprint_of

        return fingerprint_of(value) if getattr(stage, "tokenizes", True) else ""
    if not field.metadata.get("file") or value is None:
        return _plain(value)
    if isinstance(value, tuple):
        return [_digest_of(path) for path in cast(tuple[str, ...], value)]
    return _digest_of(value)


def _digest_of(path: str) -> str:
    try:
        found = Path(path).stat()
        return _digest_of_version(path, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise InputError("cannot be read", path, error.strerror or "", "name a file that you may read") from error


@functools.lru_cache(maxsize=256)
def _digest_of_version(path: str, size: int, mtime_ns: int) -> str:
    return "blake3:" + blake3().update_mmap(path).hexdigest()


def _is_required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _typed(expected: Any, value: object, where: str, field: "Field[Any]") -> object:
    from pydantic import TypeAdapter, ValidationError

    try:
        found = TypeAdapter(expected).validate_python(_tuples(value), strict=True)
    except ValidationError as error:
        what = error.errors()[0]["msg"].replace("tuple", "list")  # what YAML calls it
        raise UsageError(f"wrong value ({what})", where, value, _doc(field)) from error
    if not _is_storable(found):
        remedy = "numbers are finite, whole ones have 64 bits, texts are Unicode"
        raise UsageError("cannot be stored", where, ascii(value), remedy)
    return found


def _is_storable(value: object) -> bool:
    """Whether plain data has a canonical JSON form and fits what the kernels take."""
    if isinstance(value, Mapping):
        return all(map(_is_storable, [*cast(Mapping[object, object], value), *value.values()]))
    if isinstance(value, tuple | list):
        return all(map(_is_storable, cast(tuple[object, ...], value)))
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return not any("\ud800" <= char <= "\udfff" for char in value)
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def _tuples(value: object) -> object:
    # YAML and JSON have lists where a frozen dataclass has tuples.
    if isinstance(value, list):
        return tuple(_tuples(item) for item in cast(list[object], value))
    return value


def _param_docs(made: type) -> list[dict[str, Any]]:
    types = _types_of(made)
    return [
        {
            "name": field.name,
            "type": _type_name(types[field.name]),
            "default": _plain(field.default) if field.default is not MISSING else None,
            "required": _is_required(field),
            "doc": _doc(field),
        }
        for field in fields(made)
    ]


def _limit_docs(made: DocFilter) -> list[dict[str, Any]]:
    return [
        {
            "name": rule.measure,
            "type": "float",
            "default": rule.limit,
            "required": False,
            "doc": f"drop {rule.direction} this",
        }
        for rule in made.rules()
    ]


def _type_name(expected: Any) -> str:
    """A type as a recipe's author reads it: `keep or drop`, `list of str`, `int or null`."""
    origin, inner = get_origin(expected), get_args(expected)
    if origin is Literal:
        return " or ".join(str(value) for value in inner)
    if origin in (Union, UnionType):
        return " or ".join("null" if kind is NoneType else _type_name(kind) for kind in inner)
    if origin is tuple:
        kinds = [_type_name(kind) for kind in inner if kind is not Ellipsis]
        return f"list of {kinds[0]}" if len(kinds) < len(inner) else f"[{', '.join(kinds)}]"
    if origin is not None:
        return f"mapping of {' to '.join(map(_type_name, inner))}"
    return expected.__name__ if isinstance(expected, type) else str(expected)


def _doc(field: "Field[Any]") -> str:
    return str(field.metadata.get("doc", ""))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in cast(tuple[object, ...], value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast(Mapping[object, object], value).items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a stage's parameter must be plain data, not {type(value).__name__}")
