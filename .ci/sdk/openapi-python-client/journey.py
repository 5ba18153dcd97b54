"""The journey (../run) with the client of openapi-python-client."""

import os
import time
from typing import TypeVar

from netsim_client import AuthenticatedClient, models
from netsim_client.api.configurations import validate_configuration
from netsim_client.api.simulations import get_results, get_simulation, list_simulations, start_simulation
from netsim_client.api.studies import get_study, get_study_results, get_study_results_csv, start_study
from netsim_client.api.templates import clone_template, list_templates
from netsim_client.api.workspaces import create_workspace, get_workspace
from netsim_client.types import UNSET, Unset

client = AuthenticatedClient(base_url=os.environ["NETSIM_URL"], token=os.environ["NETSIM_TOKEN"])
T = TypeVar("T")


def ok(result: T | models.Error | None) -> T:
    """The result of a call, or its error, which has one type in every operation."""
    assert result is not None
    assert not isinstance(result, models.Error), result
    return result


workspace = ok(create_workspace.sync(client=client, body=models.WorkspaceCreate(name="by openapi-python-client")))
templates = ok(list_templates.sync(client=client, category=models.TemplateCategory.GETTING_STARTED)).templates
clone = models.TemplateClone(name="rack", workspace_id=workspace.id)
configuration = ok(clone_template.sync(templates[0].id, client=client, body=clone))
assert ok(validate_configuration.sync(configuration.id, client=client)).valid

for name in ("first", "second"):
    start = models.SimulationStart(configuration_id=configuration.id, name=name, duration="1s")
    simulation = ok(start_simulation.sync(client=client, body=start))
    while ok(get_simulation.sync(simulation.id, client=client)).status != models.SimulationStatus.COMPLETED:
        time.sleep(0.1)
    results = ok(get_results.sync(simulation.id, client=client))
    assert any(file.name == "summary.json" for file in results.files)

names: list[str] = []
following: str | Unset = UNSET
while True:
    page = ok(list_simulations.sync(client=client, workspace_id=workspace.id, limit=1, next_=following))
    names += [simulation.name for simulation in page.simulations]
    if not page.pagination.has_more:
        break
    following = page.pagination.next_cursor
assert names == ["second", "first"], names

# Without the members that have a default.
phases = [models.SimplePhase(operation_type="allReduce", data_size=1 << 20)]
simple = models.SimpleSubmission(workload=models.SimpleWorkload(ranks=8, phases=phases))
axes = [models.StudyAxis(field="workload.phases[0].dataSize", values=[1 << 20, 1 << 21])]
study = ok(start_study.sync(client=client, body=models.StudyStart(name="sizes", base=models.StudyBase(simple=simple), axes=axes)))
while ok(get_study.sync(study.id, client=client)).status != models.StudyStatus.COMPLETED:
    time.sleep(0.1)
first, second = (row.figures for row in ok(get_study_results.sync(study.id, client=client)).results)
assert not isinstance(first, Unset) and not isinstance(second, Unset)
assert first.simulated_time_ps < second.simulated_time_ps
table: str = ok(get_study_results_csv.sync(study.id, client=client))
assert table.partition("\n")[0].split(",")[0] == "point"

missing = get_workspace.sync_detailed("workspace_0000000000e008000000000009", client=client)
assert missing.status_code == 404 and isinstance(missing.parsed, models.Error), missing
assert missing.parsed.error.code == "NOT_FOUND"
