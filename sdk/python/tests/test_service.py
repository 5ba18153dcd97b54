"""The journeys of a client against a real service, and the blocks of README.md as they stand."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim import models

pytestmark = pytest.mark.service
HERE = Path(__file__).parent.parent
TRACES = HERE.parent.parent / "simulator/chakra/testdata/ring"


def submission(size: int, name: str | None = None) -> models.SimpleSubmission:
    phase = models.SimplePhase(operation_type="allReduce", data_size=size)
    return models.SimpleSubmission(name=name, workload=models.SimpleWorkload(ranks=8, phases=[phase]))


def test_from_a_submission_to_its_rows(service: netsim.Client) -> None:
    seen: list[str] = []
    simulation = service.submit_and_wait(submission(1 << 20, "sdk-python"), check=True, timeout=60, on_event=lambda e: seen.append(e.status))
    assert simulation.status == "completed" and seen[-1] == "completed" and simulation.metrics
    assert service.get_results(simulation.id).page().summary.total_packets > 0
    rows = list(service.result_rows(simulation, "perf"))
    assert rows and all(row["flow_comm_size"] > 0 for row in rows)
    assert b"simulat" in service.result_file(simulation, "summary.json")
    assert simulation.id in {s.id for s in service.list_simulations(search="sdk-python", limit=1)}


def test_one_key_is_one_simulation(service: netsim.Client) -> None:
    key = f"sdk-python-{time.time_ns()}"
    first, second = (service.submit_simple(submission(4096), idempotency_key=key) for _ in range(2))
    assert first.simulation_id == second.simulation_id
    with pytest.raises(netsim.errors.Unprocessable):
        service.submit_simple(submission(8192), idempotency_key=key)


def test_a_version_that_another_write_replaced_is_a_conflict(service: netsim.Client) -> None:
    template = next(iter(service.list_templates(search="Single rack")))
    configuration = service.clone_template(template.id, {"name": "sdk-python"})
    service.update_configuration(configuration.id, {"name": "a"}, if_match=configuration)
    with pytest.raises(netsim.Conflict) as caught:
        service.update_configuration(configuration.id, {"name": "b"}, if_match=configuration)
    assert caught.value.current_version == str(configuration.version + 1)
    renamed = service.update_configuration(configuration.id, {"name": "b"}, if_match=caught.value.current_version)
    assert renamed.name == "b"


def test_a_study_is_a_table(service: netsim.Client) -> None:
    study = service.start_study({
        "name": "sdk-python",
        "base": {"simple": submission(65536)},
        "axes": [{"field": "topologyConstraints.switchRadix", "values": ["64x800G", "128x400G"]}],
    })  # fmt: skip
    assert service.wait_study(study, timeout=60).status == "completed"
    results = service.get_study_results(study.id)
    table: Any = results.to_pandas()
    assert list(table["inputs.topologyConstraints.switchRadix"]) == ["64x800G", "128x400G"]
    assert (table["figures.simulated_time_ps"] > 0).all()
    assert service.get_study_analysis(study.id).front


def test_costs_are_exact_and_datasets_are_downloads(service: netsim.Client, tmp_path: Path) -> None:
    run = service.submit_and_wait(submission(1 << 18), check=True, timeout=60)
    today = run.created_at.date()
    assert all(isinstance(cost.cost, Decimal) for cost in service.list_costs(start_date=today, end_date=today))
    dataset = service.get_focus_dataset(start_date=today, end_date=today).save(tmp_path / "focus.csv")
    assert dataset.read_bytes().startswith(b"BilledCost,")


def test_the_feed_has_the_run(service: netsim.Client) -> None:
    simulation = service.submit_and_wait(submission(1 << 16), check=True, timeout=60)
    store = netsim.MemoryStore()
    types = ["netsim.simulation.completed.v1"]
    feed = service.events.follow(simulation.created_at, store, types=types)
    event = next(e for e in feed if e.subject == simulation.id)
    assert event.type == types[0] and store.position
    later = service.submit_and_wait(submission(1 << 17), check=True, timeout=60)
    assert next(e for e in service.events.follow(None, store, types=types) if e.subject == later.id).time


@pytest.mark.skipif(not TRACES.exists(), reason="the traces of the repository are not here")
def test_a_traceset_is_uploaded(service: netsim.Client) -> None:
    traceset = service.upload_traceset(sorted(TRACES.iterdir()), name=f"ring-{time.time_ns()}")
    ready = service.wait_traceset(traceset, timeout=60)
    assert (ready.status, ready.rank_count) == ("ready", 8)


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)


def test_the_blocks_of_the_readme_run_as_they_stand(service: netsim.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").symlink_to(TRACES)
    scope: dict[str, Any] = {"__name__": "readme"}
    for number, block in enumerate(blocks()):
        exec(compile(block, f"README.md, block {number + 1}", "exec"), scope)
        said = capsys.readouterr().out
        if number == 0:
            assert re.fullmatch(r"completed after [\d.]+\w+ of simulated time; one like it costs [\d.]+ CREDIT\n", said), said


