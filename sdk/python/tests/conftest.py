"""A server that answers as each test says, and misbehaves as each test says."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import netsim

Answer = Callable[[BaseHTTPRequestHandler], None]


def reply(status: int, body: Any = None, **headers: str) -> Answer:
    """An answer with a JSON body, or with bytes as they are."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"content-type": "application/json", "x-request-id": "req-1", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def refuse(status: int, message: str = "no", code: str = "CODE", **headers: str) -> Answer:
    return reply(status, {"error": {"code": code, "message": message}}, **headers)


def cut(after: bytes | None = None) -> Answer:
    """Cuts the connection before the answer, or in the middle of one."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if after is not None:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(after) + 100))
            handler.end_headers()
            handler.wfile.write(after)
            handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    return answer


def stream(*chunks: str, hang: threading.Event | None = None, late: str = "", cut: bool = False) -> Answer:
    """Streams text, and then ends, is cut, or hangs until an event is set; ``late`` comes if that takes 20 s."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

        def send(chunk: str) -> None:
            handler.wfile.write(f"{len(chunk.encode()):x}\r\n{chunk}\r\n".encode())
            handler.wfile.flush()

        for chunk in chunks:
            send(chunk)
        if hang and not hang.wait(20):
            send(late)
        if cut or hang:
            handler.connection.shutdown(socket.SHUT_RDWR)
        else:
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = True

    return answer


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Server:
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    answers: deque[Answer] = field(default_factory=deque)

    def will(self, *answers: Answer) -> None:
        self.answers.extend(answers)


@pytest.fixture
def server() -> Iterator[Server]:
    script = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.requests.append(Request(self.command, url.path, parse_qs(url.query), headers, body))
            answer = script.answers.popleft() if script.answers else refuse(500, "the test has no more answers")
            with suppress(ConnectionError):  # the client has left
                answer(self)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_one

        def log_message(self, *_: Any) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    script.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield script
    http.shutdown()
    http.server_close()
    thread.join()


@dataclass
class Pauses:
    """The pauses that a client made, which take no time here."""

    seconds: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def client(server: Server, pauses: Pauses) -> Iterator[netsim.Client]:
    with netsim.Client(server.url, "t1", timeout=60) as client:
        client._sleep = pauses
        yield client


@pytest.fixture
def service() -> Iterator[netsim.Client]:
    """A client of the running service. Without one the tests of the mark ``service`` fail."""
    if "NETSIM_URL" not in os.environ:
        pytest.fail("NETSIM_URL and NETSIM_TOKEN are not set; leave these tests out with: -m 'not service'")
    with netsim.Client() as client:
        yield client


WORKSPACE: dict[str, Any] = {
    "id": "workspace_01kahcfv4ge3brkm7f0v3x2m8p", "name": "research", "owner": "u", "createdAt": "2026-11-21T08:30:00.125Z",
    "modifiedAt": "2026-11-21T08:30:00.125Z", "stats": {"activeSimulations": 0, "configurationCount": 0, "simulationCount": 0},
}  # fmt: skip

SIMULATION: dict[str, Any] = {
    "id": "sim_01kahcfv4ge3brkm7dy5s5h2k3", "workspaceId": WORKSPACE["id"], "configurationId": "config_01kahcfv4ge3brkm7e1q8s0c9d",
    "configurationVersion": 1, "name": "nightly", "status": "running", "createdAt": "2026-11-21T08:30:00.125Z",
}  # fmt: skip
