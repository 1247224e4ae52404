"""A tree of HTML files: one file a record, decoded but otherwise as it stands (`extract_html` makes text of it).

In: .html, .htm, .xhtml. Out: `text` is the page as UTF-8 (see `encodings`); `id` from dataset and path; `meta` holds
`path`, `mime` and, if it was not UTF-8, `charset`. Quarantines: `bad_encoding`, `too_large`.
"""

from collections.abc import Iterator

from gristmill.pipeline.sources.encodings import UTF8, html_to_utf8
from gristmill.pipeline.sources.losses import lose
from gristmill.pipeline.sources.protocol import InputFile, Loss, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.whole_files import one_loss, one_record, read_whole

NAME = "html"
OPTIONS: dict[str, OptionValue] = {}
SUFFIXES = (".html", ".htm", ".xhtml")


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The row or the loss of one file. Raises InputError if it cannot be read."""
    data = read_whole(file, options)
    if isinstance(data, Loss):
        yield one_loss(data)
        return
    found = html_to_utf8(data, None)
    if found is None:
        yield one_loss(lose("bad_encoding", data, 0, "neither the declared encoding fits nor a detected one"))
        return
    charset = {} if found[1] == UTF8 else {"charset": found[1]}
    yield one_record(found[0], data, file, options, {"mime": "text/html", **charset})
