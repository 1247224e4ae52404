"""What stands under the families: words, colours, styles, trees, markup, skeletons, pages built by script."""

import json
import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.render.draws import Draws
from gristmill.render.web.bank import LANGUAGES, LISTS, UI, parsed, words
from gristmill.render.web.components import repeated, scripted
from gristmill.render.web.formats import clock, date, money
from gristmill.render.web.markup import inline, written
from gristmill.render.web.page import setting
from gristmill.render.web.palette import GROUNDS, MIN_CONTRAST, contrast, palette
from gristmill.render.web.skeleton import folded, skeleton
from gristmill.render.web.styles import BASE, MODES, declarations, dressed
from gristmill.render.web.tree import Node, el, parts_of, text_of


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_language_has_every_word(lang: str) -> None:
    bank = words(lang)
    assert set(bank.lists) == {name for name, _ in LISTS}
    assert all(bank.ui[key] for keys in UI.values() for key in keys)
    assert all(len(pair) == 2 for pair in bank.pairs("faq") + bank.pairs("terms"))
    assert all(len(asked) == 5 for asked in bank.pairs("quiz"))


def test_a_bank_that_lacks_a_word_is_refused() -> None:
    text = files("gristmill.render.web.words").joinpath("en.txt").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"en\.txt, people: 11 values, not 12"):
        parsed("en", text.replace("Alice Morgan|", ""))
    with pytest.raises(ValueError, match="unheard"):
        parsed("en", text + "unheard: of\n")
    with pytest.raises(ValueError, match="no word bank"):
        words("xx")


@pytest.mark.parametrize("dark", [True, False])
def test_palettes_can_be_read(dark: bool) -> None:
    for slot in range(300):
        colours = palette(Draws("palette", slot), dark)
        poor = [
            (ink, ground)
            for ink, grounds in GROUNDS.items()
            for ground in grounds
            if contrast(colours[ink], colours[ground]) < MIN_CONTRAST - 0.05
        ]
        assert poor == []


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)
    assert contrast("#123456", "#123456") == 1


def test_an_element_is_what_its_spec_says() -> None:
    node = el("a.btn.wide#buy@button", {"href": "#"}, "Buy ", [el("b", "now"), None])
    assert (node.tag, node.names, node.role) == ("a", ("btn", "wide"), "button")
    assert inline(node) == '<a id="buy" href="#">Buy <b>now</b></a>'
    assert [(part.key, part.role, part.text) for part in parts_of(node)] == [("buy", "button", "Buy now")]
    with pytest.raises(ValueError, match="not tag"):
        el("a b")


@given(st.text(), st.text())
def test_no_text_gets_out_of_its_element(text: str, value: str) -> None:
    line = inline(el("p", {"title": value}, text))
    assert re.findall(r"<[^>]*>", line) == [line[: line.index(">") + 1], "</p>"]
    assert line.count("<") == 2


@given(st.text())
def test_any_text_has_a_skeleton(text: str) -> None:
    assert skeleton(text) == skeleton(text)


def test_a_skeleton_knows_layout_not_lengths_words_or_colours() -> None:
    one = "<html><head><title>x</title></head><body><ul><li><b>1</b></li><li><b>2</b></li></ul></body></html>"
    more = (
        '<html><head></head><body class="k"><ul>' + "<li style='color:#fff'><b>9</b></li>" * 7 + "</ul></body></html>"
    )
    other = "<html><body><ul><li><b>1</b></li><li><i>2</i></li></ul></body></html>"
    assert skeleton(one) == skeleton(more) == "html(body(ul(li(b))))"
    assert skeleton(other) != skeleton(one)
    assert folded(["a", "b", "a", "b", "a", "c", "c"]) == ["a", "b", "a", "c"]
    assert skeleton('<svg viewBox="0 0 1 1"><path d="M0 0"/></svg><input type="text">') == "svg,input[text]"


def test_later_styles_win_in_every_way_of_writing() -> None:
    sheet = {**BASE, "late": "color:$bad;gap:$s1"}
    tokens = {name: "#111111" for name in ("bad", "muted", "text")} | {"s1": "4px", "s2": "8px"}
    assert declarations(("late", "row", "muted"), sheet)["gap"] == "$s1"
    for mode in MODES:
        root = el("body", el("div.late.row.muted", "x"))
        rules = dressed(root, sheet, {"mode": mode, "vars": False, "block": "page"}, tokens)
        node = root.children[0]
        assert isinstance(node, Node)
        css = " ".join(body for _, body in rules) + str(node.attrs.get("style", ""))
        assert "4px" in css
        assert ("class" in node.attrs) == (mode != "inline")
    with pytest.raises(KeyError, match="nowhere"):
        dressed(el("p.nowhere"), sheet, {"mode": "classes", "vars": False, "block": "page"}, tokens)


def test_indentation_changes_no_text() -> None:
    markup = {"indent": "  ", "slash": False, "notes": False}
    node = el(
        "div",
        el("p", "one ", el("b", "two"), " three"),
        el("pre", "a\n  b"),
        el("ul", [el("li", el("p", "x"), el("p", "y"))]),
    )
    lines = written(node, markup)
    assert "  <p>one <b>two</b> three</p>" in lines
    assert "  <pre>a\n  b</pre>" in lines
    assert text_of(node).startswith("one two three")


def test_a_list_built_by_script_holds_what_it_held() -> None:
    items = [el("li", {"data-k": str(k)}, el("b", f"`{k}` </b> ${{x}}"), " same") for k in range(4)]
    root = el("body", el("ul", items))
    before = inline(root)
    (script,) = scripted(root)
    holder = root.children[0]
    assert isinstance(holder, Node) and holder.children == [] and holder.attrs["id"] == "items"
    source = str(script.children[0])
    rows = json.loads("[" + source.split("const items = [")[1].split("\n];", maxsplit=1)[0].replace("<\\/", "</") + "]")
    template = source.split("=> `")[1].split("`;\n", maxsplit=1)[0].replace("<\\/", "</")
    built = "".join(re.sub(r"\$\{item\[(\d+)\]\}", lambda m, row=row: row[int(m[1])], template) for row in rows)
    assert f"<body><ul>{built}</ul></body>" == before
    assert repeated(el("body", el("ul", el("li", "a"), el("li", "b")))) is None
    assert scripted(el("body", el("p", "x"))) == []


def test_numbers_are_written_as_the_language_does() -> None:
    assert money("en", 123456) == "£1,234.56"
    assert money("de", 123456) == "1.234,56\u00a0€"
    assert money("fr", -50) == "-0,50\u00a0€"
    assert money("ja", 1250) == "¥1,250"
    assert date("ja", 3, 4, 2026) == "2026年4月3日"
    assert date("de", 3, 4, 2026) == "3. April 2026"
    assert clock(61) == "01:01"


def test_settings_are_various_and_repeatable() -> None:
    seen = [setting(Draws("setting", slot)) for slot in range(400)]
    assert seen == [setting(Draws("setting", slot)) for slot in range(400)]
    assert {params["lang"] for _, params in seen} == set(LANGUAGES)
    assert {view.scale for view, _ in seen} == {1.0, 1.5, 2.0}
    assert {params["markup"]["mode"] for _, params in seen} == set(MODES)
    widths = {view.width_px for view, _ in seen}
    assert min(widths) == 360 and max(widths) == 1440 and not any(430 < width < 1024 for width in widths)
    assert 0.2 < sum(params["dark"] for _, params in seen) / 400 < 0.45
    assert sum(params["script"] for _, params in seen) / 400 < 0.2
