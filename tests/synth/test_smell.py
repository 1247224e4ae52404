"""How easily records are told from documents: beside a sentence of one, on wordings that were not learnt, poorly."""

import re
from functools import cache
from pydoc_data.topics import topics

import pytest

from gristmill.render.draws import Draws
from gristmill.synth import grammar
from gristmill.synth.families.catalogue import FAMILIES
from gristmill.synth.grammar import Split
from gristmill.synth.hosts import embed, sentences
from gristmill.synth.lexicon import names
from gristmill.synth.solvers.smell import auc, features_of, train

MAX_AUC = 0.90
TRAINED, TESTED = 900, 340


@cache
def host_sentences() -> tuple[str, ...]:
    """Real prose, in a random order: the reference of the Python language that its standard library carries."""
    prose = "\n\n".join(text for _, text in sorted(topics.items()))
    return tuple(Draws("pages").shuffled(sentences(re.sub(r"(?<![.:])\n(?!\n)", " ", prose))))


def records(split: Split, count: int, hosts: list[str]) -> list[str]:
    """Records of all families that may stand beside a sentence; with `hosts`, beside one of these."""
    beside, draws, found = bool(hosts), Draws("smell", split, len(hosts)), list[str]()
    families = [f for f in FAMILIES.values() if f.embeds]
    while len(found) < count:
        family = draws.pick(families)
        size = family.sizes[-1]
        bank = family.build(size, names(draws, family.names_needed(size), lambda _: set()), draws)
        for fact in bank.facts[: count - len(found)]:
            of = grammar.embedded_of if beside else grammar.records_of
            template = grammar.record_template(family.wording, draws.pick(of(family.wording, split)))
            text = grammar.fill(template, fact.slots, draws)
            found.append(embed(text, hosts.pop(), draws) if beside else text)
    return found


def measured(beside: bool) -> float:
    """Area under the curve, learnt on wordings of training, asked about those that are held out."""
    own, both = host_sentences(), TRAINED + TESTED
    assert len(own) >= 2 * both
    others = own[both : 2 * both]
    trained = train(records("train", TRAINED, list(own[:TRAINED]) if beside else []), others[:TRAINED])
    tested = records("held_out", TESTED, list(own[TRAINED:both]) if beside else [])
    return auc(trained, tested, others[TRAINED:])


def test_records_beside_a_sentence_are_hard_to_tell() -> None:
    found = measured(beside=True)
    print(f"area under the curve beside a sentence: {found:.3f}")
    assert found <= MAX_AUC


def test_records_alone_are_easy_to_tell() -> None:
    """The measurement sees what there is to see."""
    assert measured(beside=False) > 0.97


def test_the_curve() -> None:
    nose = train(["red apple", "red pear"] * 5, ["blue sky", "blue sea"] * 5)
    assert auc(nose, ["red plum"], ["blue lake"]) == 1.0
    assert auc(nose, ["blue lake"], ["red plum"]) == 0.0
    assert auc(nose, ["same"], ["same"]) == 0.5
    assert features_of("").tolist() == features_of(" ").tolist() and len(features_of("")) == 1
    with pytest.raises(ValueError, match="needed"):
        auc(nose, [], ["a"])
    with pytest.raises(ValueError, match="needed"):
        train([], ["a"])


def test_what_may_be_a_host() -> None:
    text = (
        "Too few words. This sentence of five words is fine; it costs 5 units and more. Gobtopu went to the old mill."
    )
    assert sentences(text) == ["This sentence of five words is fine;"]
    assert sentences("A line of prose that stands twice.\nA line of prose that stands twice.") == [
        "A line of prose that stands twice."
    ]
