"""Which engines work on this machine, what the others lack, and the one command that installs it.

In: what is installed and on PATH. Nothing is imported that is heavy and nothing started but a Java, for its version.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from gristmill.pipeline.engines import needs
from gristmill.pipeline.engines.java import INSTALL, Java, look_for_java
from gristmill.pipeline.engines.machine import visible_gpus

_PING_S = 10.0


@dataclass(frozen=True)
class EngineHere:
    """`engine` as options name it. `lacks` is empty where it works; else `install` is the command that brings it."""

    engine: str
    detail: str
    lacks: str = ""
    install: str = ""

    @property
    def works(self) -> bool:
        """Whether it can be used as it is."""
        return not self.lacks


def engines_here() -> Iterator[EngineHere]:
    """Each engine, each executor of datatrove, and object storage."""
    gpus = len(visible_gpus())
    yield EngineHere("local", f"accelerators shown: {gpus}" if gpus else "no accelerators")
    yield _spark()
    yield from (_datatrove(executor) for executor in ("local", "slurm", "ray"))
    yield _packaged("object storage", "s3", "obstore")


def _spark() -> EngineHere:
    pyspark, pandas = needs.installed("pyspark"), needs.installed("pandas")
    looked = list(look_for_java())
    java = next((found for found in looked if isinstance(found, Java)), None)
    # Passed over before a Java was found: a JAVA_HOME that is too old, for instance.
    before = [r for r in looked[: looked.index(java) if java else None] if not isinstance(r, Java)]
    passed = [f"{r.source}: {r.why}" for r in before if not java or r.why not in ("not set", "no java")]
    ignored = f", passed over {', '.join(passed)}" if java and passed else ""
    told = f"Java {java.version} of {java.source} ({java.home}){ignored}" if java else ""
    detail = ", ".join(
        filter(None, (f"pyspark {pyspark}" if pyspark else "", f"pandas {pandas}" if pandas else "", told))
    )
    lacks = [wanted for wanted in map(needs.lacking, needs.PACKAGES["spark"]) if wanted]
    extras = ["spark"] if lacks else []
    if java is None:
        lacks.append(f"a Java of 17 or later ({', '.join(passed)})")
        extras.append("java")
    if not lacks:
        return EngineHere("spark", detail)
    return EngineHere("spark", detail, ", ".join(lacks), INSTALL if extras == ["java"] else _pip(*extras))


def _datatrove(executor: str) -> EngineHere:
    name = f"datatrove, executor {executor}"
    base = _packaged(
        name, "ray" if executor == "ray" else "datatrove", "datatrove", *(["ray"] if executor == "ray" else [])
    )
    if executor != "slurm":
        return base
    missing = [command for command in needs.SLURM if shutil.which(command) is None]
    silent = "" if missing else _slurm_silence()
    if silent:
        return EngineHere(name, base.detail, silent, "start slurmctld, or correct slurm.conf")
    if not missing:
        return EngineHere(
            name, f"{base.detail}, {', '.join(needs.SLURM)} on PATH".lstrip(", "), base.lacks, base.install
        )
    lacks = ", ".join(filter(None, (base.lacks, f"on PATH: {', '.join(missing)}")))
    install = " && ".join(filter(None, (base.install, "apt-get install slurm-client")))
    return EngineHere(name, base.detail, lacks, f"{install} (and the cluster's slurm.conf)")


def _slurm_silence() -> str:
    """Why no controller of Slurm answers; empty when one does."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(["scontrol", "ping"], capture_output=True, text=True, timeout=_PING_S, check=False)
        if done.returncode == 0 and " UP" in done.stdout:
            return ""
    return "a controller that answers (scontrol ping)"


def _packaged(name: str, extra: str, *packages: str) -> EngineHere:
    found = {package: needs.installed(package) for package in packages}
    detail = ", ".join(f"{package} {number}" for package, number in found.items() if number)
    lacks = ", ".join(filter(None, map(needs.lacking, packages)))
    return EngineHere(name, detail, lacks, _pip(extra) if lacks else "")


def _pip(*extras: str) -> str:
    return f"pip install 'gristmill[{','.join(extras)}]'"
