"""The families of tasks, by name."""

from collections.abc import Mapping

from gristmill.synth.families import (
    alias_hop,
    cross_modal,
    functional_walk,
    image_coordinate,
    image_shares,
    linked_order,
    object_count,
    page_needle,
    render_match,
    share_sum,
    table_chain,
    variable_chain,
    version_track,
    visual_diff,
    which_image,
)
from gristmill.synth.protocol import Family

WORDS = (
    alias_hop,
    functional_walk,
    linked_order,
    share_sum,
    table_chain,
    variable_chain,
    version_track,
)
PICTURES = (
    cross_modal,
    image_coordinate,
    image_shares,
    object_count,
    page_needle,
    render_match,
    visual_diff,
    which_image,
)

FAMILIES: Mapping[str, Family] = {module.FAMILY.name: module.FAMILY for module in (*WORDS, *PICTURES)}
