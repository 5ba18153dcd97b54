//go:build tools

package broker_test

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"

	"netsim/cmd/operate"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/infra/reactor"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

// grant makes a user of SCRAM for each user of the list, and gives it the rights of the
// list as the commands of netsim acls do. It returns the names of the users.
func (s *stack) grant(t *testing.T, prefix string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, user := range operate.KafkaUsers() {
		names[user] = prefix + user
		s.addUser(t, names[user])
	}
	admin := s.admin(t)
	resources := map[string]sarama.AclResourceType{
		"topic": sarama.AclResourceTopic, "group": sarama.AclResourceGroup, "transactional-id": sarama.AclResourceTransactionalID,
	}
	var all []*sarama.ResourceAcls
	for _, r := range operate.KafkaRights(prefix) {
		one := &sarama.ResourceAcls{Resource: sarama.Resource{ResourceType: resources[r.Resource], ResourceName: r.Name, ResourcePatternType: sarama.AclPatternLiteral}}
		if r.Prefixed {
			one.ResourcePatternType = sarama.AclPatternPrefixed
		}
		for _, name := range r.Operations {
			var operation sarama.AclOperation
			if err := operation.UnmarshalText([]byte(name)); err != nil {
				t.Fatal(err)
			}
			one.Acls = append(one.Acls, &sarama.Acl{Principal: "User:" + names[r.User], Host: "*", Operation: operation, PermissionType: sarama.AclPermissionAllow})
		}
		all = append(all, one)
	}
	if err := admin.CreateACLs(all); err != nil {
		t.Fatal(err)
	}
	// The broker answers before it has applied them.
	for _, want := range all {
		testworld.Await(t, func() bool {
			got, err := admin.ListAcls(sarama.AclFilter{
				ResourceType: want.ResourceType, ResourceName: &want.ResourceName, ResourcePatternTypeFilter: want.ResourcePatternType,
				Operation: sarama.AclOperationAny, PermissionType: sarama.AclPermissionAny,
			})
			return err == nil && len(got) == 1 && len(got[0].Acls) >= len(want.Acls)
		})
	}
	return names
}

// TestRolesHaveTheRightsTheyNeed runs a process for each role, each with its own user of
// Kafka that has only the rights of the list. Writes, runs, reactions, dead letters, public
// topics, the lake and the archive work, and so do the commands for operators.
func TestRolesHaveTheRightsTheyNeed(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	c := servicetest.Config(t)
	users := s.grant(t, c.TopicPrefix)
	c.Partitions, c.Retries = 1, 1
	s.as(users[operate.UserMigrate]).set(&c)
	if err := service.Migrate(t.Context(), c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	c.Migrate = false
	var api *servicetest.Program
	c.Archive, c.ArchiveEvery = t.TempDir(), time.Second
	for _, role := range []string{settings.RoleProjector, settings.RoleAPI, settings.RoleReactor, settings.RoleWorker, settings.RolePublisher, settings.RoleLake, settings.RoleArchiver} {
		p := servicetest.Start(t, func(own *settings.Config) {
			*own = c
			own.Roles, own.LakeEvery = []string{role}, time.Second
			s.as(users[role]).set(own)
		})
		if role == settings.RoleAPI {
			api = p
		}
	}
	s.as(users[operate.UserTools]).set(&api.Config)
	account := servicetest.NewAccount()
	api.Grant(t, account, "1000")
	client, user := api.Service(t, account), api.User(t, account)
	workspace := client.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Object()
	client.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool {
		return strings.Contains(string(r.Body), fmt.Sprint(workspace["id"]))
	})
	simulation := user.Post("/api/v1/simple/simulations", map[string]any{"name": "small", "workload": map[string]any{
		"ranks": 8, "phases": []any{map[string]any{"operationType": "allReduce", "dataSize": 1 << 20}},
	}}).Want(202).Object()["simulationId"]
	user.Eventually(fmt.Sprint("/api/v1/simulations/", simulation), func(r servicetest.Reply) bool {
		return r.Status == 200 && r.Object()["status"] == "completed"
	})
	tools, err := operate.OpenTools(t.Context(), api.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	testworld.Await(t, func() bool {
		status, err := tools.Lake(t.Context())
		return err == nil && status.Facts > 0
	})
	testworld.Await(t, func() bool { return archives(t, c.Archive) })
	restores(t, s, c, users[operate.UserTools], c.Archive)
	deadLetter(t, api, client, fmt.Sprint(workspace["id"]))
	public(t, s, api)
	reads(t, s, users[operate.UserConsumer], c.TopicPrefix)
}

// reads consumes a public topic in a consumer group.
func reads(t *testing.T, s *stack, name, prefix string) {
	t.Helper()
	to, err := broker.New(s.as(name).config)
	if err != nil {
		t.Fatal(err)
	}
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{s.SASL}, Dialer: to.Dialer(), GroupID: operate.ConsumerGroups(prefix) + "bi",
		Topic: publisher.Topic(prefix, events.Workspaces), StartOffset: kafka.FirstOffset, MaxWait: 50 * time.Millisecond,
	})
	defer r.Close()
	if _, err := r.ReadMessage(t.Context()); err != nil {
		t.Errorf("the consumer: %v", err)
	}
}

// attempt is what a user tries. It returns nil, or why Kafka refused.
type attempt func(t *testing.T, c *kafka.Client, user string) error

// attempts returns what each user of the list tries on topics with the prefix.
func attempts(prefix string) map[string]attempt {
	topic := eventlog.Config{Prefix: prefix}.Topic
	log := topic(events.Workspaces)
	letters, public := reactor.DeadLetterTopic(prefix), publisher.Topic(prefix, events.Workspaces)
	return map[string]attempt{
		"write the log":            produce(log),
		"write operations":         produce(topic(events.Checkpoints)),
		"write dead letters":       produce(letters),
		"write public topics":      produce(public),
		"read the log":             fetch(log),
		"read dead letters":        fetch(letters),
		"read public topics":       fetch(public),
		"change the log's topics":  alter(log),
		"change public topics":     alter(public),
		"delete records":           deleteRecords(log),
		"delete public records":    deleteRecords(public),
		"commit for reactions":     commit(reactor.GroupPrefix(prefix)+"workspace.workspaces", log),
		"commit for the publisher": commit(publisher.Group(prefix), log),
		"commit for consumers":     commit(operate.ConsumerGroups(prefix)+"bi", public),
		"commit for others":        commit(prefix+"other", public),
		"fence the publisher":      fence(publisher.Group(prefix) + ".0"),
		"create another topic":     create(prefix + "another"),
		"delete the log":           remove(log),
		"delete dead letters":      remove(letters),
	}
}

// may says who may do what. It is written by hand, not made from the list.
func may() map[string][]string {
	const api, projector, reactor, worker = settings.RoleAPI, settings.RoleProjector, settings.RoleReactor, settings.RoleWorker
	const publisher, lake, archiver, tools, consumer = settings.RolePublisher, settings.RoleLake, settings.RoleArchiver, operate.UserTools, operate.UserConsumer
	return map[string][]string{
		"write the log":            {api, reactor, worker, tools},
		"write operations":         {api, reactor, worker, tools, operate.UserMigrate},
		"write dead letters":       {reactor, tools},
		"write public topics":      {publisher},
		"read the log":             {api, projector, reactor, worker, publisher, lake, archiver, tools, operate.UserMigrate},
		"read dead letters":        {api, projector, reactor, worker, publisher, lake, archiver, tools},
		"read public topics":       {publisher, tools, consumer},
		"change the log's topics":  {},
		"change public topics":     {operate.UserMigrate, tools},
		"delete records":           {},
		"delete public records":    {tools},
		"commit for reactions":     {reactor, tools},
		"commit for the publisher": {publisher, tools},
		"commit for consumers":     {consumer},
		"commit for others":        {},
		"fence the publisher":      {publisher, tools},
		"create another topic":     {},
		"delete the log":           {},
		"delete dead letters":      {},
	}
}

// TestNobodyHasMoreRights: each user of the list can do what it may, and nothing else.
func TestNobodyHasMoreRights(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	prefix := events.NewID("test") + "."
	users := s.grant(t, prefix)
	s.topics(t, users[operate.UserMigrate], prefix)
	all, allowed := attempts(prefix), may()
	if names := slices.Sorted(maps.Keys(allowed)); !slices.Equal(names, slices.Sorted(maps.Keys(all))) {
		t.Fatalf("may names %q", names)
	}
	for user, name := range users {
		to, err := broker.New(s.as(name).config)
		if err != nil {
			t.Fatal(err)
		}
		client := to.Client([]string{s.SASL}, 30*time.Second)
		for what, try := range all {
			var err error
			testworld.Await(t, func() bool {
				err = try(t, client, name)
				return !isStarting(err)
			})
			denied := errors.Is(err, kafka.TopicAuthorizationFailed) || errors.Is(err, kafka.GroupAuthorizationFailed) ||
				errors.Is(err, kafka.ClusterAuthorizationFailed) || errors.Is(err, kafka.TransactionalIDAuthorizationFailed)
			switch {
			case err != nil && !denied:
				t.Errorf("%s tries to %s: %v", user, what, err)
			case denied == slices.Contains(allowed[what], user):
				t.Errorf("%s tries to %s: denied is %v", user, what, denied)
			}
		}
	}
}

// isStarting reports whether a coordinator is not ready, which is said after the rights are
// checked.
func isStarting(err error) bool {
	return errors.Is(err, kafka.GroupLoadInProgress) || errors.Is(err, kafka.GroupCoordinatorNotAvailable) || errors.Is(err, kafka.NotCoordinatorForGroup)
}

// topics makes the topics as the user migrate.
func (s *stack) topics(t *testing.T, name, prefix string) {
	t.Helper()
	to, err := broker.New(s.as(name).config)
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{s.SASL}, Connect: to, Prefix: prefix, Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := to.Client([]string{s.SASL}, 30*time.Second)
	for _, topic := range []string{reactor.DeadLetterTopic(prefix), publisher.Topic(prefix, events.Workspaces)} {
		if err := create(topic)(t, client, ""); err != nil {
			t.Fatal(err)
		}
	}
}
