package service_test

import (
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// TestTheLogsTopicsAreSeen: a process exposes whether the log's brokers and replicas are there,
// and a topic whose settings were changed so that it loses events.
func TestTheLogsTopicsAreSeen(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	exposes := func(lines ...string) {
		t.Helper()
		testworld.Await(t, func() bool {
			text := servicetest.Scrape(t, p.Ops)
			for _, line := range lines {
				if !strings.Contains(text, "\n"+line+"\n") {
					return false
				}
			}
			return true
		})
	}
	admin, err := sarama.NewClusterAdmin(p.Config.Kafka, sarama.NewConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close() //nolint:errcheck // nothing is pending
	retain := func(value string) {
		t.Helper()
		err := admin.IncrementalAlterConfig(sarama.TopicResource, p.Config.TopicPrefix+string(events.Workspaces), map[string]sarama.IncrementalAlterConfigsEntry{
			"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
		}, false)
		if err != nil {
			t.Fatal(err)
		}
	}
	exposes("netsim_log_refused 0", "netsim_log_brokers_absent 0", `netsim_log_partitions{state="out_of_sync"} 0`, `netsim_log_partitions{state="leaderless"} 0`)
	retain("86400000")
	exposes("netsim_log_refused 1")
	retain("-1")
	exposes("netsim_log_refused 0")
}
