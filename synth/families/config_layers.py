"""T25, configuration in layers: a setting is made in several layers, and the later one in the query's order wins.

Slots of a record: layer, setting, value. A bank has LAYERS layers. A chain is `size.hops` settings, whose values in
force are asked together; each is made in several layers, which ones is random (`size.spare` counts, for a chain, the
settings made beyond one each), with numbers of two digits. Class B.
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "layer {layer} sets {setting} to {value}",
        "{setting} is {value} in the layer {layer}",
        "the file of {layer} has {value} for {setting}",
        "{layer} asks for {setting} at {value}",
        "somebody put {setting} on {value} in {layer}",
        "{layer} contains a line that makes {setting} {value}",
        "by {layer} alone {setting} would be {value}",
        "as {layer} has it {setting} equals {value}",
        "{layer} turns {setting} to {value} unless overruled",
        "what {layer} wants of {setting} is {value}",
        "{value} is written next to {setting} in {layer}",
        "inside {layer} the value of {setting} reads {value}",
        "{layer} proposes {value} as {setting}",
        "you will see {setting} with {value} when you open {layer}",
        "the owner of {layer} chose {value} for {setting}",
        "{layer} pins {setting} to {value} for its part",
    ),
    fields=(
        "layer={layer} key {setting}={value}",
        "[{layer}] {setting} = {value}",
        "{layer} overlay, {setting}: {value}",
        "set -l {layer} -k {setting} -v {value}",
        "{layer} | option | {setting} | number | {value}",
        "in: {layer}; key: {setting}; value: {value}",
        "{setting} := {value} as of {layer}",
        '<option layer="{layer}" name="{setting}" to="{value}"/>',
    ),
    asks=(
        "layers are read in the order {layers}, and what is read later wins. Each of {settings} is made in {times} of "
        "them. Which values hold",
        "with {layers} stacked from bottom to top, and {times} layers making each setting, what are the effective "
        "values of {settings}",
        "{settings} are each set by {times} layers. If of {layers} the later always overrules the earlier, what do "
        "they end up as",
        "resolve {settings}, every one given in {times} places, by the precedence {layers}, weakest first",
        "a service loads {layers}, each on top of the last. What does it see for {settings}, all of which occur in "
        "{times} layers",
        "from the least to the most important the layers are {layers}. Tell the values in force for {settings}, which "
        "{times} layers define",
        "what remains of {settings}, each defined {times} times, once {layers} have been applied one by one",
        "give the final values of {settings} in this order. There are {times} definitions of each, and {layers} "
        "override from left to right",
    ),
)

LAYERS = 5
_LOW, _HIGH = 10, 100


def names_needed(size: Size) -> int:
    """Layers and settings."""
    return LAYERS + size.chains * size.hops


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """`size.chains` groups of `size.hops` settings."""
    layers, settings = list(names[:LAYERS]), names[LAYERS:]
    times = size.spare // size.hops + 1
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain in range(size.chains):
        own = settings[chain * size.hops : (chain + 1) * size.hops]
        winners: list[int] = []
        for hop, setting in enumerate(own):
            made = sorted(draws.some(range(LAYERS), times))
            winners.append(len(facts) + times - 1)
            facts += [
                Fact({"layer": layers[m], "setting": setting, "value": str(draws.integer(_LOW, _HIGH))}, chain, hop)
                for m in made
            ]
        slots = {"layers": ", ".join(layers), "settings": ", ".join(own), "times": str(times)}
        answer = " ".join(facts[i].slots["value"] for i in winners)
        questions.append(Question(slots, tuple(winners), answer))
    params = {"settings": len(settings), "layers": LAYERS, "times": times}
    return Bank(tuple(facts), tuple(questions), tuple(map(str, range(_LOW, _HIGH))), params)


FAMILY = Family(
    name="config_layers",
    version=1,
    klass="B",
    law="weighed",
    sizes=(
        Size(tier=2, chains=8, hops=5, asked=6, spare=10),
        Size(tier=2, chains=4, hops=5, asked=3, spare=10),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
