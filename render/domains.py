"""Every domain of render pairs by name; its module is imported when it is asked for.

A name is that of a built-in domain, or `./my_domain.py:Class`: a file beside the recipe whose class has the methods of
`render.protocol.Domain`. It is trusted code, as a user's stage is. Nothing here starts an engine.
"""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from gristmill.manifests.canonical import key_of
from gristmill.manifests.errors import EngineMissingError, UsageError
from gristmill.render.protocol import Domain, EngineState
from gristmill.stages.nearest import nearest
from gristmill.stages.user_code import file_digest_of, load_object

BUILTIN: Mapping[str, str] = {
    "svg": "gristmill.render.svg.domain:SvgDomain",
    "web": "gristmill.render.web.domain:WebDomain",
}
USER_FILE_MARK = ".py:"

EXTRAS: Mapping[str, str] = {"svg": "svg", "web": "web"}
"""Domain -> the extra of the package that brings what it needs from a package registry."""

SUFFIXES: Mapping[str, tuple[str, ...]] = {"svg": (".svg",), "web": (".html", ".htm", ".xhtml")}
"""Ends of the names of files that hold existing code of a domain, where a folder is given; none: all files."""


def is_user_file(name: str) -> bool:
    """Whether a name is that of a class in a user's file."""
    return USER_FILE_MARK in name


def load(name: str, base_dir: Path) -> Domain:
    """The domain of this name, one object a process. Raises UsageError where there is none, or where a package that
    it stands on is not installed; InputError where a user's file cannot be read."""
    if is_user_file(name):
        path, _, attribute = name.rpartition(":")
        made, digest = load_object(base_dir / path, attribute)
        return _made(cast(type, made), digest)
    if name not in BUILTIN:
        remedy = nearest(name, BUILTIN, f"one of {', '.join(BUILTIN)}, or ./FILE.py:CLASS")
        raise UsageError("no such domain of render pairs", value=name, remedy=remedy)
    return _builtin(name)


@functools.lru_cache(maxsize=8)
def _builtin(name: str) -> Domain:
    module, _, attribute = BUILTIN[name].partition(":")
    try:
        return cast(Domain, getattr(importlib.import_module(module), attribute)())
    except ImportError as error:
        remedy = f"pip install 'gristmill[{EXTRAS[name]}]'"
        raise EngineMissingError(f"the domain {name} cannot be loaded ({error})", value=name, remedy=remedy) from error


@functools.lru_cache(maxsize=8)
def _made(made: type, digest: str) -> Domain:
    missing = [word for word in ("name", "version", "families", "to_code", "render") if not hasattr(made, word)]
    if missing or not isinstance(made, type):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(
            "not a domain of render pairs",
            value=f"{getattr(made, '__name__', made)} has no {', '.join(missing) or 'class'}",
            remedy="give it the methods of gristmill.render.protocol.Domain",
        )
    return cast(Domain, made())


def lacking(domain: Domain) -> list[EngineState]:
    """The engines of a domain that do not work here; each is tried on a probe picture."""
    return [engine for engine in domain.engines() if not engine.works]


def require_engines(domain: Domain) -> None:
    """Raise EngineMissingError, naming the first, where an engine of the domain does not work here."""
    lost = lacking(domain)
    if lost:
        more = f" (+{len(lost) - 1} more)" if len(lost) > 1 else ""
        what = f"render/{domain.name} needs {lost[0].name}, which does not work here{more}"
        raise EngineMissingError(what, value=lost[0].detail or None, remedy=lost[0].remedy)


def identity(domain: Domain) -> dict[str, object]:
    """What decides the bytes of a domain's samples: name, version, engines and fonts, the digest of a user's file."""
    found: dict[str, object] = {
        "domain": domain.name,
        "version": domain.version,
        "fingerprint": dict(sorted(domain.fingerprint().items())),
    }
    digest = file_digest_of(type(domain).__module__)
    return found | ({"file": digest} if digest else {})


def fonts_digest(fingerprint: Mapping[str, str]) -> str:
    """Of the entries of a fingerprint that tell of fonts (`font...`): 32 hex digits; "" where there are none."""
    fonts = {name: value for name, value in fingerprint.items() if name.startswith("font")}
    return key_of(fonts) if fonts else ""
