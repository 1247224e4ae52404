"""`gristmill stage`: what stages say of files of each kind, as scripts and people see it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gristmill.manifests.errors import EXIT_DONE, EXIT_INPUT
from gristmill.pipeline.judge import kind_of_file
from tests.pipeline.test_cli import gristmill

FILTER = '''
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.stages.doc_filter import doc_filter
from gristmill.stages.protocol import Mapped, Reason

@doc_filter(drop_above={"upper_frac": 0.3})
def shouting(text):
    """Documents written mostly in capitals."""
    letters = [c for c in text if c.isalpha()]
    return {"upper_frac": sum(c.isupper() for c in letters) / max(len(letters), 1)}

@doc_filter(drop_below={"upper_frac": 0.0})
def fussy(text):
    """Fails on some documents."""
    if "!" in text:
        raise ValueError("no shouting here")
    return {"upper_frac": 0.5}

@dataclass(frozen=True)
class Trim:
    """Takes white space off both ends."""

    name: ClassVar[str] = "trim"
    version: ClassVar[int] = 1

    def reasons(self):
        return (Reason("white_space", "drop", "white space at an end"),)

    def transform(self, batch):
        text = pc.utf8_trim_whitespace(batch.column("text"))
        index = batch.schema.get_field_index("text")
        return Mapped(batch.set_column(index, batch.schema.field(index), text))
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.py").write_text(FILTER)
    return tmp_path


def judge(folder: Path, *words: str, text: str | None = None) -> list[dict[str, Any]]:
    done = gristmill("stage", "judge", *words, "--json", text=text, cwd=folder)
    assert done.returncode == EXIT_DONE, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)["files"]


def test_a_document_on_standard_input(folder: Path) -> None:
    [loud] = judge(folder, "./f.py:shouting", text="WHAT IS THIS")
    assert (loud["file"], loud["verdict"], loud["reason"]) == ("-", "drop", "upper_frac_above")
    assert (loud["step"], loud["measure"], loud["value"], loud["limit"]) == ("shouting", "upper_frac", 1.0, 0.3)
    assert loud["measures"] == {"upper_frac": 1.0}
    [calm] = judge(folder, "./f.py:shouting", "-", text="what is this")
    assert (calm["verdict"], calm["reason"], calm["limit"], calm["text"]) == ("keep", None, None, None)
    assert calm["measures"] == {"upper_frac": 0.0}


def test_parameters_are_set_by_label(folder: Path) -> None:
    words = ("./f.py:shouting,./f.py:shouting", "--set", "shouting_2.upper_frac=0.05")
    [found] = judge(folder, *words, text="What is this")
    assert (found["verdict"], found["step"], found["limit"]) == ("drop", "shouting_2", 0.05)
    assert found["measures"] == {"upper_frac": 0.1, "shouting_2.upper_frac": 0.1}


def test_a_change_shows_the_new_text(folder: Path) -> None:
    [found] = judge(folder, "./f.py:Trim,./f.py:shouting", text="  some words \n\n")
    assert (found["verdict"], found["text"]) == ("change", "some words")
    assert found["measures"] == {"upper_frac": 0.0}


def test_a_change_says_what_was_cut_and_why(folder: Path) -> None:
    text = "The mill grinds the corn.\nNo full stop\nWrite to bob@foo.org please.\n"
    [found] = judge(folder, "c4,pii,gopher_quality", "--set", "c4.min_num_sentences=1", text=text)
    assert (found["verdict"], found["reason"]) == ("drop", "gopher_short_doc")
    assert found["cut_chars"] == {"no_terminal_punc": 13, "white_space": 1, "pii": 11, "pii_replacement": -7}
    [gone] = judge(folder, "c4", text=text)
    assert (gone["reason"], gone["cut_chars"]) == ("too_few_sentences", {})
    told = gristmill("stage", "judge", "pii", text="bob@foo.org", cwd=folder).stdout
    assert "    cut: pii 11  pii_replacement -7\n" in told


def test_each_record_of_a_file_is_judged_in_its_order(folder: Path) -> None:
    lines = ['{"text": "a b"}', "not json", '{"text": "LOUD"}', '{"text": "oh!"}', "{}", '{"text": "c"}', "[1]"]
    text = "\n".join(lines) + "\n"
    (folder / "docs.jsonl").write_text(text)
    found = judge(folder, "./f.py:shouting,./f.py:fussy", "docs.jsonl")
    assert {f["file"] for f in found} == {"docs.jsonl"}
    assert [(f["record"], f["verdict"], f["step"], f["reason"]) for f in found[:4]] == [
        (0, "keep", None, None),
        (1, "drop", "shouting", "upper_frac_above"),
        (2, "quarantine", "fussy", "filter_error"),
        (3, "keep", None, None),
    ]
    assert [(f["offset"], f["verdict"], f["step"], f["reason"]) for f in found[4:]] == [
        (text.index("not json"), "quarantine", "read", "bad_json"),
        (text.index("{}"), "quarantine", "read", "missing_text"),
        (text.index("[1]"), "quarantine", "read", "not_an_object"),
    ]
    assert found[2]["detail"] == "ValueError: no shouting here"


def test_the_suffix_sets_the_kind(folder: Path) -> None:
    (folder / "page.HTML").write_text("<html><body><p>some words</p></body></html>")
    (folder / "code.py").write_text("x = 1\n")
    (folder / "note").write_text("some words\n")
    (folder / "bytes.txt").write_bytes(b"\xff\x00\x01")
    found = judge(folder, "./f.py:shouting", "page.HTML", "--json", "code.py", "note", "bytes.txt")
    assert [f["verdict"] for f in found][:3] == ["keep", "keep", "keep"], "options may stand among files"
    assert (found[3]["file"], found[3]["step"]) == ("bytes.txt", "read")
    kinds = {"a.htm": "html", "a.jsonl.zst": "jsonl", "A.JSON": "jsonl", "a.warc.gz": "warc", "a.rs": "code"}
    kinds |= {"a.md": "text", "a": "text", "html": "html", ".gz": "text", "a.tex": "math", "a.parquet": "parquet"}
    assert {name: kind_of_file(Path("x") / name) for name in kinds} == kinds


def test_a_kind_may_be_given(folder: Path) -> None:
    [found] = judge(folder, "./f.py:shouting", "--as", "jsonl", text='{"text": "LOUD"}\n')
    assert found["verdict"] == "drop"


def test_rules_by_path_see_the_path(folder: Path) -> None:
    (folder / "node_modules" / "a").mkdir(parents=True)
    (folder / "node_modules" / "a" / "x.js").write_text("var first = call_of(second, third);\n" * 9)
    for name in ("node_modules/a/x.js", "../node_modules/a/x.js", str(folder / "node_modules" / "a" / "x.js")):
        [found] = judge(folder if name[0] != "." else folder / "node_modules", "code_rules", name)
        assert found["reason"] == "code_vendored", name
    [alone] = judge(folder / "node_modules" / "a", "code_rules", "x.js")
    assert alone["verdict"] == "keep"


def test_a_name_that_is_not_utf_8_is_read(folder: Path) -> None:
    name = os.fsdecode(b"\xff.txt")
    (folder / name).write_text("LOUD")
    [found] = judge(folder, "./f.py:shouting", name)
    assert (found["verdict"], found["file"]) == ("drop", name)


@pytest.mark.parametrize("name", ["none.txt", ".", "none.jsonl"])
def test_a_file_that_cannot_be_read_is_3(folder: Path, name: str) -> None:
    done = gristmill("stage", "judge", "./f.py:shouting", name, "--json", cwd=folder)
    assert done.returncode == EXIT_INPUT
    assert json.loads(done.stdout)["error"]["where"] == name
    assert done.stderr.count("\n") == 1


def test_people_see_lines(folder: Path) -> None:
    (folder / "a\x1b[2J.txt").write_text("LOUD")
    done = gristmill("stage", "judge", "./f.py:shouting", "a\x1b[2J.txt", cwd=folder)
    assert done.stdout == (
        "a\\x1b[2J.txt[0]  drop  shouting: upper_frac_above (upper_frac is 1, the limit 0.3)\n    upper_frac=1\n"
    )
    done = gristmill("stage", "judge", "./f.py:Trim", "--text", text=" words\n", cwd=folder)
    assert done.stdout == "-[0]  change\n    the text becomes 5 characters:\nwords\n"


def test_stages_are_listed_for_scripts_and_people() -> None:
    listed = json.loads(gristmill("stage", "list", "--json").stdout)["stages"]
    names = [stage["name"] for stage in listed]
    assert {"extract_html", "language", "gopher_quality", "exact_dedup"} <= set(names)
    assert names == sorted(names)
    for stage in listed:
        assert {"name", "kind", "shape", "doc", "params", "rules", "reasons", "version", "module"} <= set(stage)
        assert stage["doc"]
        assert stage["about"]
    lines = gristmill("stage", "list").stdout.splitlines()
    assert lines[0] == "stage\tkind\twhat it does"
    assert [line.split("\t")[0] for line in lines[1:]] == names


def test_one_stage_in_full(folder: Path) -> None:
    shown = gristmill("stage", "list", "./f.py:shouting", cwd=folder).stdout
    assert "upper_frac_above\tupper_frac is above 0.3" in shown
    assert "(Raffel et al. 2020, JMLR 21/140, section 2.2)" in gristmill("stage", "list", "c4").stdout
