"""T18, recall from a dialogue: of n replies of one kind in a chat, how four of them began, by their turns. Class B.

Slots of a record: chat, turn, genre, topic, opening. A bank is one chat with `size.chains` kinds of replies, crosses of
genres and topics; each kind was asked for `size.hops` times, within SPAN_TURNS turns from a turn of its own on, at
random. Where a reply stands has nothing to do with its turn; one of each kind stands in each stratum (`even`).
"""

from collections.abc import Sequence

from gristmill.render.draws import Draws
from gristmill.synth.protocol import Bank, Fact, Family, Question, Size, Wording

WORDING = Wording(
    clauses=(
        "turn {turn} of the chat {chat} was a {genre} about {topic} that opened with {opening}",
        "in {chat} the reply at turn {turn} was a {genre} about {topic}, first word {opening}",
        "the {genre} about {topic} at turn {turn} in {chat} starts on {opening}",
        "{chat} got a {genre} about {topic} at turn {turn}, beginning {opening}",
        "someone in {chat} asked for a {genre} about {topic}, and turn {turn} began {opening}",
        "at turn {turn} the scribe of {chat} wrote a {genre} about {topic} that sets out from {opening}",
        "{opening} is how the {genre} about {topic} went in {chat} on turn {turn}",
        "{chat} holds a {genre} about {topic} at turn {turn} whose first word is {opening}",
        "turn {turn}, chat {chat}: they wanted a {genre} about {topic} and got one led by {opening}",
        "the log of {chat} has at turn {turn} a {genre} about {topic}, headed {opening}",
        "with {opening} in front came the {genre} about {topic} of {chat}, turn {turn}",
        "on turn {turn} {chat} was treated to a {genre} about {topic} introduced by {opening}",
        "{chat}, turn {turn}, one more {genre} about {topic}, its opening {opening}",
        "a {genre} about {topic} filled turn {turn} in {chat} from the word {opening} on",
        "reading {chat} at turn {turn} you meet a {genre} about {topic} that goes {opening} and so on",
        "for turn {turn} {chat} shows a {genre} about {topic} whose start is {opening}",
    ),
    fields=(
        "chat={chat} turn={turn} kind={genre} about {topic} opening={opening}",
        "{chat} turn {turn}: {genre} about {topic} / {opening}",
        "reply[{chat}, turn {turn}] is {genre} about {topic} from {opening} on",
        "turn {turn} @ {chat}, {genre} about {topic}, begins {opening}",
        "{chat} | at | turn {turn} | sent | {genre} about {topic} | first word | {opening}",
        "message of {chat}; number turn {turn}; form {genre} about {topic}; head {opening}",
        "{opening} opens {genre} about {topic}, {chat} turn {turn}",
        '<reply chat="{chat}" at="turn {turn}" kind="{genre} about {topic}" first="{opening}"/>',
    ),
    asks=(
        "of the {count} times that {chat} got a {genre} about {topic}, how did numbers {ranks} by turn begin",
        "order each {genre} about {topic} in {chat} by turn, {count} in all, and give the openings of numbers {ranks}",
        "with which words did numbers {ranks} of {count} start, every {genre} about {topic} in {chat} counted by turn",
        "{chat} has {count} replies that are a {genre} about {topic}. Sorted by turn, what opens numbers {ranks}",
        "count each {genre} about {topic} in {chat} by turn, which makes {count}: what heads numbers {ranks}",
        "scroll {chat} turn by turn, past {count} instances of a {genre} about {topic}. What are the first words of "
        "numbers {ranks}",
        "which openings belong to numbers {ranks} of {count} when every {genre} about {topic} of {chat} is put by turn",
        "recall {chat}: its {count} replies of kind {genre} about {topic}. By turn, how did numbers {ranks} begin",
    ),
)

GENRES = ("limerick", "riddle", "recipe", "sonnet", "speech", "fable")
TOPICS = ("lanterns", "snow", "bakers", "tides", "owls", "tunnels")
SPAN_TURNS = 4000
FIRST_TURN, LAST_TURN = 10_000, 900_000
ASKED_RANKS = 4


def names_needed(size: Size) -> int:
    """The chat, and the openings."""
    return 1 + size.facts


def build(size: Size, names: Sequence[str], draws: Draws) -> Bank:
    """A chat."""
    chat, openings = names[0], names[1:]
    genres, topics = draws.some(GENRES, 2), draws.some(TOPICS, (size.chains + 1) // 2)
    kinds = [(genre, topic) for topic in topics for genre in genres][: size.chains]
    facts: list[Fact] = []
    questions: list[Question] = []
    for chain, (genre, topic) in enumerate(kinds):
        own = openings[chain * size.hops : (chain + 1) * size.hops]
        turns = draw_turns(size.hops, draws)
        kind = {"chat": chat, "genre": genre, "topic": topic}
        evidence = tuple(range(len(facts), len(facts) + size.hops))
        facts += [
            Fact({**kind, "turn": str(turn), "opening": name}, chain, hop)
            for hop, (turn, name) in enumerate(zip(turns, own, strict=True))
        ]
        ranks = sorted(draws.some(range(size.hops), ASKED_RANKS))
        listed = "{}, {}, {} and {}".format(*(rank + 1 for rank in ranks))
        answer = ", ".join(own[rank] for rank in ranks)
        questions.append(Question({**kind, "count": str(size.hops), "ranks": listed}, evidence, answer))
    params = {"chains": size.chains, "hops": size.hops, "span": SPAN_TURNS}
    return Bank(tuple(facts), tuple(questions), tuple(sorted(openings)), params)


def draw_turns(count: int, draws: Draws) -> list[int]:
    """Different turns in ascending order, all in [start, start + SPAN_TURNS) for a start that is uniform."""
    start = draws.integer(FIRST_TURN, LAST_TURN)
    turns: set[int] = set()
    while len(turns) < count:
        turns.add(start + draws.integer(0, SPAN_TURNS))
    return sorted(turns)


FAMILY = Family(
    name="chat_recall",
    version=1,
    klass="B",
    law="weighed",
    placing="even",
    sizes=(
        Size(tier=3, chains=6, hops=10, asked=4),
        Size(tier=3, chains=3, hops=10, asked=2),
    ),
    wording=WORDING,
    names_needed=names_needed,
    build=build,
)
