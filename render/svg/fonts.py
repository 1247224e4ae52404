"""The fonts of SVG: DejaVu as matplotlib ships it, for both engines, so that pixels do not depend on the machine."""

import functools
import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

FAMILIES = ("DejaVu Sans", "DejaVu Sans Mono", "DejaVu Serif")

_FAMILY = re.compile(r"font-family\s*[:=]\s*[\"']?\s*(?:&quot;)?([^;\"'<>]*)")
_KNOWN = ("dejavu sans", "dejavu serif", "sans-serif", "serif", "monospace")
_FIRST_RARE = "\u0250"
"""All faces have the Latin letters before this one."""

# Hinting moves stems to whole pixels, which resvg does not do: with it the engines disagree on every small text.
_CONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{folder}</dir>
  <cachedir>{cache}</cachedir>
  <alias binding="strong"><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <alias binding="strong"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <match target="pattern"><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>
  <match target="font">
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="autohint" mode="assign"><bool>false</bool></edit>
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
  </match>
  <selectfont>
    <acceptfont>{accepted}</acceptfont>
    <rejectfont><glob>*</glob></rejectfont>
  </selectfont>
</fontconfig>
"""


@functools.cache
def font_folder() -> Path:
    """Where matplotlib keeps its fonts."""
    import importlib.util

    found = importlib.util.find_spec("matplotlib")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"


@functools.cache
def font_files() -> tuple[str, ...]:
    """The font files, sorted."""
    names = ("DejaVuSans*.ttf", "DejaVuSerif*.ttf")
    files = sorted(path for name in names for path in font_folder().glob(name) if "Display" not in path.name)
    return tuple(str(path) for path in files)


def fonts_for(text: str) -> tuple[str, ...]:
    """The files that a document can need, since an engine that is given all reads all: the upright DejaVu Sans, and
    what the document's words name. All where it has letters that a face may leave to another, or asks for a family
    that is not here, for which engines choose."""
    words = text.lower()
    if max(text, default="") >= _FIRST_RARE or any(not name.startswith(_KNOWN) for name in _FAMILY.findall(words)):
        return font_files()
    wanted = {"sans"} | {face for face in ("mono", "serif") if face in words.replace("sans-serif", "")}
    weights = {""} | ({"bold"} if "font-weight" in words or "bold" in words else set())
    slants = {""} | ({"oblique"} if "italic" in words or "oblique" in words else set())
    return tuple(path for path in font_files() if _is_of(Path(path).stem.lower(), wanted, weights, slants))


def _is_of(stem: str, faces: set[str], weights: set[str], slants: set[str]) -> bool:
    face = next((name for name in ("mono", "serif") if name in stem), "sans")
    weight = "bold" if "bold" in stem else ""
    slant = "oblique" if "oblique" in stem or "italic" in stem else ""
    return face in faces and weight in weights and slant in slants


@functools.cache
def fonts_digest() -> str:
    """SHA-256 of the font files, in order, 16 hex digits."""
    digest = hashlib.sha256()
    for path in font_files():
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]


def with_own_fonts() -> str:
    """Point fontconfig at these fonts alone, before cairo is loaded; the folder of its settings and cache.

    It may go, with `forget`, once a text has been drawn.
    """
    folder = tempfile.mkdtemp(prefix="gristmill-fonts-")
    accepted = "".join(f"<glob>{escape(path)}</glob>" for path in font_files())
    text = _CONFIG.format(folder=escape(str(font_folder())), cache=escape(folder), accepted=accepted)
    path = Path(folder) / "fonts.conf"
    path.write_text(text, encoding="utf-8")
    os.environ["FONTCONFIG_FILE"] = str(path)
    return folder


def forget(folder: str) -> None:
    """Remove what `with_own_fonts` made."""
    shutil.rmtree(folder, ignore_errors=True)
