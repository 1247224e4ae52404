"""Sound HTML as tokens, a chunk at a time, so that a page of 64 MiB needs no list of all its tags.

Tokens are (text, tag, attributes, text, tag, attributes, ..., text): a tag has its slash when it ends an element, a
comment has the tag None. Tags are found by TOKEN, which is right for HTML that a serialiser wrote
(`html_child.sound_page`): quotes are doubled and closed, no element's content is raw text.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(r'<(/?[a-zA-Z][^\s>/]*)((?:[^">]|"[^"]*")*)>|<!--.*?-->', re.DOTALL)
CHUNK_TAGS = 50_000


@dataclass
class Tokens:
    """The tokens from some point on in `window`, a list that begins with a text; `rest` is not yet split."""

    rest: str
    window: list[str] = field(default_factory=list[str])

    def more(self) -> bool:
        """Split another chunk into the window; False when all is there."""
        if not self.rest and self.window:
            return False
        found = TOKEN.split(self.rest, maxsplit=CHUNK_TAGS)
        self.rest = found.pop() if len(found) > 3 * CHUNK_TAGS else ""
        self.window.extend(found)
        if not self.rest and len(self.window) % 3 == 0:
            self.window.append("")
        return True

    def forget(self, i: int) -> None:
        """Drop what stands before the tag at i, which comes to stand at 1."""
        self.window[:i] = [""]

    def end_of(self, i: int, tag: str) -> int:
        """Index of the end tag for the start tag at i; where there is none, the first index behind all tags."""
        window, depth, closing, start = self.window, 0, "/" + tag, i
        while True:
            for at in range(start, len(window), 3):
                if window[at] == tag:
                    depth += 1
                elif window[at] == closing:
                    depth -= 1
                    if depth == 0:
                        return at
            start += (len(window) - start + 2) // 3 * 3
            if not self.more():
                return start

    def text_after(self, i: int) -> str:
        """The text behind the tag at i; "" behind the last."""
        while i + 2 >= len(self.window) and self.more():
            pass
        return self.window[i + 2] if i + 2 < len(self.window) else ""
