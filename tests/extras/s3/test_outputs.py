"""Runs whose output lies in object storage: the same bytes as in a folder, whoever drops, dies or comes second."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gristmill.manifests.remote import get, list_below
from gristmill.manifests.remote_access import RemotePlace, place_of
from gristmill.manifests.remote_lock import LOCK, locked
from gristmill.manifests.verify import verify
from gristmill.manifests.working_copy import remove_working_copy, working_copy
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.run import RunOptions
from gristmill.pipeline.selection import Selection
from tests.extras.s3.server import KEY, SECRET, Proxy, Request
from tests.laws.corpora import RECIPES, write_corpus
from tests.laws.running import command, fingerprint, run_inline, write_recipe

SMALL = """
name: small
datasets:
  lines:
    read: {jsonl: "jsonl/*"}
  both:
    from: [lines]
    steps: [exact_dedup]
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def calm(corpus: Path) -> tuple[Path, dict[str, str]]:
    """The small recipe, and what it gives in a folder."""
    recipe = write_recipe(corpus, SMALL, "small.yaml")
    run_inline(recipe, corpus / "out-small")
    return recipe, fingerprint(corpus / "out-small")


@pytest.fixture
def url(bucket: str, proxy: Proxy) -> str:
    assert proxy.url == os.environ["AWS_ENDPOINT_URL"]
    return f"s3://{bucket}/runs/one"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command `run`, in this process: to start one costs more than what is run here."""

    def run_here(recipe: Path, url: str, *words: str, **environment: str) -> Done:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            code = main(["run", str(recipe), "--out", url, "--workers", "0", "--quiet", *words])
        told = capsys.readouterr()
        return Done(code, told.out, told.err)

    return run_here


Runs = Callable[..., Done]


def download(url: str, folder: Path) -> Path:
    """All of an output, by a listing."""
    place = place_of(url)
    for found in list_below(place):
        name = found.key.removeprefix(f"{place.prefix}/")
        got = get(place, name)
        assert got is not None
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(got[0])
    return folder


@pytest.mark.parametrize("name", [*(pytest.param(n, marks=pytest.mark.slow) for n in sorted(RECIPES)), "small"])
def test_a_run_into_object_storage_equals_one_into_a_folder(
    name: str, corpus: Path, calm: tuple[Path, dict[str, str]], url: str, proxy: Proxy, tmp_path: Path
) -> None:
    recipe, expected = calm
    if name != "small":
        recipe = write_recipe(corpus, RECIPES[name], f"{name}.yaml")
        run_inline(recipe, tmp_path / "folder")
        expected = fingerprint(tmp_path / "folder")
    for round_number in range(2):
        proxy.requests.clear()
        run_inline(recipe, working_copy(url))
        asked = list(proxy.requests)
        assert not [r for r in asked if r.kind == "LIST"], "nothing on the way is listed"
        assert fingerprint(download(url, tmp_path / str(round_number))) == expected
        remove_working_copy(working_copy(url))
    assert verify(tmp_path / "1", deep=True).ok
    receipts = len(list((tmp_path / "1" / "objects").iterdir()))
    found = [r.path for r in asked if r.path.endswith("/receipt.json")]
    assert len(set(found)) == receipts and len(found) <= 1.1 * receipts, "to find work is one request each"
    written = {r.path.rpartition("/")[2] for r in asked if r.method != "GET"}
    assert written <= {
        ".lock",
        "run.json",
        "manifest.json",
        "index.json",
        "inputs.json",
        "events.jsonl",
        f"{bucket_of(url)}?delete",
    }


def bucket_of(url: str) -> str:
    return place_of(url).bucket


def test_the_command_leaves_no_working_copy(
    run: Runs, calm: tuple[Path, dict[str, str]], url: str, tmp_path: Path
) -> None:
    done = run(calm[0], url)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(working_copy(url).iterdir()), "what is committed is kept twice"
    assert fingerprint(download(url, tmp_path / "got")) == calm[1]


def test_the_working_copy_goes_before_the_lock(calm: tuple[Path, dict[str, str]], url: str, proxy: Proxy) -> None:
    """A driver that begins as soon as the lock is free loses no file."""
    left: list[list[Path]] = []

    def look(request: Request) -> None:
        if request.path.endswith("?delete"):
            left.append(list(copy.rglob("*")))

    copy = working_copy(url)
    proxy.rules.hold = look
    run_inline(calm[0], copy, options=RunOptions(keeps_copy=False))
    assert left == [[]]


def test_connections_that_drop_change_nothing(
    calm: tuple[Path, dict[str, str]], url: str, proxy: Proxy, tmp_path: Path
) -> None:
    until = RunOptions(selection=Selection("until", "lines"))
    run_inline(calm[0], working_copy(url), options=until)
    remove_working_copy(working_copy(url))
    proxy.rules.cut_bytes, proxy.rules.cuts, proxy.rules.cut_paths = 700, 20, "/objects/"
    run_inline(calm[0], working_copy(url))
    assert proxy.rules.cuts < 20
    assert fingerprint(download(url, tmp_path / "got")) == calm[1]


def test_answers_that_are_lost_change_nothing(
    calm: tuple[Path, dict[str, str]], url: str, proxy: Proxy, tmp_path: Path
) -> None:
    """Of the lock, of receipts: what was carried out and not answered is known for what it is."""
    proxy.rules.mute, proxy.rules.mute_paths = 6, "/runs/one/"
    run_inline(calm[0], working_copy(url))
    assert proxy.rules.mute == 0
    assert fingerprint(download(url, tmp_path / "got")) == calm[1]


def _killed_when(proxy: Proxy, recipe: Path, url: str, part: str) -> None:
    """Run until an upload of some path is under way, and kill the driver there."""
    reached, go_on = threading.Event(), threading.Event()

    def hold(request: Request) -> None:
        if request.method == "PUT" and part in request.path:
            reached.set()
            go_on.wait(20)

    proxy.rules.hold = hold
    words = command("run", recipe, "--out", url, "--workers", "1", "--quiet")
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        assert reached.wait(120)
        process.send_signal(signal.SIGKILL)
    proxy.rules.hold = None
    go_on.set()


@pytest.mark.parametrize("part", ["data", "receipt.json", "/lines/part-", "/lines/manifest.json", "run.json"])
def test_a_driver_killed_in_mid_upload_is_resumed(
    part: str, calm: tuple[Path, dict[str, str]], url: str, proxy: Proxy, tmp_path: Path
) -> None:
    _killed_when(proxy, calm[0], url, part)
    started = time.monotonic()
    run_inline(calm[0], working_copy(url))
    assert time.monotonic() - started < 30, "the lock of a process that is gone is taken over at once"
    assert fingerprint(download(url, tmp_path / "got")) == calm[1]
    assert verify(tmp_path / "got", deep=True).ok


def test_a_resumed_run_needs_no_working_copy(
    calm: tuple[Path, dict[str, str]], url: str, proxy: Proxy, tmp_path: Path
) -> None:
    """Another machine goes on: what it lacks is fetched."""
    run_inline(calm[0], working_copy(url), options=RunOptions(selection=Selection("until", "lines")))
    remove_working_copy(working_copy(url))
    proxy.requests.clear()
    run_inline(calm[0], working_copy(url))
    assert proxy.of("GET", ".parquet") and not proxy.of("LIST")
    assert fingerprint(download(url, tmp_path / "got")) == calm[1]


def test_two_drivers_are_told_apart(run: Runs, calm: tuple[Path, dict[str, str]], url: str) -> None:
    with locked(place_of(url)):
        done = run(calm[0], url)
        assert done.returncode == 2
        assert f"another run is writing to this output: 'process {os.getpid()} on " in done.stderr
    assert get(place_of(url), LOCK) is None
    run_inline(calm[0], working_copy(url))


def test_no_key_is_left_anywhere(run: Runs, calm: tuple[Path, dict[str, str]], url: str, tmp_path: Path) -> None:
    done = run(calm[0], url, "--debug")
    assert done.returncode == 0
    refused = run(calm[0], url.replace("s3://", f"s3://{KEY}:{SECRET}@"), "--json")
    down = run(calm[0], url, "--json", "--debug", AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert (refused.returncode, down.returncode) == (2, 6)
    download(url, tmp_path / "got")
    told = "".join(p.stdout + p.stderr for p in (done, down)).encode()
    told += (refused.stdout + refused.stderr).encode()
    left = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    names = [str(p).encode() for p in tmp_path.rglob("*")]
    for secret in (KEY.encode(), SECRET.encode()):
        assert not any(secret in data for data in [told, *left, *names])


def test_what_is_missing_is_told_in_one_line(
    run: Runs, calm: tuple[Path, dict[str, str]], bucket: str, proxy: Proxy
) -> None:
    for url, environment, code, told in (
        ("s3://no-such-bucket-here/x", {}, 2, "no such bucket"),
        (f"s3://{bucket}/x", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, 6, "cannot be reached"),
        (f"s3://{bucket}/x", {"AWS_ACCESS_KEY_ID": ""}, 2, "no credentials"),
        (f"s3://{bucket}/a/../b", {}, 2, "prefix"),
        (f"s3://{bucket}/x", {"GRISTMILL_REMOTE_RETRY_S": "soon"}, 2, "not a number of seconds"),
    ):
        done = run(calm[0], url, **environment)
        assert done.returncode == code, done.stderr
        *left, error = done.stderr.splitlines()
        assert told in error
        assert len(left) == (2 if code == 6 else 0)  # what is committed, and the command that goes on
        assert not left or ("cannot be asked" in left[0] and left[1].startswith("resume with: gristmill run"))
    assert RemotePlace(bucket, "x") and proxy.requests


STRICT = """
name: strict
datasets:
  lines:
    read: {jsonl: "jsonl/*"}
    steps:
      - exact_dedup
      - c4: {alarm: {max_drop_frac: 0.0, min_records: 1}}
"""


def test_an_alarm_is_reported_where_the_output_is(
    run: Runs, corpus: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = write_recipe(corpus, STRICT, "strict.yaml")
    done = run(recipe, url)
    assert done.returncode == 5
    assert f"gristmill show {url}/alarms/lines --step c4" in done.stderr.replace("'", "")
    assert "gristmill-remote" not in done.stderr
    assert main(["show", f"{url}/alarms/lines", "--step", "c4"]) == 0
    assert "lines.c4: drop" in capsys.readouterr().out
    assert main(["ls", url]) == 3 or "stopped by an alarm" in capsys.readouterr().out
    raised = run(recipe, url, "--set", "datasets.lines.steps.c4.alarm.max_drop_frac=1.0")
    assert raised.returncode == 0
    assert get(place_of(url), "alarms/lines/manifest.json") is None
    left = [f.key for f in list_below(place_of(f"{url}/alarms"))]
    assert left == []


def test_a_plan_knows_what_is_there(
    run: Runs, calm: tuple[Path, dict[str, str]], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def states() -> list[str]:
        capsys.readouterr()
        assert main(["plan", str(calm[0]), "--out", url, "--json"]) == 0
        return [dataset["state"] for dataset in json.loads(capsys.readouterr().out)["datasets"]]

    assert states() == ["new", "waiting"]
    assert run(calm[0], url).returncode == 0
    assert states() == ["done", "done"]


INDEXED = """
name: indexed
datasets:
  lines:
    read: {jsonl: "jsonl/*"}
    steps:
      - minhash_dedup: {index: {save: seen}}
  again:
    from: [lines]
    steps:
      - minhash_dedup: {index: {query: seen, save: grown}}
"""


@pytest.mark.slow
def test_an_index_is_saved_and_queried_there(corpus: Path, url: str, proxy: Proxy, tmp_path: Path) -> None:
    recipe = write_recipe(corpus, INDEXED, "indexed.yaml")
    run_inline(recipe, tmp_path / "folder")
    for round_number in range(2):
        proxy.requests.clear()
        run_inline(recipe, working_copy(url))
        remove_working_copy(working_copy(url))
        asked = list(proxy.requests)
        got = download(url, tmp_path / str(round_number))
        assert fingerprint(got) == fingerprint(tmp_path / "folder")
        assert verify(got, deep=True).ok
    assert not [
        r for r in asked if r.kind == "LIST" or (r.kind == "PUT" and "/indexes/" in r.path and "json" not in r.path)
    ]
    names = sorted(str(p.relative_to(got)) for p in (got / "indexes").rglob("*") if p.is_file())
    assert names == sorted(
        str(p.relative_to(tmp_path / "folder")) for p in (tmp_path / "folder" / "indexes").rglob("*") if p.is_file()
    )
    assert main(["verify", url, "--deep"]) == 0
