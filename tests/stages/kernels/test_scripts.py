"""Letters by script: the kernel against its plain twin, and the table."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.stages.kernels.buffers import text_buffers
from gristmill.stages.kernels.scripts import SCRIPTS, scan_scripts
from gristmill.stages.kernels.scripts_plain import scan_document
from gristmill.stages.kernels.stop_table import stop_table

STOP = ("the", "of", "не", "και", "के", "है")
TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from([*STOP, "The", "ΚΑΙ", "统计", "モデル", "\u0301", " ", "x1", "한국", "ไทย", "\U0001f600", "\ufffc"])
).map("".join)


@given(st.lists(TEXTS, max_size=5), st.integers(0, 40))
@settings(max_examples=200)
def test_the_kernel_does_as_its_twin(texts: list[str], max_chars: int) -> None:
    table = stop_table(STOP)
    counts, bits = scan_scripts(*text_buffers(pa.array(texts, pa.large_string())), max_chars, table)
    for row, text in enumerate(texts):
        expected, words = scan_document(text, max_chars, STOP)
        assert dict(zip(SCRIPTS, counts[row].tolist(), strict=True)) == expected
        assert {word for word in STOP if (bits[row] & table.mask([word])).any()} == words


def test_scripts_of_known_letters() -> None:
    letters = "é ж λ ع ש क 統 カ 한 ก ა"
    counts, _ = scan_scripts(*text_buffers(pa.array([letters], pa.large_string())), 100, stop_table(STOP))
    assert dict(zip(SCRIPTS, counts[0].tolist(), strict=True)) == dict.fromkeys(SCRIPTS, 1)


def test_bytes_that_are_not_utf8_stay_within_their_document() -> None:
    text = pa.array([b"\xf0\x9f", b"\xff\xfe\xe4", b"ok"], pa.large_binary()).view(pa.large_string())
    counts, _ = scan_scripts(*text_buffers(text), 100, stop_table(STOP))
    assert counts[2].tolist() == [2] + [0] * (len(SCRIPTS) - 1)
