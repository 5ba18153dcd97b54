// Package kafka obtains Apache Kafka, for tests and for the fault campaign.
package kafka

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Jars returns the directory of Apache Kafka's jars. Maven fetches them at the first
// use into the directory .cache of the repository, whose root the caller names.
// Several processes may call it at the same time.
func Jars(root string) (string, error) {
	dir := filepath.Join(root, ".cache", "kafka")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	// Fetch into another directory and rename it, so that an interrupted fetch is
	// repeated.
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	pom := filepath.Join(root, "internal", "teststack", "kafka", "pom.xml")
	fetch := exec.Command("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+fresh)
	if out, err := fetch.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetching Apache Kafka with Maven: %w\n%s", err, out)
	}
	return dir, os.Rename(fresh, dir)
}
