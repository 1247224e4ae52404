"""Pages that are made from the code say what the code says."""

from tests import scale_figures, stages_table


def test_the_page_of_stages_is_that_of_the_catalogue() -> None:
    assert stages_table.PAGE.read_text(encoding="utf-8") == stages_table.page(), "python -m tests.stages_table"


def test_every_rule_has_a_source() -> None:
    from gristmill.stages import catalogue

    rules = [(s, r["reason"]) for s in catalogue.BUILTIN for r in catalogue.describe(s)["rules"] if not r["source"]]
    assert rules == []


def test_every_parameter_says_what_it_is() -> None:
    from gristmill.stages import catalogue

    bare = [(s, p["name"]) for s in catalogue.BUILTIN for p in catalogue.describe(s)["params"] if not p["doc"]]
    assert bare == []


def test_the_page_of_scale_has_the_figures_of_the_code() -> None:
    text = scale_figures.PAGE.read_text(encoding="utf-8")
    assert scale_figures.BEGIN in text and text == scale_figures.page(text), "python -m tests.scale_figures"


def test_the_driver_takes_for_a_part_of_a_spill_file_what_the_page_says() -> None:
    measured = scale_figures.entry_bytes()
    assert abs(measured - scale_figures.DRIVER_ENTRY_BYTES) < 0.25 * scale_figures.DRIVER_ENTRY_BYTES, measured
