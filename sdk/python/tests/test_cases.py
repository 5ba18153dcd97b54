"""The table of bad days, ../cases, which every SDK passes: a service behind a proxy that misbehaves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

import netsim

pytestmark = pytest.mark.cases
TABLE = Path(__file__).parent.parent.parent / "cases" / "cases.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text())["cases"] if TABLE.exists() else []


class Runner:
    """A client of the proxy, which counts how often it asks for a token."""

    def __init__(self, case: dict[str, Any], tmp_path: Path) -> None:
        self.case, self.tmp_path = case, tmp_path
        self.proxy, self.tokens = os.environ["SDK_PROXY"], 0
        self.client = self.new_client()
        self.elapsed = 0.0

    def new_client(self) -> netsim.Client:
        def token() -> str:
            self.tokens += 1
            return os.environ["NETSIM_TOKEN"]

        return netsim.Client(self.proxy, token)

    def arm(self) -> None:
        """From here on the faults happen and the log counts."""
        for resource in ("__case", "__log"):
            httpx2.delete(f"{self.proxy}/{resource}").raise_for_status()
        for fault in self.case["faults"]:
            httpx2.post(f"{self.proxy}/__case", json=fault).raise_for_status()
        self.began = time.monotonic()

    def passed(self) -> None:
        """What the table says of the requests that passed the proxy."""
        assert time.monotonic() - self.began >= self.case.get("atLeastSeconds", 0)
        log: list[dict[str, Any]] = httpx2.get(f"{self.proxy}/__log").json()
        for row in self.case["passed"]:
            found = [r for r in log if r["method"] == row["method"] and re.search(row["path"], r["path"])]
            assert len(found) >= row.get("atLeast", 0), (row, log)
            assert len(found) == row.get("requests", len(found)), (row, log)
            for member, count in row.get("distinct", {}).items():
                assert len({r[member] for r in found}) == count, (row, log)

    def create_workspace(self) -> None:
        name = f"case-{uuid.uuid4()}"
        self.arm()
        assert self.client.create_workspace({"name": name}).name == name
        assert [w.name for w in self.client.list_workspaces(search=name)] == [name]
        assert self.tokens == (2 if self.case["name"].startswith("token") else 1)

    def create_workspace_refused(self) -> None:
        name = f"case-{uuid.uuid4()}"
        self.arm()
        with pytest.raises(netsim.ApiError) as caught:
            self.client.create_workspace({"name": name})
        assert caught.value.status == self.case["status"]
        assert caught.value.code == self.case["faults"][0]["code"]

    def update_with_an_old_version(self) -> None:
        workspace = self.client.create_workspace({"name": f"case-{uuid.uuid4()}"})
        self.arm()
        renamed = self.client.update_workspace(workspace.id, {"name": f"case-{uuid.uuid4()}"}, if_match=workspace)
        with pytest.raises(netsim.Conflict) as caught:
            self.client.update_workspace(workspace.id, {"name": "another"}, if_match=workspace)
        assert (caught.value.status, f'"{caught.value.current_version}"') == (412, renamed.http.headers["etag"])
        assert self.client.get_workspace(workspace.id).name == renamed.name

    def submit_and_wait(self) -> None:
        self.arm()
        workload = {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1 << 20}]}
        assert self.client.submit_and_wait({"workload": workload}, timeout=60).status == "completed"

    def follow_ten_workspaces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("netsim.events.SILENCE", 1.0 if "silent" in self.case["name"] else 45.0)
        names = [f"case-{uuid.uuid4()}" for _ in range(10)]
        since = self.client.create_workspace({"name": f"case-{uuid.uuid4()}"}).created_at
        created = [self.client.create_workspace({"name": name}).id for name in names]
        self.arm()
        seen: list[str] = []
        for event in self.client.events.follow(since, types=["netsim.workspace.created.v1"]):
            seen += [event.subject] if event.subject in created else []
            if len(set(seen)) == len(created):
                break
        assert sorted(seen) == sorted(created)

    def files(self) -> list[Path]:
        sizes = {"a.0.et": (16 << 20) + 1000, "a.1.et": 4096}
        for name, size in sizes.items():
            (self.tmp_path / name).write_bytes(os.urandom(size))
        return [self.tmp_path / name for name in sizes]

    def upload_two_files(self) -> None:
        files = self.files()
        self.arm()
        self.whole(self.client.upload_traceset(files, name=f"case-{uuid.uuid4()}"), files)

    def upload_two_files_in_two_processes(self) -> None:
        files, name, resume = self.files(), f"case-{uuid.uuid4()}", self.tmp_path / "upload.json"
        self.arm()
        with pytest.raises(netsim.ApiError) as caught:
            self.client.upload_traceset(files, name=name, resume=resume)
        assert caught.value.status == 500
        self.whole(self.new_client().upload_traceset(files, name=name, resume=resume), files)

    def whole(self, traceset: netsim.models.Traceset, files: list[Path]) -> None:
        stored = {f.name: (f.size, f.hash) for f in traceset.files}
        assert stored == {f.name: (f.stat().st_size, "sha256:" + hashlib.sha256(f.read_bytes()).hexdigest()) for f in files}


def test_the_table_is_here() -> None:
    assert CASES, f"{TABLE} is missing or empty"
    assert "SDK_PROXY" in os.environ, "SDK_PROXY is not set; leave these tests out with: -m 'not cases'"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_bad_day(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(case, tmp_path)
    run: Callable[..., None] = getattr(runner, case["run"].replace("-", "_"))
    run(monkeypatch) if case["run"].startswith("follow") else run()
    runner.passed()
