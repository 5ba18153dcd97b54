package teststack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// jars returns the directory of Apache Kafka's jars, which Maven fetches at the
// first use.
var jars = sync.OnceValues(func() (string, error) {
	root, err := root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".cache", "kafka")
	unlock, err := lockFile(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	// Fetch into another directory and rename it, so that an interrupted fetch is
	// repeated.
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	pom := filepath.Join(root, "infra", "teststack", "kafka", "pom.xml")
	fetch := exec.Command("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+fresh)
	if out, err := fetch.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetching Apache Kafka with Maven: %w\n%s", err, out)
	}
	return dir, os.Rename(fresh, dir)
})

func kafkaJars(t testing.TB) string {
	t.Helper()
	dir, err := jars()
	if err != nil {
		t.Fatalf("teststack: %v", err)
	}
	return dir
}
