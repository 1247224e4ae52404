"""Reference solvers of sums in pictures: `image_shares` (numbers on panels), `page_needle` (numbers in print),
`object_count` (things of a form).

Records are told by sight. The number of a panel, or the words of a page with name and number, stand behind the words of
the record, so that they are read as any entry is; of a scene the things of the form that the query names are counted.
"""

import re

from gristmill.synth.solvers.sight import by_sight, numbers, pages, scenes
from gristmill.synth.solvers.sums import Entry, SumQuery, SumReader, read_entry, read_sum_query, sums_law
from gristmill.synth.solvers.words import Contradiction

MIN_MODULUS = 7
"""Of counts: what a scene suggests is less."""
_FORM = re.compile(r"\b(circle|ring|square|triangle|diamond|star|cross)\b")


def _panel(text: str, query: SumQuery, record: str) -> Entry:
    return Entry(read_entry(record))


def _things(text: str, query: SumQuery, record: str) -> Entry:
    forms = set(_FORM.findall(text))
    if len(forms) != 1:
        raise Contradiction(f"a query for {sorted(forms)}")
    return Entry(_FORM.findall(record.rpartition("shown: ")[2]).count(forms.pop()))


def _suggested(text: str) -> tuple[str, ...]:
    """How many things there are of the form that comes first, or of any."""
    found = _FORM.findall(text.rpartition("shown: ")[2])
    return (str(found.count(found[0]) % MIN_MODULUS), str(len(found) % MIN_MODULUS))


PANELS = by_sight(numbers, sums_law(SumReader(read_sum_query, _panel), lambda text: (str(read_entry(text)),)))
PAGES = by_sight(pages, sums_law(SumReader(read_sum_query, _panel), lambda text: (str(read_entry(text)),)))
THINGS = by_sight(scenes, sums_law(SumReader(read_sum_query, _things), _suggested))
