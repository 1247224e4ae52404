"""The loop of attempts: what makes a sample, what rejects one, and that nothing but its key decides it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError, VerifyError
from gristmill.render import domains
from gristmill.render.make import (
    MAX_ATTEMPTS,
    MAX_FILE_BYTES,
    Ask,
    Rejection,
    Sample,
    annotation_fault,
    family_of_slot,
    first_failing,
    make_existing,
    make_slot,
    vocabulary,
)
from gristmill.render.pixels import decode
from gristmill.render.protocol import Annotation, Code, Rejected, Report, Shot, Spec, View
from gristmill.stages.protocol import Rule
from tests.render.doodle import FAMILIES, Doodle, painted

ASK = Ask(3, FAMILIES)
RECORD = "0" * 32


def outcomes(domain: Doodle, slots: Sequence[int], ask: Ask = ASK) -> list[Sample | Rejection]:
    return [outcome for slot in slots for outcome in make_slot(domain, ask, slot)]


def existing(text: str, ask: Ask = ASK, domain: Doodle | None = None) -> Sample | Rejection:
    return make_existing(domain or Doodle(), RECORD, "a.doodle", text.encode("utf-8", "surrogatepass"), ask)


def rejected(text: str, ask: Ask = ASK, domain: Doodle | None = None) -> Rejection:
    found = existing(text, ask, domain)
    assert isinstance(found, Rejection)
    return found


GOOD = "canvas 60 40 #ffffff\nrect 5 5 30 30 #aa3311\ndisc 40 20 9 #2255cc\n"


def test_a_sample_is_what_its_code_draws() -> None:
    found = existing(GOOD)
    assert isinstance(found, Sample)
    assert (found.looked.decoded.rgba[..., :3] == painted(found.code)).mean() > 0.98
    assert [one.bbox_full for one in found.looked.annotations] == [(5, 5, 30, 30), (31, 11, 49, 29)]


def test_a_slot_ends_with_its_sample_and_has_at_most_five_attempts() -> None:
    tries = [list(make_slot(Doodle(), Ask(3, ("murky",)), slot)) for slot in range(24)]
    assert all(isinstance(one, Rejection) for attempts in tries for one in attempts[:-1])
    assert {len(attempts) for attempts in tries} <= set(range(1, MAX_ATTEMPTS + 1))
    assert max(len(attempts) for attempts in tries) > 2
    for attempts in tries:
        assert [one.place.attempt for one in attempts] == list(range(len(attempts)))
        assert isinstance(attempts[-1], Sample) or len(attempts) == MAX_ATTEMPTS


def test_nothing_but_its_key_decides_an_attempt() -> None:
    forwards = outcomes(Doodle(), range(8))
    backwards = outcomes(Doodle(), range(7, -1, -1))
    by_id = {one.place.id: one for one in backwards}
    assert len(by_id) == len(forwards)
    for one in forwards:
        other = by_id[one.place.id]
        if isinstance(one, Sample):
            assert isinstance(other, Sample)
            assert (one.code, one.looked.shot.png, one.looked.annotations) == (
                other.code,
                other.looked.shot.png,
                other.looked.annotations,
            )
        else:
            assert (one.place, one.code) == (other.place, other.code)


def test_families_take_turns_and_ids_tell_family_and_seed() -> None:
    names = [family_of_slot(Doodle(), ASK, slot) for slot in range(12)]
    assert sorted(names[:4]) == list(FAMILIES) and names[:4] == names[4:8] == names[8:]
    orders = {tuple(family_of_slot(Doodle(), Ask(seed, FAMILIES), slot) for slot in range(4)) for seed in range(12)}
    assert len(orders) > 3
    ids = {
        next(make_slot(Doodle(), Ask(seed, (family,)), 0)).place.id for seed in (1, 2) for family in ("bars", "dots")
    }
    assert len(ids) == 4


def test_a_rule_that_fails_names_measure_value_and_limit() -> None:
    found = rejected("canvas 60 40 #ffffff\nrect 1 1 3 3 #aa3311\n")
    assert (found.verdict, found.reason, found.measure, found.limit) == ("drop", "blank", "ink_frac", 0.01)
    assert found.value == pytest.approx(4 / 2400)
    assert found.code.startswith("canvas 60 40")


@pytest.mark.parametrize(
    ("text", "reason", "verdict"),
    [
        ("canvas 60\n", "bad_doodle", "drop"),
        (GOOD + "spiral 1 2 3 #fff\n", "bad_doodle", "drop"),
        (GOOD + "crash\n", "engine_lost", "quarantine"),
        (GOOD + "# ￼\n", "medium_char", "drop"),
        ("canvas 60 40 #ffffff\n" + "rect 1 1 9 9 #000000\n" * 300, "too_many_lines", "drop"),
        ("x" * (MAX_FILE_BYTES + 1), "too_large", "quarantine"),
    ],
)
def test_what_is_no_sample_has_one_reason(text: str, reason: str, verdict: str) -> None:
    found = rejected(text)
    assert (found.reason, found.verdict) == (reason, verdict)
    assert reason in {word.reason for word in vocabulary(Doodle())}


def test_an_engine_that_hangs_or_dies_costs_one_attempt() -> None:
    domain = Doodle()
    assert rejected(GOOD + "sleep 9\n", domain=domain).detail.startswith("timeout")
    assert rejected(GOOD + "crash\n", domain=domain).detail.startswith("died")
    assert isinstance(existing(GOOD, domain=domain), Sample)


def test_a_trembling_engine_is_found_out_where_it_is_asked_twice() -> None:
    trembling = GOOD.replace("rect 5", "tremble\nrect 5")
    found = rejected(trembling, Ask(3, FAMILIES, all_twice=True))
    assert (found.reason, found.measure, found.value) == ("not_deterministic", "differing_pixels", 1.0)
    twice = existing(GOOD, Ask(3, FAMILIES, all_twice=True))
    assert isinstance(twice, Sample) and twice.twice


def test_one_attempt_in_sixteen_is_rendered_twice_by_its_code() -> None:
    seen = [existing(f"canvas 60 40 #ffffff\nrect 5 5 {n} 30 #aa3311\n") for n in range(10, 55)]
    again = [existing(f"canvas 60 40 #ffffff\nrect 5 5 {n} 30 #aa3311\n") for n in range(10, 55)]
    twice = [one.twice for one in seen if isinstance(one, Sample)]
    assert 0 < sum(twice) < 10
    assert twice == [one.twice for one in again if isinstance(one, Sample)]


class _Wrong(Doodle):
    """A doodle whose second half tells lies."""

    def __init__(self, **lies: Any) -> None:
        self.lies = lies

    def render(self, code: Code) -> Shot:
        shot = super().render(code)
        return Shot(shot.png, shot.width + self.lies.get("width", 0), shot.height, shot.engine)

    def annotate(self, code: Code, shot: Shot) -> tuple[Annotation, ...]:
        if "reason" in self.lies:
            raise Rejected(self.lies["reason"])
        if "error" in self.lies:
            raise KeyError("a bug")
        found = super().annotate(code, shot)
        return tuple(self.lies["change"](one) for one in found) if "change" in self.lies else found


def changed(one: Annotation, **fields: Any) -> Annotation:
    return Annotation(**{**vars(one), **fields})


def test_a_picture_of_another_size_is_refused() -> None:
    found = rejected(GOOD, domain=_Wrong(width=1))
    assert found.reason == "wrong_size" and found.detail == "60x40, told as 61x40, asked for as 60x40"


@pytest.mark.parametrize(
    "fields",
    [
        {"bbox_visible": (5.0, 5.0, 61.0, 30.0)},
        {"bbox_full": (5.0, 5.0, 5.0, 30.0)},
        {"bbox_full": (float("nan"), 5.0, 8.0, 30.0)},
        {"point": (60.0, 3.0)},
        {"point": (float("inf"), 3.0)},
        {"visible_frac": 0.0},
        {"visible_frac": 1.01},
        {"id": ""},
        {"id": "same"},
    ],
)
def test_an_annotation_that_cannot_be_is_refused(fields: dict[str, Any]) -> None:
    found = rejected(GOOD, domain=_Wrong(change=lambda one: changed(one, **fields)))
    assert found.reason == "bad_annotation" and found.detail


def test_a_reason_that_is_not_declared_stops_the_run() -> None:
    with pytest.raises(VerifyError, match="does not declare"):
        existing(GOOD, domain=_Wrong(reason="moody"))


def test_a_bug_of_a_domain_is_told_with_its_place() -> None:
    with pytest.raises(KeyError) as caught:
        next(make_slot(_Wrong(error=True), ASK, 6))
    assert "slot 6, attempt 0" in caught.value.__notes__[0]


def test_the_first_rule_that_fails_decides_and_nan_fails_none() -> None:
    rules = (Rule("a", "above", 1, "high"), Rule("b", "below", 1, "low"))

    def failing(a: float, b: float) -> str | None:
        found = first_failing(rules, Report({"a": a, "b": b}, "judge"))
        return found.reason if found else None

    assert failing(2, 0) == "high" and failing(1, 0) == "low" and failing(1, 1) is None
    assert failing(float("nan"), float("nan")) is None
    with pytest.raises(KeyError):
        first_failing(rules, Report({"a": 0}, "judge"))


@given(st.tuples(*[st.floats(-10, 50)] * 4), st.tuples(*[st.floats(-10, 50)] * 2), st.floats(-1, 2))
def test_sound_annotations_are_those_within_the_picture(
    box: tuple[float, float, float, float], point: tuple[float, float], frac: float
) -> None:
    one = Annotation("a", "r", "", box, box, point, frac, False, 0)
    x0, y0, x1, y1 = box
    sound = 0 <= x0 < x1 <= 40 and 0 <= y0 < y1 <= 30 and 0 <= point[0] < 40 and 0 <= point[1] < 30 and 0 < frac <= 1
    assert (annotation_fault([one], 40, 30) == "") == sound


def test_pixels_are_compared_whatever_the_encoder() -> None:
    found = existing(GOOD)
    assert isinstance(found, Sample)
    import io

    from PIL import Image

    with Image.open(io.BytesIO(found.looked.shot.png)) as image:
        out = io.BytesIO()
        image.convert("RGBA").save(out, "PNG", compress_level=1)
    again = decode(out.getvalue())
    assert out.getvalue() != found.looked.shot.png
    assert (again.pixels, again.dhash) == (found.looked.decoded.pixels, found.looked.decoded.dhash)
    assert not np.array_equal(again.rgba, np.zeros_like(again.rgba))


def test_a_domain_is_found_by_name_or_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean svg"):
        domains.load("svgg", tmp_path)
    (tmp_path / "mine.py").write_text(Path(__file__).with_name("doodle.py").read_text(encoding="utf-8"))
    (tmp_path / "bare.py").write_text("class Bare:\n    name = 'bare'\n")
    domain = domains.load("./mine.py:Doodle", tmp_path)
    assert domain is domains.load("mine.py:Doodle", tmp_path)
    assert domain.name == "doodle" and str(domains.identity(domain)["file"]).startswith("blake3:")
    json.dumps(domains.identity(domain))
    with pytest.raises(UsageError, match="not a domain"):
        domains.load("./bare.py:Bare", tmp_path)


def test_a_spec_is_plain_data() -> None:
    from gristmill.render.draws import Draws

    spec = Doodle().sample_spec("bars", Draws("x"))
    assert isinstance(spec, Spec) and isinstance(spec.view, View)
    json.dumps(dict(spec.params))
