"""The system calls that a program may not make: a classic BPF filter, as bubblewrap takes it.

A deny list. Refused with EPERM: sockets, other processes (fork, vfork, clone without CLONE_THREAD), looking into others
(ptrace, process_vm_*, pidfd_getfd), namespaces and mounts, memory that no process holds
(memfd_create, System V), the kernel's modules, keys, tracing, clocks. `clone3` says
ENOSYS, since its flags lie in memory where a filter cannot read: the C library then calls `clone`. A call by the
number of another architecture ends the program. So a program is one process with threads.

Numbers are those of Linux 6.18 (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
"""

import platform
import struct
from collections.abc import Mapping

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD = 0x00010000
_X32_BIT = 0x40000000

_SHARED = {
    "clone3": 435,
    "pidfd_getfd": 438,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "process_madvise": 440,
    "process_mrelease": 448,
    "memfd_secret": 447,
}
"""New calls have one number everywhere."""

_X86_64 = {
    "shmget": 29,
    "socket": 41,
    "clone": 56,
    "fork": 57,
    "vfork": 58,
    "semget": 64,
    "msgget": 68,
    "ptrace": 101,
    "syslog": 103,
    "personality": 135,
    "pivot_root": 155,
    "adjtimex": 159,
    "chroot": 161,
    "acct": 163,
    "settimeofday": 164,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "sethostname": 170,
    "setdomainname": 171,
    "iopl": 172,
    "ioperm": 173,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "clock_settime": 227,
    "mq_open": 240,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "unshare": 272,
    "move_pages": 279,
    "perf_event_open": 298,
    "name_to_handle_at": 303,
    "open_by_handle_at": 304,
    "clock_adjtime": 305,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "memfd_create": 319,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
}

_AARCH64 = {
    "mq_open": 180,
    "msgget": 186,
    "semget": 190,
    "shmget": 194,
    "socket": 198,
    "clone": 220,
    "ptrace": 117,
    "syslog": 116,
    "personality": 92,
    "pivot_root": 41,
    "adjtimex": 171,
    "chroot": 51,
    "acct": 89,
    "settimeofday": 170,
    "mount": 40,
    "umount2": 39,
    "swapon": 224,
    "swapoff": 225,
    "reboot": 142,
    "sethostname": 161,
    "setdomainname": 162,
    "init_module": 105,
    "delete_module": 106,
    "quotactl": 60,
    "clock_settime": 112,
    "kexec_load": 104,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "unshare": 97,
    "move_pages": 239,
    "perf_event_open": 241,
    "name_to_handle_at": 264,
    "open_by_handle_at": 265,
    "clock_adjtime": 266,
    "setns": 268,
    "process_vm_readv": 270,
    "process_vm_writev": 271,
    "kcmp": 272,
    "finit_module": 273,
    "kexec_file_load": 294,
    "memfd_create": 279,
    "bpf": 280,
    "userfaultfd": 282,
}

ARCHITECTURES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (0xC000003E, _X86_64),
    "aarch64": (0xC00000B7, _AARCH64),
}
"""Machine, as `platform.machine` names it: its audit number, and the numbers of its calls."""


def filter_bytes(machine: str | None = None) -> bytes | None:
    """The filter for this machine as `struct sock_filter[]`; None for a machine whose numbers are not known."""
    known = ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, numbers = known
    refused = sorted(number for name, number in {**numbers, **_SHARED}.items() if name not in ("clone", "clone3"))
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL),
        (_JUMP_EQUAL, 0, 1, _SHARED["clone3"]),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
    ]
    for number in refused:
        program += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | _EPERM)]
    program += [
        (_JUMP_EQUAL, 0, 3, numbers["clone"]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_JUMP_ANY_BIT, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, _ERROR | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
