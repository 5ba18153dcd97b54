# Written by sdk/python/generate from api/openapi.yaml. Do not edit.
"""The resources of the contract."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Literal

from .._codec import Model


@dataclass(kw_only=True)
class LogPosition(Model):
    """Where a record is in the log."""

    family: Literal["workspaces", "configurations", "simulations", "tracesets", "mappingfiles", "billing", "checkpoints"] | str
    partition: int
    offset: int


@dataclass(kw_only=True)
class WebhookFilter(Model):
    """Which events; those that meet all of it. The members are the parameters of the feed. An empty one is every event of the reach."""

    type: list[str] | None = None
    """Only events of these types."""
    family: Literal["workspaces", "configurations", "simulations", "tracesets", "mappingfiles", "billing", "checkpoints"] | str | None = None
    """Only events of this family."""
    stream: str | None = None
    """Only events of this stream."""
    workspace: str | None = None
    """Only events of this workspace and of what it owns."""


@dataclass(kw_only=True)
class Webhook(Model):
    id: str
    url: str
    description: str | None = None
    filter: WebhookFilter
    state: Literal["active", "paused", "disabled"] | str
    reason: str | None = None
    """Why it is disabled."""
    stopped_at: dt.datetime | None = None
    """Since when it is paused or disabled."""
    secret: str | None = None
    """`whsec_` and base64. Only in the response to its creation and to a rotation."""
    secret_generation: int
    """Counts the secrets, from 1."""
    overlap_ends_at: dt.datetime | None = None
    """Until when the former secret signs too."""
    replayed_from: dt.datetime | None = None
    """The time from which the last replay began, if it began at a time."""
    version: int
    """That of the ETag."""
    created_by: str
    created_at: dt.datetime
    modified_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"stopped_at": "stoppedAt", "secret_generation": "secretGeneration", "overlap_ends_at": "overlapEndsAt", "replayed_from": "replayedFrom", "created_by": "createdBy", "created_at": "createdAt", "modified_at": "modifiedAt"}


@dataclass(kw_only=True)
class WebhookList(Model):
    webhooks: list[Webhook]
    pagination: Pagination


@dataclass(kw_only=True)
class WebhookCreate(Model):
    url: str
    description: str | None = None
    filter: WebhookFilter | None = None
    """Every event of the reach when absent."""


@dataclass(kw_only=True)
class WebhookUpdate(Model):
    url: str | None = None
    description: str | None = None
    """Removed when empty."""
    filter: WebhookFilter | None = None


@dataclass(kw_only=True)
class WebhookDeletion(Model):
    id: str
    status: Literal["deleted"] | str


@dataclass(kw_only=True)
class WebhookRotation(Model):
    overlap_seconds: int | None = None
    """How long the former secret signs too, at most seven days. A day when absent."""

    _wire: ClassVar[Mapping[str, str]] = {"overlap_seconds": "overlapSeconds"}


@dataclass(kw_only=True)
class WebhookReplay(Model):
    since: dt.datetime | None = None
    """From the first event recorded at this time or later."""
    last_event_id: str | None = None
    """After this position of the feed."""

    _wire: ClassVar[Mapping[str, str]] = {"last_event_id": "lastEventId"}


@dataclass(kw_only=True)
class WebhookAttempt(Model):
    message_id: str
    """The header `webhook-id`: the same in all attempts of a message."""
    event_id: str
    event_type: str
    stream: str | None = None
    """Of the event; absent in a test."""
    attempt: int
    """Counts the attempts of the message, from 1; 0 for a test."""
    started_at: dt.datetime
    duration_ms: int
    """In milliseconds."""
    status: int | None = None
    """The status of the answer; absent without one."""
    outcome: Literal["delivered", "failed", "givenUp"] | str
    """A message whose attempt `failed` is sent again; `givenUp` was the last."""
    next_attempt_at: dt.datetime | None = None
    """When the message is sent again at the earliest, while the webhook is active. Only the last attempt of a message that waits has it."""
    error: str | None = None
    """Why it failed."""
    excerpt: str | None = None
    """The beginning of the answer."""

    _wire: ClassVar[Mapping[str, str]] = {"message_id": "messageId", "event_id": "eventId", "event_type": "eventType", "started_at": "startedAt", "duration_ms": "durationMs", "next_attempt_at": "nextAttemptAt"}


@dataclass(kw_only=True)
class WebhookCounts(Model):
    waiting: int
    """Messages that are yet to be delivered."""
    delivered: int
    """Attempts, of those that are kept."""
    failed: int
    """Attempts, of those that are kept."""
    given_up: int
    """Attempts, of those that are kept."""

    _wire: ClassVar[Mapping[str, str]] = {"given_up": "givenUp"}


@dataclass(kw_only=True)
class WebhookAttemptList(Model):
    attempts: list[WebhookAttempt]
    counts: WebhookCounts
    pagination: Pagination


@dataclass(kw_only=True)
class StreamFact(Model):
    id: str
    """A UUID."""
    type: str
    data_version: int
    """Of the schema of the data."""
    sequence: int
    time: dt.datetime
    """When it happened."""
    recorded_time: dt.datetime
    """When the log recorded it."""
    hash: str
    previous_hash: str | None = None
    """The hash of the fact before it; absent for the first."""
    position: LogPosition
    actor: str | None = None
    """A user's id, an operator's, or `system`."""
    correlation_id: str | None = None
    """The request that led to it."""
    cause_id: str | None = None
    """The event that it reacts to."""
    data: Any = None
    """The event's data, as its type describes; absent when it is not JSON."""
    data_base64: str | None = None
    """The data when it is not JSON."""
    before: dict[str, Any] | None = None
    """The state before the fact; with `state`."""
    after: dict[str, Any] | None = None
    """The state after the fact; with `state`."""

    _wire: ClassVar[Mapping[str, str]] = {"data_version": "dataVersion", "recorded_time": "recordedTime", "previous_hash": "previousHash", "correlation_id": "correlationId", "cause_id": "causeId", "data_base64": "dataBase64"}


@dataclass(kw_only=True)
class StreamPage(Model):
    stream: str
    sequence: int
    """Of the stream's last fact."""
    parked: bool
    """Whether a fact of the stream cannot be applied."""
    facts: list[StreamFact]
    pagination: Pagination


@dataclass(kw_only=True)
class CauseNode(Model):
    id: str
    type: str
    stream: str
    sequence: int
    time: dt.datetime
    position: LogPosition
    actor: str | None = None
    cause_id: str | None = None
    """The recorded cause."""
    parent_id: str | None = None
    """The node that it follows from."""

    _wire: ClassVar[Mapping[str, str]] = {"cause_id": "causeId", "parent_id": "parentId"}


@dataclass(kw_only=True)
class CausePage(Model):
    correlation_id: str
    nodes: list[CauseNode]
    hidden: int
    """Facts of the caller's account in this page's part of the tree that it may not see."""
    pagination: Pagination

    _wire: ClassVar[Mapping[str, str]] = {"correlation_id": "correlationId"}


@dataclass(kw_only=True)
class FeedEvent(Model):
    """A fact as a CloudEvents 1.0 event: of the feed, and of a public topic in structured mode.
    A later release may add attributes.
    """

    specversion: Literal["1.0"] | str
    id: str
    """A UUID; the same when the event comes again."""
    source: str
    type: str
    """Such as `netsim.simulation.completed.v1`."""
    subject: str
    """The stream, such as the id of a simulation."""
    time: dt.datetime
    """When it happened."""
    datacontenttype: Literal["application/json"] | str
    dataschema: str
    """The path of the JSON Schema of `data`."""
    sequence: str
    """The number in the stream."""
    partitionkey: str
    """The workspace, or the account where there is none."""
    commandid: str | None = None
    """The command that made it."""
    actor: str | None = None
    """A user's id, an operator's, or `system`."""
    correlationid: str | None = None
    """The request that led to it."""
    causeid: str | None = None
    """The event that it reacts to."""
    dataversion: int
    """Of the schema of the data."""
    recordedtime: dt.datetime
    """When the log recorded it."""
    hash: str
    """SHA-256 in hex."""
    sourcetopic: str
    sourcepartition: int
    sourceoffset: str
    data: Any = None
    """What its type describes (`dataschema`); absent when it is not JSON."""
    data_base64: str | None = None
    """The data when it is not JSON."""
    position: str | None = None
    """The position after the event; of a line."""


@dataclass(kw_only=True)
class FeedEnd(Model):
    """Why a feed ended."""

    reason: Literal["slow", "lifetime", "shutdown", "unavailable", "unauthorized"] | str


@dataclass(kw_only=True)
class EventSchemaList(Model):
    items: list[EventSchemaListItems]


@dataclass(kw_only=True)
class EventSchemaListItems(Model):
    type: str
    """Of the events."""
    version: str
    """The `dataversion` of the events."""
    path: str
    """The `dataschema` of the events."""


@dataclass(kw_only=True)
class Pagination(Model):
    count: int
    """Items on this page; may be below the requested limit."""
    has_more: bool
    next_cursor: str | None = None
    """Present when there are more items."""

    _wire: ClassVar[Mapping[str, str]] = {"has_more": "hasMore", "next_cursor": "nextCursor"}


@dataclass(kw_only=True)
class SimpleSubmission(Model):
    name: str | None = None
    """Generated when absent, from the first operation, the ranks and the simulation id."""
    topology: str | None = None
    """Reserved; always refused."""
    topology_constraints: TopologyConstraints | None = None
    workload: SimpleWorkload | None = None
    groups: list[SimpleGroup] | None = None
    """Parallel groups that partition the ranks, in order."""

    _wire: ClassVar[Mapping[str, str]] = {"topology_constraints": "topologyConstraints"}


@dataclass(kw_only=True)
class TopologyConstraints(Model):
    """Hardware constraints of the derived topology."""

    switch_radix: Literal["64x800G", "128x400G", "256x200G"] | str | None = None
    """`128x400G` when absent."""
    subscription_ratio: Literal["1:1", "2:1", "3:1", "4:1"] | str | None = None
    """`1:1` when absent."""

    _wire: ClassVar[Mapping[str, str]] = {"switch_radix": "switchRadix", "subscription_ratio": "subscriptionRatio"}


@dataclass(kw_only=True)
class SimpleWorkload(Model):
    """All ranks execute the same phases in order."""

    ranks: int
    phases: list[SimplePhase]


@dataclass(kw_only=True)
class SimpleGroup(Model):
    """Groups of one specification run concurrently, on consecutive ranks."""

    count: int
    """Number of groups."""
    group_size: int
    """Ranks of each group."""
    phases: list[SimplePhase]

    _wire: ClassVar[Mapping[str, str]] = {"group_size": "groupSize"}


@dataclass(kw_only=True)
class SimplePhase(Model):
    operation_type: str
    """One of the operations of `GET /simple/compatibility`."""
    algorithm: str | None = None
    """The default of the operation when absent."""
    data_size: int
    """Bytes. For `allGather` contributed by each rank, for every other operation the total."""

    _wire: ClassVar[Mapping[str, str]] = {"operation_type": "operationType", "data_size": "dataSize"}


@dataclass(kw_only=True)
class SimpleAccepted(Model):
    """Echoes the `workload` or the `groups` submitted, with the algorithms resolved."""

    simulation_id: str
    status: Literal["accepted"] | str
    mode: Literal["sequential", "parallel"] | str
    """`sequential` for a workload, `parallel` for groups."""
    workload: SimpleWorkload | None = None
    groups: list[SimpleGroup] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId"}


@dataclass(kw_only=True)
class CompatibilityMatrix(Model):
    entries: list[CompatibilityEntry]


@dataclass(kw_only=True)
class CompatibilityEntry(Model):
    operation_type: str
    allowed_algorithms: list[str]
    default_algorithm: str
    power_of_two_required: list[str]
    """The algorithms that need a group of a power of two ranks."""

    _wire: ClassVar[Mapping[str, str]] = {"operation_type": "operationType", "allowed_algorithms": "allowedAlgorithms", "default_algorithm": "defaultAlgorithm", "power_of_two_required": "powerOfTwoRequired"}


@dataclass(kw_only=True)
class TopologyPreview(Model):
    topology: DerivedTopology


@dataclass(kw_only=True)
class DerivedTopology(Model):
    tier_count: int
    total_hosts: int
    ranks_per_host: int
    ranks_per_rack: int
    tiers: list[TopologyTier]
    links: TopologyLinks
    resolved_constraints: ResolvedConstraints

    _wire: ClassVar[Mapping[str, str]] = {"tier_count": "tierCount", "total_hosts": "totalHosts", "ranks_per_host": "ranksPerHost", "ranks_per_rack": "ranksPerRack", "resolved_constraints": "resolvedConstraints"}


@dataclass(kw_only=True)
class TopologyTier(Model):
    name: Literal["RSW", "FSW", "SSW"] | str
    switch_count: int
    downlinks_per_switch: int
    uplinks_per_switch: int
    downlink_data_rate_gbps: int
    uplink_data_rate_gbps: int
    effective_subscription_ratio: str | None = None
    """On the lowest tier only."""
    switch_capacity_utilization: float
    """Percent, two decimals."""

    _wire: ClassVar[Mapping[str, str]] = {"switch_count": "switchCount", "downlinks_per_switch": "downlinksPerSwitch", "uplinks_per_switch": "uplinksPerSwitch", "downlink_data_rate_gbps": "downlinkDataRateGbps", "uplink_data_rate_gbps": "uplinkDataRateGbps", "effective_subscription_ratio": "effectiveSubscriptionRatio", "switch_capacity_utilization": "switchCapacityUtilization"}


@dataclass(kw_only=True)
class TopologyLinks(Model):
    host_to_rsw: int
    rsw_to_fsw: int
    fsw_to_ssw: int

    _wire: ClassVar[Mapping[str, str]] = {"host_to_rsw": "hostToRsw", "rsw_to_fsw": "rswToFsw", "fsw_to_ssw": "fswToSsw"}


@dataclass(kw_only=True)
class ResolvedConstraints(Model):
    switch_radix: str
    subscription_ratio: str
    nic_network_port_speed: int
    """Gb/s."""
    effective_nic_speed: int
    """Gb/s."""
    switch_link_speed: int
    """Gb/s."""
    switching_capacity_gbps: int

    _wire: ClassVar[Mapping[str, str]] = {"switch_radix": "switchRadix", "subscription_ratio": "subscriptionRatio", "nic_network_port_speed": "nicNetworkPortSpeed", "effective_nic_speed": "effectiveNicSpeed", "switch_link_speed": "switchLinkSpeed", "switching_capacity_gbps": "switchingCapacityGbps"}


@dataclass(kw_only=True)
class SimulationListItem(Model):
    id: str
    workspace_id: str
    configuration_id: str
    configuration_version: int
    name: str
    status: Literal["validating", "provisioning", "running", "completed", "failed", "terminated", "invalid"] | str
    created_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "configuration_id": "configurationId", "configuration_version": "configurationVersion", "created_at": "createdAt"}


@dataclass(kw_only=True)
class SimulationList(Model):
    simulations: list[SimulationListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class Simulation(Model):
    id: str
    workspace_id: str
    configuration_id: str
    configuration_version: int
    name: str
    status: Literal["validating", "provisioning", "running", "completed", "failed", "terminated", "invalid"] | str
    created_at: dt.datetime
    started_at: dt.datetime | None = None
    completed_at: dt.datetime | None = None
    """When it reached its final state, whichever that is."""
    failure_reason: str | None = None
    metrics: SimulationMetrics | None = None
    """Present when available; those of the last progress while `running`."""
    progress: SimulationProgress | None = None
    """The last that was recorded; absent before there is any."""
    applied_mapping_file: MappingFileReference | None = None

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "configuration_id": "configurationId", "configuration_version": "configurationVersion", "created_at": "createdAt", "started_at": "startedAt", "completed_at": "completedAt", "failure_reason": "failureReason", "applied_mapping_file": "appliedMappingFile"}


@dataclass(kw_only=True)
class SimulationEvent(Model):
    simulation_id: str
    at: dt.datetime
    status: Literal["validating", "provisioning", "running", "completed", "failed", "terminated", "invalid"] | str
    failure_reason: str | None = None
    progress: SimulationProgress | None = None
    """Absent before there is any."""

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "failure_reason": "failureReason"}


@dataclass(kw_only=True)
class SimulationProgress(Model):
    """How far a run has come. What a remote engine does not tell is absent."""

    at: dt.datetime
    """When it was so."""
    simulated_time: str
    events_processed: int
    events_per_second: int
    """Of wall-clock time, since the run started."""
    delivered_bytes: int
    """Payload; a number beyond the maximum is given as the maximum."""
    total_bytes: int | None = None
    """Payload of the whole workload; a number beyond the maximum is given as the maximum."""
    finished_ranks: int
    total_ranks: int
    finished_collectives: int | None = None
    total_collectives: int | None = None
    last_collective: str | None = None
    """The last collective that finished, in words."""
    estimated_remaining: str | None = None
    """Wall-clock time until the end when the run goes on as it went until now;
    absent when it stands still, has ended or cannot be estimated.
    """
    stalled_since: dt.datetime | None = None
    """Since when simulated time stands still; absent while it moves."""

    _wire: ClassVar[Mapping[str, str]] = {"simulated_time": "simulatedTime", "events_processed": "eventsProcessed", "events_per_second": "eventsPerSecond", "delivered_bytes": "deliveredBytes", "total_bytes": "totalBytes", "finished_ranks": "finishedRanks", "total_ranks": "totalRanks", "finished_collectives": "finishedCollectives", "total_collectives": "totalCollectives", "last_collective": "lastCollective", "estimated_remaining": "estimatedRemaining", "stalled_since": "stalledSince"}


@dataclass(kw_only=True)
class SimulationMetrics(Model):
    simulated_time: str
    events_processed: int
    throughput: str

    _wire: ClassVar[Mapping[str, str]] = {"simulated_time": "simulatedTime", "events_processed": "eventsProcessed"}


@dataclass(kw_only=True)
class MappingFileReference(Model):
    id: str
    name: str
    deleted: bool


@dataclass(kw_only=True)
class SimulationStart(Model):
    workspace_id: str | None = None
    """The configuration's when absent; any other is refused."""
    configuration_id: str
    configuration_version: int | None = None
    """The newest when absent."""
    name: str
    duration: str
    checkpointing: Checkpointing | None = None

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "configuration_id": "configurationId", "configuration_version": "configurationVersion"}


@dataclass(kw_only=True)
class Checkpointing(Model):
    """Has the state of the run stored now and then, so that a lost worker costs the time since then and not all of it. The results are the same to the byte. The newest two are among the results, with the type `state`."""

    enabled: bool
    interval: str | None = None
    """Wall-clock time between checkpoints, at least `10s`; `10m` when absent."""


@dataclass(kw_only=True)
class StudyStart(Model):
    name: str
    workspace_id: str | None = None
    """That of the base when absent, which is the default workspace for a simple submission; any other is refused."""
    base: StudyBase
    axes: list[StudyAxis]
    method: Literal["grid", "list", "sample"] | str | None = None
    samples: int | None = None
    """How many points a `sample` has; not more than there are combinations. Needed for a sample, refused otherwise."""
    seed: int | None = None
    """Of a `sample`, 0 when absent. The same seed draws the same points."""
    stop_dominated: bool | None = None
    """Whether a run is terminated as soon as its point is dominated: a completed point of
    the same workload took less simulated time than the run has already taken, on a
    fabric that costs no more. Such a point is not on the Pareto front, whatever its
    time would be. It is `terminated`, its result has `stoppedBy` and `reason`, and
    what it has run is billed. The time so far is that of the last report of progress,
    so short runs complete. No when absent.
    """
    replicates: int | None = None
    prices: FabricPriceList | None = None
    """What fabrics cost, instead of the service's list: the form of `priceList` in
    `GET /studies/{study_id}/analysis`. The classes of a kind are ascending.
    """
    servers: bool | None = None

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "stop_dominated": "stopDominated"}


@dataclass(kw_only=True)
class StudyForecast(Model):
    points: int
    runs: int
    """Points that would get a simulation of their own."""
    shared: int
    """Points that would take the result of an equal run."""
    currency: Literal["CREDIT", "USD"] | str
    """Of the amounts."""
    most_held: Decimal
    """The credit that the runs would hold if as many as can be unfinished at a time were
    so, up to 128: each holds its price of one hour. With less free credit they hold
    what there is.
    """
    run_seconds: float | None = None
    """The expected sum of the wall-clock times of the runs, in seconds. Each run is
    expected to take the mean of the account's newest completed runs with as many ranks,
    whatever they computed. Absent when there are none for some run.
    """
    cost: Decimal | None = None
    """What that time of the runs costs at today's rates, without storage of results; absent without it."""

    _wire: ClassVar[Mapping[str, str]] = {"most_held": "mostHeld", "run_seconds": "runSeconds"}


@dataclass(kw_only=True)
class StudyBase(Model):
    """What is varied. Exactly one of the members."""

    simple: SimpleSubmission | None = None
    configuration: StudyConfiguration | None = None


@dataclass(kw_only=True)
class StudyConfiguration(Model):
    """A version of a configuration, with its traceset and its mapping file, and the limit of
    the simulated time of each run. The version need not be validated, because every point
    is.
    """

    configuration_id: str
    configuration_version: int | None = None
    """The newest when absent. A study keeps the version with which it started."""
    duration: str

    _wire: ClassVar[Mapping[str, str]] = {"configuration_id": "configurationId", "configuration_version": "configurationVersion"}


@dataclass(kw_only=True)
class StudyAxis(Model):
    field: str
    """Path of a field of the base: members joined by `.`, elements of lists in brackets,
    by their number from 0 or by their name. A field that the base does not have is
    added, but not an element. For a submission it is a field of the submission. For a
    configuration it is one of its document, such as
    `components[leaf].typedParameters.SwitchingCapacity.value`, or one of these four:
    `templateId`, whose template replaces the document, and keeps the base's traceset and
    mapping file; `tracesetId` and `mappingFileId`, which may be null for none;
    `duration`.
    """
    values: list[Any]
    """What the field takes; different values, except in a `list`."""


@dataclass(kw_only=True)
class StudyList(Model):
    studies: list[StudyListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class StudyListItem(Model):
    id: str
    workspace_id: str
    name: str
    status: Literal["running", "completed", "terminated"] | str
    method: Literal["grid", "list", "sample"] | str
    points: int
    created_at: dt.datetime
    ended_at: dt.datetime | None = None
    """When it was completed or terminated."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "created_at": "createdAt", "ended_at": "endedAt"}


@dataclass(kw_only=True)
class Study(Model):
    id: str
    workspace_id: str
    name: str
    status: Literal["running", "completed", "terminated"] | str
    reason: str | None = None
    """Of a termination. `request`, or why the service ended the study."""
    base: StudyBase
    axes: list[StudyAxis]
    method: Literal["grid", "list", "sample"] | str
    points: int
    seed: int | None = None
    stop_dominated: bool | None = None
    """As in the start; absent for false."""
    replicates: int | None = None
    """As in the start; absent for 1."""
    prices: FabricPriceList | None = None
    """As in the start."""
    servers: bool | None = None
    """As in the start; absent for false."""
    progress: StudyProgress
    created_at: dt.datetime
    ended_at: dt.datetime | None = None
    """When it was completed or terminated."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "stop_dominated": "stopDominated", "created_at": "createdAt", "ended_at": "endedAt"}


@dataclass(kw_only=True)
class StudyEvent(Model):
    study_id: str
    status: Literal["running", "completed", "terminated"] | str
    reason: str | None = None
    """Of a termination, as in the study."""
    progress: StudyProgress

    _wire: ClassVar[Mapping[str, str]] = {"study_id": "studyId"}


@dataclass(kw_only=True)
class StudyProgress(Model):
    """The number of points by state. Together they are all points, each replicate by itself."""

    waiting: int
    """Without a run."""
    shared: int
    """With the result of an equal run."""
    unfinished: int
    """With a run that has not ended."""
    completed: int
    failed: int
    terminated: int
    invalid: int


@dataclass(kw_only=True)
class StudyResults(Model):
    study_id: str
    results: list[StudyResult]
    pagination: Pagination

    _wire: ClassVar[Mapping[str, str]] = {"study_id": "studyId"}


@dataclass(kw_only=True)
class StudyResult(Model):
    point: int
    """Its number, from 0."""
    inputs: dict[str, Any]
    """The value of each axis, by its field."""
    status: Literal["waiting", "validating", "provisioning", "running", "completed", "failed", "terminated", "invalid"] | str
    """That of its simulation; `waiting` without one. A run that was terminated at its end
    is `completed`, because its results are whole. Of replicates, that of the one which
    is furthest from `completed`.
    """
    simulation_id: str | None = None
    """Absent when it is deleted. Of replicates, that with the median time, as soon as all are completed."""
    shared: bool
    """Whether the simulation is that of something else with equal inputs."""
    figures: StudyFigures | None = None
    """Of whole results of the built-in engine."""
    replicates: StudyReplicates | None = None
    fabric: StudyFabric | None = None
    failure_reason: str | None = None
    stopped_by: int | None = None
    """The number of the point that dominates this one, if the study therefore stopped it."""
    reason: str | None = None
    """Why, with the figures of both."""
    warnings: list[Finding] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "failure_reason": "failureReason", "stopped_by": "stoppedBy"}


@dataclass(kw_only=True)
class StudyReplicates(Model):
    """The points that differ in their seeds only: how many are completed, and their times.
    The median is that of a run: of an even number, the lower of the two in the middle.
    """

    completed: int
    median_time_ps: int | None = None
    """This and the next two are absent without a completed one."""
    least_time_ps: int | None = None
    most_time_ps: int | None = None
    runs: list[StudyReplicate]

    _wire: ClassVar[Mapping[str, str]] = {"median_time_ps": "medianTimePs", "least_time_ps": "leastTimePs", "most_time_ps": "mostTimePs"}


@dataclass(kw_only=True)
class StudyReplicate(Model):
    status: Literal["waiting", "validating", "provisioning", "running", "completed", "failed", "terminated", "invalid"] | str
    simulation_id: str | None = None
    simulated_time_ps: int | None = None
    """Absent unless it is completed."""

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "simulated_time_ps": "simulatedTimePs"}


@dataclass(kw_only=True)
class StudyFabric(Model):
    """What the fabric of a point is made of, and what it costs by the price list."""

    price: Decimal
    """In the currency of the price list."""
    power_watts: Decimal
    """Under load."""
    switches: int
    nics: int
    links: int
    servers: int | None = None
    """Absent unless the price includes them."""

    _wire: ClassVar[Mapping[str, str]] = {"power_watts": "powerWatts"}


@dataclass(kw_only=True)
class StudyAnalysis(Model):
    study_id: str
    price_list: FabricPriceList
    points: int
    """Of the study."""
    completed: int
    """How many of them the analysis is of."""
    front: list[StudyFrontPoint]
    """The fronts of all workloads, one after the other, each by ascending time."""
    axes: list[StudyAxisAnalysis]
    """All axes. Without groups are those of the workload and the seed, and, in a study of
    several workloads, all: `workloads` has their figures.
    """
    workloads: list[StudyWorkload]
    """The points that have the same values of the axes of kind `workload`."""

    _wire: ClassVar[Mapping[str, str]] = {"study_id": "studyId", "price_list": "priceList"}


@dataclass(kw_only=True)
class StudyWorkload(Model):
    inputs: dict[str, Any]
    """The values of the axes of kind `workload`."""
    completed: int
    front: list[int]
    """The numbers of its points, by ascending time."""
    axes: list[StudyAxisAnalysis]
    """Those of kind `design`."""


@dataclass(kw_only=True)
class FabricPriceList(Model):
    version: str | None = None
    """Changes with every figure of the list; `own` when absent."""
    currency: str
    assumption: str | None = None
    """Where the figures come from, and what they leave out."""
    switches: list[PriceClass]
    """By the sum of the rates of the connected ports of the largest switch of its kind."""
    nics: list[PriceClass]
    """By the rate of a NIC."""
    copper: list[PriceClass]
    """A cable between a NIC and a switch, by its rate."""
    optical: list[PriceClass]
    """A link between switches with both transceivers and the fibre, by its rate."""
    servers: list[PriceClass] | None = None
    """Without their NICs, by the sum of the rates of these; needed when a study counts servers."""


@dataclass(kw_only=True)
class PriceClass(Model):
    """What one part costs that needs no more than a rate."""

    gbps: int
    price: Decimal
    watts: Decimal


@dataclass(kw_only=True)
class StudyFrontPoint(Model):
    point: int
    inputs: dict[str, Any]
    simulation_id: str | None = None
    """Absent when it is deleted."""
    simulated_time_ps: int
    """The median of replicates."""
    replicates: StudyReplicates | None = None
    fabric: StudyFabric
    warnings: list[Finding] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "simulated_time_ps": "simulatedTimePs"}


@dataclass(kw_only=True)
class StudyAxisAnalysis(Model):
    field: str
    kind: Literal["workload", "design", "seed"] | str
    """What the axis varies. The `workload`: fields in `workload`, `groups`, `tracesetId`
    and `applications`; the `seed`; or the `design`, which is everything else. Points
    are compared within one workload, and points that differ in their seeds only are
    replicates.
    """
    no_effect: str | None = None
    """Why the axis does not change the time. Absent if it does, and if no two completed
    points differ in this axis only.
    """
    time: StudySensitivity
    price: StudySensitivity

    _wire: ClassVar[Mapping[str, str]] = {"no_effect": "noEffect"}


@dataclass(kw_only=True)
class StudySensitivity(Model):
    """How much an objective changes along an axis. Points that differ only in this axis are
    a group; the ratios are over the smallest objective of a group.
    """

    groups: int
    """Of at least two points."""
    mean_ratio: float | None = None
    """The mean of the groups' largest ratios; absent without groups."""
    max_ratio: float | None = None
    values: list[StudyValue]

    _wire: ClassVar[Mapping[str, str]] = {"mean_ratio": "meanRatio", "max_ratio": "maxRatio"}


@dataclass(kw_only=True)
class StudyValue(Model):
    value: Any
    """That of the axis; any JSON value."""
    groups: int
    """That have the value."""
    mean_ratio: float | None = None
    """Absent without groups."""
    best: int
    """In how many groups it has the smallest objective."""

    _wire: ClassVar[Mapping[str, str]] = {"mean_ratio": "meanRatio"}


@dataclass(kw_only=True)
class StudyFigures(Model):
    ranks: int
    simulated_time_ps: int
    """Simulated time, in picoseconds."""
    goodput_bps: int
    """Delivered payload over simulated time, in bit/s."""
    busiest_tier: str
    """The tier and direction of links with the highest mean utilisation."""
    link_utilization: float
    """That utilisation."""
    bottleneck: str
    """The kind, tier and direction of the resources that limited flows longest."""
    bottleneck_share: float
    """Their part of the flow time."""
    exposed_share: float
    """Mean part of the ranks' time without computation."""
    unfinished_ranks: int | None = None
    """Ranks that the duration of the run cut off. Such a point is not compared with others. Absent for 0."""

    _wire: ClassVar[Mapping[str, str]] = {"simulated_time_ps": "simulatedTimePs", "goodput_bps": "goodputBps", "busiest_tier": "busiestTier", "link_utilization": "linkUtilization", "bottleneck_share": "bottleneckShare", "exposed_share": "exposedShare", "unfinished_ranks": "unfinishedRanks"}


@dataclass(kw_only=True)
class SimulationComparison(Model):
    simulation_id: str
    other_id: str
    sentence: str
    """The main cause of the difference."""
    inputs: ComparedInputs
    fabrics: ComparedFabrics
    results: ComparedResults

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "other_id": "otherId"}


@dataclass(kw_only=True)
class ComparedFabrics(Model):
    """What the networks cost by the price list of `GET /studies/{study_id}/analysis`; one is
    absent if its configuration is gone.
    """

    price_list: str
    """Its version."""
    currency: str
    """That of its prices."""
    this: StudyFabric | None = None
    other: StudyFabric | None = None

    _wire: ClassVar[Mapping[str, str]] = {"price_list": "priceList"}


@dataclass(kw_only=True)
class ComparedInputs(Model):
    equal: bool
    changes: list[InputChange]
    omitted: int
    """How many more there are."""


@dataclass(kw_only=True)
class InputChange(Model):
    """One difference of the inputs."""

    kind: Literal["added", "removed", "changed"] | str
    subject: str
    """`submission`, `run`, or an entity or member of the configuration."""
    path: str
    """The field of a submission or of the request of a run; a JSON Pointer in a configuration."""
    before: Any = None
    """The value in this run, if it is short; only of what is `changed`."""
    after: Any = None
    """As `before`, in the other run."""
    text: str


@dataclass(kw_only=True)
class ComparedResults(Model):
    """Figures side by side. Times are in picoseconds, rates in bit/s."""

    figures: ComparedResultsFigures
    collectives: list[ComparedResultsCollectives]
    """The kinds of collectives in pairs: equal ones, then those that differ in the
    algorithm, then also in the size, then also in the group.
    """
    tiers: list[ComparedResultsTiers]
    """The interfaces of a tier in one direction."""
    limits: list[ComparedResultsLimits]
    """What limited flows, by kind, tier and direction, as a part of the flow time."""
    critical_path: ComparedCriticalPath | None = None
    stragglers: list[ComparedResultsStragglers]
    """Ranks that computed at least 1.1 times the median in one of the runs, the slowest ten of each."""

    _wire: ClassVar[Mapping[str, str]] = {"critical_path": "criticalPath"}


@dataclass(kw_only=True)
class ComparedResultsFigures(Model):
    simulated_time_ps: ComparedCounts
    goodput_bps: ComparedCounts
    mean_transfer_time_ps: ComparedCounts
    payload_bytes: ComparedCounts
    transfers: ComparedCounts
    collectives: ComparedCounts
    ranks: ComparedCounts
    mean_compute_time_ps: ComparedCounts
    """Of the ranks."""
    mean_exposed_time_ps: ComparedCounts
    """Of the ranks; time without computation."""

    _wire: ClassVar[Mapping[str, str]] = {"simulated_time_ps": "simulatedTimePs", "goodput_bps": "goodputBps", "mean_transfer_time_ps": "meanTransferTimePs", "payload_bytes": "payloadBytes", "mean_compute_time_ps": "meanComputeTimePs", "mean_exposed_time_ps": "meanExposedTimePs"}


@dataclass(kw_only=True)
class ComparedResultsCollectives(Model):
    this: ComparedKind | None = None
    other: ComparedKind | None = None


@dataclass(kw_only=True)
class ComparedResultsTiers(Model):
    tier: str
    direction: Literal["ul", "dl"] | str
    interfaces: ComparedCounts
    mean_utilization: ComparedShares
    max_utilization: ComparedShares

    _wire: ClassVar[Mapping[str, str]] = {"mean_utilization": "meanUtilization", "max_utilization": "maxUtilization"}


@dataclass(kw_only=True)
class ComparedResultsLimits(Model):
    resources: str
    flow_time_share: ComparedShares

    _wire: ClassVar[Mapping[str, str]] = {"flow_time_share": "flowTimeShare"}


@dataclass(kw_only=True)
class ComparedResultsStragglers(Model):
    rank: int
    compute_time_ps: ComparedCounts

    _wire: ClassVar[Mapping[str, str]] = {"compute_time_ps": "computeTimePs"}


@dataclass(kw_only=True)
class ComparedCriticalPath(Model):
    """The four parts add up to the time of each run, to the picosecond. The lists begin with the largest
    difference; an operation has the transfers of the ten collectives that took most.
    """

    activities: ComparedCounts
    """Computations and transfers."""
    computation_ps: ComparedCounts
    sending_ps: ComparedCounts
    """Transfers, as long as they would drain beside those of their sender only."""
    contention_ps: ComparedCounts
    """How much longer they drained because other ranks used their links."""
    latency_ps: ComparedCounts
    ranks: list[ComparedCriticalPathRanks]
    links: list[ComparedCriticalPathLinks]
    operations: list[ComparedCriticalPathOperations]

    _wire: ClassVar[Mapping[str, str]] = {"computation_ps": "computationPs", "sending_ps": "sendingPs", "contention_ps": "contentionPs", "latency_ps": "latencyPs"}


@dataclass(kw_only=True)
class ComparedCriticalPathRanks(Model):
    rank: int
    computation_ps: ComparedCounts

    _wire: ClassVar[Mapping[str, str]] = {"computation_ps": "computationPs"}


@dataclass(kw_only=True)
class ComparedCriticalPathLinks(Model):
    name: str
    time_ps: ComparedCounts
    contention_ps: ComparedCounts

    _wire: ClassVar[Mapping[str, str]] = {"time_ps": "timePs", "contention_ps": "contentionPs"}


@dataclass(kw_only=True)
class ComparedCriticalPathOperations(Model):
    operation_type: str
    """Empty for plain sends."""
    time_ps: ComparedCounts

    _wire: ClassVar[Mapping[str, str]] = {"operation_type": "operationType", "time_ps": "timePs"}


@dataclass(kw_only=True)
class ComparedKind(Model):
    """The collectives of one kind."""

    operation_type: str
    algorithm: str
    size_bytes: int
    group_size: int
    count: int
    """How many finished."""
    mean_run_time_ps: int
    ideal_time_ps: int
    """The closed form of the algorithm at the rate of the NICs without latency."""
    bus_bandwidth_bps: int

    _wire: ClassVar[Mapping[str, str]] = {"operation_type": "operationType", "size_bytes": "sizeBytes", "group_size": "groupSize", "mean_run_time_ps": "meanRunTimePs", "ideal_time_ps": "idealTimePs", "bus_bandwidth_bps": "busBandwidthBps"}


@dataclass(kw_only=True)
class ComparedCounts(Model):
    """A figure of both runs."""

    this: int | None = None
    other: int | None = None


@dataclass(kw_only=True)
class ComparedShares(Model):
    """A part in both runs."""

    this: float | None = None
    other: float | None = None


@dataclass(kw_only=True)
class StudyDeletion(Model):
    id: str
    status: Literal["deleting"] | str
    message: str


@dataclass(kw_only=True)
class SimulationDeletion(Model):
    id: str
    status: Literal["deleting"] | str
    message: str


@dataclass(kw_only=True)
class Results(Model):
    simulation_id: str
    duration: str
    """Simulated time."""
    summary: ResultSummary
    accuracy: Accuracy
    dashboard_url: str
    """Absolute URL of the simulation's page in the console; where the deployment has none, of the simulation itself."""
    files: list[ResultFile]
    pagination: Pagination

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "dashboard_url": "dashboardUrl"}


@dataclass(kw_only=True)
class Accuracy(Model):
    """How far the simulated time may be from that of a reference, as far as that was
    compared. It follows from the configuration, the workload and the summary of the run,
    and from the cases that this release was compared with; it is found when the results
    are read, so another release may say something else of the same results. The
    references are formulas and other simulators, not measurements on hardware.
    """

    class_: Literal["closed-form", "compared", "extrapolated", "not-compared"] | str
    band: AccuracyBand | None = None
    outside: list[str]
    """What of the run is beyond the compared cases, if the class is `extrapolated`. Empty
    otherwise, and for a caller who may not read the simulation.
    """
    basis: str
    """What the class is based on, and where it does not hold."""

    _wire: ClassVar[Mapping[str, str]] = {"class_": "class"}


@dataclass(kw_only=True)
class AccuracyBand(Model):
    """The relative errors of the compared cases of the same algorithms and kind of network:
    by how many percent their simulated times were longer than those of the references.
    If the class is `extrapolated`, the band is of those cases only, and does not bound
    the error of this run. Absent if nothing was compared.
    """

    lowest_percent: float
    highest_percent: float
    cases: int
    """How many cases were compared."""
    references: list[str]
    """What they were compared with. Cases whose reference ends in `fitted` were used while the model was developed."""

    _wire: ClassVar[Mapping[str, str]] = {"lowest_percent": "lowestPercent", "highest_percent": "highestPercent"}


@dataclass(kw_only=True)
class ResultSummary(Model):
    total_packets: int
    avg_latency: str
    """Mean completion time of the transfers."""
    throughput: str
    drop_rate: float

    _wire: ClassVar[Mapping[str, str]] = {"total_packets": "totalPackets", "avg_latency": "avgLatency", "drop_rate": "dropRate"}


@dataclass(kw_only=True)
class ResultFile(Model):
    type: Literal["pcap", "csv", "json", "log", "state", "unknown"] | str
    name: str
    size: str
    download_url: str
    """Valid for 900 seconds."""

    _wire: ClassVar[Mapping[str, str]] = {"download_url": "downloadUrl"}


@dataclass(kw_only=True)
class ResultDownload(Model):
    simulation_id: str
    file_name: str
    content_type: str
    size_bytes: int
    checksum: str
    download_url: str
    expires_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId", "file_name": "fileName", "content_type": "contentType", "size_bytes": "sizeBytes", "download_url": "downloadUrl", "expires_at": "expiresAt"}


@dataclass(kw_only=True)
class ResultData(Model):
    simulation_id: str
    metric: Literal["critical-path", "nd-stats", "perf", "pfc", "timeline"] | str
    mode: Literal["summary", "perfetto"] | str
    tier: Literal["all", "ssw", "fsw", "rsw", "nic"] | str
    file: ResultDataFile
    metadata: ResultDataMetadata

    _wire: ClassVar[Mapping[str, str]] = {"simulation_id": "simulationId"}


@dataclass(kw_only=True)
class ResultDataFile(Model):
    name: str
    size: str
    content_type: str
    download_url: str
    expires_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"content_type": "contentType", "download_url": "downloadUrl", "expires_at": "expiresAt"}


@dataclass(kw_only=True)
class ResultDataMetadata(Model):
    cached: bool
    """False on the computing call."""
    computed_at: dt.datetime
    rows_processed: int
    compute_time_ms: int

    _wire: ClassVar[Mapping[str, str]] = {"computed_at": "computedAt", "rows_processed": "rowsProcessed", "compute_time_ms": "computeTimeMs"}


@dataclass(kw_only=True)
class LogEntry(Model):
    timestamp: dt.datetime
    level: Literal["debug", "info", "warn", "error"] | str
    component: str
    message: str


@dataclass(kw_only=True)
class LogPage(Model):
    logs: list[LogEntry]
    pagination: Pagination


@dataclass(kw_only=True)
class ConfigurationListItem(Model):
    id: str
    workspace_id: str
    name: str
    status: Literal["draft", "validated", "invalid"] | str
    version: int
    component_count: int
    created_at: dt.datetime
    modified_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "component_count": "componentCount", "created_at": "createdAt", "modified_at": "modifiedAt"}


@dataclass(kw_only=True)
class ConfigurationList(Model):
    configurations: list[ConfigurationListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class ConfigurationCreate(Model):
    workspace_id: str | None = None
    """The default workspace when absent."""
    name: str
    components: list[Component]
    containers: list[Container]
    applications: list[Application]
    links: list[Component]
    topology: Topology
    global_parameters: dict[str, Any]
    active_traceset: ConfigurationCreateActiveTraceset | None = None

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "global_parameters": "globalParameters", "active_traceset": "activeTraceset"}


@dataclass(kw_only=True)
class ConfigurationCreateActiveTraceset(Model):
    id: str


@dataclass(kw_only=True)
class ConfigurationUpdate(Model):
    name: str | None = None
    """Unchanged when null."""
    components: list[Component] | None = None
    containers: list[Container] | None = None
    applications: list[Application] | None = None
    links: list[Component] | None = None
    topology: Topology | None = None
    global_parameters: dict[str, Any] | None = None
    active_traceset: ConfigurationUpdateActiveTraceset | None = None

    _wire: ClassVar[Mapping[str, str]] = {"global_parameters": "globalParameters", "active_traceset": "activeTraceset"}


@dataclass(kw_only=True)
class ConfigurationUpdateActiveTraceset(Model):
    id: str
    name: str | None = None
    """Ignored."""


@dataclass(kw_only=True)
class ConfigurationClone(Model):
    name: str
    workspace_id: str | None = None
    """That of the original when absent."""
    version: int | None = None
    """The newest when absent."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId"}


@dataclass(kw_only=True)
class ApplicationRemoval(Model):
    id: str
    status: Literal["draft", "validated", "invalid"] | str
    message: str


@dataclass(kw_only=True)
class ServerReferenceAdd(Model):
    name: str
    type: Literal["nic", "gpu", "application"] | str
    count: int | None = None
    """1 when absent."""
    group: str | None = None
    parent_application_name: str | None = None
    """Required where the type is `application`, and only there."""

    _wire: ClassVar[Mapping[str, str]] = {"parent_application_name": "parentApplicationName"}


@dataclass(kw_only=True)
class ContainerReferenceAdd(Model):
    name: str
    type: Literal["switch", "server", "rack"] | str
    count: int | None = None
    """1 when absent."""
    group: str | None = None


@dataclass(kw_only=True)
class TopologyReferenceAdd(Model):
    name: str
    type: Literal["switch", "layer", "pod", "rack"] | str
    count: int | None = None
    """1 when absent."""


@dataclass(kw_only=True)
class ReferenceChange(Model):
    """What is absent stays; at least one member is required."""

    count: int | None = None
    group: str | None = None
    """Removed when empty."""


@dataclass(kw_only=True)
class TopologyReferenceChange(Model):
    count: int


@dataclass(kw_only=True)
class DistributionUpdate(Model):
    parent_application: str
    distribution_id: str
    value: float

    _wire: ClassVar[Mapping[str, str]] = {"parent_application": "parentApplication", "distribution_id": "distributionId"}


@dataclass(kw_only=True)
class MappingFileAttachment(Model):
    mapping_file_id: str

    _wire: ClassVar[Mapping[str, str]] = {"mapping_file_id": "mappingFileId"}


@dataclass(kw_only=True)
class MappingFileItem(Model):
    id: str
    name: str
    """For people; the simulator knows every mapping file as `chakra-mapping.txt`."""
    workspace_id: str
    size_bytes: int
    rank_count: int
    scale_up_group_count: int
    has_scale_up: bool
    created_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "size_bytes": "sizeBytes", "rank_count": "rankCount", "scale_up_group_count": "scaleUpGroupCount", "has_scale_up": "hasScaleUp", "created_at": "createdAt"}


@dataclass(kw_only=True)
class MappingFileList(Model):
    items: list[MappingFileItem]
    pagination: Pagination


@dataclass(kw_only=True)
class MappingFile(Model):
    id: str
    name: str
    """For people; the simulator knows every mapping file as `chakra-mapping.txt`."""
    workspace_id: str
    size_bytes: int
    rank_count: int
    scale_up_group_count: int
    has_scale_up: bool
    created_at: dt.datetime
    description: str | None = None
    hash: str
    """`crc64nvme:` and the checksum of the content, base64url without padding."""
    etag: str
    """As in the header `ETag`."""
    duplicate_of_existing: bool
    """True in the reply to an upload of what the workspace has already."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "size_bytes": "sizeBytes", "rank_count": "rankCount", "scale_up_group_count": "scaleUpGroupCount", "has_scale_up": "hasScaleUp", "created_at": "createdAt", "duplicate_of_existing": "duplicateOfExisting"}


@dataclass(kw_only=True)
class MappingFileDownload(Model):
    url: str
    """Valid for 900 seconds."""
    expires_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"expires_at": "expiresAt"}


@dataclass(kw_only=True)
class TracesetAttachment(Model):
    traceset_id: str

    _wire: ClassVar[Mapping[str, str]] = {"traceset_id": "tracesetId"}


@dataclass(kw_only=True)
class Configuration(Model):
    id: str
    workspace_id: str
    name: str
    status: Literal["draft", "validated", "invalid"] | str
    created_at: dt.datetime
    modified_at: dt.datetime
    version: int
    component_count: int
    """Declared components, reachable or not."""
    components: list[Component]
    containers: list[Container]
    applications: list[Application]
    links: list[Component]
    topology: Topology
    global_parameters: dict[str, Any]
    active_traceset: TracesetReference | None = None
    active_mapping_file: MappingFileReference | None = None
    parent_configuration_id: str | None = None
    warnings: list[str] | None = None
    """Only in the answer to `PATCH /configurations/{config_id}`: the declared components
    that the topology does not reach, so that `components` does not list them.
    """

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "created_at": "createdAt", "modified_at": "modifiedAt", "component_count": "componentCount", "global_parameters": "globalParameters", "active_traceset": "activeTraceset", "active_mapping_file": "activeMappingFile", "parent_configuration_id": "parentConfigurationId"}


@dataclass(kw_only=True)
class ConfigurationVersion(Model):
    """The document as it was; what belongs to the configuration and not to a version is absent."""

    version: int
    created_at: dt.datetime
    components: list[Component]
    containers: list[Container]
    applications: list[Application]
    links: list[Component]
    topology: Topology
    global_parameters: dict[str, Any]
    active_traceset: TracesetReference | None = None
    active_mapping_file: MappingFileReference | None = None
    parent_configuration_id: str | None = None

    _wire: ClassVar[Mapping[str, str]] = {"created_at": "createdAt", "global_parameters": "globalParameters", "active_traceset": "activeTraceset", "active_mapping_file": "activeMappingFile", "parent_configuration_id": "parentConfigurationId"}


@dataclass(kw_only=True)
class ConfigurationVersionList(Model):
    versions: list[ConfigurationVersionItem]


@dataclass(kw_only=True)
class ConfigurationVersionItem(Model):
    version: int
    created_at: dt.datetime
    status: Literal["draft", "validated", "invalid"] | str

    _wire: ClassVar[Mapping[str, str]] = {"created_at": "createdAt"}


@dataclass(kw_only=True)
class TemplateListItem(Model):
    id: str
    name: str
    description: str
    category: Literal["getting-started", "benchmark", "reference-design", "what-if"] | str
    visibility: Literal["account", "public"] | str


@dataclass(kw_only=True)
class TemplateList(Model):
    templates: list[TemplateListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class Template(Model):
    id: str
    name: str
    description: str
    category: Literal["getting-started", "benchmark", "reference-design", "what-if"] | str
    visibility: Literal["account", "public"] | str
    configuration: Configuration


@dataclass(kw_only=True)
class TemplateCreate(Model):
    name: str
    description: str
    category: Literal["getting-started", "benchmark", "reference-design", "what-if"] | str
    visibility: Literal["account", "public"] | str | None = None
    """`account` when absent."""
    components: list[Component] | None = None
    containers: list[Container] | None = None
    applications: list[Application] | None = None
    links: list[Component] | None = None
    topology: Topology | None = None
    """Of one tier and empty when absent."""
    global_parameters: dict[str, Any] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"global_parameters": "globalParameters"}


@dataclass(kw_only=True)
class TemplateClone(Model):
    name: str
    workspace_id: str | None = None
    """The default workspace when absent."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId"}


@dataclass(kw_only=True)
class ConfigurationApplicationList(Model):
    applications: list[ApplicationItem]


@dataclass(kw_only=True)
class ApplicationItem(Model):
    """An application, with `typedParameters` where details are asked for."""

    type: Literal["application"] | str
    traffic_type: Literal["chakra", "non-coordinated"] | str
    name: str
    model: str
    version: str
    typed_parameters: dict[str, Any] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"traffic_type": "trafficType", "typed_parameters": "typedParameters"}


@dataclass(kw_only=True)
class ConfigurationComponentList(Model):
    components: list[ComponentItem]
    pagination: Pagination


@dataclass(kw_only=True)
class ComponentItem(Model):
    """A declared component, with `typedParameters` where details are asked for."""

    name: str
    type: Literal["switch", "nic", "gpu", "server"] | str
    model: str
    version: str
    container: str | None = None
    """Name of the first holder, of servers, containers and the topology in this order; absent where there is none with a name."""
    typed_parameters: dict[str, Any] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"typed_parameters": "typedParameters"}


@dataclass(kw_only=True)
class ConfigurationContainerList(Model):
    containers: list[Container]
    pagination: Pagination


@dataclass(kw_only=True)
class AllowedInContainer(Model):
    container_name: str
    container_type: Literal["rack", "pod"] | str
    allowed_components: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str]

    _wire: ClassVar[Mapping[str, str]] = {"container_name": "containerName", "container_type": "containerType", "allowed_components": "allowedComponents"}


@dataclass(kw_only=True)
class ConfigurationLinkList(Model):
    links: list[LinkItem]


@dataclass(kw_only=True)
class LinkItem(Model):
    """A component of type `layer`, with `typedParameters` where details are asked for."""

    type: Literal["layer"] | str
    model: str
    name: str
    version: str
    typed_parameters: dict[str, Any] | None = None
    allowed_components: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str]
    components: list[Reference]

    _wire: ClassVar[Mapping[str, str]] = {"typed_parameters": "typedParameters", "allowed_components": "allowedComponents"}


@dataclass(kw_only=True)
class SoftwareVersion(Model):
    version: str


@dataclass(kw_only=True)
class WorkloadMetadata(Model):
    """What is known about the workload; at most 64 KiB."""

    accelerator: str | None = None
    collective_ops: list[str] | None = None
    compute_model: str | None = None
    et_format_version: str | None = None
    execution_kind: str | None = None
    extensions: dict[str, Any] | None = None
    model_name: str | None = None
    parallelism: WorkloadMetadataParallelism | None = None
    precision: str | None = None
    schema_version: int | None = None
    """1 when absent."""
    shape: WorkloadMetadataShape | None = None
    step_kind: str | None = None
    trace_generator: str | None = None
    workload_family: str | None = None
    workload_name: str | None = None
    workload_revision: str | None = None

    _wire: ClassVar[Mapping[str, str]] = {"collective_ops": "collectiveOps", "compute_model": "computeModel", "et_format_version": "etFormatVersion", "execution_kind": "executionKind", "model_name": "modelName", "schema_version": "schemaVersion", "step_kind": "stepKind", "trace_generator": "traceGenerator", "workload_family": "workloadFamily", "workload_name": "workloadName", "workload_revision": "workloadRevision"}


@dataclass(kw_only=True)
class WorkloadMetadataParallelism(Model):
    cp: int | None = None
    dp: int | None = None
    ep: int | None = None
    fsdp: int | None = None
    pp: int | None = None
    sp: int | None = None
    tp: int | None = None


@dataclass(kw_only=True)
class WorkloadMetadataShape(Model):
    global_batch_size: int | None = None
    hidden_dim: int | None = None
    num_microbatches: int | None = None
    rank_count: int | None = None
    seq_len: int | None = None
    training_steps: int | None = None

    _wire: ClassVar[Mapping[str, str]] = {"global_batch_size": "globalBatchSize", "hidden_dim": "hiddenDim", "num_microbatches": "numMicrobatches", "rank_count": "rankCount", "seq_len": "seqLen", "training_steps": "trainingSteps"}


@dataclass(kw_only=True)
class TracesetForm(Model):
    """The parts of a form, in any order."""

    file: list[str]
    """A file, with its name. It is `primary` when that is the name of a rank's trace or of an archive, else `supporting`, as `comm_groups.json` is. At most 100 unless the server is set otherwise."""
    name: str | None = None
    description: str | None = None
    tags: list[str] | None = None
    ttl_days: int | None = None
    workload_metadata: WorkloadMetadata | None = None

    _wire: ClassVar[Mapping[str, str]] = {"ttl_days": "ttlDays", "workload_metadata": "workloadMetadata"}


@dataclass(kw_only=True)
class TracesetUpload(Model):
    name: str
    description: str | None = None
    tags: list[str] | None = None
    ttl_days: int | None = None
    workload_metadata: WorkloadMetadata | None = None
    workspace_id: str | None = None
    files: list[UploadFile]

    _wire: ClassVar[Mapping[str, str]] = {"ttl_days": "ttlDays", "workload_metadata": "workloadMetadata", "workspace_id": "workspaceId"}


@dataclass(kw_only=True)
class UploadFile(Model):
    name: str
    content_type: str | None = None
    """`application/octet-stream` when absent."""
    role: Literal["primary", "supporting"] | str | None = None
    size: int
    """Bytes."""

    _wire: ClassVar[Mapping[str, str]] = {"content_type": "contentType"}


@dataclass(kw_only=True)
class PartLink(Model):
    part_number: int
    url: str
    """Where to PUT the part. It needs no token."""

    _wire: ClassVar[Mapping[str, str]] = {"part_number": "partNumber"}


@dataclass(kw_only=True)
class TracesetUploadSession(Model):
    upload_id: str
    checksum_algorithm: Literal["SHA256"] | str
    expires_at: dt.datetime
    files: list[TracesetUploadSessionFiles]

    _wire: ClassVar[Mapping[str, str]] = {"upload_id": "uploadId", "checksum_algorithm": "checksumAlgorithm", "expires_at": "expiresAt"}


@dataclass(kw_only=True)
class TracesetUploadSessionFiles(Model):
    name: str
    parts: list[PartLink]


@dataclass(kw_only=True)
class UploadedPart(Model):
    part_number: int
    etag: str

    _wire: ClassVar[Mapping[str, str]] = {"part_number": "partNumber"}


@dataclass(kw_only=True)
class UploadedFile(Model):
    name: str
    parts: list[UploadedPart]


@dataclass(kw_only=True)
class TracesetUploadCompletion(Model):
    upload_id: str
    files: list[UploadedFile]

    _wire: ClassVar[Mapping[str, str]] = {"upload_id": "uploadId"}


@dataclass(kw_only=True)
class MappingFileUpload(Model):
    workspace_id: str
    name: str | None = None
    description: str | None = None
    size_bytes: int
    """The most bytes that the file may have."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "size_bytes": "sizeBytes"}


@dataclass(kw_only=True)
class MappingFileUploadSession(Model):
    upload_id: str
    checksum_algorithm: Literal["crc64nvme"] | str
    expires_at: dt.datetime
    parts: list[PartLink]

    _wire: ClassVar[Mapping[str, str]] = {"upload_id": "uploadId", "checksum_algorithm": "checksumAlgorithm", "expires_at": "expiresAt"}


@dataclass(kw_only=True)
class MappingFileUploadCompletion(Model):
    upload_id: str
    parts: list[UploadedPart]

    _wire: ClassVar[Mapping[str, str]] = {"upload_id": "uploadId"}


@dataclass(kw_only=True)
class Traceset(Model):
    id: str
    name: str
    description: str | None = None
    tags: list[str]
    status: Literal["uploading", "processing", "ready", "upload_failed", "metadata_failed"] | str
    workspace_id: str
    total_size: int
    created_at: dt.datetime
    expires_at: dt.datetime | None = None
    files: list[TracesetFile]
    scope: Literal["workspace", "tenant", "public"] | str
    rank_count: int | None = None
    """Absent until the files were looked at."""
    library_hash: str | None = None
    """BLAKE3-256 of the library, in hex."""
    workload_metadata: WorkloadMetadata | None = None
    status_message: str | None = None
    """Why its files cannot be used, with the file and the node."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "total_size": "totalSize", "created_at": "createdAt", "expires_at": "expiresAt", "rank_count": "rankCount", "library_hash": "libraryHash", "workload_metadata": "workloadMetadata", "status_message": "statusMessage"}


@dataclass(kw_only=True)
class TracesetFile(Model):
    name: str
    content_type: str
    hash: str
    size: int
    """Bytes."""
    role: Literal["primary", "supporting"] | str
    metadata_status: Literal["pending", "complete", "failed"] | str
    rank_range: TracesetFileRankRange | None = None
    """The ranks whose traces the file holds; absent for a supporting file."""

    _wire: ClassVar[Mapping[str, str]] = {"content_type": "contentType", "metadata_status": "metadataStatus", "rank_range": "rankRange"}


@dataclass(kw_only=True)
class TracesetFileRankRange(Model):
    start: int
    end: int
    """Inclusive."""


@dataclass(kw_only=True)
class TracesetList(Model):
    items: list[TracesetItem]
    pagination: Pagination


@dataclass(kw_only=True)
class TracesetItem(Model):
    id: str
    name: str
    status: Literal["uploading", "processing", "ready", "upload_failed", "metadata_failed"] | str
    file_count: int
    created_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"file_count": "fileCount", "created_at": "createdAt"}


@dataclass(kw_only=True)
class TracesetDownload(Model):
    url: str
    """Valid for 900 seconds."""
    file: str
    expires_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"expires_at": "expiresAt"}


@dataclass(kw_only=True)
class TracesetPromotion(Model):
    target: Literal["tenant", "public"] | str | None = None
    """`tenant` when absent."""
    description: str | None = None
    tags: list[str] | None = None
    workload_metadata: WorkloadMetadata | None = None

    _wire: ClassVar[Mapping[str, str]] = {"workload_metadata": "workloadMetadata"}


@dataclass(kw_only=True)
class TracesetPromoted(Model):
    id: str
    scope: Literal["workspace", "tenant", "public"] | str
    promotion_applied: bool
    """False when it was there already."""
    error: str | None = None
    """Absent on success."""

    _wire: ClassVar[Mapping[str, str]] = {"promotion_applied": "promotionApplied"}


@dataclass(kw_only=True)
class TracesetResolution(Model):
    traceset_id: str
    name: str
    total_size: int
    layout: Literal["cas", "prefix"] | str
    dra: TracesetResolutionDra
    """Where the library is as a whole."""
    files: list[ResolvedFile] | None = None
    """Of the layout `cas`."""
    file_count: int | None = None
    """Of the layout `prefix`."""
    root_path: str | None = None
    """Of the layout `prefix`."""


@dataclass(kw_only=True)
class TracesetResolutionDra(Model):
    bucket: str
    mount_path: str
    """In the file system of the simulator."""
    store_path: str
    """URL in the object store."""


@dataclass(kw_only=True)
class ResolvedFile(Model):
    name: str
    role: Literal["primary", "supporting"] | str
    size: int
    mount_path: str
    store_key: str
    store_path: str


@dataclass(kw_only=True)
class TracesetValidationRequest(Model):
    topology_id: str | None = None
    """A configuration whose servers the ranks are to run on."""

    _wire: ClassVar[Mapping[str, str]] = {"topology_id": "topologyId"}


@dataclass(kw_only=True)
class TracesetValidation(Model):
    valid: bool
    checks: list[TracesetCheck]


@dataclass(kw_only=True)
class TracesetCheck(Model):
    name: Literal["file_integrity", "metadata_complete", "topology_correlation", "ranks", "readable_files", "dependency_graph", "message_pairing", "process_groups"] | str
    message: str
    passed: bool


@dataclass(kw_only=True)
class LibraryList(Model):
    items: list[LibraryItem]
    pagination: Pagination


@dataclass(kw_only=True)
class LibraryItem(Model):
    id: str
    hash: str
    """BLAKE3-256 of the lines `<file hash> <size> <name>`, sorted by name."""
    hash_short: str
    """The first 12 characters of the hash."""
    format: str
    """`chakra_et_v1`, `chakra_json_v1` or `simple_v1`."""
    layout: Literal["cas", "prefix"] | str
    scope: Literal["workspace", "tenant", "global"] | str
    total_size: int
    reference_count: int
    """Tracesets that can be seen and refer to it."""
    rank_count: int | None = None
    """Absent until the files were looked at."""
    storage_url: str
    workload_type: str | None = None
    """The `workloadFamily` of a traceset that says one."""


@dataclass(kw_only=True)
class Library(Model):
    id: str
    hash: str
    hash_short: str
    format: str
    layout: Literal["cas", "prefix"] | str
    scope: Literal["workspace", "tenant", "global"] | str
    total_size: int
    reference_count: int
    rank_count: int | None = None
    storage_url: str
    workload_type: str | None = None
    content_type: str
    """Of its primary files."""
    created_at: dt.datetime
    file_count: int
    metadata_status: Literal["pending", "complete", "failed"] | str
    tracesets: list[LibraryTraceset]
    """Those that can be seen, at most the 100 newest."""


@dataclass(kw_only=True)
class LibraryTraceset(Model):
    id: str
    name: str
    workspace_id: str


@dataclass(kw_only=True)
class LibraryChoices(Model):
    error: LibraryChoicesError
    matches: list[LibraryChoicesMatches]
    """At most 100."""


@dataclass(kw_only=True)
class LibraryChoicesError(Model):
    code: Literal["MULTIPLE_CHOICES"] | str
    message: str


@dataclass(kw_only=True)
class LibraryChoicesMatches(Model):
    id: str
    hash_short: str


@dataclass(kw_only=True)
class TracesetCandidateList(Model):
    tracesets: list[TracesetCandidate]
    pagination: Pagination


@dataclass(kw_only=True)
class TracesetCandidate(Model):
    id: str
    name: str
    description: str | None = None
    status: Literal["uploading", "processing", "ready", "upload_failed", "metadata_failed"] | str
    metadata_status: Literal["pending", "complete", "failed"] | str
    format: str
    hash: str
    """BLAKE3-256 of the library, in hex."""
    hash_short: str
    """The first 12 characters of the hash."""
    total_size: int
    """Bytes."""
    created_at: dt.datetime
    updated_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"metadata_status": "metadataStatus", "hash_short": "hashShort", "total_size": "totalSize", "created_at": "createdAt", "updated_at": "updatedAt"}


@dataclass(kw_only=True)
class ConfigurationDiff(Model):
    from_: int
    to: int
    patch: list[PatchOperation]
    changes: list[ConfigurationChange]

    _wire: ClassVar[Mapping[str, str]] = {"from_": "from"}


@dataclass(kw_only=True)
class PatchOperation(Model):
    """An operation of RFC 6902."""

    op: Literal["add", "remove", "replace", "move"] | str
    path: str
    """JSON Pointer (RFC 6901)."""
    from_: str | None = None
    """JSON Pointer; only of `move`."""
    value: Any = None
    """Of `add` and `replace`; any JSON value."""

    _wire: ClassVar[Mapping[str, str]] = {"from_": "from"}


@dataclass(kw_only=True)
class ConfigurationChange(Model):
    """One change as a person would tell it."""

    kind: Literal["added", "removed", "changed"] | str
    subject: str
    """The entity's type and name, such as `switch leaf`, or a member of the document, such as `topology`."""
    path: str
    """JSON Pointer, in version `from` of what is `removed`, else in version `to`."""
    before: Any = None
    """The value at the path in version `from`; only of what is `changed`, and not of an order."""
    after: Any = None
    """As `before`, in version `to`."""
    text: str


@dataclass(kw_only=True)
class TracesetReference(Model):
    id: str
    name: str


@dataclass(kw_only=True)
class Component(Model):
    """A switch, NIC, GPU, server or layer. Only a server has children. Replies carry every member but `trafficType`."""

    type: Literal["switch", "nic", "gpu", "server", "layer"] | str
    traffic_type: str | None = None
    model: str
    name: str
    version: str
    typed_parameters: dict[str, Any] | None = None
    allowed_components: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str] | None = None
    components: list[Reference] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"traffic_type": "trafficType", "typed_parameters": "typedParameters", "allowed_components": "allowedComponents"}


@dataclass(kw_only=True)
class Container(Model):
    """A rack or a pod. Replies carry every member."""

    type: Literal["rack", "pod"] | str
    name: str
    model: str
    version: str
    configuration: Any = None
    """Reserved, always null."""
    allowed_components: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str] | None = None
    components: list[Reference] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"allowed_components": "allowedComponents"}


@dataclass(kw_only=True)
class Application(Model):
    type: Literal["application"] | str
    traffic_type: Literal["chakra", "non-coordinated", "coordinated"] | str
    """`coordinated` is accepted for `chakra` and never returned."""
    name: str
    model: str
    version: str
    typed_parameters: dict[str, Any] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"traffic_type": "trafficType", "typed_parameters": "typedParameters"}


@dataclass(kw_only=True)
class Reference(Model):
    """Use of a declared entity by its holder."""

    name: str
    type: Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str
    count: int | None = None
    """1 when absent."""
    group: str | None = None
    model: str | None = None
    """Filled in by the service."""
    version: str | None = None
    """Filled in by the service."""
    parent_application_name: str | None = None
    """Only where the type is `application`."""

    _wire: ClassVar[Mapping[str, str]] = {"parent_application_name": "parentApplicationName"}


@dataclass(kw_only=True)
class Topology(Model):
    name: str | None = None
    type: Literal["clos"] | str
    topology_tiers: int
    allowed_components: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str] | None = None
    components: list[Reference]
    app_distribution: ApplicationDistribution | None = None

    _wire: ClassVar[Mapping[str, str]] = {"topology_tiers": "topologyTiers", "allowed_components": "allowedComponents", "app_distribution": "appDistribution"}


@dataclass(kw_only=True)
class ApplicationDistribution(Model):
    description: str | None = None
    random_application_distribution: list[DistributionEntry]

    _wire: ClassVar[Mapping[str, str]] = {"random_application_distribution": "randomApplicationDistribution"}


@dataclass(kw_only=True)
class DistributionEntry(Model):
    name: str
    parent_application: str
    application_type: Literal["client", "server"] | str
    distribution_percent: DistributionEntryDistributionPercent

    _wire: ClassVar[Mapping[str, str]] = {"parent_application": "parentApplication", "application_type": "applicationType", "distribution_percent": "distributionPercent"}


@dataclass(kw_only=True)
class DistributionEntryDistributionPercent(Model):
    distribution_id: str
    value: float

    _wire: ClassVar[Mapping[str, str]] = {"distribution_id": "distributionId"}


@dataclass(kw_only=True)
class ValidationReport(Model):
    valid: bool
    """There are no errors."""
    status: Literal["valid", "warning", "error"] | str
    """`warning` is valid, with warnings."""
    errors: list[Finding]
    warnings: list[Finding]
    info: list[Finding]


@dataclass(kw_only=True)
class Finding(Model):
    code: str
    severity: Literal["error", "warning", "info"] | str
    component: str | None = None
    parameter: str | None = None
    """Path of the parameter within the component, its steps separated by dots."""
    path: str | None = None
    """JSONPath (RFC 9535) of the offending value, or of where one is missing, in the stored document. That has every declared component in the order of declaration, also those that a configuration's reply leaves out because nothing references them; name and position there are those of `GET .../components`."""
    message: str


@dataclass(kw_only=True)
class ComponentListItem(Model):
    id: str
    category: Literal["model", "application", "container", "layer"] | str
    type: Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str
    name: str
    model: str
    description: str
    latest_version: str
    """The newest stable version."""
    versions: list[str]
    """Newest first."""

    _wire: ClassVar[Mapping[str, str]] = {"latest_version": "latestVersion"}


@dataclass(kw_only=True)
class ComponentList(Model):
    components: list[ComponentListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class ComponentDetail(Model):
    id: str
    category: Literal["model", "application", "container", "layer"] | str
    type: Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str
    name: str
    description: str
    traffic_type: Literal["chakra", "non-coordinated"] | str | None = None
    """Of an application."""
    transport: Literal["trimming", "lossless", "ideal"] | str | None = None
    version: str
    latest_version: str
    created_at: dt.datetime
    notes: str | None = None
    """Present when asked for."""
    typed_parameters: dict[str, Any]
    container_schema: ContainerSchema | None = None

    _wire: ClassVar[Mapping[str, str]] = {"traffic_type": "trafficType", "latest_version": "latestVersion", "created_at": "createdAt", "typed_parameters": "typedParameters", "container_schema": "containerSchema"}


@dataclass(kw_only=True)
class ContainerSchema(Model):
    """What a rack or a pod is made of; only of these."""

    type: Literal["rack", "pod"] | str
    allowed: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str]
    name: FieldSchema
    components: MembersSchema


@dataclass(kw_only=True)
class MembersSchema(Model):
    type: Literal["array"] | str
    description: str
    items: dict[str, FieldSchema]
    """What each member says, by the name of it."""


@dataclass(kw_only=True)
class FieldSchema(Model):
    type: Literal["string", "integer"] | str
    description: str
    minimum: int | None = None
    """Least value of a number, least length of a text."""
    enum: list[str] | None = None


@dataclass(kw_only=True)
class ModelCompatibility(Model):
    """Versions of the engine that know the model, bounds included."""

    min_engine: str
    max_engine: str | None = None

    _wire: ClassVar[Mapping[str, str]] = {"min_engine": "minEngine", "max_engine": "maxEngine"}


@dataclass(kw_only=True)
class ModelListItem(Model):
    id: str
    model: str
    name: str
    type: Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str
    vendor: str | None = None
    """Slug of the vendor; absent for a model of no vendor's device."""
    transport: Literal["trimming", "lossless", "ideal"] | str | None = None
    status: Literal["stable", "beta", "deprecated"] | str
    latest_version: str
    """The newest stable version; `status` and `compatibility` are its."""
    compatibility: ModelCompatibility | None = None

    _wire: ClassVar[Mapping[str, str]] = {"latest_version": "latestVersion"}


@dataclass(kw_only=True)
class ModelList(Model):
    models: list[ModelListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class ModelVersionList(Model):
    id: str
    model: str
    versions: list[ModelVersionItem]


@dataclass(kw_only=True)
class ModelVersionItem(Model):
    version: str
    status: Literal["stable", "beta", "deprecated"] | str
    compatibility: ModelCompatibility | None = None


@dataclass(kw_only=True)
class Declaration(Model):
    """A `Component`, a `Container` or an `Application`, with the members of its kind."""

    type: Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str
    traffic_type: Literal["chakra", "non-coordinated"] | str | None = None
    model: str
    name: str
    version: str
    typed_parameters: dict[str, Any] | None = None
    configuration: Any = None
    allowed_components: list[Literal["switch", "nic", "gpu", "server", "layer", "rack", "pod", "application"] | str] | None = None
    components: list[Reference] | None = None

    _wire: ClassVar[Mapping[str, str]] = {"traffic_type": "trafficType", "typed_parameters": "typedParameters", "allowed_components": "allowedComponents"}


@dataclass(kw_only=True)
class ChartDefinitions(Model):
    schema_version: int
    definitions: list[ChartDefinition]

    _wire: ClassVar[Mapping[str, str]] = {"schema_version": "schemaVersion"}


@dataclass(kw_only=True)
class ChartDefinition(Model):
    id: str
    title: str
    description: str
    kind: Literal["line", "bar", "cdf", "heatmap", "table"] | str
    record: str
    """Record of the result files, such as `nd-stats`."""
    filters: list[ChartFilter]
    x: ChartAxis
    y: ChartAxis
    group_by: list[str]
    """Columns; a series for each combination of their values."""

    _wire: ClassVar[Mapping[str, str]] = {"group_by": "groupBy"}


@dataclass(kw_only=True)
class ChartFilter(Model):
    """Keeps the rows whose column compares so with the value."""

    column: str
    op: Literal["eq", "in", "ge", "le"] | str
    value: Any
    """Text or number; of `in`, a list of them."""


@dataclass(kw_only=True)
class ChartAxis(Model):
    column: str
    label: str
    unit: str
    """Empty for plain numbers."""
    aggregate: Literal["none", "sum", "mean", "max", "p50", "p99"] | str


@dataclass(kw_only=True)
class TopologyDocument(Model):
    """The members of a configuration that say what its network is. At most 4 MiB."""

    applications: list[Application]
    components: list[Component]
    containers: list[Container]
    links: list[Component] | None = None
    topology: Topology | None = None
    """All that no container holds, once each, when absent."""


@dataclass(kw_only=True)
class TopologyValidation(Model):
    validation: ValidationReport
    simulation_parameters: list[TopologyFigure]
    """Figures of the network, `TotalHosts` first; empty while it cannot be unfolded."""
    switch_bandwidth: list[SwitchBandwidth]
    """Of every switch component in each tier where it stands; empty while the network cannot be unfolded."""
    topology_map: str
    """JSON text `{nodes:[{name,tier,count}],links:[{from,to,count,gbps}]}`, the same
    for the same network; links go from the lower to the upper component. Empty
    when the topology is invalid.
    """
    checksum: str
    """Of the request's body in the canonical form of RFC 8785."""

    _wire: ClassVar[Mapping[str, str]] = {"simulation_parameters": "simulationParameters", "switch_bandwidth": "switchBandwidth", "topology_map": "topologyMap"}


@dataclass(kw_only=True)
class TopologyFigure(Model):
    name: Literal["TotalHosts", "TotalNics", "TotalRanks", "TotalSwitches", "TotalLinks", "RackCount", "PodCount", "TopologyTiers"] | str
    label: str
    value: int


@dataclass(kw_only=True)
class SwitchBandwidth(Model):
    name: str
    model: str
    network_tier: int
    """0 SSW, 1 FSW, 2 RSW."""
    switching_capacity: float
    switching_capacity_unit: str

    _wire: ClassVar[Mapping[str, str]] = {"network_tier": "networkTier", "switching_capacity": "switchingCapacity", "switching_capacity_unit": "switchingCapacityUnit"}


@dataclass(kw_only=True)
class WorkspaceListItem(Model):
    id: str
    name: str
    description: str | None = None
    owner: str
    """User id of the creator; `system` for built-in workspaces."""
    created_at: dt.datetime
    modified_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"created_at": "createdAt", "modified_at": "modifiedAt"}


@dataclass(kw_only=True)
class WorkspaceList(Model):
    workspaces: list[WorkspaceListItem]
    pagination: Pagination


@dataclass(kw_only=True)
class Workspace(Model):
    id: str
    name: str
    description: str | None = None
    owner: str
    """User id of the creator; `system` for built-in workspaces."""
    created_at: dt.datetime
    modified_at: dt.datetime
    stats: WorkspaceStats

    _wire: ClassVar[Mapping[str, str]] = {"created_at": "createdAt", "modified_at": "modifiedAt"}


@dataclass(kw_only=True)
class WorkspaceStats(Model):
    active_simulations: int
    """Those in `validating`, `provisioning` or `running`."""
    configuration_count: int
    simulation_count: int

    _wire: ClassVar[Mapping[str, str]] = {"active_simulations": "activeSimulations", "configuration_count": "configurationCount", "simulation_count": "simulationCount"}


@dataclass(kw_only=True)
class WorkspaceCreate(Model):
    name: str
    description: str | None = None


@dataclass(kw_only=True)
class WorkspaceUpdate(Model):
    name: str
    description: str | None = None
    """Unchanged when absent, removed when empty."""


@dataclass(kw_only=True)
class WorkspaceDeletion(Model):
    id: str
    status: Literal["deleting"] | str


@dataclass(kw_only=True)
class LegacyProjectSet(Model):
    legacy_project_id: str

    _wire: ClassVar[Mapping[str, str]] = {"legacy_project_id": "legacyProjectId"}


@dataclass(kw_only=True)
class LegacyProject(Model):
    workspace_id: str
    legacy_project_id: str
    created: bool
    """False when the same value was already set."""

    _wire: ClassVar[Mapping[str, str]] = {"workspace_id": "workspaceId", "legacy_project_id": "legacyProjectId"}


@dataclass(kw_only=True)
class Balance(Model):
    account_id: str
    account_name: str | None
    account_type: Literal["prepaid", "postpaid"] | str
    """Only prepaid accounts are gated by their credit."""
    current_balance: Decimal
    """`totalCredits` less `totalDebits`; may be negative."""
    total_credits: Decimal
    total_debits: Decimal
    currency: Literal["CREDIT", "USD"] | str
    updated_at: dt.datetime
    """Time of the last event counted; of the answer where there is none."""

    _wire: ClassVar[Mapping[str, str]] = {"account_id": "accountId", "account_name": "accountName", "account_type": "accountType", "current_balance": "currentBalance", "total_credits": "totalCredits", "total_debits": "totalDebits", "updated_at": "updatedAt"}


@dataclass(kw_only=True)
class BalanceList(Model):
    balances: list[Balance]
    pagination: Pagination


@dataclass(kw_only=True)
class DailyCost(Model):
    daily_cost_id: int
    billing_item_id: int
    account_name: str | None
    account_id: str
    platform_name: str
    item_name: str | None
    rate_id: int
    rate_name: str
    rate_amount: Decimal
    cost: Decimal
    cost_currency: Literal["CREDIT", "USD"] | str
    quantity: int
    """The highest number of units that day."""
    workspace_name: str | None
    workspace_id: str | None
    sandbox_name: str | None
    sandbox_id: str | None
    user_name: str | None
    user_id: str | None
    date: dt.date
    details: DailyCostDetails

    _wire: ClassVar[Mapping[str, str]] = {"daily_cost_id": "dailyCostId", "billing_item_id": "billingItemId", "account_name": "accountName", "account_id": "accountId", "platform_name": "platformName", "item_name": "itemName", "rate_id": "rateId", "rate_name": "rateName", "rate_amount": "rateAmount", "cost_currency": "costCurrency", "workspace_name": "workspaceName", "workspace_id": "workspaceId", "sandbox_name": "sandboxName", "sandbox_id": "sandboxId", "user_name": "userName", "user_id": "userId"}


@dataclass(kw_only=True)
class DailyCostDetails(Model):
    """How the cost follows from the rate."""

    segments: list[CostSegment]
    day_price: Decimal
    unit_days: Decimal
    period: Literal["hour", "day", "month", "year"] | str
    tier_start: int
    tier_end: int | None = None
    engine_version: str
    first_event_id: int
    last_event_id: int
    version: int
    supersedes: int | None = None
    correction_of: int | None = None

    _wire: ClassVar[Mapping[str, str]] = {"day_price": "dayPrice", "unit_days": "unitDays", "tier_start": "tierStart", "tier_end": "tierEnd", "engine_version": "engineVersion", "first_event_id": "firstEventId", "last_event_id": "lastEventId", "correction_of": "correctionOf"}


@dataclass(kw_only=True)
class CostSegment(Model):
    from_: dt.datetime
    to: dt.datetime
    units: int
    fraction: Decimal
    """Part of the day, to 18 decimals; to 6 where `engineVersion` is `rating-1`."""
    count: int
    """Units of all active items of the account and rate."""

    _wire: ClassVar[Mapping[str, str]] = {"from_": "from"}


@dataclass(kw_only=True)
class DailyCostList(Model):
    costs: list[DailyCost]
    pagination: Pagination


@dataclass(kw_only=True)
class CostSummary(Model):
    start_date: dt.date
    end_date: dt.date
    credit: CostTotal | None
    usd: CostTotal | None

    _wire: ClassVar[Mapping[str, str]] = {"start_date": "startDate", "end_date": "endDate", "credit": "CREDIT", "usd": "USD"}


@dataclass(kw_only=True)
class CostTotal(Model):
    total: Decimal
    by_rate: dict[str, Decimal]
    """Rate name to total."""
    by_workspace: dict[str, Decimal]
    """Workspace id to total; `unassigned` without one."""

    _wire: ClassVar[Mapping[str, str]] = {"by_rate": "byRate", "by_workspace": "byWorkspace"}


@dataclass(kw_only=True)
class BillingItem(Model):
    billing_item_id: int
    account_name: str | None
    account_id: str
    platform_name: str
    item_name: str | None
    rate_name: str
    event_type: str
    event_action: Literal["start", "update", "stop"] | str
    """The last one."""
    quantity: int
    """Units now."""
    workspace_name: str | None
    workspace_id: str | None
    sandbox_name: str | None
    sandbox_id: str | None
    user_name: str | None
    user_id: str | None
    start_timestamp: dt.datetime
    end_timestamp: dt.datetime | None
    """Null while active."""
    status: Literal["active", "closed"] | str
    details: BillingItemDetails
    metadata: BillingItemMetadata

    _wire: ClassVar[Mapping[str, str]] = {"billing_item_id": "billingItemId", "account_name": "accountName", "account_id": "accountId", "platform_name": "platformName", "item_name": "itemName", "rate_name": "rateName", "event_type": "eventType", "event_action": "eventAction", "workspace_name": "workspaceName", "workspace_id": "workspaceId", "sandbox_name": "sandboxName", "sandbox_id": "sandboxId", "user_name": "userName", "user_id": "userId", "start_timestamp": "startTimestamp", "end_timestamp": "endTimestamp"}


@dataclass(kw_only=True)
class BillingItemDetails(Model):
    resource_type: Literal["simulation", "traceset", "mapping_file", "results", "workspace"] | str
    resource_id: str
    ranks: int | None = None
    size_bytes: int | None = None
    engine: str | None = None

    _wire: ClassVar[Mapping[str, str]] = {"resource_type": "resourceType", "resource_id": "resourceId", "size_bytes": "sizeBytes"}


@dataclass(kw_only=True)
class BillingItemMetadata(Model):
    """The billing events that opened, last changed and closed the item."""

    opened_by: int
    last_changed_by: int
    closed_by: int | None = None

    _wire: ClassVar[Mapping[str, str]] = {"opened_by": "openedBy", "last_changed_by": "lastChangedBy", "closed_by": "closedBy"}


@dataclass(kw_only=True)
class BillingItemList(Model):
    items: list[BillingItem]
    pagination: Pagination


@dataclass(kw_only=True)
class BillingEvent(Model):
    billing_event_id: int
    account_name: str | None
    account_id: str
    platform_name: str
    event_name: str
    """The causing event without prefix and version, such as `simulation.started`."""
    event_type: str
    event_action: Literal["start", "update", "stop"] | str
    rate_name: str
    workspace_name: str | None
    workspace_id: str | None
    sandbox_name: str | None
    sandbox_id: str | None
    user_name: str | None
    user_id: str | None
    previous_count: int
    """The item's units before the event."""
    current_count: int
    """The item's units after the event."""
    total_billable_count: int
    """Units of all active items of the account and rate after the event."""
    event_timestamp: dt.datetime
    """When it happened."""
    received_at: dt.datetime
    """When the log recorded it."""
    event_hash: str
    """Hash of the log record that carries the event; a link of one chain per account."""
    details: BillingEventDetails

    _wire: ClassVar[Mapping[str, str]] = {"billing_event_id": "billingEventId", "account_name": "accountName", "account_id": "accountId", "platform_name": "platformName", "event_name": "eventName", "event_type": "eventType", "event_action": "eventAction", "rate_name": "rateName", "workspace_name": "workspaceName", "workspace_id": "workspaceId", "sandbox_name": "sandboxName", "sandbox_id": "sandboxId", "user_name": "userName", "user_id": "userId", "previous_count": "previousCount", "current_count": "currentCount", "total_billable_count": "totalBillableCount", "event_timestamp": "eventTimestamp", "received_at": "receivedAt", "event_hash": "eventHash"}


@dataclass(kw_only=True)
class BillingEventDetails(Model):
    stream: str
    sequence: int
    previous_hash: str
    """Hash of the record before it in the stream; empty for the first."""
    cause_id: str
    cause_type: str
    resource_type: Literal["simulation", "traceset", "mapping_file", "results", "workspace"] | str
    resource_id: str
    ranks: int | None = None
    engine: str | None = None
    size_bytes: int | None = None

    _wire: ClassVar[Mapping[str, str]] = {"previous_hash": "previousHash", "cause_id": "causeId", "cause_type": "causeType", "resource_type": "resourceType", "resource_id": "resourceId", "size_bytes": "sizeBytes"}


@dataclass(kw_only=True)
class BillingEventList(Model):
    events: list[BillingEvent]
    pagination: Pagination


@dataclass(kw_only=True)
class Rate(Model):
    rate_id: int
    account_id: str | None
    """Null for the rate of the platform."""
    account_name: str | None
    platform: str
    rate_name: str
    rate_type: Literal["unit", "flat", "graduated", "volume", "package"] | str
    rate_type_raw: str
    """The word in the price list that was loaded."""
    amount: Decimal
    period: Literal["hour", "day", "month", "year"] | str
    minimum_period: str | None
    """`hour`, `day`, `month`, or null."""
    tier_start: int
    tier_end: int | None
    """Exclusive; null when open."""
    start_date: dt.date
    """Inclusive."""
    end_date: dt.date | None
    """Exclusive; null when open."""
    metadata: RateMetadata

    _wire: ClassVar[Mapping[str, str]] = {"rate_id": "rateId", "account_id": "accountId", "account_name": "accountName", "rate_name": "rateName", "rate_type": "rateType", "rate_type_raw": "rateTypeRaw", "minimum_period": "minimumPeriod", "tier_start": "tierStart", "tier_end": "tierEnd", "start_date": "startDate", "end_date": "endDate"}


@dataclass(kw_only=True)
class RateMetadata(Model):
    currency: Literal["CREDIT", "USD"] | str
    unit_name: str
    unit_size: int
    package_size: int | None = None
    note: str | None = None

    _wire: ClassVar[Mapping[str, str]] = {"unit_name": "unitName", "unit_size": "unitSize", "package_size": "packageSize"}


@dataclass(kw_only=True)
class RateList(Model):
    rates: list[Rate]
    pagination: Pagination


@dataclass(kw_only=True)
class CheckpointList(Model):
    checkpoints: list[LogCheckpoint]
    pagination: Pagination


@dataclass(kw_only=True)
class LogCheckpoint(Model):
    name: str
    """The day that had ended, or the name that an operator gave."""
    published_at: dt.datetime
    """When it was published; the time in the note is when it was made, shortly before."""
    hash: str
    """Of the signed note; the next checkpoint names this one by it."""

    _wire: ClassVar[Mapping[str, str]] = {"published_at": "publishedAt"}


@dataclass(kw_only=True)
class ReadModelList(Model):
    items: list[ReadModel]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class ReadModel(Model):
    """How far a read model has come."""

    schema: str
    this_release: bool
    """Its tables are those of the release that answers."""
    projector: str
    """The processes that project into it with their shards, or the session that rebuilds it; empty for none."""
    facts: int
    """Applied or parked."""
    lag_records: int
    """In the log and not judged."""
    lag_seconds: float
    """Since the log took the oldest of them."""
    parked_streams: int
    obstacles: list[str]
    """What delays or prevents its promotion; empty for the live one."""
    partitions: ReadModelPartitionList

    _wire: ClassVar[Mapping[str, str]] = {"this_release": "thisRelease", "lag_records": "lagRecords", "lag_seconds": "lagSeconds", "parked_streams": "parkedStreams"}


@dataclass(kw_only=True)
class ReadModelPartitionList(Model):
    items: list[ReadModelPartition]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class ReadModelPartition(Model):
    family: str
    partition: int
    next: int
    """The first offset that is not judged."""
    end: int
    """The offset of the next record of the log."""
    lag_records: int
    lag_seconds: float
    """Since the log took the oldest of them."""
    parked: int
    """Facts."""

    _wire: ClassVar[Mapping[str, str]] = {"lag_records": "lagRecords", "lag_seconds": "lagSeconds"}


@dataclass(kw_only=True)
class StreamFamilyList(Model):
    items: list[StreamFamily]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class StreamFamily(Model):
    """The streams of a family in the live read model."""

    family: str
    partitions: int
    records: int
    """In the log."""
    lag_records: int
    lag_seconds: float
    """Since the log took the oldest of them."""
    parked_streams: int
    parked_facts: int

    _wire: ClassVar[Mapping[str, str]] = {"lag_records": "lagRecords", "lag_seconds": "lagSeconds", "parked_streams": "parkedStreams", "parked_facts": "parkedFacts"}


@dataclass(kw_only=True)
class ParkedFactList(Model):
    items: list[ParkedFact]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class ParkedFact(Model):
    """A fact that is not applied."""

    stream: str
    sequence: int
    type: str
    family: str
    partition: int
    offset: int
    reason: str
    """Why it cannot be applied."""


@dataclass(kw_only=True)
class ParkedFactContent(Model):
    """A fact that is not applied, with its data."""

    stream: str
    sequence: int
    type: str
    family: str
    partition: int
    offset: int
    reason: str
    """Why it cannot be applied."""
    data: str
    """The data of the record, as text."""


@dataclass(kw_only=True)
class ParkedRetry(Model):
    """An act, and what is parked of its stream now."""

    operation: OperatorAct
    items: list[ParkedFact]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class ReactionList(Model):
    items: list[Reaction]
    total: int
    """How many there are, shown or not."""
    dead_letters: int
    """Open ones of all handlers."""

    _wire: ClassVar[Mapping[str, str]] = {"dead_letters": "deadLetters"}


@dataclass(kw_only=True)
class Reaction(Model):
    """How far a handler has come in a partition."""

    handler: str
    family: str
    partition: int
    next: int
    """The first offset that the handler has not committed."""
    lag_records: int
    """Judged and not committed as done."""
    lag_seconds: float
    """Since the log took the oldest of them."""
    dead_letters: int
    dead_since: dt.datetime | None
    """Since when the oldest dead letter is open; null for none."""

    _wire: ClassVar[Mapping[str, str]] = {"lag_records": "lagRecords", "lag_seconds": "lagSeconds", "dead_letters": "deadLetters", "dead_since": "deadSince"}


@dataclass(kw_only=True)
class DeadLetterList(Model):
    items: list[DeadLetter]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class DeadLetter(Model):
    """A fact that a handler could not process."""

    id: str
    """The handler, the family, the partition and the offset, as handler:family/partition@offset."""
    handler: str
    family: str
    partition: int
    """Of the fact, as is its offset."""
    offset: int
    stream: str
    type: str
    event_id: str
    reason: str
    """Why the handler failed."""
    since: dt.datetime
    """When it became a dead letter."""

    _wire: ClassVar[Mapping[str, str]] = {"event_id": "eventId"}


@dataclass(kw_only=True)
class DeadLetterContent(Model):
    """A fact that a handler could not process, with its data."""

    id: str
    """The handler, the family, the partition and the offset, as handler:family/partition@offset."""
    handler: str
    family: str
    partition: int
    """Of the fact, as is its offset."""
    offset: int
    stream: str
    type: str
    event_id: str
    reason: str
    """Why the handler failed."""
    since: dt.datetime
    """When it became a dead letter."""
    data: str
    """The data of the record, as text."""

    _wire: ClassVar[Mapping[str, str]] = {"event_id": "eventId"}


@dataclass(kw_only=True)
class RetriedDeadLetter(Model):
    """A dead letter after a retry."""

    id: str
    """The handler, the family, the partition and the offset, as handler:family/partition@offset."""
    handler: str
    family: str
    partition: int
    """Of the fact, as is its offset."""
    offset: int
    stream: str
    type: str
    event_id: str
    reason: str
    """Why the handler failed."""
    since: dt.datetime
    """When it became a dead letter."""
    error: str | None = None
    """Why this retry failed; absent in the repetition of a request."""

    _wire: ClassVar[Mapping[str, str]] = {"event_id": "eventId"}


@dataclass(kw_only=True)
class DeadLetterRetry(Model):
    """An act, and which of its dead letters are open now."""

    operation: OperatorAct
    items: list[RetriedDeadLetter]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class JobList(Model):
    items: list[JobSummary]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class JobSummary(Model):
    """All jobs of one kind in one state."""

    kind: str
    state: str
    jobs: int
    oldest_seconds: float
    """Since the oldest was enqueued."""
    attempts: int
    """Of the job with the most attempts."""
    last_error: str
    """The latest error of any job; empty for none."""
    last_error_at: dt.datetime | None
    """Null for none."""

    _wire: ClassVar[Mapping[str, str]] = {"oldest_seconds": "oldestSeconds", "last_error": "lastError", "last_error_at": "lastErrorAt"}


@dataclass(kw_only=True)
class OpenRunList(Model):
    items: list[OpenRun]
    total: int
    """How many there are, shown or not."""
    counts: list[OpenRunCount]


@dataclass(kw_only=True)
class OpenRun(Model):
    """A simulation that has not ended."""

    simulation: str
    account: str
    status: str
    engine: str
    """Empty before the start."""
    age_seconds: float
    """Since the submission."""
    started_at: dt.datetime | None
    """Null before the start."""
    job: str
    """State of its job; empty without one."""
    worker: str
    """The last worker that took the job; empty if none did."""
    attempts: int
    """Of the job."""
    delivered_bytes: int
    total_bytes: int
    """0 if unknown."""
    stalled_since: dt.datetime | None
    """Since when simulated time stands still; null while it moves."""

    _wire: ClassVar[Mapping[str, str]] = {"age_seconds": "ageSeconds", "started_at": "startedAt", "delivered_bytes": "deliveredBytes", "total_bytes": "totalBytes", "stalled_since": "stalledSince"}


@dataclass(kw_only=True)
class OpenRunCount(Model):
    status: str
    engine: str
    """Empty before the start."""
    simulations: int


@dataclass(kw_only=True)
class RunTermination(Model):
    reason: str
    """Why; the log keeps it."""


@dataclass(kw_only=True)
class UpgradeStatus(Model):
    """Which releases run, and the levels that they know."""

    level: int
    """Of the deployment."""
    raised_at: dt.datetime | None
    """Null at level 1."""
    supported: int
    """The newest level that the answering release knows."""
    members: list[ProcessStatus]
    superseded: list[SupersededReadModel]
    """Read models of other releases than the one that is live."""

    _wire: ClassVar[Mapping[str, str]] = {"raised_at": "raisedAt"}


@dataclass(kw_only=True)
class ProcessStatus(Model):
    """A process with sessions in the database."""

    process: str
    """Empty for a release that does not know of levels."""
    release: str
    """Empty for a release that does not know of levels."""
    level: int
    """The newest that its release knows."""
    sessions: int


@dataclass(kw_only=True)
class SupersededReadModel(Model):
    schema: str
    processes: int
    """That serve it."""


@dataclass(kw_only=True)
class LakeStatus(Model):
    writer: str
    """The process that writes it; empty for none."""
    snapshot: int
    committed_at: dt.datetime
    lag_facts: int
    """Records that are judged, and not in the lake."""
    facts: int
    """In the lake."""
    files: int
    bytes: int
    """Of the files."""
    waiting: int
    """Files that wait to be deleted."""
    path: str
    """Of the files."""
    other_log: str | None = None
    """Why it is not of this log and is not written; absent when it is."""

    _wire: ClassVar[Mapping[str, str]] = {"committed_at": "committedAt", "lag_facts": "lagFacts", "other_log": "otherLog"}


@dataclass(kw_only=True)
class PublicTopicList(Model):
    items: list[PublicTopicPartition]
    total: int
    """How many there are, shown or not."""
    transactions: bool
    """Facts are published in transactions."""
    publisher: str
    """The processes that publish with their shards; empty for none."""


@dataclass(kw_only=True)
class PublicTopicPartition(Model):
    """How far a partition of the log is published."""

    family: str
    partition: int
    """Of the log."""
    topic: str
    """The public one."""
    next: int
    """The first offset that is not published."""
    lag_records: int
    """Judged and not published."""
    lag_seconds: float
    """Since the log recorded the oldest of them."""

    _wire: ClassVar[Mapping[str, str]] = {"lag_records": "lagRecords", "lag_seconds": "lagSeconds"}


@dataclass(kw_only=True)
class LogCheckpointStatus(Model):
    """The newest log checkpoint."""

    name: str
    """Empty before the first."""
    signed_at: dt.datetime | None
    """Null before the first."""
    records: int
    """Of the log that it covers."""
    since: int
    """Records that the read model has judged and it does not cover."""
    signs: bool
    """The answering process has an audit key."""

    _wire: ClassVar[Mapping[str, str]] = {"signed_at": "signedAt"}


@dataclass(kw_only=True)
class OperatorActList(Model):
    items: list[OperatorAct]
    total: int
    """How many there are, shown or not."""


@dataclass(kw_only=True)
class OperatorAct(Model):
    """A command of an operator, as the log has it."""

    id: str
    operator: str
    """An opaque id: of the user of the token, or of the user of the command line."""
    command: str
    arguments: list[str]
    """As name=value, without secrets."""
    release: str
    """Of the program that ran it."""
    outcome: Literal["", "succeeded", "failed"] | str
    """Empty before the end, and if there is none."""
    began_at: dt.datetime
    ended_at: dt.datetime | None
    """Null before the end."""

    _wire: ClassVar[Mapping[str, str]] = {"began_at": "beganAt", "ended_at": "endedAt"}


@dataclass(kw_only=True)
class Health(Model):
    status: Literal["ok"] | str
    version: str
    commit: str
    started_at: dt.datetime
    uptime_seconds: int

    _wire: ClassVar[Mapping[str, str]] = {"started_at": "startedAt", "uptime_seconds": "uptimeSeconds"}


@dataclass(kw_only=True)
class Readiness(Model):
    status: Literal["ready", "degraded", "unavailable"] | str
    checks: list[ReadinessCheck]
    checked_at: dt.datetime

    _wire: ClassVar[Mapping[str, str]] = {"checked_at": "checkedAt"}


@dataclass(kw_only=True)
class Unreadiness(Model):
    """What fails; `error` alone where it is the verification of the token."""

    status: Literal["unavailable"] | str | None = None
    checks: list[ReadinessCheck] | None = None
    checked_at: dt.datetime | None = None
    error: UnreadinessError | None = None

    _wire: ClassVar[Mapping[str, str]] = {"checked_at": "checkedAt"}


@dataclass(kw_only=True)
class UnreadinessError(Model):
    code: str | None = None
    message: str


@dataclass(kw_only=True)
class ReadinessCheck(Model):
    name: Literal["serving", "issuerKeys", "readStore", "eventLog", "objectStore", "seals", "projections", "parkedStreams", "deadLetters", "engine", "billing", "publicTopics", "schemaRegistry", "lake", "archive", "webhooks"] | str
    """- `serving`: the process has started and is not ending; required
    - `issuerKeys`: tokens can be verified; required
    - `readStore`: the database answers, takes writes and has all tables; required
    - `eventLog`: the log answers and is trusted; required, since without it no write is accepted
    - `objectStore`: files can be stored and read; reads of everything else go on
    - `seals`: only the service can write to the log, and nothing in it is forged
    - `projections`: what is in the log is shown soon; required to go on, degraded while it is far behind
    - `parkedStreams`: everything in the log can be shown
    - `deadLetters`: everything that follows from a change is done
    - `engine`: simulations are taken up
    - `billing`: there are rates, and checkpoints are published
    - `publicTopics`: changes are published in Kafka
    - `webhooks`: deliveries to webhooks are recorded; receivers that fail do not count
    - `schemaRegistry`: the schema registry, if there is one, has every schema
    """
    required: bool
    """The service is unavailable while it fails."""
    status: Literal["pass", "warn", "fail"] | str
    message: str | None = None
    latency_ms: float | None = None
    lag_events: int | None = None
    """Of `projections`: records of the log that are not applied."""
    lag_seconds: float | None = None
    """Of `projections`: the age of the oldest record that is not applied, 0 when there is none; absent while the log does not answer."""

    _wire: ClassVar[Mapping[str, str]] = {"latency_ms": "latencyMs", "lag_events": "lagEvents", "lag_seconds": "lagSeconds"}
