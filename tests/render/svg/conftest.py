"""The SVG domain, where its engines are."""

import ctypes.util
import importlib.util

import pytest

from gristmill.render.svg.domain import SvgDomain

_PACKAGES = ("cairosvg", "resvg", "lxml")


def missing() -> str:
    """What this machine lacks for SVG, "" for nothing."""
    absent = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if ctypes.util.find_library("cairo") is None:
        absent.append("libcairo2")
    return ", ".join(absent)


@pytest.fixture(scope="session")
def svg() -> SvgDomain:
    """The domain."""
    if missing():
        pytest.skip(f"SVG needs {missing()}")
    return SvgDomain()
