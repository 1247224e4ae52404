"""What the HTML child runs: one page in, the text of its main content out, both UTF-8.

Loaded in the killable child only, so that it imports little. resiliparse (Apache-2.0) parses in native code.
"""

from collections.abc import Callable

from resiliparse.extract.html2text import extract_plain_text

_MEDIUM_CHAR = "\ufffc"
_REPLACEMENT_CHAR = "\ufffd"


def make(init: bytes) -> Callable[[bytes], bytes]:
    """The extractor; `init` is not used."""
    return extract


def extract(page: bytes) -> bytes:
    """Paragraphs, lists with their bullets, preformatted text as it stands; no links, menus or forms.

    A U+FFFC out of an entity becomes U+FFFD: that character is kept for media.
    """
    text = extract_plain_text(
        page.decode("utf-8", "replace"),
        preserve_formatting=True,
        main_content=True,
        list_bullets=True,
        alt_texts=True,
        links=False,
        form_fields=False,
        noscript=False,
        comments=True,
    )
    return text.replace(_MEDIUM_CHAR, _REPLACEMENT_CHAR).encode("utf-8", "replace")
