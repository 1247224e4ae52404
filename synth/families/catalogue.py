"""The families of tasks, by name."""

from collections.abc import Mapping

from gristmill.synth.families import (
    alias_hop,
    before_after,
    chat_recall,
    chunk_order,
    citation_hop,
    code_use,
    codebook,
    common_member,
    computation_graph,
    config_layers,
    copy_distance,
    fill_middle,
    functional_walk,
    group_state,
    label_map,
    latent_link,
    ledger,
    linked_order,
    log_correlation,
    most_cargo,
    news_tree,
    share_sum,
    table_chain,
    table_join,
    two_versions,
    variable_chain,
    version_track,
    weighted_count,
)
from gristmill.synth.protocol import Family

FAMILIES: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
        alias_hop,
        before_after,
        chat_recall,
        chunk_order,
        citation_hop,
        code_use,
        codebook,
        common_member,
        computation_graph,
        config_layers,
        copy_distance,
        fill_middle,
        functional_walk,
        group_state,
        label_map,
        latent_link,
        ledger,
        linked_order,
        log_correlation,
        most_cargo,
        news_tree,
        share_sum,
        table_chain,
        table_join,
        two_versions,
        variable_chain,
        version_track,
        weighted_count,
    )
}
