"""Sends webhooks of the service to receivers, and checks what they make of them (../run).

A receiver is `COMMAND LIBRARY SECRETS`. It prints a line {"url"}, and one for each request: its
id, headers and body, the status of its answer, and type, subject and sequence of its event.
It verifies with each secret in the file SECRETS, answers 204 or, with the error, 401, and ends
when its input does. receiver.py also answers 500 to its first stream, so many times.

    drive.py DIRECTORY GO-RECEIVER DIRECTORY-OF-THE-TYPESCRIPT-SDK
"""

import json
import os
import queue
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NoReturn

import netsim

CREATED, UPDATED = "netsim.workspace.created.v1", "netsim.workspace.updated.v1"
directory, go_receiver, typescript = sys.argv[1:]
node_receiver = str(Path(__file__).with_name("receiver.mjs"))
client = netsim.Client()


class Receiver:
    def __init__(self, name: str, *command: str, failures: int = 0) -> None:
        self.name, self.secrets = name, Path(directory, name.replace("/", "-"))
        started = [*command, str(self.secrets), *([str(failures)] if failures else [])]
        self.process = subprocess.Popen(started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.url: str = self.next()["url"]
        try:
            self.webhook = client.create_webhook({"url": self.url, "filter": {"type": [CREATED, UPDATED]}})
        except netsim.NetsimError as e:
            self.fail(f"its webhook cannot be made: {e}")
        assert self.webhook.secret
        self.secrets.write_text(self.webhook.secret)

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)

    def fail(self, why: str) -> NoReturn:
        sys.exit(f"webhooks: the receiver {self.name}: {why}")

    def next(self, seconds: float = 30) -> Any:
        try:
            return json.loads(self.lines.get(timeout=seconds))
        except queue.Empty:
            self.fail(f"nothing came in {seconds} s")

    def expect(self, *want: tuple[str, str, str]) -> list[Any]:
        """Takes verified events in this order: type, stream, sequence."""
        all = [self.next() for _ in want]
        for got, event in zip(all, want, strict=True):
            if "error" in got:
                self.fail(f"it refuses a delivery: {got['error']}: {got}")
            if (got["type"], got["subject"], got["sequence"]) != event:
                self.fail(f"got {got}, want {event}")
        return all

    def post(self, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        """What it answers to a request, and what it says of it."""
        request = urllib.request.Request(self.url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                return response.status, self.next()
        except urllib.error.HTTPError as e:
            return e.code, self.next()
        except OSError as e:
            self.fail(f"it does not answer: {e}")

    def try_changed_bytes(self, delivery: Any) -> None:
        body = delivery["body"].encode()
        headers = {n: v for n, v in delivery["headers"].items() if n.lower().startswith(("webhook-", "content-type"))}
        for at in (0, len(body) // 2, len(body) - 1):
            changed = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
            if (answer := self.post(changed, headers))[0] != 401:
                self.fail(f"it accepts a body whose byte {at} was changed: {answer}")
        if (answer := self.post(body, headers))[0] != 204:
            self.fail(f"it refuses the same webhook, sent again: {answer}")

    def rotate(self) -> None:
        secret = client.rotate_webhook_secret(self.webhook.id, {"overlapSeconds": 3600}).secret
        assert secret
        if secret == self.webhook.secret:
            self.fail("its secret is the same after its rotation")
        self.secrets.write_text(f"{secret}\n{self.webhook.secret}")  # each must verify

    def try_listen(self, workspace: str) -> None:
        """Has the events of a workspace forwarded to it by the command line."""
        secret = self.secrets.read_text().split()[0]
        self.secrets.write_text(secret)
        command = ["bin/netsim", "webhooks", "listen", "--forward-to", self.url, "--stream", workspace, "--since", "10m", "--count", "2"]
        done = subprocess.run(command, env=os.environ | {"NETSIM_WEBHOOK_SECRET": secret}, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            self.fail(f"netsim webhooks listen ended with {done.returncode}: {done.stderr}")
        self.expect((CREATED, workspace, "1"), (UPDATED, workspace, "2"))

    def end(self) -> None:
        """Deletes its webhook, and closes its input, with which it ends."""
        client.delete_webhook(self.webhook.id)
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(15)


python = [sys.executable, str(Path(__file__).with_name("receiver.py"))]
every: list[Receiver] = []
try:
    for name, *command in (
        ("standardwebhooks of PyPI", *python, "standardwebhooks"),
        ("sdk/python", *python, "netsim"),
        ("standardwebhooks of npm", "node", node_receiver, f"{typescript}/node_modules/standardwebhooks/dist/index.js"),
        ("sdk/typescript", "node", node_receiver, f"{typescript}/dist/index.js"),
        ("standardwebhooks of Go", go_receiver, "standardwebhooks"),
        ("sdk/go", go_receiver, "netsim"),
    ):
        every.append(Receiver(name, *command))
    receivers = every[:]
    every.append(failing := Receiver("that fails twice", *python, "standardwebhooks", failures=2))

    first = client.create_workspace({"name": "by webhooks"}).id
    client.update_workspace(first, {"name": "renamed"})
    for receiver in receivers:
        created, _ = receiver.expect((CREATED, first, "1"), (UPDATED, first, "2"))
        receiver.try_changed_bytes(created)
        receiver.rotate()
    second = client.create_workspace({"name": "by webhooks, with two secrets"}).id
    for receiver in receivers:
        receiver.expect((CREATED, second, "1"))
    receivers[-1].try_listen(first)

    # Its first message comes again, with the same id, and those of its stream after it.
    got = [failing.next(120) for _ in range(5)]
    seen = {stream: [(one.get("error"), one["type"], one["status"]) for one in got if one["subject"] == stream] for stream in (first, second)}
    once, again = (None, CREATED, 204), (None, CREATED, 500)
    if seen != {first: [again, again, once, (None, UPDATED, 204)], second: [once]}:
        failing.fail(f"got {got}")
    if len({one["id"] for one in got}) != 3:
        failing.fail(f"its message came again with another id: {got}")
finally:
    for receiver in every:
        receiver.end()
