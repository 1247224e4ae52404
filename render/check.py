"""Stage `render_check`: records of render pairs that stand already are verified again.

Columns in: `source`, `derivation`, `text`, `media`, `meta`. Nothing is changed. Records of the domains that it is given
are drawn anew and compared (`render.recheck`); which those are is told by their source or, where they were read from
files and so have another one, by `kind` in `meta.render`. All others, and forms derived from records, pass. Drop and
quarantine: the reasons of the domain and of `render.recheck`. Measures: `render_checked`, 1 for a record that was
looked at, 0 for one that passed unseen.

What a domain's engines draw depends on their versions: those enter the stage's fingerprint.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from gristmill.manifests.errors import EngineMissingError, UsageError
from gristmill.render import domains as catalogue
from gristmill.render.dataset import record_of
from gristmill.render.protocol import Domain
from gristmill.render.recheck import REASONS, Finding, reasons_of, recheck
from gristmill.render.record import source_of
from gristmill.stages.params import file_param, param
from gristmill.stages.protocol import Mapped, Reason, RowVerdict
from gristmill.stages.vision.scene import META

_READS = ("id", "source", "derivation", "text", "media", "meta")


@dataclass(frozen=True)
class RenderCheck:
    """Draw the code of render pairs again; drop records whose picture or annotations are others (experimental)."""

    name: ClassVar[str] = "render_check"
    version: ClassVar[int] = 2

    domains: tuple[str, ...] = param(("svg",), "domains whose records are looked at: svg, web, or a class of `file`")
    file: str | None = file_param(None, "a file with further domains, as in render: ./FILE.py:CLASS")

    def __post_init__(self) -> None:
        if not self.domains:
            raise UsageError("names no domain", "stage render_check.domains", "[]", "name svg, web or both")
        for name in self.domains:
            if name not in catalogue.BUILTIN and self.file is None:
                known = ", ".join(catalogue.BUILTIN)
                raise UsageError("no such domain", "stage render_check.domains", name, f"one of {known}")

    def reasons(self) -> tuple[Reason, ...]:
        """Those of the domains, and of looking again."""
        known = {word.reason: word for word in REASONS}
        for name in self.domains:
            with suppress(EngineMissingError):  # what cannot be loaded is told by `prepare`
                known |= {word.reason: word for word in reasons_of(self._load(name))}
        return tuple(known[name] for name in sorted(known))

    def package_versions(self) -> Mapping[str, str]:
        """What decides the pictures of the domains: engines and fonts."""
        versions: dict[str, str] = {}
        for name in self.domains:
            versions[name] = ""
            with suppress(EngineMissingError):
                domain = self._load(name)
                versions[name] = str(domain.version)
                versions |= {f"{name}.{key}": value for key, value in sorted(domain.fingerprint().items())}
        return versions

    def prepare(self) -> None:
        """Raise EngineMissingError where an engine does not work here."""
        for domain in self._loaded().values():
            catalogue.require_engines(domain)

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch as it is, with verdicts on what does not hold."""
        by_source = self._loaded()
        verdicts: list[RowVerdict] = []
        checked = np.zeros(batch.num_rows, np.float64)
        wanted = batch.select(list(_READS))
        sources: list[Any] = wanted.column("source").to_pylist()
        metas: list[Any] = wanted.column("meta").to_pylist()
        for row, (source, meta) in enumerate(zip(sources, metas, strict=True)):
            domain = by_source.get(source) or by_source.get(source_of(_kind(meta)))
            told = wanted.slice(row, 1).to_pylist()[0] if domain is not None else None
            if domain is None or told is None or told["derivation"] is not None or not told["media"]:
                continue
            checked[row] = 1.0
            found = _found(domain, told)
            if found is not None:
                numbers = (found.measure, found.value, found.limit, found.detail)
                verdicts.append(RowVerdict(row, found.verdict, found.reason, *numbers))
        return Mapped(batch, tuple(verdicts), measures={"render_checked": checked})

    def _loaded(self) -> dict[str, Domain]:
        """The domains by the source of their records."""
        found = [self._load(name) for name in self.domains]
        return {source_of(domain.name): domain for domain in found}

    def _load(self, name: str) -> Domain:
        if name in catalogue.BUILTIN:
            return catalogue.load(name, Path())
        return catalogue.load(f"{self.file}:{name}", Path())


def _kind(meta: str | None) -> str:
    """The domain that a record's meta names; "" where it names none."""
    try:
        found: Any = json.loads(meta)[META]["kind"] if meta and f'"{META}"' in meta else ""
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def _found(domain: Domain, told: Mapping[str, Any]) -> Finding | None:
    try:
        record = record_of(told)
    except (ValueError, KeyError, TypeError) as error:
        return Finding("drop", "bad_meta", detail=f"{type(error).__name__}: {error}"[:200])
    return recheck(domain, record)
