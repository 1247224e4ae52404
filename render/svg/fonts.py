"""The fonts of SVG: DejaVu as matplotlib ships it, for both engines, so that pixels do not depend on the machine."""

import functools
import hashlib
import os
import shutil
import struct
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

FAMILIES = ("DejaVu Sans", "DejaVu Sans Mono", "DejaVu Serif")
_TABLE = struct.Struct(">4s4xII")
_TABLES_AT, _TABLE_BYTES = 12, 16
_NAMES = struct.Struct(">HHH")
_NAME = struct.Struct(">HHHHHH")
_UNICODE_ENGLISH = (3, 1, 0x409)
_FAMILY_NAME, _UNIQUE_NAME = 1, 6

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


def renamed(font: bytes, family: str) -> bytes:
    """A font file with another family's name and the same glyphs; its name is all else that is kept of its names."""
    count = int.from_bytes(font[4:6], "big")
    for at in range(_TABLES_AT, _TABLES_AT + count * _TABLE_BYTES, _TABLE_BYTES):
        tag, _, _ = _TABLE.unpack_from(font, at)
        if tag == b"name":
            table, new = _names(family), bytearray(font)
            _TABLE.pack_into(new, at, tag, len(font), len(table))
            return bytes(new) + table
    raise ValueError("a font without names")


def _names(family: str) -> bytes:
    """A table of names (OpenType `name`, version 0): the family's, and the one that each font must have."""
    words = family.encode("utf-16-be")
    heads = [_NAME.pack(*_UNICODE_ENGLISH, kind, len(words), 0) for kind in (_FAMILY_NAME, _UNIQUE_NAME)]
    start = _NAMES.size + len(heads) * _NAME.size
    return _NAMES.pack(0, len(heads), start) + b"".join(heads) + words
