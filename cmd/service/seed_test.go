package service_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/simulator/presets"
)

// TestCuratedTemplatesAreStoredOnce: the first start stores the curated templates in the
// order of the list. The second start appends nothing. No account is billed for them.
func TestCuratedTemplatesAreStoredOnce(t *testing.T) {
	t.Parallel()
	curated, err := presets.Curated()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range curated {
		want = append(want, c.Name)
	}
	c := servicetest.Config(t)
	var first map[string]int64
	for _, start := range []string{"first", "second"} {
		t.Run(start, func(t *testing.T) {
			p := servicetest.Start(t, func(own *settings.Config) { *own = c })
			var listed struct{ Templates []struct{ Name string } }
			p.User(t, servicetest.NewAccount()).Get("/api/v1/templates").Want(200).Into(&listed)
			var got []string
			for _, found := range listed.Templates {
				got = append(got, found.Name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("templates (-want +got):\n%s", diff)
			}
			servicetest.AwaitQuiet(t, c.Kafka[0], c.TopicPrefix, c.Postgres)
			records := recordsOf(t, c)
			if start == "first" {
				first = records
			} else if diff := cmp.Diff(first, records); diff != "" {
				t.Errorf("records after a second start (-before +after):\n%s", diff)
			}
			platform := p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"})
			if items := platform.Get("/api/v1/billing/items").Want(200).Object()["items"].([]any); len(items) != 0 {
				t.Errorf("the billing items are %v, want none", items)
			}
		})
	}
}

// recordsOf counts the records of the families of configurations, tracesets and billing.
func recordsOf(t *testing.T, c settings.Config) map[string]int64 {
	t.Helper()
	j, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: c.Kafka, Prefix: c.TopicPrefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	log, err := j.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, topic := range log.Topics {
		switch topic.Family {
		case events.Configurations, events.Tracesets, events.Billing:
			for _, part := range topic.Partitions {
				counts[string(topic.Family)] += part.End
			}
		}
	}
	return counts
}
