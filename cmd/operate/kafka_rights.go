package operate

import (
	"cmp"
	"slices"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/reactor"
	"netsim/stream/publisher"
)

// The users of Kafka besides the roles of a process.
const (
	UserMigrate  = "migrate"  // netsim migrate
	UserTools    = "tools"    // the other commands for operators
	UserConsumer = "consumer" // a consumer of public topics outside the service
)

// KafkaRight allows a user operations on a resource of Kafka.
type KafkaRight struct {
	User       string   `json:"user"`       // a role, or migrate, tools or consumer
	Resource   string   `json:"resource"`   // topic, group or transactional-id
	Name       string   `json:"name"`       // of the resource, or what the names begin with
	Prefixed   bool     `json:"prefixed"`   // whether names begin with Name
	Operations []string `json:"operations"` // as kafka-acls.sh names them
}

// KafkaUsers lists the users that have rights.
func KafkaUsers() []string {
	return []string{UserMigrate, settings.RoleAPI, settings.RoleProjector, settings.RoleReactor, settings.RoleWorker, settings.RolePublisher, settings.RoleLake, settings.RoleArchiver, UserTools, UserConsumer}
}

// The operations, as kafka-acls.sh names them.
const (
	opRead            = "Read"
	opWrite           = "Write"
	opCreate          = "Create"
	opDelete          = "Delete"
	opDescribe        = "Describe"
	opAlterConfigs    = "AlterConfigs"
	opDescribeConfigs = "DescribeConfigs"
)

// KafkaRights lists the least rights of each user, for a prefix of topics. It is the only
// place that says so; netsim acls prints them (docs/security.md). Nobody may delete
// or change a topic of the log, or its records.
func KafkaRights(prefix string) []KafkaRight {
	prefix = cmp.Or(prefix, eventlog.DefaultPrefix)
	var all []KafkaRight
	allow := func(users []string, resource string, prefixed bool, names []string, operations ...string) {
		for _, user := range users {
			for _, name := range names {
				all = append(all, KafkaRight{user, resource, name, prefixed, operations})
			}
		}
	}
	var log, public []string
	for _, family := range events.Families() {
		log = append(log, eventlog.Config{Prefix: prefix}.Topic(family))
		public = append(public, publisher.Topic(prefix, family))
	}
	letters := []string{reactor.DeadLetterTopic(prefix)}
	writers := []string{settings.RoleAPI, settings.RoleReactor, settings.RoleWorker, UserTools}
	readers := []string{settings.RoleProjector, settings.RolePublisher, settings.RoleLake, settings.RoleArchiver}

	allow([]string{UserMigrate}, "topic", false, slices.Concat(log, letters), opCreate, opDescribe, opDescribeConfigs)
	// netsim migrate is recorded in the log, which it compares with the read model before.
	allow([]string{UserMigrate}, "topic", false, log, opRead)
	allow([]string{UserMigrate}, "topic", false, []string{eventlog.Config{Prefix: prefix}.Topic(events.Checkpoints)}, opWrite)
	allow([]string{UserMigrate}, "topic", false, public, opCreate, opDescribe, opDescribeConfigs, opAlterConfigs)

	allow(writers, "topic", false, log, opRead, opWrite, opDescribeConfigs)
	allow(readers, "topic", false, log, opRead, opDescribeConfigs)
	allow([]string{settings.RoleAPI, settings.RoleProjector, settings.RoleWorker, settings.RolePublisher, settings.RoleLake}, "topic", false, letters, opRead)
	allow([]string{settings.RoleArchiver}, "topic", false, letters, opRead, opDescribeConfigs)
	allow([]string{settings.RoleArchiver}, "group", true, []string{reactor.GroupPrefix(prefix)}, opDescribe)
	allow([]string{settings.RoleReactor, UserTools}, "topic", false, letters, opRead, opWrite)
	allow([]string{settings.RoleReactor, UserTools}, "group", true, []string{reactor.GroupPrefix(prefix)}, opRead)

	publishers := []string{publisher.Group(prefix)}
	allow([]string{settings.RolePublisher}, "topic", false, public, opRead, opWrite, opDescribeConfigs)
	allow([]string{settings.RolePublisher, UserTools}, "group", false, publishers, opRead)
	allow([]string{settings.RolePublisher, UserTools}, "transactional-id", true, []string{publishers[0] + "."}, opWrite)
	// netsim events republish makes public topics again.
	allow([]string{UserTools}, "topic", false, public, opRead, opCreate, opDelete, opDescribeConfigs, opAlterConfigs)

	allow([]string{UserConsumer}, "topic", false, public, opRead)
	allow([]string{UserConsumer}, "group", true, []string{ConsumerGroups(prefix)}, opRead)
	return all
}

// ConsumerGroups is what the names of the groups begin with that the user consumer may use.
func ConsumerGroups(prefix string) string {
	return cmp.Or(prefix, eventlog.DefaultPrefix) + "consumer."
}
