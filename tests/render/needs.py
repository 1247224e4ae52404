"""What tests need that may be absent: they skip, and say why."""

import importlib

import pytest

SVG = ("cairosvg", "resvg", "lxml")


def skip_without_svg() -> None:
    """Skip a module or test where a package of the extra `svg` or the system's libcairo2 is absent."""
    for name in SVG:
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:
            pytest.skip(f"needs gristmill[svg] and the system's libcairo2: {error}", allow_module_level=True)
