package eventlog

import (
	"os"
	"testing"

	"netsim/internal/teststack"
)

// TestConformance runs one suite on every kind of broker: the embedded broker in
// memory and on disk with fsync, or Apache Kafka when NETSIM_TEST_KAFKA=apache.
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
	{"appends are stored in call order, at the returned offsets", appendsInOrder},
	{"queued appends share a batch", queuedAppendsShareABatch},
	{"a full queue refuses appends", fullQueueRefuses},
	{"a record is stored unchanged", recordsRoundTrip},
	{"a record of the largest size is stored, a larger one refused", sizeLimit},
	{"a record above the topic's limit is refused", smallerTopicLimit},
	{"an append to a missing topic or partition is not written", appendToMissingPartition},
	{"closing ends every append", closeEndsAppends},

	{"read begins at any offset", readFromAnywhere},
	{"read waits for the next record", readWaits},
	{"read returns the high water mark", readReturnsHighWater},
	{"read outside the log is refused", readOutside},
	{"a record's time is the broker's", timeIsTheBrokers},
	{"offsets are found by time", offsetsByTime},
	{"compressed batches of other producers are read", readsCompressed},
	{"follow returns what a fetch returns", followReturnsWhatAFetchReturns},
	{"follow reads own appends from memory", followReadsOwnAppendsFromMemory},
	{"recall returns what a fetch returns", recallReturnsWhatAFetchReturns},

	{"a group without members has offsets and metadata", groupOffsets},

	{"a second ensure changes nothing", ensureTwice},
	{"a recreated topic has another id", recreatedTopic},
	{"settings that can lose facts are refused", dangerousSettings},
	{"topics with the brokers' default settings are refused with what to change", defaultTopics},
	{"a topic with deleted records is refused", deletedRecords},
	{"a topic with more partitions is refused", morePartitions},

	{"a lost answer gives the offset of the first copy", lostAnswer},
	{"a lost request gives the offset of the only copy", lostRequest},
	{"an append is unknown when no answer ever comes", noAnswerEver},
	{"random losses never give a wrong offset", randomLosses},
}
