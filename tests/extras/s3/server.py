"""An S3-compatible server on the loopback (moto, in its own process), and a proxy before it that counts and breaks.

The proxy speaks HTTP/1.1, one request a connection. `Proxy.requests` are (method, path with query, Range header). Rules
break things: `cut` ends the connection in the middle of answers' bodies, `hold` lets a request wait.
"""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KEY, SECRET = "AKIAGRISTPLANTED0001", "planted-secret-wJalrXUtnFEMI0K7MDENG"


@dataclass(frozen=True)
class Request:
    """What was asked."""

    method: str
    path: str
    range: str

    @property
    def kind(self) -> str:
        """GET, HEAD, PUT, COPY, LIST, PART, ... as S3 charges for them."""
        bare, _, query = self.path.partition("?")
        if self.method == "GET" and ("list-type" in query or bare.count("/") < 2):
            return "LIST"
        return "PART" if self.method == "PUT" and "partNumber" in query else self.method


@dataclass
class Rules:
    """How to break things. `cut_bytes`: of a GET's body, so many are sent, `cuts` times, of paths with `cut_paths`.
    `mute`: so many PUTs of a path with `mute_paths` are carried out and not answered. `busy`: so many requests of paths
    with `busy_paths` are answered with 503."""

    cut_bytes: int = 0
    cuts: int = 0
    cut_paths: str = ""
    mute: int = 0
    mute_paths: str = ""
    busy: int = 0
    busy_paths: str = ""
    hold: Callable[[Request], None] | None = None


@dataclass
class Proxy:
    """The proxy while it runs."""

    url: str
    server: str
    requests: list[Request] = field(default_factory=list[Request])
    rules: Rules = field(default_factory=Rules)
    sent_bytes: int = 0
    """Of bodies, to clients."""

    def kinds(self) -> dict[str, int]:
        """How many requests of each kind came."""
        counts: dict[str, int] = {}
        for request in list(self.requests):
            counts[request.kind] = counts.get(request.kind, 0) + 1
        return counts

    def of(self, kind: str, part: str = "") -> list[Request]:
        """The requests of a kind whose path has a part."""
        return [r for r in list(self.requests) if r.kind == kind and part in r.path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: Proxy

    def log_message(self, format: str, *args: Any) -> None:
        return

    def _pass(self) -> None:
        self.close_connection = True
        request = Request(self.command, self.path, self.headers.get("Range", ""))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.proxy.requests.append(request)
        rules = self.proxy.rules
        if rules.hold is not None:
            rules.hold(request)
        if rules.busy > 0 and rules.busy_paths in self.path:
            rules.busy -= 1
            self.send_response_only(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        upstream = http.client.HTTPConnection(self.proxy.server.removeprefix("http://"), timeout=120)
        try:
            upstream.request(self.command, self.path, body, dict(self.headers.items()))
            answer = upstream.getresponse()
            data = answer.read()
        finally:
            upstream.close()
        if rules.mute > 0 and self.command == "PUT" and rules.mute_paths in self.path:
            rules.mute -= 1
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._answer(request, answer, data)

    def _answer(self, request: Request, answer: http.client.HTTPResponse, data: bytes) -> None:
        rules = self.proxy.rules
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        self.send_header("Content-Length", length or "0")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        if rules.cuts > 0 and request.kind == "GET" and rules.cut_paths in request.path and len(data) > rules.cut_bytes:
            rules.cuts -= 1
            data = data[: rules.cut_bytes]
        self.proxy.sent_bytes += len(data)
        self.wfile.write(data)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass


@contextmanager
def proxy_to(server: str) -> Generator[Proxy]:
    """A proxy before a server."""
    listening = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    listening.daemon_threads = True
    proxy = Proxy(f"http://127.0.0.1:{listening.server_address[1]}", server)
    listening.RequestHandlerClass = type("Handler", (_Handler,), {"proxy": proxy})
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


@contextmanager
def s3_server(folder: Path) -> Generator[str]:
    """The address of a server with nothing in it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with (folder / "moto.log").open("wb") as log:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            ask(url, "GET", "/moto-api/")
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def ask(url: str, method: str, path: str, body: bytes = b"") -> bytes:
    """One request without a client of ours."""
    kind = {"Content-Type": "application/octet-stream"}
    request = urllib.request.Request(f"{url}{path}", body or None, kind, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()
