"""Boilerplate: what is a notice, a row of links, navigation, and what only looks like it; the limit on real pages."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.text.boilerplate import Boilerplate
from gristmill.stages.text.boilerplate_words import NOTICES

MENU = ["Home", "About us", "Products", "News and press", "Contact"]
SENTENCE = "The mill of the miller grinds the corn that is brought to it."
HOSTILE = st.text(st.sampled_from("aZé1'.|>•\n\r\u2028 中ก\u0301\ufffc\0😀"), max_size=40) | st.text(max_size=40)


def measures(text: str | None) -> dict[str, float]:
    batch = document_batch({"text": pa.array([text], pa.large_string())})
    return {name: float(values[0]) for name, values in Boilerplate().measure(batch).items()}


@pytest.mark.parametrize("language", sorted(NOTICES))
def test_notices_of_each_language(language: str) -> None:
    for phrase in NOTICES[language]:
        assert measures(f"2024 {phrase}")["notice_frac"] == 1, phrase
        assert measures(f"2024 {phrase.upper()}")["notice_frac"] == 1, phrase


def test_a_notice_is_short() -> None:
    phrase = "All rights reserved"
    assert measures(f"{phrase} {'by us ' * 11}")["notice_frac"] == 1
    assert measures(f"{phrase} {'by us ' * 12}")["notice_frac"] == 0


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("Home | News | About us", True),
        ("Home > Docs > Library > json", True),
        ("Startseite » Über uns » Team", True),
        ("« Vorige · Inhalt · Nächste", True),
        ("Home | News", False),
        ("Home|News|About", False),
        ("| a | b | c |", False),
        ("One of them | another of them | a third one.", False),
        ("1 > 2 > 3", False),
        ("The mill of the miller | grinds all of the corn | that is brought to it now", False),
    ],
)
def test_rows_of_links(line: str, links: bool) -> None:
    assert measures(line)["link_frac"] == float(links)


def test_navigation_is_a_run_of_labels() -> None:
    assert measures("\n".join(MENU))["navigation_frac"] == 1
    assert measures("\n\n".join(f"• {label}" for label in MENU))["navigation_frac"] == 1
    assert measures("\n".join(MENU[:4]))["navigation_frac"] == 0
    assert measures("\n".join([*MENU[:4], SENTENCE, *MENU[:4]]))["navigation_frac"] == 0
    assert measures("首页\n新闻\n关于我们\n产品介绍\n联系方式")["navigation_frac"] == 1


@pytest.mark.parametrize(
    "line",
    [
        "A line of verse, and so on,",
        "It ends here.",
        "x = y + 1",
        "total 12 34 56",
        "lower case words",
        "One two three four five",
        "A heading that is just too long",
        "12 Main Street 4512",
    ],
)
def test_what_is_no_label(line: str) -> None:
    assert measures("\n".join([line] * 9))["navigation_frac"] == 0


def test_the_limit() -> None:
    menu = "\n".join(MENU)
    chars = len("".join(menu.split()))
    at_limit = f"{menu}\n{'x' * (chars - 1)}."
    assert measures(at_limit)["boilerplate_frac"] == 0.5
    batch = document_batch({"text": pa.array([at_limit, at_limit.replace("x", "", 1), "", None], pa.large_string())})
    assert [(f.row, f.reason) for f in run_chain([Boilerplate()], batch).fates] == [(1, "boilerplate")]


def test_real_content_is_far_from_the_limit(shared_data: Path) -> None:
    texts = [path.read_text("utf-8") for path in sorted((shared_data / "web" / "python_doc").glob("*.rst.txt"))]
    batch = document_batch({"text": pa.array(texts, pa.large_string())})
    assert max(Boilerplate().measure(batch)["boilerplate_frac"]) < 0.1


@given(st.lists(HOSTILE | st.none(), max_size=6))
def test_shares_are_shares(texts: list[str | None]) -> None:
    for values in Boilerplate().measure(document_batch({"text": pa.array(texts, pa.large_string())})).values():
        assert values.dtype == np.float64
        assert ((values >= 0) & (values <= 1)).all()


def test_an_impossible_limit_is_refused() -> None:
    with pytest.raises(UsageError):
        Boilerplate(max_boilerplate_frac=1.1)
