"""Whether somebody listens where a cluster should be: those who use one try for minutes before they say."""

import socket


def no_answer(address: str, seconds: float) -> Exception | None:
    """Why nobody takes a connection at `HOST:PORT`; None when somebody does."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), seconds).close()
    except (OSError, OverflowError) as error:
        return error
    return None
