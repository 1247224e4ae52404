"""Which scripts a language is written in, to hold the language model's label against the letters of the text."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from gristmill.stages.kernels.scripts import LETTER_WORTH, SCRIPTS
from gristmill.stages.protocol import Floats

_BY_SCRIPT: Mapping[str, str] = {
    "cyrillic": "av az ba be bg bxr ce cv kk krc ku kv ky lez mhr mk mn mrj myv os ru rue sah sh sr tg tk tt tyv ug uk"
    " uz xal",
    "greek": "el",
    "arabic": "ar arz az azb ckb fa kk ku ky lrc mzn pa pnb ps sd tg tk tt ug ur uz",
    "hebrew": "he yi",
    "devanagari": "bh dty gom hi mai mr ne new sa sd",
    "han": "ja ko wuu yue zh",
    "kana": "ja",
    "hangul": "ko",
    "thai": "th",
    "other": "am as bn bo bpy dv gu hy ka km kn lo ml mn my or pa pnb sa sd si ta te xmf",
}
_LATIN_TOO = frozenset(("az", "gom", "kk", "ku", "ky", "sh", "sr", "tg", "tk", "tt", "tyv", "ug", "uz"))
"""Of the languages above, those that are written in Latin letters, too; any other label is Latin alone."""

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def scripts_of(label: str) -> frozenset[str]:
    """The scripts (`kernels.scripts.SCRIPTS`) of a label of the language model."""
    found = {script for script, labels in _BY_SCRIPT.items() if label in labels.split()}
    return frozenset(found | {"latin"} if not found or label in _LATIN_TOO else found)


def script_share(letters: Counts, labels: Sequence[str | None]) -> Floats:
    """For each row of letters by script the share, in [0, 1], that are of a script of its label; each letter weighs
    what it says (LETTER_WORTH). 0 where there are no letters or is no label."""
    worth = letters * LETTER_WORTH
    masks = {label: _mask(label) for label in set(labels) if label is not None}
    none = np.zeros(len(SCRIPTS), dtype=np.int64)
    of_label = np.array([masks.get(label, none) if label else none for label in labels], dtype=np.int64)
    part = (worth * of_label.reshape(worth.shape)).sum(axis=1)
    return part / np.maximum(worth.sum(axis=1), 1)


def _mask(label: str) -> Counts:
    own = scripts_of(label)
    return np.array([script in own for script in SCRIPTS], dtype=np.int64)


def weight_of(letters: Counts) -> Counts:
    """What the letters of each row weigh together."""
    return (letters * LETTER_WORTH).sum(axis=1)


def mostly_foreign(letters: Counts) -> Mask:
    """Rows whose letters are mostly of another script than Latin, but in part of it."""
    worth = letters * LETTER_WORTH
    latin, whole = worth[:, SCRIPTS.index("latin")], worth.sum(axis=1)
    return (latin > 0) & (2 * latin <= whole)
