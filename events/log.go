package events

// LogLossAccepted records that an operator accepted the loss of records that the
// service had read: the log was truncated, changed or replaced.
type LogLossAccepted struct {
	Reason string        `json:"reason"` // as the operator gave it
	Lost   []LostRecords `json:"lost"`
}

// LostRecords is a partition of the log that lost records.
type LostRecords struct {
	Family    string `json:"family"`
	Partition int64  `json:"partition"`
	TopicID   string `json:"topicId"` // id of the topic that had been read
	Seen      int64  `json:"seen"`    // the first offset that had not been read
	Found     string `json:"found"`   // what the log has instead
}

func (LogLossAccepted) EventType() string { return "netsim.log.loss_accepted.v1" }

// LogMoved records that the log is in other topics than before: it was restored or
// mirrored to another Kafka cluster, with the same records at the same offsets.
type LogMoved struct {
	Reason      string       `json:"reason"`      // as the operator gave it
	FromCluster string       `json:"fromCluster"` // id of the Kafka cluster in which the log was
	Cluster     string       `json:"cluster"`     // id of the one in which it is now
	Topics      []MovedTopic `json:"topics"`
}

// MovedTopic is a family's topic.
type MovedTopic struct {
	Family      string  `json:"family"`
	FromTopicID string  `json:"fromTopicId"`
	TopicID     string  `json:"topicId"`
	Ends        []int64 `json:"ends"` // by partition: the first offset that was not copied
}

func (LogMoved) EventType() string { return "netsim.log.moved.v1" }
