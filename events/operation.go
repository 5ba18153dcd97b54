package events

// The outcomes of an operation.
const (
	OperationSucceeded = "succeeded"
	OperationFailed    = "failed"
)

// OperationBegun records that an operator began to run a command that changes the
// deployment. The actor of the event is the operator. An operation that was killed has no
// end.
type OperationBegun struct {
	Command   string   `json:"command"`   // such as readmodel promote
	Arguments []string `json:"arguments"` // those that were given, as name=value, without secrets
	Release   string   `json:"release"`   // of the command's program
}

// OperationEnded records that the command of an operator ended.
type OperationEnded struct {
	Outcome string `json:"outcome"` // succeeded or failed
}

func (OperationBegun) EventType() string { return "netsim.operation.begun.v1" }
func (OperationEnded) EventType() string { return "netsim.operation.ended.v1" }
