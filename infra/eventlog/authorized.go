package eventlog

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"
)

// Authorized is what this client may do with consumer groups and transactional ids.
type Authorized struct {
	Groups        map[string]Rights // by name, 0 if the group is refused; without those of which no broker says it
	Transactional map[string]Rights // by id, 0 or MayWrite
}

// AskAuthorized asks the brokers at the addresses what this client may do with consumer
// groups and transactional ids. It changes nothing: it describes the groups, and asks for
// the end of a transaction that nobody has begun, which the brokers refuse with another
// error if the right is missing.
func AskAuthorized(ctx context.Context, c Config, addresses, groups, transactional []string) (Authorized, error) {
	a := Authorized{Groups: map[string]Rights{}, Transactional: map[string]Rights{}}
	c, err := c.withDefaults()
	if err != nil {
		return a, err
	}
	var failed error
	answered := false
	for _, address := range addresses {
		if err := a.ask(ctx, c, address, groups, transactional); err != nil {
			failed = fmt.Errorf("ask %s for rights: %w", address, err)
			continue // another broker may say the same
		}
		answered = true
	}
	if answered {
		failed = nil
	}
	return a, failed
}

// ask asks a broker. Of a group's rights only its coordinator says more than that it is
// refused.
func (a Authorized) ask(ctx context.Context, c Config, address string, groups, transactional []string) error {
	broker := sarama.NewBroker(address)
	if err := broker.Open((&Kafka{Config: c}).saramaConfig()); err != nil {
		return err
	}
	defer broker.Close() //nolint:errcheck // everything was read
	defer context.AfterFunc(ctx, func() { broker.Close() })()
	if len(groups) > 0 {
		res, err := broker.DescribeGroups(&sarama.DescribeGroupsRequest{Version: 3, Groups: groups, IncludeAuthorizedOperations: true})
		if err != nil {
			return err
		}
		for _, group := range res.Groups {
			switch {
			case group.Err == sarama.ErrGroupAuthorizationFailed:
				a.Groups[group.GroupId] = 0
			case group.Err == sarama.ErrNoError && group.AuthorizedOperations != notSaid && group.AuthorizedOperations != 0:
				a.Groups[group.GroupId] = Rights(group.AuthorizedOperations)
			}
		}
	}
	for _, id := range transactional {
		if _, said := a.Transactional[id]; said {
			continue
		}
		res, err := broker.EndTxn(&sarama.EndTxnRequest{TransactionalID: id, ProducerID: noProducer})
		if err != nil {
			return err
		}
		a.Transactional[id] = MayWrite
		if res.Err == sarama.ErrTransactionalIDAuthorizationFailed {
			a.Transactional[id] = 0
		}
	}
	return nil
}

// noProducer is the id of no producer.
const noProducer = -1

// rightNames has the names of operations, as kafka-acls.sh prints them.
var rightNames = map[string]Rights{
	"Read": MayRead, "Write": MayWrite, "Create": MayCreate, "Delete": MayDelete, "Describe": MayDescribe,
	"DescribeConfigs": MayDescribeConfigs, "AlterConfigs": MayAlterConfigs,
}

// Lacking returns those of the operations that r does not have.
func (r Rights) Lacking(operations []string) (lacking []string) {
	for _, name := range operations {
		if r&rightNames[name] == 0 {
			lacking = append(lacking, name)
		}
	}
	return lacking
}
