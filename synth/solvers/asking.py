"""What the proofs of all laws share: a row's records, a task as its proof gets it, and what a law must be able to do.

A law is how answers follow from records. `laws.LAWS` names the law of each family. `prove` finds that the answer
follows from the evidence alone and from no less, and what windows know; `look` shows a task as `cheaters` see it.
Records go by the token where they begin.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.synth.solvers.reading import Reading
from gristmill.synth.solvers.spans import Span

REASONS: Mapping[str, str] = {
    "unreadable": "the ids of a row are no text, or encoding the text again gives others",
    "padding": "more padding than allowed",
    "media": "the places of a picture or a video are not what it costs, or its bytes are others",
    "spans": "a span of a task is no segment of its kind, or stands where it may not",
    "groups": "a query may not attend to its evidence",
    "unknown_family": "there is no solver for a family",
    "unsolved": "the reference solver does not find the stored answer",
    "not_necessary": "the answer is determined without one of the evidence records",
    "alike": "a passage of a document could be told by words that it shares with others",
    "leak": "an invented name stands outside of what was planted",
    "epsilon": "a window knows more than it may",
    "spread": "the tasks of a long row do not ask for the whole window",
    "claims": "what the row says of a task is not what is measured",
}
"""Why a row is not proved."""


MAX_ANSWERS = (1 << 31) - 1
"""`answer_space` is an int32; a guess among more is worth nothing that could be told from this."""


class Unproved(Exception):
    """A proof that fails: `reason` is one of REASONS, `task` the index of the task, -1 for the row."""

    def __init__(self, reason: str, detail: str, task: int = -1) -> None:
        super().__init__(f"{reason}: {detail}" if task < 0 else f"task {task}: {reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.task = task


@dataclass(frozen=True)
class Records:
    """Texts of records by the token where they begin; in which of them each invented name stands.

    pictures: the files of those that have one; memo: what a law keeps from one task of a bank for the next.
    """

    texts: Mapping[int, str]
    named: Mapping[str, frozenset[int]]
    pictures: Mapping[int, bytes] = field(default_factory=dict[int, bytes])
    memo: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])

    def with_name(self, name: str) -> list[int]:
        """The records with a name, in order of place."""
        return sorted(self.named.get(name, ()))


@dataclass(frozen=True)
class Seen:
    """A row and its records."""

    reading: Reading
    records: Records


@dataclass(frozen=True)
class Asked:
    """A task whose spans have been checked: task `index` of the row. `others`: the distractors."""

    index: int
    family: str
    query: str
    answer: str
    evidence: tuple[Span, ...]
    others: tuple[Span, ...]

    @property
    def bank(self) -> tuple[Span, ...]:
        """All records of its bank, in order of place."""
        return tuple(sorted((*self.evidence, *self.others)))


@dataclass(frozen=True)
class Found:
    """What a law proves of a task: the answers that there can be, and epsilon of each of `windows.WINDOW_PARTS`.

    space: how many answers there are where they are too many to list, and `candidates` those of the first part; 0:
    `candidates` are all. No epsilons for class C.
    """

    candidates: tuple[str, ...]
    epsilons: tuple[float, ...]
    space: int = 0

    @property
    def answers(self) -> int:
        """How many answers there are, as far as the column can tell."""
        return min(self.space or len(self.candidates), MAX_ANSWERS)


@dataclass(frozen=True)
class View:
    """A task as a cheater sees it. `values`: the candidates that each record mentions; `answer`: what is right.

    shares, combine: records whose parts make up the answer, and what some of them make together; () where a path is
    followed. hidden: a record that is not shown, -1 for none.
    """

    key: str
    candidates: tuple[str, ...]
    values: Mapping[int, tuple[str, ...]]
    answer: str
    shares: tuple[int, ...] = ()
    combine: Callable[[Sequence[int]], str] | None = None
    hidden: int = -1


@dataclass(frozen=True)
class Law:
    """`prove` raises Unproved or Contradiction; `look` takes the query, the records of the bank, and the answer.

    `solve` finds the answer of a query from records, None where one is missing. `klass`: what is proved of a window
    without all evidence (`trainer_schema.TASK_CLASSES`). `distance_only`: one record holds the answer, which asks for
    a long way and not for many places. `solved_by`: cheaters that do what the solver does, and are no short cuts here.
    """

    prove: Callable[[Seen, Asked], Found]
    look: Callable[[str, Records, str], tuple[View, ...]]
    solve: Callable[[str, Records], str | None]
    klass: str = "A"
    distance_only: bool = False
    solved_by: frozenset[str] = frozenset()
