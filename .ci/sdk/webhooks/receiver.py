"""A receiver (drive.py): receiver.py standardwebhooks|netsim SECRETS [FAILURES]"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import netsim.errors
import netsim.webhooks
import standardwebhooks

library, secrets = sys.argv[1], Path(sys.argv[2])
failures = int(sys.argv[3]) if len(sys.argv) > 3 else 0
failing = ""  # the stream of the first message, which fails


def verify(body: bytes, headers: dict[str, str], secret: str) -> Any:
    if library == "netsim":
        return netsim.webhooks.unwrap(body, headers, secret).attributes
    return standardwebhooks.Webhook(secret).verify(body, headers)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        global failing, failures
        body, headers = self.rfile.read(int(self.headers["Content-Length"])), dict(self.headers.items())
        report: dict[str, Any] = {"id": self.headers["webhook-id"], "headers": headers, "body": body.decode(), "status": 204}
        try:
            for secret in secrets.read_text().split():
                event = verify(body, headers, secret)
                report |= {name: event[name] for name in ("type", "subject", "sequence")}
        except (standardwebhooks.WebhookVerificationError, netsim.errors.WebhookError) as e:
            report |= {"status": 401, "error": str(e)}
        failing = failing or report.get("subject", "")
        if failures > 0 and report.get("subject") == failing:
            failures -= 1
            report["status"] = 500
        print(json.dumps(report), flush=True)
        self.send_response(report["status"])
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}/"}), flush=True)
sys.stdin.read()
os._exit(0)
