"""Lists, rows, and what JSON becomes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from conftest import SIMULATION, Server, refuse, reply

import netsim
from netsim import models
from netsim.errors import UnexpectedResponse


def page(numbers: range, cursor: str | None = None) -> Any:
    pagination = {"count": len(numbers), "hasMore": cursor is not None, **({"nextCursor": cursor} if cursor else {})}
    return reply(200, {"simulations": [{**SIMULATION, "name": f"s{n}"} for n in numbers], "pagination": pagination})


def test_a_list_is_iterated_by_item_and_read_as_it_is_used(server: Server, client: netsim.Client) -> None:
    server.will(page(range(0, 2), "c1"), page(range(2, 4), "c2"), page(range(4, 5)))
    items = iter(client.list_simulations(status="running", limit=2, created_after=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)))
    assert [next(items).name, next(items).name] == ["s0", "s1"] and len(server.requests) == 1
    assert [s.name for s in items] == ["s2", "s3", "s4"]
    assert [r.query.get("next") for r in server.requests] == [None, ["c1"], ["c2"]]
    assert server.requests[2].query["status"] == ["running"] and server.requests[0].query["createdAfter"] == ["2026-01-01T00:00:00+00:00"]


def test_a_list_can_be_iterated_again_and_shows_its_pages(server: Server, client: netsim.Client) -> None:
    server.will(page(range(1)), page(range(1)), page(range(1), "c"))
    simulations = client.list_simulations()
    assert len(list(simulations)) == len(list(simulations)) == 1
    assert simulations.page().pagination.next_cursor == "c"


def test_a_cursor_that_expired_is_an_error(server: Server, client: netsim.Client) -> None:
    server.will(page(range(1), "c"), refuse(400, "the cursor has expired"))
    with pytest.raises(netsim.ApiError, match="expired"):
        list(client.list_simulations())


RESULTS: dict[str, Any] = {
    "studyId": "study_1",
    "pagination": {"count": 2, "hasMore": False},
    "results": [
        {"point": 0, "inputs": {"workload.ranks": 8}, "status": "completed", "shared": False,
         "fabric": {"price": "378720", "powerWatts": "4492.8", "switches": 1, "nics": 8, "links": 8}},
        {"point": 1, "inputs": {"workload.ranks": 16}, "status": "waiting", "shared": False, "stoppedBy": 0},
    ],
}  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_rows_are_tables_of_the_libraries(server: Server, client: netsim.Client, library: str) -> None:
    server.will(reply(200, RESULTS))
    table: Any = getattr(client.get_study_results("study_1"), f"to_{library}")()
    columns = table.column_names if library == "arrow" else list(table.columns)
    assert {"point", "inputs.workload.ranks", "fabric.price", "stopped_by"} <= set(columns)
    ranks = table["inputs.workload.ranks"]
    assert (ranks.to_pylist() if library == "arrow" else list(ranks)) == [8, 16]
    prices = table["fabric.price"]
    assert (prices.to_pylist() if library == "arrow" else list(prices))[0] == Decimal("378720")


def test_a_missing_library_is_named(server: Server, client: netsim.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    server.will(reply(200, RESULTS))
    with pytest.raises(ImportError, match="polars"):
        client.get_study_results("study_1").to_polars()


def test_json_becomes_the_types_of_python() -> None:
    simulation = models.Simulation.from_dict({**SIMULATION, "status": "paused", "novelty": {"x": 1}})
    assert simulation.created_at == dt.datetime(2026, 11, 21, 8, 30, 0, 125000, tzinfo=dt.UTC)
    assert simulation.status == "paused" and simulation.started_at is None
    fabric = models.StudyFabric.from_dict({"price": "0.10", "powerWatts": "4492.8", "switches": 1, "nics": 8, "links": 8})
    assert fabric.price + Decimal("0.20") == Decimal("0.30")
    assert fabric.to_dict()["price"] == "0.10"


def test_a_null_is_none_and_amounts_in_maps_are_exact() -> None:
    total = {"total": "1.5", "byRate": {"cluster": "1.5"}, "byWorkspace": {}}
    summary = models.CostSummary.from_dict({"startDate": "2026-11-01", "endDate": "2026-11-30", "CREDIT": total, "USD": None})
    assert summary.usd is None and summary.credit is not None
    assert summary.credit.by_rate == {"cluster": Decimal("1.5")} and summary.start_date == dt.date(2026, 11, 1)


def test_bodies_are_classes_or_mappings_or_both(server: Server, client: netsim.Client) -> None:
    accepted = {"simulationId": SIMULATION["id"], "status": "accepted", "mode": "sequential"}
    server.will(reply(202, accepted), reply(202, accepted))
    phase = models.SimplePhase(operation_type="allReduce", data_size=1 << 20)
    client.submit_simple(models.SimpleSubmission(workload=models.SimpleWorkload(ranks=8, phases=[phase])))
    client.submit_simple({"workload": {"ranks": 8, "phases": [phase]}})
    wire = {"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", "dataSize": 1048576}]}}
    assert [r.json for r in server.requests] == [wire, wire]


def test_a_time_without_a_zone_is_refused(client: netsim.Client) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        client.list_simulations(created_after=dt.datetime(2026, 1, 1)).page()


def test_a_resource_without_a_required_member_is_no_resource() -> None:
    with pytest.raises(UnexpectedResponse, match="Simulation"):
        models.Simulation.from_dict({"id": "sim_1"})
    with pytest.raises(UnexpectedResponse):
        models.StudyFabric.from_dict({"price": "dear", "powerWatts": "1", "switches": 1, "nics": 8, "links": 8})
