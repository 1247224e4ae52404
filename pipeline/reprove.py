"""`verify --deep` of sequences: every proof again, from the emitted shards alone.

In: the folder of an output or a dataset, sound as files. Out: a `Reproved` for each dataset of rows whose manifest says
that it holds sequences (`facts.synth`): what was proved, a Fault for the first row that fails, and the table of
`solvers.gate` over all rows, with a Fault for each line that no chance explains. Where the tokenizer
is not at hand nothing is proved and the reason is told. Solvers run in a process of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gristmill.manifests.errors import GristmillError, VerifyError
from gristmill.manifests.manifest import Manifest, finished
from gristmill.manifests.verify_files import Fault
from gristmill.manifests.vocabulary import BYTES_NAME, PACKAGED

if TYPE_CHECKING:
    from gristmill.synth.solvers.gate import Gate


@dataclass
class Reproved:
    """What was proved of a dataset; `why_not` is "" where it was looked at; `gate` holds `gate.Line`s, the least
    probable first."""

    dataset: str
    rows: int = 0
    tasks: int = 0
    families: dict[str, int] = field(default_factory=dict[str, int])
    gate: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    why_not: str = ""
    faults: list[Fault] = field(default_factory=list[Fault])


def reprove(out: Path, tokenizer: str | None = None) -> Iterator[Reproved]:
    """Of every finished dataset of sequences of an output, or of the one dataset in this folder. `tokenizer`: that of
    the rows, where it is not packaged."""
    for name, folder, manifest in finished(out):
        if manifest["kind"] == "rows" and "synth" in manifest["facts"]:
            yield _reproved(name, folder, manifest, tokenizer)


def _reproved(name: str, folder: Path, manifest: Manifest, tokenizer: str | None) -> Reproved:
    paths = [str(folder / shard["path"]) for shard in manifest["shards"]]
    spec = tokenizer or str(manifest["facts"]["tokenizer"]["name"])
    if tokenizer is None and spec not in (*PACKAGED, BYTES_NAME):  # a manifest names no file
        return Reproved(name, why_not=f"the tokenizer {spec} is not packaged: give it with --tokenizer")
    media = [str(folder / shard["path"]) for shard in manifest.get("media_shards", [])]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        found = apart.submit(prove_shards, name, paths, spec, media).result()
    if not found.why_not and not found.faults:
        found.faults += _miscounted(found, manifest)
    return found


def _miscounted(found: Reproved, manifest: Manifest) -> Iterator[Fault]:
    told: Any = manifest["facts"]["synth"]
    said: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    for what, held in (("rows", found.rows), ("tasks", found.families)):
        if said.get(what) != held:
            yield Fault(found.dataset, "books", f"facts.synth.{what} is {said.get(what)}, the rows hold {held}")


def prove_shards(name: str, paths: list[str], spec: str, media: Sequence[str] = ()) -> Reproved:
    """Every proof of these shards, in this process."""
    from gristmill.manifests.tokenizer import load_tokenizer
    from gristmill.synth.solvers.gate import Gate
    from gristmill.synth.solvers.verify import verify_shards

    found, gate = Reproved(name), Gate()
    try:
        done = verify_shards(map(Path, paths), load_tokenizer(spec), [Path(path) for path in media], gate)
    except VerifyError as error:
        found.faults.append(Fault(name, "row", str(error)))
    except GristmillError as error:
        found.why_not = str(error)
    else:
        found.rows, found.tasks, found.families = done.rows, done.tasks, dict(sorted(done.families.items()))
        found.gate = [{**line._asdict(), "deviation": line.deviation} for line in gate.table()]
        found.faults += _strayed(name, gate)
    return found


def _strayed(name: str, gate: "Gate") -> Iterator[Fault]:
    for line in gate.failures():
        what = f"{line.family}: {line.what} is {line.found:g}, {line.expected:.1f} expected, of {line.tasks} tasks"
        yield Fault(name, "gate", f"{what}: by chance in at most {line.bound:.1g} of batches")
