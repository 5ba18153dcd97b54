package settings

import (
	"strings"
	"testing"
)

// TestAnArchiveNeedsNoBroker: what reads an archive asks for no broker, and what reads the
// log does.
func TestAnArchiveNeedsNoBroker(t *testing.T) {
	t.Parallel()
	if c, wrong := read[Offline](map[string]string{"NETSIM_S3_ENDPOINT": "http://store"}); wrong.err() != nil || c.TopicPrefix != "netsim." || c.S3Bucket != "netsim" {
		t.Errorf("the settings of an archive: %+v, %v", c, wrong.err())
	}
	const want = "NETSIM_KAFKA is not set"
	if _, wrong := read[Audit](map[string]string{}); wrong.err() == nil || !strings.Contains(wrong.err().Error(), want) {
		t.Errorf("an audit of the log without a broker: %v, want %q", wrong.err(), want)
	}
	c, wrong := read[Archive](map[string]string{"NETSIM_KAFKA": "broker:9092", "NETSIM_KAFKA_PASSWORD": "x"})
	c.addContradictions(&wrong)
	if wrong.err() == nil || !strings.Contains(wrong.err().Error(), "NETSIM_KAFKA_SASL is not set") {
		t.Errorf("a password without a mechanism: %v", wrong.err())
	}
	all := c.Config([]string{"other:9092"})
	if all.Kafka[0] != "other:9092" || all.TopicPrefix != "netsim." || all.Partitions != 4 || all.KafkaPassword != "x" {
		t.Errorf("the settings of another log: %+v", all)
	}
}
