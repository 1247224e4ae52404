"""The families of tasks, by name."""

from collections.abc import Mapping

from gristmill.synth.families import (
    alias_hop,
    before_after,
    chat_recall,
    common_member,
    config_layers,
    copy_distance,
    functional_walk,
    label_map,
    linked_order,
    most_cargo,
    news_tree,
    share_sum,
    table_chain,
    two_versions,
    variable_chain,
    version_track,
)
from gristmill.synth.protocol import Family

FAMILIES: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
        alias_hop,
        before_after,
        chat_recall,
        common_member,
        config_layers,
        copy_distance,
        functional_walk,
        label_map,
        linked_order,
        most_cargo,
        news_tree,
        share_sum,
        table_chain,
        two_versions,
        variable_chain,
        version_track,
    )
}
