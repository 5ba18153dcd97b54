//go:build tools

package broker_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"netsim/cmd/operate"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/doctor"
	"netsim/infra/reactor"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
	"netsim/stream/publisher"
)

// inKafka returns what the doctor says of Kafka, by check.
func inKafka(t *testing.T, c settings.Config) map[string]doctor.Row {
	t.Helper()
	all, err := operate.Examine(t.Context(), c, 10*time.Minute, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]doctor.Row{}
	for _, r := range all {
		if r.Component == "kafka" {
			rows[r.Check] = r
		}
		if strings.Contains(r.Finding+r.Advice, password) {
			t.Errorf("%+v shows a secret", r)
		}
	}
	return rows
}

// healthy fails the test unless the doctor finds nothing wrong in Kafka, and is told by
// the brokers what the process may do.
func healthy(t *testing.T, who string, c settings.Config) {
	t.Helper()
	rows := inKafka(t, c)
	for check, r := range rows {
		if r.Status != doctor.OK && (check != "certificate" || r.Status != doctor.Warn) { // it expires tomorrow
			t.Errorf("%s: %+v", who, r)
		}
	}
	if r := rows["certificate"]; c.KafkaTLS && !strings.Contains(r.Finding, "valid until") {
		t.Errorf("%s: the certificate: %+v", who, r)
	}
	if r := rows["rights"]; !strings.Contains(r.Finding, "its roles need") {
		t.Errorf("%s: the rights: %+v", who, r)
	}
}

// TestTheDoctorNamesAMissingRight: with the rights of the list the doctor finds nothing
// wrong, for each role. When one of them is taken, it says which one, and what gives it.
func TestTheDoctorNamesAMissingRight(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	c := servicetest.Config(t)
	users := s.grant(t, c.TopicPrefix)
	c.Partitions, c.Archive = 1, t.TempDir()
	s.as(users[operate.UserMigrate]).set(&c)
	if err := service.Migrate(t.Context(), c, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	c.Migrate = false
	settingsOf := func(role string) settings.Config {
		own := c
		own.Roles = []string{role}
		s.as(users[role]).set(&own)
		return own
	}
	for _, role := range []string{
		settings.RoleAPI, settings.RoleProjector, settings.RoleReactor, settings.RoleWorker, settings.RolePublisher, settings.RoleLake, settings.RoleArchiver,
	} {
		healthy(t, role, settingsOf(role))
	}
	log, letters, public := c.TopicPrefix+string(events.Workspaces), reactor.DeadLetterTopic(c.TopicPrefix), publisher.Topic(c.TopicPrefix, events.Workspaces)
	groups, publishers := reactor.GroupPrefix(c.TopicPrefix), publisher.Group(c.TopicPrefix)
	for _, taken := range []struct {
		role      string
		kind      sarama.AclResourceType
		name      string
		pattern   sarama.AclResourcePatternType
		operation sarama.AclOperation
		finding   string
	}{
		{settings.RoleAPI, sarama.AclResourceTopic, log, sarama.AclPatternLiteral, sarama.AclOperationWrite, "topic " + log + " lacks Write"},
		{settings.RoleReactor, sarama.AclResourceTopic, letters, sarama.AclPatternLiteral, sarama.AclOperationWrite, "topic " + letters + " lacks Write"},
		{settings.RoleReactor, sarama.AclResourceGroup, groups, sarama.AclPatternPrefixed, sarama.AclOperationRead, "group " + groups + "billing.workspaces lacks Read"},
		{settings.RoleArchiver, sarama.AclResourceGroup, groups, sarama.AclPatternPrefixed, sarama.AclOperationDescribe, "group " + groups + "billing.workspaces lacks Describe"},
		{settings.RolePublisher, sarama.AclResourceTopic, public, sarama.AclPatternLiteral, sarama.AclOperationWrite, "topic " + public + " lacks Write"},
		{settings.RolePublisher, sarama.AclResourceGroup, publishers, sarama.AclPatternLiteral, sarama.AclOperationRead, "group " + publishers + " lacks Read"},
		{settings.RolePublisher, sarama.AclResourceTransactionalID, publishers + ".", sarama.AclPatternPrefixed, sarama.AclOperationWrite, "transactional-id " + publishers + ".doctor lacks Write"},
	} {
		principal := "User:" + users[taken.role]
		deleted, err := s.admin(t).DeleteACL(sarama.AclFilter{
			ResourceType: taken.kind, ResourceName: &taken.name, ResourcePatternTypeFilter: taken.pattern,
			Principal: &principal, Operation: taken.operation, PermissionType: sarama.AclPermissionAllow,
		}, false)
		if err != nil || len(deleted) != 1 {
			t.Fatalf("take %s: %d rights, %v", taken.finding, len(deleted), err)
		}
		var said doctor.Row
		testworld.Await(t, func() bool { // the broker answers before it has applied it
			said = inKafka(t, settingsOf(taken.role))["rights"]
			return said.Status != doctor.OK && strings.Contains(said.Finding, taken.finding)
		})
		if said.Status != doctor.Fail || !strings.Contains(said.Advice, "netsim acls") {
			t.Errorf("the doctor says %+v", said)
		}
	}
}
