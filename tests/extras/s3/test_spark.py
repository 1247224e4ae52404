"""The engine spark with its output in object storage: executors get credentials by the profile, and nobody lists."""

import json
import os
from pathlib import Path

import pytest

from gristmill.manifests.working_copy import working_copy
from tests.extras.s3.server import SECRET, Proxy
from tests.extras.s3.test_outputs import download
from tests.extras.spark_cluster import Cluster
from tests.laws.corpora import prose
from tests.laws.running import call, fingerprint, run_inline, write_recipe

RECIPE = """
name: remote
datasets:
  lines:
    read: {jsonl: "*.jsonl"}
    steps: [c4, minhash_dedup]
"""
PASSED_ON = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "GRISTMILL_REMOTE_RETRY_S")


def write_lines(folder: Path) -> Path:
    """Files in which each text stands twice, once in another file; the recipe."""
    folder.mkdir()
    for part in range(3):
        texts = [prose(n, 60) for n in range(part * 20, part * 20 + 40)]
        (folder / f"{part}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return write_recipe(folder, RECIPE)


def test_an_output_in_object_storage_equals_a_folder(
    tmp_path: Path, spark_cluster: Cluster, bucket: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = write_lines(tmp_path / "in")
    run_inline(recipe, tmp_path / "calm")
    settings = "".join(f'"spark.executorEnv.{name}" = {json.dumps(os.environ[name])}\n' for name in PASSED_ON)
    (tmp_path / "profiles.toml").write_text(f"[default.spark]\n{settings}")
    monkeypatch.setenv("GRISTMILL_PROFILES", str(tmp_path / "profiles.toml"))
    url = f"s3://{bucket}/runs/spark"
    proxy.requests.clear()
    done = call("run", recipe, "--out", url, "--engine", "spark", "--master", spark_cluster.url)
    assert done.returncode == 0, done.stderr
    folders = (spark_cluster.folder, tmp_path / "in", working_copy(url))
    written = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert [p for p in written if SECRET.encode() in p.read_bytes()] == [] and SECRET not in done.stdout + done.stderr
    assert not [r for r in proxy.requests if r.kind == "LIST"]
    assert fingerprint(download(url, tmp_path / "got")) == fingerprint(tmp_path / "calm")
