package operations

import (
	"context"

	"netsim/api"
	"netsim/cmd/connections"
	"netsim/events"
	"netsim/projections"
)

// Operation is a command with which an operator changes the deployment, or looks at what
// is masked.
type Operation struct {
	Command   string   // such as readmodel promote
	Arguments []string // those that were given, as name=value
}

// Bounds of the record of an operation.
const (
	maxArguments = 100
	maxArgument  = 1000 // bytes
)

// Begun returns the event that records the beginning of an operation, without the secrets
// of the settings.
func Begun(c *connections.Connections, o Operation) events.OperationBegun {
	begun := events.OperationBegun{Command: o.Command, Arguments: []string{}, Release: connections.Member("", c.Build).Release}
	for _, argument := range o.Arguments[:min(len(o.Arguments), maxArguments)] {
		begun.Arguments = append(begun.Arguments, cut(c.Config.Redact(argument), maxArgument))
	}
	return begun
}

// Acts returns at most limit operations, the newest first.
func (v *View) Acts(ctx context.Context, limit int) (list api.OperatorActList, err error) {
	rows, total, err := projections.ListOperations(ctx, v.DB, limit)
	if err != nil {
		return list, err
	}
	list.Total = int64(total)
	list.Items = make([]api.OperatorAct, len(rows))
	for i := range rows {
		if list.Items[i], err = act(&rows[i]); err != nil {
			return list, err
		}
	}
	return list, nil
}

func act(o *projections.Operation) (api.OperatorAct, error) {
	arguments, err := o.ArgumentList()
	return api.OperatorAct{
		ID: o.ID, Operator: o.Operator, Command: o.Command, Arguments: arguments, Release: o.Release,
		Outcome: api.OperatorActOutcome(o.Outcome), BeganAt: timestamp(o.BeganAt), EndedAt: timestampOf(o.EndedAt),
	}, err
}
