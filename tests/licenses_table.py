"""Renews the table of dependencies in LICENSES.md: `python -m tests.licenses_table` (part of `make lock`).

In: requirements/*.txt and the metadata of what is installed. Out: the lines between the two markers of
LICENSES.md, `| distribution | part | licence |`, sorted by name. A locked distribution that this platform
does not install keeps the licence that the table gives already, else UNKNOWN, which
tests/test_licenses.py refuses.
"""

from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.lock import locked_names

REPO = Path(__file__).resolve().parent.parent
LICENSES = REPO / "LICENSES.md"
BEGIN = "<!-- dependencies: begin -->"
END = "<!-- dependencies: end -->"
UNKNOWN = "UNKNOWN"
MAX_LICENSE_CHARS = 100
# Order matters: a distribution is listed under the first part that pins it.
PARTS = {
    "core": "requirements/core.lock.txt",
    "model": "requirements/models.txt",
    "dev": "requirements/dev.lock.txt",
    "extras": "requirements/extras.lock.txt",
    "export": "requirements/export_check.txt",
    "torch": "requirements/torch.txt",
    "set-up": "requirements/uv.txt",
}


def declared_license(name: str) -> str | None:
    """The licence that the installed distribution `name` declares; None where it is absent or says nothing.

    Precedence as in PEP 639: the SPDX expression, then the free field, then the trove classifiers.
    """
    try:
        fields = metadata(name)
    except PackageNotFoundError:
        return None
    first_line = (fields.get("License") or "").strip().split("\n")[0]
    classifiers = fields.get_all("Classifier") or []
    classified = [c.rsplit(" :: ", 1)[1] for c in classifiers if c.startswith("License :: OSI")]
    free = first_line if len(first_line) <= MAX_LICENSE_CHARS else ""
    return fields.get("License-Expression") or free or " AND ".join(classified) or None


def read_table(text: str) -> dict[str, tuple[str, str]]:
    """Canonical distribution name -> (part, licence), from the text of LICENSES.md."""
    body = text.partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.strip().splitlines()[2:]]
    return {name: (part, licence) for name, part, licence in rows}


def part_of_each(repo: Path) -> dict[str, str]:
    """Canonical distribution name -> the part of PARTS that pins it first."""
    parts: dict[str, str] = {}
    for part, lock in PARTS.items():
        for name in locked_names(repo / lock):
            parts.setdefault(canonicalize_name(name), part)
    return parts


def render_table(parts: dict[str, str], known: dict[str, tuple[str, str]]) -> str:
    """The table as Markdown; `known` serves distributions that are not installed here."""
    lines = ["| distribution | part | licence |", "| --- | --- | --- |"]
    for name, part in sorted(parts.items()):
        licence = declared_license(name) or known.get(name, ("", UNKNOWN))[1]
        lines.append(f"| {name} | {part} | {licence} |")
    return "\n".join(lines)


def main() -> None:
    """Rewrites LICENSES.md in place."""
    text = LICENSES.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    table = render_table(part_of_each(REPO), read_table(text))
    LICENSES.write_text(f"{head}{BEGIN}\n{table}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
