"""Uploads in parts; the server is the service and its object store."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from typing import Any

import pytest
from conftest import Answer, Server, cut, refuse, reply

import netsim
from netsim import uploads
from netsim.errors import ServerError, UploadFailed


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(uploads, "PART", 4)
    (tmp_path / "a.et").write_bytes(b"0123456789")
    (tmp_path / "b.et").write_bytes(b"abc")
    return [tmp_path / "a.et", tmp_path / "b.et"]


def session(server: Server, upload: str = "upload_1") -> Answer:
    links = {"a.et": 3, "b.et": 1}
    parts = [
        {"name": name, "parts": [{"partNumber": n, "url": f"{server.url}/{upload}/{name}/{n}"} for n in range(1, count + 1)]}
        for name, count in links.items()
    ]
    return reply(200, {"uploadId": upload, "checksumAlgorithm": "SHA256", "expiresAt": "2026-11-22T08:30:00.125Z", "files": parts})


def traceset(files: list[Path], **hashes: str) -> Answer:
    held = [
        {"name": f.name, "contentType": "application/octet-stream", "size": f.stat().st_size, "role": "primary", "metadataStatus": "pending",
         "hash": hashes.get(f.stem, "sha256:" + hashlib.sha256(f.read_bytes()).hexdigest())}
        for f in files
    ]  # fmt: skip
    return reply(201, {"id": "ts_1", "name": "ring", "tags": [], "status": "processing", "workspaceId": "w", "totalSize": 13,
                       "createdAt": "2026-11-21T08:30:00.125Z", "scope": "workspace", "files": held})  # fmt: skip


def put(etag: str) -> Answer:
    return reply(200, b"", etag=f'"{etag}"')


COMPLETED: dict[str, Any] = {
    "uploadId": "upload_1",
    "files": [
        {"name": "a.et", "parts": [{"partNumber": n, "etag": f'"{n}"'} for n in (1, 2, 3)]},
        {"name": "b.et", "parts": [{"partNumber": 1, "etag": '"4"'}]},
    ],
}


def test_files_go_in_parts_and_a_cut_part_goes_again(server: Server, client: netsim.Client, files: list[Path]) -> None:
    server.will(session(server), put("1"), cut(), refuse(503, retry_after="1"), put("2"), put("3"), put("4"), traceset(files))
    assert client.upload_traceset(files, name="ring", tags=["t"]).id == "ts_1"
    opened, *parts, completed = server.requests
    assert opened.json == {"name": "ring", "tags": ["t"], "files": [{"name": "a.et", "size": 10}, {"name": "b.et", "size": 3}]}
    assert [p.body for p in parts] == [b"0123", b"4567", b"4567", b"4567", b"89", b"abc"]
    assert all("authorization" not in p.headers for p in parts)
    assert completed.json == COMPLETED


def test_another_process_goes_on_with_what_is_left(server: Server, client: netsim.Client, files: list[Path], tmp_path: Path) -> None:
    resume = tmp_path / "upload.json"
    server.will(session(server), put("1"), put("2"), refuse(403))
    with pytest.raises(UploadFailed):
        client.upload_traceset(files, name="ring", resume=resume)
    assert stat.S_IMODE(resume.stat().st_mode) == 0o600
    server.requests.clear()
    server.will(put("3"), put("4"), traceset(files))
    assert client.upload_traceset(files, name="ring", resume=resume).id == "ts_1"
    assert [r.path for r in server.requests[:2]] == ["/upload_1/a.et/3", "/upload_1/b.et/1"]
    assert [r.body for r in server.requests[:2]] == [b"89", b"abc"]
    assert server.requests[2].json == COMPLETED and not resume.exists()


def test_an_upload_whose_links_have_expired_begins_again(server: Server, client: netsim.Client, files: list[Path], tmp_path: Path) -> None:
    resume = tmp_path / "upload.json"
    server.will(session(server, "upload_0"), put("1"), refuse(403))
    with pytest.raises(UploadFailed):
        client.upload_traceset(files, name="ring", resume=resume)
    key = server.requests[0].headers["idempotency-key"]
    server.requests.clear()
    server.will(refuse(403), session(server), put("1"), put("2"), put("3"), put("4"), traceset(files))
    assert client.upload_traceset(files, name="ring", resume=resume).id == "ts_1"
    assert server.requests[1].headers["idempotency-key"] != key and server.requests[-1].json == COMPLETED


def test_other_files_are_another_upload(server: Server, client: netsim.Client, files: list[Path], tmp_path: Path) -> None:
    resume = tmp_path / "upload.json"
    server.will(session(server, "upload_0"), put("1"), refuse(403))
    with pytest.raises(UploadFailed):
        client.upload_traceset(files, name="ring", resume=resume)
    files[1].write_bytes(b"xyz")
    server.will(session(server), put("1"), put("2"), put("3"), put("4"), traceset(files))
    client.upload_traceset(files, name="ring", resume=resume)
    assert server.requests[-1].json == COMPLETED


def test_bytes_that_changed_on_the_way_are_an_error(server: Server, client: netsim.Client, files: list[Path]) -> None:
    server.will(session(server), put("1"), put("2"), put("3"), put("4"), traceset(files, a="sha256:" + "0" * 64))
    with pytest.raises(UploadFailed, match="a.et is stored as"):
        client.upload_traceset(files, name="ring")


def test_an_assembly_that_takes_long_is_waited_for(server: Server, client: netsim.Client, files: list[Path]) -> None:
    slow = [refuse(503, retry_after="20")] * 5
    server.will(session(server), put("1"), put("2"), put("3"), put("4"), *slow, refuse(503))
    with pytest.raises(ServerError) as caught:
        client.upload_traceset(files, name="ring")
    keys = {r.headers["idempotency-key"] for r in server.requests[5:]}
    assert not caught.value.temporary and len(server.requests) == 11 and len(keys) == 1


def test_two_files_of_one_name_are_refused(client: netsim.Client, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same name"):
        client.upload_traceset([tmp_path / "x" / "a.et", tmp_path / "y" / "a.et"], name="ring")
