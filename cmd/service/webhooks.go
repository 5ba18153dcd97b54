package service

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/infra/health"
	"netsim/infra/telemetry"
	"netsim/projections"
	"netsim/readapi"
	"netsim/readapi/access"
	"netsim/stream/webhooks"
)

// Feeds for webhooks are read by the deliverer, whose batches bound its writes.
const (
	webhookPace   = 20 * time.Millisecond
	webhookWrites = 100_000
)

// hooks has what a process needs of webhooks.
type hooks struct {
	*webhooks.Deliverer
	source *webhookSource
}

// hooks returns the webhooks of a deployment that has them, or nil. One process at a time
// delivers, of those with the role reactor; those with the role api send tests. A deployment
// that only reads shows webhooks, and sends nothing.
func (s *base) hooks(w *connections.Writer) (*hooks, error) {
	if !s.config.HasWebhooks() || s.config.ReadOnly {
		return nil, nil
	}
	keys, networks, err := s.config.Webhooks()
	if err != nil {
		return nil, err
	}
	h := &hooks{source: &webhookSource{
		db: s.verified, log: s.log,
		filters: readapi.EventFilters{
			Access: &access.Access{DB: s.verified, Rows: projections.NewLookups(s.verified)}, Billing: s.config.BillingEndpoints,
		},
	}}
	h.Deliverer = webhooks.New(webhooks.Config{
		Pool: s.verified, Hub: s.newHub(w.Partitions, webhookPace, webhookWrites), Source: h.source, Losses: s.losses,
		Leases: &facts.Leases{Pool: s.Pool, Subscriber: webhooks.Subscriber, Process: s.Process, Shards: 1, Log: s.log},
		Keys:   keys, Networks: networks, Log: s.log,
		Disable: func(ctx context.Context, id, reason string) error {
			return disableWebhook(ctx, s.verified, w.Handler, id, reason)
		},
	})
	return h, nil
}

// disableWebhook records that a webhook is disabled. Repeating it changes nothing.
func disableWebhook(ctx context.Context, db projections.Reader, h *handle.Handler, id, reason string) error {
	w, err := projections.FindWebhook(ctx, db, id)
	if err != nil {
		return err
	}
	_, err = handle.Command[commands.Webhook](ctx, h, handle.Target{Stream: id, PartitionKey: w.AccountID}, handle.System(),
		commands.DisableWebhook{Reason: reason})
	return err
}

// runWebhooks starts the deliveries.
func (s *process) runWebhooks(ctx context.Context, h *hooks, roles *errgroup.Group) {
	s.observeWebhooks(h.Deliverer)
	changed, stop := s.watcher.Changes(events.Workspaces)
	h.source.changed = changed
	roles.Go(s.part(ctx, "the feeds of webhooks", h.Hub.Run))
	roles.Go(s.part(ctx, "the deliveries to webhooks", func(ctx context.Context) error {
		defer stop()
		return h.Run(ctx)
	}))
}

// webhookSource implements webhooks.Source on the read model.
type webhookSource struct {
	db      projections.Reader
	log     *slog.Logger
	filters readapi.EventFilters
	changed <-chan struct{}
	built   map[string]webhooks.Subscription // by id, of the newest version that was read
}

// Changed implements webhooks.Source. It also receives a value when other streams of the
// family have changed.
func (h *webhookSource) Changed() <-chan struct{} { return h.changed }

// Subscriptions implements webhooks.Source. It reads only the webhooks that have changed. A
// webhook whose events cannot be determined, as when they are of a type that this release
// does not know, is not active.
func (h *webhookSource) Subscriptions(ctx context.Context) ([]webhooks.Subscription, error) {
	versions, err := projections.WebhookVersions(ctx, h.db)
	if err != nil {
		return nil, err
	}
	built := make(map[string]webhooks.Subscription, len(versions))
	var changed []string
	for id, version := range versions {
		if one, ok := h.built[id]; ok && one.Version == version {
			built[id] = one
		} else {
			changed = append(changed, id)
		}
	}
	if len(changed) > 0 {
		rows, err := projections.FindWebhooks(ctx, h.db, changed)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if built[rows[i].ID], err = h.build(ctx, &rows[i]); err != nil {
				return nil, err
			}
		}
	}
	h.built = built
	return slices.Collect(maps.Values(built)), nil
}

func (h *webhookSource) build(ctx context.Context, row *projections.Webhook) (webhooks.Subscription, error) {
	one, err := h.filters.Subscription(ctx, row)
	switch code := fault.CodeOf(err); {
	case err == nil:
	case code == fault.Internal || code == fault.Unavailable:
		return one, fmt.Errorf("read webhook %s: %w", row.ID, err)
	default:
		h.log.WarnContext(ctx, "a webhook sends nothing, because its filter is refused", "webhook", row.ID, "error", err)
		one.Active = false
	}
	return one, nil
}

// observeWebhooks samples the deliverer.
func (s *base) observeWebhooks(d *webhooks.Deliverer) {
	const (
		delivering, active, full, waiting = "netsim_webhooks_delivering", "netsim_webhooks_active", "netsim_webhooks_full", "netsim_webhooks_messages"
		sending, attempts, disabled, ko   = "netsim_webhooks_sending", "netsim_webhooks_attempts_total", "netsim_webhooks_disabled_total", "netsim_webhooks_failures_total"
	)
	s.metrics.Sample(func(emit telemetry.Emit) {
		r := d.Report()
		holds := 0.0
		if r.Holding {
			holds = 1
		}
		emit(delivering, holds)
		emit(active, float64(r.Webhooks))
		emit(full, float64(r.Full))
		emit(waiting, float64(r.Messages))
		emit(sending, float64(r.Sending))
		for _, outcome := range []webhooks.Outcome{webhooks.Delivered, webhooks.Failed, webhooks.Dropped} {
			emit(attempts, float64(r.Attempts[outcome]), string(outcome))
		}
		emit(disabled, float64(r.Disabled))
		emit(ko, float64(r.Failures))
	}, delivering, active, full, waiting, sending, attempts, disabled, ko)
}

// probeWebhooks degrades while deliveries cannot be made or recorded. Receivers that fail
// are not the service's.
func (d *domain) probeWebhooks(context.Context) health.State {
	if d.hooks == nil {
		return health.State{}
	}
	if err := d.hooks.Report().Error; err != nil {
		return health.State{Err: err, Message: "webhooks are not delivered"}
	}
	return health.State{}
}
