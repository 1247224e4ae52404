"""Law 5, rows of any length: one long document passes through every stage and through a whole run in bounded memory.

Peaks are those of fresh processes, over the peak of the same work on a short document.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gristmill.manifests.manifest import read_manifest
from gristmill.stages import catalogue
from gristmill.stages.protocol import Expander, Filter, Mapper
from tests.laws.batches import sentence_of
from tests.laws.samples import sample_stage

MB = 1_000_000
STAGES = {name: sample_stage(name) for name in catalogue.names()}
ROW_LOCAL = [n for n, s in STAGES.items() if isinstance(s, Filter | Mapper | Expander)]

ONE_STAGE = """
import resource, sys
from gristmill.stages.chain import run_chain
from tests.laws.batches import make_batch, sentence_of
from tests.laws.samples import sample_stage
name, size = sys.argv[1], int(sys.argv[2])
batch = make_batch([sentence_of(name) * (size // len(sentence_of(name)))])
result = run_chain([sample_stage(name)], batch)
print(result.kept.num_rows + len(result.fates), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

ONE_RUN = """
import resource, sys
from pathlib import Path
from tests.laws.running import run_inline
run_inline(Path(sys.argv[1]), Path(sys.argv[2]))
print(1, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

RECIPE = """\
name: long
tokenizer: deepseek
datasets:
  d:
    read: {jsonl: "*.jsonl"}
    steps: [gopher_quality, language, exact_dedup]
  rows:
    from: [d]
    steps:
      - emit: {context: 8192}
"""


def peak_bytes(code: str, *words: object) -> int:
    """Peak resident bytes of a fresh process that ran `code` and ended with one fate."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    fates, kib = done.stdout.split()[-2:]
    assert fates == "1"
    return int(kib) * 1024


@pytest.mark.parametrize("name", ROW_LOCAL)
@pytest.mark.parametrize("size", [20 * MB, pytest.param(200 * MB, marks=pytest.mark.slow)])
def test_a_long_document_passes_a_stage(name: str, size: int) -> None:
    extra = peak_bytes(ONE_STAGE, name, size) - peak_bytes(ONE_STAGE, name, 1000)
    # The test itself holds the document as a Python string and as Arrow: two of the five.
    assert extra < 5 * size


@pytest.mark.slow
def test_a_200_mb_record_takes_less_than_three_of_itself(tmp_path: Path) -> None:
    sizes: list[int] = []
    for size in (1000, 200 * MB):
        folder = tmp_path / str(size)
        folder.mkdir()
        text = sentence_of("") * (size // len(sentence_of("")))
        (folder / "a.jsonl").write_text(json.dumps({"id": "a", "text": text}) + "\n", encoding="utf-8")
        (folder / "r.yaml").write_text(RECIPE, encoding="utf-8")
        sizes.append(peak_bytes(ONE_RUN, folder / "r.yaml", folder / "out"))
        manifest = read_manifest(folder / "out" / "rows")
        assert manifest["totals"]["records"] == 1
        assert manifest["steps"][-1]["chars_in"] == len(text)
    assert sizes[1] - sizes[0] < 3 * 200 * MB
