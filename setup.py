"""Maps the five top-level folders to `gristmill.<folder>`; everything else stands in pyproject.toml.

A package is a folder with `__init__.py`. Other files with one of DATA_SUFFIXES belong to the nearest
package above them, so that recipes, templates and samples need no list of their own.
"""

from pathlib import Path

from setuptools import setup

ROOTS = ("pipeline", "synth", "render", "stages", "manifests")
DATA_SUFFIXES = (
    *(".yaml", ".yml", ".toml", ".json", ".jsonl", ".csv", ".txt", ".md", ".gz", ".zst", ".typed"),
    *(".html", ".css", ".js", ".svg", ".png", ".j2", ".jinja"),
    *(".arrow", ".parquet", ".npy", ".bin", ".ftz", ".tiktoken", ".warc", ".wet", ".idx"),
)


def find_packages(base: Path) -> dict[str, Path]:
    """Dotted package name -> folder relative to `base`, for each folder with `__init__.py` under ROOTS."""
    inits = (init for root in ROOTS for init in sorted((base / root).rglob("__init__.py")))
    folders = [init.parent.relative_to(base) for init in inits]
    return {".".join(("gristmill", *folder.parts)): folder for folder in folders}


def find_data(base: Path, folders: set[Path]) -> dict[Path, list[str]]:
    """Package folder -> its data files, as paths relative to that folder."""
    found: dict[Path, list[str]] = {folder: [] for folder in folders}
    for root in ROOTS:
        for path in sorted((base / root).rglob("*")):
            if path.suffix not in DATA_SUFFIXES or not path.is_file():
                continue
            inside = path.relative_to(base)
            owner = next((parent for parent in inside.parents if parent in folders), None)
            if owner is not None:
                found[owner].append(inside.relative_to(owner).as_posix())
    return found


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    packages = find_packages(here)
    data = find_data(here, set(packages.values()))
    setup(
        packages=list(packages),
        package_dir={name: folder.as_posix() for name, folder in packages.items()},
        package_data={name: data[folder] for name, folder in packages.items()},
        include_package_data=False,
    )
