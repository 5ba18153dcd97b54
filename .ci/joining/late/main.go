// Command late uses storage in the past, which no client can do over REST. It
// records that a mapping file was created 40 days ago, or deleted 35 days ago, as
// a process that was cut off from the log since then would. The running service
// then books the days between, and after the deletion corrects the days that
// follow it: a new version of each cost in an open month, a correction of each in
// a closed one.
//
//	late created|deleted ID
//
// The settings are those of the service.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/writelog"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "late:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, what, file string) error {
	c, err := settings.FromEnvironment()
	if err != nil {
		return err
	}
	keys, err := events.ParseWriterKeys(strings.Fields(c.WriterKeys)...)
	if err != nil {
		return err
	}
	log, err := eventlog.Open(ctx, eventlog.Config{Brokers: c.Kafka, Prefix: c.TopicPrefix, Partitions: c.Partitions, Relaxed: true})
	if err != nil {
		return err
	}
	defer log.Close()
	pool, err := postgres.Open(ctx, c.Postgres, projector.Live, 4)
	if err != nil {
		return err
	}
	defer pool.Close()
	watcher := projector.NewWatcher(pool, slog.Default())
	go watcher.Run(ctx) //nolint:errcheck // without it no verdict comes, and the command fails
	partitions, err := writelog.LoadPartitions(ctx, pool)
	if err != nil {
		return err
	}
	at := time.Now().AddDate(0, 0, -40)
	if what == "deleted" {
		at = at.AddDate(0, 0, 5)
	}
	handler := &handle.Handler{
		Log:  writelog.New(writelog.Config{Pool: pool, EventLog: log, Watcher: watcher, Partitions: partitions}),
		Now:  func() time.Time { return at },
		Keys: keys,
	}
	to := handle.Target{Stream: file, PartitionKey: events.DefaultWorkspace}
	from := handle.Origin{Actor: "late"}
	if what == "deleted" {
		_, err = handle.Command[commands.MappingFile](ctx, handler, to, from, commands.DeleteMappingFile{ID: file, Reason: "request"})
		return err
	}
	_, err = handle.Command[commands.MappingFile](ctx, handler, to, from, commands.CreateMappingFile{Created: events.MappingFileCreated{
		AccountID: c.Account, WorkspaceID: events.DefaultWorkspace, Name: "ranks.txt", SizeBytes: 123_000_000_000,
	}})
	return err
}
