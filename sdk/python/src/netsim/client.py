"""The client of netsim: every operation of the contract, and what programs do with several of them."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar

from ._codec import encode
from ._generated import models
from ._generated.operations import Operations
from ._http import JSON, lines, segment
from ._tables import Rows
from .errors import ApiError, ConnectionFailed, RunFailed, ServerError, WaitTimeout
from .events import Feed
from .uploads import upload

R = TypeVar("R", models.Simulation, models.Study)

FINAL = frozenset({"completed", "failed", "terminated", "invalid"})
"""The statuses that a simulation keeps."""

SILENCE = 30.0
"""Seconds without a line after which the stream of a simulation is taken for dead; the status is read instead."""


class Client(Operations):
    """A client of the service at ``base_url`` (NETSIM_URL), with ``token`` (NETSIM_TOKEN).

    Its methods have the names of the operations: ``get_simulation`` and so on. Bodies are
    the classes of ``netsim.models``, or mappings as the contract describes them. Lists are
    iterated over by item. A refusal is an ``ApiError``.
    """

    @cached_property
    def events(self) -> Feed:
        """The event feed of the service."""
        return Feed(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit_and_wait(
        self,
        body: models.SimpleSubmission | models.SimulationStart | JSON,
        *,
        timeout: float | None = None,
        check: bool = False,
        on_event: Callable[[models.SimulationEvent], object] | None = None,
        idempotency_key: str | None = None,
    ) -> models.Simulation:
        """Submits a workload, or starts a stored configuration, and waits for the end as ``wait`` does."""
        wire = encode(body)
        if "configurationId" in wire:
            simulation_id = self.start_simulation(wire, idempotency_key=idempotency_key).id
        else:
            simulation_id = self.submit_simple(wire, idempotency_key=idempotency_key).simulation_id
        return self.wait(simulation_id, timeout=timeout, check=check, on_event=on_event)

    def wait(
        self,
        simulation: str | models.Simulation | models.SimpleAccepted,
        *,
        timeout: float | None = None,
        check: bool = False,
        on_event: Callable[[models.SimulationEvent], object] | None = None,
    ) -> models.Simulation:
        """Waits until a simulation has ended, and returns it.

        It follows the simulation's events, which ``on_event`` gets, and reads its status when
        that is not possible. WaitTimeout after ``timeout`` seconds; with ``check``, RunFailed
        if it did not complete.
        """
        match simulation:
            case models.Simulation():
                simulation = simulation.id
            case models.SimpleAccepted():
                simulation = simulation.simulation_id
        path, seen = f"/api/v1/simulations/{segment(simulation)}/events", on_event or (lambda _: None)

        def event(value: Mapping[str, Any]) -> bool:
            seen(one := models.SimulationEvent.from_dict(value))
            return one.status in FINAL

        ended = self._wait(path, event, lambda: self.get_simulation(simulation), lambda s: s.status in FINAL, timeout)
        if check and ended.status != "completed":
            raise RunFailed(ended)
        return ended

    def wait_study(
        self,
        study: str | models.Study,
        *,
        timeout: float | None = None,
        on_event: Callable[[models.StudyEvent], object] | None = None,
    ) -> models.Study:
        """Waits until a study is ``completed`` or ``terminated``, and returns it, as ``wait`` does for a simulation."""
        study_id = study if isinstance(study, str) else study.id
        path, seen = f"/api/v1/studies/{segment(study_id)}/events", on_event or (lambda _: None)

        def event(value: Mapping[str, Any]) -> bool:
            seen(one := models.StudyEvent.from_dict(value))
            return one.status != "running"

        return self._wait(path, event, lambda: self.get_study(study_id), lambda s: s.status != "running", timeout)

    def _wait(
        self,
        path: str,
        event: Callable[[Mapping[str, Any]], bool],
        get: Callable[[], R],
        ended: Callable[[R], bool],
        timeout: float | None,
    ) -> R:
        began, failures, last = time.monotonic(), 0, ""
        left: Callable[[], float] = lambda: float("inf") if timeout is None else began + timeout - time.monotonic()
        while True:
            try:
                headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
                with self.stream(path, headers=headers, silence=max(0.1, min(SILENCE, left()))) as response:
                    for last, data in _events(lines(response)):
                        failures = 0
                        if event(json.loads(data)) or left() <= 0:
                            break
            except ConnectionFailed:
                pass
            except ApiError as e:
                if not (e.temporary or isinstance(e, ServerError)):
                    raise
            if ended(resource := get()):
                return resource
            if left() <= 0:
                raise WaitTimeout(f"{path.split('/')[-2]} has not ended after {timeout} s", resource)
            self._sleep(max(0.0, min(self._retries.pause(failures), left())))
            failures += 1

    def upload_traceset(
        self,
        files: Sequence[str | os.PathLike[str]],
        *,
        name: str,
        workspace_id: str | None = None,
        description: str | None = None,
        tags: Sequence[str] | None = None,
        ttl_days: int | None = None,
        workload_metadata: models.WorkloadMetadata | JSON | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> models.Traceset:
        """Uploads files as one traceset, in parts of 16 MiB, and returns it, in ``processing``.

        A part whose upload was cut is sent again. With ``resume``, a file that keeps what is
        done, a later call with the same arguments goes on where this one ended. UploadFailed if
        the object store refuses a part, or the service has another SHA-256 of a file.
        """
        about = {
            "name": name, "workspaceId": workspace_id, "description": description, "ttlDays": ttl_days,
            "tags": None if tags is None else list(tags), "workloadMetadata": encode(workload_metadata),
        }  # fmt: skip
        return upload(self, files, {key: value for key, value in about.items() if value is not None}, resume)

    def wait_traceset(self, traceset: str | models.Traceset, *, timeout: float | None = None) -> models.Traceset:
        """Waits until the files of a traceset were looked at: it is then ``ready``, ``upload_failed`` or ``metadata_failed``."""
        began, reads = time.monotonic(), 0
        traceset_id = traceset if isinstance(traceset, str) else traceset.id
        while (current := self.get_traceset(traceset_id)).status in ("uploading", "processing"):
            if timeout is not None and time.monotonic() - began > timeout:
                raise WaitTimeout(f"{traceset_id} is not ready after {timeout} s", current)
            self._sleep(min(1.0, 0.05 * 2**reads))
            reads += 1
        return current

    def result_rows(self, simulation: str | models.Simulation, record: str) -> Rows:
        """The rows of a record family of a simulation's results, such as ``perf`` or ``nd-stats``, from its CSV files."""
        sim_id = simulation if isinstance(simulation, str) else simulation.id

        def read() -> Iterator[dict[str, Any]]:
            for file in sorted(self.get_results(sim_id, metrics=record, type="csv"), key=lambda f: f.name):
                yield from _csv(self.result_file(sim_id, file.name))

        return Rows(read)

    def result_file(self, simulation: str | models.Simulation, name: str) -> bytes:
        """The bytes of a file of a simulation's results, such as ``summary.json``."""
        sim_id = simulation if isinstance(simulation, str) else simulation.id
        link = self.get_result_download(sim_id, file_name=name).download_url
        return self.repeated(lambda: self._http.get(link)).content


def _events(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The ids and data of server-sent events; one that was cut is left out."""
    last, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            last = value
        elif field == "data":
            data += value
        elif not line and data:
            yield last, data
            data = ""


def _csv(content: bytes) -> Iterator[dict[str, Any]]:
    for row in csv.DictReader(io.StringIO(content.decode())):
        yield {column: _number(value) for column, value in row.items()}


def _number(text: str) -> int | float | str | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None
