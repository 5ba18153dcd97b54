package journal

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"netsim/events"
)

// The topic settings that decide whether facts can be lost.
const (
	settingCleanup        = "cleanup.policy"
	settingRetentionTime  = "retention.ms"
	settingRetentionBytes = "retention.bytes"
	settingTimestamp      = "message.timestamp.type"
	settingCompression    = "compression.type"
	settingUnclean        = "unclean.leader.election.enable"
	settingMaxMessage     = "max.message.bytes"
	settingMinInsync      = "min.insync.replicas"
)

// Check refuses a log that has lost facts or could lose them, with one
// sentence for each reason. Config.Relaxed lets pass what one broker's death
// can lose.
func (k *Kafka) Check(d Description) error {
	var errs []error
	for _, family := range events.Families() {
		i := slices.IndexFunc(d.Topics, func(t Topic) bool { return t.Family == family })
		if i < 0 {
			errs = append(errs, fmt.Errorf("topic %s does not exist", k.Topic(family)))
			continue
		}
		t := &d.Topics[i]
		errs = append(errs, k.checkKept(t), k.checkWritable(t))
		if !k.Relaxed {
			errs = append(errs, checkReplicas(t))
		}
		if len(t.Partitions) != len(d.Topics[0].Partitions) {
			errs = append(errs, fmt.Errorf("topic %s has %d partitions and topic %s has %d; they must have as many",
				t.Name, len(t.Partitions), d.Topics[0].Name, len(d.Topics[0].Partitions)))
		}
	}
	return errors.Join(errs...)
}

// checkKept refuses what lets the broker delete records.
func (k *Kafka) checkKept(t *Topic) error {
	errs := []error{
		t.require(settingCleanup, "delete", "compaction deletes events"),
		t.require(settingRetentionTime, "-1", "events must be kept for ever"),
		t.require(settingRetentionBytes, "-1", "events must be kept for ever"),
	}
	for p := range t.Partitions {
		if start := t.Partitions[p].Start; start > 0 {
			errs = append(errs, fmt.Errorf("partition %d of topic %s begins at offset %d: the events before it are lost", p, t.Name, start))
		}
	}
	return errors.Join(errs...)
}

// checkWritable refuses what would change records or reject them.
func (k *Kafka) checkWritable(t *Topic) error {
	errs := []error{
		t.require(settingTimestamp, "LogAppendTime", "the log's own time is the only one that nobody can forge"),
		t.require(settingCompression, "producer", "a repeated batch is recognised by its bytes"),
	}
	if n, err := strconv.Atoi(t.Settings[settingMaxMessage]); err != nil || n < k.maxMessage() {
		errs = append(errs, fmt.Errorf("topic %s has %s=%q, needs at least %d: events of the size that is accepted would be refused",
			t.Name, settingMaxMessage, t.Settings[settingMaxMessage], k.maxMessage()))
	}
	return errors.Join(errs...)
}

// checkReplicas refuses a topic from which one broker's death can take facts.
func checkReplicas(t *Topic) error {
	var errs []error
	if t.Replication < 3 {
		errs = append(errs, fmt.Errorf("topic %s is kept by %d brokers, needs 3", t.Name, t.Replication))
	}
	if n, err := strconv.Atoi(t.Settings[settingMinInsync]); err != nil || n < 2 {
		errs = append(errs, fmt.Errorf("topic %s has %s=%q, needs 2: an acknowledged event may be on one broker only",
			t.Name, settingMinInsync, t.Settings[settingMinInsync]))
	}
	errs = append(errs, t.require(settingUnclean, "false", "a broker that lags could become leader and drop events"))
	return errors.Join(errs...)
}

func (t *Topic) require(setting, want, why string) error {
	if got := t.Settings[setting]; got != want {
		return fmt.Errorf("topic %s has %s=%q, needs %q: %s", t.Name, setting, got, want, why)
	}
	return nil
}
