"""The quality stage: scores, thresholds at their limits, sampling by content, the column, and what it refuses."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gristmill.manifests.errors import GristmillError, InputError, UsageError
from gristmill.manifests.schema import DOCUMENT, content_hashes, document_batch
from gristmill.stages import catalogue
from gristmill.stages.protocol import Floats, Mapped, Mapper
from gristmill.stages.quality.model import open_model
from gristmill.stages.quality.model_file import packed, read_model
from gristmill.stages.quality.sampling import Curve, draws
from gristmill.stages.quality.stage import MEASURE, Quality
from tests.laws.corpora import HOSTILE, prose
from tests.laws.samples import TINY_MODEL
from tests.stages.quality.tiny_model import links

GOOD = [prose(100 + n, 60) for n in range(8)]
BAD = [links(100 + n, 30) for n in range(8)]


def batch_of(texts: list[str | None], scores: list[Any] | None = None) -> pa.RecordBatch:
    text = pa.array(texts, pa.large_string())
    columns = {
        "text": text,
        "content_hash": content_hashes(text.fill_null(""), pa.nulls(len(texts), pa.list_(pa.null()))),
    }
    if scores is not None:
        columns["scores"] = pa.array(scores, DOCUMENT.field("scores").type)
    return document_batch(columns)


def stage(**params: Any) -> Quality:
    made = catalogue.load("quality", {"model": str(TINY_MODEL), **params}, Path())
    assert isinstance(made, Quality)
    return made


def scores_of(texts: list[str | None], **params: Any) -> Floats:
    return np.asarray(stage(mode="score_only", **params).transform(batch_of(texts)).measures[MEASURE])


def gone(mapped: Mapped) -> dict[int, str]:
    return {verdict.row: verdict.reason for verdict in mapped.verdicts}


def test_good_stays_and_bad_goes() -> None:
    mapped = stage().transform(batch_of([*GOOD, *BAD]))
    assert gone(mapped) == dict.fromkeys(range(8, 16), "low_quality")
    assert isinstance(stage(), Mapper)


def test_scores_are_in_the_column_and_rounded() -> None:
    mapped = stage(mode="score_only").transform(batch_of([GOOD[0], None, "", BAD[0]]))
    values = mapped.measures[MEASURE].tolist()
    assert mapped.batch.schema == DOCUMENT
    assert mapped.batch.column("scores").to_pylist() == [[("quality", value)] for value in values]
    assert values == [round(value, 4) for value in values]
    assert mapped.verdicts == ()
    assert values[1] == values[2] < values[0]


def test_other_scores_stay_and_its_own_is_replaced() -> None:
    before = [[("edu", 0.5)], None, [("web", 0.1), ("edu", 0.7)], []]
    mapped = stage(mode="score_only", score="web").transform(batch_of([*GOOD[:4]], before))
    s = mapped.measures[MEASURE].tolist()
    expected = [[("edu", 0.5), ("web", s[0])], [("web", s[1])], [("edu", 0.7), ("web", s[2])], [("web", s[3])]]
    assert mapped.batch.column("scores").to_pylist() == expected


def test_a_score_at_the_threshold_stays() -> None:
    score = float(scores_of([BAD[0]])[0])
    assert gone(stage(threshold=score).transform(batch_of([BAD[0]]))) == {}
    above = stage(threshold=score + 0.0001).transform(batch_of([BAD[0]]))
    assert [(v.reason, v.measure, v.value, v.limit) for v in above.verdicts] == [
        ("low_quality", MEASURE, score, score + 0.0001)
    ]


def test_a_score_depends_on_no_batch() -> None:
    texts: list[str | None] = [*GOOD, *HOSTILE, *BAD, None]
    alone = [float(scores_of([text])[0]) for text in texts]
    assert scores_of(texts).tolist() == alone
    assert scores_of(texts[::-1]).tolist() == alone[::-1]
    assert all(0 <= score <= 1 for score in alone)


def test_the_end_of_a_long_text_counts_as_its_start_does() -> None:
    middle = " ".join(prose(n, 400) for n in range(60))
    length = len(middle.encode()) // 3
    bad = "\n".join(links(n, 200) for n in range(40))[:length]
    start, end = float(scores_of([bad + middle])[0]), float(scores_of([middle + bad])[0])
    assert start == pytest.approx(end, abs=0.15)
    assert max(start, end) < float(scores_of([middle])[0])


def test_sampling_is_by_content_and_seed_and_rises_with_the_score() -> None:
    texts: list[str | None] = [*(prose(n, 60) for n in range(100)), *(links(n, 30) for n in range(100))]
    sampled = stage(mode="sample", alpha=3.0)
    mapped = sampled.transform(batch_of(texts))
    lost = gone(mapped)
    assert set(lost.values()) == {"not_sampled"}
    good, bad = sum(row < 100 for row in lost), sum(row >= 100 for row in lost)
    assert good < 40
    assert 70 < bad < 100
    back = sampled.transform(batch_of(texts[::-1]))
    assert {199 - row for row in gone(back)} == set(lost)
    assert gone(stage(mode="sample", alpha=3.0, seed=1).transform(batch_of(texts))) != lost
    for verdict in mapped.verdicts:
        assert verdict.value <= verdict.limit


def test_copies_share_their_fate() -> None:
    texts: list[str | None] = [BAD[number % 4] for number in range(40)]
    lost = gone(stage(mode="sample", table=[[0, 0.5], [1, 0.5]]).transform(batch_of(texts)))
    assert all((row in lost) == (row % 4 in lost) for row in range(40))


def test_the_curves() -> None:
    pareto = Curve().keep_probability(np.array([0.0, 0.5, 1.0]))
    assert pareto.tolist() == [2.0**-9, 1.5**-9, 1.0]
    table = Curve(table=((0.2, 0.0), (0.8, 1.0))).keep_probability(np.array([0.0, 0.2, 0.5, 0.8, 1.0]))
    assert table.tolist() == pytest.approx([0, 0, 0.5, 1, 1])
    hashes = pa.array([bytes([n] * 16) for n in range(200)], pa.binary(16))
    drawn = draws(hashes, 0, "quality")
    assert ((drawn >= 0) & (drawn < 1)).all()
    assert drawn.mean() == pytest.approx(0.5, abs=0.08)
    assert (draws(hashes, 0, "edu") != drawn).all()


@pytest.mark.parametrize(
    ("params", "where"),
    [
        ({"threshold": 1.5}, "threshold"),
        ({"mode": "drop"}, "mode"),
        ({"score": ""}, "score"),
        ({"alpha": -1.0}, "alpha"),
        ({"table": [[0, 1], [1, 0]]}, "table"),
        ({"table": [[0.5, 0], [0.5, 1]]}, "table"),
        ({"table": [[0, 0], [1, 2]]}, "table"),
        ({"table": [[0, 0, 0]]}, "table"),
    ],
)
def test_refuses(params: dict[str, Any], where: str) -> None:
    with pytest.raises(UsageError, match=where):
        stage(**params)


def test_needs_a_model_that_is_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="missing parameter"):
        catalogue.load("quality", {}, tmp_path)
    with pytest.raises(InputError, match="no such file"):
        catalogue.load("quality", {"model": "absent.gmq"}, tmp_path)
    (tmp_path / "bad.gmq").write_bytes(b"PK no zip")
    with pytest.raises(InputError, match="not a quality model"):
        catalogue.prepare([catalogue.load("quality", {"model": "bad.gmq"}, tmp_path)])


def test_a_damaged_model_is_told(tmp_path: Path) -> None:
    data, path = TINY_MODEL.read_bytes(), tmp_path / "damaged.gmq"
    for at in range(0, len(data), 997):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            # What an archive says of itself twice may be wrong in one place.
            assert read_model(path).members == read_model(TINY_MODEL).members
        except InputError:
            continue
    path.write_bytes(data[:-1000])
    with pytest.raises(InputError, match="not a quality model"):
        read_model(path)


def test_the_file_is_made_of_its_content_alone() -> None:
    model = read_model(TINY_MODEL)
    assert packed(model) == TINY_MODEL.read_bytes()
    assert len(TINY_MODEL.read_bytes()) < 200_000
    assert json.dumps(model.card)
    assert model.card["license"] == "CC0-1.0"


def test_the_key_follows_the_models_bytes_not_its_place(tmp_path: Path) -> None:
    def key(name: str) -> dict[str, Any]:
        return catalogue.stage_fingerprint(catalogue.load("quality", {"model": name}, tmp_path))

    (tmp_path / "a.gmq").write_bytes(TINY_MODEL.read_bytes())
    (tmp_path / "b.gmq").write_bytes(TINY_MODEL.read_bytes())
    other = read_model(TINY_MODEL)
    changed = packed(other).replace(b'"threshold":', b'"threshold": ', 1)
    (tmp_path / "c.gmq").write_bytes(changed)
    assert key("a.gmq") == key("b.gmq") != key("c.gmq")
    assert "tmp" not in repr(key("a.gmq"))


def test_it_is_sent_to_workers_as_parameters() -> None:
    made = pickle.loads(pickle.dumps(stage()))
    assert len(pickle.dumps(made)) < 1000
    assert gone(made.transform(batch_of([GOOD[0], BAD[0]]))) == {1: "low_quality"}


USER = """
import numpy as np

class Capitals:
    def score(self, texts):
        return [sum(c.isupper() for c in t) / max(len(t), 1) for t in texts]

capitals = Capitals()
CALLS = []

def lazily():
    CALLS.append(1)
    return capitals

def function(texts):
    return np.array([0.25] * len(texts))

def wrong(texts):
    return [2.0] * len(texts)

class Surprise:
    def log10_per_token(self, texts):
        return [-len(t) / 10 for t in texts]

surprise = Surprise()

class Encoder:
    def encode(self, texts):
        return np.array([[t.count("a"), t.count("b")] for t in texts], dtype=np.float32)

encoder = Encoder()
number = 7

def raises(texts):
    raise KeyError("no such text")

def leaves(texts):
    raise SystemExit(0)

def words(texts):
    return ["good"] * len(texts)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(USER)
    return tmp_path


def own(folder: Path, name: str, texts: list[str | None]) -> list[float]:
    made = catalogue.load("quality", {"model": "mine.py", "object": name, "mode": "score_only"}, folder)
    assert isinstance(made, Quality)
    return made.transform(batch_of(texts)).measures[MEASURE].tolist()


def test_own_scorers_of_each_shape(mine: Path) -> None:
    assert own(mine, "capitals", ["ABcd", "x", None]) == [0.5, 0.0, 0.0]
    assert own(mine, "Capitals", ["ABcd"]) == [0.5]
    assert own(mine, "lazily", ["ABcd", "Xy"]) == [0.5, 0.5]
    assert own(mine, "function", ["a", "b"]) == [0.25, 0.25]


def test_perplexity_becomes_a_score_that_falls_with_it(mine: Path) -> None:
    # 10 characters are log10 -1 a token: perplexity 10, of which 300 is the middle; 25 characters are 10 ** 2.5.
    assert own(mine, "surprise", ["x" * 10, "x" * 25]) == [round(300 / 310, 4), round(300 / (300 + 10**2.5), 4)]


@pytest.mark.parametrize(("name", "what"), [("raises", "KeyError"), ("leaves", "SystemExit"), ("words", "ValueError")])
def test_what_an_own_scorer_raises_is_its_fault(mine: Path, name: str, what: str) -> None:
    with pytest.raises(UsageError, match=f"the scorer raised {what}"):
        own(mine, name, ["a"])


def test_the_threshold_is_a_rule_where_it_decides() -> None:
    (rule,) = stage(threshold=0.75).rules()
    assert (rule.measure, rule.direction, rule.limit, rule.reason) == (MEASURE, "below", 0.75, "low_quality")
    (own_limit,) = stage().rules()
    assert own_limit.limit == open_model(str(TINY_MODEL)).threshold
    assert stage(mode="sample").rules() == stage(mode="score_only").rules() == ()


def test_own_scorers_that_are_none(mine: Path) -> None:
    with pytest.raises(GristmillError, match="one number in"):
        own(mine, "wrong", ["a"])
    with pytest.raises(UsageError, match="not a scorer"):
        own(mine, "number", ["a"])
    with pytest.raises(UsageError, match="without a linear head"):
        own(mine, "encoder", ["a"])
    with pytest.raises(UsageError, match="names no object"):
        own(mine, "", ["a"])


def test_the_code_is_part_of_the_key(mine: Path) -> None:
    params = {"model": "mine.py", "object": "function"}
    before = catalogue.stage_fingerprint(catalogue.load("quality", params, mine))
    (mine / "mine.py").write_text(USER.replace("0.25", "0.75"))
    assert catalogue.stage_fingerprint(catalogue.load("quality", params, mine)) != before
    assert own(mine, "function", ["a"]) == [0.75]


def test_a_model_is_opened_once() -> None:
    assert open_model(str(TINY_MODEL)) is open_model(str(TINY_MODEL))
