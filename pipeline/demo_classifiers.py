"""The demo's classifiers: one for each domain, trained on good and bad text of the demo corpus and of packages.

Out: OUT/<domain>.gmq with its card, plots and list of inputs, and OUT/classifiers.json, which is written last and says
what they were made of. A call that finds them made of the same does nothing. Labelled documents lie in a temporary
folder while they are needed: mails are among them. Every card says that the demo's own documents were trained with, so
that scores on the demo flatter the model; the figures of the card are those of sources that training did not see.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blake3 import blake3

from gristmill.manifests.commit import replace_file
from gristmill.manifests.errors import GristmillError, InputError
from gristmill.pipeline.classifier.card import versions
from gristmill.pipeline.classifier.fit import FastTextParams
from gristmill.pipeline.classifier.train import TrainOptions, train
from gristmill.pipeline.demo_data import FINISHED_MARKER
from gristmill.pipeline.demo_labels import DOMAINS, Gatherer, Sample, label

FINISHED = "classifiers.json"
FORMAT = 2
"""Raised when labels or parameters change: models are then made anew."""

SEED = 17
PRIOR = 0.8
"""Share of good documents that calibration assumes: about that of the demo's raw pages."""

MAX_DOCS = 1200
_LICENCES = {
    "web": "PSF-2.0 AND (GPL-2.0-or-later OR CC-BY-SA-3.0) AND GPL-2.0-only AND Apache-2.0 (mail)",
    "code": "PSF-2.0 AND LicenseRef-SWIG-Examples AND those of the packages rich, pygments, fsspec, matplotlib,"
    " fonttools, phonenumbers",
    "math": "GPL-2.0-only AND PSF-2.0 AND Apache-2.0 (mail)",
    "knowledge": "PSF-2.0 AND (GPL-2.0-or-later OR CC-BY-SA-3.0) AND Apache-2.0 (mail)",
}
_NOTE = (
    "Demonstration only. Trained on documents of the demo corpus itself, beside text that installed packages carry:"
    " scores on the demo are those of documents that were partly seen in training."
)


@dataclass(frozen=True)
class Made:
    """What a call made: path and card of each domain's model, and what was left out."""

    models: dict[str, dict[str, Any]]
    left_out: tuple[str, ...]
    reused: bool


def make(demo: Path, out: Path, cache: Path, log: Callable[[str], None], domains: Sequence[str] = DOMAINS) -> Made:
    """Train what is not there yet. A domain whose documents are not there is left out and named.

    Raises InputError when `demo` was not made by `gristmill demo-data`.
    """
    basis = _basis(demo, domains)
    done = _finished(out, basis)
    if done is not None:
        return Made(done["models"], tuple(done["left_out"]), True)
    left_out: list[str] = []
    gatherer = Gatherer(demo, cache, left_out)
    models: dict[str, dict[str, Any]] = {}
    for domain in domains:
        try:
            models[domain] = _train(domain, gatherer, out, log)
        except GristmillError as error:
            left_out.append(f"{domain}: {error}")
    left_out += stand_ins(demo, out, [domain for domain in domains if domain not in models], list(models))
    unique = list(dict.fromkeys(left_out))
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, "basis": basis, "models": models, "left_out": unique}, indent=1)
    replace_file(out / FINISHED, text.encode() + b"\n")
    return Made(models, tuple(unique), False)


def stand_ins(demo: Path, out: Path, missing: Sequence[str], trained: Sequence[str]) -> list[str]:
    """Where the demo has no document of a domain at all (no `apt`), the recipe still names its model, for a dataset
    that is empty: another domain's stands in its place. Where it has documents nothing does, and the run says so."""
    told: list[str] = []
    for domain in missing:
        path = out / f"{domain}.gmq"
        path.unlink(missing_ok=True)
        if trained and not any(p.is_file() for p in (demo / domain).rglob("*")):
            replace_file(path, (out / f"{trained[0]}.gmq").read_bytes())
            told.append(f"{domain}: no documents; the model of {trained[0]} stands in its place, for an empty dataset")
    return told


def _train(domain: str, gatherer: Gatherer, out: Path, log: Callable[[str], None]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="gristmill-labels-") as folder:
        good, bad = write_samples(label(domain, gatherer), Path(folder))
        options = TrainOptions(
            positive=tuple(map(str, good)),
            negative=tuple(map(str, bad)),
            out=out,
            name=domain,
            domain=domain,
            prior=PRIOR,
            seed=SEED,
            max_docs=MAX_DOCS,
            license=_LICENCES[domain],
            note=_NOTE,
            params=FastTextParams(min_count=3, epochs=8, max_features=20_000),
        )
        card = train(options, log)
    test = card["test"]
    return {"model": f"{domain}.gmq", "auc": test["auc"], "decision": test["decision"]}


def write_samples(samples: Iterable[Sample], folder: Path) -> tuple[list[Path], list[Path]]:
    """JSON lines of good and of bad documents, a file for each kind: the order is that of their content."""
    lines: dict[tuple[bool, str], list[bytes]] = {}
    for sample in samples:
        record = {"text": sample.text, "source": sample.source, "path": sample.path}
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        lines.setdefault((sample.good, sample.kind), []).append(line)
    paths: dict[bool, list[Path]] = {True: [], False: []}
    for (good, kind), content in sorted(lines.items()):
        path = folder / f"{kind}.{'good' if good else 'bad'}.jsonl"
        path.write_bytes(b"".join(sorted(content, key=lambda line: blake3(line).digest())))
        paths[good].append(path)
    if not paths[True] or not paths[False]:
        raise InputError("no good or no bad documents", "demo classifiers", remedy="gather the demo data first")
    return paths[True], paths[False]


def _basis(demo: Path, domains: Sequence[str]) -> dict[str, Any]:
    """What the models are made of: a change of any makes them anew."""
    try:
        marker = (demo / FINISHED_MARKER).read_bytes()
    except OSError as error:
        raise InputError("not gathered yet", str(demo), error.strerror, f"gristmill demo-data {demo}") from error
    return {"demo": blake3(marker).hexdigest(), "domains": list(domains), "versions": versions()}


def _finished(out: Path, basis: dict[str, Any]) -> dict[str, Any] | None:
    try:
        done = json.loads((out / FINISHED).read_bytes())
        whole = all((out / model["model"]).is_file() for model in done["models"].values())
        return done if done["format"] == FORMAT and done["basis"] == basis and whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
