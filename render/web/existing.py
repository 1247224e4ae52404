"""Pages of a corpus made safe: what is left is the emitted code, and the picture is of that text.

    bytes -> Code(language="html", family="existing", parts=())

Taken out: scripts and what runs them (`on...`, `javascript:`), frames, plug-ins, `base`, `meta` but for `charset` and
`viewport`, `noscript` (browsers with script do not show it), `template`, comments, and everything that names another
file: `link`, `src`, `srcset`, `poster`, `background`, `@import` and `url()` in styles, unless it is a picture or font
in a `data:` URL, or `#place` on the page. `href` of links and `action` of forms become `#`. A picture that is taken
out keeps its `alt`, size and place. What slips through asks the network in vain, and is rejected for having asked.

The viewport is drawn by the page's content: one of DESKTOP, or of MOBILE for half of the pages that say how they want
to be shown there (`meta viewport`). Parsing is done in a killable child.
"""

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from blake3 import blake3

from gristmill.manifests.child import ChildFailure, ChildLimits
from gristmill.manifests.effects import ask_child
from gristmill.manifests.errors import EngineMissingError
from gristmill.render.protocol import Code, Rejected, View

DESKTOP = (View(1024, 768), View(1280, 800), View(1366, 768), View(1440, 900), View(1280, 720, 1.5), View(1024, 768, 2))
MOBILE = (View(390, 844, 2.0), View(360, 800, 1.5), View(412, 915, 2.0), View(768, 1024), View(430, 932, 1.5))
MAX_BODY_BYTES = 4 << 20
MAX_CODE_BYTES = 256 << 10
"""Of what is left: more is no text for a page of one picture."""
MAX_DEPTH = 200
TARGET = "gristmill.render.web.existing:serve"

_LIMITS = ChildLimits(max_seconds_per_record=10.0, max_rss_bytes=1 << 30, max_output_bytes=16 << 20)
_DROPPED = frozenset(
    {
        "script", "noscript", "template", "iframe", "frame", "frameset", "object", "embed", "applet",
        "portal", "base", "link", "audio", "video", "source", "track", "param", "noembed", "noframes",
        "dialog-polyfill", "animate", "set", "animatemotion", "animatetransform",
    }
)  # fmt: skip
_VOID = frozenset({"embed", "source", "track", "param"})
"""Have no content, which the parser does not know of all: what follows lies in them."""
_NAMING_FILES = frozenset(
    {
        "src", "srcset", "poster", "background", "data", "codebase", "classid", "archive", "ping", "manifest",
        "longdesc", "lowsrc", "dynsrc", "cite", "profile", "integrity", "crossorigin", "formaction",
        "autofocus", "autoplay", "srcdoc", "imagesrcset", "nonce", "http-equiv", "target", "download",
    }
)  # fmt: skip
_DATA = re.compile(r"\s*data:(image|font)/[\w.+-]+[;,]", re.IGNORECASE)
_URL = re.compile(r"url\(\s*(\"[^\"]*\"|'[^']*'|[^)]*)\s*\)?", re.IGNORECASE)
_IMPORT = re.compile(r"@import[^;]*;?", re.IGNORECASE)
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!DOCTYPE\s+html[^<>]*>", re.IGNORECASE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HEAD_BYTES = 2048


def safe_code(body: bytes) -> Code:
    """The page made safe, with the view that it is looked at. Raises Rejected, and EngineMissingError without lxml."""
    if len(body) > MAX_BODY_BYTES:
        raise Rejected("too_large", f"{len(body)} bytes")
    if find_spec("lxml") is None:
        raise EngineMissingError(
            "pages of a corpus need lxml, which is not installed", value="lxml", remedy="pip install 'gristmill[web]'"
        )
    (answer,) = ask_child(TARGET, _LIMITS, [body])
    if isinstance(answer, ChildFailure):
        reason = {"timeout": "page_hangs", "memory": "memory"}.get(answer.kind, "worker_died")
        raise Rejected(reason, f"while parsing: {answer.detail}", "quarantine")
    made = json.loads(answer)
    if "reason" in made:
        raise Rejected(made["reason"], made["detail"])
    return Code(made["text"], "html", "existing", view_of(made["text"], made["mobile"]))


def view_of(text: str, mobile: bool) -> View:
    """How a page is looked at, by the hash of its text."""
    digest = blake3(text.encode("utf-8", "surrogatepass")).digest()
    views = MOBILE if mobile and digest[8] % 2 else DESKTOP
    return views[int.from_bytes(digest[9:11], "big") % len(views)]


def serve(_: bytes) -> Callable[[bytes], bytes]:
    """The child's function: a body in, JSON of `text` and `mobile` or of `reason` and `detail` out."""

    def answer(body: bytes) -> bytes:
        try:
            made: dict[str, Any] = made_safe(body)
        except Rejected as rejected:
            made = {"reason": rejected.reason, "detail": rejected.detail}
        return json.dumps(made).encode()

    return answer


def made_safe(body: bytes) -> dict[str, Any]:
    """`text` of the page made safe, and whether it says how it is shown on a telephone. Raises Rejected."""
    from lxml import etree, html  # pyright: ignore[reportAttributeAccessIssue]

    source = _decoded(body)
    if "<" not in source or "\0" in source:
        raise Rejected("not_html", "no tag" if "<" not in source else "a zero byte")
    try:
        root = html.document_fromstring(source, parser=html.HTMLParser(remove_comments=True, remove_pis=True))
    except (etree.LxmlError, ValueError) as error:
        raise Rejected("not_html", str(error).partition("\n")[0]) from error
    mobile = any((meta.get("name") or "").lower() == "viewport" for meta in root.iter("meta"))
    _clean(root)
    _refuse_deep(root)
    if not "".join(root.itertext()).strip():
        raise Rejected("empty")
    doctype = _DOCTYPE.search(source[:_HEAD_BYTES])
    text = f"{html.tostring(root, encoding='unicode', doctype=doctype.group() if doctype else None)}\n"
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_CODE_BYTES:
        raise Rejected("too_large", f"{size} bytes when made safe")
    return {"text": text, "mobile": mobile}


def _decoded(body: bytes) -> str:
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(name.removesuffix("-sig"), "replace")
    declared = _CHARSET.search(body[:_HEAD_BYTES])
    names = ["utf-8", declared.group(1).decode("ascii", "replace") if declared else "", "windows-1252"]
    for name in names:
        try:
            return body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("latin-1")


def _clean(root: Any) -> None:
    for element in list(root.iter()):
        tag = element.tag.lower() if isinstance(element.tag, str) else "script"
        if tag.rpartition(":")[2] in _DROPPED or (tag == "meta" and not _is_kept_meta(element)):
            if element.getparent() is not None:
                (element.drop_tag if tag in _VOID else element.drop_tree)()
            continue
        if tag == "style":
            element.text = _safe_style(element.text or "")
        for name, value in list(element.attrib.items()):
            _clean_attribute(element, tag, name, value)


def _is_kept_meta(element: Any) -> bool:
    return (element.get("name") or "").lower() == "viewport" or _mends_charset(element)


def _mends_charset(element: Any) -> bool:
    """The emitted text is UTF-8, whatever its bytes were."""
    if element.get("charset") is None:
        return False
    element.set("charset", "utf-8")
    return True


def _clean_attribute(element: Any, tag: str, name: str, value: str) -> None:
    plain = name.lower().rpartition("}")[2].rpartition(":")[2]
    if plain.startswith("on") or (plain in _NAMING_FILES and not (plain == "src" and _DATA.match(value))):
        del element.attrib[name]
    elif plain == "href":
        if not value.startswith("#") and not (tag == "image" and _DATA.match(value)):
            element.set(name, "#")
    elif plain == "action":
        element.set(name, "#")
    elif plain == "style":
        element.set(name, _safe_style(value))
    elif plain in ("fill", "stroke", "filter", "mask", "clip-path", "cursor"):
        element.set(name, _URL.sub(_safe_url, value))


def _safe_style(text: str) -> str:
    return _URL.sub(_safe_url, _IMPORT.sub("", text))


def _safe_url(found: re.Match[str]) -> str:
    address = found.group(1).strip().strip("\"'").strip()
    return found.group() if address.startswith("#") or _DATA.match(address) else "none"


def _refuse_deep(root: Any) -> None:
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Rejected("too_deep", f"over {MAX_DEPTH}")
        level = [child for element in level for child in element]
