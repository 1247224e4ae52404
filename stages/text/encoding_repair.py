"""Encoding damage mended, and one policy for the characters of all texts.

Columns in and out: `text`, changed where it has to be; a batch without damage is returned as it is. In order: mojibake
(`text.mojibake`), ends of lines, ANSI escape sequences and control characters, invisible characters
(`text.characters`), normal form C where `nfc` is set. It is repeated until nothing changes, so that a second run of
the stage changes nothing. U+FFFC, which stands for a medium, is neither taken nor made.

Measures, each a fraction of the characters of the text as it came, 0 for "": `mojibake_frac` (that begin a suspected
sequence), `mojibake_left_frac` (the same after the repair, of what is left), `replacement_frac` (U+FFFD),
`control_frac` (controls but for tab and ends of lines). Drops, in this order: `replacement_characters`,
`control_characters`, `mojibake`. Characters cut by reason, negative where more is written: `mojibake_repaired`,
`line_end`, `ansi_escape`, `control_character`, `invisible_character`, `normal_form`.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.manifests.errors import UsageError
from gristmill.stages.columns import with_column, with_rows
from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.params import param
from gristmill.stages.protocol import Floats, Mapped, Reason, RowVerdict

Counts = npt.NDArray[np.int64]

_REASONS = (
    ("mojibake_repaired", "characters that UTF-8 read in another encoding had too many"),
    ("line_end", "the CR of CR LF; other ends of lines become line feeds one for one"),
    ("ansi_escape", "escape sequences of terminals"),
    ("control_character", "control characters, and characters struck over"),
    ("invisible_character", "byte order marks, soft hyphens, overrides of direction, noncharacters and the like"),
    ("normal_form", "characters composed to one in normal form C"),
)
_DROPS = (
    ("replacement_characters", "replacement_frac", "max_replacement_frac", "too much was lost to U+FFFD"),
    ("control_characters", "control_frac", "max_control_frac", "bytes that are no text"),
    ("mojibake", "mojibake_left_frac", "max_mojibake_frac", "mojibake that cannot be undone"),
)


@dataclass(frozen=True)
class EncodingRepair:
    """Mend mojibake, line ends, control and invisible characters; drop what is damaged beyond repair."""

    name: ClassVar[str] = "encoding_repair"
    version: ClassVar[int] = 1

    mojibake: bool = param(True, "undo UTF-8 that was read as a one-byte encoding")
    nfc: bool = param(False, "bring texts into Unicode's normal form C")
    max_replacement_frac: float | None = param(0.01, "drop above this share of U+FFFD (ours); null turns a drop off")
    max_control_frac: float | None = param(0.05, "drop above this share of control characters (ours)")
    max_mojibake_frac: float | None = param(0.05, "drop above this share of suspected sequences after repair (ours)")

    def __post_init__(self) -> None:
        for _, _, parameter, _ in _DROPS:
            limit = getattr(self, parameter)
            if limit is not None and not 0 <= limit <= 1:
                raise UsageError("a ratio between 0 and 1 is wanted", f"stage encoding_repair.{parameter}", limit)

    def reasons(self) -> tuple[Reason, ...]:
        """The drops, then the reasons of characters cut."""
        drops = (Reason(reason, "drop", doc) for reason, _, _, doc in _DROPS)
        return (*drops, *(Reason(reason, "drop", doc) for reason, doc in _REASONS))

    def prepare(self) -> None:
        """Compile the kernel into this machine's cache, once on the driver."""
        _Damage.of(pa.array([""], pa.large_string()))

    def transform(self, batch: pa.RecordBatch) -> Mapped:
        """The batch with its texts mended; verdicts for the rows to drop."""
        damage = _Damage.of(batch.column("text"))
        text, cut = self._mended(batch.column("text"), damage)
        left = damage if text is None else _Damage.of(text)
        measures = {
            "mojibake_frac": damage.frac("suspects"),
            "mojibake_left_frac": left.frac("suspects"),
            "replacement_frac": damage.frac("replacements"),
            "control_frac": damage.frac("controls"),
        }
        if text is not None:
            batch = with_column(batch, "text", text)
        return Mapped(batch, self._verdicts(measures), cut, measures)

    def _mended(self, text: pa.Array, damage: "_Damage") -> tuple[pa.Array | None, dict[str, Counts]]:
        """The column anew, None where all is sound; characters cut by reason."""
        from gristmill.stages.text.mending import mend

        data, offsets = text_buffers(text)
        cut = {reason: np.zeros(len(text), dtype=np.int64) for reason, _ in _REASONS}
        anew: dict[int, bytearray] = {}
        for row in np.flatnonzero(damage.found(self.nfc)).tolist():
            mended = mend(data[offsets[row] : offsets[row + 1]], self.mojibake, self.nfc)
            if mended.text is not None:
                anew[row] = mended.text
                for reason, chars in mended.cut.items():
                    cut[reason][row] = chars
        return (with_rows(text, anew) if anew else None), {r: chars for r, chars in cut.items() if chars.any()}

    def _verdicts(self, measures: dict[str, Floats]) -> tuple[RowVerdict, ...]:
        found: dict[int, RowVerdict] = {}
        for reason, measure, parameter, _ in _DROPS:
            limit: float | None = getattr(self, parameter)
            for row in [] if limit is None else np.flatnonzero(measures[measure] > limit).tolist():
                value = float(measures[measure][row])
                found.setdefault(row, RowVerdict(row, "drop", reason, measure, value, float(limit or 0)))
        return tuple(found[row] for row in sorted(found))


@dataclass(frozen=True)
class _Damage:
    """The counts of `kernels.damage` by name, and the bytes of each text."""

    counts: dict[str, Counts]
    size: Counts

    @classmethod
    def of(cls, text: pa.Array) -> Self:
        from gristmill.stages.kernels.damage import COUNTS, count_damage

        data, offsets = text_buffers(text)
        return cls(dict(zip(COUNTS, count_damage(data, offsets).T, strict=True)), np.diff(offsets))

    def frac(self, name: str) -> Floats:
        """A count as a fraction of the characters."""
        return self.counts[name] / np.maximum(self.counts["chars"], 1)

    def found(self, with_nfc: bool) -> npt.NDArray[np.bool_]:
        """Rows that may have to be changed."""
        kinds = [self.counts[name] for name in ("controls", "breaks", "invisibles", "suspects")]
        damaged = np.sum(kinds, axis=0) > 0
        return damaged | (self.size > self.counts["chars"]) if with_nfc else damaged
