"""Which law each family obeys, and how its queries and records are read."""

from collections.abc import Mapping

from gristmill.synth.solvers import counts, diffs, plates, sums, trails, walks
from gristmill.synth.solvers.asking import Law
from gristmill.synth.solvers.following import paths_law

LAWS: Mapping[str, Law] = {
    "alias_hop": paths_law(walks.LINKS),
    "cross_modal": plates.JOINS,
    "functional_walk": paths_law(trails.GRAPHS),
    "image_coordinate": plates.BOXES,
    "image_shares": counts.PANELS,
    "linked_order": paths_law(trails.THREADS),
    "object_count": counts.THINGS,
    "page_needle": counts.PAGES,
    "render_match": plates.MATCHES,
    "share_sum": sums.ENTRIES,
    "table_chain": paths_law(walks.TABLES),
    "variable_chain": paths_law(walks.LINKS),
    "version_track": sums.REVISIONS,
    "visual_diff": diffs.DIFFS,
    "which_image": plates.WHICH,
}
