"""Reads the hashed requirements files: `name==version [; marker]`, with its hashes on the lines below it."""

import re
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def read_lock(path: Path) -> list[Requirement]:
    """Each pinned requirement of a hashed requirements file, in order; a name may come once per marker."""
    text = path.read_text(encoding="utf-8")
    lines = re.sub(r"(?m)#.*$", "", text).replace("\\\n", " ").splitlines()
    return [Requirement(line.split("--hash=")[0]) for line in lines if line.strip()]


def locked_names(path: Path) -> set[str]:
    """Canonical names (lower case, hyphens) of the distributions that `path` pins."""
    return {canonicalize_name(requirement.name) for requirement in read_lock(path)}
