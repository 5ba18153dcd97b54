"""Uploads of tracesets: in parts, each repeated when it was cut, resumed by another process, checked at the end."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._generated import models
from ._generated.operations import Operations
from .errors import ApiError, Gone, NotFound, ServerError, UploadFailed

PART = 16 << 20
"""Bytes of each part but the last one of a file."""

_ASSEMBLY = 3600.0  # seconds that the service may take to put the parts of an upload together


def upload(
    client: Operations, files: Sequence[str | os.PathLike[str]], about: dict[str, Any], resume: str | os.PathLike[str] | None
) -> models.Traceset:
    """Uploads files as one traceset; ``Client.upload_traceset`` describes it."""
    paths = {Path(file).name: Path(file) for file in files}
    if len(paths) != len(files):
        raise ValueError("two of the files have the same name")
    wanted = {
        "about": about,
        "files": [{"name": name, "size": path.stat().st_size, "hash": _hash(path)} for name, path in paths.items()],
    }
    state = _State(Path(resume) if resume else None, wanted)
    if state.resumed:
        try:
            return _finish(client, paths, state)
        except (UploadFailed, NotFound, Gone):
            state.forget()  # its links or its session have expired
    return _finish(client, paths, state)


def _finish(client: Operations, paths: dict[str, Path], state: _State) -> models.Traceset:
    if "uploadId" not in state.doc:
        _open(client, state)
    for file in state.wanted["files"]:
        links, etags = state.doc["links"][file["name"]], state.doc["etags"].setdefault(file["name"], {})
        with paths[file["name"]].open("rb") as content:
            for number, link in links.items():
                if number not in etags:
                    content.seek((int(number) - 1) * PART)
                    etags[number] = _put(client, link, content.read(PART))
                    state.save()
    traceset = _complete(client, state)
    state.forget()
    stored = {file.name: file.hash for file in traceset.files}
    for file in state.wanted["files"]:
        if stored.get(file["name"]) not in (None, "", file["hash"]):
            raise UploadFailed(f"{file['name']} is stored as {stored[file['name']]}, but is {file['hash']} here")
    return traceset


def _open(client: Operations, state: _State) -> None:
    files = [{"name": f["name"], "size": f["size"]} for f in state.wanted["files"]]
    session = client.open_traceset_upload({**state.wanted["about"], "files": files}, idempotency_key=state.doc["key"])
    state.doc["uploadId"] = session.upload_id
    state.doc["links"] = {f.name: {str(p.part_number): p.url for p in f.parts} for f in session.files}
    state.save()


def _put(client: Operations, link: str, part: bytes) -> str:
    try:
        response = client.repeated(lambda: client._http.put(link, content=part))
    except ApiError as e:
        raise UploadFailed(f"the object store refused a part: {e.status} {e.response.text[:200]}") from e
    return str(response.headers["etag"])


def _complete(client: Operations, state: _State) -> models.Traceset:
    named = [
        {"name": name, "parts": [{"partNumber": int(n), "etag": etag} for n, etag in etags.items()]}
        for name, etags in state.doc["etags"].items()
    ]
    began = time.monotonic()
    while True:
        try:
            body = {"uploadId": state.doc["uploadId"], "files": named}
            return client.complete_traceset_upload(body, idempotency_key=state.doc["key"] + "-complete")
        except ServerError as e:  # the service goes on meanwhile
            if not e.temporary or time.monotonic() - began > _ASSEMBLY:
                raise


class _State:
    """What of an upload is done, in a file if it has a path."""

    def __init__(self, path: Path | None, wanted: dict[str, Any]) -> None:
        self._path, self.wanted = path, wanted
        self.doc = self._beginning()
        if path and path.exists():
            doc = json.loads(path.read_text())
            if doc["wanted"] == wanted:
                self.doc = doc
        self.resumed = "uploadId" in self.doc

    def _beginning(self) -> dict[str, Any]:
        return {"wanted": self.wanted, "key": str(uuid.uuid4()), "etags": {}}

    def save(self) -> None:
        if self._path:
            part = self._path.with_name(self._path.name + ".part")
            part.touch(mode=0o600)  # the links need no token
            part.write_text(json.dumps(self.doc))
            part.replace(self._path)

    def forget(self) -> None:
        if self._path:
            self._path.unlink(missing_ok=True)
        self.doc = self._beginning()


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
