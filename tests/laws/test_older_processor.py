"""Law 2 on other hardware: the same recipes on a processor without the vector instructions of this one.

Kernels are compiled anew for the plainest processor of the architecture, numpy and Arrow are told to use nothing beyond
their baseline. What differs then would differ between two machines of a cluster.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.laws.corpora import RECIPES, write_corpus
from tests.laws.running import call, fingerprint, run_inline, write_recipe
from tests.laws.wide import wide_recipe, write_layout

SEEN = """
import json, numba, pyarrow
from llvmlite import binding
import numpy._core._multiarray_umath as n
print(json.dumps({
    "numba": numba.core.config.CPU_NAME or binding.get_host_cpu_name(),
    "numpy": [f for f in n.__cpu_dispatch__ if n.__cpu_features__[f]],
    "arrow": pyarrow.runtime_info().simd_level,
}))
"""


def vector_features() -> list[str]:
    """What numpy uses here beyond its baseline."""
    return seen({})["numpy"]


def seen(environment: dict[str, str]) -> dict[str, list[str]]:
    """What a process of this environment uses."""
    words = [sys.executable, "-c", SEEN]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_older_processors_give_the_same_bytes(tmp_path: Path) -> None:
    features = vector_features()
    if not features:
        pytest.skip("numpy uses nothing beyond its baseline on this processor: there is nothing to switch off")
    older = {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "ARROW_USER_SIMD_LEVEL": "NONE",
    }
    assert seen(older) == {"numba": "generic", "numpy": [], "arrow": "none"}
    write_corpus(tmp_path)
    write_layout(tmp_path / "docs", 5, 2)
    for name, text in {**RECIPES, "wide": wide_recipe("docs")}.items():
        recipe = write_recipe(tmp_path, text, f"{name}.yaml")
        run_inline(recipe, tmp_path / f"here-{name}")
        done = call("run", recipe, "--out", tmp_path / f"older-{name}", "--workers", "1", **older)
        assert done.returncode == 0, done.stderr
        assert fingerprint(tmp_path / f"older-{name}") == fingerprint(tmp_path / f"here-{name}")
    assert list((tmp_path / "kernels").rglob("*.nbc"))
