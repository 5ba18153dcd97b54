package billing_test

import (
	"netsim/audit"
	"netsim/commands"
)

// replay fails the test unless the auditor derives exactly the booked costs from
// the log alone.
func (k *keeper) replay() {
	k.t.Helper()
	d, err := k.EventLog.Describe(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	log := &audit.Log{Reader: k.EventLog, Cluster: d.ClusterID}
	for _, t := range d.Topics {
		topic := audit.Topic{Family: t.Family, Name: t.Name, ID: t.ID}
		for _, p := range t.Partitions {
			topic.Ends = append(topic.Ends, p.End)
		}
		log.Topics = append(log.Topics, topic)
	}
	r, err := audit.Replay(k.t.Context(), log, commands.PlatformStream(platform), nil, k.now())
	if err != nil {
		k.t.Fatal(err)
	}
	for _, f := range r.Findings {
		k.t.Errorf("the audit found %s", f)
	}
	if r.Rated.Pending+r.Rated.Unrated > 0 {
		k.t.Errorf("the audit reports %+v, want nothing pending or unrated: all items are closed and all days accrued", r.Rated)
	}
}
