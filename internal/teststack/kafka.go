package teststack

import (
	"sync"
	"testing"

	"netsim/internal/teststack/kafka"
)

// jars returns the directory of Apache Kafka's jars, which Maven fetches at the
// first use.
var jars = sync.OnceValues(func() (string, error) {
	root, err := root()
	if err != nil {
		return "", err
	}
	return kafka.Jars(root)
})

func kafkaJars(t testing.TB) string {
	t.Helper()
	dir, err := jars()
	if err != nil {
		t.Fatalf("teststack: %v", err)
	}
	return dir
}
