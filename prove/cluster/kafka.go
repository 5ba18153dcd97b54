package cluster

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Broker is a node of Apache Kafka, both broker and controller. Every part of the
// cluster that talks to it has a listener of its own, whose advertised address is that
// of the link from this part. Tools use a listener without a link.
type Broker struct {
	ID int

	dir, heap  string
	java, jars string
	listeners  []listener
	voters     string // of the quorum of controllers
	process    *child
}

// listener is a named listener: where it listens and where clients connect.
type listener struct{ name, address, advertised string }

// tools is the name of the listener without a link, peers that of the other brokers,
// and controllers that of the quorum.
const tools, peers, controllers = "TOOLS", "PEERS", "CONTROLLER"

// brokerSettings are for a cluster of three. A dead broker is noticed after a few
// seconds, and what is not flushed is about a second of records. A broker that starts waits
// for the quorum for ten minutes, where others end after one, because a machine may be slow.
const brokerSettings = `process.roles=broker,controller
node.id=%[1]d
controller.quorum.voters=%[2]s
listeners=%[3]s
advertised.listeners=%[4]s
listener.security.protocol.map=%[5]s
controller.listener.names=CONTROLLER
inter.broker.listener.name=PEERS
log.dirs=%[6]s
default.replication.factor=3
min.insync.replicas=2
unclean.leader.election.enable=false
offsets.topic.replication.factor=3
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=4
auto.create.topics.enable=false
auto.leader.rebalance.enable=true
leader.imbalance.check.interval.seconds=10
log.retention.ms=-1
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=4194304
log.flush.interval.ms=1000
log.flush.scheduler.interval.ms=500
log.flush.offset.checkpoint.interval.ms=1000
group.initial.rebalance.delay.ms=0
num.network.threads=1
num.io.threads=4
broker.heartbeat.interval.ms=1000
broker.session.timeout.ms=6000
initial.broker.registration.timeout.ms=600000
replica.lag.time.max.ms=8000
replica.fetch.wait.max.ms=200
request.timeout.ms=10000
`

const brokerLogging = `log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p %m (%c)%n
`

// newClusterID returns a random id. It begins with a letter, because Kafka's tool takes one
// that begins with a hyphen for an option.
func newClusterID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[0] &= 0x3f
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// configure writes the node's settings.
func (b *Broker) configure() error {
	var bind, advertised, protocols []string
	for _, l := range b.listeners {
		bind = append(bind, l.name+"://"+l.address)
		protocols = append(protocols, l.name+":PLAINTEXT")
		if l.name != controllers {
			advertised = append(advertised, l.name+"://"+l.advertised)
		}
	}
	list := func(all []string) string { return strings.Join(all, ",") }
	text := fmt.Sprintf(brokerSettings, b.ID, b.voters, list(bind), list(advertised), list(protocols), b.file("log"))
	return errors.Join(
		os.WriteFile(b.file("server.properties"), []byte(text), 0o644),
		os.WriteFile(b.file("log4j.properties"), []byte(brokerLogging), 0o644))
}

// format formats the node's log directory.
func (b *Broker) format(clusterID string) error {
	format := exec.Command(b.java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", b.jars+"/*",
		"kafka.tools.StorageTool", "format", "-t", clusterID, "-c", b.file("server.properties"))
	if out, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("format %s: %w: %s", b.Name(), err, out)
	}
	return nil
}

// formatAs formats the node's log directory as another node's, with its own id. A node
// without the id of its directory makes one. It takes no Java process.
func (b *Broker) formatAs(other *Broker) error {
	if err := os.CopyFS(b.file("log"), os.DirFS(other.file("log"))); err != nil {
		return fmt.Errorf("format %s: %w", b.Name(), err)
	}
	text, err := os.ReadFile(b.file("log/meta.properties"))
	if err != nil {
		return err
	}
	var own []string
	for line := range strings.Lines(string(text)) {
		switch name, _, _ := strings.Cut(line, "="); name {
		case "node.id":
			own = append(own, fmt.Sprintf("node.id=%d\n", b.ID))
		case "directory.id":
		default:
			own = append(own, line)
		}
	}
	return os.WriteFile(b.file("log/meta.properties"), []byte(strings.Join(own, "")), 0o644)
}

// Name is the name of the node, such as kafka-1.
func (b *Broker) Name() string { return fmt.Sprintf("kafka-%d", b.ID) }

// Address is where tools reach the broker.
func (b *Broker) Address() string { return b.on(tools).address }

func (b *Broker) on(name string) listener {
	for _, l := range b.listeners {
		if l.name == name {
			return l
		}
	}
	return listener{}
}

func (b *Broker) file(name string) string { return filepath.Join(b.dir, name) }

// Start starts the node. It does not wait until the node answers.
func (b *Broker) Start() (err error) {
	cmd := exec.Command(b.java, "-Xms64m", "-Xmx"+b.heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:MaxMetaspaceSize=160m",
		"-XX:-UsePerfData", "-Djava.awt.headless=true", "-Dlog4j.configuration=file:"+b.file("log4j.properties"),
		"-cp", b.jars+"/*", "kafka.Kafka", b.file("server.properties"))
	cmd.Dir = b.dir
	b.process, err = spawn(b.Name(), b.file("kafka.log"), cmd)
	return err
}

// Running reports whether the node's process runs.
func (b *Broker) Running() bool { return b.process.running() }

// Kill kills the node with SIGKILL.
func (b *Broker) Kill() { b.process.kill() }

// Pause suspends the node until Resume.
func (b *Broker) Pause() { b.process.pause() }

// Resume ends Pause.
func (b *Broker) Resume() { b.process.resume() }

// Stop shuts the node down in order, which moves its leaders to other nodes.
func (b *Broker) Stop(grace time.Duration) error { return b.process.end(syscall.SIGTERM, grace) }

// Answers reports whether the node accepts connections.
func (b *Broker) Answers() bool {
	conn, err := net.DialTimeout("tcp", b.Address(), time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// LoseUnflushed removes from the log of a node that was killed what it had not flushed,
// as a power failure does: each partition is cut at its recovery point, the offset up to
// which Kafka has called fsync. The log of the quorum's metadata is flushed with each
// write, so it is kept. It returns how many records and bytes were removed.
func (b *Broker) LoseUnflushed() (lost Loss, err error) {
	points, err := recoveryPoints(b.file("log/recovery-point-offset-checkpoint"))
	if errors.Is(err, fs.ErrNotExist) {
		points, err = nil, nil // nothing was ever flushed
	}
	if err != nil {
		return lost, err
	}
	entries, err := os.ReadDir(b.file("log"))
	if err != nil {
		return lost, err
	}
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), "__cluster_metadata-") || strings.HasSuffix(entry.Name(), "-delete") {
			continue
		}
		here, err := cutPartition(filepath.Join(b.file("log"), entry.Name()), points[entry.Name()])
		if err != nil {
			return lost, fmt.Errorf("cut %s of %s: %w", entry.Name(), b.Name(), err)
		}
		lost.add(here)
	}
	return lost, nil
}
