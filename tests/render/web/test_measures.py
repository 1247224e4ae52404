"""What the web domain measures pixels by, against plain ways to the same numbers; browsers that do not answer."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.render.web.cdp import BrowserGone, Connection, TooLate
from gristmill.render.web.idmap import count_among, median_colour, owners_of

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 9), st.integers(1, 9))
def test_the_median_colour_is_that_of_numpy(seed: int, height: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (height, width, 3), np.uint8)
    mask = rng.random((height, width)) < 0.5
    expected = tuple(np.median(pixels[mask], axis=0).tolist()) if mask.any() else None
    assert median_colour(pixels, mask) == expected


@given(seeds, st.integers(1, 4096))
def test_a_colour_owns_its_pixel_within_one_level_and_no_farther(seed: int, elements: int) -> None:
    rng = np.random.default_rng(seed)
    owners = rng.integers(0, elements, (6, 7))
    codes = (owners * 2531 + 1217) % 4096
    off = rng.integers(-2, 2, (2, 6, 7))
    pixels = np.zeros((6, 7, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = (codes >> 6) * 4 + 2 + off[0], (codes & 63) * 4 + 2 + off[1]
    found, _ = owners_of(pixels, elements)
    near = (np.abs(off) <= 1).all(axis=0)
    assert (found == np.where(near, owners, -1)).all()
    allowed = rng.random(elements) < 0.5
    assert count_among(found, (0.0, 0.0, 7.0, 6.0), allowed) == int(allowed[owners][near].sum())


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Connection]:
    def started(script: str) -> Connection:
        path = tmp_path / "browser.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        return Connection(path, ())

    return started


def test_a_browser_that_ends_is_gone(program: Callable[[str], Connection]) -> None:
    connection = program("exit 0")
    with pytest.raises(BrowserGone):
        connection.send("Browser.getVersion", deadline=time.monotonic() + 15)
    assert not connection.connected
    connection.close()


def test_a_browser_that_does_not_answer_is_too_late_even_where_it_talks(program: Callable[[str], Connection]) -> None:
    connection = program("""while :; do printf '{"method":"Page.said","params":{}}\\000' >&4; sleep 0.05; done""")
    said: list[str] = []
    connection.handlers[""] = lambda method, _: said.append(method)
    with pytest.raises(TooLate):
        connection.send("Browser.getVersion", deadline=time.monotonic() + 2)
    connection.close()
    assert set(said) == {"Page.said"}
