"""Functions for the killable child to run in tests, benign and not; each named by its factory."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

Function = Callable[[bytes], bytes]


def echo(init: bytes) -> Function:
    """`init` and the payload."""
    return lambda payload: init + payload


def obey(init: bytes) -> Function:
    """Does what the payload says."""
    return _obey


def environment(init: bytes) -> Function:
    """The value of the variable that the payload names."""
    return lambda payload: os.environ.get(payload.decode(), "absent").encode()


def slow(init: bytes) -> Function:
    """Sleeps as many seconds as the payload says."""

    def sleep(payload: bytes) -> bytes:
        time.sleep(float(payload))
        return payload

    return sleep


def grow(init: bytes) -> Function:
    """As many bytes as the payload begins with."""
    return lambda payload: bytes(int(payload.split()[0]))


def broken(init: bytes) -> Function:
    """A factory that fails."""
    raise ValueError(f"no such model: {init.decode()}")


def exits(init: bytes) -> Function:
    """A factory that ends its process."""
    print("the reason why", file=sys.stderr)
    os._exit(7)


def killed_at_start(init: bytes) -> Function:
    """Killed while it starts, as often as the file that `init` names has bytes; one is taken away each time."""
    left = os.path.getsize(init)
    if left:
        os.truncate(init, left - 1)
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda payload: payload


def _obey(payload: bytes) -> bytes:
    word, _, rest = payload.partition(b" ")
    match word:
        case b"segfault":
            ctypes.string_at(0)
        case b"exit":
            os._exit(int(rest))
        case b"kill":
            os.kill(os.getpid(), int(rest))
        case b"hang":
            signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
            time.sleep(3600)
        case b"kill_once":
            # The mark outlives the process, so only the first attempt dies.
            if not os.path.exists(rest):
                open(rest, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        case b"hog":
            return str(len(bytearray(int(rest)))).encode()
        case b"leak":
            libc = ctypes.CDLL(None)
            libc.malloc.restype = ctypes.c_void_p
            ctypes.memset(libc.malloc(ctypes.c_size_t(int(rest))), 1, 16)
        case b"bad_alloc":
            print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
            os.abort()
        case b"raise":
            raise ValueError(f"not this one at {hex(id(payload))}")
        case b"print":
            print("noise " * 1000, flush=True)
            os.write(1, b"\0" * 64)
        case b"big":
            return bytes(int(rest))
        case b"pid":
            return str(os.getpid()).encode()
        case _:
            pass
    return payload
