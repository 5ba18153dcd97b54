// Package operate has the work of the operators' commands: the tools that change and show a
// deployment, the doctor, and the audits of its log.
package operate

import (
	"context"
	"log/slog"

	"netsim/cmd/connections"
	"netsim/cmd/operations"
	"netsim/cmd/settings"
	"netsim/infra/projector"
)

// Tools implements the operator's commands that need the event log and the database. Its
// View shows the deployment.
type Tools struct {
	operations.View
	conn *connections.Connections
}

// The database sessions of the tools.
const (
	toolSessions = 4
	toolLocks    = 4
)

// OpenTools connects to the event log and the database of the settings.
func OpenTools(ctx context.Context, c settings.Config, log *slog.Logger) (*Tools, error) {
	c.StartTimeout = 0 // tools end with the first error
	to, err := c.Connector(log)
	if err != nil {
		return nil, err
	}
	conn, err := connections.Open(ctx, c, to, log, connections.Options{Sessions: toolSessions, Locks: toolLocks})
	if err != nil {
		return nil, err
	}
	return &Tools{View: operations.ViewOf(conn, conn.Pool), conn: conn}, nil
}

// Close closes the connections.
func (t *Tools) Close() { t.conn.Close() }

// watching runs use with a watcher of the verdicts.
func (t *Tools) watching(ctx context.Context, use func(context.Context, *projector.Watcher) error) error {
	ctx, cancel := context.WithCancel(ctx)
	watcher := projector.NewWatcher(t.conn.Pool, t.conn.Log)
	listening := make(chan error, 1)
	go func() { listening <- watcher.Run(ctx) }()
	defer func() {
		cancel()
		<-listening
	}()
	return use(ctx, watcher)
}

// writing runs use with what decides commands and appends their events.
func (t *Tools) writing(ctx context.Context, use func(context.Context, *connections.Writer) error) error {
	return t.watching(ctx, func(ctx context.Context, watcher *projector.Watcher) error {
		w, err := t.conn.OpenWriter(ctx, t.conn.Pool, watcher)
		if err != nil {
			return err
		}
		return use(ctx, w)
	})
}
