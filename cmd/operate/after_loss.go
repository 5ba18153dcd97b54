package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"netsim/cmd/connections"
	"netsim/cmd/service"
	"netsim/infra/reactor"
	"netsim/stream/lake"
	"netsim/stream/publisher"
)

// afterLoss says what each of those does that keeps a position in the log, after the log
// has lost records (docs/recovery.md).
func (t *Tools) afterLoss(ctx context.Context) []string {
	lines := []string{t.lakeAfterLoss(ctx)}
	shards, public, reactions := int32(0), "", ""
	log, err := t.conn.EventLog.Describe(ctx)
	if err == nil {
		shards = connections.Shards(log)
		public, err = t.publicAfterLoss(ctx, shards)
	}
	if err != nil {
		public = fmt.Sprintf("the public topics could not be compared, and their publisher compares them: %v", err)
	}
	groups, err := reactor.OtherLog(ctx, t.conn.EventLog, t.conn.Config.TopicPrefix, service.ReactionGroups(t.conn.Config.TopicPrefix), shards)
	switch {
	case err != nil:
		reactions = fmt.Sprintf("the positions of the reactions could not be compared, and the reactor compares them: %v", err)
	case len(groups) > 0:
		reactions = "these reactions begin again with the first fact, which changes nothing that they have done: " + strings.Join(groups, ", ")
	default:
		reactions = "the reactions have none of them behind them, and go on"
	}
	return append(lines, public, reactions,
		"an archive or an export that has them refuses this log: use another target",
		"positions of the event feed and consistency tokens from before are refused with 400: clients begin with since, or without a token",
		"start every process of the service again that has not ended")
}

func (t *Tools) lakeAfterLoss(ctx context.Context) string {
	switch s, err := t.Lake(ctx); {
	case errors.Is(err, lake.ErrMissing):
		return "there is no lake"
	case err != nil:
		return fmt.Sprintf("the lake could not be compared, and its writer compares it: %v", err)
	case s.OtherLog != "":
		return s.OtherLog
	}
	return "the lake has none of them, and goes on"
}

func (t *Tools) publicAfterLoss(ctx context.Context, shards int32) (string, error) {
	families, err := publisher.OtherLog(ctx, t.conn.PublisherConfig(shards))
	if err != nil {
		return "", err
	}
	var topics, again []string
	for _, family := range families {
		topics = append(topics, publisher.Topic(t.conn.Config.TopicPrefix, family))
		again = append(again, fmt.Sprintf("'netsim events republish %s'", family))
	}
	if len(topics) == 0 {
		return "the public topics of this cluster have none of them, and go on", nil
	}
	return fmt.Sprintf("%s have facts that the log does not have, and are not continued; %s makes them again", strings.Join(topics, ", "), strings.Join(again, ", ")), nil
}
