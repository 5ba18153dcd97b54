package eventlog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// Check refuses a log that has lost facts or could lose them. The error has one
// sentence for each reason: the topics, the setting, its value and the required
// value. With Config.Relaxed it accepts topics that can lose facts with one broker.
func (k *Kafka) Check(d Description) error {
	var errs []error
	var reasons []string
	topics := map[string][]string{} // by the reason
	for _, family := range events.Families() {
		i := slices.IndexFunc(d.Topics, func(t Topic) bool { return t.Family == family })
		if i < 0 {
			errs = append(errs, fmt.Errorf("topic %s does not exist", k.Topic(family)))
			continue
		}
		t := &d.Topics[i]
		wrong := slices.Concat(checkKept(t), k.checkWritable(t))
		if !k.Relaxed {
			wrong = append(wrong, checkReplicas(t)...)
		}
		for _, reason := range wrong {
			if topics[reason] == nil {
				reasons = append(reasons, reason)
			}
			topics[reason] = append(topics[reason], t.Name)
		}
		errs = append(errs, checkBeginning(t))
		if len(t.Partitions) != len(d.Topics[0].Partitions) {
			errs = append(errs, fmt.Errorf("topic %s has %d partitions and topic %s has %d; they must have the same number",
				t.Name, len(t.Partitions), d.Topics[0].Name, len(d.Topics[0].Partitions)))
		}
	}
	for _, reason := range reasons {
		which := "topic " + topics[reason][0]
		if len(topics[reason]) > 1 {
			which = "each of the topics " + strings.Join(topics[reason], ", ")
		}
		errs = append(errs, fmt.Errorf("%s %s", which, reason))
	}
	return errors.Join(errs...)
}

// checkBeginning refuses a topic that has lost records.
func checkBeginning(t *Topic) error {
	var errs []error
	for p := range t.Partitions {
		if start := t.Partitions[p].Start; start > 0 {
			errs = append(errs, fmt.Errorf("partition %d of topic %s begins at offset %d: the events before it are lost", p, t.Name, start))
		}
	}
	return errors.Join(errs...)
}

// checkKept refuses settings with which the broker deletes records.
func checkKept(t *Topic) []string {
	return slices.Concat(
		t.require(settingCleanup, "delete", "compaction deletes events"),
		t.require(settingRetentionTime, "-1", "events must be kept for ever"),
		t.require(settingRetentionBytes, "-1", "events must be kept for ever"))
}

// checkWritable refuses settings with which the broker changes or rejects records.
func (k *Kafka) checkWritable(t *Topic) []string {
	wrong := slices.Concat(
		t.require(settingTimestamp, "LogAppendTime", "a producer's time could be forged"),
		t.require(settingCompression, "producer", "a repeated batch is recognised by its bytes"))
	if n, err := strconv.Atoi(t.Settings[settingMaxMessage]); err != nil || n < k.maxMessage() {
		wrong = append(wrong, fmt.Sprintf("has %s=%q, needs at least %d: the largest accepted events would be rejected",
			settingMaxMessage, t.Settings[settingMaxMessage], k.maxMessage()))
	}
	return wrong
}

// checkReplicas refuses a topic that can lose facts with one broker.
func checkReplicas(t *Topic) []string {
	var wrong []string
	if t.Replication < 3 {
		wrong = append(wrong, fmt.Sprintf("has %d replicas, needs 3", t.Replication))
	}
	if n, err := strconv.Atoi(t.Settings[settingMinInsync]); err != nil || n < 2 {
		wrong = append(wrong, fmt.Sprintf("has %s=%q, needs 2: an acknowledged event may be on one broker only",
			settingMinInsync, t.Settings[settingMinInsync]))
	}
	return append(wrong, t.require(settingUnclean, "false", "a broker that lags could become leader and drop events")...)
}

func (t *Topic) require(setting, want, why string) []string {
	if got := t.Settings[setting]; got != want {
		return []string{fmt.Sprintf("has %s=%q, needs %q: %s", setting, got, want, why)}
	}
	return nil
}
