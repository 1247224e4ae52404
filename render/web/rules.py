"""Measures of a page's report, and the limits on them.

What the first look counts (`page_measures`) comes before what the second look measures (`judge`). Limits of 0 are for
what must not happen at all; the others leave room for rounding that was measured on pages known to be right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gristmill.render.protocol import Annotation
from gristmill.stages.protocol import Reason, Rule

_REFERENCE = "render toolchain reference, section 6"
MIN_ANNOTATIONS = 3

RULES: tuple[Rule, ...] = (
    Rule("requests", "above", 0, "asks_network", _REFERENCE),
    Rule("dialogs", "above", 0, "dialog"),
    Rule("popups", "above", 0, "popup"),
    Rule("downloads", "above", 0, "download"),
    Rule("navigations", "above", 0, "navigates"),
    Rule("frames", "above", 1, "has_frames"),
    Rule("errors", "above", 0, "console_error", _REFERENCE),
    Rule("boxes_moved", "above", 0, "boxes_moved", _REFERENCE),
    Rule("colours", "below", 2, "blank", _REFERENCE),
    Rule("ground_frac", "above", 0.995, "blank", _REFERENCE),
    Rule("annotations", "below", MIN_ANNOTATIONS, "too_few_annotations"),
    Rule("unknown_ids", "above", 0, "unknown_id"),
    Rule("box_off_px", "above", 1.0, "box_differs"),
    Rule("wrong_texts", "above", 0, "text_differs", _REFERENCE),
    Rule("missed_points", "above", 0, "point_missed", _REFERENCE),
    Rule("missed_edges", "above", 0, "visible_box_differs"),
    Rule("share_off", "above", 0.2, "visible_share_differs"),
    Rule("wrong_roles", "above", 0, "role_differs", _REFERENCE),
    Rule("wrong_cuts", "above", 0, "truncated_differs"),
    Rule("wrong_orders", "above", 0, "order_differs"),
    Rule("ink_off_px", "above", 2.5, "ink_differs"),
    Rule("min_contrast", "below", 2.0, "low_contrast", _REFERENCE),
    Rule("restless_px", "above", 0, "not_still"),
    Rule("second_render_px", "above", 0, "second_render_differs", _REFERENCE),
    Rule("unseen_leaves", "above", 0, "not_seen", _REFERENCE),
)

LIMITS = {rule.measure: rule.limit for rule in RULES}

REASONS: tuple[Reason, ...] = (
    Reason("no_engine", "drop", "no browser, or no sandbox that may hold this page; detail says what to install"),
    Reason("page_hangs", "quarantine", "the page kept the browser busy over its time"),
    Reason("worker_died", "quarantine", "the worker with the browser died"),
    Reason("memory", "quarantine", "the browser took more memory than a page may cost"),
    Reason("output_too_large", "quarantine", "the worker's answer is larger than a picture can be"),
    Reason("page_crashed", "quarantine", "the process that shows the page died"),
    Reason("page_lost", "quarantine", "the browser lost the page, or failed at a command"),
    Reason("never_ready", "quarantine", "fonts or pictures of the page did not load in time"),
    Reason("too_many_elements", "drop", "more elements than a page may have; detail is their number"),
    Reason("wrong_size", "drop", "the picture is not as large as the view says"),
    Reason("trees_disagree", "drop", "the page's elements are not those of its layout"),
    Reason("dialog", "drop", "the page did not load for dialogs that it opened"),
    Reason("navigates", "drop", "the page went elsewhere while it loaded"),
    Reason("too_large", "drop", "more text than a page may have; detail is its bytes"),
    Reason("not_html", "drop", "not text, or no element of HTML in it"),
    Reason("too_deep", "drop", "elements nested deeper than a page may"),
    Reason("empty", "drop", "nothing to show was left when the page was made safe"),
)

_EVENTS = ("requests", "dialogs", "popups", "downloads", "navigations", "errors")


def page_measures(page: Mapping[str, Any], annotations: Sequence[Annotation]) -> dict[str, float]:
    """What the first look counted, by name of measure."""
    events = page["events"]
    measures = {name: float(events.get(name, 0)) for name in _EVENTS}
    measures |= {
        name: float(page[name]) for name in ("frames", "boxes_moved", "unsaid", "unknown_frac", "failed_fonts")
    }
    measures["overflow_px"] = float(max(page["scroll_width"] - page["client_width"], 0))
    return measures | {"annotations": float(len(annotations))}
