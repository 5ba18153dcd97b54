package events

// LogLossAccepted records that an operator went on with a log that no longer
// has all that was seen of it: it was truncated, changed, or is another one.
type LogLossAccepted struct {
	Reason string        `json:"reason"` // as the operator gave it
	Lost   []LostRecords `json:"lost"`
}

// LostRecords is a partition of the log that is not what was seen of it.
type LostRecords struct {
	Family    string `json:"family"`
	Partition int64  `json:"partition"`
	TopicID   string `json:"topicId"` // of the topic that was seen
	Seen      int64  `json:"seen"`    // the first offset that was not seen
	Found     string `json:"found"`   // what is there instead
}

func (LogLossAccepted) EventType() string { return "netsim.log.loss_accepted.v1" }
