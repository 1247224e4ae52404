"""A real Slurm of one node on the loopback, for tests: munged, slurmctld and slurmd, started and stopped as one.

It needs root and Debian's `slurm-wlm` and `munge` (`apt-get install --no-install-recommends slurm-wlm munge`, which is
tried); else `start` raises Unavailable with the reason.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "slurm-wlm", "munge")
PATH = f"/usr/sbin:/usr/bin:{os.environ.get('PATH', '')}"

CONF = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={ctld}
SlurmdPort={slurmd}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE OverSubscribe=FORCE:1 State=UP
"""


class Unavailable(Exception):
    """There can be no Slurm here; why."""


@dataclass
class Cluster:
    """A cluster that runs. `environment` is what its programs need."""

    folder: Path
    daemons: list["subprocess.Popen[bytes]"] = field(default_factory=list["subprocess.Popen[bytes]"])

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}

    def ask(self, *words: str) -> str:
        """What a program of Slurm prints, errors too."""
        told = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **self.environment}
        )
        return told.stdout + told.stderr

    def launch(self, *words: str) -> None:
        log = (self.folder / f"{words[0]}.out").open("ab")
        self.daemons.append(subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, **self.environment}))

    def stop(self) -> None:
        """End the daemons, the last first, and what jobs of theirs are left."""
        self.ask("scancel", "-u", "root")
        time.sleep(1)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def start() -> Cluster:
    """A cluster whose node is idle. Raises Unavailable."""
    _require()
    # Short: sockets lie in it. Not below a folder that others may write to, but munged is told not to mind.
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="gristmill-slurm-", dir="/tmp")))
    folder = cluster.folder
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    ports = [_free_port() for _ in range(2)]
    conf = CONF.format(folder=folder, host=socket.gethostname().partition(".")[0], ctld=ports[0], slurmd=ports[1])
    (folder / "slurm.conf").write_text(conf)
    try:
        munge = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "seed-file": "munge.seed"}
        files = [f"--{name}={folder / file}" for name, file in munge.items()]
        cluster.launch("munged", "-F", "--force", *files, f"--log-file={folder / 'munge.log'}")
        _wait_for((folder / "munge.socket").exists, "munged does not come up", cluster)
        cluster.launch("slurmctld", "-D")
        cluster.launch("slurmd", "-D", "-N", socket.gethostname().partition(".")[0])
        _wait_for(lambda: "idle" in cluster.ask("sinfo", "-h", "-o", "%T"), "the node does not come up", cluster)
    except BaseException:
        cluster.stop()
        raise
    return cluster


def _require() -> None:
    if os.geteuid() != 0:
        raise Unavailable("a real Slurm is started by root only")
    if all(shutil.which(name, path=PATH) for name in DAEMONS):
        return
    if shutil.which("apt-get") is None:
        raise Unavailable("no slurm-wlm and munge, and no apt-get")
    done = subprocess.run(INSTALL, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise Unavailable(f"apt-get cannot install slurm-wlm and munge: {done.stderr.strip()[-200:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(come: Callable[[], bool], what: str, cluster: Cluster) -> None:
    deadline = time.monotonic() + 60
    while not come():
        if time.monotonic() > deadline:
            logs = [f"{path.name}: {path.read_text(errors='replace')[-1500:]}" for path in cluster.folder.glob("*.*")]
            raise RuntimeError(f"{what}\n" + "\n".join(logs))
        time.sleep(0.2)
