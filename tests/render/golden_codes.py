"""Digests of the codes of template families, beside the domain's version: an output changes only with the version.

`python -m tests.render.golden_codes svg web` renews the files after the version was raised; it refuses to where a
family that stands there gives other codes and the version is the same.
"""

import json
import sys
from pathlib import Path
from typing import Any

from blake3 import blake3

from gristmill.render.domains import load
from gristmill.render.draws import Draws
from gristmill.render.protocol import Domain

SLOTS = 4


def golden_file(kind: str) -> Path:
    """The file of a domain."""
    return Path(__file__).parent / kind / "golden.json"


def digest(domain: Domain, family: str) -> str:
    """Digest of code, view and parts of a family's first slots."""
    codes = [domain.to_code(domain.sample_spec(family, Draws("golden", family, slot))) for slot in range(SLOTS)]
    return blake3(repr(codes).encode("utf-8", "surrogatepass")).hexdigest(16)


def now(domain: Domain) -> dict[str, Any]:
    """The version, and each family's digest."""
    return {"version": domain.version, "families": {name: digest(domain, name) for name in domain.families()}}


def changed(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Families that are others though the version is the same; none where it was raised."""
    if old["version"] != new["version"]:
        return []
    names = sorted(old["families"].keys() | new["families"].keys())
    return [name for name in names if old["families"].get(name) != new["families"].get(name)]


def _renew(kind: str) -> None:
    path, new = golden_file(kind), now(load(kind, Path()))
    if path.exists() and (others := changed(json.loads(path.read_text(encoding="utf-8")), new)):
        sys.exit(f"raise the version of {kind} first: {', '.join(others)} changed")
    path.write_text(json.dumps(new, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        _renew(each)
