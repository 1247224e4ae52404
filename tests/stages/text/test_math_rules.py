"""Mathematics: each rule at, above and below its limit, each cut, what proofs and problems keep; ratios in [0, 1]."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.text.math_rules import MathRules

PROSE = "We prove that the sum of the first numbers is what the formula says it is, by induction on the last of them. "
MATHS = "Let $x$ be a number and $y = x^2$ its square, so that $y + 1 > 0$ whatever $x$ may be in the real numbers. "
METAMATH = (
    "${\n  $d x y $.\n  r2exf.1 $e |- F/_ y A $.\n  $( Double quantification. $)\n  r2exf $p |- ph $= wn A $.\n$}\n"
)
LEAN = "theorem mathd_algebra (x : ℝ) (h₀ : x + 3 = 5) : x = 2 :=\nbegin\n  linarith,\nend\n-- a proof by arithmetic\n"
COQ = (
    "Theorem plus_comm : forall n m : nat, n + m = m + n.\nProof.\n  intros n m. induction n. reflexivity.\nQed.\n" * 2
)
GSM = (
    "Natalia sold 48/2 = <<48/2=24>>24 clips in May, for $2 each.\n"
    "In all she sold 48+24 = <<48+24=72>>72 clips.\n#### 72"
)
HOSTILE = st.text(st.sampled_from("$\\(){}[]=+x1 \n`<>\ufffcé中\0😀"), max_size=60) | st.text(max_size=40)


def _batch(texts: Sequence[str | None]) -> pa.RecordBatch:
    return document_batch({"text": pa.array(texts, pa.large_string())})


def _reason(text: str | None, stage: MathRules | None = None) -> str:
    fates = run_chain([stage or MathRules()], _batch([text])).fates
    return fates[0].reason if fates else ""


def _kept(text: str, stage: MathRules | None = None) -> tuple[str, dict[str, int]]:
    mapped = (stage or MathRules()).transform(_batch([text]))
    cut = {reason: int(counts[0]) for reason, counts in mapped.cut_chars.items() if counts[0]}
    return mapped.batch.column("text")[0].as_py(), cut


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("$x$ $y$ $z$ " + "x" * 87, "math_short"),
        ("$x$ $y$ $z$ " + "x" * 88, ""),
        (PROSE.replace("formula", "rule"), "math_no_content"),
        (PROSE.replace("formula", "$x$"), "math_no_content"),
        (PROSE.replace("formula", "$x$") + "$y$", ""),
        ("$x$ and $y$ " + "a b " * 996, ""),
        ("$x$ and $y$ " + "a b " * 998, "math_sparse"),
        (MATHS + r"$\frac{1}{2$ and $\sqrt{$ ", "math_broken_formulas"),
        (MATHS + r"$\frac{1}{2$ and $z$ ", ""),
        (PROSE + r"It is $\frac{1}{2$ and $\sqrt{$ by \alpha and \beta. ", ""),
        (MATHS + "[Math Processing Error] is Math Processing Error here. " * 2, "math_unrendered"),
        (MATHS + "[Math Processing Error] is what it says here. ", ""),
        ("Enter an expression and the equation solver will find $x$ for the roots of it. " * 2, "math_calculator"),
        (MATHS + "Enter an expression. ", ""),
        ("\n".join(["Reply", "Share", "Sign in", MATHS]), "math_mostly_chrome"),
        ("\n".join(["Reply", "Share", MATHS, PROSE]), ""),
        ("", "math_short"),
        (None, "math_short"),
    ],
)
def test_each_rule_at_its_limit(text: str | None, reason: str) -> None:
    assert _reason(text) == reason


@pytest.mark.parametrize("text", [METAMATH, LEAN, COQ, GSM, "设函数 $f(x)=x^2$，求其导数。由定义可得 $f'(x)=2x$。" * 4])
def test_proofs_problems_and_other_scripts_pass(text: str) -> None:
    assert _reason(text) == ""
    assert _kept(text)[1] == {}


def test_null_turns_every_rule_off() -> None:
    bare = MathRules(None, None, None, None, None, None, None)
    assert bare.rules() == ()
    assert _reason("no mathematics", bare) == ""


def test_value_and_limit_stand_beside_the_reason() -> None:
    fates = run_chain([MathRules()], _batch(["$x$"])).fates
    assert [(f.reason, f.measure, f.value, f.limit) for f in fates] == [("math_short", "chars", 3.0, 100.0)]


def test_chrome_is_cut_where_it_comes_in_groups() -> None:
    text, cut = _kept(f"{MATHS}\nPosted by A. Miller on Monday\nReply\nShare\n{MATHS}")
    assert text == f"{MATHS}\n{MATHS}"
    assert cut == {"math_chrome": 42}


@pytest.mark.parametrize(
    "line", ['"Help!"', "Flag", "Answered by a multitude of chimes", "Solution", "Evaluate:", "Reply to it he did"]
)
def test_a_line_by_itself_is_not_cut(line: str) -> None:
    assert _kept(f"{MATHS}\n{line}\n{MATHS}")[1] == {}


def test_far_from_each_other_lines_are_alone() -> None:
    near = "\n".join(["Reply", *[MATHS] * 3, "Share"])
    far = "\n".join(["Reply", *[MATHS] * 4, "Share"])
    assert sum(_kept(near)[1].values()) == 11
    assert _kept(far)[1] == {}


def test_macros_and_messages_on_lines_of_their_own_are_cut() -> None:
    macros = "\\newcommand{\\R}{x} \\newcommand{\\C}{y}\n"
    assert _kept(macros + MATHS) == (MATHS, {"math_macros": len(macros)})
    assert _kept("\\newcommand{\\R}{x}\n" + MATHS)[1] == {}
    assert _kept("[Math Processing Error]\n" + MATHS) == (MATHS, {"math_error": 24})


def test_a_formula_that_the_end_cuts_off_is_cut() -> None:
    assert _kept(MATHS + r"so that $$\frac{1}{") == (MATHS + "so that ", {"cut_off_formula": 11})
    assert _kept(MATHS + r"so that $$\frac{1}{2}$$")[1] == {}
    assert _kept(MATHS + r"so that $$\frac{1}{", MathRules(cut=()))[1] == {}


def test_a_formula_that_is_cut_is_no_fault() -> None:
    measures = MathRules().measure(_batch([MATHS + r"so that $$\frac{1}{"]))
    assert measures["broken_frac"][0] == 0
    assert MathRules(cut=()).measure(_batch([MATHS + r"so that $$\frac{1}{"]))["broken_frac"][0] > 0


def test_pictures_stay() -> None:
    text = f"{MATHS}\nReply\ufffc\nShare\n{MATHS}$$ \ufffc x"
    mapped = MathRules().transform(_batch([text]))
    assert mapped.batch.column("text")[0].as_py().count("\ufffc") == 2


@pytest.mark.parametrize("params", [{"max_broken_frac": 1.5}, {"min_chars": -1}, {"cut": ("prose",)}])
def test_wrong_parameters_are_refused(params: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        MathRules(**params)  # type: ignore[arg-type]


@given(st.lists(HOSTILE | st.none(), max_size=5))
@settings(deadline=None)
def test_measures_are_total_and_characters_balance(texts: list[str | None]) -> None:
    stage, batch = MathRules(), _batch(texts)
    mapped = stage.transform(batch)
    for name, values in mapped.measures.items():
        assert len(values) == len(texts)
        if name.endswith("_frac"):
            assert ((np.nan_to_num(values) >= 0) & (np.nan_to_num(values) <= 1)).all(), name
    after = mapped.batch.column("text").to_pylist()
    for row, text in enumerate(texts):
        assert len(text or "") == len(after[row] or "") + sum(int(c[row]) for c in mapped.cut_chars.values())
    for name, values in stage.measure(batch).items():
        np.testing.assert_array_equal(values, mapped.measures[name])


@given(st.lists(HOSTILE, min_size=1, max_size=5), st.data())
@settings(deadline=None)
def test_a_batch_is_the_sum_of_its_slices(texts: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    batch, stage = _batch(texts), MathRules()
    whole = stage.measure(batch)
    parts = [stage.measure(part) for part in (batch.slice(0, cut), batch.slice(cut))]
    for name, values in whole.items():
        np.testing.assert_array_equal(values, np.concatenate([part[name] for part in parts]))


def test_the_real_problems_and_proofs_pass(shared_data: Path) -> None:
    lines = (shared_data / "math" / "gsm8k" / "test.jsonl").read_text("utf-8").splitlines()[:300]
    problems = ["{question}\n{answer}".format(**json.loads(line)) for line in lines]
    proofs = [path.read_text("utf-8") for path in sorted((shared_data / "math" / "miniF2F").rglob("*.mm"))[:100]]
    assert problems
    assert run_chain([MathRules()], _batch([*problems, *proofs])).fates == []
