"""What engines and executors need on a machine: packages, with the versions that do, and programs. One list, for who
refuses a run and for who tells what works."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

SLURM = ("sbatch", "squeue", "scancel", "scontrol")
PACKAGES = {"spark": ("pyspark", "pandas"), "datatrove": ("datatrove",), "ray": ("ray",)}
"""Engine or executor -> packages, which are modules of the same names; it is also the extra that installs them."""


def installed(package: str) -> str | None:
    """The version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def lacking(package: str) -> str:
    """What is to be installed of a package, in words; empty where it is there. One without metadata (as that of a
    Spark distribution) is taken as it is."""
    number = installed(package)
    wanted = {"pyspark": "pyspark 4", "pandas": "pandas below 3"}.get(package, package)
    if number is None:
        return "" if is_importable(package) else wanted
    major = number.partition(".")[0]
    bad = (package == "pyspark" and major != "4") or (package == "pandas" and major.isdigit() and int(major) >= 3)
    return wanted if bad else ""


def is_importable(package: str) -> bool:
    """Whether there is a module of that name."""
    return find_spec(package) is not None
