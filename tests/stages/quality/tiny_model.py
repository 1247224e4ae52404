"""Makes tests/data/tiny.gmq (`python -m tests.stages.quality.tiny_model`): prose of the laws against lists of links."""

import tempfile
from pathlib import Path

from gristmill.pipeline.classifier.fit import FastTextParams
from gristmill.pipeline.classifier.train import TrainOptions, train
from tests.laws.corpora import prose
from tests.laws.samples import TINY_MODEL

SMALL = FastTextParams(dim=4, bucket=4096, epochs=5, min_count=1, max_features=1024)
DOCS = 120


def links(seed: int, count: int) -> str:
    """A page that only leads elsewhere, different for each seed; it shares some words with prose."""
    words = prose(seed, count).split()
    return "\n".join(f"* {word} | index ({number * seed % 97}) >> next" for number, word in enumerate(words))


def write_labelled(folder: Path, docs: int = DOCS) -> tuple[str, str]:
    """Folders of good and bad documents in files; a tenth of either bears the other's words."""
    for name in ("good", "bad"):
        (folder / name).mkdir(parents=True)
    for number in range(docs):
        good, bad = prose(5000 + number, 60), links(7000 + number, 30)
        mixed = number % 10 == 0
        (folder / "good" / f"g{number:03d}.txt").write_text(f"{good}\n{bad}" if mixed else good, encoding="utf-8")
        (folder / "bad" / f"b{number:03d}.txt").write_text(f"{bad}\n{good[:200]}" if mixed else bad, encoding="utf-8")
    return str(folder / "good"), str(folder / "bad")


def options(folder: Path, out: Path, name: str = "tiny") -> TrainOptions:
    """A quick training."""
    good, bad = write_labelled(folder)
    note = "A model for tests: prose of the laws against lists of links."
    return TrainOptions((good,), (bad,), out, name, license="CC0-1.0", note=note, params=SMALL)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        train(options(Path(made, "docs"), Path(made, "out")), print)
        TINY_MODEL.write_bytes(Path(made, "out", "tiny.gmq").read_bytes())
