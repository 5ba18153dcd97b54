# Written by sdk/python/generate from api/openapi.yaml. Do not edit.
"""The operations of the contract, as methods."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Literal

from .._http import JSON, Download, Paged, Transport, Version, segment
from . import models


class Operations(Transport):
    """Every operation of the contract but those that ``Client`` has by hand."""

    def submit_simple(self, body: models.SimpleSubmission | JSON, *, idempotency_key: str | None = None) -> models.SimpleAccepted:
        """Submit a collective workload.

        Validates the workload against the compatibility matrix, derives a topology,
        synthesises a traceset (identical workloads share one), creates a validated
        configuration and launches a simulation. The reply is immediate; progress is
        followed through `GET /simulations/{sim_id}`, whose first status is
        `provisioning`. Exactly one of `workload` and `groups` is required. Without
        `topologyConstraints` the total number of ranks must be one of 8, 16, 32, 64,
        128, 256, 512, 1024, 2048 and 4096.
        """
        return self.write(models.SimpleAccepted, "POST", "/api/v1/simple/simulations", body=body, key=idempotency_key)

    def preview_simple(self, body: models.SimpleSubmission | JSON) -> models.TopologyPreview:
        """Preview the topology of a simple submission.

        Applies the same validation as a submission and returns only the physical
        topology. Creates nothing and never answers 402.
        """
        return self.read(models.TopologyPreview, "POST", "/api/v1/simple/simulations/preview", body=body)

    def get_compatibility(self) -> models.CompatibilityMatrix:
        """List operations and their algorithms.

        The matrix is static; it is the authoritative list of operations and algorithms.
        """
        return self.read(models.CompatibilityMatrix, "GET", "/api/v1/simple/compatibility")

    def list_simulations(self, *, limit: int | None = None, next: str | None = None, workspace_id: str | None = None, status: str | None = None, search: str | None = None, created_after: dt.datetime | None = None, created_before: dt.datetime | None = None, sort: str | None = None) -> Paged[models.SimulationListItem, models.SimulationList]:
        """List simulations.

        Newest first unless `sort` says otherwise; ties are broken by id.
        """
        return self.paged(models.SimulationList, "simulations", "/api/v1/simulations", query={"limit": limit, "next": next, "workspaceId": workspace_id, "status": status, "search": search, "createdAfter": created_after, "createdBefore": created_before, "sort": sort})

    def start_simulation(self, body: models.SimulationStart | JSON, *, idempotency_key: str | None = None) -> models.Simulation:
        """Start a simulation of a stored configuration.

        The configuration version must have the status `validated`. The simulation
        begins in `validating`.
        """
        return self.write(models.Simulation, "POST", "/api/v1/simulations", body=body, key=idempotency_key)

    def get_simulation(self, sim_id: str) -> models.Simulation:
        """Get a simulation.

        Its status, its times, and while it runs its progress.
        """
        return self.read(models.Simulation, "GET", f"/api/v1/simulations/{segment(sim_id)}")

    def delete_simulation(self, sim_id: str, *, idempotency_key: str | None = None) -> models.SimulationDeletion:
        """Delete a simulation.

        Permanently removes a simulation with its results, logs and checkpoints; from
        then on it is 404. Its billing history stays. One in `validating` or
        `provisioning` is cancelled: it does not start, and the credit held for it is
        released. A `running` one is 409: terminate it first. 404 when the flag is off.
        In the default workspace only the user who started it, or a token that names the
        workspace or `*`, may delete it; others get 403.
        """
        return self.write(models.SimulationDeletion, "DELETE", f"/api/v1/simulations/{segment(sim_id)}", key=idempotency_key)

    def terminate_simulation(self, sim_id: str, *, idempotency_key: str | None = None) -> models.Simulation | None:
        """Terminate a running simulation.

        Stops gracefully; results up to the stop point remain available. 400 when the
        simulation has no platform link, 409 when it is not running, 501 when its
        backend cannot terminate. A simulation that has not started yet is cancelled by
        its DELETE. A remote engine is asked first: when it does not
        answer the status is 503 and nothing has changed; when it answers 500, 501, 502,
        503 or 504 that is the status, and 502 for any other failure of it. In the default
        workspace only the user who started it, or a token that names the workspace or
        `*`, may terminate it; others get 403.
        """
        return self.write(models.Simulation, "POST", f"/api/v1/simulations/{segment(sim_id)}/terminate", key=idempotency_key)

    def get_results(self, sim_id: str, *, limit: int | None = None, next: str | None = None, type: Literal["pcap", "csv", "json", "log", "state", "unknown"] | str | None = None, metrics: str | None = None, sort: Literal["created_at", "size"] | str | None = None, order: Literal["asc", "desc"] | str | None = None) -> Paged[models.ResultFile, models.Results]:
        """List result files.

        Available once the simulation is final and its files are published; before
        that, and for `invalid`, 404. `accuracy` says what is known of the error of the
        simulated time. Any authenticated user may read results, unless
        the deployment keeps them to those who may read the simulation's workspace.
        """
        return self.paged(models.Results, "files", f"/api/v1/simulations/{segment(sim_id)}/results", query={"limit": limit, "next": next, "type": type, "metrics": metrics, "sort": sort, "order": order})

    def get_result_download(self, sim_id: str, *, file_name: str, metrics: str | None = None, type: str | None = None) -> models.ResultDownload:
        """Get a download link for one result file.

        The link is valid for 900 seconds; `expiresAt` states the real expiry. An
        expired link is rejected by the object store with 403.
        """
        return self.read(models.ResultDownload, "GET", f"/api/v1/simulations/{segment(sim_id)}/results/download-url", query={"fileName": file_name, "metrics": metrics, "type": type})

    def get_result_data(self, sim_id: str, *, metric: Literal["critical-path", "nd-stats", "perf", "pfc", "timeline"] | str, mode: Literal["summary", "perfetto"] | str | None = None, tier: Literal["all", "ssw", "fsw", "rsw", "nic", "0", "1", "2", "3"] | str | None = None) -> models.ResultData:
        """Get summary data of one metric.

        The summary is computed, or served from a cache, and returned as a link to a
        zstd-compressed JSON file. `timeline` with the mode `perfetto` is a
        gzip-compressed trace that ui.perfetto.dev opens. 404 when the run has no data for the metric; `pfc`
        is always 404 for runs of the built-in engine. With `perf`, `critical-path`
        and `timeline` only the tier `all` exists. `perf` is of the first 5,000,000 transfers that
        finished, and `unlistedTransfers` of `summary.json` says how many more there
        were. `critical-path` says which computations, transfers and links made the run
        as long as it is, in tables of at most ten rows and in one sentence; runs of
        uncoordinated traffic, and of engines before 1.7.0, have none. `timeline` shows
        when ranks computed, sent and waited, when collectives ran and how busy the links
        were; it has the first 1,000,000 computations and transfers.
        """
        return self.read(models.ResultData, "GET", f"/api/v1/simulations/{segment(sim_id)}/results/data", query={"metric": metric, "mode": mode, "tier": tier})

    def compare_simulations(self, sim_id: str, other_id: str) -> models.SimulationComparison:
        """Compare two completed simulations.

        Why two runs differ: in their inputs, and side by side in their times, goodput,
        collectives, links, limits and critical paths, with one sentence that names the main
        cause. `this` is `sim_id`, `other` is `other_id`. The first 100 differences of the
        inputs are listed. Of two simple submissions these are their fields; of other
        simulations those of the configurations. A member that a run does not have is absent, and
        so is a rank or link of a critical path that is not among its ten largest. 409 unless
        both are `completed`; 404 for runs of a remote engine without the built-in engine's
        `summary.json`.
        """
        return self.read(models.SimulationComparison, "GET", f"/api/v1/simulations/{segment(sim_id)}/compare/{segment(other_id)}")

    def get_logs(self, sim_id: str, *, level: Literal["debug", "info", "warn", "error"] | str | None = None, component: str | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.LogEntry, models.LogPage]:
        """Read the log of a simulation.

        In chronological order. At most 100,000 entries are kept; the oldest `debug` entries go first.
        """
        return self.paged(models.LogPage, "logs", f"/api/v1/simulations/{segment(sim_id)}/logs", query={"level": level, "component": component, "limit": limit, "next": next})

    def list_studies(self, *, limit: int | None = None, next: str | None = None, workspace_id: str | None = None, status: str | None = None, search: str | None = None, created_after: dt.datetime | None = None, created_before: dt.datetime | None = None) -> Paged[models.StudyListItem, models.StudyList]:
        """List studies.

        Newest first; ties are broken by id.
        """
        return self.paged(models.StudyList, "studies", "/api/v1/studies", query={"limit": limit, "next": next, "workspaceId": workspace_id, "status": status, "search": search, "createdAfter": created_after, "createdBefore": created_before})

    def start_study(self, body: models.StudyStart | JSON, *, idempotency_key: str | None = None) -> models.Study:
        """Start a study.

        A study is a base, which is a simple submission or a configuration, and axes whose
        values replace fields of it. Each combination is a point, and each point an
        ordinary simulation, with results and a receipt. A point whose inputs equal those
        of a completed simulation of the account, or of another point, takes that result
        and costs nothing. All points are checked before the study starts: 400 names the
        first that cannot run. A study has at most 10,000 points. That of a configuration
        has at most 1,000 different documents, whose networks have at most 1,048,576
        servers together; each of its runs gets a configuration of its own in the
        workspace. The runs are started in batches, and count and cost like other
        simulations. 402 when runs are needed and the account has no credit for the first
        of them. When the credit is used up later, the study is terminated; resume it when
        there is credit again. A preview says what a study would cost. 503 when there is no
        time to check as many points: nothing is started, and the message says how many fit.
        """
        return self.write(models.Study, "POST", "/api/v1/studies", body=body, key=idempotency_key)

    def preview_study(self, body: models.StudyStart | JSON) -> models.StudyForecast:
        """Forecast a study.

        Applies the same validation as the start of a study, and returns how many of its
        points would get a simulation of their own now, and what these hold and may cost.
        Creates nothing, and answers neither 402 nor because of a quota. 503 when there is no
        time for as many points; the message says how many fit.
        """
        return self.read(models.StudyForecast, "POST", "/api/v1/studies/preview", body=body)

    def get_study(self, study_id: str) -> models.Study:
        """Get a study.

        Its base, its axes, and how many of its points are in which state.
        """
        return self.read(models.Study, "GET", f"/api/v1/studies/{segment(study_id)}")

    def delete_study(self, study_id: str, *, idempotency_key: str | None = None) -> models.StudyDeletion:
        """Delete a study.

        Permanently removes a study, and in the background its runs with their results.
        From then on it is 404. What was billed stays, and so do the results that its
        points took from other simulations. A point of another study that took a result of
        this one keeps its figures, but not the files. A `running` study is 409: terminate
        it first. In the default workspace only the user who started it, or a token that
        names the workspace or `*`, may delete it; others get 403.
        """
        return self.write(models.StudyDeletion, "DELETE", f"/api/v1/studies/{segment(study_id)}", key=idempotency_key)

    def terminate_study(self, study_id: str, *, idempotency_key: str | None = None) -> models.Study:
        """Terminate a running study.

        No more points are started. Runs that have not started are cancelled, and running
        ones are terminated, soon after the response. 409 when the study is not running. In
        the default workspace only the user who started it, or a token that names the
        workspace or `*`, may terminate it; others get 403.
        """
        return self.write(models.Study, "POST", f"/api/v1/studies/{segment(study_id)}/terminate", key=idempotency_key)

    def resume_study(self, study_id: str, *, idempotency_key: str | None = None) -> models.Study:
        """Resume a terminated study.

        Points that wait are started, and those whose runs were stopped get new runs. 409
        when the study is not terminated, and while runs of it have not stopped yet. In
        the default workspace only the user who started it, or a token that names the
        workspace or `*`, may resume it; others get 403.
        """
        return self.write(models.Study, "POST", f"/api/v1/studies/{segment(study_id)}/resume", key=idempotency_key)

    def get_study_results(self, study_id: str, *, limit: int | None = None, next: str | None = None, status: str | None = None) -> Paged[models.StudyResult, models.StudyResults]:
        """Get the results of a study.

        A row for each point, by number: the values of the axes, the simulation that the
        point has or takes its result from, and the figures of its results as soon as it is
        completed. As JSON in pages; as CSV and Parquet all rows at once, and `limit` and
        `cursor` do not count. A remote engine's runs have no figures. Every point has the
        price and the power of its fabric by the price list that `GET …/analysis` states, and
        the warnings of its validation. With replicates a row is of all of them.
        """
        return self.paged(models.StudyResults, "results", f"/api/v1/studies/{segment(study_id)}/results", query={"limit": limit, "next": next, "status": status})

    def get_study_results_csv(self, study_id: str, *, status: str | None = None) -> Download:
        """Read the results of a study as CSV.

        The results of `GET …/results` as a table, all at once: a header and a row for each point.
        The columns are `point`, the fields of the axes, and then `status`, `simulationId`,
        `shared`, the members of `figures` and `fabric` by the same names (of `figures` without
        `unfinishedRanks`), `paretoOptimal`, `failureReason`, `replicates` (how many are
        completed), `leastTimePs`, `mostTimePs`, `stoppedBy`, `reason` and `warnings` (their codes,
        joined by spaces); absent ones are empty. `paretoOptimal` is true for the points of the
        front in `GET …/analysis`.
        """
        return self.download(f"/api/v1/studies/{segment(study_id)}/results.csv", query={"status": status})

    def get_study_results_parquet(self, study_id: str, *, status: str | None = None) -> Download:
        """Read the results of a study as Parquet.

        The table of `GET …/results.csv` with its columns. Absent values are null. The column of an axis
        has integers, numbers or booleans if all its values are such, and else texts.
        """
        return self.download(f"/api/v1/studies/{segment(study_id)}/results.parquet", query={"status": status})

    def get_study_analysis(self, study_id: str) -> models.StudyAnalysis:
        """Analyse the results of a study.

        Of the points that are completed so far, within each workload: the Pareto front, which
        are the points than which no other is both no slower and no dearer, and one of the two
        better; and how much each axis of the design changes the simulated time and the price
        of the fabric when the other axes are equal. Prices follow a price list that is an assumption for comparing
        fabrics, and no offer: `priceList` says what it is made of.
        """
        return self.read(models.StudyAnalysis, "GET", f"/api/v1/studies/{segment(study_id)}/analysis")

    def get_study_analysis_csv(self, study_id: str) -> Download:
        """Analyse the results of a study as CSV.

        The axes of `GET …/analysis`: a header and a row for each value of each axis of each
        workload. The columns are `field`, `value`, and for time and price (`time…`, `price…`) the
        groups that have the value, its mean ratio, in how many of them it is best, and the mean
        and the largest ratio of the axis; then `workload`, the values of its axes as JSON.
        """
        return self.download(f"/api/v1/studies/{segment(study_id)}/analysis.csv")

    def list_configurations(self, *, limit: int | None = None, next: str | None = None, workspace_id: str | None = None, status: str | None = None, search: str | None = None, created_after: dt.datetime | None = None, created_before: dt.datetime | None = None) -> Paged[models.ConfigurationListItem, models.ConfigurationList]:
        """List configurations.

        Newest first.
        """
        return self.paged(models.ConfigurationList, "configurations", "/api/v1/configurations", query={"limit": limit, "next": next, "workspaceId": workspace_id, "status": status, "search": search, "createdAfter": created_after, "createdBefore": created_before})

    def create_configuration(self, body: models.ConfigurationCreate | JSON, *, idempotency_key: str | None = None) -> models.Configuration:
        """Create a configuration.

        The new configuration is a `draft` of version 1. Parameters missing from a
        component, and sections missing from the global parameters, are filled with
        the defaults of the model and of the service.
        """
        return self.write(models.Configuration, "POST", "/api/v1/configurations", body=body, key=idempotency_key)

    def get_configuration(self, config_id: str, *, include: Literal["all"] | str | None = None) -> models.Configuration:
        """Get a configuration.

        Lists only components reachable from the topology, unless `include` says
        otherwise. Answers 304 only while the version is a draft: a verdict changes
        `status` and comes without a new version.
        """
        return self.read(models.Configuration, "GET", f"/api/v1/configurations/{segment(config_id)}", query={"include": include})

    def delete_configuration(self, config_id: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> None:
        """Delete a configuration.

        Allowed while simulations use it; they hold their own copy.
        """
        return self.write(type(None), "DELETE", f"/api/v1/configurations/{segment(config_id)}", key=idempotency_key, if_match=if_match)

    def update_configuration(self, config_id: str, body: models.ConfigurationUpdate | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Configuration:
        """Replace members of a configuration.

        Each member sent replaces the stored one whole; a name that is null stays as it is.
        `If-Match` is required, 428 without it. What the service itself sets may be sent back
        as it was read and is ignored. A request that alters nothing makes no version.
        """
        return self.write(models.Configuration, "PATCH", f"/api/v1/configurations/{segment(config_id)}", body=body, key=idempotency_key, if_match=if_match)

    def clone_configuration(self, config_id: str, body: models.ConfigurationClone | JSON, *, idempotency_key: str | None = None) -> models.Configuration:
        """Copy a configuration.

        Copies a version's document as it is stored, and its traceset. The copy names what
        it was copied from. Templates are cloned by an operation of their own.
        """
        return self.write(models.Configuration, "POST", f"/api/v1/configurations/{segment(config_id)}/clone", body=body, key=idempotency_key)

    def remove_application(self, config_id: str, app_name: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.ApplicationRemoval:
        """Remove an application.

        References to it go too; the remaining entries of the distribution are rescaled to the sum 1.
        """
        return self.write(models.ApplicationRemoval, "DELETE", f"/api/v1/configurations/{segment(config_id)}/applications/{segment(app_name)}", key=idempotency_key, if_match=if_match)

    def patch_application_parameters(self, config_id: str, app_name: str, body: dict[str, Any] | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Change parameters of an application.

        The body repeats the nesting of the stored tree down to each leaf it changes; all
        of them change or none. A leaf keeps its type, and its value and unit are
        replaced. Values beyond a model's bounds are taken; validation reports them.
        """
        return self.write(dict[str, Any], "PATCH", f"/api/v1/configurations/{segment(config_id)}/applications/{segment(app_name)}/parameters", body=body, key=idempotency_key, if_match=if_match)

    def remove_component(self, config_id: str, component_name: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> None:
        """Remove a component, a container or a link.

        Every reference to it goes too.
        """
        return self.write(type(None), "DELETE", f"/api/v1/configurations/{segment(config_id)}/components/{segment(component_name)}", key=idempotency_key, if_match=if_match)

    def patch_component_parameters(self, config_id: str, component_name: str, body: dict[str, Any] | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Change parameters of a component.

        The body repeats the nesting of the stored tree down to each leaf it changes; all
        of them change or none. A leaf keeps its type, and its value and unit are
        replaced. Values beyond a model's bounds are taken; validation reports them.
        """
        return self.write(dict[str, Any], "PATCH", f"/api/v1/configurations/{segment(config_id)}/components/{segment(component_name)}/parameters", body=body, key=idempotency_key, if_match=if_match)

    def add_server_reference(self, config_id: str, component_name: str, body: models.ServerReferenceAdd | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Component:
        """Put a NIC, a GPU or an application into a server.

        `component_name` is a declared server; the document gets a new version.
        """
        return self.write(models.Component, "PATCH", f"/api/v1/configurations/{segment(config_id)}/configurations/{segment(component_name)}", body=body, key=idempotency_key, if_match=if_match)

    def remove_server_reference(self, config_id: str, component_name: str, child_name: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> None:
        """Take something out of a server.

        What is declared stays declared.
        """
        return self.write(type(None), "DELETE", f"/api/v1/configurations/{segment(config_id)}/configurations/{segment(component_name)}/components/{segment(child_name)}", key=idempotency_key, if_match=if_match)

    def change_server_reference(self, config_id: str, component_name: str, child_name: str, body: models.ReferenceChange | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Component:
        """Change the count or the group of what a server holds.

        At least one member is required; what is not sent stays.
        """
        return self.write(models.Component, "PATCH", f"/api/v1/configurations/{segment(config_id)}/configurations/{segment(component_name)}/components/{segment(child_name)}", body=body, key=idempotency_key, if_match=if_match)

    def add_container_reference(self, config_id: str, container_name: str, body: models.ContainerReferenceAdd | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Container:
        """Put a switch, a server or a rack into a container.

        A rack holds switches and servers, a pod holds switches and racks.
        """
        return self.write(models.Container, "PATCH", f"/api/v1/configurations/{segment(config_id)}/containers/{segment(container_name)}", body=body, key=idempotency_key, if_match=if_match)

    def remove_container_reference(self, config_id: str, container_name: str, component_name: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> None:
        """Take something out of a container.

        What is declared stays declared.
        """
        return self.write(type(None), "DELETE", f"/api/v1/configurations/{segment(config_id)}/containers/{segment(container_name)}/components/{segment(component_name)}", key=idempotency_key, if_match=if_match)

    def change_container_reference(self, config_id: str, container_name: str, component_name: str, body: models.ReferenceChange | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Container:
        """Change the count or the group of what a container holds.

        At least one member is required; what is not sent stays.
        """
        return self.write(models.Container, "PATCH", f"/api/v1/configurations/{segment(config_id)}/containers/{segment(container_name)}/components/{segment(component_name)}", body=body, key=idempotency_key, if_match=if_match)

    def update_distribution(self, config_id: str, body: models.DistributionUpdate | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.ApplicationDistribution:
        """Change one share of the distribution of applications.

        Nothing else changes; validation wants the shares of each type to sum to 1.
        """
        return self.write(models.ApplicationDistribution, "PATCH", f"/api/v1/configurations/{segment(config_id)}/distribution", body=body, key=idempotency_key, if_match=if_match)

    def patch_link_parameters(self, config_id: str, link_name: str, body: dict[str, Any] | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Change parameters of a link.

        The body repeats the nesting of the stored tree down to each leaf it changes; all
        of them change or none. A leaf keeps its type, and its value and unit are
        replaced. Values beyond a model's bounds are taken; validation reports them.
        """
        return self.write(dict[str, Any], "PATCH", f"/api/v1/configurations/{segment(config_id)}/links/{segment(link_name)}/parameters", body=body, key=idempotency_key, if_match=if_match)

    def patch_global_parameters(self, config_id: str, body: dict[str, Any] | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Change global parameters.

        The body repeats the nesting of the stored tree down to each leaf it changes; all
        of them change or none. A leaf keeps its type, and its value and unit are
        replaced. Values beyond a model's bounds are taken; validation reports them.
        Sections that are read-only or set by the service are refused.
        """
        return self.write(dict[str, Any], "PATCH", f"/api/v1/configurations/{segment(config_id)}/parameters", body=body, key=idempotency_key, if_match=if_match)

    def add_topology_reference(self, config_id: str, body: models.TopologyReferenceAdd | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Topology:
        """Put something into the topology.

        Adds a reference to a declared rack, pod, server or layer; the document gets a new version.
        """
        return self.write(models.Topology, "PATCH", f"/api/v1/configurations/{segment(config_id)}/topology", body=body, key=idempotency_key, if_match=if_match)

    def remove_topology_reference(self, config_id: str, component_name: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> None:
        """Take something out of the topology.

        What is declared stays declared.
        """
        return self.write(type(None), "DELETE", f"/api/v1/configurations/{segment(config_id)}/topology/{segment(component_name)}", key=idempotency_key, if_match=if_match)

    def change_topology_reference(self, config_id: str, component_name: str, body: models.TopologyReferenceChange | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Topology:
        """Change the count of what the topology holds.

        The document gets a new version.
        """
        return self.write(models.Topology, "PATCH", f"/api/v1/configurations/{segment(config_id)}/topology/{segment(component_name)}", body=body, key=idempotency_key, if_match=if_match)

    def validate_configuration(self, config_id: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.ValidationReport:
        """Validate the current version.

        Sets the status to `validated` or `invalid`; the version stays. Confirming the
        recorded status and findings records nothing. The template workspace is
        allowed too.
        """
        return self.write(models.ValidationReport, "POST", f"/api/v1/configurations/{segment(config_id)}/validate", key=idempotency_key, if_match=if_match)

    def list_configuration_versions(self, config_id: str) -> models.ConfigurationVersionList:
        """List the versions of a configuration.

        Newest first, not paginated.
        """
        return self.read(models.ConfigurationVersionList, "GET", f"/api/v1/configurations/{segment(config_id)}/versions")

    def get_configuration_version(self, config_id: str, version: int, *, include: Literal["all"] | str | None = None) -> models.ConfigurationVersion:
        """Get one version of a configuration.

        Versions never change. Lists only components reachable from the topology, unless
        `include` says otherwise.
        """
        return self.read(models.ConfigurationVersion, "GET", f"/api/v1/configurations/{segment(config_id)}/versions/{segment(version)}", query={"include": include})

    def list_templates(self, *, limit: int | None = None, next: str | None = None, category: Literal["getting-started", "benchmark", "reference-design", "what-if"] | str | None = None, search: str | None = None) -> Paged[models.TemplateListItem, models.TemplateList]:
        """List templates.

        The built-in templates, then those of the account, then the public ones of other
        accounts; the newest of each first.
        """
        return self.paged(models.TemplateList, "templates", "/api/v1/templates", query={"limit": limit, "next": next, "category": category, "search": search})

    def create_template(self, body: models.TemplateCreate | JSON, *, idempotency_key: str | None = None) -> models.Template:
        """Create a template.

        The template is a configuration in the template workspace, where it cannot be
        changed; what is missing is filled in as for any configuration. It has no
        traceset. Others than the account read and clone it only when its `visibility`
        is `public`. A request that is repeated under its key after the template was
        deleted is answered with 404.
        """
        return self.write(models.Template, "POST", "/api/v1/templates", body=body, key=idempotency_key)

    def get_template(self, template_id: str) -> models.Template:
        """Get a template.

        Each parameter in `configuration` carries, beside its `value`, `type` and
        `unit`, what the model says of it: `default` (a string), `defaultUnit`,
        `description`, `min`, `max`, `enum`, `readonly` and `group`.
        """
        return self.read(models.Template, "GET", f"/api/v1/templates/{segment(template_id)}")

    def delete_template(self, template_id: str, *, idempotency_key: str | None = None) -> None:
        """Delete a template.

        By the account that made it; a built-in one, and another account's, is 403. What
        was cloned from it stays. 404 when it is deleted already.
        """
        return self.write(type(None), "DELETE", f"/api/v1/templates/{segment(template_id)}", key=idempotency_key)

    def clone_template(self, template_id: str, body: models.TemplateClone | JSON, *, idempotency_key: str | None = None) -> models.Configuration:
        """Make a configuration from a template.

        The new configuration is a `draft` of version 1 with the template's document
        and traceset. Validate it, and start a simulation of it.
        """
        return self.write(models.Configuration, "POST", f"/api/v1/templates/{segment(template_id)}/clone", body=body, key=idempotency_key)

    def list_configuration_applications(self, config_id: str, *, with_details: bool | None = None) -> models.ConfigurationApplicationList:
        """List the applications of a configuration.

        Not paginated.
        """
        return self.read(models.ConfigurationApplicationList, "GET", f"/api/v1/configurations/{segment(config_id)}/applications", query={"withDetails": with_details})

    def add_application(self, config_id: str, *, model_id: str, name: str, version: str | None = None, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Application:
        """Declare an application.

        A `non-coordinated` application brings one `client` and one `server` entry of the
        topology's distribution, each with what its type lacks to 1.
        """
        return self.write(models.Application, "POST", f"/api/v1/configurations/{segment(config_id)}/applications", query={"modelId": model_id, "name": name, "version": version}, key=idempotency_key, if_match=if_match)

    def list_configuration_components(self, config_id: str, *, type: Literal["switch", "nic", "gpu", "server", "host"] | str | None = None, include: Literal["all"] | str | None = None, with_details: bool | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.ComponentItem, models.ConfigurationComponentList]:
        """List the components of a configuration.

        All that are declared, in the order of the document, whether the topology
        reaches them or not. When the configuration changes between two pages, the
        next one goes on behind the last component that was read.
        """
        return self.paged(models.ConfigurationComponentList, "components", f"/api/v1/configurations/{segment(config_id)}/components", query={"type": type, "include": include, "withDetails": with_details, "limit": limit, "next": next})

    def add_component(self, config_id: str, *, model_id: str, type: Literal["switch", "nic", "gpu", "server", "rack", "pod", "layer"] | str, name: str, version: str | None = None, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Declaration:
        """Declare a component, a container or a link.

        A `rack` and a `pod` are declared in `containers`, a `layer` in `links`, the rest in `components`.
        """
        return self.write(models.Declaration, "POST", f"/api/v1/configurations/{segment(config_id)}/components", query={"modelId": model_id, "type": type, "name": name, "version": version}, key=idempotency_key, if_match=if_match)

    def list_configuration_containers(self, config_id: str, *, type: Literal["rack", "pod"] | str | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.Container, models.ConfigurationContainerList]:
        """List the containers of a configuration.

        In the order of the document; pages as those of the components.
        """
        return self.paged(models.ConfigurationContainerList, "containers", f"/api/v1/configurations/{segment(config_id)}/containers", query={"type": type, "limit": limit, "next": next})

    def get_allowed_components(self, config_id: str, container_name: str) -> models.AllowedInContainer:
        """Get what a container may hold.

        The types come from the catalogue, whatever the container holds now.
        """
        return self.read(models.AllowedInContainer, "GET", f"/api/v1/configurations/{segment(config_id)}/containers/{segment(container_name)}/allowed")

    def list_configuration_links(self, config_id: str, *, with_details: bool | None = None) -> models.ConfigurationLinkList:
        """List the links of a configuration.

        Not paginated.
        """
        return self.read(models.ConfigurationLinkList, "GET", f"/api/v1/configurations/{segment(config_id)}/links", query={"withDetails": with_details})

    def get_software_version(self, config_id: str) -> models.SoftwareVersion:
        """Get the software version of a configuration.

        The version that the document states.
        """
        return self.read(models.SoftwareVersion, "GET", f"/api/v1/configurations/{segment(config_id)}/software-version")

    def list_traceset_candidates(self, config_id: str, *, status: str | None = None, scope: Literal["global", "workspace"] | str | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.TracesetCandidate, models.TracesetCandidateList]:
        """List tracesets to attach to a configuration.

        Newest first. Behind no flag; with `enable_trace_routes` off there is none.
        """
        return self.paged(models.TracesetCandidateList, "tracesets", f"/api/v1/configurations/{segment(config_id)}/traceset", query={"status": status, "scope": scope, "limit": limit, "next": next})

    def detach_traceset(self, config_id: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Configuration:
        """Detach the traceset.

        The chakra application's `NumOfChakraFiles` becomes 0. 404 when none is attached.
        """
        return self.write(models.Configuration, "DELETE", f"/api/v1/configurations/{segment(config_id)}/traceset", key=idempotency_key, if_match=if_match)

    def attach_traceset(self, config_id: str, body: models.TracesetAttachment | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Configuration:
        """Attach a traceset.

        Any visible traceset, whatever its workspace. The chakra application's
        `NumOfChakraFiles` becomes its rank count. 409 until that is known, 422 when it is
        not between 1 and 65536.
        """
        return self.write(models.Configuration, "PATCH", f"/api/v1/configurations/{segment(config_id)}/traceset", body=body, key=idempotency_key, if_match=if_match)

    def detach_mapping_file(self, config_id: str, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Configuration:
        """Detach the mapping file.

        `UseMapping` becomes false and `MappingFileName` empty, in every chakra
        application. The file stays and can be attached elsewhere. 404 when none is
        attached. Behind no flag.
        """
        return self.write(models.Configuration, "DELETE", f"/api/v1/configurations/{segment(config_id)}/mapping-file", key=idempotency_key, if_match=if_match)

    def attach_mapping_file(self, config_id: str, body: models.MappingFileAttachment | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Configuration:
        """Attach a mapping file.

        It places the ranks of the attached traceset, so it must place as many.
        `UseMapping` becomes true and `MappingFileName` the name that the simulator
        knows the file by, in every chakra application, and both are locked. A
        configuration without a traceset is 409 `MAPPING_REQUIRES_TRACESET`, without a
        chakra application 422 `MAPPING_REQUIRES_CHAKRA_APP`; another number of ranks is
        422 `MAPPING_RANK_COUNT_MISMATCH`. Behind no flag.
        """
        return self.write(models.Configuration, "PATCH", f"/api/v1/configurations/{segment(config_id)}/mapping-file", body=body, key=idempotency_key, if_match=if_match)

    def get_configuration_diff(self, config_id: str, *, from_: int | None = None, to: int | None = None) -> models.ConfigurationDiff:
        """Compare two versions of a configuration.

        The patch is a JSON Patch (RFC 6902) over `GET …/versions/{version}?include=all`.
        Applied to version `from` it gives version `to`, except for `version` and
        `createdAt`, which stay those of `from`. Entries of lists are compared by name.
        The changes tell the same to people. Both are empty for equal versions.
        """
        return self.read(models.ConfigurationDiff, "GET", f"/api/v1/configurations/{segment(config_id)}/diff", query={"from": from_, "to": to})

    def list_tracesets(self, *, workspace_id: str | None = None, status: str | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.TracesetItem, models.TracesetList]:
        """List tracesets.

        Newest first: those of the caller's workspaces, those promoted to its account,
        and everyone's public ones. With `workspaceId`, those that can be seen from that
        workspace; none when it does not exist or is another account's. One that is
        being uploaded, or that nothing came of, is among them.
        """
        return self.paged(models.TracesetList, "items", "/api/v1/tracesets", query={"workspaceId": workspace_id, "status": status, "limit": limit, "next": next})

    def get_traceset(self, id: str) -> models.Traceset:
        """Get a traceset.

        One that is being uploaded, or that nothing came of, has neither hashes nor a
        library. `statusMessage` says why its files cannot be used.
        """
        return self.read(models.Traceset, "GET", f"/api/v1/tracesets/{segment(id)}")

    def delete_traceset(self, id: str, *, idempotency_key: str | None = None) -> None:
        """Delete a traceset.

        It is gone at once; configurations that it is attached to keep the reference and
        fail validation. The files stay until its time to live is over, and while another
        traceset or a simulation that has not ended refers to them. Of one that is being
        uploaded the upload is aborted. 404 when it is deleted already. A public traceset of another account cannot be
        deleted.
        """
        return self.write(type(None), "DELETE", f"/api/v1/tracesets/{segment(id)}", key=idempotency_key)

    def get_traceset_download(self, id: str, *, file: str | None = None) -> models.TracesetDownload:
        """Get a download link for a file of a traceset.

        This is a use; it puts off the expiry.
        """
        return self.read(models.TracesetDownload, "GET", f"/api/v1/tracesets/{segment(id)}/download", query={"file": file})

    def promote_traceset(self, id: str, body: models.TracesetPromotion | JSON, *, idempotency_key: str | None = None) -> models.TracesetPromoted:
        """Let more see a traceset.

        From its workspace to its account (`tenant`), and from there to everyone
        (`public`); one step at a time, else 412. It has to be `ready`, else 409, and to
        have `workloadMetadata`, stored or sent, else 412. At or above the target nothing
        changes. A promoted traceset never expires.
        """
        return self.write(models.TracesetPromoted, "POST", f"/api/v1/tracesets/{segment(id)}/promote", body=body, key=idempotency_key)

    def resolve_traceset(self, id: str) -> models.TracesetResolution:
        """Resolve a traceset to where its files are.

        This is a use; it puts off the expiry. Members are snake_case. A library of
        layout `cas` lists its files, one of layout `prefix` says how many there are and
        below which path.
        """
        return self.read(models.TracesetResolution, "GET", f"/api/v1/tracesets/{segment(id)}/resolve")

    def validate_traceset(self, id: str, body: models.TracesetValidationRequest | JSON) -> models.TracesetValidation:
        """Validate a traceset.

        Reads the stored files and says what is true of them now: that they are what was
        uploaded, that what they hold is known, that a topology has a server with a NIC
        for each rank, and of Chakra traces also that the ranks are complete, that every
        file reads to its end, that no dependency is in a cycle, that every send has its
        receive, and that all members of a process group take part in what it does.
        `valid` when all checks passed. The body may be empty.
        """
        return self.read(models.TracesetValidation, "POST", f"/api/v1/tracesets/{segment(id)}/validate", body=body)

    def list_libraries(self, *, workspace_id: str | None = None, scope: Literal["workspace", "tenant", "global"] | str | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.LibraryItem, models.LibraryList]:
        """List libraries.

        The content-addressed sets of files that tracesets refer to, newest first. What
        is said of a library is said of the tracesets that can be seen from the
        workspace; without `workspaceId`, of the public ones. Members are snake_case.
        """
        return self.paged(models.LibraryList, "items", "/api/v1/libraries", query={"workspaceId": workspace_id, "scope": scope, "limit": limit, "next": next})

    def get_library(self, id: str, *, workspace_id: str | None = None) -> models.Library:
        """Get a library.

        By id, or by what its hash begins with. Members are snake_case.
        """
        return self.read(models.Library, "GET", f"/api/v1/libraries/{segment(id)}", query={"workspaceId": workspace_id})

    def list_mapping_files(self, *, workspace_id: str, limit: int | None = None, next: str | None = None) -> Paged[models.MappingFileItem, models.MappingFileList]:
        """List the mapping files of a workspace.

        Newest first, without deleted ones. A workspace that does not exist has none.
        """
        return self.paged(models.MappingFileList, "items", "/api/v1/mapping-files", query={"workspaceId": workspace_id, "limit": limit, "next": next})

    def get_mapping_file(self, mapping_file_id: str) -> models.MappingFile:
        """Get a mapping file.

        A deleted one is 410 `MAPPING_FILE_DELETED`.
        """
        return self.read(models.MappingFile, "GET", f"/api/v1/mapping-files/{segment(mapping_file_id)}")

    def delete_mapping_file(self, mapping_file_id: str, *, idempotency_key: str | None = None) -> None:
        """Delete a mapping file.

        Softly: configurations that it is attached to report it as deleted, and no
        simulation starts from them until another one is attached or none. Simulations
        that were started go on. 404 when it is deleted already.
        """
        return self.write(type(None), "DELETE", f"/api/v1/mapping-files/{segment(mapping_file_id)}", key=idempotency_key)

    def get_mapping_file_download(self, mapping_file_id: str) -> models.MappingFileDownload:
        """Get a download link for a mapping file.

        The bytes are exactly those that were uploaded. The link is valid for 900
        seconds; an expired one is rejected by the object store with 403. A deleted
        file is 410 `MAPPING_FILE_DELETED`.
        """
        return self.read(models.MappingFileDownload, "GET", f"/api/v1/mapping-files/{segment(mapping_file_id)}/download")

    def list_components(self, *, limit: int | None = None, next: str | None = None, category: Literal["model", "application", "container", "layer"] | str | None = None, type: Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str | None = None) -> Paged[models.ComponentListItem, models.ComponentList]:
        """List what configurations are made of.

        Newest first. The catalogue ships with the program and is the same for everyone.
        """
        return self.paged(models.ComponentList, "components", "/api/v1/components", query={"limit": limit, "next": next, "category": category, "type": type})

    def get_component(self, component_id: str, *, version: str | None = None, notes: bool | None = None) -> models.ComponentDetail:
        """Get a component and the schema of its parameters.

        Of the newest version, unless the query names another.
        """
        return self.read(models.ComponentDetail, "GET", f"/api/v1/components/{segment(component_id)}", query={"version": version, "notes": notes})

    def list_models(self, *, limit: int | None = None, next: str | None = None, type: str | None = None, vendor: str | None = None, search: str | None = None) -> Paged[models.ModelListItem, models.ModelList]:
        """List the models of the catalogue.

        Newest first.
        """
        return self.paged(models.ModelList, "models", "/api/v1/models", query={"limit": limit, "next": next, "type": type, "vendor": vendor, "search": search})

    def get_model(self, model_id: str, *, version: str | None = None) -> models.Declaration:
        """Get a declaration of the model.

        The declaration has the model's default parameters and is ready to be put
        into a configuration: a rack or a pod into `containers`, an application into
        `applications`, a layer into `links`, the rest into `components`. Its name is
        the model's type; give it another where that is taken.
        """
        return self.read(models.Declaration, "GET", f"/api/v1/models/{segment(model_id)}", query={"version": version})

    def list_model_versions(self, model_id: str) -> models.ModelVersionList:
        """List the versions of a model.

        Newest first, not paginated.
        """
        return self.read(models.ModelVersionList, "GET", f"/api/v1/models/{segment(model_id)}/versions")

    def list_chart_definitions(self) -> models.ChartDefinitions:
        """List the definitions of all charts.

        Ordered by id, not paginated. They refer to columns of the result files.
        """
        return self.read(models.ChartDefinitions, "GET", "/api/v1/chart-definitions")

    def validate_topology(self, body: models.TopologyDocument | JSON) -> models.TopologyValidation:
        """Validate a topology while it is drawn.

        Saves nothing. Runs the checks of a configuration that need no traceset, and
        says what the topology unfolds to. Parameters that are missing have their
        defaults. Without `topology`, all that no container holds stands in it once:
        pods, racks, switches and layers.
        """
        return self.read(models.TopologyValidation, "POST", "/api/v1/topology/validate", body=body)

    def open_traceset_upload(self, body: models.TracesetUpload | JSON, *, idempotency_key: str | None = None) -> models.TracesetUploadSession:
        """Start the upload of a traceset in parts.

        Answers with a link for each part of each file. PUT the parts there, in any
        order, 16 MiB each and the last one what is left, keep the `ETag` of every
        reply, and complete the upload. A part may be put again. A server takes at
        most 100 files unless it is set otherwise, and 10,000 parts; traces of more
        ranks go into an archive. `comm_groups.json` names the process groups, as a
        file of its own or in an archive; it is always `supporting`.
        """
        return self.write(models.TracesetUploadSession, "POST", "/api/v1/tracesets/upload-url", body=body, key=idempotency_key)

    def complete_traceset_upload(self, body: models.TracesetUploadCompletion | JSON, *, idempotency_key: str | None = None) -> models.Traceset:
        """Finish the upload of a traceset.

        Names every part of every file, with the `ETag` that its PUT answered with.
        Repeating it gives the same traceset. What takes longer than a request may is
        a 503 with `Retry-After`; it goes on meanwhile. A file that is longer or
        shorter than declared is 400, and its parts may be put again.
        """
        return self.write(models.Traceset, "POST", "/api/v1/tracesets/upload-url/complete", body=body, key=idempotency_key)

    def open_mapping_file_upload(self, body: models.MappingFileUpload | JSON, *, idempotency_key: str | None = None) -> models.MappingFileUploadSession:
        """Start the upload of a mapping file.

        Answers with a link for each part. PUT the file there in parts of 16 MiB, the
        last one what is left, keep the `ETag` of every reply, and complete the
        upload. Nothing is stored before.
        """
        return self.write(models.MappingFileUploadSession, "POST", "/api/v1/mapping-files/upload-url", body=body, key=idempotency_key)

    def complete_mapping_file_upload(self, body: models.MappingFileUploadCompletion | JSON, *, idempotency_key: str | None = None) -> models.MappingFile:
        """Finish the upload of a mapping file.

        Names the parts that were put, from 1 on, with the `ETag` of each. The file is
        checked and stored once. Bytes that the workspace has already are 200 with
        that file. A 413, 422 or 503 without `Retry-After` ends the session: open a
        new one.
        """
        return self.write(models.MappingFile, "POST", "/api/v1/mapping-files/upload-url/complete", body=body, key=idempotency_key)

    def list_workspaces(self, *, limit: int | None = None, next: str | None = None, owner: str | None = None, search: str | None = None, created_after: dt.datetime | None = None, created_before: dt.datetime | None = None, modified_after: dt.datetime | None = None, modified_before: dt.datetime | None = None) -> Paged[models.WorkspaceListItem, models.WorkspaceList]:
        """List workspaces.

        Newest first.
        """
        return self.paged(models.WorkspaceList, "workspaces", "/api/v1/workspaces", query={"limit": limit, "next": next, "owner": owner, "search": search, "createdAfter": created_after, "createdBefore": created_before, "modifiedAfter": modified_after, "modifiedBefore": modified_before})

    def create_workspace(self, body: models.WorkspaceCreate | JSON, *, idempotency_key: str | None = None) -> models.Workspace:
        """Create a workspace.

        It belongs to the account of the token, and the caller is its owner.
        """
        return self.write(models.Workspace, "POST", "/api/v1/workspaces", body=body, key=idempotency_key)

    def get_workspace(self, workspace_id: str) -> models.Workspace:
        """Get a workspace.

        The workspace with the numbers of what it holds.
        """
        return self.read(models.Workspace, "GET", f"/api/v1/workspaces/{segment(workspace_id)}")

    def delete_workspace(self, workspace_id: str, *, idempotency_key: str | None = None) -> models.WorkspaceDeletion:
        """Delete a workspace.

        At once the workspace, its configurations, tracesets of scope `workspace`,
        mapping files and simulation details answer 404; a background step removes
        them. Running simulations go on and are billed as usual. Repeating it while the
        deletion is in progress gives 202 again, and afterwards 404 unless it is
        repeated under its `Idempotency-Key`. Built-in workspaces are 403.
        """
        return self.write(models.WorkspaceDeletion, "DELETE", f"/api/v1/workspaces/{segment(workspace_id)}", key=idempotency_key)

    def update_workspace(self, workspace_id: str, body: models.WorkspaceUpdate | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Workspace:
        """Rename or describe a workspace.

        Read-only members of the resource sent back are ignored. A request that changes
        nothing leaves the ETag as it is. Built-in workspaces are 403.
        """
        return self.write(models.Workspace, "PATCH", f"/api/v1/workspaces/{segment(workspace_id)}", body=body, key=idempotency_key, if_match=if_match)

    def set_legacy_project(self, workspace_id: str, body: models.LegacyProjectSet | JSON, *, idempotency_key: str | None = None) -> models.LegacyProject:
        """Bind a workspace to a legacy project.

        Set once: repeating the same value answers `created` false, another value is
        409. Built-in workspaces are 403.
        """
        return self.write(models.LegacyProject, "POST", f"/api/v1/workspaces/{segment(workspace_id)}/legacy-project", body=body, key=idempotency_key)

    def list_balances(self, *, next: str | None = None, limit: int | None = None) -> Paged[models.Balance, models.BalanceList]:
        """List balances.

        One record per account and currency; of an account without any credit or cost, one
        of 0. Open holds are not part of a balance.
        """
        return self.paged(models.BalanceList, "balances", "/api/v1/billing/balance", query={"next": next, "limit": limit})

    def list_costs(self, *, start_date: dt.date, end_date: dt.date, workspace_name: str | None = None, user_name: str | None = None, next: str | None = None, limit: int | None = None) -> Paged[models.DailyCost, models.DailyCostList]:
        """List daily costs.

        Ordered by `date` and `dailyCostId`, ascending. Both ends of the range are
        inclusive; it covers at most 366 days.
        """
        return self.paged(models.DailyCostList, "costs", "/api/v1/billing/costs", query={"startDate": start_date, "endDate": end_date, "workspaceName": workspace_name, "userName": user_name, "next": next, "limit": limit})

    def get_cost_summary(self, *, start_date: dt.date, end_date: dt.date) -> models.CostSummary:
        """Summarise costs.

        Both ends of the range are inclusive; it covers at most 366 days.
        """
        return self.read(models.CostSummary, "GET", "/api/v1/billing/costs/summary", query={"startDate": start_date, "endDate": end_date})

    def get_focus_dataset(self, *, start_date: dt.date, end_date: dt.date, credit_price: Decimal | None = None) -> Download:
        """Get the costs of an account as a FOCUS dataset in CSV.

        A cost and usage dataset of FOCUS 1.2, the FinOps Open Cost and Usage Specification:
        the bytes that `netsim billing export` writes, described in `docs/focus.md`. There is a
        row for each daily cost in its newest version, and for each correction, of one snapshot;
        the rows add up to `GET /billing/costs/summary` exactly. A service token for every
        account gets the whole platform. Both ends of the range are inclusive; it covers at most
        366 days. 422 when they have more than 100,000 daily costs: ask for fewer days.

        Each process writes four datasets at a time, and one of an account: then 503 or 429 with
        `Retry-After`. When the dataset cannot be completed, or has not been received after two
        minutes, the connection is cut.
        """
        return self.download("/api/v1/billing/focus", query={"startDate": start_date, "endDate": end_date, "creditPrice": credit_price})

    def get_focus_dataset_parquet(self, *, start_date: dt.date, end_date: dt.date, credit_price: Decimal | None = None) -> Download:
        """Get the costs of an account as a FOCUS dataset in Parquet.

        The dataset of `GET /billing/focus`, with its limits, in Parquet.
        """
        return self.download("/api/v1/billing/focus.parquet", query={"startDate": start_date, "endDate": end_date, "creditPrice": credit_price})

    def list_billing_items(self, *, workspace_name: str | None = None, status: Literal["active", "closed"] | str | None = None, event_type: str | None = None, next: str | None = None, limit: int | None = None) -> Paged[models.BillingItem, models.BillingItemList]:
        """List billing items.

        Newest first.
        """
        return self.paged(models.BillingItemList, "items", "/api/v1/billing/items", query={"workspaceName": workspace_name, "status": status, "eventType": event_type, "next": next, "limit": limit})

    def get_billing_item(self, id: str) -> models.BillingItem:
        """Get a billing item.

        404 when the item is outside the caller's platform or account, or the id is not an integer.
        """
        return self.read(models.BillingItem, "GET", f"/api/v1/billing/items/{segment(id)}")

    def list_billing_events(self, *, workspace_name: str | None = None, user_name: str | None = None, event_type: str | None = None, start_date: dt.date | None = None, end_date: dt.date | None = None, next: str | None = None, limit: int | None = None) -> Paged[models.BillingEvent, models.BillingEventList]:
        """List billing events.

        Newest first. The range defaults to the last 30 days, both ends inclusive, and
        covers at most 366 days.
        """
        return self.paged(models.BillingEventList, "events", "/api/v1/billing/events", query={"workspaceName": workspace_name, "userName": user_name, "eventType": event_type, "startDate": start_date, "endDate": end_date, "next": next, "limit": limit})

    def list_rates(self, *, date: dt.date | None = None, user_name: str | None = None, next: str | None = None, limit: int | None = None) -> Paged[models.Rate, models.RateList]:
        """List rates.

        Ordered by `rateName`, `tierStart` and `startDate`. A tiered price is several
        rows of one `rateName`: follow `pagination.hasMore` until it is false. A
        `userName` does not narrow the answer; it is written to the audit log.
        """
        return self.paged(models.RateList, "rates", "/api/v1/billing/rates", query={"date": date, "userName": user_name, "next": next, "limit": limit})

    def get_bundle(self, *, from_: dt.date, to: dt.date, preliminary: bool | None = None, account: str | None = None) -> Download:
        """Get the bundle of an account.

        One file that proves the costs of an account in a period, which anybody can verify
        without this service (`netsim audit verify`, or the program in `docs/audit.md`):
        lines of JSON, the bytes that `netsim audit bundle` writes. It has the account's
        chain of billing events and that of the rates, the costs and totals of the period,
        the signed checkpoints since it began with the proofs that both chains are in them,
        and a seal. Of other accounts it has digests only.

        Both days are inclusive, and the range covers at most 366 days. A checkpoint must
        have been made after the last day; with `preliminary=true` one of the last day is
        enough, whose costs may still change. 409 when there is none yet, or when the
        account had no billing event before it. 422 when the period has more than 100,000
        costs: ask for fewer days. 503 without `Retry-After` when the service has no key to
        seal with, or another than the log's.

        The service reads the log up to the last checkpoint before the first line, which
        takes minutes when it is long. Each process writes four bundles at a time, and one of
        an account: then 503 or 429 with `Retry-After`. When the bundle cannot be completed,
        the connection is cut; a bundle without its last line, the seal, is not whole.
        """
        return self.download("/api/v1/billing/bundle", query={"from": from_, "to": to, "preliminary": preliminary, "account": account})

    def list_checkpoints(self, *, next: str | None = None, limit: int | None = None) -> Paged[models.LogCheckpoint, models.CheckpointList]:
        """List the checkpoints of the log.

        Newest first. A checkpoint says what the log of the whole deployment held at a time,
        signed by the deployment's key. It has numbers and digests over the records of all
        accounts together: no id of an account, and no record of one.
        """
        return self.paged(models.CheckpointList, "checkpoints", "/api/v1/billing/checkpoints", query={"next": next, "limit": limit})

    def get_checkpoint(self, name: str) -> Download:
        """Get a checkpoint of the log.

        The signed note, byte for byte as it is in the log; `docs/audit.md` describes it. Keep
        it where the operator cannot change it: a later bundle must have it. It has no id of
        an account, and no record of one. Of two checkpoints of one name this is the newer.
        """
        return self.download(f"/api/v1/billing/checkpoints/{segment(name)}")

    def list_read_models(self, *, limit: int | None = None) -> models.ReadModelList:
        """Show the read models.

        The live read model first; then those that are being rebuilt, and those of other
        releases. `limit` bounds the partitions that are shown of each, those that lag most
        first. The members are those of `netsim readmodel status --json`.
        """
        return self.read(models.ReadModelList, "GET", "/api/v1/operations/read-models", query={"limit": limit})

    def list_stream_families(self, *, limit: int | None = None) -> models.StreamFamilyList:
        """Show the streams by family.

        What the log has of each family, and what of it is not applied to the live read model
        or is parked. The members are those of `netsim streams --json`.
        """
        return self.read(models.StreamFamilyList, "GET", "/api/v1/operations/streams", query={"limit": limit})

    def list_parked_facts(self, *, stream: str | None = None, limit: int | None = None) -> models.ParkedFactList:
        """List the parked facts.

        Facts of the log that the live read model could not apply, by stream and sequence. All
        later facts of such a stream are parked with it. The list has no data of the facts: one
        fact's data is an operation of its own, which is recorded.
        """
        return self.read(models.ParkedFactList, "GET", "/api/v1/operations/parked-facts", query={"stream": stream, "limit": limit})

    def show_parked_fact(self, stream: str, sequence: int) -> models.ParkedFactContent:
        """Show a parked fact with its data.

        The data is that of the record in the log, whatever it is. The look is recorded in the
        log as an act of the operator, before the data is read: without that it is not shown.
        404 when the stream has no parked fact of this sequence.
        """
        return self.read(models.ParkedFactContent, "GET", f"/api/v1/operations/parked-facts/{segment(stream)}/{segment(sequence)}")

    def retry_parked_stream(self, stream: str, *, idempotency_key: str | None = None) -> models.ParkedRetry:
        """Apply the parked facts of a stream again.

        The projector applies them in order: all facts of the stream or none. The act is
        recorded in the log with its outcome: `succeeded` when nothing of the stream is parked
        any more. 404 when nothing of the stream is parked. 503 with `Retry-After` when no
        projector has answered in time: repeat the request with the same key.
        """
        return self.write(models.ParkedRetry, "POST", f"/api/v1/operations/parked-facts/{segment(stream)}/retry", key=idempotency_key)

    def list_reactions(self, *, limit: int | None = None) -> models.ReactionList:
        """Show the reactions.

        How far each handler has come in each partition: those with dead letters first, then
        those that lag most. Reactions commit their positions once a second, so the real lag can
        be a second less. The members are those of `netsim reactions --json`.
        """
        return self.read(models.ReactionList, "GET", "/api/v1/operations/reactions", query={"limit": limit})

    def list_dead_letters(self, *, limit: int | None = None) -> models.DeadLetterList:
        """List the dead letters.

        The facts that a handler could not process and that are not settled, by id. The list has
        no data of the facts: one fact's data is an operation of its own, which is recorded.
        """
        return self.read(models.DeadLetterList, "GET", "/api/v1/operations/dead-letters", query={"limit": limit})

    def retry_dead_letters(self, *, limit: int | None = None, idempotency_key: str | None = None) -> models.DeadLetterRetry:
        """Run the handlers of all dead letters again.

        Each open dead letter's fact is passed to its handler again; a letter is settled when the
        handler succeeds. The act is recorded in the log with its outcome: `succeeded` when all
        are settled. 503 with `Retry-After` when there was no time for all: repeat the request
        with the same key, and the rest follows.
        """
        return self.write(models.DeadLetterRetry, "POST", "/api/v1/operations/dead-letters/retry", query={"limit": limit}, key=idempotency_key)

    def show_dead_letter(self, handler_name: str, family: str, partition: int, offset: int) -> models.DeadLetterContent:
        """Show a dead letter with its data.

        The path has the parts of the letter's id. The data is that of the record in the log. The
        look is recorded in the log as an act of the operator, before the data is read: without
        that it is not shown. 404 when there is no such open dead letter.
        """
        return self.read(models.DeadLetterContent, "GET", f"/api/v1/operations/dead-letters/{segment(handler_name)}/{segment(family)}/{segment(partition)}/{segment(offset)}")

    def retry_dead_letter(self, handler_name: str, family: str, partition: int, offset: int, *, idempotency_key: str | None = None) -> models.DeadLetterRetry:
        """Run the handler of a dead letter again.

        The path has the parts of the letter's id. The letter is settled when the handler
        succeeds. The act is recorded in the log with its outcome. 404 when there is no such open
        dead letter. 503 with `Retry-After` when the handler did not end in time: repeat the
        request with the same key.
        """
        return self.write(models.DeadLetterRetry, "POST", f"/api/v1/operations/dead-letters/{segment(handler_name)}/{segment(family)}/{segment(partition)}/{segment(offset)}/retry", key=idempotency_key)

    def list_jobs(self, *, limit: int | None = None) -> models.JobList:
        """Show the jobs by kind and state.

        Unfinished jobs first. In `lastError` the secrets of the settings, and text that looks
        like a credential, are replaced. The members are those of `netsim jobs --json`.
        """
        return self.read(models.JobList, "GET", "/api/v1/operations/jobs", query={"limit": limit})

    def list_open_runs(self, *, limit: int | None = None) -> models.OpenRunList:
        """Show the simulations that have not ended.

        Of every account, by status, engine and age, the oldest first. `counts` counts all of
        them. The members are those of `netsim runs --json`.
        """
        return self.read(models.OpenRunList, "GET", "/api/v1/operations/runs", query={"limit": limit})

    def terminate_run(self, sim_id: str, body: models.RunTermination | JSON, *, idempotency_key: str | None = None) -> models.OperatorAct:
        """Terminate a simulation of any account.

        Stops it as its owner does by `POST /simulations/{sim_id}/terminate`, with the same
        refusals: 400 when it has no platform link, 409 when it is not running, 501 when its
        backend cannot terminate. The act is recorded in the log with the reason and its outcome:
        `failed` when it ended meanwhile, or when its engine refused with a 4xx. A remote engine is
        asked first: when it does not answer the status is 503, when it answers 500, 501, 502,
        503 or 504 that is the status, and 502 for any other failure of it; nothing has changed
        then, and the request can be repeated. Do not put names of persons into the reason.
        """
        return self.write(models.OperatorAct, "POST", f"/api/v1/operations/runs/{segment(sim_id)}/terminate", body=body, key=idempotency_key)

    def show_upgrade(self) -> models.UpgradeStatus:
        """Show the processes and the level of the deployment.

        Every process with sessions in the database, of the service and of tools, the answering
        one too. The members are those of `netsim upgrade status --json`.
        """
        return self.read(models.UpgradeStatus, "GET", "/api/v1/operations/upgrade")

    def show_lake(self) -> models.LakeStatus:
        """Show the lake.

        How far the lake is, and its files. 404 when the deployment has no lake. The members are
        those of `netsim lake --json`.
        """
        return self.read(models.LakeStatus, "GET", "/api/v1/operations/lake")

    def list_public_topics(self, *, limit: int | None = None) -> models.PublicTopicList:
        """Show the public topics.

        How far each partition of the log is published, those that lag most first. The members
        are those of `netsim events --json`.
        """
        return self.read(models.PublicTopicList, "GET", "/api/v1/operations/public-topics", query={"limit": limit})

    def show_log_checkpoint(self) -> models.LogCheckpointStatus:
        """Show the newest log checkpoint.

        A checkpoint is made every day by a process that has an audit key. It is shown as the log
        has it; its signature is not verified here.
        """
        return self.read(models.LogCheckpointStatus, "GET", "/api/v1/operations/checkpoint")

    def list_operator_acts(self, *, limit: int | None = None) -> models.OperatorActList:
        """List what operators did.

        The commands with which operators changed the deployment or looked at masked content, by
        the command line and by this API, the newest first. The members are those of
        `netsim operations list --json`.
        """
        return self.read(models.OperatorActList, "GET", "/api/v1/operations/acts", query={"limit": limit})

    def list_webhooks(self, *, limit: int | None = None, next: str | None = None) -> Paged[models.Webhook, models.WebhookList]:
        """List webhooks.

        Newest first. A caller sees the webhooks of its account whose reach is within its own.
        """
        return self.paged(models.WebhookList, "webhooks", "/api/v1/webhooks", query={"limit": limit, "next": next})

    def create_webhook(self, body: models.WebhookCreate | JSON, *, idempotency_key: str | None = None) -> models.Webhook:
        """Create a webhook.

        From now on, the events that the filter asks for and the caller may see are posted to
        the URL, by Standard Webhooks 1.0.0: the body is the CloudEvent that the feed sends,
        signed with `webhook-signature: v1,…` over `webhook-id`, `webhook-timestamp` and the
        body. The events of a stream come in order, each at least once: a receiver drops those
        whose `webhook-id` it has seen. A message that is not answered with 2xx is sent ten
        times in three days, and then given up; until then the later ones of its stream wait,
        and others do not. 410 disables the webhook. 429 and 503 with `Retry-After` slow it.

        What the caller may see now is the reach of the webhook, for ever: the workspaces of
        the token, and billing if the token reads it. Nobody with less may read or change it.

        The response has the secret, which is not shown again but to the same
        `Idempotency-Key`; `rotate-secret` makes another. The URL must be `https` and
        is looked up for each attempt: nothing is sent to an address that is not public. The
        URL is recorded in the log; it may have no user and no fragment. An account
        has at most 20 webhooks, 409 beyond.
        """
        return self.write(models.Webhook, "POST", "/api/v1/webhooks", body=body, key=idempotency_key)

    def get_webhook(self, webhook_id: str) -> models.Webhook:
        """Get a webhook.

        Without its secret.
        """
        return self.read(models.Webhook, "GET", f"/api/v1/webhooks/{segment(webhook_id)}")

    def delete_webhook(self, webhook_id: str, *, idempotency_key: str | None = None) -> models.WebhookDeletion:
        """Delete a webhook.

        From then on it is 404, unless the deletion is repeated under its `Idempotency-Key`.
        What waits is not sent.
        """
        return self.write(models.WebhookDeletion, "DELETE", f"/api/v1/webhooks/{segment(webhook_id)}", key=idempotency_key)

    def update_webhook(self, webhook_id: str, body: models.WebhookUpdate | JSON, *, if_match: Version | None = None, idempotency_key: str | None = None) -> models.Webhook:
        """Change where a webhook posts, and what.

        Members that are absent stay as they are; a filter replaces the whole filter. Messages
        that wait already are posted to the new URL. Read-only members of the resource sent
        back are ignored. A request that changes nothing leaves the ETag as it is.
        """
        return self.write(models.Webhook, "PATCH", f"/api/v1/webhooks/{segment(webhook_id)}", body=body, key=idempotency_key, if_match=if_match)

    def rotate_webhook_secret(self, webhook_id: str, body: models.WebhookRotation | JSON, *, idempotency_key: str | None = None) -> models.Webhook:
        """Make a new secret.

        Messages are signed with the new secret from now on, and with the former one too until
        the overlap ends: the header has both signatures, so a receiver may change its secret at
        any time in between. A rotation ends the overlap of an earlier one.
        """
        return self.write(models.Webhook, "POST", f"/api/v1/webhooks/{segment(webhook_id)}/rotate-secret", body=body, key=idempotency_key)

    def pause_webhook(self, webhook_id: str, *, idempotency_key: str | None = None) -> models.Webhook:
        """Pause a webhook.

        Nothing is sent until it is resumed, and nothing is lost. Pausing it again changes nothing. A
        webhook that is `disabled` is 409.
        """
        return self.write(models.Webhook, "POST", f"/api/v1/webhooks/{segment(webhook_id)}/pause", key=idempotency_key)

    def resume_webhook(self, webhook_id: str, *, idempotency_key: str | None = None) -> models.Webhook:
        """Resume a webhook.

        A webhook that is `paused` or `disabled` goes on where it stopped. Resuming an active one
        changes nothing.
        """
        return self.write(models.Webhook, "POST", f"/api/v1/webhooks/{segment(webhook_id)}/resume", key=idempotency_key)

    def test_webhook(self, webhook_id: str) -> models.WebhookAttempt:
        """Send a test message.

        Posts one signed message of the type `netsim.webhook.test` at once, also while the webhook is
        paused or disabled, and returns what came of it. It is not repeated. The response has
        200 whether or not the receiver took it.
        """
        return self.read(models.WebhookAttempt, "POST", f"/api/v1/webhooks/{segment(webhook_id)}/test")

    def replay_webhook(self, webhook_id: str, body: models.WebhookReplay | JSON, *, idempotency_key: str | None = None) -> models.Webhook:
        """Send events again.

        Posts all events again that the filter asks for, from a time or from a position of the feed on.
        What waits is dropped, because the replay has it. A position is the `id` or `position`
        of a feed (`GET /events`) with the filter of this webhook as its parameters, and of a
        token that sees the same. Exactly one of `since` and `lastEventId` is required.
        """
        return self.write(models.Webhook, "POST", f"/api/v1/webhooks/{segment(webhook_id)}/replay", body=body, key=idempotency_key)

    def list_webhook_attempts(self, webhook_id: str, *, limit: int | None = None, next: str | None = None) -> Paged[models.WebhookAttempt, models.WebhookAttemptList]:
        """List the attempts of a webhook.

        Newest first, with how many messages wait. The last 1,000 attempts at least are kept. Of
        what a receiver answered, the beginning is shown.
        """
        return self.paged(models.WebhookAttemptList, "attempts", f"/api/v1/webhooks/{segment(webhook_id)}/attempts", query={"limit": limit, "next": next})

    def get_stream(self, stream_id: str, *, from_: int | None = None, state: bool | None = None, limit: int | None = None, next: str | None = None) -> Paged[models.StreamFact, models.StreamPage]:
        """Read the facts of a stream.

        The facts of one resource, account or other stream, in the order of `sequence`. A
        record of the log that is not a fact is not among them. Each fact names its position
        in the log and the hash of the fact before it, so a page is a part of a chain.

        A caller sees a stream if it sees its events (`GET /events`), also when the resource
        is deleted. The streams of accounts and of the price list need a service token or the
        role `billing`; those of the platform, such as checkpoints, need a service token for
        every account. A caller with the role `operator` sees every stream. In the stream of
        an account, accesses to its billing are left out unless the caller sees every
        account: their sequences are missing.

        With `state`, each fact has the state that decisions about the stream saw before and
        after it. The service folds it again for each page, from the first fact on. A page
        with states reaches at most sequence 2,000, and the facts up to it have at most 64 MiB
        of data; beyond that the answer is 422, and without `state` the facts can be read.
        A fact that this release cannot apply leaves the state as it was, as do those after
        it; `parked` says that there is one.

        A page ends early when its data and states have more than 4 MiB, but has one fact at
        least.
        """
        return self.paged(models.StreamPage, "facts", f"/api/v1/streams/{segment(stream_id)}", query={"from": from_, "state": state, "limit": limit, "next": next})

    def list_causes(self, correlation_id: str, *, limit: int | None = None, next: str | None = None) -> Paged[models.CauseNode, models.CausePage]:
        """List what a request caused.

        The facts that one request led to, as a tree: the facts that the request itself
        recorded, those that followed from them in other streams, and the usage that was
        billed for it. `correlation_id` is the request's id, which its answer has in
        `X-Request-Id`.

        The nodes are in the order of their times. `parentId` is the fact that a node follows
        from: the recorded cause, else the fact before it in its stream if that belongs to
        the request too. A node without one is what the request itself recorded. Clocks of
        processes differ, so a node can come before its parent, or on an earlier page.

        A node is listed if the caller sees its event (`GET /events`). Others of the caller's
        account are counted in `hidden`; those of other accounts are as if they did not
        exist. A caller with the role `operator` sees all. An id that led to nothing that the caller may know of is 404.

        The steps of runs that releases before 0.4.0 recorded have no correlation id and are
        not listed. The costs that the nightly accrual books belong to no request.
        """
        return self.paged(models.CausePage, "nodes", f"/api/v1/causes/{segment(correlation_id)}", query={"limit": limit, "next": next})

    def list_event_schemas(self) -> models.EventSchemaList:
        """List the schemas of the events' data.

        The type of each event, with the path of the JSON Schema of its data. Needs no token.
        """
        return self.read(models.EventSchemaList, "GET", "/schemas")

    def get_event_schema(self, type: str, version: str) -> Download:
        """Get the JSON Schema of an event's data.

        What `dataschema` of an event names. Needs no token.
        """
        return self.download(f"/schemas/{segment(type)}/{segment(version)}")

    def get_health(self) -> models.Health:
        """Does the process answer.

        Checks nothing else; `GET /health/ready` says whether the parts of the process work.
        """
        return self.read(models.Health, "GET", "/api/v1/health")

    def get_readiness(self) -> models.Readiness:
        """Do its parts work.

        Answers within two seconds. `ready` and `degraded` are 200; `unavailable`
        is 503, while a check that is `required` fails: without it every read or
        every write is refused.
        """
        return self.read(models.Readiness, "GET", "/api/v1/health/ready")
