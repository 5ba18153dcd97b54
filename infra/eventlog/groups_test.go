package eventlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"netsim/events"
)

// groupOffsets commits offsets of a group that has no members, and of one whose
// members have left.
func groupOffsets(t *testing.T, c Config) {
	k := open(t, c)
	topic, group := k.Topic(events.Workspaces), k.Prefix+"group"
	check := func(when string, want []GroupOffset) {
		t.Helper()
		got, err := k.GroupOffsets(t.Context(), group, topic, 2)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	commit := func(partition int32, at GroupOffset) error {
		return k.CommitGroup(t.Context(), group, topic, map[int32]GroupOffset{partition: at})
	}
	check("before a commit", make([]GroupOffset, 2))
	long := strings.Repeat("m", 4000)
	if err := commit(1, GroupOffset{7, long}); err != nil {
		t.Fatal(err)
	}
	check("after one", []GroupOffset{{}, {7, long}})
	if err := commit(0, GroupOffset{Next: 3}); err != nil {
		t.Fatal(err)
	}
	check("after one of the other partition", []GroupOffset{{Next: 3}, {7, long}})

	first := message("a")
	if _, err := k.Append(topic, 0, first).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := commit(0, GroupOffset{}); err != nil { // back, as for a log that lost its tail
		t.Fatal(err)
	}
	member := kafka.NewReader(kafka.ReaderConfig{Brokers: k.Brokers, GroupID: group, Topic: topic, StartOffset: kafka.FirstOffset})
	if _, err := member.FetchMessage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := commit(0, GroupOffset{Next: 1}); err == nil {
		t.Error("a commit beside a member of the group is accepted")
	}
	if err := member.Close(); err != nil {
		t.Fatal(err)
	}
	if err := commit(0, GroupOffset{Next: 1}); err != nil {
		t.Fatal(err)
	}
	check("after the member has left", []GroupOffset{{Next: 1}, {7, long}})
}
