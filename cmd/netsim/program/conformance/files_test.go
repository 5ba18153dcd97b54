package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/journal"
	"netsim/infra/objects"
	"netsim/internal/testworld"
)

// newMappingFile stores and records a mapping file that places eight ranks, as an
// upload would.
func (w *world) newMappingFile(t *testing.T, workspace string) string {
	t.Helper()
	c := w.program.Config
	var text strings.Builder
	for rank := range 8 {
		fmt.Fprintf(&text, "%d %d\n", rank, rank)
	}
	made := events.MappingFileCreated{
		AccountID: w.account, WorkspaceID: workspace, Name: "mapping.txt", Hash: "crc64nvme:AAAAAAAAAAA",
		SizeBytes: int64(text.Len()), RankCount: 8, ObjectKey: "mappingfiles/" + events.NewID(events.MappingFilePrefix),
	}
	store := objects.New(objects.Config{
		Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket, AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey,
	})
	if _, err := store.Put(t.Context(), made.ObjectKey, "text/plain", strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	beside := testworld.Place{
		Log:      journal.Config{Brokers: c.Kafka, Prefix: c.TopicPrefix, Partitions: c.Partitions, Relaxed: true},
		Database: c.Postgres,
	}.Connect(t)
	beside.Listen(t)
	id := events.NewID(events.MappingFilePrefix)
	_, err := commands.Handle(t.Context(), beside.Commands, commands.Target{Stream: id, PartitionKey: made.WorkspaceID, Fresh: true},
		commands.Origin{Actor: "tester"}, commands.Command[commands.MappingFile](commands.CreateMappingFile{Created: made}))
	if err != nil {
		t.Fatal(err)
	}
	return id
}
