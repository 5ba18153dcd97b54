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
