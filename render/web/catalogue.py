"""The families of web pages, by name; a module is imported when it is asked for."""

from functools import cache
from importlib import import_module

from gristmill.render.web.family import WebFamily

FAMILIES: tuple[str, ...] = (
    "agenda",
    "analytics",
    "api_reference",
    "article",
    "bank_statement",
    "blog_index",
    "calendar_month",
    "calendar_week",
    "cart",
    "chat",
    "checkout",
    "code_review",
    "comments",
    "comparison",
    "cv",
    "dashboard",
    "data_table",
    "departures",
    "docs",
    "error_page",
    "event_ticket",
    "faq",
    "file_browser",
    "forum_thread",
    "gallery",
    "glossary",
    "inbox",
    "invoice",
    "job_board",
    "kanban",
    "landing",
    "library",
    "login",
    "map_panel",
    "message",
    "music_player",
    "news_front",
    "newsletter",
    "notifications",
    "poll",
    "pricing",
    "product",
    "profile",
    "quiz",
    "recipe",
    "restaurant_menu",
    "search_results",
    "settings",
    "shop_list",
    "sign_up",
    "slide",
    "spreadsheet",
    "survey",
    "terminal",
    "timeline",
    "timetable",
    "weather",
    "wizard",
)


@cache
def load(name: str) -> WebFamily:
    """A family. ValueError for a name that is none."""
    if name not in FAMILIES:
        raise ValueError(f"no family of web pages is named {name}; there are {', '.join(FAMILIES)}")
    module = import_module(f"gristmill.render.web.families.{name}")
    return WebFamily(name, (module.__doc__ or "").split("\n")[0], module.sample, module.write)
