package service

import (
	"context"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/projector"
	"netsim/infra/telemetry"
	"netsim/projections"
	"netsim/stream/feed"
)

// A client of the feed gets all events since the last write at once, so many clients cost
// few writes: one in 50 ms with up to 50 clients, and one in half a second with 500.
const (
	feedPace   = 50 * time.Millisecond
	feedWrites = 1000 // a second, to all clients

	feedCatchUps = 4 // reads of the log at a time for feeds that begin in the past; FeedRate bounds what they read
)

// eventHub returns the hub of the event feed.
func (s *base) eventHub(partitions map[events.Family]int32) *feed.Hub {
	hub := s.newHub(partitions, feedPace, feedWrites)
	observeFeed(s.metrics, hub)
	return hub
}

// newHub returns a hub of feeds. pace is the shortest time between two writes to a client,
// and writes the number of them a second to all.
func (s *base) newHub(partitions map[events.Family]int32, pace time.Duration, writes int) *feed.Hub {
	return feed.New(feed.Config{
		Log: s.EventLog, Verdicts: s.watcher, Partitions: partitions,
		Live: s.facts, History: facts.NewReader(s.EventLog, s.watcher),
		Owners: s.owners, Heartbeat: s.config.FeedHeartbeat, Pace: pace, Writes: writes, Buffer: s.config.FeedBuffer,
		CatchUps: feedCatchUps, Rate: s.config.FeedRate, Now: time.Now, Logger: s.log,
	})
}

// owners reads the owners of streams.
func (s *base) owners(ctx context.Context, streams []string) (map[string]feed.Owner, error) {
	found, err := projections.Owners(ctx, s.verified, streams)
	if err != nil {
		return nil, err
	}
	owners := make(map[string]feed.Owner, len(found))
	for _, o := range found {
		owners[o.Stream] = feed.Owner{AccountID: o.AccountID, WorkspaceID: o.WorkspaceID}
	}
	return owners, nil
}

// losses names the losses of the log's records that an operator has accepted.
func (s *base) losses(ctx context.Context) (string, error) {
	return projector.ReadLosses(ctx, s.verified, commands.CheckpointStream(s.config.Platform))
}

// observeFeed samples the counters of the event feed.
func observeFeed(m *telemetry.Metrics, hub *feed.Hub) {
	const (
		open     = "netsim_feed_clients"
		behind   = "netsim_feed_clients_behind"
		followed = "netsim_feed_partitions"
		sent     = "netsim_feed_events_total"
		ended    = "netsim_feed_ended_total"
		failed   = "netsim_feed_errors_total"
	)
	m.Sample(func(emit telemetry.Emit) {
		r := hub.Report()
		emit(open, float64(r.Open))
		emit(behind, float64(r.Behind))
		emit(followed, float64(r.Followed))
		emit(sent, float64(r.Sent))
		emit(failed, float64(r.Failed))
		for reason, n := range r.Ended {
			emit(ended, float64(n), string(reason))
		}
	}, open, behind, followed, sent, ended, failed)
}
