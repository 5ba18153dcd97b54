package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
)

// watchEvery is how often a running projector checks that the read model is still the
// one that it writes to. At every logEvery-th check it also compares the log with the
// one that the read model was built from.
const (
	watchEvery = 500 * time.Millisecond
	logEvery   = 10
)

// compare refuses a log whose identity or shape is not that of the read model.
func (p *Projector) compare(ctx context.Context, log eventlog.Description, partitions []*partitionState) error {
	var cluster string
	err := p.Pool.QueryRow(ctx, fmt.Sprintf(`SELECT cluster_id FROM %s`, p.table("log"))).Scan(&cluster)
	if err != nil {
		return fmt.Errorf("load the log's identity: %w", err)
	}
	if cluster != log.ClusterID {
		return fmt.Errorf("%w: the read model was built from cluster %s, this is %s", ErrOtherLog, cluster, log.ClusterID)
	}
	return compareTopics(log, partitions)
}

func compareTopics(log eventlog.Description, partitions []*partitionState) error {
	for _, at := range partitions {
		if err := compareTopic(log, at); err != nil {
			return err
		}
	}
	for family, count := range countPartitions(partitions) {
		if topic, ok := topicOf(log, family); ok && len(topic.Partitions) != int(count) {
			return fmt.Errorf("%w: topic %s has %d partitions, the read model was built with %d; keys would move",
				ErrOtherLog, topic.Name, len(topic.Partitions), count)
		}
	}
	return nil
}

// compareTopic refuses a partition's topic that is missing, was made again, or has
// lost the partition's first records.
func compareTopic(log eventlog.Description, at *partitionState) error {
	topic, ok := topicOf(log, at.family)
	if !ok {
		return fmt.Errorf("%w: the topic of %s is missing", ErrOtherLog, at.family)
	}
	if topic.ID != at.topicID {
		return fmt.Errorf("%w: topic %s was deleted and made again: its id is %s, the read model was built from %s",
			ErrOtherLog, topic.Name, topic.ID, at.topicID)
	}
	if int(at.partition) >= len(topic.Partitions) {
		return nil // the counts differ, which compareTopics reports
	}
	if start := topic.Partitions[at.partition].Start; start > 0 {
		return fmt.Errorf("%w: partition %d of %s begins at offset %d: facts before it are gone",
			ErrOtherLog, at.partition, topic.Name, start)
	}
	return nil
}

// proveTails reads the record before each offset and compares it with the one
// that was projected: a log that lost its tail, or another history, differs.
func (p *Projector) proveTails(ctx context.Context, partitions []*partitionState) error {
	for _, at := range partitions {
		if err := p.proveTail(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

func (p *Projector) proveTail(ctx context.Context, at *partitionState) error {
	anchor := events.Anchor{TopicID: at.topicID, Next: at.next}
	copy(anchor.Last[:], at.lastRecord)
	other, err := eventlog.Prove(ctx, p.Log, at.topic, at.partition, anchor)
	if err == nil && other != "" {
		err = fmt.Errorf("%w: %s", ErrOtherLog, other)
	}
	return err
}

// checkCommitted queues the question whether the read model is still as this projector left
// it. The function that it returns gives an error when the read model is behind what was
// committed, because it was restored from a backup, or when it was replaced by another one.
// The compare-and-set finds the same, but only in a partition that gets new records. It gives
// errRetry when an operator asks to retry parked streams.
func (p *Projector) checkCommitted(reads *pgx.Batch, partitions []*partitionState) (verdict func() error) {
	committed := make([]*committedOffset, len(partitions))
	for i, at := range partitions {
		committed[i] = &committedOffset{string(at.family), at.partition, p.stats.at(partitionKey{at.family, at.partition})}
	}
	args := append(committedOffsetColumns.Arrays(committed), tableOf(partitions))
	serving, args := p.ifServing(args)
	var behind, replaced, retry bool
	reads.Queue(fmt.Sprintf(`
		SELECT coalesce(bool_or(o.next < c.next), false), coalesce(bool_or(o.tableoid <> $4 OR NOT %[4]s), false),
			coalesce(bool_or(EXISTS (SELECT FROM %[3]s k WHERE k.family = c.family AND k.partition = c.partition AND k.retry)), false)
		FROM %[2]s
		JOIN %[1]s o ON o.family = c.family AND o.partition = c.partition`, p.table("offsets"), committedOffsetColumns.From("c"), p.table("parked"), serving),
		args...).QueryRow(func(row pgx.Row) error { return row.Scan(&behind, &replaced, &retry) })
	return func() error {
		switch {
		case behind:
			return errors.New("the read model was restored to an earlier state")
		case replaced:
			return errors.New("another read model was promoted")
		case retry:
			return errRetry
		}
		return nil
	}
}

func tableOf(partitions []*partitionState) uint32 {
	if len(partitions) == 0 {
		return 0
	}
	return partitions[0].table
}

// checkModel returns an error when the read model is not the one that the session began with.
// It asks everything in one batch. A database that is out of reach is no error here, because
// the transactions report it.
func (p *Projector) checkModel(ctx context.Context, mine []*partitionState) error {
	reads := &pgx.Batch{}
	committed, model := p.checkCommitted(reads, mine), p.queueCheck(reads)
	note := p.Watcher.countOthers(reads)
	err := p.read(ctx, reads)
	note(err)
	if err == nil {
		if err := committed(); err != nil {
			return err
		}
	} else { // a missing table fails the batch
		alone := &pgx.Batch{}
		model = p.queueCheck(alone)
		if err := p.read(ctx, alone); err != nil {
			return nil
		}
	}
	switch exists, err := model(); {
	case isOtherRelease(err):
		return err
	case err == nil && !exists:
		return errMissing
	}
	return nil
}

// watch returns an error when the log or the read model is no longer the one that the
// session began with, or when the session has to end for a retry or another process.
func (p *Projector) watch(ctx context.Context, all, mine []*partitionState) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	first := &pgx.Batch{}
	note := p.Watcher.countOthers(first)
	note(p.read(ctx, first))
	for check := 1; ; check++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := p.checkModel(ctx, mine); err != nil {
			return err
		}
		if p.Yield && p.lockAwaited(ctx) {
			return errYield
		}
		if check%logEvery != 0 {
			continue
		}
		log, err := p.Log.Describe(ctx)
		if err != nil {
			continue // the log is out of reach, which does not make it another one
		}
		if err := p.compare(ctx, log, all); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func topicOf(log eventlog.Description, family events.Family) (eventlog.Topic, bool) {
	for _, t := range log.Topics {
		if t.Family == family {
			return t, true
		}
	}
	return eventlog.Topic{}, false
}
