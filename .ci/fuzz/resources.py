"""Makes what requests can be about, and prints it as the settings of Schemathesis.

Half of the ids it sends are these, the others are made up. Several of each,
because some requests delete them.
"""

import json
import os
import sys
import time
import urllib.request

BASE = sys.argv[1]
TRACE = b'{"version": "0.0.4"}\n{"id": "1", "type": "COMP_NODE", "durationMicros": "7"}'
SIMPLE = {"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1 << 20}]}}


def call(method, path, body=None):
    request = urllib.request.Request(BASE + path, method=method, headers={
        "Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json"},
        data=None if body is None else json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def put(link, content):
    with urllib.request.urlopen(urllib.request.Request(link, method="PUT", data=content), timeout=30) as response:
        return [{"partNumber": 1, "etag": response.headers["ETag"]}]


def traceset(workspace, n):
    files = [{"name": f"rank_{rank}.chakra.json", "size": len(TRACE)} for rank in range(8)]
    session = call("POST", "/tracesets/upload-url", {
        "workspaceId": workspace, "name": f"traces {n}", "files": files, "workloadMetadata": {"workloadFamily": "ring"}})
    parts = [{"name": f["name"], "parts": put(f["parts"][0]["url"], TRACE)} for f in session["files"]]
    return call("POST", "/tracesets/upload-url/complete", {"uploadId": session["uploadId"], "files": parts})


def mapping_file(workspace, n):
    text = f"# {n}\n".encode() + b"".join(b"%d, %d\n" % (rank, rank) for rank in range(8))
    session = call("POST", "/mapping-files/upload-url", {"workspaceId": workspace, "sizeBytes": len(text), "name": f"{n}.txt"})
    parts = put(session["parts"][0]["url"], text)
    return call("POST", "/mapping-files/upload-url/complete", {"uploadId": session["uploadId"], "parts": parts})


def completed(simulation):
    for _ in range(600):
        made = call("GET", "/simulations/" + simulation)
        if made["status"] == "completed":
            return made
        time.sleep(0.1)
    sys.exit("simulation " + simulation + " does not complete: " + json.dumps(made))


simulations = [call("POST", "/simple/simulations", SIMPLE)["simulationId"] for _ in range(5)]
configuration = completed(simulations[0])["configurationId"]
clones = [call("POST", f"/configurations/{configuration}/clone", {"name": f"clone {n}"}) for n in range(30)]
names = {part: [entry["name"] for entry in clones[0][part]] for part in ("components", "containers", "applications", "links")}
templates = call("GET", "/templates")["templates"]
workspaces = [call("POST", "/workspaces", {"name": f"workspace {n}"})["id"] for n in range(10)]
home = clones[0]["workspaceId"]  # which nobody can delete
tracesets = [traceset(home, n) for n in range(10)]
mapping_files = [mapping_file(home, n) for n in range(10)]

dictionaries = {
    "config_id": [clone["id"] for clone in clones],
    "sim_id": simulations,
    "workspace_id": workspaces,
    "workspaceId": [home, workspaces[0]],
    "template_id": [template["id"] for template in templates],
    "component_name": names["components"] + names["containers"],
    "child_name": names["components"],
    "container_name": names["containers"],
    "app_name": names["applications"],
    "link_name": names["links"],
    "model_id": [model["model"] for model in call("GET", "/models")["models"]],
    "component_id": [model["id"] for model in call("GET", "/components")["components"]],
    "version": ["1", "2", "1.0.0"],
    "mapping_file_id": [made["id"] for made in mapping_files],
    # Of tracesets and of libraries; billing items have numbers.
    "id": [made["id"] for made in tracesets] + [tracesets[0]["libraryHash"]] + [str(n) for n in range(1, 6)],
}
for name, values in dictionaries.items():
    if values:
        print(f"[dictionaries.{name}]\nvalues = {json.dumps(values)}\n")
print("[parameters]")
for name, values in dictionaries.items():
    if values:
        place = "query" if name == "workspaceId" else "path"
        print(f'"{place}.{name}" = {{ dictionary = "{name}", probability = 0.5 }}')
# The parameter asks for what other paths answer with, which the contract has in words.
for operation, form in {"GetStudyResults": "json", "GetStudyAnalysis": "json", "GetFocusDataset": "csv"}.items():
    print(f'[[operations]]\ninclude-operation-id = "{operation}"\nparameters = {{ "query.format" = "{form}" }}\n')
