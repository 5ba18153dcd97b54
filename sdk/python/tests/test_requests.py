"""Repeats, keys, tokens, preconditions and errors."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path

import pytest
from conftest import SIMULATION, WORKSPACE, Pauses, Server, cut, refuse, reply

import netsim
from netsim._http import Consistency
from netsim.errors import BadRequest, ConnectionFailed, ServerError, Unauthorized, UnexpectedResponse

WS = WORKSPACE["id"]


@pytest.mark.parametrize(
    "failure",
    [refuse(503, retry_after="2"), refuse(429, retry_after="2"), refuse(409, retry_after="2"), cut(), cut(b'{"id": '), reply(503, b"<html>"), reply(502, b"<html>")],
    ids=["503", "429", "busy", "lost", "half an answer", "503 of a proxy", "502 of a proxy"],
)
def test_a_write_is_repeated_with_its_key(server: Server, client: netsim.Client, pauses: Pauses, failure: object) -> None:
    server.will(failure, failure, reply(201, WORKSPACE))  # type: ignore[arg-type]
    assert client.create_workspace(netsim.models.WorkspaceCreate(name="research")).name == "research"
    keys = [r.headers["idempotency-key"] for r in server.requests]
    assert len(keys) == 3 and len(set(keys)) == 1
    assert [r.json for r in server.requests] == [{"name": "research"}] * 3
    assert len(pauses.seconds) == 2


def test_each_logical_write_has_a_key_of_its_own_or_that_of_the_caller(server: Server, client: netsim.Client) -> None:
    server.will(*[reply(201, WORKSPACE)] * 3)
    client.create_workspace({"name": "a"})
    client.create_workspace({"name": "a"})
    client.create_workspace({"name": "a"}, idempotency_key="mine")
    first, second, third = (r.headers["idempotency-key"] for r in server.requests)
    assert first != second and third == "mine"


def test_retry_after_is_waited_for_before_the_jitter(server: Server, client: netsim.Client, pauses: Pauses) -> None:
    server.will(refuse(503, retry_after="7"), refuse(429, retry_after="3"), reply(200, SIMULATION))
    client.get_simulation("sim_1")
    first, second = pauses.seconds
    assert 7 <= first <= 7.2 and 3 <= second <= 3.4


def test_a_date_in_retry_after_counts_from_the_date_of_the_answer(server: Server, client: netsim.Client, pauses: Pauses) -> None:
    def answer(handler: object) -> None:
        handler.date_time_string = lambda: "Sat, 01 Jan 2000 00:00:00 GMT"  # type: ignore[attr-defined]
        refuse(503, retry_after="Sat, 01 Jan 2000 00:00:04 GMT")(handler)  # type: ignore[arg-type]

    server.will(answer, reply(200, SIMULATION))
    client.get_simulation("sim_1")
    assert 4 <= pauses.seconds[0] <= 4.2


@pytest.mark.parametrize("status", [500, 503, 409, 400])
def test_a_final_refusal_is_not_repeated(server: Server, client: netsim.Client, status: int) -> None:
    server.will(refuse(status), reply(200, SIMULATION))
    with pytest.raises(netsim.ApiError):
        client.get_simulation("sim_1")
    assert len(server.requests) == 1


def test_repeats_are_bounded_in_number(server: Server, client: netsim.Client) -> None:
    server.will(*[cut()] * 20)
    with pytest.raises(ConnectionFailed):
        client.get_simulation("sim_1")
    assert len(server.requests) == netsim.Retries().attempts


def test_repeats_are_bounded_in_time(server: Server, client: netsim.Client) -> None:
    server.will(refuse(429, "uploads of the day", "RATE_LIMITED", retry_after="3600"))
    with pytest.raises(netsim.RateLimited) as caught:
        client.create_workspace({"name": "a"})
    assert caught.value.retry_after == 3600 and len(server.requests) == 1


def test_a_token_that_expires_is_renewed(server: Server, pauses: Pauses) -> None:
    tokens = iter(["old", "new"])
    with netsim.Client(server.url, lambda: next(tokens)) as client:
        server.will(reply(200, SIMULATION), refuse(401), reply(200, SIMULATION), reply(200, SIMULATION))
        for _ in range(3):
            client.get_simulation("sim_1")
    assert [r.headers["authorization"] for r in server.requests] == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"]


def test_a_fresh_token_that_is_refused_is_an_error(server: Server) -> None:
    with netsim.Client(server.url, lambda: "t") as client:
        server.will(refuse(401), refuse(401))
        with pytest.raises(Unauthorized):
            client.get_simulation("sim_1")
    assert len(server.requests) == 2


def test_reads_show_what_was_written(server: Server, client: netsim.Client) -> None:
    server.will(
        reply(200, SIMULATION),
        reply(201, WORKSPACE, consistency_token="w1"),
        reply(201, WORKSPACE, consistency_token="w2"),
        reply(200, SIMULATION, consistency_token="r"),
        reply(201, WORKSPACE, consistency_token="w3"),
        reply(200, SIMULATION),
    )
    client.get_simulation("sim_1")
    client.create_workspace({"name": "a"})
    client.create_workspace({"name": "b"})
    client.get_simulation("sim_1")
    client.create_workspace({"name": "c"})
    client.get_simulation("sim_1")
    assert [r.headers.get("consistency-token") for r in server.requests] == [None, None, None, "w1,w2", None, "r,w3"]


def test_a_write_of_another_thread_during_a_read_is_not_forgotten() -> None:
    seen = Consistency()
    seen.wrote("w1")
    asked = seen.header()["Consistency-Token"]
    seen.wrote("w2")
    seen.read(asked, "r")
    assert seen.header() == {"Consistency-Token": "r,w2"}


def test_more_writes_than_a_request_may_name_are_read_where_every_write_is(server: Server, client: netsim.Client) -> None:
    server.will(*[reply(201, WORKSPACE, consistency_token=f"w{i}") for i in range(17)], reply(200, SIMULATION))
    for i in range(17):
        client.create_workspace({"name": "a"})
    client.get_simulation("sim_1")
    assert "consistency-token" not in server.requests[-1].headers


@pytest.mark.parametrize("version", [4, "4", '"4"'])
def test_if_match_names_a_version(server: Server, client: netsim.Client, version: int | str) -> None:
    server.will(reply(200, WORKSPACE))
    client.update_workspace(WS, {"name": "b"}, if_match=version)
    assert server.requests[0].headers["if-match"] == '"4"'


def test_if_match_takes_what_was_read_and_a_conflict_has_the_current_version(server: Server, client: netsim.Client) -> None:
    message = 'if-match does not name the current version "5"'
    server.will(reply(200, WORKSPACE, etag='"4"'), refuse(412, message, "PRECONDITION_FAILED"))
    workspace = client.get_workspace(WS)
    with pytest.raises(netsim.Conflict) as caught:
        client.update_workspace(WS, {"name": "b"}, if_match=workspace)
    assert server.requests[1].headers["if-match"] == '"4"'
    assert (caught.value.current_version, caught.value.status) == ("5", 412)


def test_an_error_has_what_the_answer_says(server: Server, client: netsim.Client) -> None:
    message = "workload.phases[0].dataSize must be between 1 and 1099511627776, got 0"
    server.will(refuse(400, message, "VALIDATION_ERROR"))
    with pytest.raises(BadRequest) as caught:
        client.submit_simple({})
    error = caught.value
    assert (error.status, error.code, error.message, error.field) == (400, "VALIDATION_ERROR", message, "workload.phases[0].dataSize")
    assert error.request_id == "req-1" and error.retry_after is None and error.response.json()["error"]["message"] == message


@pytest.mark.parametrize(("status", "kind"), [(402, "PaymentRequired"), (403, "Forbidden"), (404, "NotFound"), (410, "Gone"), (418, "ApiError"), (422, "Unprocessable")])
def test_each_status_has_its_error(server: Server, client: netsim.Client, status: int, kind: str) -> None:
    server.will(reply(status, b"<html>"))
    with pytest.raises(netsim.ApiError) as caught:
        client.get_simulation("sim_1")
    assert type(caught.value).__name__ == kind and caught.value.code is None


def test_a_page_of_a_proxy_is_no_answer(server: Server, client: netsim.Client) -> None:
    server.will(reply(200, b"<html>", content_type="text/html"), reply(200, {"id": 1}))
    for _ in range(2):
        with pytest.raises(UnexpectedResponse):
            client.get_simulation("sim_1")


def test_the_raw_response_is_reachable(server: Server, client: netsim.Client) -> None:
    server.will(reply(200, {**SIMULATION, "novelty": 1}))
    assert client.get_simulation("sim_1").http.json()["novelty"] == 1


def test_a_stop_without_a_body_is_none(server: Server, client: netsim.Client) -> None:
    server.will(reply(202))
    assert client.terminate_simulation("sim_1") is None


def test_a_service_that_does_not_answer_is_no_hang(server: Server, pauses: Pauses) -> None:
    done = threading.Event()
    server.will(*[lambda _: None if done.wait() else None] * 2)
    with netsim.Client(server.url, "t", timeout=0.05, retries=netsim.Retries(attempts=2)) as client:
        client._sleep = pauses
        with pytest.raises(ConnectionFailed):
            client.get_simulation("sim_1")
    done.set()
    assert len(server.requests) == 2


def test_a_download_is_whole_or_not_there(server: Server, client: netsim.Client, tmp_path: Path) -> None:
    day = dt.date(2026, 11, 1)
    download = client.get_focus_dataset(start_date=day, end_date=day)
    server.will(cut(b"BilledCost"), cut(b"BilledCost"), reply(200, b"BilledCost\n"), reply(200, b"BilledCost\n"), refuse(422))
    with pytest.raises(ConnectionFailed):
        download.save(tmp_path / "focus.csv")
    assert not (tmp_path / "focus.csv").exists()
    assert download.read() == b"BilledCost\n"
    assert download.save(tmp_path / "focus.csv").read_bytes() == b"BilledCost\n"
    with pytest.raises(netsim.ApiError):
        b"".join(download)
    assert server.requests[0].query == {"startDate": ["2026-11-01"], "endDate": ["2026-11-01"]}


def test_the_environment_names_the_service(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETSIM_URL", server.url + "/")
    monkeypatch.setenv("NETSIM_TOKEN", "t")
    server.will(reply(200, SIMULATION))
    netsim.Client().get_simulation("a/b")
    assert server.requests[0].path == "/api/v1/simulations/a%2Fb" and server.requests[0].headers["authorization"] == "Bearer t"
    monkeypatch.delenv("NETSIM_URL")
    with pytest.raises(ValueError, match="NETSIM_URL"):
        netsim.Client()


def test_server_errors_are_one_kind() -> None:
    assert issubclass(ServerError, netsim.ApiError) and issubclass(netsim.ApiError, netsim.NetsimError)
