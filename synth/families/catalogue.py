"""The families of tasks, by name."""

from collections.abc import Mapping

from gristmill.synth.families import (
    alias_hop,
    functional_walk,
    linked_order,
    share_sum,
    table_chain,
    variable_chain,
    version_track,
)
from gristmill.synth.protocol import Family

FAMILIES: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
        alias_hop,
        functional_walk,
        linked_order,
        share_sum,
        table_chain,
        variable_chain,
        version_track,
    )
}
