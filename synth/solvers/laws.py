"""Which law each family obeys, and how its queries and records are read."""

from collections.abc import Mapping

from gristmill.synth.solvers import (
    code,
    codebooks,
    conflicts,
    copies,
    countries,
    dates,
    forests,
    joins,
    labels,
    layers,
    moves,
    oddity,
    passages,
    sums,
    trails,
    trees,
    turns,
    walks,
)
from gristmill.synth.solvers.asking import Law
from gristmill.synth.solvers.following import paths_law

LAWS: Mapping[str, Law] = {
    "alias_hop": paths_law(walks.LINKS),
    "before_after": dates.CHRONICLES,
    "chat_recall": turns.CHATS,
    "chunk_order": passages.ORDER,
    "citation_hop": paths_law(joins.CITATIONS),
    "code_use": paths_law(code.CODE),
    "codebook": codebooks.WORDS,
    "common_member": oddity.MEMBERS,
    "computation_graph": trees.EQUATIONS,
    "config_layers": layers.STACKS,
    "copy_distance": copies.COPIES,
    "label_map": labels.SCHEMES,
    "most_cargo": oddity.CARGO,
    "news_tree": forests.FORESTS,
    "fill_middle": passages.MIDDLE,
    "functional_walk": paths_law(trails.GRAPHS),
    "group_state": moves.MOVES,
    "latent_link": paths_law(countries.COUNTRIES),
    "ledger": sums.TRANSFERS,
    "linked_order": paths_law(trails.THREADS),
    "log_correlation": trees.CALLS,
    "share_sum": sums.ENTRIES,
    "table_chain": paths_law(walks.TABLES),
    "table_join": paths_law(joins.COLUMNS),
    "two_versions": conflicts.BOOKS,
    "variable_chain": paths_law(walks.LINKS),
    "version_track": sums.REVISIONS,
    "weighted_count": sums.DELIVERIES,
}
