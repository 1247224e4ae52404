"""Encoding repair: sound text untouched, balance, drops at their limits, nothing left for a second run."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.protocol import Mapped, Mapper
from gristmill.stages.text import mending
from gristmill.stages.text.encoding_repair import EncodingRepair

DAMAGE = [
    "Ã©", "â€™", "Ã\xa0", "РџСЂРёРІРµС‚", "√©", "é", "’", "\r\n",
    "\r", "\n", "\x85", "\u2028", "\x1b[0m", "\x1b", "[0m",
    "\x00", "\x08", "\x93", "\ufeff", "\u200d", "\u200b", "ع", "ไ", "\ufffd", "\ufffc", "e\u0301", "\U000e0041", "\xad",
    "abc ", "ï¿¼", "Ãƒ", "Â©",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(DAMAGE), max_size=25).map("".join) | st.text(max_size=40)
LENIENT = EncodingRepair(max_replacement_frac=None, max_control_frac=None, max_mojibake_frac=None)


def _batch(texts: Sequence[str | None]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def _texts(mapped: Mapped) -> list[str | None]:
    return mapped.batch.column("text").to_pylist()


def _cut(mapped: Mapped) -> dict[str, list[int]]:
    return {reason: chars.tolist() for reason, chars in mapped.cut_chars.items()}


def test_sound_text_is_returned_as_it_is() -> None:
    batch = _batch(["Plain.\n\tText", "Déjà vu, “été”", "统计语言模型", "", None, "\ufffc a medium"])
    mapped = EncodingRepair().transform(batch)
    assert mapped.batch is batch
    assert mapped.cut_chars == {}
    assert mapped.verdicts == ()


def test_damage_is_mended_and_counted_by_reason() -> None:
    texts = ["dâ€™Ã©tÃ©, dÃ©jÃ\xa0", "a\r\nb\rc", "\x1b[1mbold\x1b[0m\x00 text", None, "\ufeffBOM", "sound"]
    mapped = LENIENT.transform(_batch(texts))
    assert _texts(mapped) == ["d’été, déjà", "a\nb\nc", "bold text", None, "BOM", "sound"]
    assert _cut(mapped) == {
        "mojibake_repaired": [6, 0, 0, 0, 0, 0],
        "line_end": [0, 1, 0, 0, 0, 0],
        "ansi_escape": [0, 0, 8, 0, 0, 0],
        "control_character": [0, 0, 1, 0, 0, 0],
        "invisible_character": [0, 0, 0, 0, 1, 0],
    }
    assert mapped.batch.column("text").null_count == 1


def test_options() -> None:
    broken = _batch(["dâ€™Ã©tÃ©, dÃ©jÃ\xa0", "e\u0301"])
    assert (
        _texts(EncodingRepair(mojibake=False, max_mojibake_frac=None).transform(broken)) == broken["text"].to_pylist()
    )
    composed = EncodingRepair(nfc=True).transform(broken)
    assert _texts(composed)[1] == "é"
    assert _cut(composed)["normal_form"] == [0, 1]


@pytest.mark.parametrize(
    ("text", "reason", "measure", "value"),
    [
        ("\ufffd" + "a" * 98, "replacement_characters", "replacement_frac", 1 / 99),
        ("\ufffd" + "a" * 99, None, "replacement_frac", 0.01),
        ("\x01" + "a" * 18, "control_characters", "control_frac", 1 / 19),
        ("\x01" + "a" * 19, None, "control_frac", 0.05),
        ("“é” (Ã©)", "mojibake", "mojibake_left_frac", 1 / 8),
        ("“é” (Ã©)" + "a" * 12, None, "mojibake_left_frac", 0.05),
    ],
)
def test_drops_at_their_limits(text: str, reason: str | None, measure: str, value: float) -> None:
    mapped = EncodingRepair().transform(_batch(["sound", text]))
    assert mapped.measures[measure].tolist() == [0.0, value]
    assert [(v.row, v.reason, v.measure, v.value) for v in mapped.verdicts] == (
        [(1, reason, measure, value)] if reason else []
    )


def test_each_row_goes_for_one_reason_in_order() -> None:
    mapped = EncodingRepair().transform(_batch(["\ufffd\x01", "\x01"]))
    assert [(v.row, v.reason) for v in mapped.verdicts] == [(0, "replacement_characters"), (1, "control_characters")]
    assert {v.reason for v in mapped.verdicts} <= {r.reason for r in EncodingRepair().reasons()}


@given(st.lists(TEXTS | st.none(), max_size=5), st.booleans())
@settings(max_examples=150, deadline=None)
def test_laws_of_any_text(texts: list[str | None], nfc: bool) -> None:
    stage = replace(LENIENT, nfc=nfc)
    mapped = stage.transform(_batch(texts))
    made = _texts(mapped)
    for row, (before, after) in enumerate(zip(texts, made, strict=True)):
        assert (before is None) == (after is None)
        assert len(before or "") == len(after or "") + sum(cut[row] for cut in _cut(mapped).values())
        assert (before or "").count("\ufffc") == (after or "").count("\ufffc")
        assert not set(after or "") & set("\r\x00\x1b\x85\u2028\ufeff\u202e")
    again = stage.transform(mapped.batch)
    assert again.batch is mapped.batch
    assert set(_cut(mapped)) <= {r.reason for r in stage.reasons()}
    for values in mapped.measures.values():
        assert ((values >= 0) & (values <= 1)).all()
    single = [_texts(stage.transform(_batch([text])))[0] for text in texts]
    assert single == made


def test_slices_are_seen_as_they_are() -> None:
    batch = _batch(["a\r\n", None, "b\x00", "c"]).slice(1, 2)
    assert _texts(LENIENT.transform(batch)) == [None, "b"]


@pytest.mark.parametrize("size", [7, 8, 9, 64])
def test_pieces_do_not_show(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mending, "PIECE_BYTES", size)
    text = "a\r\nbé\r\n统计\x00语言\r\n" * 5
    raw = np.frombuffer(text.encode(), dtype=np.uint8)
    assert "".join(mending.pieces(raw)) == text
    assert mending.mend(raw, True, True).text == text.replace("\r", "").replace("\x00", "").encode()
    endless = "\r" * 20 + "\r\n" + "é" * 20
    assert "".join(mending.pieces(np.frombuffer(endless.encode(), dtype=np.uint8))) == endless


@pytest.mark.parametrize("params", [{"max_control_frac": 1.5}, {"max_mojibake_frac": -0.1}])
def test_wrong_limits_are_refused(params: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        replace(EncodingRepair(), **params)


def test_is_a_mapper() -> None:
    assert isinstance(EncodingRepair(), Mapper)
