"""What the strict reader refuses, by reason; hostile text never gives anything but a tree or a refusal."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("lxml")
pytest.importorskip("tinycss2")

from gristmill.render.svg import grammar
from gristmill.render.svg.sanitise import check
from gristmill.render.svg.vocabulary import ATTRIBUTE_NAMES, ELEMENTS, REFUSALS, Refused
from tests.render.svg.drawings import HAND_WRITTEN, HEAD

REASONS = {reason.reason for reason in REFUSALS}
PIXEL = "data:image/png;base64,"
PIXEL += "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
PIXEL += "hgGAWjR9awAAAABJRU5ErkJggg=="
RECT = '<rect width="9" height="9"'

HOSTILE = {
    "external entity": ("doctype", '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>'),
    "billion laughs": ("doctype", '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>'),
    "bare doctype": ("doctype", f"<!DOCTYPE svg>{HEAD}</svg>"),
    "entity alone": ("not_xml", f"{HEAD}&x;</svg>"),
    "not XML": ("not_xml", f"{HEAD}<g></svg>"),
    "another encoding": ("not_xml", f'<?xml version="1.0" encoding="utf-16"?>{HEAD}</svg>'),
    "html": ("not_svg", "<html/>"),
    "svg without namespace": ("not_svg", "<svg/>"),
    "file picture": ("outside_reference", f'{HEAD}<image href="file:///tmp/x.png"/></svg>'),
    "absolute path picture": ("outside_reference", f'{HEAD}<image href="/tmp/x.png" width="9" height="9"/></svg>'),
    "http picture": ("outside_reference", f'{HEAD}<image href="http://a.example/x.png"/></svg>'),
    "svg as data": ("outside_reference", f'{HEAD}<image href="data:image/svg+xml;base64,AAAA"/></svg>'),
    "broken data": ("bad_value", f'{HEAD}<image href="data:image/png;base64,AAAA"/></svg>'),
    "file use": ("outside_reference", f'{HEAD}<use href="other.svg#a"/></svg>'),
    "http paint": ("outside_reference", f'{HEAD}{RECT} fill="url(http://a.example/x#g)"/></svg>'),
    "path paint": ("outside_reference", f'{HEAD}{RECT} style="fill:url(/tmp/x.svg#g)"/></svg>'),
    "import": ("outside_reference", f"{HEAD}<style>@import 'http://a.example/x.css';</style></svg>"),
    "font face": ("outside_reference", f"{HEAD}<style>@font-face{{src:url(x.woff)}}</style></svg>"),
    "script": ("script", f"{HEAD}<script>1</script></svg>"),
    "handler": ("script", f'{HEAD}{RECT} onclick="x()"/></svg>'),
    "handler in capitals": ("script", f'{HEAD}{RECT} ONLOAD="x()"/></svg>'),
    "javascript address": ("script", f'{HEAD}<use href="javascript:x()"/></svg>'),
    "foreign content": ("script", f"{HEAD}<foreignObject/></svg>"),
    "animation": ("animation", f'{HEAD}<animate attributeName="x"/></svg>'),
    "set": ("animation", f'{HEAD}{RECT}><set attributeName="x"/></rect></svg>'),
    "filter": ("not_by_both", f'{HEAD}<filter id="f"/></svg>'),
    "mask": ("not_by_both", f'{HEAD}<mask id="f"/></svg>'),
    "vector effect": ("not_by_both", f'{HEAD}{RECT} vector-effect="non-scaling-stroke"/></svg>'),
    "blend": ("not_by_both", f'{HEAD}{RECT} style="mix-blend-mode:multiply"/></svg>'),
    "paint order": ("not_by_both", f'{HEAD}{RECT} paint-order="stroke"/></svg>'),
    "transform in CSS": ("not_by_both", f'{HEAD}{RECT} style="transform:rotate(9deg)"/></svg>'),
    "geometry in CSS": ("attribute_not_allowed", f'{HEAD}{RECT} style="x:5px"/></svg>'),
    "nth-child": ("bad_css", f"{HEAD}<style>rect:nth-child(2){{fill:red}}</style></svg>"),
    "media rule": ("bad_css", f"{HEAD}<style>@media print{{rect{{fill:red}}}}</style></svg>"),
    "important": ("bad_css", f'{HEAD}{RECT} style="fill:red !important"/></svg>'),
    "hsl": ("bad_value", f'{HEAD}{RECT} fill="hsl(120 50% 50%)"/></svg>'),
    "colour with alpha": ("bad_value", f'{HEAD}{RECT} fill="#11223344"/></svg>'),
    "no colour": ("bad_value", f'{HEAD}{RECT} fill="blurple"/></svg>'),
    "self use": ("reference_cycle", f'{HEAD}<g id="a"><use href="#a"/></g></svg>'),
    "use by two": ("reference_cycle", f'{HEAD}<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g></svg>'),
    "pattern in itself": (
        "reference_cycle",
        f'{HEAD}<pattern id="p" width="9" height="9">{RECT} fill="url(#p)"/></pattern>{RECT} fill="url(#p)"/></svg>',
    ),
    "gradient in a ring": (
        "reference_cycle",
        f'{HEAD}<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/>{RECT} fill="url(#a)"/></svg>',
    ),
    "clip of itself": ("reference_cycle", f'{HEAD}<clipPath id="c" clip-path="url(#c)">{RECT}/></clipPath></svg>'),
    "use of nothing": ("dangling_reference", f'{HEAD}<use href="#nobody"/></svg>'),
    "paint that is a shape": ("dangling_reference", f'{HEAD}<rect id="r"/>{RECT} fill="url(#r)"/></svg>'),
    "huge number": ("bad_number", f'{HEAD}<circle r="1e308"/></svg>'),
    "infinite": ("bad_number", f'{HEAD}<circle r="1e999"/></svg>'),
    "not a number": ("bad_number", f'{HEAD}<circle r="NaN"/></svg>'),
    "over a million": ("bad_number", f'{HEAD}<rect x="1000001"/></svg>'),
    "scales that multiply": (
        "bad_number",
        HEAD + '<g transform="scale(900)">' * 5 + RECT + "/>" + "</g>" * 5 + "</svg>",
    ),
    "flat transform": ("bad_value", f'{HEAD}{RECT} transform="scale(0)"/></svg>'),
    "transform in words": ("bad_value", f'{HEAD}{RECT} transform="turn(9)"/></svg>'),
    "dashes without end": ("bad_value", f'{HEAD}<path d="M0 0H9" stroke-dasharray="1e-9"/></svg>'),
    "half a path": ("bad_path", f'{HEAD}<path d="200 312 L 5 5"/></svg>'),
    "path of odd numbers": ("bad_path", f'{HEAD}<path d="M0 0L5"/></svg>'),
    "odd points": ("bad_number", f'{HEAD}<polygon points="0 0 5"/></svg>'),
    "unknown element": ("element_not_allowed", f"{HEAD}<blink/></svg>"),
    "foreign element": ("element_not_allowed", f'{HEAD}<x:rect xmlns:x="urn:x"/></svg>'),
    "unknown attribute": ("attribute_not_allowed", f'{HEAD}{RECT} frobnicate="1"/></svg>'),
    "too deep": ("too_deep", HEAD + "<g>" * 70 + "</g>" * 70 + "</svg>"),
    "very deep": ("too_deep", HEAD + "<g>" * 20000 + "</g>" * 20000 + "</svg>"),
    "too many": ("too_large", HEAD + "<g/>" * 2001 + "</svg>"),
    "too long": ("too_large", HEAD + " " * (256 << 10) + "</svg>"),
    "uses that multiply": (
        "too_large",
        HEAD
        + f'<defs><g id="u0">{RECT}/></g>'
        + "".join(f'<g id="u{n}">' + f'<use href="#u{n - 1}"/>' * 10 + "</g>" for n in range(1, 9))
        + '</defs><use href="#u8"/></svg>',
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_refused_with_its_reason(name: str) -> None:
    reason, text = HOSTILE[name]
    with pytest.raises(Refused) as refused:
        check(text.encode())
    assert refused.value.reason == reason, str(refused.value)


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_what_people_write_passes(name: str) -> None:
    assert len(check(HAND_WRITTEN[name].encode()))


def test_small_pictures_pass() -> None:
    assert len(check(f'{HEAD}<image href="{PIXEL}" width="9" height="9"/></svg>'.encode())) == 1


_NAMES = st.sampled_from([*sorted(ELEMENTS), "script", "filter", "x"])
_ATTRIBUTES = st.sampled_from([*sorted(ATTRIBUTE_NAMES), "onload", "x:y", "zzz"])
_VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["url(#a)", "#a", "1e309", "-1", "50%", "inherit", "M0 0", "none", "url(", "0,0 1", "rotate(1)", ""]
    ),
    st.floats().map(str),
)


def _element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def write(name: str, pairs: dict[str, str], inside: list[str]) -> str:
        said = "".join(f" {key}={_quoted(value)}" for key, value in pairs.items())
        return f"<{name}{said}>{''.join(inside)}</{name}>"

    return st.builds(write, _NAMES, st.dictionaries(_ATTRIBUTES, _VALUES, max_size=4), st.lists(children, max_size=4))


def _quoted(value: str) -> str:
    clean = re.sub(r"[^\t\n -\ud7ff]", "", value)
    return '"' + clean.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") + '"'


_TREES = st.recursive(st.just('<rect id="a" width="5" height="5"/>'), _element, max_leaves=12)


@settings(max_examples=60, deadline=None)
@given(_TREES)
def test_any_tree_is_read_or_refused_in_the_vocabulary(tree: str) -> None:
    try:
        root = check(f"{HEAD}{tree}</svg>".encode())
    except Refused as refused:
        assert refused.reason in REASONS
    else:
        assert not re.search(rb"script|onload|zzz", b"".join(str(e.tag).encode() for e in root.iter()))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for whole in (body, HEAD.encode() + body + b"</svg>"):
        try:
            check(whole)
        except Refused as refused:
            assert refused.reason in REASONS


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(list("MmLlHhVvCcSsQqTtAaZz0123456789.,-+e \n")), max_size=60).map("".join))
def test_path_data_that_pass_begin_with_a_move(data: str) -> None:
    try:
        grammar.check_path(data)
    except Refused:
        return
    assert not data.strip() or data.strip()[0] in "Mm"


def test_hostile_paths_take_linear_time() -> None:
    grammar.check_path("M0 0" + "L1 1" * 60_000)
    with pytest.raises(Refused):
        grammar.check_path("M0 0" + "1 1 " * 60_000 + "x")
