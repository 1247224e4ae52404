"""WET: the plain text that a crawl made of its pages (`conversion` records of WARC files); all other types of
records are no records here.

Out: as `warc`; `text` is the payload, which is UTF-8. Quarantines: `bad_utf8`, `too_large`, `corrupt`, `truncated`.
"""

from collections.abc import Iterator

from gristmill.pipeline.sources.protocol import InputFile, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.warc import read_types

NAME = "wet"
OPTIONS: dict[str, OptionValue] = {}
SUFFIXES = (".wet", ".wet.gz", ".wet.zst")


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The rows and losses of one file. Raises InputError if it cannot be opened."""
    return read_types(file, options, ("conversion",))
