package service

import (
	"errors"
	"strings"
	"testing"

	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/reactor"
	"netsim/stream/publisher"
)

// The check of public topics fails once nothing could be published for a while.
func TestHealthOfPublicTopics(t *testing.T) {
	t.Parallel()
	refused := errors.New("the broker refuses the fact")
	for name, tt := range map[string]struct {
		report publisher.Report
		fails  bool
	}{
		"works":        {publisher.Report{LagRecords: 5}, false},
		"fails for 9s": {publisher.Report{Failure: refused, Failing: publicStuck - 1}, false},
		"is stuck":     {publisher.Report{Failure: refused, Failing: publicStuck}, true},
	} {
		s := publicHealth(tt.report)
		if (s.Err != nil) != tt.fails || tt.fails && (!errors.Is(s.Err, refused) || strings.Contains(s.Message, "broker")) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A consumer of every topic that begins with the prefix of public topics reads no dead
// letters and nothing of the log.
func TestInternalTopicsAreNotPublic(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "netsim.", "other.", "x"} {
		public, _ := strings.CutSuffix(publisher.Topic(prefix, events.Billing), string(events.Billing))
		c := settings.Config{TopicPrefix: prefix}
		internal := []string{reactor.DeadLetterTopic(prefix)}
		for _, family := range events.Families() {
			log := connections.EventLogConfig(&c, nil)
			internal = append(internal, log.Topic(family))
			if !strings.HasPrefix(publisher.Topic(prefix, family), public) {
				t.Errorf("%s does not begin with %s", publisher.Topic(prefix, family), public)
			}
		}
		for _, topic := range internal {
			if strings.HasPrefix(topic, public) {
				t.Errorf("the internal topic %s looks like a public one", topic)
			}
		}
	}
}
