"""Each form asks for what can be answered, and its answer is true."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.coordinates import Size, iou
from gristmill.manifests.coordinates_text import VIEWS, read_box, read_point
from gristmill.manifests.schema import MEDIUM_CHAR
from gristmill.stages.vision.changes import colour_change, text_change
from gristmill.stages.vision.choice import Choice
from gristmill.stages.vision.compare import compare
from gristmill.stages.vision.edit import edit
from gristmill.stages.vision.form import Form
from gristmill.stages.vision.locate import locate
from gristmill.stages.vision.point import point
from gristmill.stages.vision.read_text import read_text
from gristmill.stages.vision.rewrite import rewrite
from gristmill.stages.vision.scene import Scene, fenced, scene_of
from gristmill.stages.vision.to_code import to_code
from gristmill.stages.vision.to_words import MAX_ELEMENTS, to_words
from tests.stages.vision.scenes import element, pair, scene

SEEDS = st.integers(0, 10_000)
BOX = (10.0, 10.0, 50.0, 40.0)


def scene_of_pair(seed: int) -> Scene:
    record = pair(seed)
    found = scene_of(record["id"], record["meta"], record["text"], record["media"][0])
    assert found is not None
    return found


def answers(form: Form) -> list[str]:
    return [form.text[start:stop] for start, stop in form.answers]


def question_of(form: Form, number: int) -> str:
    """The paragraph before an answer."""
    return form.text[: form.answers[number][0]].strip().rpartition("\n\n")[2]


@given(SEEDS)
def test_locate_gives_the_boxes_of_what_it_names(seed: int) -> None:
    found = scene_of_pair(seed)
    form = locate(found, Choice(seed), 3)
    assert form is not None and form.view is not None and 1 <= len(form.answers) <= 3
    for number, (answer, target) in enumerate(zip(answers(form), form.targets, strict=True)):
        (wanted,) = [e for e in found.elements if e.id == target]
        box = read_box(answer, form.view, found.size)
        assert box is not None and iou(box, wanted.visible) > 0.8
        assert wanted.name in question_of(form, number)
        assert sum(e.name == wanted.name for e in found.elements) == 1
    words = "320x200" if form.view == "pixels" else "[0, 1]"
    assert words in form.text and form.text.count(MEDIUM_CHAR) == 1 == form.picture


@given(SEEDS)
def test_points_lie_on_what_they_are_asked_for(seed: int) -> None:
    found = scene_of_pair(seed)
    form = point(found, Choice(seed), 9)
    assert form is not None and form.view is not None
    for number, (answer, target) in enumerate(zip(answers(form), form.targets, strict=True)):
        (wanted,) = [e for e in found.elements if e.id == target]
        at = read_point(answer, form.view, found.size)
        assert at is not None
        assert wanted.visible[0] <= at[0] < wanted.visible[2] and wanted.visible[1] <= at[1] < wanted.visible[3]
        assert wanted.name in question_of(form, number)


@given(SEEDS)
def test_texts_are_those_in_the_boxes(seed: int) -> None:
    found = scene_of_pair(seed)
    form = read_text(found, Choice(seed), 9)
    assert form is not None and form.view is not None
    for number, answer in enumerate(answers(form)):
        box = read_box(question_of(form, number), form.view, found.size)
        assert box is not None
        best = max((e for e in found.elements if e.text), key=lambda e: iou(e.visible, box))
        assert best.text == answer


@given(SEEDS)
def test_an_edited_code_differs_where_it_is_told_to(seed: int) -> None:
    found = scene_of_pair(seed)
    form = edit(found, Choice(seed), 1)
    assert form is not None
    (answer,) = answers(form)
    before, after = fenced(found.code, "svg").splitlines(), answer.splitlines()
    changed = [(b, a) for b, a in zip(before, after, strict=True) if b != a]
    assert changed
    ask = question_of(form, 0)
    if form.targets:
        assert len(changed) == 1 and len(form.targets) == 1
    else:
        old, new = (
            re.findall(r"#[0-9a-f]{6}", ask) if ask.startswith("Replace") else re.findall(r"#[0-9a-f]{6}", ask)[::-1]
        )
        assert all(b.replace(old, new) == a for b, a in changed) and old not in answer


@given(SEEDS)
def test_of_two_versions_the_named_one_is_the_record_s(seed: int) -> None:
    found = scene_of_pair(seed)
    form = compare(found, Choice(seed), 1)
    if form is None:
        assert text_change(found, Choice(seed)) is None
        return
    (answer,) = answers(form)
    blocks = dict(re.findall(r"^([AB]):\n\n```svg\n(.*?)\n```", form.text, re.M | re.S))
    assert blocks[answer[0]] == found.code and blocks["AB".replace(answer[0], "")] != found.code
    assert form.text.count(MEDIUM_CHAR) == 1


def test_either_version_comes_first() -> None:
    forms = [compare(scene_of_pair(seed), Choice(seed), 1) for seed in range(40)]
    firsts = {answers(f)[0][0] for f in forms if f}
    assert firsts == {"A", "B"}


@given(SEEDS)
def test_code_and_description_are_those_of_the_record(seed: int) -> None:
    found = scene_of_pair(seed)
    form, words = to_code(found, Choice(seed), 1), to_words(found, Choice(seed), 1)
    assert form is not None and answers(form) == [fenced(found.code, "svg")] and form.picture
    assert words is not None and words.view is not None and not words.picture and MEDIUM_CHAR not in words.text
    assert "some of" in question_of(words, 0), "a picture may show more than its annotations tell"
    lines = answers(words)[0].splitlines()
    assert len(lines) == len(found.elements)
    for line, wanted in zip(lines, found.elements, strict=True):
        box = read_box(line, words.view, found.size)
        assert box is not None and iou(box, wanted.visible) > 0.8
        assert wanted.role in line and wanted.text in line


@given(SEEDS)
def test_a_rewritten_code_is_the_form_that_the_record_has(seed: int) -> None:
    found = scene_of_pair(seed)
    form = rewrite(found, Choice(0, found.id, "rewrite"), 4)
    known = found.meta["code_forms"]
    assert (form is None) == (known is None)
    if form is not None:
        assert not form.picture and form.view is None and MEDIUM_CHAR not in form.text
        assert answers(form) == [fenced(known["minified"], "svg")]
        assert form.text.startswith(fenced(found.code, "svg"))


@pytest.mark.parametrize(
    "told",
    [[], "x", 7, {}, {"minified": 7}, {"minified": ""}, {"other": "<svg/>"}, {"pretty": f"<svg>{MEDIUM_CHAR}</svg>"}],
)
def test_forms_of_another_shape_are_not_asked_for(told: object) -> None:
    found = scene_of_pair(1)
    same = dataclasses.replace(found, meta={**found.meta, "code_forms": told})
    assert rewrite(same, Choice(0, "a"), 4) is None
    same = dataclasses.replace(found, meta={**found.meta, "code_forms": {"pretty": found.code}})
    assert rewrite(same, Choice(0, "a"), 4) is None


def test_a_description_says_what_is_hidden_and_never_how_much_there_is() -> None:
    told = [element("bar", "", BOX, visible_frac=0.5, truncated=True), element("dot", "", (0.0, 0.0, 1.0, 1.0))]
    form = to_words(scene(told), Choice(1), 1)
    assert form is not None
    (only,) = answers(form)[0].splitlines()
    assert only.endswith(", partly hidden, cut by the edge")
    many = [element(f"dot {i}", "", (float(i), 0.0, i + 5.0 + i / 100, 9.0)) for i in range(MAX_ELEMENTS + 5)]
    form = to_words(scene(many), Choice(1), 1)
    assert form is not None
    assert len(answers(form)[0].splitlines()) == MAX_ELEMENTS
    assert "dot 44:" in form.text and "dot 4:" not in form.text and "more" not in answers(form)[0]


def test_views_come_as_often() -> None:
    forms = [locate(scene_of_pair(seed), Choice(seed), 1) for seed in range(200)]
    count = sum(f.view == VIEWS[0] for f in forms if f)
    assert 70 < count < 130


def test_what_cannot_be_asked_for_is_not() -> None:
    same = [element("label", "Sales", BOX), element("label", "Sales", (60.0, 10.0, 90.0, 40.0))]
    assert locate(scene(same), Choice(1), 3) is None, "two of one name"
    small = [element("dot", "", (10.0, 10.0, 12.0, 12.0))]
    for form in (locate, point, to_words):
        assert form(scene(small), Choice(1), 3) is None, "too small"
    assert point(scene([element("bar", "", BOX, point=None)]), Choice(1), 3) is None
    for more in ({"truncated": True}, {"visible_frac": 0.9}):
        assert read_text(scene([element("label", "x", BOX, **more)]), Choice(1), 3) is None
    two = [element("label", "outer", BOX), element("label", "inner", (20.0, 20.0, 40.0, 30.0))]
    form = read_text(scene(two), Choice(1), 3)
    assert form is not None and answers(form) == ["inner"]
    for maker in (locate, point, read_text, to_words, edit, compare):
        assert maker(scene([]), Choice(1), 3) is None


@pytest.mark.parametrize(
    "code",
    [
        "<text>Sales</text><text>Sales</text>",
        "<text>Total Sales</text>",
        "<!-- Sales --><text>Sales</text>",
        '<text id="Sales">Sales</text>',
    ],
)
def test_a_text_that_stands_elsewhere_too_is_not_changed(code: str) -> None:
    told = [element("label", "Sales", BOX), element("label", "Costs", (60.0, 10.0, 90.0, 40.0))]
    assert text_change(scene(told, code), Choice(1)) is None
    assert text_change(scene(told, "<text>Sales</text>"), Choice(1)) is not None


def test_hidden_texts_are_not_changed() -> None:
    told = [element("label", "Sales", BOX, visible_frac=0.4), element("label", "Costs", (60.0, 10.0, 90.0, 40.0))]
    assert text_change(scene(told, "<text>Sales</text>"), Choice(1)) is None


def test_numbers_change_to_others_of_as_many_digits() -> None:
    found = {
        c.new for seed in range(60) if (c := text_change(scene([element("n", "7", BOX)], "<t>7</t>"), Choice(seed)))
    }
    assert found and "7" not in found and all(len(n) == 1 for n in found)


def test_only_whole_colours_change() -> None:
    change = colour_change(scene([], "a{fill:#1f77b4}b{fill:#1f77b4ff}c{fill:#1F77B4}"), Choice(2))
    assert change is not None
    assert change.code.count("#1f77b4ff") == 1 and len(change.code) == len(
        "a{fill:#1f77b4}b{fill:#1f77b4ff}c{fill:#1F77B4}"
    )
    assert colour_change(scene([], "no colour #12 #1234567"), Choice(1)) is None


def test_a_fence_is_longer_than_those_in_the_code() -> None:
    assert fenced("a ```` b", "svg") == "`````svg\na ```` b\n`````"
    record = pair(1)
    found = scene_of(
        record["id"], '{"render": {}}', fenced("x ``` y\n", "html") + f"\n\n{MEDIUM_CHAR}", record["media"][0]
    )
    assert found is not None and (found.code, found.language) == ("x ``` y\n", "html")


METAS = ["", "[]", "null", '{"render": 1}', '{"render": null}', "{" * 2000, '{"other": {}}']


@pytest.mark.parametrize("meta", METAS)
def test_what_is_no_pair_is_none(meta: str) -> None:
    record = pair(3)
    assert scene_of("i", meta, record["text"], record["media"][0]) is None


HOSTILE = st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda x: st.lists(x, max_size=4))


@given(SEEDS, st.dictionaries(st.sampled_from(["code_chars", "language", "views"]), HOSTILE), st.text(max_size=30))
def test_any_meta_and_text_make_a_scene_or_none(seed: int, known: dict[str, object], text: str) -> None:
    import json

    record = pair(seed)
    for given_text in (text, record["text"]):
        found = scene_of("i", json.dumps({"render": known}), given_text, record["media"][0])
        assert found is None or (found.code in given_text and MEDIUM_CHAR not in found.code)


@pytest.mark.parametrize(
    "broken",
    [
        {"bbox_visible": None},
        {"bbox_visible": [1.0, 2.0, None, 4.0]},
        {"bbox_full": [0.0, 0.0, 400.0, 10.0]},
        {"bbox_visible": [5.0, 5.0, 5.0, 9.0]},
        {"bbox_visible": [float("nan")] * 4},
        {"role": ""},
        {"role": None},
        {"text": f"a{MEDIUM_CHAR}b"},
        {"text": "two\nlines"},
    ],
)
def test_a_broken_annotation_is_left_out(broken: dict[str, object]) -> None:
    record = pair(4)
    medium = record["media"][0]
    whole = len(medium["annotations"])
    medium["annotations"][0] = {**medium["annotations"][0], **broken}
    found = scene_of("i", record["meta"], record["text"], medium)
    assert found is not None and len(found.elements) == whole - 1


def test_a_point_beside_the_picture_is_none() -> None:
    record = pair(4)
    record["media"][0]["annotations"][0]["point"] = [320.0, 5.0]
    found = scene_of("i", record["meta"], record["text"], record["media"][0])
    assert found is not None and found.elements[0].point is None and found.size == Size(320, 200)


def test_only_what_is_set_in_letters_is_read() -> None:
    record = pair(3)
    annotations = record["media"][0]["annotations"]
    for place, one in enumerate(annotations):  # as SVG of `render` has them: places in document order
        one["id"] = str(place + 1)
        one["text"] = one["text"] or f"bar of {place}"
    found = scene_of(record["id"], record["meta"], record["text"], record["media"][0])
    assert found is not None
    said = {one["text"] for one in annotations if one["role"] == "label"}
    forms = [read_text(found, Choice(seed), 9) for seed in range(20)]
    read = {answer for form in forms if form is not None for answer in answers(form)}
    assert read
    assert read <= said
