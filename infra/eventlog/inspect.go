package eventlog

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
)

// BrokerReport is what one broker says about itself, its cluster and topics.
type BrokerReport struct {
	ClusterID    string
	Brokers      []string                 // addresses of the cluster's brokers, as they advertise them
	Certificates []*x509.Certificate      // of the broker, its own first; none without TLS
	Level        int16                    // finalized metadata.version of the cluster; 0 if it is not known
	Transactions bool                     // the broker has transactions
	Topics       map[string]TopicsReplica // existing topics of those that were asked for, by name
}

// TopicsReplica is the state of a topic's replicas, and what this client may do with the
// topic.
type TopicsReplica struct {
	Partitions, Leaderless, OutOfSync int    // numbers of partitions; OutOfSync have a replica that lags
	Rights                            Rights // 0 if the brokers do not say
	Err                               error  // why the topic cannot be described, such as a missing right
}

// Rights are operations on a resource, such as a topic, that the brokers allow.
type Rights int32

// The operations on a resource.
const (
	MayRead            Rights = 1 << 3
	MayWrite           Rights = 1 << 4
	MayCreate          Rights = 1 << 5
	MayDelete          Rights = 1 << 6
	MayDescribe        Rights = 1 << 8
	MayDescribeConfigs Rights = 1 << 10
	MayAlterConfigs    Rights = 1 << 11
)

// notSaid is what brokers answer that do not say which operations they allow.
const notSaid = -1 << 31

// AskBroker connects to a broker and asks it about itself and topics.
func AskBroker(ctx context.Context, c Config, address string, topics []string) (BrokerReport, error) {
	c, err := c.withDefaults()
	if err != nil {
		return BrokerReport{}, err
	}
	r, err := askBroker(ctx, c, address, topics)
	return r, c.Connect.ExplainClosed(ctx, []string{address}, err)
}

func askBroker(ctx context.Context, c Config, address string, topics []string) (BrokerReport, error) {
	client := (&Kafka{Config: c}).saramaConfig()
	broker := sarama.NewBroker(address)
	if err := broker.Open(client); err != nil {
		return BrokerReport{}, err
	}
	defer broker.Close() //nolint:errcheck // everything was read
	defer context.AfterFunc(ctx, func() { broker.Close() })()
	var r BrokerReport
	versions, err := broker.ApiVersions(&sarama.ApiVersionsRequest{Version: 3, ClientSoftwareName: clientID, ClientSoftwareVersion: "0"})
	if err != nil {
		return r, fmt.Errorf("ask for the versions: %w", err)
	}
	if state, secure := broker.TLSConnectionState(); secure {
		r.Certificates = state.PeerCertificates
	}
	for _, key := range versions.ApiKeys {
		const initProducerID = 22
		r.Transactions = r.Transactions || key.ApiKey == initProducerID
	}
	for _, feature := range versions.FinalizedFeatures {
		if feature.Name == "metadata.version" {
			r.Level = feature.MaxVersionLevel
		}
	}
	request := sarama.NewMetadataRequest(client.Version, topics)
	request.IncludeTopicAuthorizedOperations = true
	meta, err := broker.GetMetadata(request)
	if err != nil {
		return r, fmt.Errorf("ask for metadata: %w", err)
	}
	if meta.ClusterID != nil {
		r.ClusterID = *meta.ClusterID
	}
	for _, b := range meta.Brokers {
		r.Brokers = append(r.Brokers, b.Addr())
	}
	r.Topics = topicsReplicas(meta.Topics)
	return r, nil
}

func topicsReplicas(topics []*sarama.TopicMetadata) map[string]TopicsReplica {
	all := map[string]TopicsReplica{}
	for _, topic := range topics {
		if topic.Err == sarama.ErrUnknownTopicOrPartition {
			continue
		}
		t := TopicsReplica{Partitions: len(topic.Partitions)}
		if topic.TopicAuthorizedOperations != notSaid {
			t.Rights = Rights(topic.TopicAuthorizedOperations)
		}
		if topic.Err != sarama.ErrNoError {
			t.Err = topic.Err
		}
		for _, p := range topic.Partitions {
			if p.Leader < 0 {
				t.Leaderless++
			}
			if len(p.Isr) < len(p.Replicas) {
				t.OutOfSync++
			}
		}
		all[topic.Name] = t
	}
	return all
}

// LastTimes returns, for the newest record of a partition, when the broker appended it
// and when its producer says that it happened. Both are zero for an empty partition.
func (k *Kafka) LastTimes(ctx context.Context, topic string, partition int32, end int64) (appended, happened time.Time, err error) {
	if end == 0 {
		return appended, happened, nil
	}
	records, _, err := k.Read(ctx, topic, partition, end-1, 1, 0)
	if err != nil || len(records) == 0 {
		return appended, happened, err
	}
	last := records[len(records)-1]
	frame, _, err := events.ReadFrame(&last.Message)
	if err != nil {
		return last.Time, time.Time{}, nil // another client's record
	}
	return last.Time, frame.Time, nil
}
