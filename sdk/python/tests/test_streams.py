"""Waiting for simulations, and the event feed, over connections that break."""

from __future__ import annotations

import datetime as dt
import json
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from conftest import SIMULATION, Pauses, Server, cut, refuse, reply, stream

import netsim
from netsim.errors import BadRequest, Unauthorized

SIM = SIMULATION["id"]
DONE = {**SIMULATION, "status": "completed"}


def event(number: int, status: str) -> str:
    data = {"simulationId": SIM, "at": "2026-11-21T08:30:10.125Z", "status": status}
    return f"id: {number}\nevent: status\ndata: {json.dumps(data)}\n\n"


def test_a_run_is_submitted_and_followed_to_its_end(server: Server, client: netsim.Client) -> None:
    accepted = {"simulationId": SIM, "status": "accepted", "mode": "sequential"}
    server.will(reply(202, accepted), stream(": alive\n\n", event(1, "running"), event(2, "completed")), reply(200, DONE))
    seen: list[str] = []
    ended = client.submit_and_wait({"workload": {}}, on_event=lambda e: seen.append(e.status))
    assert ended.status == "completed" and seen == ["running", "completed"]
    assert [r.path.rpartition("/")[2] for r in server.requests] == ["simulations", "events", SIM]


def test_a_stored_configuration_is_started(server: Server, client: netsim.Client) -> None:
    server.will(reply(201, SIMULATION), stream(event(2, "completed")), reply(200, DONE))
    start = netsim.models.SimulationStart(configuration_id="config_1", name="n", duration="1s")
    assert client.submit_and_wait(start).status == "completed"
    assert server.requests[0].path == "/api/v1/simulations"


def test_a_cut_stream_is_resumed_after_the_last_whole_event(server: Server, client: netsim.Client) -> None:
    server.will(
        stream(event(1, "running"), event(2, "completed")[:40], cut=True), reply(200, SIMULATION),
        stream(event(2, "completed")), reply(200, DONE),
    )  # fmt: skip
    assert client.wait(SIM).status == "completed"
    assert [r.headers.get("last-event-id") for r in server.requests if r.path.endswith("events")] == [None, "1"]


@pytest.mark.parametrize("failure", [refuse(429, retry_after="1"), refuse(503, retry_after="1"), refuse(500), cut(), reply(204)])
def test_without_a_stream_the_status_is_read(server: Server, client: netsim.Client, failure: Any) -> None:
    server.will(failure, reply(200, SIMULATION), failure, reply(200, DONE))
    assert client.wait(SIM).status == "completed"


def test_a_silent_stream_is_left_at_the_time_limit(server: Server, client: netsim.Client) -> None:
    hang, seen = threading.Event(), list[str]()
    server.will(stream(event(1, "running"), hang=hang, late=event(2, "completed")), reply(200, SIMULATION))
    with pytest.raises(netsim.WaitTimeout) as caught:
        client.wait(SIM, timeout=0.2, on_event=lambda e: seen.append(e.status))
    hang.set()
    assert caught.value.last.status == "running" and seen == ["running"]


def test_a_stream_that_does_not_end_is_left_at_the_time_limit(server: Server, client: netsim.Client) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for number in range(20_000):  # 20 s; the client is gone long before
            handler.wfile.write(event(number, "running").encode())
            time.sleep(0.001)
        ended.append(True)

    ended: list[bool] = []
    server.will(answer, reply(200, SIMULATION))
    with pytest.raises(netsim.WaitTimeout):
        client.wait(SIM, timeout=0.2)
    assert not ended


def test_a_missing_run_is_an_error(server: Server, client: netsim.Client) -> None:
    server.will(refuse(404))
    with pytest.raises(netsim.NotFound):
        client.wait(SIM)


def test_a_failed_run_raises_only_if_asked(server: Server, client: netsim.Client) -> None:
    failed = reply(200, {**SIMULATION, "status": "failed", "failureReason": "out of memory"})
    server.will(stream(event(1, "failed")), failed, stream(event(1, "failed")), failed)
    assert client.wait(SIM).status == "failed"
    with pytest.raises(netsim.RunFailed, match="out of memory"):
        client.wait(SIM, check=True)


def fact(number: int, **more: Any) -> str:
    base = {"specversion": "1.0", "id": f"e{number}", "source": "/netsim", "type": "netsim.workspace.updated.v1", "subject": "w",
            "time": "2026-11-21T08:30:10.125Z", "data": {"n": number}, "position": f"p{number}"}  # fmt: skip
    return json.dumps({**base, **more}, ensure_ascii=False) + "\n"


def mark(position: str, kind: str = "position") -> str:
    return json.dumps({"type": f"netsim.feed.{kind}", "position": position}) + "\n"


def test_a_feed_goes_on_where_it_was(server: Server, client: netsim.Client) -> None:
    server.will(
        stream(mark("p0"), fact(1), fact(2), fact(3)[:30], cut=True),
        refuse(503, retry_after="1"), cut(),
        stream(fact(3, subject="a\x85b\u2028c"), mark("p4"), mark("p5", "ended")),
        stream(fact(6)),
    )  # fmt: skip
    feed = client.events.follow(dt.datetime(2026, 11, 1, tzinfo=dt.UTC), types=["a", "b"])
    events = [next(feed) for _ in range(4)]
    assert events[2].subject == "a\x85b\u2028c"  # no ends of lines
    assert [e.id for e in events] == ["e1", "e2", "e3", "e6"] and events[0].data == {"n": 1}
    assert [r.headers.get("last-event-id") for r in server.requests] == [None, "p2", "p2", "p2", "p5"]
    assert [r.query.get("since") for r in server.requests] == [["2026-11-01T00:00:00+00:00"], None, None, None, None]
    assert server.requests[0].query["type"] == ["a", "b"]


def test_an_event_whose_handling_failed_comes_again(server: Server, client: netsim.Client, tmp_path: Path) -> None:
    store = netsim.FileStore(tmp_path / "position")
    server.will(stream(fact(1), fact(2)), stream(fact(2)))
    handled = []
    for e in client.events.follow(store=store):
        if e.id == "e2":
            break  # as an exception would
        handled.append(e.id)
    assert store.load() == "p1"
    handled.append(next(iter(client.events.follow(store=netsim.FileStore(tmp_path / "position")))).id)
    assert handled == ["e1", "e2"] and server.requests[-1].headers["last-event-id"] == "p1"


def test_a_silent_feed_is_reconnected(server: Server, client: netsim.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.events.SILENCE", 0.1)
    hang = threading.Event()
    server.will(stream(fact(1), hang=hang, late=fact(9)), stream(fact(2)))
    feed = client.events.follow()
    assert [next(feed).id, next(feed).id] == ["e1", "e2"]
    hang.set()


def test_a_position_that_is_refused_is_an_error(server: Server, client: netsim.Client) -> None:
    server.will(refuse(400, "the position is too old"))
    with pytest.raises(BadRequest):
        next(client.events.follow())


def test_a_feed_renews_its_token(server: Server, pauses: Pauses) -> None:
    tokens = iter(["old", "new", "last"])
    with netsim.Client(server.url, lambda: next(tokens)) as client:
        client._sleep = pauses
        server.will(stream(fact(1), mark("p1", "ended")), refuse(401), stream(fact(2)), refuse(401), refuse(401))
        feed = client.events.follow()
        assert [next(feed).id, next(feed).id] == ["e1", "e2"]
        with pytest.raises(Unauthorized):
            next(feed)
    assert [r.headers["authorization"] for r in server.requests] == [f"Bearer {t}" for t in ("old", "old", "new", "new", "last")]
