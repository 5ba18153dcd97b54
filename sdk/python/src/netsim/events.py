"""The event feed: every change that the caller may see, as it is recorded."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from ._http import Transport, lines
from .errors import ApiError, ConnectionFailed, ServerError, UnexpectedResponse

SILENCE = 45.0
"""Seconds without a line after which a feed is taken for dead; the service sends one every 15 s."""


@dataclass(frozen=True)
class Event:
    """A CloudEvents 1.0 event of netsim. ``attributes`` has all its members as they came."""

    id: str
    type: str
    source: str
    subject: str
    time: dt.datetime | None
    data: Any
    attributes: Mapping[str, Any]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        time = value.get("time")
        return cls(
            id=value["id"], type=value["type"], source=value["source"], subject=value.get("subject", ""),
            time=None if time is None else dt.datetime.fromisoformat(time), data=value.get("data"), attributes=value,
        )  # fmt: skip


class Store(Protocol):
    """Where a feed's position is kept."""

    def load(self) -> str | None: ...

    def save(self, position: str) -> None: ...


class FileStore:
    """Keeps a position in a file, which is replaced whole."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def load(self) -> str | None:
        return self._path.read_text().strip() or None if self._path.exists() else None

    def save(self, position: str) -> None:
        part = self._path.with_name(self._path.name + ".part")
        with part.open("w") as file:
            file.write(position)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)


class MemoryStore:
    """Keeps a position as long as the program runs."""

    position: str | None = None

    def load(self) -> str | None:
        return self.position

    def save(self, position: str) -> None:
        self.position = position


class Feed:
    """``client.events``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def follow(
        self,
        since: dt.datetime | None = None,
        store: Store | None = None,
        *,
        types: Sequence[str] | None = None,
        family: str | None = None,
        stream: str | None = None,
        workspace: str | None = None,
        account: str | None = None,
    ) -> Iterator[Event]:
        """Gives the events from the position in ``store`` on, else those since a time, else new ones, without end.

        The position of an event is saved when the next one is asked for, so an event whose
        handling failed comes again: each comes at least once. A feed that is cut, silent or
        refused for a while goes on at the last position. A refusal that stays is an ApiError;
        a position that the service does not take any more is a BadRequest.
        """
        store = store or MemoryStore()
        filters = {"type": types, "family": family, "stream": stream, "workspace": workspace, "account": account}
        failures = 0
        while True:
            position, pause = store.load(), None
            query = filters if position else {**filters, "since": since}
            headers = {"Accept": "application/x-ndjson", **({"Last-Event-ID": position} if position else {})}
            try:
                with self._transport.stream("/api/v1/events", query=query, headers=headers, silence=SILENCE) as response:
                    for line in lines(response):
                        message = json.loads(line)
                        if message["type"] not in ("netsim.feed.position", "netsim.feed.ended"):
                            yield Event.from_json(message)
                        store.save(message["position"])
                        failures = 0
            except ConnectionFailed:
                pass
            except ApiError as e:
                if not (e.temporary or isinstance(e, ServerError)):
                    raise
                pause = e.retry_after
            except (ValueError, LookupError) as e:
                raise UnexpectedResponse(f"the feed has a line that is no event: {e}") from e
            self._transport._sleep(self._transport._retries.pause(failures, pause))
            failures += 1
