"""Makes what costs something at once: simulations whose results are deleted, and a workspace."""

import json
import os
import sys
import time
import urllib.request

BASE = sys.argv[1]
SIMPLE = {"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1 << 20}]}}


def call(method, path, body=None):
    request = urllib.request.Request(BASE + path, method=method, headers={
        "Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json"},
        data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request) as reply:
        text = reply.read()
        return json.loads(text) if text else None


def until(what, true):
    for _ in range(300):
        if true():
            return
        time.sleep(0.2)
    sys.exit("focus: in vain waited for " + what)


simulations = [call("POST", "/simple/simulations", dict(SIMPLE, name=f"focus-{n}"))["simulationId"] for n in range(3)]
for simulation in simulations:
    until(simulation, lambda: call("GET", "/simulations/" + simulation)["status"] == "completed")
workspace = call("POST", "/workspaces", {"name": 'focus, "quoted"'})["id"]
call("DELETE", "/workspaces/" + workspace)
call("DELETE", "/simulations/" + simulations[0])
# Each simulation is an item that has ended, and so are the results of one and the workspace.
until("the costs", lambda: len(call("GET", f"/billing/items?status=closed&limit=50")["items"]) >= 5)
