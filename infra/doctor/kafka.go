package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
)

// Kafka is the cluster with the event log.
type Kafka struct {
	Config     eventlog.Config
	Partitions int          // of new topics
	Internal   []string     // names of other topics that the service appends to and reads
	Public     []string     // names of the public topics; none if this process does not publish
	Needed     []KafkaRight // what this process does
	// Transactional says that this process publishes in transactions.
	Transactional bool
	// Recognize refuses a log from which the read model was not built.
	Recognize func(ctx context.Context, log eventlog.Description) error
	Now       func() time.Time
}

// KafkaRight is what a process does with a resource of Kafka.
type KafkaRight struct {
	Resource   string   // KafkaTopic, KafkaGroup or KafkaTransactional
	Name       string   // of the resource
	Operations []string // as kafka-acls.sh names them
}

// The resources of Kafka.
const (
	KafkaTopic         = "topic"
	KafkaGroup         = "group"
	KafkaTransactional = "transactional-id"
)

const kafkaComponent = "kafka"

// Checks returns the checks of the cluster.
func (k Kafka) Checks() []Check {
	return []Check{
		{kafkaComponent, "reachable", true, k.reachable},
		{kafkaComponent, "brokers", false, k.brokers},
		{kafkaComponent, "version", false, k.asked(k.version)},
		{kafkaComponent, "topics", false, k.opened(k.topics)},
		{kafkaComponent, "topic settings", false, k.opened(k.topicSettings)},
		{kafkaComponent, "partitions", false, k.opened(k.partitions)},
		{kafkaComponent, "replicas", false, k.asked(k.replicas)},
		{kafkaComponent, "rights", false, k.rights},
		{kafkaComponent, "identity", false, k.opened(k.identity)},
		{kafkaComponent, "clock", false, k.opened(k.clock)},
		{kafkaComponent, "certificate", false, k.certificate},
	}
}

// names returns the names of all topics of this process.
func (k Kafka) names() []string {
	var all []string
	for _, family := range events.Families() {
		all = append(all, k.Config.Topic(family))
	}
	return slices.Concat(all, k.Internal, k.Public)
}

// ask asks the first broker in the settings that answers.
func (k Kafka) ask(ctx context.Context) (r eventlog.BrokerReport, err error) {
	var errs []error
	for _, address := range k.Config.Brokers {
		if r, err = eventlog.AskBroker(ctx, k.Config, address, k.names()); err == nil {
			return r, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", address, err))
	}
	return r, errors.Join(errs...)
}

// kafkaFailure is the failure of a question to the cluster. While it elects leaders, or a
// broker starts, there is nothing to correct.
func kafkaFailure(err error, advice string) Result {
	if unavailable, known := eventlog.IsUnavailable(err); known && unavailable {
		advice = electing
	}
	return Failure(advice, "%v", oneLine(err))
}

const electing = "wait some seconds and repeat the command: the brokers elect leaders after one of them ended or started; if it stays, start the brokers that are missing"

const kafkaAdvice = "start the brokers, or correct NETSIM_KAFKA and the settings of TLS and SASL; firewalls must let this machine through"

func (k Kafka) asked(check func(r eventlog.BrokerReport) Result) func(context.Context) Result {
	return func(ctx context.Context) Result {
		r, err := k.ask(ctx)
		if err != nil {
			return Failure(kafkaAdvice, "no broker answers: %v", oneLine(err))
		}
		return check(r)
	}
}

func (k Kafka) opened(check func(ctx context.Context, log *eventlog.Kafka, d eventlog.Description) Result) func(context.Context) Result {
	return func(ctx context.Context) Result {
		log, err := eventlog.Open(ctx, k.Config)
		if err != nil {
			return Failure(kafkaAdvice, "%v", oneLine(err))
		}
		defer log.Close()
		d, err := log.Describe(ctx)
		if err != nil {
			return kafkaFailure(err, "give this process's user the rights to describe the topics, and look at the brokers' logs")
		}
		return check(ctx, log, d)
	}
}

func (k Kafka) reachable(ctx context.Context) Result {
	r, err := k.ask(ctx)
	if err != nil {
		return Failure(kafkaAdvice, "no broker answers: %v", oneLine(err))
	}
	return Good("cluster %s with %d brokers", r.ClusterID, len(r.Brokers))
}

// brokers checks that each broker answers at the addresses in the settings and at those
// that the cluster advertises, which clients use.
func (k Kafka) brokers(ctx context.Context) Result {
	r, err := k.ask(ctx)
	if err != nil {
		return Failure(kafkaAdvice, "no broker answers: %v", oneLine(err))
	}
	addresses := slices.Concat(k.Config.Brokers, r.Brokers)
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	type answer struct {
		address string
		report  eventlog.BrokerReport
		err     error
	}
	answers := make(chan answer, len(addresses))
	for _, address := range addresses {
		go func() {
			report, err := eventlog.AskBroker(ctx, k.Config, address, nil)
			answers <- answer{address, report, err}
		}()
	}
	var silent, strange []string
	for range addresses {
		switch a := <-answers; {
		case a.err != nil && slices.Contains(r.Brokers, a.address):
			silent = append(silent, fmt.Sprintf("%s (%v)", a.address, oneLine(a.err)))
		case a.err != nil:
			strange = append(strange, fmt.Sprintf("%s in NETSIM_KAFKA does not answer", a.address))
		case a.report.ClusterID != r.ClusterID:
			strange = append(strange, fmt.Sprintf("%s is of another cluster, %s", a.address, a.report.ClusterID))
		}
	}
	slices.Sort(silent)
	switch {
	case len(silent) > 0:
		return Failure("start these brokers, or correct advertised.listeners, so that this machine reaches them",
			"%d of %d brokers do not answer at the address that they advertise: %s", len(silent), len(r.Brokers), strings.Join(silent, ", "))
	case len(strange) > 0:
		slices.Sort(strange)
		return Warning("correct NETSIM_KAFKA", "%s", strings.Join(strange, ", "))
	}
	return Good("all %d answer at the addresses that they advertise", len(r.Brokers))
}

// minLevel is the metadata.version of Apache Kafka 3.9.
const minLevel = 21

func (k Kafka) version(r eventlog.BrokerReport) Result {
	switch {
	case r.Level > 0 && r.Level < minLevel:
		return Failure("upgrade the brokers and the cluster's metadata.version (kafka-features.sh)", "metadata.version %d; Apache Kafka 3.9 has %d", r.Level, minLevel)
	case k.Transactional && !r.Transactions:
		return Warning("use Apache Kafka 3.9 or newer, or set NETSIM_PUBLIC_TRANSACTIONS=false", "the brokers have no transactions: consumers of public topics may see an event twice")
	case r.Level == 0:
		return Good("the brokers do not say their version, and have the requests that the service needs")
	}
	return Good("metadata.version %d (Apache Kafka 3.9 or newer)", r.Level)
}

func (k Kafka) topics(_ context.Context, log *eventlog.Kafka, d eventlog.Description) Result {
	var missing []string
	for _, family := range events.Families() {
		if d.TopicName(family) == "" {
			missing = append(missing, log.Topic(family))
		}
	}
	switch {
	case len(missing) == len(events.Families()):
		return Warning("the first start creates them; check NETSIM_TOPIC_PREFIX if this installation was started before", "the log has no topics yet")
	case len(missing) > 0:
		return Failure("restore the topics: a log without them has lost events", "topics are missing: %s", strings.Join(missing, ", "))
	}
	return Good("all %d topics of the log exist", len(d.Topics))
}

func (k Kafka) topicSettings(_ context.Context, log *eventlog.Kafka, d eventlog.Description) Result {
	if len(d.Topics) == 0 {
		return Good("there are no topics yet")
	}
	if err := log.Check(d); err != nil {
		return Failure("change the settings with kafka-configs.sh or kafka-reassign-partitions.sh; the service does not start with them", "%v", oneLine(err))
	}
	if k.Config.Relaxed {
		return Good("they keep every event; replicas are not checked in development mode")
	}
	return Good("they keep every event, also if a broker is lost")
}

func (k Kafka) partitions(_ context.Context, _ *eventlog.Kafka, d eventlog.Description) Result {
	if len(d.Topics) == 0 {
		return Good("there are no topics yet")
	}
	if n := len(d.Topics[0].Partitions); n != k.Partitions {
		return Warning(fmt.Sprintf("set NETSIM_PARTITIONS=%d: the number cannot change after the topics were created", n),
			"the topics have %d partitions, the setting is %d", n, k.Partitions)
	}
	return Good("%d in each topic", k.Partitions)
}

func (k Kafka) replicas(r eventlog.BrokerReport) Result {
	var leaderless, behind []string
	for _, name := range k.names() {
		switch t := r.Topics[name]; {
		case t.Leaderless > 0:
			leaderless = append(leaderless, fmt.Sprintf("%d of %d of %s", t.Leaderless, t.Partitions, name))
		case t.OutOfSync > 0:
			behind = append(behind, fmt.Sprintf("%d of %d of %s", t.OutOfSync, t.Partitions, name))
		}
	}
	switch {
	case len(leaderless) > 0:
		return Failure(electing, "partitions without a leader: %s", strings.Join(leaderless, ", "))
	case len(behind) > 0:
		return Warning("start the brokers that are missing, or wait until they have caught up", "partitions with a replica that is not in sync: %s", strings.Join(behind, ", "))
	}
	return Good("all partitions have a leader, and all replicas are in sync")
}

// rights checks what this process's user may do with topics, consumer groups and
// transactional ids.
func (k Kafka) rights(ctx context.Context) Result {
	r, err := k.ask(ctx)
	if err != nil {
		return Failure(kafkaAdvice, "no broker answers: %v", oneLine(err))
	}
	asked := map[string][]string{}
	for _, needed := range k.Needed {
		asked[needed.Resource] = append(asked[needed.Resource], needed.Name)
	}
	may, err := eventlog.AskAuthorized(ctx, k.Config, r.Brokers, asked[KafkaGroup], asked[KafkaTransactional])
	if err != nil {
		return Failure(kafkaAdvice, "%v", oneLine(err))
	}
	return k.judge(r, may)
}

// judge compares what the process does with what the brokers say that it may do.
func (k Kafka) judge(r eventlog.BrokerReport, may eventlog.Authorized) Result {
	var lacking []string
	said := false
	for _, name := range k.names() {
		if t := r.Topics[name]; t.Err != nil {
			if unavailable, _ := eventlog.IsUnavailable(t.Err); unavailable {
				return Failure(electing, "topic %s: %v", name, t.Err)
			}
			lacking = append(lacking, fmt.Sprintf("topic %s: %v", name, t.Err))
		}
	}
	for _, needed := range k.Needed {
		var has eventlog.Rights
		known := false
		operations := needed.Operations
		switch needed.Resource {
		case KafkaTopic:
			t := r.Topics[needed.Name]
			has, known = t.Rights, t.Rights != 0 && t.Err == nil
			operations = slices.DeleteFunc(slices.Clone(operations), func(name string) bool { return name == "Create" }) // it exists
		case KafkaGroup:
			has, known = may.Groups[needed.Name]
		case KafkaTransactional:
			has, known = may.Transactional[needed.Name]
		}
		if !known {
			continue
		}
		said = said || needed.Resource != KafkaTransactional // brokers without rights do not refuse it either
		if missing := has.Lacking(operations); len(missing) > 0 {
			lacking = append(lacking, fmt.Sprintf("%s %s lacks %s", needed.Resource, needed.Name, strings.Join(missing, ", ")))
		}
	}
	switch {
	case len(lacking) > 0:
		return Failure("give this process's user the rights of its roles: 'netsim acls' prints the commands", "%s", strings.Join(lacking, "; "))
	case !said:
		return Good("the brokers do not say what this process may do")
	}
	return Good("this process may do with its topics, groups and transactions what its roles need")
}

// identity checks that the read model was built from this log.
func (k Kafka) identity(ctx context.Context, _ *eventlog.Kafka, d eventlog.Description) Result {
	if len(d.Topics) == 0 {
		return Good("there are no topics yet")
	}
	if err := k.Recognize(ctx, d); err != nil {
		return Failure("connect to the cluster that has the log, or rebuild the read model: docs/operating.md", "%v", oneLine(err))
	}
	return Good("the read model is empty, or was built from this log")
}

// clock compares the times in the newest record of each family: when the broker appended
// it, which cannot be later than now, and when its producer says that it happened, which
// cannot be later than it was appended.
func (k Kafka) clock(ctx context.Context, log *eventlog.Kafka, d eventlog.Description) Result {
	records := 0
	var ahead, behind time.Duration
	for _, topic := range d.Topics {
		for p, part := range topic.Partitions {
			if records >= maxClockRecords {
				break
			}
			appended, happened, err := log.LastTimes(ctx, topic.Name, int32(p), part.End)
			if err != nil {
				return kafkaFailure(err, "give this process's user the right to read the topics, and look at the brokers' logs")
			}
			if appended.IsZero() {
				continue
			}
			records++
			ahead = max(ahead, appended.Sub(k.Now()))
			if !happened.IsZero() {
				behind = max(behind, happened.Sub(appended))
			}
		}
	}
	switch {
	case records == 0:
		return Good("the log is empty, so the brokers' clocks are not known")
	case ahead > clockWarn:
		return Failure(clockAdvice, "the newest event was appended %v after this machine's time", ahead.Round(time.Millisecond))
	case behind > clockWarn:
		return Failure(clockAdvice, "an event was appended %v before the time at which its producer says that it happened", behind.Round(time.Millisecond))
	}
	return Good("the times of the newest events agree with this machine's clock")
}

// maxClockRecords bounds the records that are read to compare clocks.
const maxClockRecords = 64

func (k Kafka) certificate(ctx context.Context) Result {
	r, err := k.ask(ctx)
	if err != nil {
		return Failure(kafkaAdvice, "no broker answers: %v", oneLine(err))
	}
	first := time.Time{}
	for _, address := range r.Brokers {
		report, err := eventlog.AskBroker(ctx, k.Config, address, nil)
		if err != nil {
			continue // another check reports it
		}
		if len(report.Certificates) == 0 {
			return notSecret(address, "set NETSIM_KAFKA_TLS=true and use the brokers' listener with TLS")
		}
		if until := report.Certificates[0].NotAfter; first.IsZero() || until.Before(first) {
			first = until
		}
	}
	if first.IsZero() {
		return Failure(kafkaAdvice, "no broker answers at the address that it advertises")
	}
	return expiry(first, k.Now())
}

// notSecret reports a connection without TLS. It is right within one machine.
func notSecret(host, advice string) Result {
	if isLoopback(host) {
		return Good("no TLS, within this machine")
	}
	return Warning(advice, "no TLS: others on the network can read and change what is sent")
}
