"""`verify --deep` of render pairs: some records of a dataset are drawn again and compared.

In: the folder of an output or a dataset, sound as files. Out: a `Rederived` for each domain of a dataset that was
rendered: how many records were looked at, of how many, and Faults where one is not what its code makes
(`render.recheck`). Records are chosen by content. Where the engines or fonts are not those that the manifest names, or
not here, nothing is drawn and the reason is told: that is no fault of the data. Code that a manifest names is never
run: domains of users' files are looked at only where the caller gives them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import Any

from gristmill.manifests.errors import GristmillError
from gristmill.manifests.manifest import Manifest, finished
from gristmill.manifests.verify_files import Fault
from gristmill.render import domains
from gristmill.render.dataset import ORIGIN, Record, records
from gristmill.render.protocol import Domain
from gristmill.render.recheck import recheck
from gristmill.render.record import SOURCE

RECORDS_A_DOMAIN = 16


@dataclass
class Rederived:
    """What was drawn again of one domain of a dataset; `why_not` is "" where it was."""

    dataset: str
    domain: str
    looked_at: int = 0
    of: int = 0
    why_not: str = ""
    faults: list[Fault] = field(default_factory=list[Fault])


def rederive(out: Path, given: Mapping[str, Domain] | None = None) -> Iterator[Rederived]:
    """Of every finished dataset of an output that was rendered, or of the one dataset in this folder.

    `given`: domains by the names under which recipes know them, beside those of `render.domains`.
    """
    for name, folder, manifest in finished(out):
        if manifest["steps"][0]["step"] == ORIGIN:
            for named, params in sorted(manifest["origin"].items()):
                yield _rederived(Rederived(name, named), folder, manifest, params, given or {})


def _rederived(
    found: Rederived, folder: Path, manifest: Manifest, params: Mapping[str, Any], given: Mapping[str, Domain]
) -> Rederived:
    try:
        domain = _domain(found.domain, given)
        if domain is None:
            found.why_not = "its domain stands in a file, which is not run for it"
            return found
        domains.require_engines(domain)
    except GristmillError as error:
        found.why_not = str(error)
        return found
    here = domains.identity(domain)
    others = [key for key in here if here[key] != params.get(key)]
    if others:
        found.why_not = f"it was made by another {', '.join(others)}"
        return found
    try:
        chosen, found.of = _chosen(folder, manifest, f"{SOURCE}/{domain.name}")
    except (ValueError, KeyError, TypeError) as error:
        found.faults.append(Fault(found.dataset, "render", f"a record of another form: {error}"[:200]))
        return found
    found.looked_at = len(chosen)
    found.faults += [fault for record in chosen for fault in _faults(found.dataset, domain, record)]
    return found


def _domain(name: str, given: Mapping[str, Domain]) -> Domain | None:
    if name in given:
        return given[name]
    return domains.load(name, Path()) if name in domains.BUILTIN else None


def _chosen(folder: Path, manifest: Manifest, source: str) -> tuple[list[Record], int]:
    """Records with the smallest hashes of pixels, and how many there are; two passes, for pictures are large."""
    told = (r for r in records(folder, manifest, with_pictures=False) if r.source == source)
    ids = [(str(r.render["pixels"]), r.id) for r in told]
    wanted = {found for _, found in nsmallest(RECORDS_A_DOMAIN, ids)}
    return [r for r in records(folder, manifest) if r.id in wanted], len(ids)


def _faults(name: str, domain: Domain, record: Record) -> list[Fault]:
    finding = recheck(domain, record)
    if finding is None:
        return []
    told = " ".join(filter(None, (finding.reason, finding.detail)))
    return [Fault(name, "render", f"record {record.id} is not what its code makes: {told}")]
