//go:build tools

package observe_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/jackc/pgx/v5"

	"netsim/audit"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/internal/scripted"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

type object = map[string]any

// park makes a fact that cannot be applied, because a row that it changes is refused.
func (s *site) park() {
	s.t.Helper()
	id := s.workspace("parked")
	s.sql(`ALTER TABLE readmodel.workspaces ADD CONSTRAINT no_colour CHECK (name <> 'green')`)
	s.append(id, "netsim.workspace.updated.v1", `{"name":"green"}`, true)
}

func (s *site) unpark() {
	s.t.Helper()
	s.sql(`ALTER TABLE readmodel.workspaces DROP CONSTRAINT no_colour`)
	var stream string
	s.row(`SELECT stream FROM readmodel.parked LIMIT 1`, &stream)
	s.tool("streams", "retry", stream)
}

// forge appends a record without a seal.
func (s *site) forge() {
	s.t.Helper()
	s.append(s.workspace("forged"), "netsim.workspace.updated.v1", `{"name":"forged"}`, false)
}

// loseReceiver makes a webhook whose receiver answers that it is gone.
func (s *site) loseReceiver() {
	s.t.Helper()
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	s.t.Cleanup(gone.Close)
	s.user().Post("/api/v1/webhooks", map[string]any{"url": gone.URL}).Want(201)
	s.workspace("sent")
}

// settle retries the dead letters of reactions that failed while something was broken:
// the site retries a reaction only once. It waits until the retries succeed.
func (s *site) settle() {
	s.t.Helper()
	testworld.Await(s.t, func() bool {
		command := exec.CommandContext(s.t.Context(), s.binary, "reactions", "retry", "--all")
		command.Env = s.env
		return command.Run() == nil
	})
}

// row reads a value.
func (s *site) row(query string, into any) {
	s.t.Helper()
	connection := s.connect()
	defer connection.Close(context.WithoutCancel(s.t.Context())) //nolint:errcheck // nothing was written
	if err := connection.QueryRow(s.t.Context(), query).Scan(into); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
}

// append appends the next record of a workspace to the log without the service, with or
// without a seal.
func (s *site) append(workspace, eventType, data string, sealed bool) {
	s.t.Helper()
	c := s.program.Config
	log, err := eventlog.Open(s.t.Context(), eventlog.Config{Brokers: c.Kafka, Prefix: c.TopicPrefix, Relaxed: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	var head string
	s.row(`SELECT sequence || ' ' || encode(hash, 'hex') FROM readmodel.streams WHERE stream = '`+workspace+`'`, &head)
	number, previous, _ := strings.Cut(head, " ")
	sequence, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	hash, err := hex.DecodeString(previous)
	if err != nil {
		s.t.Fatal(err)
	}
	f := events.Frame{
		ID: events.DerivedUUID(workspace, head).String(), Type: eventType, Stream: workspace, PartitionKey: workspace, Sequence: sequence + 1,
		PreviousHash: events.Hash(hash), Time: time.Now(), DataVersion: 1, Actor: "tester",
	}
	m, own := f.Message([]byte(data))
	if sealed {
		keys, err := events.ParseWriterKeys(c.WriterKeys)
		if err != nil {
			s.t.Fatal(err)
		}
		m = keys.Seal(events.Workspaces, own, m)
	}
	if _, err := log.Append(log.Topic(events.Workspaces), events.PartitionOf(workspace, 2), m).Wait(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// signLate publishes a checkpoint that was signed two days ago.
func (s *site) signLate() {
	s.t.Helper()
	c := s.program.Config
	w := s.program.Beside(s.t)
	key, err := audit.ReadKey(c.AuditKey)
	if err != nil {
		s.t.Fatal(err)
	}
	stream := commands.CheckpointStream("netsim")
	var last string
	err = pgx.BeginFunc(s.t.Context(), w.DB, func(tx pgx.Tx) error {
		stored, err := projector.ReadStored(s.t.Context(), tx, stream)
		if err != nil {
			return err
		}
		state, err := commands.ReadState(stream, stored)
		if published, ok := state.(*commands.Checkpoints); ok {
			last = published.Note
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	note, err := audit.Checkpoint{
		Name: "late", Time: time.Now().AddDate(0, 0, -2).UTC().Truncate(time.Millisecond), Cluster: "test", Previous: audit.HashOf(last),
	}.Sign(key, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = handle.Command(s.t.Context(), w.Commands, handle.Target{Stream: stream, PartitionKey: stream},
		handle.Origin{Actor: events.System, CommandID: "checkpoint:late"},
		commands.PublishCheckpoint{Checkpoint: events.CheckpointPublished{Name: "late", Note: note}, Previous: last})
	if err != nil {
		s.t.Fatal(err)
	}
}

// submission is a simple submission of a short run.
func submission(name string) object {
	return object{"name": name, "workload": object{"ranks": 8, "phases": []object{{"operationType": "allReduce", "dataSize": 1 << 20}}}}
}

func (s *site) submit(name string) string {
	s.t.Helper()
	return fmt.Sprint(s.user().Post("/api/v1/simple/simulations", submission(name)).Want(202).Object()["simulationId"])
}

func (s *site) awaitStatus(simulation string, want ...string) {
	s.t.Helper()
	s.user().Eventually("/api/v1/simulations/"+simulation, func(r servicetest.Reply) bool {
		for _, status := range want {
			if r.Status == 200 && r.Object()["status"] == status {
				return true
			}
		}
		return false
	})
}

// failRuns makes runs fail, because the object store refuses their results.
func (s *site) failRuns() {
	s.t.Helper()
	s.stores["worker"].refuse("PUT", "/results/")
	for i := range 4 {
		s.awaitStatus(s.submit(fmt.Sprint("refused", i)), "failed")
	}
}

// stallRuns orders two runs from an engine that makes no progress. The first occupies
// the worker, the second was enqueued an hour ago. The returned function
// makes the engine end both.
func (s *site) stallRuns() (mend func()) {
	s.t.Helper()
	s.engine.Do(scripted.Script{Run: scripted.Run{State: "running", SimulatedTimeNs: 1000}})
	first := s.submit("local")
	s.awaitStatus(first, "completed")
	user, configuration := s.user(), "/api/v1/configurations/"+events.DerivedID(events.ConfigurationPrefix, first)
	user.Patch(configuration+"/parameters", object{"EngineParameters": object{"Engine": object{"value": "remote", "type": "string"}}}).Want(200)
	user.Post(configuration+"/validate", nil).Want(200)
	order := func(name string) string {
		return fmt.Sprint(user.Post("/api/v1/simulations", object{
			"configurationId": events.DerivedID(events.ConfigurationPrefix, first), "name": name, "duration": "1h",
		}).Want(201).Object()["id"])
	}
	one := order("stalls")
	s.awaitStatus(one, "running")
	other := order("waits")
	testworld.Await(s.t, func() (enqueued bool) {
		s.row(`SELECT count(*) > 0 FROM jobs.river_job WHERE kind = 'follow_simulation' AND args->>'simulationId' = '`+other+`'`, &enqueued)
		return enqueued
	})
	s.sql(`UPDATE jobs.river_job SET created_at = now() - interval '1 hour' WHERE args->>'simulationId' = '` + other + `'`)
	return func() {
		s.engine.Do(scripted.Script{Run: scripted.Run{State: "failed", SimulatedTimeNs: 1000, FailureReason: "the engine was restarted"}})
		for _, id := range []string{one, other} { // the other starts when the first has ended
			s.awaitStatus(id, "failed")
		}
	}
}

// failJob makes the deletion of a simulation's files fail, since two hours.
func (s *site) failJob() {
	s.t.Helper()
	id := s.submit("purged")
	s.awaitStatus(id, "completed")
	s.stores["worker"].refuse("POST", "") // a deletion of several objects is a POST
	s.user().Delete("/api/v1/simulations/" + id).Want(200)
	testworld.Await(s.t, func() (failed bool) {
		s.row(`SELECT count(*) > 0 FROM jobs.river_job WHERE kind = 'purge_simulation' AND state = 'retryable'`, &failed)
		return failed
	})
	s.sql(`UPDATE jobs.river_job SET created_at = now() - interval '2 hours', scheduled_at = now() + interval '1 hour' WHERE kind = 'purge_simulation' AND state = 'retryable'`)
}

// refuseFacts makes the broker refuse the facts of a public topic, until the returned
// function is called.
func (s *site) refuseFacts() (mend func()) {
	s.t.Helper()
	topic := publisher.Topic(s.program.Config.TopicPrefix, events.Workspaces)
	s.set(topic, "max.message.bytes", "300")
	return func() { s.set(topic, "max.message.bytes", "8650752") }
}

// retain sets for how long a topic of the log keeps its records, in ms; -1 is for ever.
func (s *site) retain(value string) {
	s.t.Helper()
	s.set(s.program.Config.TopicPrefix+string(events.Workspaces), "retention.ms", value)
}

// set changes a setting of a topic.
func (s *site) set(topic, setting, value string) {
	s.t.Helper()
	admin, err := sarama.NewClusterAdmin(s.program.Config.Kafka, sarama.NewConfig())
	if err != nil {
		s.t.Fatal(err)
	}
	defer admin.Close() //nolint:errcheck // nothing is pending
	err = admin.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
		setting: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
	}, false)
	if err != nil {
		s.t.Fatal(err)
	}
}

// crash kills and starts the process of a role some times. Prometheus sees each start.
func (s *site) crash(role string, times int) {
	s.t.Helper()
	instance := strings.TrimPrefix(s.process[role].ops, "http://")
	began := func() string {
		found, err := s.prometheus.query(`process_start_time_seconds{instance="` + instance + `"}`)
		if err != nil || len(found) != 1 {
			return ""
		}
		return fmt.Sprint(found[0].Value[1])
	}
	before := began()
	for range times {
		s.restart(role)
		testworld.Await(s.t, func() bool { now := began(); return now != "" && now != before })
		before = began()
	}
}
