"""The generated part is of this contract, and covers it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

import netsim
from netsim._codec import _members

HERE = Path(__file__).parent.parent
CONTRACT = HERE.parent.parent / "api" / "openapi.yaml"
BY_HAND = {"FollowSimulation": "wait", "FollowStudy": "wait_study", "FollowEvents": "events", "UploadTraceset": "upload_traceset"}


def test_it_is_up_to_date(tmp_path: Path) -> None:
    subprocess.run([HERE / "generate", tmp_path], check=True, timeout=300)
    for file in ("models.py", "operations.py"):
        generated = (HERE / "src/netsim/_generated" / file).read_text()
        assert (tmp_path / file).read_text() == generated, f"{file} is of another contract: run ./generate"


def test_every_operation_is_a_method_and_every_write_has_a_key(client: netsim.Client) -> None:
    source = (HERE / "src/netsim/_generated/operations.py").read_text()
    calls = dict(re.findall(r"    def (\w+)\(.*?\n        return self\.(\w+)\(", source, re.S))
    for path in yaml.safe_load(CONTRACT.read_text())["paths"].values():
        for method, operation in path.items():
            if method == "parameters":
                continue
            name = operation["operationId"]
            attribute = BY_HAND.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
            assert hasattr(client, attribute), f"{name} is no method of the client"
            if name not in BY_HAND:
                reads = method == "get" or operation["x-netsim-access"].get("reads", False)
                assert (calls[attribute] == "write") != reads, f"{name} is sent by {calls[attribute]}"
                pages = {"$ref": "#/components/parameters/Next"} in operation.get("parameters", [])
                assert (calls[attribute] == "paged") == pages, f"{name} is sent by {calls[attribute]}"


def test_every_model_can_be_read() -> None:
    classes = [c for c in vars(netsim.models).values() if isinstance(c, type) and issubclass(c, netsim.Model) and c is not netsim.Model]
    assert len(classes) > 200
    for one in classes:
        _members(one)


