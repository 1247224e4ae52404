"""Which law each family obeys, and how its queries and records are read."""

from collections.abc import Mapping

from gristmill.synth.solvers import (
    code,
    codebooks,
    countries,
    counts,
    diffs,
    joins,
    moves,
    plates,
    sums,
    trails,
    trees,
    walks,
)
from gristmill.synth.solvers.asking import Law
from gristmill.synth.solvers.following import paths_law

LAWS: Mapping[str, Law] = {
    "alias_hop": paths_law(walks.LINKS),
    "citation_hop": paths_law(joins.CITATIONS),
    "code_use": paths_law(code.CODE),
    "codebook": codebooks.WORDS,
    "computation_graph": trees.EQUATIONS,
    "cross_modal": plates.JOINS,
    "functional_walk": paths_law(trails.GRAPHS),
    "group_state": moves.MOVES,
    "image_coordinate": plates.BOXES,
    "image_shares": counts.PANELS,
    "latent_link": paths_law(countries.COUNTRIES),
    "ledger": sums.TRANSFERS,
    "linked_order": paths_law(trails.THREADS),
    "log_correlation": trees.CALLS,
    "object_count": counts.THINGS,
    "page_needle": counts.PAGES,
    "render_match": plates.MATCHES,
    "share_sum": sums.ENTRIES,
    "table_chain": paths_law(walks.TABLES),
    "table_join": paths_law(joins.COLUMNS),
    "variable_chain": paths_law(walks.LINKS),
    "version_track": sums.REVISIONS,
    "visual_diff": diffs.DIFFS,
    "weighted_count": sums.DELIVERIES,
    "which_image": plates.WHICH,
}
