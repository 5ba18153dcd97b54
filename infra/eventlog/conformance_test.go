package eventlog

import (
	"os"
	"testing"

	"netsim/infra/teststack"
)

// TestConformance runs one suite on every log that the service may meet: the
// embedded broker in memory and on disk with fsync, or Apache Kafka when
// NETSIM_TEST_KAFKA=apache.
func TestConformance(t *testing.T) {
	t.Parallel()
	logs := map[string]Config{"shared": {Brokers: teststack.Broker(t)}}
	if !onApache() {
		logs["disk"] = Config{Brokers: []string{teststack.Start(t, "broker", t.TempDir()).Addr}}
	}
	for name, c := range logs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, test := range suite {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(t, c)
				})
			}
		})
	}
}

// onApache reports whether the suite runs on Apache Kafka.
func onApache() bool { return os.Getenv("NETSIM_TEST_KAFKA") == "apache" }

var suite = []struct {
	name string
	run  func(t *testing.T, c Config)
}{
	{"appends lie in the order of their calls, at their offsets", appendsInOrder},
	{"what waits becomes one batch", waitingBecomesOneBatch},
	{"a full queue refuses", fullQueueRefuses},
	{"a record is stored as it was given", recordsRoundTrip},
	{"a record of the largest size is stored, a larger one refused", sizeLimit},
	{"a topic that takes less than we accept refuses", topicTakesLess},
	{"an append to no topic is certainly not written", appendToNoTopic},
	{"closing settles every append", closeSettles},

	{"read begins at any offset", readFromAnywhere},
	{"read waits for the next record", readWaits},
	{"read tells the high water mark", readTellsHighWater},
	{"read outside the log is refused", readOutside},
	{"time is the log's", timeIsTheLogs},
	{"compressed batches of others are read", readsCompressed},

	{"ensure twice is ensure once", ensureTwice},
	{"a topic recreated has another id", recreatedTopic},
	{"settings that can lose facts are refused", dangerousSettings},
	{"topics that the brokers made by their defaults are refused with what to change", defaultTopics},
	{"deleted records are refused", deletedRecords},
	{"more partitions are seen and refused", morePartitions},

	{"a lost answer gives the first copy", lostAnswer},
	{"a lost request gives the only copy", lostRequest},
	{"an append is unknown when no answer ever comes", noAnswerEver},
	{"random losses never give a wrong offset", randomLosses},
}
