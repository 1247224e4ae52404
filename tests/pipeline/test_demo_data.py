"""The demo corpus: what it holds, that it is whole, that its bytes depend on the packages alone.

The packages are small ones made here, laid into the cache as a fetch would lay them; no network is used.
"""

import fcntl
import gzip
import io
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import yaml
import zstandard
from blake3 import blake3
from fastwarc.warc import ArchiveIterator, WarcRecordType
from pyarrow import parquet

from gristmill.manifests.errors import UsageError
from gristmill.pipeline import demo_sources
from gristmill.pipeline.cli.main import main
from gristmill.pipeline.demo_data import FINISHED_MARKER, LICENCES, PARTS, DemoReport, collect
from gristmill.pipeline.demo_sources import regular_files
from gristmill.pipeline.lock import LOCK
from gristmill.pipeline.recipe import load_recipe

STATEMENT = "${ $( A comment with $. in it $) min $e |- ph $.  maj $p |- ps $= a b $.\n$}\n"


def silent(_line: str) -> None:
    """Takes progress lines and drops them."""


def lay(home: Path, package: str, version: str, files: dict[str, bytes]) -> None:
    """A package as a fetch leaves it in the cache folder `home`."""
    for inside, content in files.items():
        path = home / "root" / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    notice = home / "root/usr/share/doc" / package / "copyright"
    notice.parent.mkdir(parents=True, exist_ok=True)
    notice.write_text(f"copyright of {package}\n")
    (home / "origin.json").write_text(json.dumps({"package": package, "version": version}))


def html(words: str) -> bytes:
    return f"<!DOCTYPE html><html><head><title>t</title></head><body><p>{words}</p></body></html>".encode()


def lay_python_doc(cache: Path, version: str = "3.11.2-6") -> None:
    root = "usr/share/doc/python3.11/html"
    pages = {f"{root}/library/m{i}.html": html(f"module {i} " * 50) for i in range(14)}
    pages |= {f"{root}/{part}/a b.html": html(f"guide {part}") for part in ("howto", "tutorial")}
    pages |= {f"{root}/contents.html": html("left out"), f"{root}/latin.html": b"<p>caf\xe9</p>"}
    texts = {
        f"{root}/_sources/{inside}.rst.txt": f"{inside} é 数\n".encode() * 9
        for inside in ("library/os", "library/re", "whatsnew/3.0", "tutorial/index", "glossary")
    }
    lay(cache / "python-doc", "python3.11-doc", version, pages | texts)


def fill(cache: Path) -> None:
    lay_python_doc(cache)
    langs = ("en-US", "fr-FR", "zh-CN", "de-DE", "ja-JP", "xx-XX")
    root = "usr/share/doc/debian-handbook/html"
    pages = {f"{root}/{lang}/p{i:02d}.html": html(f"{lang} {i}") for lang in langs for i in range(15)}
    lay(cache / "debian-handbook", "debian-handbook", "11", pages)
    root = "usr/share/doc/maxima-doc/html"
    pages = {f"{root}/maxima_{i}.html": html(f"integrate {i}") for i in range(3)}
    pages[f"{root}/maxima_singlepage.html"] = html("left out")
    lay(cache / "maxima-doc", "maxima-doc", "5.46", pages)
    set_mm = {"usr/share/metamath/databases/set.mm": STATEMENT.encode() * 20_000}
    lay(cache / "metamath-databases", "metamath-databases", "0", set_mm)
    root = "usr/share/doc/swig4.0-examples/Examples"
    sources = {f"{root}/{lang}/example.c": b"int gcd(int, int);\n" for lang in ("go", "lua", "ruby")}
    sources |= {f"{root}/xml/big.i.gz": gzip.compress(b"%module big\n"), f"{root}/x.o": b"\x7fELF\0"}
    lay(cache / "swig-examples", "swig4.0-examples", "4.1", sources)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    fill(folder)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, DemoReport]:
    out = tmp_path_factory.mktemp("demo") / "input"
    return out, collect(out, cache, silent)


@pytest.fixture
def no_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def snapshot(out: Path) -> dict[str, bytes]:
    return {inside: path.read_bytes() for inside, path in regular_files(out) if path.name != LOCK}


def stamps(out: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of change of each file: a file that was replaced or written to shows here."""
    found = {inside: path.stat() for inside, path in regular_files(out)}
    return {inside: (s.st_ino, s.st_mtime_ns) for inside, s in found.items() if not inside.endswith(LOCK)}


def responses(path: Path) -> list[tuple[str, str, bytes]]:
    """(record id, URL, body) of each response whose digests hold; all must."""
    found: list[tuple[str, str, bytes]] = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
            assert record.verify_block_digest()
            record.parse_http()
            assert record.verify_payload_digest()
            headers = record.headers
            found.append((headers["WARC-Record-ID"], headers["WARC-Target-URI"], record.reader.read()))
    return found


def test_all_domains_are_found(made: tuple[Path, DemoReport]) -> None:
    _, report = made
    assert report.domains == ("web", "code", "math", "knowledge")
    assert report.left_out == ()
    assert not report.reused


def test_marker_describes_each_file(made: tuple[Path, DemoReport]) -> None:
    out, report = made
    files = json.loads((out / FINISHED_MARKER).read_text())["files"]
    on_disk = {
        inside: content
        for inside, content in snapshot(out).items()
        if inside.split("/")[0] in ("web", "code", "math", "knowledge")
    }
    assert {file["path"] for file in files} == set(on_disk)
    for file in files:
        assert file["bytes"] == len(on_disk[file["path"]])
        assert file["blake3"] == blake3(on_disk[file["path"]]).hexdigest()
        assert file["licence"]
        assert file["origin"]
    assert (report.files, report.disk_bytes) == (len(files), sum(map(len, on_disk.values())))


def test_each_file_has_one_licence_prefix_and_its_notice(made: tuple[Path, DemoReport]) -> None:
    out, _ = made
    licences = json.loads((out / LICENCES).read_text())
    for file in json.loads((out / FINISHED_MARKER).read_text())["files"]:
        (prefix,) = [prefix for prefix in licences if file["path"].startswith(prefix)]
        assert licences[prefix]["licence"] == file["licence"]
    assert (out / licences["math/html/"]["notice"]).read_text() == "copyright of maxima-doc\n"
    assert licences["math/html/"]["origin"] == "maxima-doc 5.46"


def test_warcs_are_read_and_verified_by_another_parser(made: tuple[Path, DemoReport]) -> None:
    out, _ = made
    whole = [path for path in sorted((out / "web").glob("*.warc.gz")) if path.name != "zz-cut.warc.gz"]
    records = [record for path in whole for record in responses(path)]
    assert len({record_id for record_id, _, _ in records}) == len(records)
    bodies = {uri: body for _, uri, body in records}
    assert bodies["http://docs.example.org/python/library/m3.html"] == html("module 3 " * 50)
    assert bodies["http://docs.example.org/python/howto/a%20b.html"] == html("guide howto")
    assert bodies["http://docs.example.org/python/latin.html"] == b"<p>caf\xe9</p>"
    assert not any("contents" in uri or "singlepage" in uri or "xx-XX" in uri for uri in bodies)
    assert Counter(uri.split("/")[3] for uri in bodies if "handbook" in uri) == {
        "en-US": 15, "fr-FR": 15, "zh-CN": 15, "de-DE": 12, "ja-JP": 12,
    }  # fmt: skip


def test_corpus_holds_exact_duplicates(made: tuple[Path, DemoReport]) -> None:
    out, report = made
    bodies = Counter(body for path in sorted((out / "web").glob("python*")) for _, _, body in responses(path))
    assert [count for count in bodies.values() if count > 1] == [2, 2]
    assert any("appear twice" in note for note in report.notes)
    examples = {path.read_bytes() for path in (out / "code/swig-examples").rglob("example.c")}
    assert len(examples) == 1


def test_cut_warc_breaks_in_its_last_record(made: tuple[Path, DemoReport]) -> None:
    out, report = made
    data = (out / "web/zz-cut.warc.gz").read_bytes()
    with pytest.raises(EOFError):
        gzip.decompress(data)
    assert any("zz-cut.warc.gz is cut in its last record on purpose: 11 pages" in note for note in report.notes)


def test_trees_and_tables(made: tuple[Path, DemoReport]) -> None:
    out, _ = made
    assert (out / "code/cpython/json/decoder.py").is_file()
    assert not list((out / "code/cpython").rglob("site-packages"))
    assert (out / "code/swig-examples/xml/big.i").read_bytes() == b"%module big\n"
    assert not (out / "code/swig-examples/x.o").exists()
    assert len(list((out / "math/html").iterdir())) == 3
    assert sorted(path.name for path in (out / "knowledge/text").rglob("*.txt")) == [
        "glossary.rst.txt",
        "index.rst.txt",
    ]
    packed = (out / "knowledge/python-library.jsonl.zst").read_bytes()
    lines = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True).read()
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [row["id"] for row in rows] == ["python/library/os", "python/library/re"]
    assert rows[0]["text"] == "library/os é 数\n" * 9
    table = parquet.read_table(out / "knowledge/python-whatsnew.parquet")
    assert table.column_names == list(rows[0]) == ["id", "text", "url", "license"]
    assert table["license"].to_pylist() == ["PSF-2.0"]


def test_bytes_depend_on_the_packages_alone(made: tuple[Path, DemoReport], tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere")
    collect(tmp_path / "again", tmp_path / "elsewhere", silent)
    assert snapshot(tmp_path / "again") == snapshot(made[0])


def test_second_call_writes_nothing(made: tuple[Path, DemoReport], tmp_path: Path) -> None:
    out, report = made
    before = stamps(out)
    again = collect(out, tmp_path / "no cache is needed", silent)
    assert again.reused
    assert stamps(out) == before
    assert (again.domains, again.files, again.raw_bytes) == (report.domains, report.files, report.raw_bytes)


def test_a_lost_file_remakes_its_part_only(tmp_path: Path, cache: Path) -> None:
    collect(tmp_path / "out", cache, silent)
    whole, before = snapshot(tmp_path / "out"), stamps(tmp_path / "out")
    (tmp_path / "out/math/html/maxima_1.html").unlink()
    (tmp_path / "out/web/handbook-000.warc.gz").write_bytes(b"short")
    report = collect(tmp_path / "out", cache, silent)
    assert not report.reused
    assert snapshot(tmp_path / "out") == whole
    changed = {inside for inside, stamp in stamps(tmp_path / "out").items() if stamp != before[inside]}
    remade = {"math-html.json", "web-handbook.json"}
    assert {inside for inside in changed if inside.startswith(".parts/")} == {f".parts/{n}" for n in remade}
    assert not any(inside.startswith(("code/", "knowledge/")) for inside in changed)


def test_killed_call_is_taken_up(tmp_path: Path, cache: Path, made: tuple[Path, DemoReport]) -> None:
    program = (
        "import sys, pathlib; from gristmill.pipeline.demo_data import collect;"
        "collect(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), lambda line: print(line, flush=True))"
    )
    out = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(out), str(cache)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("web-cut"):
                time.sleep(0.05)  # now the standard library is being staged or moved
                child.send_signal(signal.SIGKILL)
                break
    assert child.returncode == -signal.SIGKILL
    assert not (out / FINISHED_MARKER).exists()
    report = collect(out, cache, silent)
    assert report.left_out == ()
    assert snapshot(out) == snapshot(made[0])


@pytest.mark.usefixtures("no_apt")
def test_without_apt_domains_are_left_out_and_named(tmp_path: Path) -> None:
    lines: list[str] = []
    report = collect(tmp_path / "out", tmp_path / "cache", lines.append)
    assert report.domains == ("code",)
    assert (tmp_path / "out/code/cpython/argparse.py").is_file()
    left_out = {part.part: part for part in report.left_out}
    assert set(left_out) == {part.name for part in PARTS} - {"code-cpython"}
    assert left_out["web-python"].domain == "web"
    assert "apt-get" in left_out["web-python"].reason
    assert any(line.startswith("math-metamath: left out") for line in lines)
    assert json.loads((tmp_path / "out" / FINISHED_MARKER).read_text())["domains"] == ["code"]


@pytest.mark.usefixtures("no_apt")
def test_what_was_left_out_is_tried_again(tmp_path: Path, cache: Path, made: tuple[Path, DemoReport]) -> None:
    collect(tmp_path / "out", tmp_path / "cache", silent)
    lay_python_doc(tmp_path / "cache")
    assert collect(tmp_path / "out", tmp_path / "cache", silent).domains == ("web", "code", "knowledge")
    collect(tmp_path / "out", cache, silent)
    assert snapshot(tmp_path / "out") == snapshot(made[0])


@pytest.mark.usefixtures("no_apt")
def test_refresh_replaces_a_part_and_removes_what_it_no_longer_has(tmp_path: Path) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    fill(cache)
    collect(out, cache, silent)
    (cache / "maxima-doc/root/usr/share/doc/maxima-doc/html/maxima_2.html").unlink()
    (cache / "maxima-doc/origin.json").write_text('{"package": "maxima-doc", "version": "6"}')
    lines: list[str] = []
    assert collect(out, cache, silent).reused
    assert not collect(out, cache, lines.append, refresh=True).reused
    assert not (out / "math/html/maxima_2.html").exists()
    assert json.loads((out / LICENCES).read_text())["math/html/"]["origin"] == "maxima-doc 6"
    assert any("the copy in the cache is used" in line for line in lines)


@pytest.mark.usefixtures("no_apt")
def test_refresh_keeps_what_cannot_be_had_again(tmp_path: Path) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    fill(cache)
    collect(out, cache, silent)
    whole = snapshot(out)
    report = collect(out, tmp_path / "empty", silent, refresh=True)
    assert report.left_out == ()
    assert snapshot(out) == whole


def test_damaged_state_is_gathered_again(tmp_path: Path, cache: Path) -> None:
    collect(tmp_path / "out", cache, silent)
    whole = snapshot(tmp_path / "out")
    for name, damage in (("knowledge", "{"), ("math-html", "[]"), ("web-cut", '{"format": 0}')):
        (tmp_path / f"out/.parts/{name}.json").write_text(damage)
    assert not collect(tmp_path / "out", cache, silent).reused
    assert snapshot(tmp_path / "out") == whole


def test_another_folder_is_left_alone(tmp_path: Path, cache: Path) -> None:
    mine = tmp_path / "home/code/cpython/mine.py"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        collect(tmp_path / "home", cache, silent)
    with pytest.raises(UsageError, match="not a folder"):
        collect(mine, cache, silent)
    assert snapshot(tmp_path / "home") == {"code/cpython/mine.py": b"mine"}


def test_two_calls_at_once_are_refused(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "out/.parts").mkdir(parents=True)
    with (tmp_path / "out/.parts" / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another"):
            collect(tmp_path / "out", cache, silent)


def test_recipe_reads_what_is_gathered(made: tuple[Path, DemoReport], repo: Path) -> None:
    load_recipe(repo / "pipeline/recipes/demo.yaml")
    recipe = yaml.safe_load((repo / "pipeline/recipes/demo.yaml").read_text("utf-8"))
    reads = {name: dataset["read"] for name, dataset in recipe["datasets"].items() if "read" in dataset}
    read_files: set[Path] = set()
    for read in reads.values():
        (pattern,) = [value for key, value in read.items() if key not in ("key", "optional")]
        assert pattern.startswith("../../demo/input/")
        found = list(made[0].glob(pattern.removeprefix("../../demo/input/").rstrip("/")))
        assert found, pattern
        read_files.update(path for top in found for path in [top, *top.rglob("*")] if path.is_file())
    gathered = {made[0] / file["path"] for file in json.loads((made[0] / FINISHED_MARKER).read_text())["files"]}
    assert read_files == gathered
    used = {recipe["datasets"][name]["domain"] for name in reads}
    assert used == {part.domain for part in PARTS}


def test_command_prints_one_object(tmp_path: Path, cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["demo-data", str(tmp_path / "out"), "--cache", str(cache)]
    assert main([*words, "--json"]) == 0
    printed = capfd.readouterr()
    assert json.loads(printed.out)["domains"] == ["web", "code", "math", "knowledge"]
    assert "web-python" in printed.err
    assert main(words) == 0
    assert "was there already" in capfd.readouterr().out


def test_command_refuses_a_file_as_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for out in ("file", "file/out"):
        assert main(["demo-data", str(tmp_path / out), "--cache", str(tmp_path)]) == 2
        assert "not a folder" in capfd.readouterr().err


def test_prefixes_of_parts_are_disjoint_and_keys_unique() -> None:
    prefixes = [part.prefix for part in PARTS]
    assert not [(a, b) for a in prefixes for b in prefixes if a != b and a.startswith(b)]
    packages = {package for part in PARTS for package in part.packages}
    assert len({package.key for package in packages}) == len(packages)
    assert demo_sources.PYTHON_DOC.names[0] == f"python3.{sys.version_info.minor}-doc"
