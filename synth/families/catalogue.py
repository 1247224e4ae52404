"""The families of tasks, by name."""

from collections.abc import Mapping

from gristmill.synth.families import (
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
from gristmill.synth.protocol import Family

FAMILIES: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
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
}
