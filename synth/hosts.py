"""Sentences that records are put beside, so that they read like the documents they stand in.

A planted sentence among documents can be smelt: by the words of its template alone a linear classifier tells it from
the text around (area under the curve 1.00). Beside one sentence of a real document the same classifier, on wordings
that it has not seen, is at 0.85 to 0.88 (reference 6.2: at most 0.90). Hosts come from documents of the plan that fill
nothing else, each sentence once, so that no text of a sequence is repeated.

A sentence that holds a digit, or a word in the spelling of invented names, is none: solvers read records by these.
"""

import re
from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.atoms import Prepared
from gristmill.synth.solvers.words import names_in

HOST_TOKENS = 45
"""What a sentence costs at most, about: plans draw so much more for each record that gets one."""
MIN_HOST_WORDS, MAX_HOST_CHARS = 5, 180

_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")
_DIGIT = re.compile(r"\d")


def sentences(text: str) -> list[str]:
    """The sentences of a text that may be hosts, in order, without repetitions."""
    found = (" ".join(part.split()) for part in _ENDS.split(text))
    return list(dict.fromkeys(s for s in found if _is_host(s)))


def _is_host(sentence: str) -> bool:
    if len(sentence) > MAX_HOST_CHARS or len(sentence.split()) < MIN_HOST_WORDS:
        return False
    return sentence.isprintable() and not _DIGIT.search(sentence) and not names_in(sentence)


def take_hosts(documents: Sequence[Prepared], wanted: int, tokens: int) -> tuple[frozenset[int], list[str]]:
    """Which of the documents are hosts, and their sentences: at least `wanted` of them if there are.

    They are taken from the last backwards, prose without media alone, and as many documents are left as hold `tokens`
    in text alone and in all.
    """
    texts = sum(document.total for document in documents if not document.media)
    most = max((document.uncut for document in documents), default=0)
    left, spare = sum(document.total for document in documents) - tokens - most, texts - 2 * most
    found: dict[str, None] = {}
    used: set[int] = set()
    for at in range(len(documents) - 1, -1, -1):
        document = documents[at]
        if len(found) >= wanted:
            break
        if document.media or document.source.domain == "code" or document.total > min(left, spare):
            continue
        found |= dict.fromkeys(sentences(document.text))
        left, spare = left - document.total, spare - document.total
        used.add(at)
    return frozenset(used), list(found)


JOINTS = ("{host} ({clause})", "{host}; {clause}.", "{host} - {clause}", "{host}, and {clause}.")


def embed(clause: str, host: str, draws: Draws) -> str:
    """A record: what is said, behind its host; in lower case as it is, for solvers may read words."""
    return draws.pick(JOINTS).format(host=host.rstrip(" .;:,!?"), clause=clause)
