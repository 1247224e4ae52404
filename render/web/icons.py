"""Line icons on a grid of 24, drawn in the colour of the text around them."""

from gristmill.render.web.tree import Node, el

PATHS: dict[str, str] = {
    "search": "M11 4a7 7 0 1 1 0 14a7 7 0 0 1 0-14M16 16l5 5",
    "menu": "M4 6h16M4 12h16M4 18h16",
    "user": "M12 4a4 4 0 1 1 0 8a4 4 0 0 1 0-8M4 21c0-4 3.5-6 8-6s8 2 8 6",
    "cart": "M3 4h3l2.5 11h10L21 7H7M9 20a1 1 0 1 0 .1 0M17 20a1 1 0 1 0 .1 0",
    "heart": "M12 20C5 15 3 11.5 3 8.5A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 9 1.5C21 11.5 19 15 12 20z",
    "star": "M12 3l2.7 5.8 6.3.8-4.6 4.3 1.2 6.2L12 17l-5.6 3.1 1.2-6.2L3 9.6l6.3-.8z",
    "bell": "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
    "mail": "M3 6h18v13H3zM3 7l9 7 9-7",
    "home": "M3 11l9-8 9 8M6 9v11h12V9",
    "gear": "M12 8.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7M12 3v3M12 18v3M3 12h3M18 12h3M5.5 5.5l2 2M16.5 16.5"
    "l2 2M5.5 18.5l2-2M16.5 7.5l2-2",
    "plus": "M12 5v14M5 12h14",
    "check": "M4 12.5l5.5 5.5L20 6.5",
    "cross": "M6 6l12 12M18 6L6 18",
    "down": "M6 9l6 6 6-6",
    "up": "M6 15l6-6 6 6",
    "calendar": "M4 6h16v14H4zM4 10h16M8 3v5M16 3v5",
    "clock": "M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18M12 7v5l3.5 2",
    "file": "M6 3h8l5 5v13H6zM14 3v5h5",
    "folder": "M3 6h6l2 2h10v11H3z",
    "image": "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M9 8.5a1 1 0 1 0 .1 0",
    "play": "M7 4l12 8-12 8z",
    "pause": "M8 5v14M16 5v14",
    "skip": "M5 5l9 7-9 7zM18 5v14",
    "rewind": "M19 5l-9 7 9 7zM6 5v14",
    "pin": "M12 21c-4-5-6.5-8.5-6.5-11.5a6.5 6.5 0 0 1 13 0C18.5 12.5 16 16 12 21zM12 7.5a2 2 0 1 1 0 4a2 2 0 0 1 0-4",
    "sun": "M12 8a4 4 0 1 1 0 8a4 4 0 0 1 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
    "cloud": "M7 18a4 4 0 0 1 0-8a5 5 0 0 1 9.5-1A4.5 4.5 0 0 1 17 18z",
    "rain": "M7 14a4 4 0 0 1 0-8a5 5 0 0 1 9.5-1A4.5 4.5 0 0 1 17 14zM8 17l-1 4M12 17l-1 4M16 17l-1 4",
    "lock": "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
    "download": "M12 4v11M7 11l5 5 5-5M4 20h16",
    "upload": "M12 16V5M7 9l5-5 5 5M4 20h16",
    "trash": "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
    "edit": "M4 20l1-5L16 4l4 4L9 19z",
    "more": "M5 12a1 1 0 1 0 .1 0M12 12a1 1 0 1 0 .1 0M19 12a1 1 0 1 0 .1 0",
    "chat": "M4 5h16v11H11l-5 4v-4H4z",
    "globe": "M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18",
    "tag": "M4 4h8l8 8-8 8-8-8zM8 8h.1",
    "filter": "M3 5h18l-7 8v6l-4 2v-8z",
    "book": "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
    "grid": "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
    "list": "M8 6h12M8 12h12M8 18h12M4 6h.1M4 12h.1M4 18h.1",
    "send": "M3 11l18-8-7 18-3-8z",
    "phone": "M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a1.5 1.5 0 0 1-2 1.5C10 20 4 14 3.5 6A1.5 1.5 0 0 1 5 4z",
    "bag": "M5 8h14l1 13H4zM9 8V6a3 3 0 0 1 6 0v2",
    "shield": "M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z",
    "bolt": "M13 2L4 14h6l-1 8 9-12h-6z",
    "leaf": "M5 19C5 9 11 4 20 4c0 10-5 15-13 14M5 19c3-5 6-8 10-10",
}


def icon(name: str, size: int = 18, label: str = "") -> Node:
    """An icon; without a label it is hidden from readers of the screen."""
    attrs: dict[str, str | None] = {"width": str(size), "height": str(size), "viewBox": "0 0 24 24", "fill": "none"}
    attrs |= {"stroke": "currentColor", "stroke-width": "2", "stroke-linecap": "round", "stroke-linejoin": "round"}
    attrs |= {"role": "img", "aria-label": label} if label else {"aria-hidden": "true"}
    return el("svg.icon", attrs, el("path", {"d": PATHS[name]}))
