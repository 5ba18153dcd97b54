package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestPartEndsWithItsStandardInput(t *testing.T) {
	t.Parallel()
	d, _ := startPartOf(t, "postgres", newData(t))
	left := childrenOf(t, d.Process.Pid)
	d.stdin.Close()
	if err := d.Wait(); err != nil {
		t.Errorf("the part ended with %v, want exit status 0: %s", err, d.errorOutput(t))
	}
	left.waitEnded(t)
}

func TestEphemeralPartDeletesItsData(t *testing.T) {
	t.Parallel()
	data := newData(t)
	d, _ := startPartOf(t, "broker", data, "--ephemeral")
	if code := d.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit status = %d, want 0: %s", code, d.errorOutput(t))
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat of the data directory: %v, want that it does not exist", err)
	}
}

func TestPartIsRefusedOnDataInUse(t *testing.T) {
	t.Parallel()
	for _, name := range allParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := newData(t)
			startPartOf(t, name, data)
			second := startDev(t, nil, "part", name, "--data", data)
			second.untilEnd(t)
			if got := second.errorOutput(t); !strings.Contains(got, "another netsim-dev is using the data directory") {
				t.Errorf("stderr = %q, want that another netsim-dev uses the data", got)
			}
		})
	}
}

func TestPostgresSurvivesKill(t *testing.T) {
	t.Parallel()
	data := newData(t)
	d, ready := startPartOf(t, "postgres", data)
	execute(t, ready.URL, "set synchronous_commit = on; create table kept (id int)")
	d.end(t, syscall.SIGKILL)

	// Restart at once: the first postgres may still be ending.
	_, again := startPartOf(t, "postgres", data, "--listen", ready.Addr)
	if again.URL != ready.URL {
		t.Errorf("URL = %s after the restart, was %s", again.URL, ready.URL)
	}
	execute(t, again.URL, "drop table kept")
}

// When the cluster's owner cannot enter the data directory, for example below
// root's home directory, the cluster's files are in another directory and are found
// there again.
func TestPostgresBelowAPrivateDirectory(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data") // in a directory of mode 0700
	d, ready := startPartOf(t, "postgres", data)
	t.Cleanup(func() {
		if err := deleteData(data); err != nil {
			t.Error(err)
		}
	})
	_, err := os.Stat(filepath.Join(data, "postgres", "elsewhere"))
	if moved := err == nil; moved != (os.Geteuid() == 0) {
		t.Errorf("the cluster is outside the data directory: %t, want %t", moved, os.Geteuid() == 0)
	}
	execute(t, ready.URL, "create table kept (id int)")
	d.end(t, syscall.SIGTERM)

	again, ready := startPartOf(t, "postgres", data)
	execute(t, ready.URL, "drop table kept")
	again.end(t, syscall.SIGTERM)
}

func TestBrokerKeepsItsClusterIDAndCreatesNoTopicOnDemand(t *testing.T) {
	t.Parallel()
	data := newData(t)
	d, ready := startPartOf(t, "broker", data)
	before := clusterID(t, ready.Addr)
	d.end(t, syscall.SIGKILL)
	_, ready = startPartOf(t, "broker", data)
	if after := clusterID(t, ready.Addr); after != before {
		t.Errorf("cluster id = %q after the restart, was %q", after, before)
	}
	_, other := startPartOf(t, "broker", newData(t))
	if clusterID(t, other.Addr) == before {
		t.Error("two data directories have the same cluster id")
	}

	client, err := kgo.NewClient(kgo.SeedBrokers(ready.Addr), kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(0))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	err = client.ProduceSync(t.Context(), &kgo.Record{Topic: "asked-for"}).FirstErr()
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("producing to a missing topic: %v, want %v", err, kerr.UnknownTopicOrPartition)
	}
}

// startPartOf runs one part and returns its endpoint when it is ready.
func startPartOf(t *testing.T, name, data string, args ...string) (*dev, endpoint) {
	t.Helper()
	d := startDev(t, nil, append([]string{"part", name, "--data", data}, args...)...)
	var ready map[string]endpoint
	if err := json.Unmarshal([]byte(d.until(t, "\n")), &ready); err != nil {
		t.Fatal(err)
	}
	return d, ready[name]
}

func clusterID(t *testing.T, addr string) string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	metadata, err := kadm.NewClient(client).BrokerMetadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return metadata.Cluster
}

// A transaction that was open when the broker was killed is aborted for good: consumers of
// committed records get what its producer commits later, also after another kill.
func TestKilledBrokerEndsOpenTransactions(t *testing.T) {
	t.Parallel()
	data, want := newData(t), []string{}
	for round := range 3 {
		d, ready := startPartOf(t, "broker", data)
		client, err := kgo.NewClient(kgo.SeedBrokers(ready.Addr), kgo.TransactionalID("one"), kgo.DefaultProduceTopic("kept"))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if round == 0 {
			if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, "kept"); err != nil {
				t.Fatal(err)
			}
		}
		send := func(value string) {
			if err := client.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			if err := client.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		committed := fmt.Sprint("committed ", round)
		send(committed)
		if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
		want = append(want, committed)
		if got := committedValues(t, ready.Addr, "kept", len(want)); !slices.Equal(got, want) {
			t.Errorf("start %d: the topic has %q, want %q", round, got, want)
		}
		send("open")
		d.end(t, syscall.SIGKILL)
	}
}

// committedValues reads the first committed records of a topic with one partition.
func committedValues(t *testing.T, addr, topic string, count int) (values []string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(values) < count {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Errorf("read %s: %v", topic, err)
			return values
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}
