package service

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/api/contract"
	"netsim/billing"
	"netsim/billing/focus"
	"netsim/cmd/operations"
	"netsim/content/traces"
	"netsim/events"
	"netsim/infra/reactor"
	"netsim/infra/replicas"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/reactions"
	"netsim/readapi"
	"netsim/readapi/access"
	"netsim/simulator/chakra"
	"netsim/stream/feed"
	"netsim/stream/history"
	"netsim/stream/webhooks"
	"netsim/writeapi"
)

// handlers serves every operation of the contract.
type handlers struct {
	*reads
	*writes
	*readapi.Billing
	*readapi.Events
	*readapi.Streams
	*readapi.Webhooks
	*operations.API
}

type (
	reads  = readapi.API
	writes = writeapi.API
)

// runAPI serves requests. After an orderly end of ctx, the API serves for NETSIM_DRAIN
// longer and closes each connection after its response. Then requests in progress
// finish and event streams end. When a part of the process has failed, the API does
// not wait for NETSIM_DRAIN.
func (s *process) runAPI(ctx context.Context, d *domain, listen net.Listener, roles *errgroup.Group) error {
	quotas, err := open(ctx, s.launch, s.quotas)
	if err != nil {
		return err
	}
	site, err := s.console()
	if err != nil {
		return err
	}
	answering, stop := context.WithCancel(context.WithoutCancel(ctx))
	following, unfollow := context.WithCancel(context.WithoutCancel(ctx))
	follow, followStudies := s.followers(), s.followers()
	followStudies.Studies = true
	hub := s.eventHub(d.writer.Partitions)
	handler, reads, err := s.api(ctx, d, follow, followStudies, hub, quotas, site)
	if err != nil {
		stop()
		unfollow()
		return err
	}
	handler = web.CloseWhen(func() bool { return ctx.Err() != nil })(handler)
	server := web.NewServer(handler, s.config.VerdictTimeout+s.config.ReadTimeout, s.log)
	server.RegisterOnShutdown(unfollow)
	roles.Go(s.part(following, "the followers of simulations", follow.Run))
	roles.Go(s.part(following, "the followers of studies", followStudies.Run))
	roles.Go(s.part(following, "the event feed", hub.Run))
	roles.Go(s.part(following, "the quotas of accounts", quotas.Run))
	roles.Go(s.part(answering, "the polls of standbys", reads.Run))
	if site != nil {
		roles.Go(s.part(answering, "the expiry of the console's sessions", site.Run))
	}
	roles.Go(s.part(answering, "the API's listener", func(ctx context.Context) error {
		defer unfollow()
		return web.Serve(ctx, server, listen, s.config.Grace)
	}))
	roles.Go(func() error {
		defer stop()
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), errAsked) {
			s.log.InfoContext(ctx, "the API is draining: it answers requests and closes their connections", "drain", s.config.Drain)
			time.Sleep(s.config.Drain)
		}
		return nil
	})
	return nil
}

// api returns the handler of the API listener, and the databases that it reads.
func (s *process) api(ctx context.Context, d *domain, follow, followStudies *readapi.Followers, hub *feed.Hub, quotas *readapi.Quotas, site *webConsole) (http.Handler, *replicas.Reads, error) {
	keys, err := open(ctx, s.launch, s.cursorKeys)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := open(ctx, s.launch, func(ctx context.Context) (*replicas.Serve, error) { return s.openReads(ctx, keys) })
	if err != nil {
		return nil, nil, err
	}
	cursors, err := web.NewCursors(keys, time.Now)
	if err != nil {
		return nil, nil, err
	}
	terms, err := contract.Load()
	if err != nil {
		return nil, nil, err
	}
	get := &readapi.API{
		Access:  &access.Access{DB: tokens.Reads, Rows: s.lookups(), TraceRoutes: s.config.TraceRoutes},
		Cursors: cursors, Objects: s.Objects, Now: time.Now, ConsoleURL: s.config.Dashboards(),
		ResultsOwnership: s.config.ResultsOwnership,
		Storage:          readapi.Storage{Bucket: s.config.S3Bucket, Mount: s.config.MountRoot}, Inspect: s.inspect,
		Build:  readapi.Build{Version: s.build.Version, Commit: s.build.Commit, StartedAt: s.startedAt},
		Health: &s.health, Followers: follow, StudyFollowers: followStudies,
	}
	change := &writeapi.API{
		Commands: d.writer.Handler, Views: get,
		Sessions: d.uploads, Completions: d.uploads, Direct: d.uploads, Quotas: quotas, Engines: d.engines, MaxFiles: s.config.MaxFiles,
		Hold: d.holds.Hold, ForecastStudy: d.forecastStudy, StudySources: d.studies.Sources, Check: terms.CheckBody, RequireCredit: d.holds.Require, Unfold: d.simple.Unfold,
	}
	books := &readapi.Billing{
		DB: s.verified, Cursors: cursors, Now: time.Now,
		Platform: s.config.Platform, Postpaid: d.holds.Postpaid, LogAccess: (&billing.AccessLog{Commands: d.writer.Handler}).Record, Lag: s.reactionLag(reactions.Billing, reactions.Families()[reactions.Billing], d.writer.Partitions).Behind,
		OpenBundle: s.openBundle, Bundles: readapi.Turns{Wait: 5 * time.Second},
		WriteDataset: s.writeDataset, Datasets: readapi.Turns{Wait: 5 * time.Second},
	}
	log := &readapi.Events{EventFilters: readapi.EventFilters{Access: get.Access, Billing: s.config.BillingEndpoints}, Hub: hub, Cursors: cursors, Losses: s.losses}
	past := &readapi.Streams{Access: get.Access, History: &history.History{DB: tokens.Reads, Log: s.EventLog}, Cursors: cursors, Billing: s.config.BillingEndpoints}
	hooked := &readapi.Webhooks{Events: log, Now: time.Now}
	if d.hooks != nil {
		if err := s.attempt(ctx, d.hooks.Create); err != nil {
			return nil, nil, err
		}
		hooked.Send, hooked.Attempts = d.hooks.Test, d.hooks.History
		change.Webhooks, change.WebhookSecrets = hooked, d.hooks.Keys
		change.WebhookURLs = func(url string) error { return webhooks.CheckURL(url, d.hooks.Networks) }
	}
	observeStreams(s.metrics, follow, followStudies)
	frontEnd, err := s.frontEnd(quotas)
	if err != nil {
		return nil, nil, err
	}
	frontEnd.tokens, frontEnd.console = tokens, site
	return frontEnd.router(handlers{get, change, books, log, past, hooked, s.operations(d, change)}), tokens.Reads, nil
}

// writeDataset implements readapi.WriteDataset: it is what netsim billing export does.
func (s *process) writeDataset(ctx context.Context, r focus.Request, to io.Writer) error {
	return projections.CostSnapshot(ctx, s.verified, func(db projections.Reader) error {
		_, err := focus.Write(ctx, db, r, to)
		return err
	})
}

// operations returns what operators see and do by the API, with the sessions of requests.
func (s *process) operations(d *domain, change *writeapi.API) *operations.API {
	view := operations.ViewOf(s.Connections, s.verified)
	view.Describe, view.Self, view.Transactional = s.describe, "", operations.Remember(view.Transactional)
	return &operations.API{View: view, Acts: operations.Acts{
		Conn: s.Connections, DB: s.verified, Commands: d.writer.Handler,
		Retry:     func(ctx context.Context, l reactor.DeadLetter) error { return d.reactor.Retry(ctx, s.Letters, l) },
		Terminate: writeapi.Termination{API: change},
	}}
}

// quotas returns the quotas of the settings, overridden by the quotas that operators
// have set.
func (s *base) quotas(ctx context.Context) (*readapi.Quotas, error) {
	defaults, err := s.config.QuotaLimits()
	if err != nil {
		return nil, err
	}
	q := &readapi.Quotas{DB: s.verified, Defaults: defaults, Log: s.log, Now: time.Now, Changes: func() (<-chan struct{}, func()) {
		return s.watcher.Changes(events.Billing)
	}}
	return q, q.Load(ctx)
}

// admission limits how many requests are served at a time.
func (s *process) admission(quotas *readapi.Quotas) *web.Admission {
	c := s.config
	admission := web.NewAdmission(web.AdmissionConfig{
		Slots: map[web.Class]int{
			web.ClassRead: c.MaxReads, web.ClassWrite: c.MaxWrites, web.ClassHeavy: cmp.Or(c.MaxHeavy, 2*runtime.GOMAXPROCS(0)),
			web.ClassStream: c.MaxStreams, web.ClassUpload: c.MaxUploads, web.ClassContent: c.MaxContent,
		},
		Quota: quotas.Limit, BodyTime: c.BodyTimeout, BodyRate: c.BodyRate, BodyMemory: c.BodyMemory, AccountMemory: c.BodyMemory / 4, Now: time.Now,
		Refused: observeRefusals(s.metrics),
	})
	observeAdmission(s.metrics, admission)
	return admission
}

// followers returns those that wait for changes of simulations or studies.
func (s *process) followers() *readapi.Followers {
	return &readapi.Followers{DB: s.verified, Log: s.log, Changes: func() (<-chan struct{}, func()) {
		return s.watcher.Changes(events.Simulations, events.Workspaces)
	}}
}

// inspect reads the traces of a traceset.
func (s *base) inspect(ctx context.Context, t *projections.Traceset) (*chakra.Report, error) {
	workload, err := traces.Open(ctx, s.Objects, t)
	if err != nil {
		return nil, err
	}
	return chakra.Inspect(workload.Files, workload.Groups, chakra.Limits{})
}
