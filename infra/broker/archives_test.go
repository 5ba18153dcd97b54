//go:build tools

package broker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/reactor"
	"netsim/internal/testworld"
)

// archives reports whether a directory has an archive of records of every family that has
// some, and of what reactions have committed.
func archives(t *testing.T, dir string) bool {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(dir, "*.note"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, note := range notes {
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return strings.Contains(all.String(), "\nsection "+string(events.Workspaces)+" ") && strings.Contains(all.String(), "\ngroup ")
}

// restores checks what docs/recovery.md says of the user who restores: beside the rights of
// tools, it needs Create and AlterConfigs on the topics, and nothing else.
func restores(t *testing.T, s *stack, c settings.Config, tools, dir string) {
	t.Helper()
	prefix := events.NewID("restored") + "."
	s.as(tools).set(&c)
	a := settings.Archive{Online: settings.Online{
		Offline: settings.Offline{TopicPrefix: prefix, Platform: c.Platform, Key: c.AuditKey, WriterKeys: c.WriterKeys},
		Kafka:   c.Kafka, KafkaAccess: c.KafkaAccess, Development: true,
	}, Partitions: 1, Replication: 1}
	verifier, err := operate.Verifier("", c.AuditKey)
	if err != nil {
		t.Fatal(err)
	}
	allow := func(operations ...sarama.AclOperation) {
		t.Helper()
		for _, resource := range []sarama.AclResourceType{sarama.AclResourceTopic, sarama.AclResourceGroup} {
			one := sarama.Resource{ResourceType: resource, ResourceName: prefix, ResourcePatternType: sarama.AclPatternPrefixed}
			for _, operation := range operations {
				if resource == sarama.AclResourceGroup && operation != sarama.AclOperationRead {
					continue
				}
				acl := sarama.Acl{Principal: "User:" + tools, Host: "*", Operation: operation, PermissionType: sarama.AclPermissionAllow}
				if err := s.admin(t).CreateACLs([]*sarama.ResourceAcls{{Resource: one, Acls: []*sarama.Acl{&acl}}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	groups := reactor.GroupPrefix(prefix)
	if !strings.HasPrefix(groups, prefix) {
		t.Fatalf("the groups of reactions begin with %s", groups)
	}
	allow(sarama.AclOperationRead, sarama.AclOperationWrite, sarama.AclOperationDescribeConfigs) // those of tools
	_, err = operate.RestoreLog(t.Context(), a, dir, verifier, func(int64) {})
	if err == nil || !strings.Contains(strings.ToLower(err.Error()), "authoriz") {
		t.Errorf("the tools restore a log: %v", err)
	}
	allow(sarama.AclOperationCreate, sarama.AclOperationAlterConfigs)
	testworld.Await(t, func() bool { // the broker answers before it has applied them
		_, err = operate.RestoreLog(t.Context(), a, dir, verifier, func(int64) {})
		return err == nil || !strings.Contains(strings.ToLower(err.Error()), "authoriz")
	})
	if err != nil {
		t.Errorf("with Create and AlterConfigs: %v", err)
	}
}
