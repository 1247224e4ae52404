"""The template families of SVG by name. A family's module is imported when it is asked for."""

import importlib

from gristmill.manifests.errors import UsageError
from gristmill.render.svg.family import SvgFamily

_PACKAGE = "gristmill.render.svg.families"
FAMILIES: tuple[str, ...] = (
    "animal",
    "area_chart",
    "bar_chart",
    "box_plot",
    "bubble_chart",
    "chat_screen",
    "circuit",
    "clock",
    "contour_map",
    "cycle",
    "dashboard",
    "donut_chart",
    "face",
    "floor_plan",
    "flow_chart",
    "funnel",
    "gantt",
    "gauge",
    "grouped_bars",
    "heat_map",
    "histogram",
    "icon_duotone",
    "icon_filled",
    "icon_outline",
    "icon_sheet",
    "island_map",
    "landscape",
    "line_chart",
    "login_form",
    "metro_map",
    "mind_map",
    "music_player",
    "network",
    "org_chart",
    "phone_screen",
    "pie_chart",
    "poster_type",
    "pyramid",
    "radar_chart",
    "scatter_plot",
    "settings_screen",
    "sparkline_table",
    "star_pattern",
    "street_map",
    "tile_pattern",
    "timeline",
    "treemap",
    "venn",
    "wave_pattern",
)


def load(name: str) -> SvgFamily:
    """A family. Raises UsageError for a name that is not in FAMILIES."""
    if name not in FAMILIES:
        raise UsageError("svg family", name)
    module = importlib.import_module(f"{_PACKAGE}.{name}")
    doc = (module.__doc__ or "").strip().split("\n", maxsplit=1)[0]
    return SvgFamily(name, doc, module.sample, module.write)
