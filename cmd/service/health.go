package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"netsim/cmd/settings"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/health"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/projections"
)

// need is a row of the table in docs/operating.md: a check and the roles that depend on
// it. While the check fails, roles in requires can do no work, and roles in helps can do
// only part of their work.
type need struct {
	name     string
	requires []string
	helps    []string
	probe    func(context.Context) health.State
}

// needsFirst returns the check of a process that is not connected yet.
func (l *launch) needsFirst() []need {
	return []need{{name: "serving", requires: settings.EveryRole(), probe: l.probeServing}}
}

// needs returns the checks of a connected process.
func (s *process) needs() []need {
	return []need{
		{name: "issuerKeys", requires: []string{settings.RoleAPI}, probe: s.probeKeys},
		{name: "readStore", requires: settings.EveryRole(), probe: s.probeStore},
		{name: "eventLog", requires: settings.EveryRole(), probe: s.probeLog},
		{name: "objectStore", requires: []string{settings.RoleWorker, settings.RoleLake}, helps: []string{settings.RoleAPI, settings.RoleReactor}, probe: probe(s.Objects.Ping)},
		{name: "seals", helps: settings.EveryRole(), probe: s.probeSeals},
		{name: "projections", requires: settings.EveryRole(), probe: s.probeProjections},
		{name: "parkedStreams", helps: []string{settings.RoleAPI, settings.RoleProjector}, probe: s.probeParked},
		{name: "deadLetters", helps: []string{settings.RoleAPI, settings.RoleReactor}, probe: s.probeDeadLetters},
	}
}

// needs returns the checks of the domain.
func (d *domain) needs(s *process) []need {
	return []need{
		{name: "engine", helps: []string{settings.RoleAPI}, probe: d.probeEngines},
		{name: "billing", helps: []string{settings.RoleAPI}, probe: s.probeBilling},
		{name: "lake", helps: []string{settings.RoleLake}, probe: d.probeLake},
		{name: "webhooks", helps: []string{settings.RoleReactor}, probe: d.probeWebhooks},
		{name: "archive", helps: []string{settings.RoleArchiver}, probe: d.probeArchive},
		{name: "publicTopics", helps: []string{settings.RolePublisher}, probe: d.probePublic},
		{name: "schemaRegistry", helps: []string{settings.RolePublisher}, probe: d.probeRegistry},
	}
}

// checks returns the checks of this process's roles. In a process with the role api,
// only this role decides about readiness. Readiness controls whether the process gets
// requests, and a process that can answer requests should get them even if another role
// cannot work.
func checks(c *settings.Config, needs []need) []health.Check {
	deciding := c.Roles
	if c.Has(settings.RoleAPI) {
		deciding = []string{settings.RoleAPI}
	}
	among := func(roles []string) func(string) bool {
		return func(role string) bool { return slices.Contains(roles, role) }
	}
	var checks []health.Check
	for _, n := range needs {
		if slices.ContainsFunc(append(n.requires, n.helps...), c.Has) {
			checks = append(checks, health.Check{Name: n.name, Required: slices.ContainsFunc(n.requires, among(deciding)), Probe: n.probe})
		}
	}
	return checks
}

// probe turns a function that only returns an error into a probe.
func probe(ask func(context.Context) error) func(context.Context) health.State {
	return func(ctx context.Context) health.State { return health.Failed(ask(ctx)) }
}

func (l *launch) probeServing(context.Context) health.State {
	if outage := l.outage.Load(); outage != nil {
		return health.State{Err: fmt.Errorf("the start waits for a server: %w", *outage), Message: "the process is starting: it waits for a server"}
	}
	switch l.phase.Load() {
	case starting:
		return health.State{Err: errors.New("the process is still starting"), Message: "the process is starting"}
	case waiting:
		return health.State{
			Err:     errors.New("waiting for a process with the role projector to create the read model, or for the promotion of the one of this release"),
			Message: "the process is waiting for the read model",
		}
	case ending:
		return health.State{Err: errors.New("ending: requests are still answered, but new ones should go to other processes"), Message: "the process is ending"}
	}
	return health.State{}
}

func (s *process) probeKeys(context.Context) health.State {
	expire, err := s.verifier.Keys()
	switch {
	case !time.Now().Before(expire):
		return health.State{Err: fmt.Errorf("no token can be verified: %w", err), Message: "no token can be verified"}
	case err != nil:
		return health.State{Message: "the token issuer does not answer; its keys expire at " + expire.UTC().Format(time.RFC3339)}
	}
	return health.State{}
}

func (s *process) probeStore(ctx context.Context) health.State {
	switch exists, err := s.projector.Exists(ctx); {
	case err != nil:
		return health.Failed(err)
	case !exists:
		return health.State{
			Err:     errors.New("the read model is missing; a process with the role projector rebuilds it"),
			Message: "the read model is missing",
		}
	case s.watcher.Behind():
		return health.State{Err: projections.ErrRebuilding, Message: projections.ErrRebuilding.Error()}
	}
	err := postgres.Check(ctx, s.verified)
	if err != nil && s.recovery.Pending() {
		return health.State{Err: fmt.Errorf("%w: %w", projections.ErrBehind, err), Message: projections.ErrBehind.Error()}
	}
	if err == nil && s.watcher.Superseded() {
		return health.State{Message: "this process serves a superseded read model: the one of another release was promoted"}
	}
	return health.Failed(err)
}

func (s *process) probeLog(ctx context.Context) health.State {
	log, err := s.describe(ctx)
	if err != nil {
		return health.Failed(err)
	}
	if err := s.EventLog.Check(log); err != nil {
		return health.State{Err: err, Message: "the log is refused"}
	}
	if err := s.projector.Recognize(ctx, log); errors.Is(err, projector.ErrOtherLog) {
		return health.State{Err: err, Message: "the log is refused"}
	}
	return health.State{}
}

// probeProjections fails when records wait and none was judged for longer than
// VerdictTimeout. While the log does not answer, it counts the records up to the last
// known end of the log and reports no age.
func (s *process) probeProjections(ctx context.Context) health.State {
	lags, unmeasured := s.measureLag(ctx)
	lag, stuck := s.progress.update(s.unjudged, time.Now())
	state := health.State{LagRecords: &lag}
	if unmeasured == nil {
		records, age := total(lags, time.Now())
		seconds := age.Seconds()
		state.LagRecords, state.LagSeconds = &records, &seconds
	}
	switch {
	case stuck > s.config.VerdictTimeout:
		state.Err = fmt.Errorf("%d records wait, and none was judged for %v", lag, stuck.Round(time.Second))
		state.Message = "nothing is projected"
	case s.lag() > s.config.MaxLag: // as admit sees it
		state.Message = "the projections are too far behind; writes are refused"
	case lag > s.config.MaxLag:
		state.Message = "the projections are too far behind"
	}
	return state
}

// measureLag measures how far the read model is behind the log, by partition.
func (s *process) measureLag(ctx context.Context) ([]projector.Lag, error) {
	log, err := s.describe(ctx)
	if err != nil {
		return nil, err
	}
	return projector.MeasureLag(ctx, s.EventLog, log, s.watcher.Next)
}

// total returns how many records are not judged, and the age of the oldest.
func total(lags []projector.Lag, now time.Time) (records int64, age time.Duration) {
	for _, at := range lags {
		records, age = records+at.Records, max(age, at.Age(now))
	}
	return records, age
}

// describe returns a description of the log. Concurrent callers share one request.
func (s *process) describe(ctx context.Context) (eventlog.Description, error) {
	described, err, _ := s.describing.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), describeTimeout)
		defer cancel()
		log, err := s.EventLog.Describe(ctx)
		if err == nil {
			s.end.Store(&log)
		}
		return log, err
	})
	log, _ := described.(eventlog.Description) //nolint:errcheck // the function above returns this type
	return log, err
}

// describeTimeout is shorter than the timeout of a probe, so that the probe reports the
// cause.
const describeTimeout = time.Second

// unjudged returns how many records are judged and how many wait, up to the end of the
// log in its last description.
func (s *process) unjudged() (judged, waiting int64) {
	log := s.end.Load()
	if log == nil {
		return 0, 0
	}
	for _, topic := range log.Topics {
		for i, part := range topic.Partitions {
			next := s.watcher.Next(topic.Family, int32(i))
			judged, waiting = judged+next, waiting+max(0, part.End-next)
		}
	}
	return judged, waiting
}

// progress tracks since when records wait and none is judged.
type progress struct {
	mu     sync.Mutex
	judged int64
	since  time.Time
}

// update returns how many records wait, and for how long none was judged.
func (p *progress) update(count func() (judged, waiting int64), now time.Time) (waiting int64, stuck time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	judged, waiting := count()
	if waiting == 0 || judged != p.judged || p.since.IsZero() {
		p.judged, p.since = judged, now
	}
	return waiting, now.Sub(p.since)
}

func (s *process) probeParked(ctx context.Context) health.State {
	streams, err := s.parkedStreams(ctx)
	if err != nil || streams == 0 {
		return health.Failed(err)
	}
	return health.State{Message: fmt.Sprintf("%d streams have facts that cannot be applied", streams)}
}

func (s *process) parkedStreams(ctx context.Context) (streams int, err error) {
	err = s.verified.QueryRow(ctx, `SELECT count(DISTINCT stream) FROM parked`).Scan(&streams)
	return streams, err
}

func (s *process) probeDeadLetters(ctx context.Context) health.State {
	letters, err := s.Letters.Open(ctx)
	if err != nil || len(letters) == 0 {
		return health.Failed(err)
	}
	return health.State{Message: fmt.Sprintf("%d facts could not be processed by a reaction", len(letters))}
}

func (d *domain) probeEngines(ctx context.Context) health.State {
	switch attended, err := d.jobs.Attended(ctx); {
	case err != nil:
		return health.Failed(err)
	case !attended:
		return health.State{Message: "no worker runs simulations"}
	}
	return health.State{Message: d.silentEngines(ctx)}
}

func (s *process) probeBilling(ctx context.Context) health.State {
	rates, _, err := projections.ListRates(ctx, s.verified, projections.RateQuery{Page: projections.Page{Limit: 1}})
	switch {
	case err != nil:
		return health.Failed(err)
	case len(rates) == 0:
		return health.State{Message: "there are no rates"}
	case s.auditKey == nil:
		return health.State{Message: "there is no audit key: no checkpoints are published"}
	}
	return health.State{}
}

// silentEngines returns a message with the number of remote engines that do not answer,
// or "" when all answer.
func (d *domain) silentEngines(ctx context.Context) string {
	urls := d.engines.URLs()
	var silent atomic.Int32
	var asked sync.WaitGroup
	for _, base := range urls {
		asked.Go(func() {
			if _, err := d.engines.Describe(ctx, base); err != nil {
				silent.Add(1)
			}
		})
	}
	asked.Wait()
	if silent.Load() == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d remote engines do not answer", silent.Load(), len(urls))
}

// lag returns the number of records that the projector of this process has not judged. It
// is 0 without a projector.
func (s *process) lag() int64 {
	if !s.config.Has(settings.RoleProjector) {
		return 0
	}
	return s.projector.Report().LagRecords
}

// admit refuses writes while the projector lags, because their verdicts would be late.
func (s *process) admit(context.Context) error {
	if s.lag() <= s.config.MaxLag {
		return nil
	}
	return &fault.Fault{
		Code: fault.Unavailable, Message: "the service is catching up; try again soon",
		RetryAfter: 2 * time.Second, Cause: errLagging,
	}
}
