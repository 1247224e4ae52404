"""Programs that try to get out of the sandbox, to break it, or to take more than is theirs.

Each prints what it could do. `HOSTILE`: name -> (source, what must become of it): `ran`, or a kind of failure; with `ran`
what it prints. `tries(words)` within them prints the word of each attempt that did not raise OSError.
"""

# ruff: noqa: E501  a program is easier to read in one piece

PRELUDE = """
import ctypes, errno, os, signal, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def tries(**attempts):
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError:
            continue
        print(name, flush=True)
def call(*numbers):
    if libc.syscall(*numbers) == -1:
        raise OSError(ctypes.get_errno(), "refused")
def write(path):
    with open(path, "wb") as file:
        file.write(b"x")
"""

HOSTILE: dict[str, tuple[str, str, str]] = {
    # Processes
    "fork bomb": (
        "while True:\n    try: os.fork()\n    except PermissionError: break\nprint('refused')",
        "ran",
        "refused\n",
    ),
    "a shell": ("import subprocess\ntries(shell=lambda: subprocess.run(['/bin/sh', '-c', 'echo hello']))", "ran", ""),
    "a spawned process": ("tries(spawned=lambda: os.posix_spawn('/bin/true', ['true'], {}))", "ran", ""),
    "a process by clone": ("tries(clone=lambda: call(56, 17, 0, 0, 0, 0))", "ran", ""),
    "exec for ever": ("os.execv(sys.executable, [sys.executable, '-S', '/main'])", "timeout", ""),
    "kills all others": (
        "for pid in (1, os.getppid(), -1):\n"
        "    try: os.kill(pid, signal.SIGKILL)\n"
        "    except OSError: pass\n"
        "time.sleep(0.2)\nprint('alive')",
        "ran",
        "alive\n",
    ),
    "kills by pidfd": (
        "try: signal.pidfd_send_signal(os.pidfd_open(1), signal.SIGKILL)\nexcept OSError: pass\nprint('alive')",
        "ran",
        "alive\n",
    ),
    "kills itself": ("os.kill(os.getpid(), signal.SIGKILL)", "died", "SIGKILL"),
    "ptrace": ("tries(me=lambda: call(101, 0, 0, 0, 0), first=lambda: call(101, 16, 1, 0, 0))", "ran", ""),
    "memory of others": (
        "tries(mem=lambda: open('/proc/1/mem', 'rb').read(1), vm=lambda: call(310, 1, 0, 0, 0, 0, 0))",
        "ran",
        "",
    ),
    # Time
    "endless loop": ("while True: pass", "timeout", ""),
    "sleeps": ("time.sleep(1000)", "timeout", ""),
    "hangs in C": ("import re; re.match(r'(a+)+$', 'a' * 50 + 'b')", "timeout", ""),
    "pauses in C": ("libc.pause()", "timeout", ""),
    "ignores all signals": (
        "for number in range(1, 65):\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
        "timeout",
        "",
    ),
    "a thread that outlives the end": ("threading.Thread(target=time.sleep, args=(1000,)).start()", "timeout", ""),
    "hangs when it ends": ("import atexit\natexit.register(time.sleep, 1000)", "timeout", ""),
    "sets the clock": ("tries(clock=lambda: time.clock_settime(time.CLOCK_REALTIME, 0))", "ran", ""),
    "burns on many threads": (
        "[threading.Thread(target=lambda: any(iter(int, 1))).start() for _ in range(8)]",
        "timeout",
        "",
    ),
    # Memory
    "memory bomb": ("held = []\nwhile True: held.append(b'x' * (8 << 20))", "memory", ""),
    "memory at once": ("try: b'x' * (3 << 30)\nexcept MemoryError: print('refused')", "ran", "refused\n"),
    "shared memory": (
        "import mmap\nheld = mmap.mmap(-1, 400 << 20)\nfor at in range(0, 400 << 20, 4096): held[at] = 1",
        "memory",
        "",
    ),
    "hidden memory": (
        "tries(memfd=lambda: os.memfd_create('x'), shm=lambda: call(29, 0, 1 << 28, 0o1600), secret=lambda: call(447, 0))",
        "ran",
        "",
    ),
    "memory in files": (
        "for number in range(40):\n    with open(f'f{number}', 'wb') as file: file.write(bytes(1 << 20))",
        "ran",
        "",
    ),
    "many files": ("for number in range(10**6): open(f'f{number}', 'w').close()", "memory", "files"),
    "many folders": ("while True: os.mkdir('d'); os.chdir('d')", "memory", "files"),
    "many threads": (
        "threading.stack_size(32 << 10)\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
        "memory",
        "threads",
    ),
    "deep recursion": ("sys.setrecursionlimit(10**9)\ndef f(): f()\nf()", "ended badly", ""),
    "deep recursion in C": ("held = []\nfor _ in range(10**7): held = [held]\nrepr(held)", "ended badly", ""),
    "deep source": ("(" * 50_000, "ended badly", ""),
    "a huge number": ("10 ** 10 ** 10", "ended badly", ""),
    # Files
    "writes elsewhere": (
        "tries(**{path: (lambda p=path: write(p)) for path in ('/x', '/main', '/usr/x', '/etc/x', '/dev/x', '/dev/shm/x', "
        "'/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/sys/vm/overcommit_memory', '/var/x', '/home/x', "
        "sys.prefix + '/x')})",
        "ran",
        "",
    ),
    "reads what is not its own": (
        "tries(**{path: (lambda p=path: open(p).read(1)) for path in ('/etc/shadow', '/etc/passwd', '/proc/1/environ', "
        "'/proc/kcore', '/dev/mem', '/dev/sda', '/dev/kmsg', '/sys/class/net/lo/address')},\n"
        "      root=lambda: os.listdir('/root/.ssh'), home=lambda: os.listdir('/home'))",
        "ran",
        "",
    ),
    "links to what is not its own": (
        "os.symlink('/etc/shadow', 'a'); os.symlink('/proc/1/root/etc/shadow', 'b'); os.symlink('/proc/self/root/etc', 'c')\n"
        "tries(a=lambda: open('a'), b=lambda: open('b'), c=lambda: open('c/shadow'), "
        "up=lambda: open('../../../../../etc/shadow'), cwd=lambda: open('/proc/self/cwd/../../etc/shadow'), "
        "hard=lambda: os.link('/usr/bin/env', 'h'))",
        "ran",
        "",
    ),
    "a huge file": (
        "tries(whole=lambda: open('f', 'wb').write(bytes(9 << 20)) or os.stat('f').st_size <= 4 << 20 or 1)",
        "ran",
        "",
    ),
    "a sparse file": ("tries(sparse=lambda: open('f', 'wb').truncate(1 << 45))", "ran", ""),
    "a device": ("tries(node=lambda: os.mknod('n', 0o60600, os.makedev(8, 0)))", "ran", ""),
    "mounts": (
        "tries(mount=lambda: call(165, b'none', b'/tmp', b'tmpfs', 0, 0), root=lambda: os.chroot('/tmp'), "
        "bind=lambda: call(165, b'/proc/1/root', b'/tmp', 0, 4096, 0), tree=lambda: call(428, -100, b'/', 1), "
        "umount=lambda: call(166, b'/proc', 2), pivot=lambda: call(155, b'/tmp', b'/tmp'))",
        "ran",
        "",
    ),
    "a core file": (
        "import resource\ntry: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)); print('raised')\n"
        "except (OSError, ValueError): pass\nos.abort()",
        "died",
        "SIGABRT",
    ),
    # Privileges
    "becomes another user": (
        "tries(root=lambda: os.setuid(0), group=lambda: os.setgid(0), groups=lambda: os.setgroups([0]), "
        "saved=lambda: os.setresuid(0, 0, 0), one=lambda: os.setreuid(1, 1))",
        "ran",
        "",
    ),
    "programs that make one root": (
        "mounts = [line.split() for line in open('/proc/self/mountinfo')]\n"
        "print([m[4] for m in mounts if 'nosuid' not in m[5].split(',')])",
        "ran",
        "[]\n",
    ),
    "raises its limits": (
        "import resource\nfor name in ('AS', 'CPU', 'FSIZE', 'NOFILE', 'DATA'):\n"
        "    kind = getattr(resource, 'RLIMIT_' + name)\n"
        "    try: resource.setrlimit(kind, (-1, -1)); print(name)\n    except (OSError, ValueError): pass",
        "ran",
        "",
    ),
    "namespaces": (
        "tries(user=lambda: call(272, 0x10000000), net=lambda: call(272, 0x40000000), "
        "set=lambda: call(308, os.open('/proc/1/ns/net', 0), 0), clone3=lambda: call(435, 0, 0))",
        "ran",
        "",
    ),
    "calls of the kernel": (
        "tries(bpf=lambda: call(321, 0, 0, 0), keys=lambda: call(250, 0, -3, 0), perf=lambda: call(298, 0, 0, 0, 0, 0), "
        "uffd=lambda: call(323, 0), ring=lambda: call(425, 1, 0), module=lambda: call(175, 0, 0, 0), "
        "personality=lambda: call(135, 0x0040000), handle=lambda: call(304, 0, 0, 0), log=lambda: call(103, 3, 0, 0))",
        "ran",
        "",
    ),
    "calls by the numbers of another machine": ("libc.syscall(0x40000000 | 39)", "died", "SIGSYS"),
    "calls as a program of 32 bits": (
        "import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\ncode.write(bytes.fromhex('b814000000cd80c3'))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()",
        "died",
        "SIGSYS",
    ),
    # Network
    "connects": (
        "import socket\ntries(tcp=lambda: socket.create_connection(('1.1.1.1', 80), 1), "
        "udp=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM), here=lambda: socket.create_server(('', 0)), "
        "unix=lambda: socket.socket(socket.AF_UNIX), netlink=lambda: socket.socket(socket.AF_NETLINK), "
        "name=lambda: socket.getaddrinfo('example.org', 80))",
        "ran",
        "",
    ),
    "looks at the network": (
        "print(sorted(line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line))",
        "ran",
        "['lo']\n",
    ),
    # The pipes
    "output flood": ("while True: os.write(1, b'x' * 65536)", "output_too_large", ""),
    "errors flood": ("while True: os.write(2, b'x' * 65536)", "timeout", ""),
    "shuts its output and goes on": ("os.closerange(0, 300)\nwhile True: pass", "timeout", ""),
    "shuts everything": ("os.closerange(0, 300)\nos._exit(0)", "ran", ""),
    "forged status": (
        'for fd in range(3, 256):\n    try: os.write(fd, b\'{"exit-code": 0}\\n{"child-pid": 1}\\n\')\n    except OSError: pass\n'
        "print(sorted(os.listdir('/proc/self/fd')) == ['0', '1', '2', '3'])",
        "ran",
        "True\n",
    ),
    "keys of the terminal": (
        "import fcntl\ntries(tty=lambda: open('/dev/tty'), typed=lambda: fcntl.ioctl(0, 0x5412, b'x'))",
        "ran",
        "",
    ),
    "reads to the end": ("print(len(sys.stdin.buffer.read()), len(sys.stdin.buffer.read()))", "ran", "0 0\n"),
    "a crash": ("ctypes.string_at(0)", "died", "SIGSEGV"),
    "a broken source": ("\x00 (", "ended badly", ""),
}
