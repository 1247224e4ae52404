"""What the attributes of an element say about it: hidden, boilerplate, main content, the language of code.

Attributes come as they stand in the serialised tag (` class="a b" id="c"`, values escaped, double quotes). Names are
compared as words: `class="site-nav left"` has the words site, nav, left. All of it is our own list, made from the
templates of documentation generators, MediaWiki, WordPress and from the roles of WAI-ARIA 1.2.
"""

import re
from functools import lru_cache

SKIP = 1
"""The element goes unseen: hidden, or made for screens alone (line numbers, the visible half of KaTeX)."""
BAD = 2
"""Boilerplate by its name: goes unless it holds most of the page."""
WEAK = 4
"""Boilerplate where links make up a good part of it."""
HEADER = 8
"""The head of a page or article: goes where it is made of links, or has no heading."""
TOC = 16
"""A table of contents: goes where it is made of links."""
MAIN = 32
"""The main content, by its role."""
CONTENT = 64
"""The main content, by its name."""
KEEP = 128
"""Named as content inside the content (an admonition, a footnote): never boilerplate by its name."""

FORMULA = 256
"""MathJax's drawing of a formula."""

BY_ID = 512
"""With BAD: by its id alone, which may as well be made of a heading (`id="cookies"`)."""

_ATTR = re.compile(r'\s(class|id|role|itemprop)="([^"]*)"')
_HIDDEN = re.compile(r'\shidden(?==|\s|$)|\saria-hidden="true"|\sstyle="[^"]*(?:display:\s*none|visibility:\s*hidden)')
_WORD_BREAKS = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[A-Z])", re.ASCII)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SKIP_NAMES = _words(
    "headerlink mw-editsection mw-jump-link noprint sr-only visually-hidden screen-reader-text skip-link skip-nav "
    "katex-html mathjax_preview lineno linenos linenodiv line-numbers-rows copybtn copy-button clipboard anchorjs-link "
    "navbox catlinks copiable-anchor mw-hidden-catlinks printfooter md-source-file "
    "sitesub contentsub jump-to-nav mw-cite-backlink mw-indicators"
)
_FORMULA_NAMES = frozenset(("mathjax", "mathjax_svg", "mathjax_chtml"))
_BAD_WORDS = _words(
    "nav navbar navigation navi navheader navfooter topnav subnav docnav breadcrumb breadcrumbs crumbs sidebar "
    "sphinxsidebar footer pagefooter colophon cookie cookies consent gdpr advert adverts advertisement "
    "advertising ads sponsor sponsored promo share sharing sharebar social addthis newsletter subscribe "
    "pagination pager prevnext searchbox searchform login signup skiplinks popup modal masthead toolbar edit-link"
)
_WEAK_WORDS = _words(
    "menu related recommended recommendations widget widgets links tags taglist tagcloud categories meta banner "
    "top bottom copyright legal aside side rail drawer dropdown tabs archive archives topbar prev next menubar "
    "languages"
)
_TOC_WORDS = _words("toc contents tocbox localtoc toctree outline")
_HEADER_WORDS = _words("header head pageheader")
_CONTENT_NAMES = _words(
    "content main main-content maincontent page-content article article-body article-content articlebody post-content "
    "post-body postbody entry-content entry story-body bodycontent mw-content-text documentwrapper body-content "
    "markdown-body readme rst-content documentation doc-content theme-doc-markdown primary story apicontent"
)
_KEEP_WORDS = _words("admonition footnote footnotes note warning highlight code toc-entry")
_KEEP_NAMES = _words("section sect1 sect2 sect3 sect4 level1 level2 level3 level4 chapter")
_BAD_ROLES = _words("navigation contentinfo search complementary menu menubar dialog alertdialog banner")


@lru_cache(maxsize=4096)
def flags_of(attrs: str) -> int:
    """The flags of an element with these attributes; 0 for most."""
    flags = SKIP if "hidden" in attrs or "display" in attrs else 0
    if flags and not _HIDDEN.search(attrs):
        flags = 0
    for name, value in _ATTR.findall(attrs[:2000]):
        if name == "role":
            flags |= _role(value.strip().lower())
        elif name == "itemprop":
            flags |= MAIN if value.strip() == "articleBody" else 0
        else:
            named = 0
            for one in value.split()[:20]:
                named |= _name(one)
            if name == "id" and named & BAD and not flags & BAD:
                named |= BY_ID
            flags = (flags | named) & ~(BY_ID if name == "class" and named & BAD else 0)
    return flags & ~(BAD | WEAK | HEADER) if flags & KEEP else flags


def unseen(attrs: str) -> int:
    """SKIP and FORMULA of an element that is no container, from its class alone: most have an id of their own."""
    if ("hidden" in attrs or "display" in attrs) and _HIDDEN.search(attrs):
        return SKIP
    at = attrs.find(' class="')
    return _unseen_class(attrs[at + 8 : attrs.find('"', at + 8)]) if at >= 0 else 0


@lru_cache(maxsize=4096)
def _unseen_class(value: str) -> int:
    flags = 0
    for one in value.split()[:20]:
        flags |= _name(one)
    return flags & (SKIP | FORMULA)


def _role(role: str) -> int:
    if role in _BAD_ROLES:
        return BAD
    return MAIN if role == "main" else TOC if role == "doc-toc" else 0


@lru_cache(maxsize=4096)
def _name(name: str) -> int:
    lower = name.lower()
    if lower in _SKIP_NAMES:
        return SKIP
    if lower in _FORMULA_NAMES:
        return FORMULA
    if lower in _KEEP_NAMES:
        return KEEP
    if lower in _CONTENT_NAMES:
        return CONTENT
    flags = 0
    for word in (lower, *map(str.lower, _WORD_BREAKS.split(name))):
        flags |= BAD if word in _BAD_WORDS else WEAK if word in _WEAK_WORDS else 0
        flags |= TOC if word in _TOC_WORDS else HEADER if word in _HEADER_WORDS else 0
        flags |= KEEP if word in _KEEP_WORDS else 0
    return flags


_LANGUAGE = re.compile(
    r"(?<![\w-])(?:(?:language|lang|highlight-source|highlight|src)-([\w+#.-]+)"
    r"|brush:\s*([\w+#-]+)|sourceCode\s+([\w+#-]+))|\sdata-lang(?:uage)?=\"([\w+#-]+)\""
)
_NO_LANGUAGE = _words("default none text plain plaintext txt notranslate nohighlight output block table wrapper")
_SAME_LANGUAGE = {"python3": "python", "py": "python", "python2": "python", "js": "javascript", "ts": "typescript"}
_MAX_LANGUAGE_CHARS = 20


@lru_cache(maxsize=1024)
def language_of(attrs: str) -> str:
    """The programming language that a class or data attribute names, "" where none does."""
    for groups in _LANGUAGE.findall(attrs[:1000]):
        name = "".join(groups).lower()
        if name not in _NO_LANGUAGE and len(name) <= _MAX_LANGUAGE_CHARS:
            return _SAME_LANGUAGE.get(name, name)
    return ""
