"""The books: what each step did with the records of each source, and whether it balances.

A Tally counts records (`records_in + derived = kept + dropped + quarantined`) and characters
(`chars_in = chars_kept + sum(chars_cut) + chars_gone`), with the reasons of those that went. `rows` are
rows made by a step that merges records (trainer rows). Tallies add up over splits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gristmill.manifests.errors import VerifyError


@dataclass
class Tally:
    """Counts of one step for one source."""

    records_in: int = 0
    kept: int = 0
    dropped: int = 0
    quarantined: int = 0
    derived: int = 0
    rows: int = 0
    tokens: int = 0
    chars_in: int = 0
    chars_kept: int = 0
    chars_gone: int = 0
    chars_cut: dict[str, int] = field(default_factory=dict[str, int])
    reasons: dict[str, int] = field(default_factory=dict[str, int])

    def gone(self, verdict: str, reason: str, count: int = 1) -> None:
        """Account for records that leave."""
        if verdict == "drop":
            self.dropped += count
        else:
            self.quarantined += count
        self.reasons[reason] = self.reasons.get(reason, 0) + count

    def cut(self, reason: str, chars: int) -> None:
        """Account for characters cut inside records."""
        if chars:
            self.chars_cut[reason] = self.chars_cut.get(reason, 0) + chars

    def add(self, other: "Tally") -> None:
        """Add another tally of the same step."""
        for name in ("records_in", "kept", "dropped", "quarantined", "derived", "rows", "tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("chars_in", "chars_kept", "chars_gone"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for reason, chars in other.chars_cut.items():
            self.cut(reason, chars)
        for reason, count in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + count

    def balance(self, where: str) -> None:
        """Raise VerifyError, naming `where`, when the books do not balance."""
        out = self.kept + self.dropped + self.quarantined
        if self.records_in + self.derived != out:
            raise VerifyError(
                "the books do not balance: records_in + derived != kept + dropped + quarantined",
                where=where,
                value=f"{self.records_in} + {self.derived} != {self.kept} + {self.dropped} + {self.quarantined}",
                remedy="this is a fault of the step: report it",
            )
        if self.dropped + self.quarantined != sum(self.reasons.values()):
            raise VerifyError("the reasons do not add up to what went", where=where, value=self.reasons)
        if self.chars_in != self.chars_kept + sum(self.chars_cut.values()) + self.chars_gone:
            raise VerifyError(
                "the books do not balance: chars_in != chars_kept + cut + gone",
                where=where,
                value=f"{self.chars_in} != {self.chars_kept} + {self.chars_cut} + {self.chars_gone}",
                remedy="this is a fault of the step: report it",
            )


def tally_to_json(tally: Tally) -> dict[str, Any]:
    """Plain data, with sorted reasons."""
    value = asdict(tally)
    value["chars_cut"] = dict(sorted(tally.chars_cut.items()))
    value["reasons"] = dict(sorted(tally.reasons.items()))
    return value


def tally_from_json(value: Mapping[str, Any]) -> Tally:
    """Inverse of `tally_to_json`."""
    counts: dict[str, Any] = {**value, "chars_cut": dict(value["chars_cut"]), "reasons": dict(value["reasons"])}
    return Tally(**counts)


StepTallies = dict[str, dict[str, Tally]]
"""step -> source -> Tally, steps in order."""


def step_tallies_to_json(tallies: StepTallies) -> list[dict[str, Any]]:
    """`[{"step", "sources": {source: tally}}]`, sources sorted."""
    return [
        {"step": step, "sources": {s: tally_to_json(t) for s, t in sorted(by_source.items())}}
        for step, by_source in tallies.items()
    ]


def step_tallies_from_json(value: Iterable[Mapping[str, Any]]) -> StepTallies:
    """Inverse of `step_tallies_to_json`."""
    return {item["step"]: {source: tally_from_json(t) for source, t in item["sources"].items()} for item in value}


def merge_tallies(parts: Iterable[StepTallies]) -> StepTallies:
    """The sum, steps in the order in which they first appear."""
    total: StepTallies = {}
    for part in parts:
        for step, by_source in part.items():
            target = total.setdefault(step, {})
            for source, tally in by_source.items():
                target.setdefault(source, Tally()).add(tally)
    return total


def total_of(by_source: Mapping[str, Tally]) -> Tally:
    """The sum over sources."""
    total = Tally()
    for tally in by_source.values():
        total.add(tally)
    return total


def check_balance(tallies: StepTallies, where: str) -> None:
    """Balance every step and source, and each step against the one before (kept there = in here)."""
    previous: tuple[str, int] | None = None
    for step, by_source in tallies.items():
        for source, tally in by_source.items():
            tally.balance(f"{where} step {step} source {source}")
        total = total_of(by_source)
        if previous is not None and previous[1] != total.records_in:
            raise VerifyError(
                "records were lost between two steps",
                where=f"{where} steps {previous[0]} and {step}",
                value=f"{previous[1]} kept, {total.records_in} read",
            )
        previous = (step, total.kept)
