"""Pages that run out of time stand in the receipt of their task, and a replay decides the same without asking."""

from typing import Any

import pytest

from gristmill.manifests.effects import effects_of_task
from gristmill.manifests.errors import VerifyError
from gristmill.render.protocol import Rejected
from gristmill.render.web.client import Client
from tests.extras.web_pages import skip_without_browser

skip_without_browser()
pytestmark = pytest.mark.timeout(150)
PAGE = "<!doctype html><title>t</title><h1>Some page</h1>%s<button>Go</button>"
HANGS, STORM, PLAIN = PAGE % "<script>while(true){}</script>", PAGE % "<script>for(;;)alert(1)</script>", PAGE % ""


def head(html: str) -> dict[str, Any]:
    return {"job": "take", "ids": [], "html": html, "view": [300, 200, 1.0], "seed": 0, "scripts": True}


def outcome(client: Client, html: str) -> tuple[str, str, str] | bytes:
    try:
        return client.ask(head(html))[1]
    except Rejected as rejected:
        return rejected.reason, rejected.detail, rejected.verdict


def test_what_hung_is_recorded_and_replayed_without_a_browser() -> None:
    client = Client()
    with effects_of_task(None) as met:
        first = [outcome(client, html) for html in (PLAIN, HANGS, STORM)]
    client.close()
    assert [one[::2] for one in first[1:] if isinstance(one, tuple)] == [
        ("page_hangs", "quarantine"),
        ("dialog", "drop"),
    ]
    assert [(number, kind) for number, (_, kind, _) in met.met.items()] == [("1", "timeout"), ("2", "timeout")]
    other = Client()
    with effects_of_task(met.met) as replayed:
        assert outcome(other, PLAIN) == first[0]
        pid = other.pid
        assert [outcome(other, html) for html in (HANGS, STORM)] == first[1:]
        assert other.pid == pid
    assert replayed.met == met.met
    other.close()


def test_a_record_of_other_pages_is_not_taken() -> None:
    client = Client()
    with effects_of_task(None) as met:
        outcome(client, HANGS)
    with effects_of_task(met.met), pytest.raises(VerifyError):
        outcome(client, PLAIN)
    client.close()


def test_a_worker_that_took_too_long_is_recorded() -> None:
    client = Client(max_seconds=0.001)
    with effects_of_task(None) as met:
        told = outcome(client, PLAIN)
    assert told[::2] == ("page_hangs", "quarantine")
    assert [kind for _, kind, _ in met.met.values()] == ["timeout"]
    patient = Client(max_seconds=0.001)
    with effects_of_task({}):
        assert isinstance(outcome(patient, PLAIN), bytes)
    patient.close()
    client.close()
