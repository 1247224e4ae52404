"""What people see of an output in object storage is what they see of the same output in a folder."""

import json
import re
from pathlib import Path

import pytest

from gristmill.manifests.remote import get, put
from gristmill.manifests.remote_access import RemotePlace, place_of
from gristmill.manifests.working_copy import remove_working_copy, working_copy
from gristmill.pipeline.cli.main import main
from tests.extras.s3.server import Proxy
from tests.laws.running import run_inline, write_recipe

RECIPE = """
name: small
datasets:
  notes:
    read: {jsonl: "*.jsonl"}
    steps: [exact_dedup]
"""


@pytest.fixture
def both(bucket: str, proxy: Proxy, tmp_path: Path) -> tuple[str, str]:
    """An output in a folder and the same in object storage."""
    lines = [json.dumps({"id": f"r{i}", "text": f"a line of text, {i // 2}"}) for i in range(40)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    recipe, url = write_recipe(tmp_path, RECIPE), f"s3://{bucket}/a"
    run_inline(recipe, tmp_path / "folder")
    run_inline(recipe, working_copy(url))
    remove_working_copy(working_copy(url))
    proxy.requests.clear()
    return str(tmp_path / "folder"), url


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(words))
    found = capsys.readouterr()
    return code, found.out, found.err


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("ls", ["--json"]),
        ("ls", []),
        ("show", ["notes", "--json"]),
        ("show", ["--clusters"]),
        ("trace", ["r1", "--json"]),
        ("trace", ["--grep", "text, 7"]),
        ("verify", ["--json"]),
        ("verify", ["--deep"]),
    ],
)
def test_commands_tell_the_same(
    command: str, rest: list[str], both: tuple[str, str], proxy: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, url = both
    here, there = told(capsys, command, folder, *rest), told(capsys, command, url, *rest)
    assert here[0] == there[0] == 0
    shown = [
        re.sub(r"[\d.]+ MB", "", text.replace(place, "OUT")) for text, place in ((here[1], folder), (there[1], url))
    ]
    if command == "verify":
        # Files that are links in a folder are read once there.
        shown = [re.sub(r'\d+ files|"checked": \d+|"bytes": \d+', "", text) for text in shown]
    assert shown[0] == shown[1]
    assert not proxy.of("LIST")
    dataset = told(capsys, command, f"{url}/notes", *([] if "notes" in rest else rest))
    assert dataset[0] == 0


@pytest.mark.parametrize("harm", ["short", "flipped", "gone", "manifest"])
def test_damage_is_found_and_named(
    harm: str, both: tuple[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = place_of(both[1])
    manifest = json.loads((get(place, "notes/manifest.json") or (b"",))[0])
    name = "notes/manifest.json" if harm == "manifest" else f"notes/{manifest['shards'][0]['path']}"
    data = (get(place, name) or (b"",))[0]
    harmed = {"short": data[:-1], "flipped": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "manifest": data + b" "}
    if harm == "gone":
        from gristmill.manifests.remote import delete

        delete(place, name)
    else:
        put(place, name, harmed[harm])
    code, out, _ = told(capsys, "verify", both[1])
    assert code == 4
    kind = {"short": "size", "flipped": "digest", "gone": "missing", "manifest": "seal"}[harm]
    assert f"{name}: {kind}:" in out
    if harm != "manifest":
        assert f"{both[1]}/objects/" in out, "what to remove to mend it"


def test_what_is_no_output_is_told_by_its_url(bucket: str, proxy: Proxy, capsys: pytest.CaptureFixture[str]) -> None:
    put(RemotePlace(bucket, "bad"), "run.json", b"{")
    for url, code in ((f"s3://{bucket}/none", 3), (f"s3://{bucket}/bad", 4), ("s3://no-such-bucket-here/x", 2)):
        for command in ("ls", "show"):
            found = told(capsys, command, url)
            assert found[0] == code, found
            assert (url in found[2] or "s3://no-such" in found[2]) and "gristmill-view" not in found[2]
    assert not proxy.of("LIST")
