"""Words of pages in one language: labels of controls, and lists of sentences, names, titles that make sense alone.

A bank is `words/CODE.txt`: a line `key: value|value|...`. Keys that start with `ui.` hold the labels that `UI` names,
in its order; the others are lists (`LISTS`). Pairs inside a list (question and answer) are parted by ` = `.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

UI: dict[str, tuple[str, ...]] = {
    "ui.nav": ("home", "search", "menu", "about", "contact", "help", "blog", "shop", "news", "support"),
    "ui.account": ("account", "profile", "settings", "log_in", "log_out", "sign_up", "remember", "forgot", "agree"),
    "ui.fields": ("name", "email", "password", "phone", "address", "city", "country", "postcode", "message", "subject"),
    "ui.verbs": ("send", "save", "cancel", "delete", "edit", "back", "next", "continue", "close", "show_all"),
    "ui.verbs2": ("share", "reply", "like", "follow", "subscribe", "upload", "download", "apply", "start", "try_again"),
    "ui.common": ("yes", "no", "all", "new", "today", "more", "date", "time", "type", "status"),
    "ui.shop": ("price", "quantity", "add_to_cart", "cart", "checkout", "in_stock", "sold_out", "reviews", "details"),
    "ui.money": ("total", "subtotal", "shipping", "tax", "discount", "amount", "balance", "invoice", "due", "paid"),
    "ui.reading": ("read_more", "comments", "popular", "latest", "categories", "tags", "author", "title", "related"),
    "ui.mail": ("inbox", "sent", "drafts", "spam", "trash", "starred", "compose", "attachments", "to", "from"),
    "ui.board": ("dashboard", "reports", "users", "orders", "revenue", "visitors", "tasks", "team", "projects"),
    "ui.states": ("active", "pending", "done", "failed", "open", "closed", "todo", "doing", "review", "priority"),
    "ui.levels": ("high", "medium", "low", "free", "basic", "pro", "business", "per_month", "choose", "optional"),
    "ui.prefs": ("language", "theme", "dark", "light", "privacy", "security", "notifications", "required"),
    "ui.time": ("day", "week", "month", "year", "calendar", "step", "of", "minutes", "hours", "yesterday"),
    "ui.files": ("files", "folders", "size", "modified", "documents", "pictures", "music", "overview", "examples"),
    "ui.travel": ("departures", "train", "platform", "delayed", "on_time", "cancelled", "seat", "ticket", "gate"),
    "ui.place": ("map", "route", "distance", "weather", "wind", "humidity", "rain", "sunny", "cloudy", "directions"),
    "ui.food": ("ingredients", "method", "servings", "starters", "mains", "desserts", "drinks", "recipe"),
    "ui.play": ("playlist", "album", "artist", "queue", "question", "answer", "vote", "votes", "results", "score"),
    "ui.work": ("jobs", "salary", "full_time", "part_time", "remote", "experience", "education", "skills", "languages"),
    "ui.books": (
        "catalogue",
        "available",
        "on_loan",
        "glossary",
        "faq",
        "features",
        "pricing",
        "timeline",
        "newsletter",
    ),
    "ui.errors": ("not_found", "server_error", "go_home", "rights", "members", "posts", "followers", "transactions"),
}
LISTS = (
    ("people", 12),
    ("cities", 10),
    ("months", 12),
    ("weekdays", 7),
    ("headlines", 14),
    ("sentences", 24),
    ("products", 12),
    ("dishes", 12),
    ("mails", 10),
    ("chat", 12),
    ("tasks", 12),
    ("faq", 7),
    ("praise", 8),
    ("posts", 8),
    ("songs", 10),
    ("books", 10),
    ("food", 10),
    ("cooking", 6),
    ("terms", 9),
    ("quiz", 4),
    ("slogans", 6),
    ("topics", 10),
    ("events", 8),
    ("brands", 6),
)
LANGUAGES = ("ar", "de", "el", "en", "es", "fr", "he", "ja", "ko", "pl", "ru", "tr", "zh")
RTL = frozenset({"ar", "he"})


@dataclass(frozen=True)
class Words:
    """A language's labels by key and lists by name."""

    lang: str
    ui: dict[str, str]
    lists: dict[str, tuple[str, ...]]

    def pairs(self, name: str) -> tuple[tuple[str, ...], ...]:
        """A list whose items have parts, each a tuple of them."""
        return tuple(tuple(item.split(" = ")) for item in self.lists[name])


@cache
def words(lang: str) -> Words:
    """The bank of a language. ValueError where it lacks a label or a list."""
    if lang not in LANGUAGES:
        raise ValueError(f"no word bank for language {lang}; there are {', '.join(LANGUAGES)}")
    text = files("gristmill.render.web.words").joinpath(f"{lang}.txt").read_text(encoding="utf-8")
    return parsed(lang, text)


def parsed(lang: str, text: str) -> Words:
    """A bank from its text. ValueError where a line is unknown, or has another number of values than it must."""
    rows: dict[str, tuple[str, ...]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, _, values = line.partition(": ")
        rows[key] = tuple(value.strip() for value in values.split("|"))
    counts = {key: len(names) for key, names in UI.items()} | dict(LISTS)
    for key in {**counts, **rows}:
        if len(rows.get(key, ())) != counts.get(key):
            raise ValueError(f"words/{lang}.txt, {key}: {len(rows.get(key, ()))} values, not {counts.get(key)}")
    ui = {name: value for key, names in UI.items() for name, value in zip(names, rows[key], strict=True)}
    return Words(lang, ui, {name: rows[name] for name, _ in LISTS})
