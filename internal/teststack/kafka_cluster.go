package teststack

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// clusterSettings are those of a node of a production cluster, on loopback. Topics are
// not made on demand.
const clusterSettings = `process.roles=broker,controller
node.id=%[1]d
controller.quorum.voters=%[2]s
listeners=PLAINTEXT://%[3]s,CONTROLLER://%[4]s
advertised.listeners=PLAINTEXT://%[3]s
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=%[5]s
default.replication.factor=3
min.insync.replicas=2
unclean.leader.election.enable=false
auto.create.topics.enable=false
offsets.topic.replication.factor=3
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
`

// KafkaCluster starts a cluster of three nodes of Apache Kafka, each broker and
// controller, until the test ends. It returns the brokers' addresses.
func KafkaCluster(t testing.TB) []string {
	t.Helper()
	jars := kafkaJars(t)
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatalf("teststack: Apache Kafka needs java: %v", err)
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[0] &= 0x3f           // so that it does not begin with a hyphen, which the tool would take for an option
	cluster := base64.RawURLEncoding.EncodeToString(id[:])
	var addresses []string
	for len(addresses) < 6 {
		if a := FreeAddress(t); !slices.Contains(addresses, a) {
			addresses = append(addresses, a)
		}
	}
	brokers, controllers, voters := addresses[:3], addresses[3:], make([]string, 3)
	for i := range voters {
		voters[i] = fmt.Sprintf("%d@%s", i+1, controllers[i])
	}
	var formatted sync.WaitGroup
	failures := make([]error, len(brokers))
	dirs := make([]string, len(brokers))
	for i := range brokers {
		dirs[i] = t.TempDir()
		text := fmt.Sprintf(clusterSettings, i+1, strings.Join(voters, ","), brokers[i], controllers[i], filepath.Join(dirs[i], "log"))
		if err := os.WriteFile(filepath.Join(dirs[i], "server.properties"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		formatted.Go(func() {
			out, err := exec.Command(java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars+"/*",
				"kafka.tools.StorageTool", "format", "-t", cluster, "-c", filepath.Join(dirs[i], "server.properties")).CombinedOutput()
			if err != nil {
				failures[i] = fmt.Errorf("format a node of Apache Kafka: %w: %s", err, out)
			}
		})
	}
	formatted.Wait()
	for i, err := range failures {
		if err != nil {
			t.Fatal(err)
		}
		startNode(t, java, jars, dirs[i])
	}
	for _, address := range brokers {
		awaitBrokers(t, address, len(brokers))
	}
	return brokers
}

// startNode runs a node until the test ends. Its log is shown if the test fails.
func startNode(t testing.TB, java, jars, dir string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(java, "-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true",
		"-cp", jars+"/*", "kafka.Kafka", filepath.Join(dir, "server.properties"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		cmd.Wait()         //nolint:errcheck // it was killed
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the last of a node of Apache Kafka:\n%s", text[max(0, len(text)-2000):])
		}
	})
}

// awaitBrokers waits until the broker at the address knows as many brokers: before that,
// topics with as many replicas cannot be made.
func awaitBrokers(t testing.TB, address string, want int) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(address), Timeout: 5 * time.Second}
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	deadline := time.NewTimer(3 * time.Minute)
	defer deadline.Stop()
	for {
		meta, err := client.Metadata(t.Context(), &kafka.MetadataRequest{})
		if err == nil && len(meta.Brokers) == want {
			return
		}
		select {
		case <-every.C:
		case <-deadline.C:
			t.Fatalf("teststack: Apache Kafka at %s does not know %d brokers: %v", address, want, err)
		}
	}
}
