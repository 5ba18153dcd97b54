package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// kafkaStart bounds how long Apache Kafka may take to answer.
const kafkaStart = 2 * time.Minute

// kafkaProperties configures a single KRaft node like the embedded broker: on
// loopback, without automatic topics, and without retention limits except a
// topic's own.
const kafkaProperties = `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@%[2]s
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s%[6]s
advertised.listeners=PLAINTEXT://%[1]s%[6]s
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT%[7]s
log.dirs=%[3]s
num.partitions=%[4]d
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
log.retention.ms=-1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
%[5]s%[8]s
`

// kafkaFlush makes Kafka fsync before it acknowledges.
const kafkaFlush = "log.flush.interval.messages=1\n"

const kafkaLogging = `log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p %m (%c)%n
`

// startKafka runs Apache Kafka, whose jars are in o.jars, as a child that ends
// with this process. Tests run against it to prove that the embedded broker
// behaves like Kafka.
func startKafka(o options, dir string) (*server, error) {
	listeners, protocols, err := furtherListeners(o.listeners)
	if err != nil {
		return nil, err
	}
	if found, _ := filepath.Glob(filepath.Join(o.jars, "kafka_*.jar")); len(found) == 0 {
		return nil, fmt.Errorf("no jars of Apache Kafka in %q; name their directory with --jars", o.jars)
	}
	var properties []byte
	if o.properties != "" {
		if properties, err = os.ReadFile(o.properties); err != nil {
			return nil, err
		}
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, errors.New("java is not on PATH, and Apache Kafka needs it")
	}
	addr, err := address(o.listen)
	if err != nil {
		return nil, err
	}
	controller, err := address("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := kafka{java: java, jars: o.jars, dir: dir, addr: addr}
	if err := k.configure(controller, o.sync, listeners, protocols, string(properties)); err != nil {
		return nil, err
	}
	if err := k.format(); err != nil {
		return nil, err
	}
	running, err := k.start()
	if err != nil {
		return nil, err
	}
	return &server{
		endpoint: endpoint{Addr: addr, PID: running.cmd.Process.Pid},
		stop:     func() error { return running.stop(syscall.SIGTERM, 30*time.Second) },
		ended:    running.wait(),
	}, nil
}

// kafka is a node of Apache Kafka.
type kafka struct {
	java, jars, dir, addr string
}

func (k *kafka) file(name string) string { return filepath.Join(k.dir, name) }

// furtherListeners reads NAME=PROTOCOL@host:port, separated by commas. It returns the ends
// of Kafka's lists of listeners and of their protocols.
func furtherListeners(text string) (listeners, protocols string, err error) {
	for one := range strings.SplitSeq(text, ",") {
		if one == "" {
			continue
		}
		name, rest, named := strings.Cut(one, "=")
		protocol, addr, complete := strings.Cut(rest, "@")
		if !named || !complete {
			return "", "", fmt.Errorf("%q is not a listener such as TLS=SSL@127.0.0.1:9093", one)
		}
		if addr, err = address(addr); err != nil {
			return "", "", err
		}
		listeners += "," + name + "://" + addr
		protocols += "," + name + ":" + protocol
	}
	return listeners, protocols, nil
}

func (k *kafka) configure(controller string, sync bool, listeners, protocols, properties string) error {
	flush := ""
	if sync {
		flush = kafkaFlush
	}
	text := fmt.Sprintf(kafkaProperties, k.addr, controller, k.file("log"), brokerPartitions, flush, listeners, protocols, properties)
	return errors.Join(
		os.WriteFile(k.file("server.properties"), []byte(text), 0o644),
		os.WriteFile(k.file("log4j.properties"), []byte(kafkaLogging), 0o644))
}

// format formats the log directory at the first start.
func (k *kafka) format() error {
	if _, err := os.Stat(k.file("log/meta.properties")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	id, err := exec.Command(k.java, "-cp", k.jars+"/*", "kafka.tools.StorageTool", "random-uuid").Output()
	if err != nil {
		return fmt.Errorf("kafka.tools.StorageTool random-uuid: %w", err)
	}
	format := exec.Command(k.java, "-cp", k.jars+"/*", "kafka.tools.StorageTool", "format", "--ignore-formatted",
		"-t", strings.TrimSpace(string(id)), "-c", k.file("server.properties"))
	if out, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("kafka.tools.StorageTool format: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// start runs the node and waits until it answers a metadata request.
func (k *kafka) start() (*child, error) {
	log, err := os.Create(k.file("kafka.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(k.java, "-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Djava.awt.headless=true", "-Dlog4j.configuration=file:"+k.file("log4j.properties"),
		"-cp", k.jars+"/*", "kafka.Kafka", k.file("server.properties"))
	cmd.Dir = k.dir
	cmd.Stdout, cmd.Stderr = log, log
	running, err := spawn(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	// Redial quickly: the client's default backoff would dominate the start time.
	client, err := kgo.NewClient(kgo.SeedBrokers(k.addr), kgo.DialTimeout(time.Second),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.RequestRetries(1<<20), kgo.RetryTimeout(kafkaStart))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), kafkaStart)
	defer cancel()
	go func() {
		<-running.ended
		cancel()
	}()
	for client.Ping(ctx) != nil {
		select {
		case <-running.ended:
			text, _ := os.ReadFile(log.Name())
			return nil, fmt.Errorf("the node ended at once: %s", lastLine(string(text)))
		case <-ctx.Done():
			running.stop(syscall.SIGKILL, time.Second)
			return nil, fmt.Errorf("no answer in %v; see %s", kafkaStart, log.Name())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return running, nil
}
