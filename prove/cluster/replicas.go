package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"netsim/infra/broker"
	"netsim/infra/wait"
)

// client returns a client of kafka-go that reaches the brokers directly, and a function
// that closes its connections. A client caches the metadata, so each look takes another.
func (c *Cluster) client() (*kafka.Client, func()) {
	var addresses []string
	for _, b := range c.Brokers {
		addresses = append(addresses, b.Address())
	}
	var plain *broker.Connector // neither TLS nor SASL
	transport := plain.Transport()
	transport.MetadataTTL = time.Second
	return &kafka.Client{Addr: kafka.TCP(addresses...), Timeout: 20 * time.Second, Transport: transport}, transport.CloseIdleConnections
}

// AwaitReplicas waits until every replica of every partition is in sync.
func (c *Cluster) AwaitReplicas(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		missing, err := c.missingReplicas(ctx)
		if err == nil && len(missing) == 0 {
			return nil
		}
		if wait.For(ctx, 200*time.Millisecond) != nil {
			return fmt.Errorf("after %v replicas are missing: %s: %w", timeout, strings.Join(missing[:min(len(missing), 5)], ", "), errors.Join(err, ctx.Err()))
		}
	}
}

func (c *Cluster) missingReplicas(ctx context.Context) (missing []string, err error) {
	client, done := c.client()
	defer done()
	m, err := client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	if len(m.Brokers) < len(c.Brokers) {
		missing = append(missing, fmt.Sprintf("%d of %d brokers", len(m.Brokers), len(c.Brokers)))
	}
	for _, topic := range m.Topics {
		for _, p := range topic.Partitions {
			if len(p.Isr) < len(p.Replicas) || p.Leader.ID < 0 {
				missing = append(missing, fmt.Sprintf("%s/%d", topic.Name, p.ID))
			}
		}
	}
	return missing, nil
}

// ElectLeaders gives every partition of the log another order of replicas, by a random
// rotation, and elects the first of each. It returns how many partitions it asked for.
func (c *Cluster) ElectLeaders(ctx context.Context, rotate int) (int, error) {
	client, done := c.client()
	defer done()
	m, err := client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return 0, err
	}
	var partitions []kafka.AlterPartitionReassignmentsRequestAssignment
	elect := map[string][]int{}
	for _, topic := range m.Topics {
		if topic.Internal {
			continue
		}
		for _, p := range topic.Partitions {
			ids := make([]int, len(p.Replicas))
			for i, r := range p.Replicas {
				ids[(i+1+rotate%2)%len(ids)] = r.ID
			}
			partitions = append(partitions, kafka.AlterPartitionReassignmentsRequestAssignment{Topic: topic.Name, PartitionID: p.ID, BrokerIDs: ids})
			elect[topic.Name] = append(elect[topic.Name], p.ID)
		}
	}
	if _, err := client.AlterPartitionReassignments(ctx, &kafka.AlterPartitionReassignmentsRequest{Assignments: partitions, Timeout: 20 * time.Second}); err != nil {
		return 0, err
	}
	for topic, ids := range elect {
		if _, err := client.ElectLeaders(ctx, &kafka.ElectLeadersRequest{Topic: topic, Partitions: ids, Timeout: 20 * time.Second}); err != nil {
			return 0, err
		}
	}
	return len(partitions), nil
}

// LogEnd returns the number of records in the partitions of the log, without the public
// topics.
func (c *Cluster) LogEnd(ctx context.Context) (int64, error) {
	client, done := c.client()
	defer done()
	m, err := client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return 0, err
	}
	asked := map[string][]kafka.OffsetRequest{}
	for _, topic := range m.Topics {
		if topic.Internal || !strings.HasPrefix(topic.Name, "netsim.") || strings.HasPrefix(topic.Name, "netsim.public.") || topic.Name == "netsim.poison" {
			continue
		}
		for _, p := range topic.Partitions {
			asked[topic.Name] = append(asked[topic.Name], kafka.LastOffsetOf(p.ID))
		}
	}
	offsets, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: asked})
	if err != nil {
		return 0, err
	}
	var end int64
	for _, partitions := range offsets.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return 0, p.Error
			}
			end += p.LastOffset
		}
	}
	return end, nil
}
