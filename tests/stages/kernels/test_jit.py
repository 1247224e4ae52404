"""The kernels' cache: ours alone, and elsewhere when it cannot be."""

import os
import subprocess
import sys
from pathlib import Path

_LOAD = """
import sys
from gristmill.stages.kernels import {module}
import numba
print(numba.config.CACHE_DIR)
print(sorted({{"awkward"}} & set(sys.modules)))
"""


def _load(module: str, **variables: str) -> tuple[Path, str]:
    env = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")} | variables
    done = subprocess.run(
        [sys.executable, "-c", _LOAD.format(module=module)], env=env, capture_output=True, text=True, check=True
    )
    folder, extensions = done.stdout.splitlines()
    return Path(folder), extensions


def test_cache_lies_in_the_user_s_cache_folder(tmp_path: Path) -> None:
    folder, extensions = _load("words", XDG_CACHE_HOME=str(tmp_path))
    assert folder == tmp_path / "gristmill" / "numba"
    assert list(folder.rglob("*.nbc"))
    assert extensions == "[]"


def test_cache_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    shared = tmp_path / "gristmill" / "numba"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    folder, _ = _load("jit", XDG_CACHE_HOME=str(tmp_path), TMPDIR=str(tmp_path))
    assert folder != shared
    assert not list(shared.iterdir())


def test_a_cache_folder_of_the_user_s_choice_is_kept(tmp_path: Path) -> None:
    assert _load("jit", NUMBA_CACHE_DIR=str(tmp_path))[0] == tmp_path


def test_unwritable_home_does_not_stop_the_kernels(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        (tmp_path / "file").write_text("")
        home = tmp_path / "file"
    else:
        home = tmp_path / "closed"
        home.mkdir(mode=0o500)
    folder, _ = _load("jit", XDG_CACHE_HOME=str(home), TMPDIR=str(tmp_path))
    assert folder.is_relative_to(tmp_path)


def test_numba_that_was_there_before_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "gristmill" / "numba"
    code = "import numba; from gristmill.stages.kernels import utf8"
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, cwd=tmp_path)
    assert list(folder.rglob("*.nbc"))
    assert [path.name for path in tmp_path.iterdir()] == ["gristmill"]


def test_a_kernel_is_compiled_anew_when_code_that_it_imports_changes() -> None:
    from gristmill.pipeline.reader import fetch_kernel
    from gristmill.stages.kernels import jit

    def parts(name: str) -> set[str]:
        file = Path(jit.__file__).parent / f"{name}.py"
        return {f.stem for f in jit._code_of(file, set())}  # pyright: ignore[reportPrivateUsage]

    assert {"words", "char_table", "segments_intern", "stop_table", "jit"} <= parts("words")
    assert {"segments_lines", "words", "char_table"} <= parts("segments_lines")
    assert "utf8" not in parts("words")
    elsewhere = jit._code_of(Path(fetch_kernel.__file__), set())  # pyright: ignore[reportPrivateUsage]
    assert {"fetch_kernel", "xxh3", "shingle_hash"} <= {file.stem for file in elsewhere}
