"""What we are told by the browser over its pipes is what Playwright is told: the same pixels, the same boxes."""

import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gristmill.render.draws import Draws
from gristmill.render.protocol import Annotation, Code
from gristmill.render.web.browser import FLAGS, find
from gristmill.render.web.domain import WebDomain
from tests.extras.web_pages import code, pages, skip_without_browser

skip_without_browser()
api = pytest.importorskip("playwright.sync_api", reason="needs playwright, the reference")

OURS_ALONE = ("--headless", "--remote-debugging-pipe", "--no-startup-window")
FAMILIES = ("article", "dashboard", "inbox", "kanban", "calendar_month", "pricing")
DOMAIN = WebDomain()
BOX = "id => { const r = document.getElementById(id).getBoundingClientRect(); return [r.x, r.y, r.right, r.bottom]; }"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Playwright's, of the same program and flags; only own pages are shown, so root goes without a sandbox."""
    args = [flag for flag in FLAGS if flag not in OURS_ALONE]
    with api.sync_playwright() as playwright:
        options = {"executable_path": find().path, "args": args, "chromium_sandbox": os.getuid() != 0}
        running = playwright.chromium.launch(**options)
        yield running
        running.close()


def quiet_page(family: str, slot: int) -> Code:
    """A page of a family that needs no script."""
    for attempt in range(20):
        made = DOMAIN.to_code(DOMAIN.sample_spec(family, Draws("playwright", family, slot, attempt)))
        if "<script" not in made.text:
            return made
    raise AssertionError(f"{family}: every page has a script")


def told_by_playwright(browser: Any, made: Code, ids: list[str]) -> tuple[Any, list[list[float]]]:
    view = made.view
    context = browser.new_context(
        viewport={"width": view.width_px, "height": view.height_px},
        device_scale_factor=view.scale,
        locale="en-US",
        timezone_id="UTC",
        reduced_motion="reduce",
        offline=True,
        java_script_enabled=True,
    )
    page = context.new_page()
    page.set_content(made.text)
    page.evaluate("document.fonts.ready.then(() => true)")
    picture = page.screenshot(animations="disabled", caret="hide")
    boxes = [[side * view.scale for side in page.evaluate(BOX, id_)] for id_ in ids]
    context.close()
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")), boxes


def clipped(box: list[float], made: Code) -> list[float]:
    width, height = made.view.width_px * made.view.scale, made.view.height_px * made.view.scale
    return [min(max(side, 0.0), limit) for side, limit in zip(box, (width, height, width, height), strict=True)]


@pytest.mark.parametrize("made", [*(code(pages()[name], 1.5) for name in sorted(pages())), *FAMILIES], ids=str)
def test_playwright_sees_the_same(made: Code | str, browser: Any) -> None:
    page = quiet_page(made, 1) if isinstance(made, str) else made
    shot = DOMAIN.render(page)
    named: dict[str, Annotation] = {
        one.id[1:]: one for one in DOMAIN.annotate(page, shot) if one.id.startswith("#") and len(one.id) > 1
    }
    picture, boxes = told_by_playwright(browser, page, list(named))
    ours = np.asarray(Image.open(io.BytesIO(shot.png)).convert("RGB"))
    assert picture.shape == ours.shape
    assert int((picture != ours).any(axis=2).sum()) == 0
    for one, box in zip(named.values(), boxes, strict=True):
        assert list(one.bbox_full) == pytest.approx(clipped(box, page), abs=0.51), one.id
