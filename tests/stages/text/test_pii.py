"""Personal data: what is found, what is left alone, what it becomes; characters balance; twice changes nothing."""

import json
import time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Mapped
from gristmill.stages.text.pii import Pii
from gristmill.stages.text.pii_numbers import is_card, is_fictional, is_iban, luhn

ALL: Any = ("email", "ip", "phone", "iban", "card")
EVERYTHING = Pii(kinds=ALL, phone_regions=("US",))
FAKE = Pii(kinds=ALL, phone_regions=("US",), replace="fake", seed=3)


def mapped(stage: Pii, *texts: str | None) -> Mapped:
    return stage.transform(document_batch({"text": pa.array(texts, pa.large_string())}))


def masked(text: str, stage: Pii = EVERYTHING) -> str:
    return mapped(stage, text).batch.column("text")[0].as_py()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to a.b+c@mail.foo.org.", "write to <EMAIL>."),
        ("<x_1@foo.co.uk>", "<<EMAIL>>"),
        ("邮箱foo@bar.com请联系", "邮箱<EMAIL>请联系"),
        ("josé@correo.es", "<EMAIL>"),
        ("\U0001f60a x@foo.org \U0001f60a", "\U0001f60a <EMAIL> \U0001f60a"),
        ("http://91.2.30.40/x", "http://<IP_ADDRESS>/x"),
        ("91.2.30.40:80, 91.2.30.40.", "<IP_ADDRESS>:80, <IP_ADDRESS>."),
        ("8.8.8.8 and 8.8.4.4", "<IP_ADDRESS> and <IP_ADDRESS>"),
        ("IP: 1.2.3.4, host=1.2.3.4", "IP: <IP_ADDRESS>, host=<IP_ADDRESS>"),
        ("the address is 1.1.1.1; ping 9.9.9.9", "the address is <IP_ADDRESS>; ping <IP_ADDRESS>"),
        ("[2606:4700:4700::1111]:80", "[<IP_ADDRESS>]:80"),
        ("tel:+1 415 555 2671", "tel:<PHONE>"),
        ("+44 20 7946 0958; +4989636480", "<PHONE>; <PHONE>"),
        ("(415) 555-2671 415-555-2671", "<PHONE> <PHONE>"),
        ("GB82 WEST 1234 5698 7654 32", "<IBAN>"),
        ("DE89370400440532013000.", "<IBAN>."),
        ("card 4012 8888 8888 1881", "card <CARD>"),
    ],
)
def test_what_is_found(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "me@example.com you@mail.example.org a@b.invalid",
        "icon@2x.png style@media.css",
        "git@github.com:owner/name",
        "https://user:pw@host.org/path",
        "%s@host.org",
        "http://x.com<bad>",
        "sd_IN@devanagari.UTF-8",
        "@decorator @media.screen a@b",
        "a@-b.org a@b-.org a@b..org",
        "x" * 65 + "@foo.org",
        "10.0.0.1 192.168.1.1 127.0.0.1 0.0.0.0 169.254.1.1 192.0.2.7",
        "v17.45.200.9 version 17.45.200.9 Version=17.45.200.9 section 17.45.200.9",
        "1.2.3.4 20.0.0.0 2.5.29.21 ship 1.2.3.4 IP 10.0.0.1 18.8.8.8.8 8.8.8.8.8 version 8.8.8.8 IP 20.0.0.0",
        "1.3.6.1.4.1.311.21 256.45.200.9 17.45.200.9.5",
        "foo-17.45.200.9 17.45.200.9-rc1 lib/17.45.200.9/bin",
        "std::a::b fe80::1 ::1 2001:db8::1 2012::now 12:30:45",
        "+1 202-555-0147",
        "x+14155552671 3+4155552671 +35236450.6 +92413760096*t",
        "2023-10-12 10:30:00 123.456.789",
        "GB83 WEST 1234 5698 7654 32",
        "4012 8888 8888 1882 4012888888881881234 0000000000000000",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert masked(text) == text
    assert masked(text, FAKE) == text


def test_numbers_are_counted_and_characters_balance() -> None:
    found = mapped(EVERYTHING, "é a@foo.org b@foo.org 91.2.30.40", None, "nothing")
    assert found.measures["emails"].tolist() == [2, 0, 0]
    assert found.measures["ips"].tolist() == [1, 0, 0]
    assert found.cut_chars["pii"].tolist() == [9 + 9 + 10, 0, 0]
    assert found.cut_chars["pii_replacement"].tolist() == [-(7 + 7 + 12), 0, 0]
    assert found.batch.column("text")[1].as_py() is None


def test_only_the_kinds_asked_for() -> None:
    assert masked("a@foo.org 91.2.30.40", Pii(kinds=("ip",))) == "a@foo.org <IP_ADDRESS>"
    assert masked("a@foo.org 91.2.30.40", Pii(kinds=())) == "a@foo.org 91.2.30.40"
    assert masked("(415) 555-2671", Pii()) == "(415) 555-2671"
    assert masked("(089) 636-48018, 12.10.2023", Pii(phone_regions=("DE",))) == "<PHONE>, 12.10.2023"


def test_a_fake_is_the_same_for_the_same_thing() -> None:
    one, two, other = masked("Bob@foo.org bob@foo.org rob@foo.org", FAKE).split()
    assert one == two != other
    assert one.endswith("@example.com")
    assert masked("bob@foo.org", FAKE) == one
    assert masked("bob@foo.org", Pii(replace="fake", seed=4)) != one


def test_places_of_files_move_with_the_text() -> None:
    bodies = ["ü x@foo.org\n", "none\n", "\U0001f60a y@foo.org z@foo.org\n", "end\n"]
    text, files = "", list[dict[str, object]]()
    for body in bodies:
        text += "=== p ===\n"
        files.append({"path": "p", "start": len(text), "end": len(text) + len(body)})
        text += body
    meta = json.dumps({"code": {"path": "r", "files": files}})
    columns = {"text": pa.array([text], pa.large_string()), "meta": pa.array([meta], pa.large_string())}
    row = Pii().transform(document_batch(columns)).batch.to_pylist()[0]
    places = [(f["start"], f["end"]) for f in json.loads(row["meta"])["code"]["files"]]
    assert [row["text"][start:end] for start, end in places] == [masked(body) for body in bodies]


@pytest.mark.parametrize(
    "meta", ['{"files":[]}', '{"c":{"files":[{"start":true,"end":"x"}]}}', '{"files"', '[{"files":1}]']
)
def test_meta_of_another_shape_stays(meta: str) -> None:
    columns = {"text": pa.array(["x@foo.org"], pa.large_string()), "meta": pa.array([meta], pa.large_string())}
    assert Pii().transform(document_batch(columns)).batch.column("meta")[0].as_py() == meta


def test_checks_of_numbers() -> None:
    assert luhn(b"4012888888881881") and not luhn(b"4012888888881882")
    assert is_iban(b"NO9386011117947") and not is_iban(b"NO93860111179470")
    assert is_card(b"378282246310005") and not is_card(b"3782 8224 6310 005")
    assert is_fictional(1, 2025550100) and is_fictional(1, 2025550199) and not is_fictional(1, 2025550200)


def test_wrong_parameters() -> None:
    with pytest.raises(UsageError, match="unknown region"):
        Pii(phone_regions=("XX",))


PIECES = st.sampled_from(
    (
        *(
            "a",
            "@",
            ".",
            "com",
            "x@foo.org",
            "91.2.30.40",
            "1",
            "22",
            "+",
            "+1",
            "415",
            "-",
            " ",
            "555",
            "2671",
            "::",
            ":",
        ),
        *(
            "2606",
            "é",
            "\U0001f468\u200d\U0001f469",
            "中",
            "\u202e",
            "\x00",
            "GB82WEST12345698765432",
            "4012888888881881",
        ),
        *("v", "/", "//", "\n", "_", "(", ")", "%", "\ufffc", "0", "ABCD", "b.net"),
    )
)
HOSTILE = st.one_of(st.lists(PIECES, max_size=24).map("".join), st.text(max_size=60))


@settings(max_examples=400, deadline=None)
@given(text=HOSTILE, stage=st.sampled_from([EVERYTHING, FAKE, Pii()]))
def test_twice_changes_nothing_and_characters_balance(text: str, stage: Pii) -> None:
    batch = document_batch({"text": pa.array([text], pa.large_string())})
    once = run_chain([stage], batch)
    after = once.kept.column("text")[0].as_py()
    assert sum(int(cut[0]) for cut in once.steps[0].cut_chars.values()) == len(text) - len(after)
    once.kept.validate(full=True)
    again = stage.transform(once.kept)
    assert again.batch.column("text")[0].as_py() == after
    assert not any(count.any() for count in again.measures.values())


@pytest.mark.parametrize("unit", ["a@b.co ", "a@", "91.2.30.40,", "+1", "2606:", "1.", "12-", "\U0001f60a@"])
def test_time_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        before = time.process_time()
        mapped(EVERYTHING, text)
        return time.process_time() - before

    seconds(1000)
    small = min(seconds(20_000) for _ in range(3))
    assert seconds(160_000) < 40 * max(small, 0.005)
