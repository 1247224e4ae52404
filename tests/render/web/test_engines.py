"""What is said where the browser, or a package, is not there: words and an exit code, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

from gristmill.render.web.browser import VARIABLE, find
from gristmill.render.web.domain import WebDomain
from tests.laws.running import call

NO_BROWSER = {VARIABLE: "/nowhere/chromium"}


def test_engines_are_told_whatever_is_installed() -> None:
    (state,) = WebDomain().engines()
    assert state.name == "chromium"
    assert state.works == bool(state.version) == (not state.remedy)
    if not find().path:
        assert "install Chromium" in state.remedy


def test_without_a_browser_rendering_is_refused(tmp_path: Path) -> None:
    done = call("render", "web", "--count", "1", "--out", tmp_path / "out", **NO_BROWSER)
    assert done.returncode == 2, done.stderr
    assert "needs chromium" in done.stderr
    assert "install Chromium" in done.stderr
    assert "bug" not in done.stderr
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("name: t\ndatasets:\n  pairs: {render: {web: 1}, license: CC0-1.0}\n", encoding="utf-8")
    done = call("run", recipe, "--out", tmp_path / "run", **NO_BROWSER)
    assert done.returncode == 2, done.stderr
    assert "install Chromium" in done.stderr


def test_doctor_tells_of_a_browser_that_is_not_there() -> None:
    done = call("doctor", **NO_BROWSER)
    assert "install Chromium" in done.stdout, done.stderr
    assert "bug" not in done.stderr


def test_without_lxml_only_pages_of_a_corpus_are_refused() -> None:
    word = (
        "import sys; sys.modules['lxml'] = None\n"
        "from gristmill.render.web.domain import WebDomain\n"
        "from gristmill.render.draws import Draws\n"
        "from gristmill.manifests.errors import EngineMissingError\n"
        "domain = WebDomain()\n"
        "assert domain.engines() and domain.skeleton(domain.to_code(domain.sample_spec('login', Draws('web', 1))))\n"
        "try:\n    domain.existing(b'<p>a page')\n"
        "except EngineMissingError as error:\n    print(error.exit_code, error.remedy)\n"
    )
    done = subprocess.run([sys.executable, "-c", word], capture_output=True, text=True, env=os.environ, check=False)
    assert done.stdout.strip() == "2 pip install 'gristmill[web]'", done.stderr
