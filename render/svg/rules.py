"""What a verified SVG sample must fulfil: measures of `judge_child`, with limits. `source` says what a measure is."""

from gristmill.render.svg.places import MIN_PIXELS
from gristmill.render.svg.vocabulary import MAX_UNMATCHED_PX
from gristmill.stages.protocol import Rule

RULES: tuple[Rule, ...] = (
    Rule("size_off_px", "above", 0, "wrong_size", "pixels by which a side is not what was asked for"),
    Rule("colours", "below", 2, "blank", "colours, at 8 levels a channel"),
    Rule("ink_frac", "below", 0.005, "blank", "share of pixels that are not of the most frequent colour"),
    Rule("ink_frac", "above", 0.95, "noise", "share of pixels that are not of the most frequent colour"),
    Rule(
        "unmatched_px_per_65536",
        "above",
        MAX_UNMATCHED_PX,
        "engines_differ",
        "pixels over 48 levels outside the other engine's 5x5 neighbourhood, per 256x256 (600 icons: at most 32)",
    ),
    Rule("mean_abs_diff", "above", 3, "engines_differ", "mean difference of the engines' pictures, 0 to 255"),
    Rule("elements", "below", 1, "nothing_named", "annotations"),
    Rule("named_wrong", "above", 0, "named_wrong", "annotations of no part of the code, or with another role or text"),
    Rule(
        "off_picture_px_max", "above", 0, "off_picture", "pixels by which a box leaves the picture, or a point its box"
    ),
    Rule(
        "owned_px_min", "below", MIN_PIXELS, "not_visible", "pixels that the judge's map has of an element, the least"
    ),
    Rule(
        "box_off_px_max", "above", 1, "box_wrong", "pixels by which a side of a visible box is off in the judge's map"
    ),
    Rule("outside_px_max", "above", 2, "outside_box", "pixels by which the judge's map leaves an element's full box"),
    Rule("point_missed", "above", 0, "point_wrong", "points that do not hit their element in the judge's map"),
    Rule("visible_frac_wrong", "above", 0, "visibility_wrong", "visible shares outside (0, 1]"),
    Rule(
        "full_off_px_max",
        "above",
        2,
        "full_box_wrong",
        "pixels by which a side of a full box is off from the judge's geometry, or its pixels leave it",
    ),
    Rule(
        "visible_frac_off_max",
        "above",
        0.05,
        "visibility_wrong",
        "by what part a visible share is off from the share of the element's pixels that the judge's map keeps",
    ),
    Rule(
        "truncated_wrong", "above", 0, "truncation_wrong", "elements wrongly said to be cut by the edge, or not to be"
    ),
    Rule("z_wrong", "above", 0, "order_wrong", "annotations whose z is not their place in order of drawing"),
    Rule("text_contrast_min", "below", 2.0, "low_contrast", "contrast ratio (WCAG) of a text on its ground, the least"),
    Rule(
        "text_ink_min", "below", 0.3, "text_missing", "share of a text's pixels that differ from its ground, the least"
    ),
    Rule("audit_unseen", "above", 0, "not_visible", "elements whose removal changes nothing (1 sample in 20)"),
    Rule("audit_outside_px", "above", 24, "outside_box", "pixels that removals change outside boxes (1 sample in 20)"),
    Rule(
        "redraw_differs", "above", 0, "not_deterministic", "whether another drawing gives other bytes (1 sample in 20)"
    ),
)
MEASURES = tuple(dict.fromkeys(rule.measure for rule in RULES))
