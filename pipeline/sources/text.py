"""A tree of text files: one file a record, as it stands.

In: .txt, .text, .md, .rst and any file that a pattern names. Out: `text` as UTF-8 without byte order mark, "" for an
empty file; `id` from dataset and path; `meta` holds `path`. Drop: `binary` (holds NUL: as bytes, or where a byte order
mark says UTF-16 or UTF-32, as a character). Quarantines: `bad_utf8`, `too_large`.
"""

from collections.abc import Iterator

from gristmill.pipeline.sources.encodings import has_wide_bom, text_to_utf8
from gristmill.pipeline.sources.losses import lose
from gristmill.pipeline.sources.protocol import InputFile, Loss, OptionValue, ReadBatch, ReadOptions
from gristmill.pipeline.sources.whole_files import one_loss, one_record, read_whole

NAME = "text"
OPTIONS: dict[str, OptionValue] = {}
SUFFIXES = (".txt", ".text", ".md", ".rst")


def read_file(file: InputFile, options: ReadOptions) -> Iterator[ReadBatch]:
    """The row or the loss of one file. Raises InputError if it cannot be read."""
    data = read_whole(file, options)
    if isinstance(data, Loss):
        yield one_loss(data)
    elif isinstance(text := text_or_loss(data), Loss):
        yield one_loss(text)
    else:
        yield one_record(text, data, file, options)


def text_or_loss(data: bytes) -> bytes | Loss:
    """The text of a file as UTF-8, or its loss."""
    wide = has_wide_bom(data)
    text = text_to_utf8(data) if wide or b"\0" not in data else data
    if text is None:
        detail = "marked as UTF-16 or UTF-32, and is not" if wide else _first_fault(data)
        return lose("bad_utf8", data, 0, detail)
    nul = text.find(b"\0")
    return text if nul < 0 else lose("binary", data, 0, f"NUL at byte {nul}")


def _first_fault(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"{error.reason} at byte {error.start}"
    raise AssertionError("what cannot be decoded has a first fault")
