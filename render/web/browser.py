"""How Chromium is found, caged and started.

Tiers. Own templates (trusted) and pages of a corpus (untrusted) alike run in bubblewrap: no network, no files but
/usr and fonts, an own process namespace that dies with the worker, and inside it Chromium's own sandbox where the
kernel allows a second user namespace (the browser then believes to be user 1000, so root needs no `--no-sandbox`);
where it does not, `--no-sandbox` inside bubblewrap alone. Without bubblewrap an ordinary user's Chromium renders own
templates in its own sandbox and untrusted pages are refused; root without bubblewrap renders nothing.

Every process of the browser has RLIMIT_DATA of MAX_PROCESS_DATA_BYTES besides the watchdog of `memory`.
"""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

NAMES = ("chromium", "chromium-browser", "google-chrome")
VARIABLE = "GRISTMILL_CHROMIUM"
MAX_PROCESS_DATA_BYTES = 1 << 30
"""Private writable memory of one process of the browser; an ordinary renderer takes under 200 MiB."""

Cage = Literal["bubblewrap", "chromium", "none"]

FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--hide-scrollbars",
    "--mute-audio",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--js-flags=--max-old-space-size=256",
    "--disable-features=Translate,SpareRendererForSitePerProcess",
    "--enable-features=CDPScreenshotNewSurface",
    "--renderer-process-limit=2",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--allow-pre-commit-input",
    "--disable-back-forward-cache",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-hang-monitor",
    "--disable-infobars",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-stack-profiler",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
)
"""Same pixels on every launch (reference 1.2), no shared memory file system, a bounded JavaScript heap, and
nothing of a browser for people: no updates, no services, no throttling of pages out of sight."""
NO_SANDBOX = "--no-sandbox"

_SANDBOX_CHECK_SECONDS = 10.0
_BINDS = ("/usr", "/bin", "/lib", "/lib64", "/opt", "/etc/fonts", "/etc/chromium.d", "/etc/alternatives")
_SCRIPT = """#!/bin/sh
ulimit -c 0
ulimit -d {data_kib}
exec {command} --user-data-dir={profile} "$@"
"""
_CAGED_PROFILE = "/tmp/profile"
"""In the cage, whose /tmp is its own."""


@dataclass(frozen=True)
class Found:
    """What this machine has: the browser's path ("" where there is none) and the cage that works."""

    path: str
    cage: Cage

    @property
    def remedy(self) -> str:
        """What to do, where a page cannot be rendered."""
        if not self.path:
            return f"install Chromium (Debian: chromium), or name its program in {VARIABLE}"
        return "" if self.cage != "none" else "install bubblewrap (Debian: bubblewrap) and allow user namespaces"


@functools.cache
def find() -> Found:
    """The browser and the cage of this machine."""
    return Found(_find_path(), _find_cage())


def refuses(found: Found, trusted: bool) -> str:
    """Why a page may not be rendered here, "" where it may."""
    if not found.path:
        return "no browser"
    if found.cage == "none" or (found.cage == "chromium" and not trusted):
        return "no sandbox"
    return ""


def write_launcher(folder: Path, found: Found) -> Path:
    """A program in `folder` that starts the caged browser with the arguments given to it."""
    caged = found.cage == "bubblewrap"
    words, profile = (bubblewrap_words(found.path), _CAGED_PROFILE) if caged else ([found.path], _own_profile())
    command = " ".join(map(_quoted, words))
    text = _SCRIPT.format(data_kib=MAX_PROCESS_DATA_BYTES >> 10, command=command, profile=_quoted(profile))
    path = folder / "browser.sh"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
    return path


def bubblewrap_words(program: str) -> list[str]:
    """The command line that cages `program`: no network, no files, no capabilities, user 1000."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000"]
    words += ["--cap-drop", "ALL"]
    for folder in _BINDS:
        words += ["--ro-bind-try", folder, folder]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--clearenv"]
    for name, value in (("HOME", "/tmp"), ("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TZ", "UTC")):
        words += ["--setenv", name, value]
    return [*words, "--", program]


def _own_profile() -> str:
    """A folder for a browser that no cage keeps apart: two browsers of one profile are one."""
    folder = tempfile.mkdtemp(prefix="gristmill-browser-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _find_path() -> str:
    named = os.environ.get(VARIABLE)
    if named is not None:
        return shutil.which(named) or ""
    return next((path for path in map(shutil.which, NAMES) if path), "")


def _find_cage() -> Cage:
    if shutil.which("bwrap") and _runs(bubblewrap_words("/usr/bin/true")):
        return "bubblewrap"
    return "chromium" if os.geteuid() != 0 else "none"


def _runs(words: list[str]) -> bool:
    try:
        done = subprocess.run(words, capture_output=True, timeout=_SANDBOX_CHECK_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
