"""Tests of SVG skip where a package or the system's library is absent; they do not error."""

import importlib
import sys

import pytest

from tests.render.needs import skip_without_svg


def test_an_absent_package_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(pytest.skip.Exception, match="cairosvg"):
        skip_without_svg()


def test_an_absent_library_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(f"no library called cairo-2 was found, for {name}")

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(pytest.skip.Exception, match="no library"):
        skip_without_svg()
