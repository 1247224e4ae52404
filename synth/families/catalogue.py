"""The families of tasks, by name: those of text alone, and those whose records have pictures."""

from collections.abc import Mapping

from gristmill.synth.families import (
    alias_hop,
    citation_hop,
    code_use,
    codebook,
    computation_graph,
    cross_modal,
    functional_walk,
    group_state,
    image_coordinate,
    image_shares,
    latent_link,
    ledger,
    linked_order,
    log_correlation,
    object_count,
    page_needle,
    render_match,
    share_sum,
    table_chain,
    table_join,
    variable_chain,
    version_track,
    visual_diff,
    weighted_count,
    which_image,
)
from gristmill.synth.protocol import Family

WORDS = (
    alias_hop,
    citation_hop,
    code_use,
    codebook,
    computation_graph,
    functional_walk,
    group_state,
    latent_link,
    ledger,
    linked_order,
    log_correlation,
    share_sum,
    table_chain,
    table_join,
    variable_chain,
    version_track,
    weighted_count,
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
