"""The families of tasks, by name."""

from collections.abc import Mapping

from gristmill.synth.families import (
    alias_hop,
    functional_walk,
    image_shares,
    linked_order,
    object_count,
    share_sum,
    table_chain,
    variable_chain,
    version_track,
    visual_diff,
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
PICTURES = (image_shares, object_count, visual_diff)

FAMILIES: Mapping[str, Family] = {module.FAMILY.name: module.FAMILY for module in (*WORDS, *PICTURES)}
