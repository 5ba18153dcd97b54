package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"netsim/events"
	"netsim/infra/columns"
)

// Operation is a row of the operations: a command of an operator.
type Operation struct {
	ID        string
	Operator  string // an opaque id
	Command   string
	Arguments string // JSON array of name=value
	Release   string
	Outcome   string // events.OperationSucceeded or OperationFailed; "" before the end
	BeganAt   time.Time
	EndedAt   *time.Time
}

// ArgumentList returns the arguments that were given, as name=value.
func (o *Operation) ArgumentList() (list []string, err error) {
	if err := json.Unmarshal([]byte(o.Arguments), &list); err != nil {
		return nil, fmt.Errorf("read the arguments of %s: %w", o.ID, err)
	}
	return list, nil
}

// Operations is the projection of the commands of operators.
type Operations struct{ table[Operation] }

var operationColumns = columns.Of[Operation]()

// NewOperations returns the projection.
func NewOperations() *Operations {
	return &Operations{table[Operation]{
		name: "operations", file: "operations.sql", columns: operationColumns,
		keyOf: streamOf(events.OperationPrefix), first: begins, insertsNew: true,
		fold: func(o *Operation, f *events.Fact) {
			switch d := f.Data.(type) {
			case events.OperationBegun:
				*o = Operation{
					ID: f.Stream, Operator: f.Actor, Command: d.Command, Arguments: textOf(d.Arguments), Release: d.Release, BeganAt: f.Time,
				}
			case events.OperationEnded:
				ended := f.Time
				o.Outcome, o.EndedAt = d.Outcome, &ended
			}
		},
	}}
}

// ReadOperation returns an operation, or an empty one when there is none with the id.
func ReadOperation(ctx context.Context, db Reader, id string) (o Operation, err error) {
	rows, err := db.Query(ctx, `SELECT `+operationColumns.List("")+` FROM operations WHERE id = $1`, id)
	list, err := collect(rows, err, operationColumns.Scan)
	if err != nil {
		return o, fmt.Errorf("read operation %s: %w", id, err)
	}
	if len(list) > 0 {
		o = list[0]
	}
	return o, nil
}

// ListOperations returns at most limit operations, the newest first, and the number of all.
func ListOperations(ctx context.Context, db Reader, limit int) (list []Operation, total int, err error) {
	rows, err := db.Query(ctx, `SELECT `+operationColumns.List("")+` FROM operations ORDER BY began_at DESC, id DESC LIMIT $1`, limit)
	list, err = collect(rows, err, operationColumns.Scan)
	if total = len(list); err == nil && total == limit {
		err = db.QueryRow(ctx, `SELECT count(*) FROM operations`).Scan(&total)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list the operations: %w", err)
	}
	return list, total, nil
}
