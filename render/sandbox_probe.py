"""The program by which the sandbox is tried before any other runs in it: it tries to get out, and says what it could.

Out: one JSON list of words on standard output, empty where all is shut.
"""

import json

from gristmill.render.sandbox_bwrap import BOX

PROBE = b"""
import json, os, socket
found = []
def tries(name, action):
    try:
        action()
    except OSError:
        return
    found.append(name)
def write(path):
    with open(path, "w") as file:
        file.write("x")
tries("socket", lambda: socket.socket(socket.AF_INET))
tries("socket_unix", lambda: socket.socket(socket.AF_UNIX))
tries("fork", os.fork)
tries("write_root", lambda: write("/x"))
tries("write_usr", lambda: write("/usr/x"))
tries("write_dev", lambda: write("/dev/x"))
tries("shadow", lambda: open("/etc/shadow"))
tries("kill_first", lambda: os.kill(1, 9) or os.getpgid(1) and 1 / 0 if os.getuid() == 0 else os.kill(99999, 0))
if os.getuid() != 65534 or os.geteuid() != 65534:
    found.append("user")
if len([p for p in os.listdir("/proc") if p.isdigit()]) > 2:
    found.append("processes")
for line in open("/proc/self/status"):
    if line.startswith(("CapEff", "CapPrm", "CapBnd")) and int(line.split()[1], 16):
        found.append(line.split()[0])
    if line.startswith("NoNewPrivs") and line.split()[1] != "1":
        found.append("privileges")
    if line.startswith("Seccomp:") and line.split()[1] != "2":
        found.append("seccomp")
write("/tmp/x")
print(json.dumps(found))
"""

assert BOX == "/tmp"


def faults_of(exit_code: int, stdout: bytes) -> str:
    """What the probe could do, in words; "" where it could do nothing."""
    try:
        found = json.loads(stdout)
    except ValueError:
        return f"the probe ended with {exit_code} and said {stdout[:100]!r}"
    return ", ".join(map(str, found)) if exit_code == 0 else f"the probe ended with {exit_code}"
