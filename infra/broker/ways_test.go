//go:build tools

package broker_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/publictest"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

// set sets how a service connects.
func (w way) set(c *settings.Config) {
	c.Kafka = []string{w.address}
	if t := w.config.TLS; t != nil {
		c.KafkaTLS, c.KafkaCA, c.KafkaCert, c.KafkaKey = true, t.CA, t.Cert, t.Key
	}
	if s := w.config.SASL; s != nil {
		c.KafkaSASL, c.KafkaUser, c.KafkaPassword = s.Mechanism, s.User, s.Password
		c.KafkaTokenURL, c.KafkaClientID, c.KafkaClientSecret, c.KafkaScope = s.OAuth.TokenURL, s.OAuth.ClientID, s.OAuth.ClientSecret, s.OAuth.Scope
	}
}

// TestEveryWayToConnect runs a service with every role over each way to connect to Apache
// Kafka. It appends, projects, reacts, writes a dead letter, publishes in transactions,
// its tools read the log, and the doctor finds nothing wrong in Kafka.
func TestEveryWayToConnect(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	for name, way := range s.ways() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := servicetest.Start(t, way.set, func(c *settings.Config) { c.Partitions, c.Retries = 1, 1 })
			user := p.Service(t, servicetest.NewAccount())
			created := user.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Object()
			user.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool {
				return strings.Contains(string(r.Body), fmt.Sprint(created["id"]))
			})
			deadLetter(t, p, user, fmt.Sprint(created["id"]))
			public(t, s, p)
			healthy(t, name, p.Config)
		})
	}
}

// deadLetter makes a reaction fail, and has the tools find its dead letter.
func deadLetter(t *testing.T, p *servicetest.Program, user *servicetest.Client, workspace string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	// The deletion of a workspace reads this table.
	if _, err := db.Exec(t.Context(), "ALTER TABLE readmodel.mapping_files RENAME TO lost"); err != nil {
		t.Fatal(err)
	}
	user.Delete("/api/v1/workspaces/" + workspace).Want(202)
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	testworld.Await(t, func() bool {
		letters, err := tools.Letters(t.Context(), "")
		return err == nil && len(letters) == 1 && letters[0].Stream == workspace
	})
}

// public waits until every fact is published, and compares what a consumer of committed
// records gets with the log.
func public(t *testing.T, s *stack, p *servicetest.Program) {
	t.Helper()
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{s.Plain}, Prefix: p.Config.TopicPrefix, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	topics := publictest.Topics{
		Brokers: []string{s.Plain}, Log: log, Partitions: p.Config.Partitions,
		Name: func(family events.Family) string { return publisher.Topic(p.Config.TopicPrefix, family) },
	}
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	testworld.Await(t, func() bool {
		status, err := tools.PublicTopics(t.Context(), 0)
		if err != nil || !status.Transactions {
			return false
		}
		for _, row := range status.Items {
			if row.LagRecords > 0 {
				return false
			}
		}
		return true
	})
	topics.EqualToLog(t)
}
