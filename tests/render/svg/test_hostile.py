"""Hostile SVG costs one record, never the run: with the strict reader before the engines, and should it miss one."""

import dataclasses

import pytest

from gristmill.manifests.child import ChildFailure, ChildLimits, KillableChild
from gristmill.manifests.effects import EFFECTS, PATIENCE, effects_of_task, facts_of_effects, patient
from gristmill.render.protocol import Rejected
from gristmill.render.svg import engines
from gristmill.render.svg.domain import SvgDomain
from gristmill.render.svg.wire import Message
from tests.render.svg.drawings import HAND_WRITTEN, HEAD, code
from tests.render.svg.test_sanitise import HOSTILE

LIMITS = ChildLimits(max_seconds_per_record=1.5, max_rss_bytes=512 << 20, max_output_bytes=1 << 20)
GOOD = f'{HEAD}<rect width="200" height="200" fill="#c00"/></svg>'.replace(">", ' width="64" height="64">', 1)
SIZED = GOOD.split("<rect")[0]
RECT = '<rect width="9" height="9"/>'
BARE = {
    "a circle beyond all numbers": f'{SIZED}<circle r="1e308"/></svg>',
    "20,000 nested groups": SIZED + "<g>" * 20_000 + "</g>" * 20_000 + "</svg>",
    "uses to the power of eight": SIZED
    + f'<g id="u0">{RECT}</g>'
    + "".join(f'<g id="u{n}">' + f'<use href="#u{n - 1}"/>' * 10 + "</g>" for n in range(1, 9))
    + '<use href="#u8"/></svg>',
    "a use of itself": f'{SIZED}<g id="a"><use href="#a"/></g></svg>',
    "a pattern of itself": f'{SIZED}<pattern id="p" width="9" height="9"><rect fill="url(#p)"/></pattern></svg>',
    "an enormous canvas": GOOD.replace('width="64" height="64"', 'width="100000" height="100000"'),
    "entities": f'<!DOCTYPE svg [<!ENTITY a "aaa"><!ENTITY b "&a;&a;&a;">]>{SIZED}<text>&b;</text></svg>',
    "dashes without end": f'{SIZED}<path d="M0 0H1e6" stroke="#000" stroke-dasharray="1e-7"/></svg>',
    "bad path data": f'{SIZED}<path d="200 312 L"/></svg>',
    "no XML": "\x00\x01",
}


@pytest.mark.parametrize("engine", ["cairo", "resvg"])
def test_what_kills_an_engine_costs_one_record(svg: SvgDomain, engine: str) -> None:
    with KillableChild(f"tests.render.svg.bare_engines:{engine}", b"", LIMITS) as child:
        good = child.call(GOOD.encode())
        assert isinstance(good, bytes)
        answers = child.call_many([body for text in BARE.values() for body in (text.encode(), GOOD.encode())])
    outcomes = dict(zip(BARE, answers[::2], strict=True))
    assert all(answer == good for answer in answers[1::2])
    assert all(isinstance(one, bytes) or one.kind != "output_too_large" for one in outcomes.values())
    fatal = {name for name, one in outcomes.items() if isinstance(one, ChildFailure)}
    assert "no XML" in fatal
    assert len(fatal) >= 4, outcomes


@pytest.mark.parametrize("name", HOSTILE)
def test_what_the_reader_refuses_is_rejected_and_the_next_is_drawn(svg: SvgDomain, name: str) -> None:
    reason, text = HOSTILE[name]
    with pytest.raises(Rejected) as rejected:
        svg.render(code(text))
    assert rejected.value.reason == reason
    assert rejected.value.verdict == "drop"
    assert svg.render(code(HAND_WRITTEN["clip"])).png


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_never_pass_as_they_are(svg: SvgDomain, name: str) -> None:
    try:
        mended = svg.existing(HOSTILE[name][1].encode())
    except Rejected as rejected:
        assert rejected.reason in {reason.reason for reason in svg.reasons()}
    else:
        for word in ("script", "http://a", "file:", "/tmp", "<!", "onclick", "ONLOAD", "javascript"):
            assert word not in mended.text


def test_a_record_that_takes_too_long_is_quarantined(svg: SvgDomain) -> None:
    tight = dataclasses.replace(engines.LIMITS, max_seconds_per_record=0.001)
    request = {"what": "draw", "text": HAND_WRITTEN["use"], "width": 4000, "height": 4000, "parts": []}
    with pytest.raises(Rejected) as rejected:
        engines.ask(engines.DRAW, Message(request), tight)
    engines.child(engines.DRAW, tight).close()
    assert (rejected.value.reason, rejected.value.verdict) == ("engine_timeout", "quarantine")


def test_a_record_that_takes_too_much_memory_is_quarantined(svg: SvgDomain) -> None:
    tight = dataclasses.replace(engines.LIMITS, max_rss_bytes=90 << 20)
    request = {"what": "draw", "text": HAND_WRITTEN["use"], "width": 4096, "height": 4096, "parts": []}
    with pytest.raises(Rejected) as rejected:
        engines.ask(engines.DRAW, Message(request), tight)
    engines.child(engines.DRAW, tight).close()
    assert rejected.value.verdict == "quarantine"
    assert rejected.value.reason in ("engine_memory", "engine_error", "engine_died")


def test_what_costs_a_child_its_time_stands_in_the_receipt_and_a_replay_decides_the_same(svg: SvgDomain) -> None:
    tight = dataclasses.replace(engines.LIMITS, max_seconds_per_record=0.001)
    request = Message({"what": "draw", "text": HAND_WRITTEN["use"], "width": 1500, "height": 1500, "parts": []})
    with effects_of_task(None):
        with pytest.raises(Rejected) as first:
            engines.ask(engines.DRAW, request, tight)
        recorded = facts_of_effects()[EFFECTS]
    engines.child(engines.DRAW, tight).close()
    with effects_of_task(recorded):
        with pytest.raises(Rejected) as again:
            engines.ask(engines.DRAW, request)
        assert facts_of_effects()[EFFECTS] == recorded
        assert engines.ask(engines.DRAW, request, tight).head["rows"], "the second was answered, whatever it took"
    assert (again.value.reason, again.value.detail) == (first.value.reason, first.value.detail)
    engines.child(engines.DRAW, patient(tight, PATIENCE)).close()
